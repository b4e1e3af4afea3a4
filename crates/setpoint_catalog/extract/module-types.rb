# Prints, as JSON, what Puppet knows about the resource types of modules: a check of the reader of Ruby type files.
#
#   ruby module-types.rb MODULES
require 'json'
require 'puppet'
require 'tmpdir'

modules = ARGV.fetch(0, '/usr/share/puppet/modules')
tmp = Dir.mktmpdir
at_exit { FileUtils.rm_rf(tmp) }
Puppet.initialize_settings(%W[--confdir #{tmp}/c --vardir #{tmp}/v --codedir #{tmp}/d])
Puppet::Util::Log.level = :crit
$LOAD_PATH.unshift(*Dir["#{modules}/*/lib"])

found = Dir["#{modules}/*/lib/puppet/type/*.rb"].sort.filter_map do |path|
  name = File.basename(path, '.rb')
  begin
    type = Puppet::Type.type(name) or next
    attributes = type.allattrs.reject { |a| Puppet::Type.metaparam?(a) }
    { 'path' => path, 'name' => name, 'attributes' => attributes.map(&:to_s).sort,
      'namevars' => type.key_attributes.map(&:to_s).sort, 'refreshes' => type.method_defined?(:refresh),
      'isomorphic' => type.isomorphic?,
      'properties' => attributes.select { |a| type.attrtype(a) == :property }.map(&:to_s).sort }
  rescue StandardError, LoadError, ScriptError
    nil
  end
end
puts JSON.generate(found)
