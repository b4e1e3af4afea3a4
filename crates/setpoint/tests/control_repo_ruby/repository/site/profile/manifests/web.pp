class profile::web {
  $sites = sitelib::sites({
    'www.example.com'  => { 'port' => 443, 'aliases' => ['example.com', 'a.example.com'] },
    'test.example.com' => { 'port' => '8443' },
  })
  $sites.each |$site| {
    sitelib::vhost { $site['name']: * => $site['parameters'] }
  }
  file { '/etc/sites': content => template('profile/sites.erb') }
  file { '/etc/inline': content => inline_template("<%= @sites.map { |s| s['name'].upcase }.join(',') -%>\n<%= scope['facts']['os']['name'] %>") }
}
