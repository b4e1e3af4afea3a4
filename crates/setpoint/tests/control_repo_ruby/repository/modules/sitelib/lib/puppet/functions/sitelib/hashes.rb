require 'digest'
require 'securerandom'

Puppet::Functions.create_function(:'sitelib::hashes') do
  dispatch :hashes do
    required_repeated_param 'Variant[Array[String], Hash]', :given
  end

  SALT = 'salt'.freeze

  def hashes(*given)
    options = given.last.is_a?(Hash) ? given.pop : {}
    salt = options.fetch(SALT, 'none')
    given.flatten.map { |name| [name, Digest::SHA256.hexdigest("#{salt}#{name}")[0, 12], [Digest::MD5.digest(name)].pack('m0'), name.unpack('C*').first.to_s(2)].join(':') }.join("\n") + "\n"
  end
end
