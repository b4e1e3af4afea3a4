# What every machine has.
class profile::base (
  Array[String[1]] $packages,
  String[1]        $contact,
) {
  contain chrony
  include accounts
  include node_exporter

  package { $packages:
    ensure => installed,
  }

  file { '/etc/motd':
    ensure  => file,
    mode    => '0644',
    content => epp('profile/motd.epp', { 'contact' => $contact, 'role' => profile::role_name($facts['role']) }),
  }

  # Nobody logs in before the clock is right and the accounts are there.
  Class['chrony'] -> Class['accounts']
}
