class profile::library {
  $results = sitelib::library({
    'words'     => ['pear', 'Apple', 'fig', 'apple', 'fig'],
    'numbers'   => [3, 1, 2, 10, -4],
    'addresses' => ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'],
    'url'       => 'https://user@www.example.com:8443/a/b?x=1&y=2#top',
    'time'      => 86399,
  })
  $results.each |$name, $value| {
    notify { "${name}: ${value}": }
  }
}
