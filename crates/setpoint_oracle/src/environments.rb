# Puppet itself, compiling nodes in directory environments: one JSON request a line in, one JSON answer a line out.
#
# Request: {"environmentpath": folder, "environment": name, "node": name, "facts": {…}, "extensions": {…} | null,
#   "classes": [name] | {name: {…}}, "parameters": {…}, "classified": environment | null, "strict": bool}.
# With "classified", an external node classifier is run that prints classes, parameters and that environment.
# Answer: {"catalog": {…} | null, "error": text | null}. Nothing is applied.
require 'fileutils'
require 'json'
require 'tmpdir'
require 'yaml'
require 'puppet'
require 'puppet/parser'
require 'puppet/pops'

def given(request, environment, facts)
  node = Puppet::Node.new(request['node'], environment: environment, facts: facts, classes: request['classes'] || [], parameters: request['parameters'] || {})
  node.merge(facts.values)
  node
end

# As a server asks a classifier: what the node asks for is `environment`.
def classified(request, environment, facts)
  answer = { 'classes' => request['classes'], 'parameters' => request['parameters'], 'environment' => request['classified'] }
  script = File.join(Puppet[:vardir], 'classifier')
  FileUtils.mkdir_p(Puppet[:vardir])
  File.write(script, "#!/bin/sh\ncat <<'END'\n#{answer.compact.to_yaml}END\n")
  File.chmod(0o755, script)
  Puppet[:external_nodes] = script
  Puppet::Node::Facts.indirection.save(facts)
  asked = Puppet::Indirector::Request.new(:node, :find, request['node'], nil, environment: environment)
  Puppet::Node.indirection.terminus(:exec).find(asked)
end

def compile(request)
  name = request['node']
  Puppet[:strict_variables] = request['strict']
  Puppet[:strict] = request['strict'] ? :error : :warning
  Puppet[:node_name_value] = name
  Puppet[:code] = ''
  loader = Puppet::Environments::Directories.new(request['environmentpath'], [])
  Puppet[:environmentpath] = request['environmentpath']
  environment = Puppet.override(environments: loader) { loader.get!(request['environment'].to_sym) }
  context = { environments: loader, current_environment: environment, loaders: Puppet::Pops::Loaders.new(environment, false, false) }
  Puppet.override(context, 'oracle') do
    facts = Puppet::Node::Facts.new(name, request['facts'])
    node = request['classified'] ? classified(request, environment, facts) : given(request, environment, facts)
    node.add_server_facts('serverversion' => Puppet.version, 'servername' => name, 'serverip' => '192.0.2.10')
    extensions = request['extensions']
    trusted = Puppet::Context::TrustedInformation.new(extensions ? 'remote' : 'local', name, extensions || {})
    node.trusted_data = trusted.to_h
    catalog = Puppet::Parser::Compiler.compile(node).filter(&:virtual?)
    catalog.version = 0
    JSON.parse(catalog.render(:rich_data_json)).tap { |hash| hash.delete('catalog_uuid') }
  end
end

Dir.mktmpdir('oracle') do |folder|
  arguments = %w[conf code var run log].flat_map { |name| ["--#{name}dir", "#{folder}/#{name}"] }
  Puppet.initialize_settings(arguments + %w[--no-daemonize --certname node1.example.com])
  Puppet::Node::Facts.indirection.terminus_class = :memory
  Puppet::Node.indirection.terminus_class = :memory
  Puppet::Util::Log.level = :crit
  $stdout.sync = true
  $stdin.each_line do |line|
    catalog = error = nil
    begin
      catalog = compile(JSON.parse(line))
    rescue StandardError, ScriptError => e
      error = e.message.to_s
    end
    $stdout.puts JSON.generate('catalog' => catalog, 'error' => error)
  end
end
