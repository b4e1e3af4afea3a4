class profile::users (Hash $accounts = {}) {
  $accounts.each |$name, $account| {
    user { $name: * => $account }
  }
  ensure_accounts({ 'dora' => { 'uid' => 2100 }, 'ann' => { 'uid' => 9 } })
  file { '/etc/shadow.d': content => sitelib::hashes(['a', 'b'], { 'salt' => 'pepper' }) }
}
