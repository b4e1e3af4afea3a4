define sitelib::vhost (Integer $port, Array[String] $aliases = [], String $key = '') {
  file { "/etc/vhosts/${name}": content => "${port} ${aliases} ${key}\n" }
}
