require 'ipaddr'

Puppet::Functions.create_function(:'sitelib::machines') do
  dispatch :machines do
    param 'Struct[{path => String[1]}]', :options
    param 'Puppet::LookupContext', :context
    return_type 'Hash[String, Data]'
  end

  argument_mismatch :missing_path do
    param 'Hash', :options
    param 'Puppet::LookupContext', :context
  end

  Machine = Struct.new(:name, :address, :mac) do
    include Comparable

    def <=>(other)
      name <=> other.name
    end

    def network
      ip = IPAddr.new(address)
      { 'address' => address.split('/').first, 'network' => ip.to_s, 'family' => ip.ipv6? ? 6 : 4, 'range' => ip.to_range.first.to_s }
    end
  end

  def machines(options, context)
    text = context.cached_file_data(options['path'])
    list = text.each_line.map(&:strip).reject { |line| line.empty? || line.start_with?('#') }
    all = list.map { |line| Machine.new(*line.split(';')) }.sort
    all.each_with_object({}) do |machine, hash|
      hash["machines::#{machine.name}"] = machine.network.merge('mac' => machine.mac.tr(':', '-').upcase)
    end
  end

  def missing_path(options, context)
    "'path' must be declared in hiera.yaml when using this data_hash function"
  end
end
