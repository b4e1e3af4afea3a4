Puppet::Parser::Functions.newfunction(:has_role, :type => :rvalue, :arity => 1) do |args|
  roles = [lookupvar('::_roles')].flatten.compact
  roles.include?(args[0]) && catalog.classes.include?("role::#{args[0]}")
end
