# Prometheus, with a target for each machine that exports one.
class profile::monitoring (
  Sensitive[String[1]] $admin_password,
  Integer[1]           $interval = 30,
) {
  package { 'prometheus':
    ensure => installed,
  }

  file {
    default:
      ensure  => file,
      mode    => '0644',
      require => Package['prometheus'],
      notify  => Service['prometheus'],
      ;
    '/etc/prometheus/targets':
      ensure  => directory,
      mode    => '0755',
      purge   => true,
      recurse => true,
      force   => true,
      ;
    '/etc/prometheus/prometheus.yml':
      content => epp('profile/prometheus.yml.epp', { 'interval' => $interval }),
      ;
    '/etc/prometheus/web.yml':
      group   => 'prometheus',
      mode    => '0640',
      content => Sensitive("basic_auth_users:\n  admin: '${admin_password.unwrap}'\n"),
      ;
  }

  service { 'prometheus':
    ensure => running,
    enable => true,
  }

  File <<| tag == 'prometheus_target' |>> {
    notify => Service['prometheus'],
  }
}
