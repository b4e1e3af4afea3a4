# Compiles the catalogs of rspec-puppet by one resident `setpoint serve`. An example is handed back to Puppet if anything in it could
# make the two differ: stubs, functions defined from Ruby, exported resources, values that Setpoint does not know.
#
# SETPOINT_RSPEC=verify compiles by both and fails an example whose catalogs differ; =off leaves everything to Puppet.

require 'json'
require 'open3'
require 'rspec-puppet'

module SetpointRspec
  # Puppet compiles this example instead, for this reason.
  class HandBack < StandardError; end

  # The catalogs of the two differ.
  class Difference < StandardError; end

  # The resident process.
  class Client
    def initialize(program)
      @input, @output, = Open3.popen2(program, 'serve')
      @id = 0
    end

    def request(method, params)
      @id += 1
      @input.puts(JSON.generate('jsonrpc' => '2.0', 'id' => @id, 'method' => method, 'params' => params))
      @input.flush
      line = @output.gets or raise HandBack, 'setpoint ended'
      JSON.parse(line)
    end

    def settings(params)
      return if params == @settings

      answer = request('initialize', params)
      raise HandBack, answer['error']['message'] if answer['error']

      @settings = params
    end
  end

  class << self
    attr_accessor :defined_from_ruby

    def mode
      ENV.fetch('SETPOINT_RSPEC', 'on')
    end

    def client
      @client ||= Client.new(ENV.fetch('SETPOINT', 'setpoint'))
    end

    def counts
      @counts ||= Hash.new(0)
    end

    # The catalog as Setpoint compiles it. Raises HandBack, or Puppet's own error class if the code does not compile.
    def catalog(node, adapter)
      refuse_what_only_puppet_knows
      client.settings('protocol' => 1, 'modulepath' => adapter.modulepath.map { |path| File.expand_path(path) },
                      'puppet' => Puppet.version)
      answer = client.request('catalog', params(node))
      failed(answer['error'], node) if answer['error']
      opaque = answer['result']['opaque'].first
      raise HandBack, "not known: #{opaque['reason']}" if opaque

      Puppet::Resource::Catalog.convert_from('rich_data_json', JSON.generate(answer['result']['catalog']))
    end

    # The first thing in which two catalogs differ, nil if there is none.
    def difference(ours, theirs)
      ours, theirs = [ours, theirs].map { |catalog| comparable(catalog) }
      (ours.keys | theirs.keys).sort.each do |name|
        return "only Puppet has #{name}" unless ours.key?(name)
        return "only Setpoint has #{name}" unless theirs.key?(name)

        keys = (ours[name].keys | theirs[name].keys).reject { |key| ours[name][key] == theirs[name][key] }
        return "#{name} has another #{keys.sort.join(', ')}" if keys.any?
      end
      nil
    end

    # Resources and edges by name, without what says where they were written.
    def comparable(catalog)
      # Titles of classes are written in another way once a catalog was read from JSON.
      read = Puppet::Resource::Catalog.convert_from('rich_data_json', catalog.render('rich_data_json'))
      plain = Puppet::Pops::Serialization::ToDataConverter.convert(read.to_data_hash, rich_data: true)
      found = {}
      plain['resources'].each do |resource|
        parts = resource.reject { |key, _| %w[file line tags kind].include?(key) }
        found["#{resource['type']}[#{resource['title']}]"] = parts.merge('tags' => resource['tags'].to_a.sort)
      end
      plain['edges'].each { |edge| found["#{edge['source']} -> #{edge['target']}"] = {} }
      found
    end

    private

    def refuse_what_only_puppet_knows
      raise HandBack, 'a function or type is defined from Ruby' if defined_from_ruby
      raise HandBack, 'something is stubbed' if stubbed?
      raise HandBack, 'there is a site manifest' unless Puppet[:manifest].to_s.empty? || !File.exist?(Puppet[:manifest])
    end

    def stubbed?
      defined?(RSpec::Mocks) && RSpec::Mocks.space.respond_to?(:proxies) && RSpec::Mocks.space.proxies.any?
    end

    def params(node)
      facts = node.facts ? node.facts.values : node.parameters
      trusted = Puppet.lookup(:trusted_information) { nil } || node.trusted_data
      trusted = trusted.to_h if trusted.respond_to?(:to_h)
      params = { 'node' => node.name, 'code' => Puppet[:code], 'facts' => facts, 'rich_data' => true,
                 'node_parameters' => node.parameters.reject { |name, _| facts.key?(name) },
                 'strict_variables' => Puppet[:strict_variables] }
      params['trusted'] = trusted if trusted && !trusted.empty?
      params['hiera_config'] = Puppet[:hiera_config] if File.file?(Puppet[:hiera_config].to_s)
      params
    end

    def failed(error, node)
      data = error['data']
      raise HandBack, error['message'] unless data
      raise HandBack, "not known: #{error['message']}" if data['limit']

      place = data['file'] ? " (file: #{data['file']}, line: #{data['line']})" : ''
      raise Puppet::PreformattedError, "#{data['puppet_message']}#{place} on node #{node.name}"
    end
  end

  # Takes the place of the compiler in rspec-puppet's adapters.
  module Adapter
    def catalog(node, exported)
      return super if SetpointRspec.mode == 'off'

      begin
        raise HandBack, 'exported resources' if exported

        ours = SetpointRspec.catalog(node, self)
      rescue HandBack => e
        SetpointRspec.counts[e.message] += 1
        return super
      rescue Puppet::Error => e
        failure = e
      end
      SetpointRspec.counts['compiled by setpoint'] += 1
      return verify(ours, failure) { super } if SetpointRspec.mode == 'verify'
      raise failure if failure

      ours
    end

    private

    def verify(ours, failure)
      theirs = yield
      raise Difference, "only Puppet compiles this: #{failure.message}" if failure
      difference = SetpointRspec.difference(ours, theirs)
      raise Difference, "the catalogs differ: #{difference}" if difference

      theirs
    rescue Puppet::Error
      raise Difference, 'only Setpoint compiles this' unless failure

      raise
    end
  end

  # Notices functions that a spec defines.
  module Definitions
    def create_function(...)
      SetpointRspec.defined_from_ruby = true if from_spec?
      super
    end

    def newfunction(...)
      SetpointRspec.defined_from_ruby = true if from_spec?
      super
    end

    # Whether the definition itself stands in a spec. Files of functions are loaded while a spec runs, too.
    def from_spec?
      place = caller_locations.find { |location| location.path != __FILE__ }
      place && place.path.end_with?('_spec.rb', 'spec_helper.rb', 'spec_helper_local.rb')
    end
  end
end

RSpec::Puppet::Adapters::Base.prepend(SetpointRspec::Adapter)
[Puppet::Functions, Puppet::Parser::Functions].each { |functions| functions.singleton_class.prepend(SetpointRspec::Definitions) }

RSpec.configure do |config|
  config.after(:suite) do
    next if SetpointRspec.counts.empty?

    warn 'Catalogs:'
    SetpointRspec.counts.sort_by { |reason, count| [-count, reason] }.each { |reason, count| warn "  #{count} #{reason}" }
  end
end
