# The network of a machine, from data or from its name.
Puppet::Functions.create_function(:'sitelib::network_of', Puppet::Functions::InternalFunction) do
  dispatch :by_name do
    scope_param
    param 'String[1]', :name
    optional_param 'Hash', :fallback
    return_type 'Hash[String, Data]'
  end

  def by_name(scope, name, fallback = {})
    found = call_function('lookup', "'machines::#{name}'", 'default_value' => nil)
    return found unless found.nil?

    index = name[/\d+/].to_i
    { 'address' => format('10.0.%d.%d', index / 256, index % 256), 'asked_in' => scope['title'].to_s, 'family' => 4 }.merge(fallback)
  end
end
