# Reads a JSON array of texts; prints, as a JSON array, the first document of each as Psych's events have it.
require 'json'
require 'psych'

class Stop < StandardError; end

# Nodes as lines: kind, place, style, tag and text. An alias stands for its node, at its own place.
class Writer < Psych::Handler
  attr_reader :root

  def initialize
    super
    @open = []
    @anchors = {}
    @root = nil
  end

  def event_location(start_line, start_column, _end_line, _end_column)
    @place = "#{start_line}:#{start_column}"
  end

  def tag(tag)
    return '-' if tag.nil? || tag == '!'
    tag.start_with?('tag:yaml.org,2002:') ? tag.sub('tag:yaml.org,2002:', '!') : tag.sub(/\A!/, '')
  end

  def add(node, anchor)
    @anchors[anchor] = node if anchor
    if @open.empty? then @root = node else @open.last[:items] << node end
  end

  STYLES = { 1 => 'plain', 2 => 'quoted', 3 => 'quoted', 4 => 'block', 5 => 'block' }.freeze

  def scalar(value, anchor, tag, _plain, _quoted, style)
    add({ head: "scalar #{STYLES.fetch(style)} #{tag(tag)} #{value.dump}", place: @place, items: [] }, anchor)
  end

  def start(kind, anchor, tag)
    @anchors.delete(anchor)
    @open << { head: "#{kind} #{tag(tag)}", place: @place, items: [], anchor: anchor }
  end

  def finish
    node = @open.pop
    add(node, node.delete(:anchor))
  end

  def start_sequence(anchor, tag, _implicit, _style) = start('sequence', anchor, tag)
  def start_mapping(anchor, tag, _implicit, _style) = start('mapping', anchor, tag)
  def end_sequence = finish
  def end_mapping = finish

  def alias(anchor)
    node = @anchors[anchor]
    raise Stop, 'error' unless node
    add(node.merge(place: @place), nil)
  end

  def end_document(_implicit) = raise(Stop, 'done')
end

def dump(node, depth, out)
  out << "#{' ' * depth}#{node[:place]} #{node[:head]}"
  node[:items].each { |item| dump(item, depth + 1, out) }
end

answers = JSON.parse($stdin.read).map do |text|
  writer = Writer.new
  begin
    Psych::Parser.new(writer).parse(text)
    done = 'done'
  rescue Stop => e
    done = e.message
  rescue Psych::SyntaxError
    done = 'error'
  end
  next 'error' if done == 'error'
  out = []
  dump(writer.root, 0, out) if writer.root
  out.join("\n")
end
puts JSON.generate(answers)
