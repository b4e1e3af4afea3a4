# What the machine has before Puppet is never kept.
File {
  owner  => 'root',
  group  => 'root',
  backup => false,
}

Exec {
  path => ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'],
}
