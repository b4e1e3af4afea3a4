# PostgreSQL. Its parameters come from the data.
class profile::database {
  include postgres

  # The accounts of the data: only those who look after databases.
  User <| groups == 'dba' |> {
    home => '/var/lib/dba',
  }

  file { '/var/lib/dba':
    ensure => directory,
    group  => 'dba',
    mode   => '2770',
  }

  Class['accounts'] -> Class['postgres']
}
