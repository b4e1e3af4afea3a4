# Asks Puppet which values the attributes of its own types take, and prints tests/values.txt: the values by kind, the
# title and the other parameters of the resource for each type, and a line for each attribute with an answer for each
# value, in the same order: `a` for one that Puppet accepts, `r` for one that it refuses when it makes native resources of a
# catalog.
#
#   ruby answer-values.rb MODULES > ../tests/values.txt
#
# With `modules` as second argument, it asks for the types that the modules have besides Puppet's own instead, with the first title
# and parameters of a few that they accept; a third argument names them, with commas.
require 'json'
require 'puppet'
require 'tmpdir'

MODULES = ARGV.fetch(0, '/usr/share/puppet/modules')
OWN = %w[augeas cron exec file filebucket group host mailalias mount notify package resources schedule selboolean
           selmodule service ssh_authorized_key sshkey stage tidy user].freeze
IS_OF_MODULES = ARGV[1] == 'modules'
OF_MODULES = Dir["#{MODULES}/*/lib/puppet/type/*.rb"].map { |path| File.basename(path, '.rb') }.sort.uniq - OWN
NAMED = ARGV.fetch(2, '').split(',')
TYPES = IS_OF_MODULES ? OF_MODULES.select { |name| NAMED.empty? || NAMED.include?(name) } : OWN
LONG = 'x' * 300

# By kind. In JSON, {"__ptype": "Default"} is the keyword and {"reference": "File[/x]"} a reference to a resource.
VALUES = {
  'integer' => [0, 1, 2, 7, 12, 31, 59, 100, 644, 70_000],
  'negative' => [-1, -7],
  'float' => [0.5, 1.5, 2.0, -1.5],
  'true' => [true],
  'false' => [false],
  'no items' => [[]],
  'strings' => [%w[a b], %w[/a /b], %w[a=b c=d], %w[true], %w[1 2], %w[present], ['a b'], [''], %w[A=b x],
                %w[daily], %w[rsa yes]],
  'integers' => [[0], [1, 2], [5], [-1]],
  'other items' => [[true], [1.5], [{ 'a' => 'b' }], [{}], [%w[a b]], [%w[/a /b]], ['a', 1], ['a', nil], [:default]],
  'no pairs' => [{}],
  'pairs' => [{ 'a' => 'b' }, { 'a' => 1 }, { 'a' => ['b'] }, { 'a' => { 'b' => 'c' } }, { 'a' => nil }],
  'default' => [:default],
  'reference' => [:reference, 'File[/x]'],
  'string' => ['', 'zzz', 'true', 'false', 'yes', 'no', '0', '1', '7', '-1', '1.5', '012', '0x1f', '1_000', '/abs', '/a b', '/abs/',
               'a b', 'a,b', 'a:b', 'a=b', 'A=', 'absent', 'present', 'latest', 'all', 'name', '*', '*/5', '1-5', '2 - 4', '1d',
               '10k', '1q', '2030-12-31', '10.0.0.1', '::1', 'host.example.com', '-a', 'a.', "two\nlines", ' x', 'x ',
               'puppet', 'puppet:///modules/a/b', 'ftp://a/b', 'file:///a', 'http://a b/c', '%h/x', '~/x', '.bak', 'C:/x',
               'sha256', 'None', 'TRUE', 'Monday', 'mon', 'ünï', 'user', 'notice', 'd41d8cd98f00b204e9800998ecf8427e',
               'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', '0644', 'u=rw', '/usr/bin/env x',
               '"/bin/true" x', '22', '65536', '089', '5-', ' 5 ', '5s', '-', 'ü=1', '99999999999', LONG, "/#{LONG}"]
}.freeze
TITLES = { 'file' => '/t', 'exec' => '/bin/true', 'tidy' => '/t', 'mount' => '/mnt/t', 'resources' => 'user' }.freeze
# Tried in turn for the types of modules.
USUAL_TITLES = ['tt', '/t', 'a/b', 'a@b', 'a::b/c', 'a:b:c', 'a::b'].freeze
USUAL_GIVEN = [
  {}, { value: 'v' }, { path: '/x', line: 'l' }, { path: '/x', section: 's', setting: 'k', value: 'v' },
  { path: '/x', section: 's', setting: 'k', subsetting: 'u', value: 'v' }, { target: '/x', content: 'c' }, { tag: 't' },
  { provider: 'git', source: 'https://e/x' }, { source: 'http://e/x' }, { path: '/x' }, { content: 'c' }, { target: '/x' },
  { user: 'a@b', table: '*.*', privileges: ['ALL'] }, { password: 'x' }, { ensure: 'present' }
].freeze
GIVEN = {
  'ssh_authorized_key' => { user: 'root', type: 'rsa', key: 'AAAA' }, 'sshkey' => { type: 'rsa', key: 'AAAA' },
  'cron' => { command: 'x', user: 'root' }, 'host' => { ip: '10.0.0.1' }, 'augeas' => { lens: 'x', incl: '/x' },
  'mount' => { device: 'x', fstype: 'ext4' }, 'tidy' => { age: '1d', recurse: true }
}.freeze
# What makes relationships is checked elsewhere.
LEFT_OUT = %i[before require notify subscribe stage schedule alias].freeze

tmp = Dir.mktmpdir
at_exit { FileUtils.rm_rf(tmp) }
Puppet.initialize_settings(%W[--confdir #{tmp}/c --vardir #{tmp}/v --codedir #{tmp}/d])
Puppet::Util::Log.level = :crit
libraries = IS_OF_MODULES ? Dir["#{MODULES}/*/lib"] : Dir["#{MODULES}/*_core/lib"] + ["#{MODULES}/mailalias/lib"]
$LOAD_PATH.unshift(*libraries)

def json(value)
  case value
  when :default then { '__ptype' => 'Default' }
  when :reference then { 'reference' => 'File[/x]' }
  when Array then value.map { |item| json(item) }
  else value
  end
end

def accepts?(type, name, value, title, base)
  # Types change the arrays that they are given.
  value = value == :reference ? Puppet::Resource.new('File', '/x') : Marshal.load(Marshal.dump(value))
  parameters = base.merge(name => value)
  catalog = Puppet::Resource::Catalog.new('node')
  [['file', '/x', {}], [type, title, parameters]].each do |kind, title, given|
    catalog.add_resource(Puppet::Resource.new(kind, title, parameters: given))
  end
  native = catalog.to_ral
  native.finalize
  native.relationship_graph
  true
rescue StandardError, NotImplementedError
  false
end

# The title and the other parameters of the resource.
def base_of(type)
  return [TITLES.fetch(type, 'tt'), GIVEN.fetch(type, {})] unless IS_OF_MODULES

  USUAL_TITLES.product(USUAL_GIVEN).find { |title, given| accepts?(type, :loglevel, 'notice', title, given) }
end

puts "# Puppet #{Puppet.version}, by extract/answer-values.rb. Do not edit."
VALUES.each { |kind, values| values.each { |value| puts "value #{kind.tr(' ', '-')} #{JSON.generate(json(value))}" } }
all = VALUES.values.flatten(1)
TYPES.each do |type|
  klass = begin
    Puppet::Type.type(type)
  rescue StandardError, LoadError
    nil
  end
  next if klass.nil? && IS_OF_MODULES

  klass or abort("no type #{type}")
  title, base = base_of(type)
  next if title.nil?

  puts "given #{type} #{title} #{JSON.generate(base)}"
  klass.allattrs.uniq.sort.each do |name|
    next if LEFT_OUT.include?(name) || (type == 'exec' && name == :user)
    next if IS_OF_MODULES && %i[provider loglevel noop audit].include?(name)

    puts "attribute #{type} #{name} #{all.map { |value| accepts?(type, name, value, title, base) ? 'a' : 'r' }.join}"
  end
end
