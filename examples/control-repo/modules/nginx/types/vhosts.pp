# Sites by name. A site has a root of its own, or machines behind it.
type Nginx::Vhosts = Hash[Pattern[/\A[a-z0-9_-]+\z/], Struct[{
  server_name         => String[1],
  Optional[aliases]   => Array[String[1]],
  Optional[root]      => Pattern[/\A\//],
  Optional[backends]  => Array[String[1], 1],
  Optional[locations] => Hash[String[1], String[1]],
}]]
