# One site.
define nginx::vhost (
  String[1]                     $server_name,
  Array[String[1]]              $aliases   = [],
  Optional[Pattern[/\A\//]]     $root      = undef,
  Optional[Array[String[1], 1]] $backends  = undef,
  Hash[String[1], String[1]]    $locations = {},
) {
  if $root and $backends {
    fail("Nginx::Vhost[${title}]: a site has a root or backends, not both")
  }

  $names = [$server_name] + $aliases
  $upstream = "${title}_backends"

  file { "${nginx::vhost_dir}/${title}.conf":
    ensure  => file,
    mode    => '0644',
    content => template('nginx/vhost.conf.erb'),
    notify  => Service['nginx'],
  }
}
