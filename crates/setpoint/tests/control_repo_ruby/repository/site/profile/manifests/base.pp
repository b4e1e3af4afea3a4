class profile::base (
  String $motd,
  String $token,
  String $banner,
) {
  $net = sitelib::network_of($trusted['certname'])
  file { '/etc/motd': content => template('profile/motd.erb') }
  file { '/etc/network.yaml': content => sitelib::yaml($net) }
  file { '/etc/token': content => Sensitive($token), mode => '0600' }
  notify { "limits ${lookup('limits.web.files', default_value => 0)} ${lookup('limits.web.list.1.deep')}": }
  notify { "all ${lookup('limits')['web']['procs']} ${lookup('limits.db')}": }
  notify { "plain ${lookup('plain::a')} ${lookup('plain::b', default_value => 'none')}": }
  notify { "constants ${lookup('constant::calls')} ${lookup('constant::module')} ${lookup('constant::environment')}": }
  notify { "calls ${lookup('counted::x')} ${lookup('counted::y')} ${lookup('counted::x')}": }
}
