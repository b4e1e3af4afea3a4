module PuppetX
  module Sitelib
    # A site that is ordered by its port.
    class Site
      include Comparable
      attr_reader :name, :port
      DEFAULTS = { 'aliases' => [] }.freeze

      def initialize(name, options)
        @name = name
        @options = DEFAULTS.merge(options)
        @port = Integer(@options['port'])
      end

      def <=>(other)
        [port, name] <=> [other.port, other.name]
      end

      def eql?(other)
        name == other.name
      end

      def hash
        name.hash
      end

      def to_hash
        { 'name' => name, 'parameters' => { 'port' => port, 'aliases' => @options['aliases'].dup, 'key' => key } }
      end

      def method_missing(method, *args, &block)
        option = method.to_s.sub(/\?\z/, '')
        return super unless @options.key?(option)
        method.to_s.end_with?('?') ? !@options[option].empty? : @options[option]
      end

      def respond_to_missing?(method, include_private = false)
        @options.key?(method.to_s.chomp('?')) || super
      end

      [:secure, :plain].each do |kind|
        define_method("#{kind}_name") { |suffix = ''| "#{kind}-#{name}#{suffix}" }
      end

      private

      def key
        kind = port == 443 ? :secure : :plain
        "#{send("#{kind}_name", '.pem')} #{aliases?} #{aliases.size} #{respond_to?(:aliases)}"
      end
    end
  end
end
