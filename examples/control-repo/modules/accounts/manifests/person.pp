# One person: an account, a home, and a key to log in with.
define accounts::person (
  Integer[1000]    $uid,
  String[1]        $key,
  String           $comment = $title,
  Array[String[1]] $groups  = [],
) {
  $home = "/home/${title}"

  user { $title:
    ensure     => present,
    uid        => $uid,
    comment    => $comment,
    groups     => $groups,
    home       => $home,
    managehome => true,
    shell      => '/bin/bash',
  }

  file {
    default:
      owner => $title,
      group => $title,
      ;
    "${home}/.ssh":
      ensure => directory,
      mode   => '0700',
      ;
    "${home}/.ssh/authorized_keys":
      ensure  => file,
      mode    => '0600',
      content => "ssh-ed25519 ${key} ${title}\n",
      ;
  }
}
