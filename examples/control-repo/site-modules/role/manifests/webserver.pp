# Serves the shop.
class role::webserver {
  include profile::base
  include profile::webserver
}
