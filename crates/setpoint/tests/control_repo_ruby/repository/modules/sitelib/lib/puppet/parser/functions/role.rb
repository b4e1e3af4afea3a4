# Includes the classes of a role, and says so to whoever asks later.
module Puppet::Parser::Functions
  newfunction(:role, :arity => -2, :doc => 'Includes role classes') do |args|
    Puppet::Parser::Functions.function(:include)
    known = lookupvar('_roles')
    raise Puppet::ParseError, 'role() can be used once' unless known.nil? || known == :undef || known == ''
    topscope = compiler.topscope
    topscope.setvar('_roles', args)
    args.each do |role|
      klass = "role::#{role}"
      raise Puppet::ParseError, "no class #{klass}" unless compiler.topscope.find_hostclass(klass)
      send(:function_include, [klass])
    end
  end
end
