function sitelib::plain(String $key, Hash $options, Puppet::LookupContext $context) {
  if $context.cache_has_key('seen') {
    $context.explain || { "seen ${context.cached_value('seen')}" }
  }
  $context.cache('seen', $key)
  case $key {
    'plain::a': { $context.interpolate("${options['uri']} %{facts.os.family}") }
    default: { $context.not_found }
  }
}
