# A nightly dump of every database, kept elsewhere.
class profile::backup (
  Integer[0, 23]  $hour,
  String[1]       $target,
  Integer[1, 365] $keep_days = 14,
) {
  package { 'rsync':
    ensure => installed,
  }

  file { '/usr/local/sbin/backup-databases':
    ensure  => file,
    mode    => '0755',
    content => template('profile/backup.sh.erb'),
  }

  # Not all databases at the same minute.
  cron { 'backup-databases':
    command => '/usr/local/sbin/backup-databases',
    user    => 'postgres',
    hour    => $hour,
    minute  => fqdn_rand(60, 'backup'),
    require => [File['/usr/local/sbin/backup-databases'], Package['rsync'], Class['postgres']],
  }
}
