# A digest that is made piece by piece.
class DigestObject
  def initialize(name)
    @name = name
    @text = ''
  end

  def algorithm
    case @name
    when 'MD5' then Digest::MD5
    when 'SHA1' then Digest::SHA1
    when 'SHA256' then Digest::SHA256
    when 'SHA384' then Digest::SHA384
    when 'SHA512' then Digest::SHA512
    else __beyond__("it makes a digest by #{@name}")
    end
  end

  def name
    @name
  end

  def update(text)
    @text += text
    self
  end

  def <<(text)
    update(text)
  end

  def reset
    @text = ''
    self
  end

  def hexdigest(text = @text)
    algorithm.hexdigest(text)
  end

  def digest(text = @text)
    algorithm.digest(text)
  end

  def base64digest(text = @text)
    algorithm.base64digest(text)
  end

  def to_s
    hexdigest
  end
end

# A digest with a key that is made piece by piece.
class HmacObject
  def initialize(key, digest)
    @key = key
    @algorithm = digest
    @text = ''
  end

  def update(text)
    @text += text
    self
  end

  def <<(text)
    update(text)
  end

  def reset
    @text = ''
    self
  end

  def digest
    OpenSSL::HMAC.digest(@algorithm, @key, @text)
  end

  def hexdigest
    OpenSSL::HMAC.hexdigest(@algorithm, @key, @text)
  end

  def base64digest
    OpenSSL::HMAC.base64digest(@algorithm, @key, @text)
  end

  def to_s
    hexdigest
  end
end
