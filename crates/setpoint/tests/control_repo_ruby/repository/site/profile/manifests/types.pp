class profile::types {
  line_in { 'first': path => '/etc/hosts', line => '192.0.2.1 gw', }
  line_in { '/etc/hosts:second': line => ['a', 'b'], position => 3, tag => 'x' }
  @line_in { 'virtual': path => '/etc/none', line => 'z' }
  Line_in <| tag == 'x' |> { noop => true }
  feature { 'web': ensure => enabled, options => { 'a' => 1, 'b' => [true] } }
  feature { ['x', 'y']: is_alpha => true }
}
