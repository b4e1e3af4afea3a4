# nginx, the sites of the data, and a page that says that all is well.
class profile::webserver (
  String[1] $health_path = '/health',
) {
  include nginx

  file { '/srv/health':
    ensure => directory,
    mode   => '0755',
  }

  file { '/srv/health/index.html':
    ensure  => file,
    mode    => '0644',
    content => @("HTML"),
      <!doctype html>
      <title>${facts['networking']['hostname']}</title>
      <p>ok</p>
      | HTML
  }

  nginx::vhost { 'health':
    server_name => $facts['networking']['fqdn'],
    root        => '/srv/health',
    locations   => { $health_path => 'return 200' },
    require     => File['/srv/health/index.html'],
  }

  # The monitoring host collects this.
  @@file { "/etc/prometheus/targets/${facts['networking']['hostname']}-nginx.yaml":
    ensure  => file,
    mode    => '0644',
    content => epp('profile/target.epp', { 'port' => 443, 'job' => 'nginx' }),
    tag     => 'prometheus_target',
  }
}
