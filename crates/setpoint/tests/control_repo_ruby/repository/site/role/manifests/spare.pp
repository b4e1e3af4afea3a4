class role::spare {
  include profile::web
}
