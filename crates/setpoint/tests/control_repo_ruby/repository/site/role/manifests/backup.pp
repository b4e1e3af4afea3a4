class role::backup {
  notify { "backup as ${has_role('db')} and not ${has_role('web')}": }
}
