# Prints the parameters and properties of types of modules, one a line, sorted: TYPE, tab, NAME.
require 'puppet'

modules, *names = ARGV
Puppet.initialize_settings(['--modulepath', modules])
environment = Puppet::Node::Environment.create(:production, [modules])
Puppet.override(current_environment: environment, environments: Puppet::Environments::Static.new(environment)) do
  lines = names.flat_map do |name|
    type = Puppet::Type.type(name.to_sym)
    (type.properties.map(&:name) + type.parameters).map { |attribute| "#{name}\t#{attribute}" }
  end
  puts lines.sort
end
