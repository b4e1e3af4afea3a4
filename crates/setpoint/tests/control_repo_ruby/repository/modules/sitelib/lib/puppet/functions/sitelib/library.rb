require 'ipaddr'
require 'set'
require 'uri'
require 'json'
require 'time'
require 'ostruct'
require 'forwardable'

Puppet::Functions.create_function(:'sitelib::library') do
  dispatch :library do
    param 'Hash[String, Any]', :given
  end

  def library(given)
    {
      'words' => words(given['words']),
      'numbers' => numbers(given['numbers']),
      'addresses' => given['addresses'].map { |text| address(text) },
      'url' => url(given['url']),
      'time' => Time.at(given['time']).utc.strftime('%Y-%m-%d %H:%M:%S %j %a'),
      'control' => control,
      'sets' => sets,
      'bytes' => bytes,
      'text' => text,
      'objects' => objects,
    }.map { |key, value| [key, value.is_a?(String) ? value : JSON.generate(value)] }.to_h
  end

  def words(words)
    groups = words.group_by(&:downcase).transform_values(&:length)
    partition = words.partition { |word| word =~ /^[A-Z]/ }
    [groups, partition, words.uniq(&:downcase).sort, words.max_by(&:length), words.tally.select { |_, n| n > 1 }.keys,
     words.each_cons(2).count { |a, b| a > b }, words.zip(1..5).last, words.chunk_while { |a, b| a[0] == b[0] }.to_a.size,
     words.inject { |a, b| a.length >= b.length ? a : b }, words.values_at(0, -1), words.rotate(2).first]
  end

  def numbers(numbers)
    [numbers.sum, numbers.minmax, numbers.sort { |a, b| b <=> a }, numbers.reduce(1, :*), numbers.map { |n| n.fdiv(3).round(2) },
     numbers.each_with_index.map { |n, i| n * i }, numbers.select(&:even?), numbers.take_while { |n| n > 0 }, 17.divmod(-5), 255.to_s(16), '0x1f'.hex, 10.digits,
     (1..10).step(3).to_a, 1.upto(3).to_a, 7.clamp(1, 5), -7.abs, 2**10, 3.7.floor, 3.2.ceil, 1_000_000.to_s.reverse.scan(/\d{1,3}/).join(',').reverse]
  end

  def address(text)
    ip = IPAddr.new(text)
    [ip.to_s, ip.ipv4?, ip.to_range.first.to_s, ip.include?(IPAddr.new(ip.ipv4? ? '10.1.2.3' : '2001:db8::1')), ip.succ.to_s, ip.to_i.to_s(16), ip.reverse, (ip | 255).to_s, ip.mask(16).to_s, ip.prefix, ip.hton.bytes.first(2)]
  end

  def url(text)
    uri = URI.parse(text)
    query = URI.decode_www_form(uri.query).to_h
    [uri.scheme, uri.host, uri.userinfo, uri.path, query, uri.fragment, uri.to_s, URI.encode_www_form('a b' => 'ü&', 'c' => [1, 2]), uri.is_a?(URI::HTTPS)]
  end

  def control
    seen = []
    catch(:done) do
      5.times { |n| throw :done if n == 3; seen << n }
    end
    seen << (begin
      Integer('nope')
    rescue ArgumentError, TypeError => e
      e.message
    else
      'no error'
    ensure
      seen << :ensured.to_s
    end)
    attempts = 0
    begin
      attempts += 1
      raise IOError, 'again' if attempts < 3
    rescue IOError
      retry
    end
    x = [1, [2, 3]]
    a, (b, c) = x
    first, *middle, last = *1..5
    seen += [attempts, a + b + c, first, middle, last]
    seen << case [1, 'x'] when Array then 'array' else 'other' end
    i = 0
    i += 1 until i * i > 50
    seen << i << (i > 3 && !false ? 'yes' : 'no') << [3, nil, 1].compact.min << (nil&.length).inspect
    until (i -= 1).zero? do next if i.odd?; break if i < 4 end
    seen << i << __method__.to_s << defined?(seen) << defined?(nothing).inspect
    seen << %w[a b].each_with_index.to_h { |w, n| [w, n] } << %i[x y].map(&:to_s) << <<~TEXT.lines.map(&:chomp)
      indented
        more #{1 + 1}
    TEXT
    seen
  end

  def sets
    a = Set.new([1, 2, 3])
    b = Set[3, 4]
    [(a | b).to_a, (a & b).to_a, (a - b).to_a, (a ^ b).to_a.sort, a.include?(2), a.subset?(Set[1, 2, 3, 4]), a.add?(1).nil?, [[1, 2], [3, 4]].to_set.size, a.map { |x| x % 2 }.to_set.to_a]
  end

  def bytes
    [[1, 2, 258].pack('Cn v').unpack('C*'), ['abc'].pack('a5').bytes, 'AB'.unpack('C*'), ['616263'].pack('H*'), 'abc'.unpack1('H*'), 'é'.bytes, 'é'.unpack('U*'), [233].pack('U'), "\x00\x01".b.length, 'abc'.sum]
  end

  def text
    text = 'The quick brown fox'
    ['%s has %d' % [text, text.size], text.tr('a-y', 'b-z'), text.scan(/o\w/).join('+'), text.sub(/(?<a>q\w+) (?<b>\w+)/, '\k<b> \k<a>'), text.gsub(/[aeiou]/) { |v| v.upcase }, text.gsub(/o/, 'o' => '0'),
     text[/q(\w+)/, 1], text =~ /brown/, $~[0], $`, text.partition(' '), text.rpartition(' ').last, text.each_char.first(3).join, text.center(25, '*'), text.squeeze('o'), text.delete('aeiou'), text.count('a-m'),
     text.start_with?('The', 'A'), text.index('o', 13), text.slice(4..8), text.insert(3, '!').length, text.succ, 'az'.next, 'a'.ord, 97.chr, 'abc' <=> 'abd', text.casecmp?('the! QUICK brown fox'), 'snake_case_word'.split('_').map(&:capitalize).join, 'CamelCaseWord'.gsub(/([a-z])([A-Z])/, '\1_\2').downcase, "a\tb\u00e9".inspect, text.match?(/QUICK/i)]
  end

  def objects
    point = Struct.new(:x, :y) do
      def +(other)
        self.class.new(x + other.x, y + other.y)
      end

      def to_s
        "(#{x}, #{y})"
      end
    end
    named = Struct.new(:a, :b, keyword_init: true).new(a: 1, b: 2)
    open = OpenStruct.new(name: 'n', size: 3)
    open.colour = 'red'
    counter = Class.new do
      include Enumerable
      extend Forwardable
      def_delegators :@items, :size, :first
      attr_accessor :items

      def initialize(*items)
        @items = items
      end

      def each
        return enum_for(:each) unless block_given?
        @items.each { |item| yield item }
      end

      def self.of(*all)
        new(*all)
      end

      def [](at)
        @items[at]
      end

      def coerce(other)
        [other, size]
      end
    end
    one = counter.of(3, 1, 2)
    one.instance_eval { @items << 4 }
    one.define_singleton_method(:total) { items.sum }
    add = ->(a, b = 2) { a + b }
    compose = method(:double) >> ->(x) { add.call(x, 1) }
    [(point.new(1, 2) + point.new(3, 4)).to_s, point.new(1, 2) == point.new(1, 2), point.new(5, 6).to_a, point.members.map(&:to_s), named.to_h.map { |k, v| "#{k}#{v}" }, open.name + open.colour, open.respond_to?(:size), open[:size],
     one.sort, one.map { |x| x * 2 }, one.include?(2), one.min_by { |x| -x }, one.each_slice(2).to_a, one.first, one.size, one.total, one[1], one.reduce(:+), one.sort_by { |x| -x }, one.each_with_index.to_a.last,
     add.call(1), add.(1, 1), add[5], compose.call(4), one.instance_variables.map(&:to_s), one.instance_variable_get(:@items).length, one.respond_to?(:each), counter.instance_methods(false).length, one.frozen?, one.is_a?(Enumerable), counter.ancestors.include?(Enumerable), one.public_send(:size)]
  end

  def double(number)
    number * 2
  end
end
