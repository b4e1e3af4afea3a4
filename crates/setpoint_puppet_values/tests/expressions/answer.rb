# Asks Puppet what each expression of the cases in this folder means, and writes the answers into them:
#   ruby answer.rb [CASE…]
require 'puppet'
require 'json'

Puppet.initialize_settings(['--vardir', '/tmp/setpoint-answer/var', '--confdir', '/tmp/setpoint-answer/conf'])
Puppet::Util::Log.level = :err
Puppet::Util::Log.newdestination(:console)

def shown(value, scope)
  if $rich
    options = { rich_data: true, local_reference: false, type_by_reference: true, symbol_as_string: false }
    return JSON.generate(Puppet::Pops::Serialization::ToDataConverter.convert(value, options))
  end
  text = Puppet::Pops::Evaluator::EvaluatorImpl.new.string(value, scope).to_s
  "#{Puppet::Pops::Types::TypeCalculator.infer(value)} | #{text}"
end

def answer(source, node, loaders)
  parser = Puppet::Pops::Parser::EvaluatingParser.new
  if source.start_with?('type ')
    loaders.instantiate_definitions(parser.parse_string(source), loaders.public_environment_loader)
    return 'defined'
  end
  scope = Puppet::Parser::Compiler.new(node).topscope
  shown(Puppet.override(global_scope: scope) { parser.evaluate_string(scope, source, '') }, scope)
rescue StandardError => e
  message = e.message.sub(/ \(line: \d+(, column: \d+)?\)\z/, '').sub(/\AEvaluation Error: /, '')
  "error: #{message.sub(/\AError while evaluating an? [^,]*, /, '')}"
end

files = ARGV.empty? ? Dir[File.join(__dir__, '*.case')].sort : ARGV
files.each do |file|
  head, = File.read(file).split("<<< puppet\n", 2)
  prose, expressions = head.split(">>> expressions\n", 2)
  Puppet[:strict] = (prose[/^strict: (\w+)/, 1] || 'warning').to_sym
  $rich = prose.match?(/^rich: yes/)
  environment = Puppet::Node::Environment.create(:production, [])
  loaders = Puppet::Pops::Loaders.new(environment)
  context = { current_environment: environment, environments: Puppet::Environments::Static.new(environment), loaders: loaders }
  lines = Puppet.override(context) do
    node = Puppet::Node.new('node1', environment: environment)
    expressions.lines(chomp: true).reject(&:empty?).map do |line|
      "#{line}\n    #{answer(line, node, loaders).gsub("\n", "\n    ")}\n"
    end
  end
  File.write(file, "#{prose}>>> expressions\n#{expressions.rstrip}\n<<< puppet\n#{lines.join}")
end
