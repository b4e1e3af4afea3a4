# Asks Puppet which resources it can turn into native ones. Reads resources as JSON, one a line, and prints for each:
#
#   ok               it can be managed
#   fails PARAMETER  Puppet blames this parameter
#   fails            Puppet blames the resource
#
#   ruby answer-conversion.rb MODULES < resources
require 'json'
require 'puppet'
require 'tmpdir'

modules = ARGV.fetch(0, '/usr/share/puppet/modules')
tmp = Dir.mktmpdir
at_exit { FileUtils.rm_rf(tmp) }
Puppet.initialize_settings(%W[--confdir #{tmp}/c --vardir #{tmp}/v --codedir #{tmp}/d])
Puppet::Util::Log.level = :crit
$LOAD_PATH.unshift(*Dir["#{modules}/*/lib"])

$stdin.each_line do |line|
  next if line.strip.empty?

  data = JSON.parse(line)
  begin
    resource = Puppet::Resource.new(data['type'], data['title'], parameters: data.fetch('parameters', {}))
    catalog = Puppet::Resource::Catalog.new('node')
    catalog.add_resource(resource)
    native = catalog.to_ral
    native.finalize
    native.relationship_graph
    puts 'ok'
  rescue StandardError => e
    puts ['fails', e.message[/\AParameter (\w+) failed/, 1] || e.message[/\Ano parameter named '(\w+)'/, 1]].compact.join(' ')
  end
end
