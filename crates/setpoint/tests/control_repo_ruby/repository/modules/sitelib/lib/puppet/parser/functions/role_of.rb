module Puppet::Parser::Functions
  newfunction(:role_of, :type => :rvalue, :doc => <<-'DOC'
    The role that the name of a machine stands for.
    DOC
  ) do |args|
    name, = args
    case name
    when /^web/ then 'web'
    when /^(db|sql)\d*\./ then 'db'
    else Regexp.last_match.nil? ? 'none' : 'odd'
    end
  end
end
