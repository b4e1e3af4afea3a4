# Watches everybody else, and gives them the time.
class role::monitoring {
  include profile::base
  include profile::monitoring
}
