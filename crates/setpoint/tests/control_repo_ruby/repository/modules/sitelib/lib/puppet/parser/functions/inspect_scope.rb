module Puppet::Parser::Functions
  newfunction(:inspect_scope, :type => :rvalue) do |args|
    found = %w[profile::legacy role::web].map { |name| compiler.catalog.resource(:class, name) ? 'in' : 'out' }
    function = Puppet::Parser::Functions.function(:no_such_function)
    names = ['old_style', 'nothing'].map { |name| respond_to?("function_#{name}") || Puppet::Parser::Functions.function(name.to_sym) ? 1 : 0 }
    "#{args.inspect} #{found.join} #{function.inspect} #{names} #{Puppet[:environment].class} #{include?('facts')} #{exist?('nope')}"
  end
end
