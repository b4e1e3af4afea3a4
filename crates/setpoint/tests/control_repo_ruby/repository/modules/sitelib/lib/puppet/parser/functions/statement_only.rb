module Puppet::Parser::Functions
  newfunction(:statement_only, :type => :statement) do |args|
    self['legacy_set'] = args.map(&:capitalize).first
    warning("statement_only: #{args.join}")
    'ignored'
  end
end
