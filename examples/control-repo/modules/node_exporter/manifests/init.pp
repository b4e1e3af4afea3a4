# The exporter of a machine's own figures, and the target that tells the monitoring about it.
class node_exporter (
  Integer[1, 65535] $port       = 9100,
  Array[String[1]]  $collectors = ['systemd', 'processes'],
) {
  $package = $facts['os']['family'] ? {
    'RedHat' => 'node_exporter',
    default  => 'prometheus-node-exporter',
  }
  $flags = $collectors.map |$collector| { "--collector.${collector}" }

  package { $package:
    ensure => installed,
  }

  file { "/etc/default/${package}":
    ensure  => file,
    mode    => '0644',
    content => inline_epp('ARGS="--web.listen-address=:<%= $port %> <%= $flags.join(" ") %>"
', { 'port' => $port, 'flags' => $flags }),
    require => Package[$package],
  }

  ~> service { $package:
    ensure => running,
    enable => true,
  }

  @@file { "/etc/prometheus/targets/${facts['networking']['hostname']}-node.yaml":
    ensure  => file,
    mode    => '0644',
    content => epp('profile/target.epp', { 'port' => $port, 'job' => 'node' }),
    tag     => 'prometheus_target',
  }
}
