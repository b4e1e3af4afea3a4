require 'pathname'

Puppet::Type.newtype(:line_in) do
  @doc = 'A line in a file.'

  ensurable do
    defaultvalues
    defaultto :present
  end

  def self.title_patterns
    [
      [%r{\A(/.*):([^:]+)\z}m, [[:path], [:name]]],
      [%r{\A(.*)\z}m, [[:name]]],
    ]
  end

  newparam(:name, namevar: true)

  newparam(:path) do
    isnamevar
    validate do |value|
      raise ArgumentError, "path must be absolute: #{value}" unless Pathname.new(value).absolute?
    end
  end

  newproperty(:line, array_matching: :all) do
    munge { |value| value.to_s.chomp }
    def insync?(is)
      is == should
    end
  end

  newparam(:position) do
    newvalues(%r{^\d+$})
    defaultto 1
    munge { |value| Integer(value) }
  end

  autorequire(:file) { self[:path] }

  validate do
    raise Puppet::Error, 'line is required' if self[:line].nil?
  end
end
