module Puppet::Parser::Functions
  newfunction(:calling_module, :type => :rvalue) do |_args|
    [self.source.module_name, lookupvar('module_name'), lookupvar('caller_module_name').inspect, resource.to_s, resource.title, resource.type].join(' ')
  end
end
