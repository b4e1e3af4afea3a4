# OpenStruct, as Ruby has it.
class OpenStruct
  def initialize(hash = nil)
    @table = {}
    hash&.each_pair { |name, value| @table[name.to_sym] = value }
  end

  def [](name)
    @table[name.to_sym]
  end

  def []=(name, value)
    @table[name.to_sym] = value
  end

  def to_h
    return @table.dup unless block_given?
    @table.map { |name, value| yield(name, value) }.to_h
  end

  def each_pair
    return @table.each_pair unless block_given?
    @table.each_pair { |name, value| yield name, value }
    self
  end

  def dig(name, *rest)
    @table.dig(name.to_sym, *rest)
  end

  def delete_field(name)
    raise NameError, "no field `#{name}' in #{inspect}" unless @table.key?(name.to_sym)
    @table.delete(name.to_sym)
  end

  def respond_to_missing?(name, include_private = false)
    @table.key?(name.to_s.chomp('=').to_sym) || super
  end

  def method_missing(name, *arguments)
    text = name.to_s
    if text.end_with?('=')
      @table[text.chomp('=').to_sym] = arguments.first
    elsif arguments.empty?
      @table[name]
    else
      super
    end
  end

  def ==(other)
    other.is_a?(OpenStruct) && other.to_h == @table
  end

  def inspect
    fields = @table.map { |name, value| " #{name}=#{value.inspect}" }
    "#<OpenStruct#{fields.join(',')}>"
  end

  def to_s
    inspect
  end
end
