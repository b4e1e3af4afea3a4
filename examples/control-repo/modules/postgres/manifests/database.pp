# One database and its owner.
define postgres::database (
  String[1] $owner    = $title,
  String[1] $encoding = 'UTF8',
) {
  $created = "psql -tAc \"select 1 from pg_database where datname = '${title}'\" | grep -q 1"

  exec { "create role ${owner} for ${title}":
    command => "createuser ${owner}",
    unless  => "psql -tAc \"select 1 from pg_roles where rolname = '${owner}'\" | grep -q 1",
    user    => 'postgres',
    require => Service['postgresql'],
  }

  -> exec { "create database ${title}":
    command => "createdb --owner=${owner} --encoding=${encoding} ${title}",
    unless  => $created,
    user    => 'postgres',
  }
}
