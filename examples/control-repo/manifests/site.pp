# What each machine is. What it needs for that is in the roles and profiles; how it differs is in `data`.

node /^web\d+\.shop\.example$/ {
  include role::webserver
}

node 'db1.shop.example', 'db2.shop.example' {
  include role::database
}

node 'mon1.shop.example' {
  include role::monitoring
}

node default {
  include profile::base
}
