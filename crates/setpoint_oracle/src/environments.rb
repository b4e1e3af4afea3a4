# Puppet itself, compiling nodes in directory environments: one JSON request a line in, one JSON answer a line out.
#
# Request: {"environmentpath": folder, "environment": name, "node": name, "facts": {…}, "extensions": {…} | null,
#   "classes": [name] | {name: {…}}, "parameters": {…}, "strict": bool}.
# Answer: {"catalog": {…} | null, "error": text | null}. Nothing is applied.
require 'json'
require 'tmpdir'
require 'puppet'
require 'puppet/parser'
require 'puppet/pops'

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
    node = Puppet::Node.new(name, environment: environment, facts: facts, classes: request['classes'] || [], parameters: request['parameters'] || {})
    node.merge(facts.values)
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
