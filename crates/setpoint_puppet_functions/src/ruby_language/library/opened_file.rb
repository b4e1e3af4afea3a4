# A file that is open to be read.
class OpenedFile
  include Enumerable

  def initialize(text)
    @text = text
    @rest = text
  end

  def read
    rest = @rest
    @rest = ''
    rest
  end

  def gets
    return nil if @rest.empty?
    line = @rest[/\A[^\n]*\n?/]
    @rest = @rest[line.length..-1]
    line
  end

  def eof?
    @rest.empty?
  end

  def each_line
    return read.each_line unless block_given?
    read.each_line { |line| yield line }
    self
  end

  def each(&block)
    each_line(&block)
  end

  def readlines(*options)
    read.lines(*options)
  end

  def rewind
    @rest = @text
    0
  end

  def close
    nil
  end

  def closed?
    false
  end
end
