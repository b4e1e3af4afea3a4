module Puppet::Parser::Functions
  newfunction(:old_style, :type => :rvalue, :arity => -1) do |arguments|
    if arguments.size < 2
      raise(Puppet::ParseError, "old_style(): Wrong number of arguments given (#{arguments.size} for 2)")
    end
    text, options = arguments
    environment = self.environment.name.to_s
    host = lookupvar('::fqdn') || self.host
    "#{text} #{options.sort.map { |k, v| "#{k}=#{v.inspect}" }.join(',')} #{environment} #{host} #{self.lookupvar('trusted')['certname']} #{is_topscope?}"
  end
end
