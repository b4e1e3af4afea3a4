# Puppet itself, answering many cases in one process: one JSON request a line in, one JSON answer a line out.
#
# Request: {"files": {path: text}, "node": name, "facts": {…}, "modules": [name], "strict": bool}; `main.pp` is the manifest
#   and `modules` the module path, before the named modules of the installation and the native types that puppet-agent ships
#   as modules. `hiera.yaml` is that of the environment, `global/hiera.yaml` the global one. "trusted" is laid over the usual
#   trusted facts. With "lookups", lines of arguments of `puppet lookup`, nothing is compiled, and the answer has what each prints.
#   With "kept": manifest instead of files, it is compiled in an environment that is kept for all such requests: what Puppet
#   has parsed once it does not parse again.
#   "manifest" and "modulepath" name other places in files than `main.pp` and `modules`; "folders" are further folders of modules,
#   whose files are parsed once for all requests.
# Answer: {"root": folder, "catalog": {…} | null, "error": text | null, "logs": [{level, source, file, line, column, text}]}.
# Nothing is applied. With `--bare` the catalog is rendered and not sent, so that only Puppet's own work is measured.
require 'json'
require 'tmpdir'
require 'fileutils'
require 'timeout'
require 'shellwords'
require 'puppet'
require 'puppet/parser'
require 'puppet/pops'

SECONDS_FOR_A_CASE = 60
# stdlib's deprecated functions name the file of their own code in their warnings, which is no part of an answer.
ENV['STDLIB_LOG_DEPRECATIONS'] = 'false'
CORE_MODULES = %w[augeas_core cron_core host_core mailalias mount_core selinux_core sshkeys_core yumrepo_core zfs_core zone_core]
MODULE_FOLDERS = %w[/usr/share/puppet/modules /usr/share/puppet/vendor_modules /opt/puppetlabs/puppet/vendor_modules]

# Keeps what Puppet logs, in order.
class Collected
  attr_reader :messages
  def initialize
    @messages = []
  end

  def <<(message)
    @messages << message
  end
end

def start(folder)
  arguments = %w[conf code var run log].flat_map { |name| ["--#{name}dir", "#{folder}/#{name}"] }
  Puppet.initialize_settings(arguments + %w[--no-daemonize --certname node1.example.com])
  Puppet::Node::Facts.indirection.terminus_class = :memory
  Puppet::Node.indirection.terminus_class = :memory
  Puppet::Util::Log.level = :debug
  logs = Collected.new
  # A destination of our own: an object that takes each message.
  Puppet::Util::Log.newdesttype(:collected) do
    match 'Collected'
    define_method(:initialize) { |to| @to = to }
    define_method(:handle) { |message| @to << message }
  end
  Puppet::Util::Log.newdestination(logs)
  core = "#{folder}/core"
  FileUtils.mkdir_p(core)
  CORE_MODULES.each { |name| link(name, core) }
  [logs, core]
end

# Puts a module of the installation into a folder.
def link(name, folder)
  found = MODULE_FOLDERS.map { |parent| "#{parent}/#{name}" }.find { |path| File.directory?(path) }
  File.symlink(File.realpath(found), "#{folder}/#{name}") if found
end

def write(files, root)
  FileUtils.mkdir_p("#{root}/modules")
  files.each do |path, text|
    FileUtils.mkdir_p(File.dirname("#{root}/#{path}"))
    File.write("#{root}/#{path}", text)
  end
end

def trusted(name, more)
  host, domain = name.split('.', 2)
  known = { 'authenticated' => 'local', 'certname' => name, 'extensions' => {}, 'hostname' => host, 'domain' => domain, 'external' => {} }
  known.merge(more || {})
end

# An environment with the named modules, and the classes of other requests already read.
def kept_environment(request, folder, core)
  $kept ||= {}
  $kept[[request['kept'], request['modules']]] ||= begin
    root = "#{folder}/kept#{$kept.size}"
    FileUtils.mkdir_p("#{root}/installed")
    File.write("#{root}/main.pp", request['kept'])
    request['modules'].each { |module_name| link(module_name, "#{root}/installed") }
    environment = Puppet::Node::Environment.create(:production, ["#{root}/installed", core], "#{root}/main.pp")
    environments = Puppet::Environments::StaticDirectory.new('production', root, environment)
    { environments: environments, current_environment: environment, loaders: Puppet::Pops::Loaders.new(environment, false, false) }
  end
end

# Parses a file of a folder of modules once. A tree does not change, so that environments can share it.
module ParsedOnce
  def parse_file(file)
    ($shared_folders || []).any? { |folder| file.to_s.start_with?(folder) } ? ($parsed_files ||= {})[file] ||= super : super
  end
end
Puppet::Pops::Parser::EvaluatingParser.prepend(ParsedOnce)

def compile(request, root, core)
  name = request['node']
  Puppet[:strict_variables] = request['strict']
  Puppet[:strict] = request['strict'] ? :error : :warning
  Puppet[:node_name_value] = name
  Puppet[:code] = ''
  Puppet[:hiera_config] = "#{root}/global/hiera.yaml"
  if request['kept']
    context = kept_environment(request, File.dirname(root), core)
  else
    installed = "#{root}/installed"
    FileUtils.mkdir_p(installed)
    (request['modules'] || []).each { |module_name| link(module_name, installed) }
    $shared_folders = request['folders'] || []
    path = (request['modulepath'] || ['modules']).map { |part| "#{root}/#{part}" } + $shared_folders + [installed, core]
    environment = Puppet::Node::Environment.create(:production, path, "#{root}/#{request['manifest'] || 'main.pp'}")
    environments = Puppet::Environments::StaticDirectory.new('production', root, environment)
    context = { environments: environments, current_environment: environment, loaders: Puppet::Pops::Loaders.new(environment, false, false) }
  end
  environment = context[:current_environment]
  Puppet.override(context, 'oracle') do
    facts = Puppet::Node::Facts.new(name, request['facts'])
    node = Puppet::Node.new(name, environment: environment, facts: facts)
    node.merge(facts.values)
    node.add_server_facts('serverversion' => Puppet.version, 'servername' => name, 'serverip' => '192.0.2.10')
    node.trusted_data = trusted(name, request['trusted'])
    next [nil, request['lookups'].map { |line| look_up(line, node) }] if request['lookups']
    catalog = Puppet::Parser::Compiler.compile(node).filter(&:virtual?)
    catalog.version = 0
    text = catalog.render(:rich_data_json)
    [ARGV.include?('--bare') ? nil : JSON.parse(text).tap { |hash| hash.delete('catalog_uuid') }, nil]
  end
end

# What `puppet lookup` prints for a line of arguments.
def look_up(line, node)
  words = Shellwords.split(line)
  keys = []
  options = {}
  until words.empty?
    word = words.shift
    case word
    when '--merge', '--type', '--default', '--knock-out-prefix', '--render-as' then options[word] = words.shift
    when /^--/ then options[word] = true
    else keys << word
    end
  end
  merge = options['--merge']
  merge = { 'strategy' => merge } if merge
  if merge && merge['strategy'] == 'deep'
    merge['sort_merged_arrays'] = !options['--sort-merged-arrays'].nil?
    merge['merge_hash_arrays'] = !options['--merge-hash-arrays'].nil?
    merge['knockout_prefix'] = options['--knock-out-prefix'] if options['--knock-out-prefix']
  end
  explain = options['--explain'] || options['--explain-options']
  only = options['--explain-options'] && !options['--explain']
  keys = [Puppet::Pops::Lookup::GLOBAL] if keys.empty? && only
  Puppet[:code] = 'undef'
  text = nil
  compiler = Puppet::Parser::Compiler.new(node)
  compiler.compile do |catalog|
    scope = compiler.topscope
    explainer = explain ? Puppet::Pops::Lookup::Explainer.new(!!options['--explain-options'], !!only) : nil
    invocation = Puppet::Pops::Lookup::Invocation.new(scope, {}, {}, explainer)
    begin
      type = options['--type'] ? Puppet::Pops::Types::TypeParser.singleton.parse(options['--type'], scope) : nil
      result = Puppet::Pops::Lookup.lookup(keys, type, options['--default'], !options['--default'].nil?, merge, invocation)
      text = Puppet::Network::FormatHandler.format((options['--render-as'] || 'yaml').to_sym).render(result) unless explain
    rescue Puppet::DataBinding::LookupError => e
      invocation.report_text { e.message }
      text = "error: #{e.message}" unless explain
    end
    text = explainer.explain if explain
    catalog
  end
  text.to_s
rescue StandardError => e
  "error: #{e.message}"
ensure
  Puppet[:code] = ''
end

def answer(request, root, core, logs)
  catalog = error = lookups = nil
  begin
    Timeout.timeout(SECONDS_FOR_A_CASE) { catalog, lookups = compile(request, root, core) }
  rescue SystemExit, StandardError, ScriptError, SystemStackError => e
    error = e.message.to_s
    error = "#{e.class}: #{error}" unless e.is_a?(Puppet::Error)
  end
  # What Puppet tells of itself is left out; what a manifest logs has its scope as source.
  kept = logs.messages.reject do |m|
    %i[debug info].include?(m.level) && (!m.source.to_s.start_with?('Scope(') || m.message.start_with?('Retrieving '))
  end
  said = kept.map do |m|
    { 'level' => m.level, 'source' => m.source.to_s, 'file' => m.file, 'line' => m.line, 'column' => m.respond_to?(:pos) ? m.pos : nil, 'text' => m.message }
  end
  { 'root' => root, 'catalog' => catalog, 'error' => error, 'logs' => said, 'lookups' => lookups }
end

Dir.mktmpdir('oracle') do |folder|
  logs, core = start(folder)
  $stdout.sync = true
  $stdin.each_line.with_index do |line, index|
    request = JSON.parse(line)
    root = "#{folder}/case#{index}"
    write(request['files'] || {}, root)
    logs.messages.clear
    # What Puppet says once in a process is said once in a case.
    $unique_warnings = {}
    Puppet::Util::Warnings.clear_warnings
    $stdout.puts JSON.generate(answer(request, root, core, logs))
    FileUtils.rm_rf(root)
  end
end
