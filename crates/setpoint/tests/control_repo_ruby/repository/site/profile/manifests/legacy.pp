class profile::legacy {
  $all = old_style('one', { 'b' => 2, 'a' => [1, undef, 'x'] })
  notify { $all: }
  statement_only('said')
  notify { "set ${legacy_set}": }
  $module = calling_module()
  notify { "module ${module}": }
  notify { inspect_scope('x', 1): }
}
