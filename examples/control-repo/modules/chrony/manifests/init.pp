# Keeps the clock right.
class chrony (
  Array[String[1], 1]  $servers,
  String[1]            $config,
  String[1]            $service,
  Optional[String[1]]  $serve = undef,
) {
  package { 'chrony':
    ensure => installed,
  }

  file { $config:
    ensure  => file,
    mode    => '0644',
    content => template('chrony/chrony.conf.erb'),
    require => Package['chrony'],
  }

  service { $service:
    ensure    => running,
    enable    => true,
    subscribe => File[$config],
  }
}
