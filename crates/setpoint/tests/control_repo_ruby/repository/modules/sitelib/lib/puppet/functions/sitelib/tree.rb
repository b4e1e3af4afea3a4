Puppet::Functions.create_function(:'sitelib::tree') do
  dispatch :tree do
    param 'Array[Variant[String, Numeric]]', :segments
    param 'Hash[String, Any]', :options
    param 'Puppet::LookupContext', :context
  end

  def tree(segments, options, context)
    context.cache_all(load(options['path'], context)) unless context.cache_has_key(segments.first)
    root, *rest = segments
    context.not_found unless context.cache_has_key(root)
    value = rest.inject(context.cached_value(root)) do |found, segment|
      case found
      when Hash
        found.fetch(segment) { context.not_found }
      when Array
        segment.is_a?(Integer) && segment < found.size ? found[segment] : context.not_found
      else
        context.not_found
      end
    end
    count = 0
    context.cached_entries { |key, _| count += 1 unless key.empty? }
    context.explain { "#{count} keys under #{segments.join(options['separator'])}" }
    context.interpolate(value)
  end

  def load(path, context)
    context.cached_file_data(path) { |content| ::JSON.parse(content) }
  end
end
