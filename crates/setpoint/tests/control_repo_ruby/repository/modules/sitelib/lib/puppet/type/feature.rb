require_relative '../../puppet_x/sitelib/names'

Puppet::Type.newtype(:feature) do
  desc 'A feature.'
  extend PuppetX::Sitelib::Names

  newproperty(:ensure) do
    newvalue(:enabled) { provider.enable }
    newvalue(:disabled) { provider.disable }
    defaultto :enabled
  end

  named_parameter(:name)

  newparam(:options) do
    desc 'More.'
    defaultto({})
    validate do |value|
      raise Puppet::Error, "options must be a hash, not #{value.class}" unless value.is_a?(Hash)
    end
  end

  %w[alpha beta].each do |flag|
    newparam("is_#{flag}".to_sym, boolean: true, parent: Puppet::Parameter::Boolean)
  end
end
