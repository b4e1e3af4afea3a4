module Puppet::Parser::Functions
  newfunction(:ensure_accounts) do |args|
    accounts = args.first
    accounts.each do |name, options|
      next if findresource("User[#{name}]")
      function_create_resources(['user', { name => { 'ensure' => 'present' }.merge(options) }])
    end
  end
end
