# PostgreSQL, as a primary or as the standby of one.
class postgres (
  Integer[12]          $version,
  Sensitive[String[1]] $superuser_password,
  Hash[String[1], Variant[String, Integer]] $settings  = {},
  Hash[String[1], Hash]                     $databases = {},
  Optional[String[1]]                       $primary   = undef,
) {
  $config_dir = "/etc/postgresql/${version}/main"
  $data_dir = "/var/lib/postgresql/${version}/main"

  package { "postgresql-${version}":
    ensure => installed,
  }

  file {
    default:
      ensure  => file,
      owner   => 'postgres',
      group   => 'postgres',
      mode    => '0640',
      require => Package["postgresql-${version}"],
      notify  => Service['postgresql'],
      ;
    "${config_dir}/conf.d/shop.conf":
      content => epp('postgres/settings.epp', { 'settings' => $settings }),
      ;
    "${config_dir}/pg_hba.conf":
      content => template('postgres/pg_hba.conf.erb'),
      ;
    '/var/lib/postgresql/.pgpass':
      mode    => '0600',
      content => Sensitive("*:*:*:postgres:${superuser_password.unwrap}\n"),
      ;
  }

  if $primary {
    file { "${data_dir}/standby.signal":
      ensure  => file,
      owner   => 'postgres',
      group   => 'postgres',
      mode    => '0600',
      content => '',
      require => Package["postgresql-${version}"],
      notify  => Service['postgresql'],
    }
  } else {
    $databases.each |$name, $options| {
      postgres::database { $name:
        * => $options,
      }
    }
  }

  service { 'postgresql':
    ensure => running,
    enable => true,
  }
}
