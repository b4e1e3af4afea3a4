# A web server with one site. Compile it with: setpoint compile examples/web.pp --node web1.example.com

class web (
  String              $server = 'nginx',
  Integer[1, 65535]   $port   = 80,
  Hash[String, String] $sites = { 'www.example.com' => 'Welcome' },
) {
  package { $server:
    ensure => installed,
  }

  $sites.each |$name, $greeting| {
    web::site { $name:
      port     => $port,
      greeting => $greeting,
    }
  }

  service { $server:
    ensure => running,
    enable => true,
  }

  Package[$server] -> Web::Site <| |> ~> Service[$server]
}

define web::site (
  Integer $port,
  String  $greeting,
) {
  file { "/var/www/${name}":
    ensure => directory,
  }
  file { "/var/www/${name}/index.html":
    content => "<h1>${greeting}</h1>\n",
  }
  file { "/etc/nginx/sites-enabled/${name}":
    content => @("SITE"),
      server {
        listen ${port};
        server_name ${name};
        root /var/www/${name};
      }
      | SITE
  }
}

node default {
  include web
}
