Puppet::Functions.create_function(:'sitelib::constants') do
  dispatch :constants do
    param 'Hash', :options
    param 'Puppet::LookupContext', :context
  end

  def constants(_options, context)
    calls = (context.cached_value('calls') || 0) + 1
    context.cache('calls', calls)
    {
      'constant::calls' => calls,
      'constant::module' => context.module_name.inspect,
      'constant::environment' => context.environment_name.to_s,
      'counted::x' => "x#{calls}",
      'counted::y' => "y#{calls} #{context.cached_entries.to_a.length}",
    }
  end
end
