# Prints what Puppet's own parser makes of many manifests, in the format of `dump_with_places`.
#
#   ruby dump.rb < LIST        LIST: one path a line; `*.epp` are templates
#   PLACES=0 ruby dump.rb …    the format of `dump`: without places
#
# For each path: `### path`, then either the tree, one statement a line, or `error LINE:COLUMN message` lines; last the
# warnings that validation gives, as `warning LINE:COLUMN message`.
require 'puppet'
require 'tmpdir'
dir = Dir.mktmpdir
at_exit { require 'fileutils'; FileUtils.rm_rf(dir) }
Puppet.initialize_settings(['--confdir', dir, '--vardir', dir])
require 'puppet/pops'
include Puppet::Pops

class Dumper
  def initialize(places)
    @places = places
  end

  def string(s)
    '"' + s.gsub(/["\\\n\r\t]/, '"' => '\\"', '\\' => '\\\\', "\n" => '\\n', "\r" => '\\r', "\t" => '\\t') + '"'
  end

  def float(v)
    m = /\A(-?)(\d+)(?:\.(\d+))?(?:e([-+]\d+))?\z/.match(v.to_s)
    digits = m[2] + (m[3] || '')
    exponent = m[2].length - 1 + (m[4] || 0).to_i
    stripped = digits.sub(/\A0+/, '')
    return "(float #{m[1]}0e0)" if stripped.empty?
    exponent -= digits.length - stripped.length
    stripped = stripped.sub(/0+\z/, '')
    mantissa = stripped.length > 1 ? "#{stripped[0]}.#{stripped[1..]}" : stripped
    "(float #{m[1]}#{mantissa}e#{exponent})"
  end

  def statements(o)
    case o
    when nil, Model::Nop then []
    when Model::BlockExpression then o.statements
    else [o]
    end
  end

  def block(head, o)
    '(' + [head, *statements(o).map { |s| expr(s) }].join(' ') + ')'
  end

  def operations(ops)
    ops.map do |op|
      if op.is_a?(Model::AttributesOperation)
        " (* #{expr(op.expr)})"
      else
        " (#{op.operator} #{op.attribute_name} #{expr(op.value_expr)})"
      end
    end.join
  end

  def parameters(ps)
    ps.map do |p|
      type = p.type_expr ? " : #{expr(p.type_expr)}" : ''
      value = p.value ? " = #{expr(p.value)}" : ''
      " (#{p.captures_rest ? 'rest' : 'param'} $#{p.name}#{type}#{value})"
    end.join
  end

  def returns(o)
    o.return_type ? " (>> #{expr(o.return_type)})" : ''
  end

  def lambda_of(o)
    "(lambda#{parameters(o.parameters)}#{returns(o)} #{block('do', o.body)})"
  end

  def call_lambda(o)
    o.lambda ? " #{lambda_of(o.lambda)}" : ''
  end

  def form(o)
    o.form == 'regular' ? '' : " #{o.form}"
  end

  def host(o)
    case o
    when Model::LiteralDefault then 'default'
    when Model::LiteralRegularExpression then "(regex #{string(o.value.source)})"
    when Model::LiteralString then string(o.value)
    else '""'
    end
  end

  def expr(o)
    return kind(o) if o.is_a?(Model::LambdaExpression) || o.is_a?(Model::Program)
    (@places ? "#{o.offset}@" : '') + kind(o)
  end

  def list(head, *items)
    '(' + [head, *items.flatten.map { |i| expr(i) }].join(' ') + ')'
  end

  def kind(o)
    case o
    when Model::RenderStringExpression then "(text #{string(o.value)})"
    when Model::LiteralUndef then 'undef'
    when Model::LiteralDefault then 'default'
    when Model::LiteralBoolean then o.value.to_s
    when Model::LiteralInteger then o.value.to_s + (o.radix == 10 ? '' : "r#{o.radix}")
    when Model::LiteralFloat then float(o.value)
    when Model::LiteralString then string(o.value)
    when Model::LiteralRegularExpression then "(regex #{string(o.value.source)})"
    when Model::ConcatenatedString
      '(' + ['cat', *o.segments.map { |s| s.is_a?(Model::TextExpression) ? "(str #{expr(s.expr)})" : string(s.value) }].join(' ') + ')'
    when Model::HeredocExpression
      '(heredoc ' + (o.syntax.empty? ? '' : o.syntax + ' ') + expr(o.text_expr) + ')'
    when Model::QualifiedName then "(name #{o.value})"
    when Model::QualifiedReference then "(type #{o.cased_value})"
    when Model::VariableExpression then "$#{o.expr.value}"
    when Model::LiteralList then list('array', o.values)
    when Model::LiteralHash then '(' + ['hash', *o.entries.map { |e| "(#{expr(e.key)} #{expr(e.value)})" }].join(' ') + ')'
    when Model::ParenthesizedExpression then list('paren', o.expr)
    when Model::NotExpression then list('!', o.expr)
    when Model::UnaryMinusExpression then list('neg', o.expr)
    when Model::UnfoldExpression then list('splat', o.expr)
    when Model::RelationshipExpression, Model::AssignmentExpression, Model::ArithmeticExpression, Model::ComparisonExpression, Model::MatchExpression
      list(o.operator, o.left_expr, o.right_expr)
    when Model::AndExpression then list('and', o.left_expr, o.right_expr)
    when Model::OrExpression then list('or', o.left_expr, o.right_expr)
    when Model::InExpression then list('in', o.left_expr, o.right_expr)
    when Model::AccessExpression then list('access', o.left_expr, o.keys)
    when Model::SelectorExpression
      "(? #{expr(o.left_expr)}" + o.selectors.map { |s| " (#{expr(s.matching_expr)} #{expr(s.value_expr)})" }.join + ')'
    when Model::CallNamedFunctionExpression
      "(#{o.rval_required ? 'call' : 'invoke'} #{expr(o.functor_expr)}" + o.arguments.map { |a| " #{expr(a)}" }.join + call_lambda(o) + ')'
    when Model::CallMethodExpression
      f = o.functor_expr
      "(method #{expr(f.left_expr)} #{f.right_expr.value}" + o.arguments.map { |a| " #{expr(a)}" }.join + call_lambda(o) + ')'
    when Model::UnlessExpression, Model::IfExpression
      head = o.is_a?(Model::UnlessExpression) ? 'unless' : 'if'
      other = statements(o.else_expr).empty? ? '' : " #{block('else', o.else_expr)}"
      "(#{head} #{expr(o.test)} #{block('then', o.then_expr)}#{other})"
    when Model::CaseExpression
      "(case #{expr(o.test)}" + o.options.map { |c| " ((#{c.values.map { |v| expr(v) }.join(' ')})#{statements(c.then_expr).map { |s| ' ' + expr(s) }.join})" }.join + ')'
    when Model::ResourceExpression
      "(resource#{form(o)} #{expr(o.type_name)}" + o.bodies.map { |b| " (#{expr(b.title)}#{operations(b.operations)})" }.join + ')'
    when Model::ResourceDefaultsExpression then "(defaults#{form(o)} #{expr(o.type_ref)}#{operations(o.operations)})"
    when Model::ResourceOverrideExpression then "(override#{form(o)} #{expr(o.resources)}#{operations(o.operations)})"
    when Model::CollectExpression
      q = o.query
      "(collect#{q.is_a?(Model::ExportedQuery) ? ' exported' : ''} #{expr(o.type_expr)}#{q.expr ? " (query #{expr(q.expr)})" : ''}#{operations(o.operations)})"
    when Model::HostClassDefinition
      parent = o.parent_class ? " (inherits #{o.parent_class.sub(/\A::/, '')})" : ''
      "(class #{o.name}#{parameters(o.parameters)}#{parent} #{block('do', o.body)})"
    when Model::ResourceTypeDefinition then "(define #{o.name}#{parameters(o.parameters)} #{block('do', o.body)})"
    when Model::NodeDefinition
      parent = o.parent ? " (inherits #{host(o.parent)})" : ''
      "(node #{o.host_matches.map { |h| host(h) }.join(' ')}#{parent} #{block('do', o.body)})"
    when Model::FunctionDefinition then "(function #{o.name}#{parameters(o.parameters)}#{returns(o)} #{block('do', o.body)})"
    when Model::TypeAlias then "(alias #{o.name} #{o.type_expr.is_a?(Model::AccessExpression) ? kind(o.type_expr) : expr(o.type_expr)})"
    when Model::TypeMapping then '(unsupported "A type mapping")'
    when Model::TypeDefinition then '(unsupported "A type definition")'
    when Model::EppExpression then raise 'epp outside of a lambda'
    when Model::LambdaExpression
      if o.body.is_a?(Model::EppExpression)
        given = o.body.parameters_specified ? " (given#{parameters(o.parameters)})" : ''
        "(epp#{given} #{block('do', o.body.body)})"
      else
        lambda_of(o)
      end
    when Model::RenderExpression
      if o.expr.is_a?(Model::BlockExpression)
        "(render (if true #{block('then', o.expr)}))"
      else
        "(render #{expr(o.expr)})"
      end
    when Model::ReservedWord, Model::BlockExpression then '(error)'
    else raise "no word for #{o.class}"
    end
  end
end

env = Puppet::Node::Environment.create(:dump, [])
places = ENV['PLACES'] != '0'
formatter = Validation::DiagnosticFormatterPuppetStyle.new
manifests = Parser::EvaluatingParser.new
templates = Parser::EvaluatingParser::EvaluatingEppParser.new
Puppet.override(current_environment: env, loaders: Loaders.new(env)) do
  STDIN.each_line(chomp: true) do |path|
    puts "### #{path}"
    begin
      text = File.read(path, mode: 'rb', encoding: 'utf-8')
      parser = (path.end_with?('.epp') ? templates : manifests).parser
      program = parser.parse_string(text, '')
      issues = manifests.validate(program.model).diagnostics.sort_by { |d| [d.source_pos.line, d.source_pos.pos] }
      errors = issues.select { |d| d.severity == :error }
      if errors.empty?
        Dumper.new(places).statements(program.model.body).each { |s| puts Dumper.new(places).expr(s) }
      end
      issues.each do |d|
        word = d.severity == :error ? 'error' : 'warning'
        puts "#{word} #{d.source_pos.line}:#{d.source_pos.pos} #{formatter.format_message(d)}"
      end
    rescue Puppet::ParseError => e
      message = e.respond_to?(:basic_message) ? e.basic_message : e.message
      # Puppet gives the end of the input no place.
      line = e.line || text.count("\n") + 1
      pos = e.pos || text[/[^\n]*\z/].length + 1
      puts "error #{line}:#{pos} #{message.sub(/ \((?:file: [^)]*, )?line: \d+, column: \d+\)\z/, '')}"
    rescue StandardError => e
      puts "error : #{e.message.lines.first}"
    end
  end
end
