$role_of_node = role_of($trusted['certname'])

node 'web1.example.com' { role('web') }
node 'db1.example.com' { role('db', 'backup') }
node 'app1.example.com' {
  include profile::base
  include profile::library
}
node 'old1.example.com' {
  include profile::legacy
}
node default { include profile::base }
