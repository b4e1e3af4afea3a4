# Pathname, as far as paths are texts, and as far as files lie in the environment and its modules.
class Pathname
  include Comparable

  def initialize(path)
    @path = path.to_s.dup
  end

  def to_s
    @path.dup
  end

  def to_path
    @path.dup
  end

  def to_str
    @path.dup
  end

  def inspect
    "#<Pathname:#{@path}>"
  end

  def ==(other)
    other.is_a?(Pathname) && other.to_s == @path
  end

  def eql?(other)
    self == other
  end

  def hash
    @path.hash
  end

  def <=>(other)
    other.is_a?(Pathname) ? @path.tr('/', "\0") <=> other.to_s.tr('/', "\0") : nil
  end

  def absolute?
    @path.start_with?('/')
  end

  def relative?
    !absolute?
  end

  def root?
    !@path.empty? && @path.delete('/').empty?
  end

  def basename(suffix = '')
    Pathname.new(File.basename(@path, suffix))
  end

  def dirname
    Pathname.new(File.dirname(@path))
  end

  def parent
    self + '..'
  end

  def extname
    File.extname(@path)
  end

  def sub(pattern, replacement)
    Pathname.new(@path.sub(pattern, replacement))
  end

  def sub_ext(extension)
    Pathname.new(@path.delete_suffix(extname) + extension)
  end

  def cleanpath
    parts = []
    @path.split('/').each do |part|
      next if part.empty? || part == '.'
      if part == '..'
        if parts.empty? || parts.last == '..'
          parts << part unless absolute?
        else
          parts.pop
        end
      else
        parts << part
      end
    end
    joined = parts.join('/')
    Pathname.new(absolute? ? "/#{joined}" : (joined.empty? ? '.' : joined))
  end

  def +(other)
    added = other.to_s
    return Pathname.new(added) if added.start_with?('/')
    base = @path
    parts = added.split('/')
    while parts.first == '..' || parts.first == '.'
      step = parts.shift
      next if step == '.'
      if base == '.' || base.empty? || File.basename(base) == '..'
        base = base == '.' || base.empty? ? '..' : File.join(base, '..')
      else
        base = File.dirname(base)
      end
    end
    return Pathname.new(base) if parts.empty?
    base == '.' && @path == '.' ? Pathname.new(parts.join('/')) : Pathname.new(File.join(base, parts.join('/')))
  end

  define_method('/') { |other| self + other }

  def join(*others)
    others.inject(self) { |path, other| path + other }
  end

  def each_filename
    names = @path.split('/').reject(&:empty?)
    return names.each unless block_given?
    names.each { |name| yield name }
    nil
  end

  def relative_path_from(base)
    own = cleanpath.to_s.split('/')
    other = Pathname.new(base).cleanpath
    raise ArgumentError, "different prefix: #{@path.inspect} and #{base.inspect}" if absolute? != other.absolute?
    from = other.to_s.split('/')
    own = [] if own == ['.']
    from = [] if from == ['.']
    while !own.empty? && own.first == from.first
      own.shift
      from.shift
    end
    raise ArgumentError, "base_directory has ..: #{base.inspect}" if from.include?('..')
    parts = from.map { '..' } + own
    Pathname.new(parts.empty? ? '.' : parts.join('/'))
  end

  def exist?
    File.exist?(@path)
  end

  def file?
    File.file?(@path)
  end

  def directory?
    File.directory?(@path)
  end

  def readable?
    File.readable?(@path)
  end

  def read
    File.read(@path)
  end

  def readlines
    File.readlines(@path)
  end

  def expand_path(base = nil)
    Pathname.new(base.nil? ? File.expand_path(@path) : File.expand_path(@path, base.to_s))
  end

  def children
    Dir.children(@path).map { |name| self + name }
  end

  def glob(pattern)
    Dir.glob(File.join(@path, pattern)).map { |path| Pathname.new(path) }
  end
end
