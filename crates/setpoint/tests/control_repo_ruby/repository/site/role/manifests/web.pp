class role::web {
  include profile::base
  include profile::users
  include profile::web
}
