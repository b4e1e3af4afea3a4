# Struct, as Ruby has it: `Struct.new` makes a class, and `new` of that class an instance.
class Struct
  include Enumerable

  def self.new(*arguments, &block)
    return super unless equal?(Struct)
    options = arguments.last.is_a?(Hash) ? arguments.pop : {}
    __beyond__('it names a structure by a text') if arguments.first.is_a?(String)
    raise ArgumentError, 'wrong number of arguments (given 0, expected 1+)' if arguments.empty?
    names = arguments.map(&:to_sym)
    made = Class.new(Struct)
    made.instance_variable_set(:@members, names)
    made.instance_variable_set(:@keyword_init, options[:keyword_init])
    made.send(:attr_accessor, *names)
    made.class_eval(&block) if block
    made
  end

  def self.[](*values)
    new(*values)
  end

  def self.members
    (@members || superclass.members).dup
  end

  def self.keyword_init?
    @members ? @keyword_init : superclass.keyword_init?
  end

  def initialize(*values)
    names = members
    named = self.class.keyword_init?
    if named
      given = values.first || {}
      raise ArgumentError, "wrong number of arguments (given #{values.length}, expected 0)" unless given.is_a?(Hash) && values.length < 2
      unknown = given.keys - names
      raise ArgumentError, "unknown keywords: #{unknown.join(', ')}" unless unknown.empty?
      values = names.map { |name| given[name] }
    elsif values.length == 1 && named.nil? && values.first.is_a?(Hash) && !values.first.empty? && (values.first.keys - names).empty?
      __beyond__('it makes a structure of a hash')
    end
    raise ArgumentError, 'struct size differs' if values.length > names.length
    names.each_with_index { |name, at| instance_variable_set("@#{name}", values[at]) }
  end

  def members
    self.class.members
  end

  def to_a
    members.map { |name| instance_variable_get("@#{name}") }
  end

  def deconstruct
    to_a
  end

  def values
    to_a
  end

  def to_h
    pairs = members.map { |name| [name, instance_variable_get("@#{name}")] }
    pairs = pairs.map { |name, value| yield(name, value) } if block_given?
    pairs.to_h
  end

  def each
    return to_a.each unless block_given?
    to_a.each { |value| yield value }
    self
  end

  def each_pair
    return to_h.each_pair unless block_given?
    to_h.each_pair { |name, value| yield name, value }
    self
  end

  def size
    members.length
  end

  def length
    members.length
  end

  def member_of(key)
    names = members
    if key.is_a?(Integer)
      at = key.negative? ? key + names.length : key
      raise IndexError, "offset #{key} too large for struct(size:#{names.length})" if at >= names.length
      raise IndexError, "offset #{key} too small for struct(size:#{names.length})" if at.negative?
      names[at]
    else
      raise NameError, "no member '#{key}' in struct" unless names.include?(key.to_sym)
      key
    end
  end

  def [](key)
    instance_variable_get("@#{member_of(key)}")
  end

  def []=(key, value)
    instance_variable_set("@#{member_of(key)}", value)
  end

  def dig(key, *rest)
    value = self[key]
    rest.empty? || value.nil? ? value : value.dig(*rest)
  end

  def values_at(*places)
    to_a.values_at(*places)
  end

  def ==(other)
    other.class == self.class && other.to_a == to_a
  end

  def eql?(other)
    other.class == self.class && other.to_a.eql?(to_a)
  end

  def hash
    to_a.hash
  end

  def inspect
    name = self.class.name
    pairs = to_h.map { |key, value| "#{key}=#{value.inspect}" }
    "#<struct #{name ? "#{name} " : ''}#{pairs.join(', ')}>"
  end

  def to_s
    inspect
  end
end
