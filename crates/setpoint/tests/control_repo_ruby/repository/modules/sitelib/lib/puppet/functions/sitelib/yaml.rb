require 'yaml'

Puppet::Functions.create_function(:'sitelib::yaml') do
  dispatch :emit do
    param 'Hash', :data
    optional_param 'Integer[0]', :indent
  end

  def emit(data, indent = 0)
    text = data.sort.to_h.to_yaml(line_width: -1).sub(/\A---\n/, '')
    text.gsub(/^/, ' ' * indent)
  end
end
