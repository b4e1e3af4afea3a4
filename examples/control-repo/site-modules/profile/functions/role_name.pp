# The role as people read it.
function profile::role_name(Optional[String] $role) >> String {
  $role ? {
    undef   => 'no role',
    default => "the ${role} role",
  }
}
