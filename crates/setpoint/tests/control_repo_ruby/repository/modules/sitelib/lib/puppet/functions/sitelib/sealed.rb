require 'json'
require 'base64'

# A backend that opens values of a file of its own.
Puppet::Functions.create_function(:'sitelib::sealed') do
  dispatch :sealed do
    param 'Variant[String, Numeric]', :key
    param 'Struct[{path => String[1], prefix => String[1]}]', :options
    param 'Puppet::LookupContext', :context
  end

  def sealed(key, options, context)
    return context.cached_value(key) if context.cache_has_key(key)

    raw = data(options, context)
    unless raw.include?(key)
      context.explain { "No #{options['prefix']} value for #{key}" }
      context.not_found
    end
    opened = Base64.strict_decode64(raw[key]).force_encoding('UTF-8')
    context.cache(key, context.interpolate(opened))
  end

  def data(options, context)
    context.cached_file_data(options['path']) do |content|
      begin
        JSON.parse(content)
      rescue JSON::ParserError => e
        raise Puppet::DataBinding::LookupError, "Unable to parse (#{options['path']}): #{e.message}"
      end
    end
  end
end
