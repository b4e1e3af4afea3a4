# nginx and its sites.
class nginx (
  Nginx::Vhosts $vhosts    = {},
  String[1]     $user      = 'www-data',
  String[1]     $vhost_dir = '/etc/nginx/sites-enabled',
  Integer[1]    $workers   = $facts['processors']['count'],
) {
  package { 'nginx':
    ensure => installed,
  }

  file { '/etc/nginx/nginx.conf':
    ensure  => file,
    mode    => '0644',
    content => epp('nginx/nginx.conf.epp'),
    require => Package['nginx'],
  }

  file { $vhost_dir:
    ensure  => directory,
    mode    => '0755',
    purge   => true,
    recurse => true,
    force   => true,
    require => Package['nginx'],
  }

  $vhosts.each |$name, $settings| {
    nginx::vhost { $name:
      * => $settings,
    }
  }

  service { 'nginx':
    ensure    => running,
    enable    => true,
    subscribe => File['/etc/nginx/nginx.conf', $vhost_dir],
  }
}
