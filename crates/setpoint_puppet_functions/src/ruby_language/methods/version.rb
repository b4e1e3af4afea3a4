class GemVersion
  attr_reader :parts

  def initialize(text)
    @text = text
    @parts = text.scan(/[0-9]+|[a-z]+/i).map { |part| part =~ /^\d+$/ ? part.to_i : part }
  end

  def to_s
    @text
  end

  def version
    @text
  end

  def segments
    @parts
  end

  def canonical
    parts = @parts.dup
    parts.pop while parts.size > 1 && parts.last == 0
    parts
  end

  def <=>(other)
    other = Gem::Version.new(other) if other.is_a?(String)
    mine = canonical
    theirs = other.canonical
    return 0 if mine == theirs
    at = 0
    most = mine.size > theirs.size ? mine.size : theirs.size
    while at < most
      left = mine[at] || 0
      right = theirs[at] || 0
      at += 1
      next if left == right
      return -1 if left.is_a?(String) && right.is_a?(Integer)
      return 1 if left.is_a?(Integer) && right.is_a?(String)
      return left <=> right
    end
    0
  end

  def ==(other)
    (self <=> other) == 0
  end

  def prerelease?
    @parts.any? { |part| part.is_a?(String) }
  end
end
