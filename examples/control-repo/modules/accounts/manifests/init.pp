# Groups, and the people who may log in.
class accounts (
  Accounts::Users  $users  = {},
  Array[String[1]] $groups = [],
) {
  group { $groups:
    ensure => present,
  }

  $users.each |$name, $person| {
    accounts::person { $name:
      * => $person,
    }
  }

  file { '/etc/sudoers.d/ops':
    ensure  => file,
    mode    => '0440',
    content => "%ops ALL=(ALL) NOPASSWD: ALL\n",
    require => Group['ops'],
  }
}
