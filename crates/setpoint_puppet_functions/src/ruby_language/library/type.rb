# Types of resources, as far as Puppet checks with them what a catalog gives: the classes that `lib/puppet/type` of a module builds
# on, and the order in which an agent hands a resource its parameters. What a type may ask beyond that ends the walk.

# What types and their attributes can call.
module Puppet::Checking
  def fail(*arguments)
    kind = arguments[0].is_a?(Class) ? arguments.shift : Puppet::Error
    raise kind, arguments.join(' ')
  end

  def devfail(message)
    raise Puppet::DevError, message
  end

  def absolute_path?(path)
    Puppet::Util.absolute_path?(path)
  end

  def debug(*)
  end

  def info(*)
  end

  def notice(*)
  end

  def warning(*)
  end
end

class Puppet::Parameter
  include Puppet::Checking

  def self.prepare(name)
    @name = name
    @values = []
    @features = []
    initvars
  end

  def self.initvars
  end

  def self.name
    @name
  end

  def self.values
    @values
  end

  def self.required_features
    @features
  end

  def self.required_features=(*features)
    @features = features.flatten
  end

  def self.isnamevar
    @isnamevar = true
  end

  def self.isnamevar?
    @isnamevar || @name == :name
  end

  def self.isrequired
  end

  def self.desc(text)
  end

  def self.defaultto(value = nil, &block)
    block ? define_method(:default, &block) : define_method(:default) { value }
  end

  def self.nodefault
    define_method(:default) { nil }
  end

  def self.validate(&block)
    define_method(:unsafe_validate, &block)
  end

  def self.munge(&block)
    define_method(:unsafe_munge, &block)
  end

  def self.unmunge(&block)
    define_method(:unsafe_unmunge, &block)
  end

  def self.sensitive(value = nil, &block)
  end

  def self.newvalues(*names)
    names.each { |name| add_value(name, nil) }
  end

  def self.add_value(name, features)
    name = convert(name) unless name.is_a?(Regexp)
    @values << { name: name, aliases: [], features: features }
  end

  def self.aliasvalue(name, other)
    value = matching(other.to_sym)
    raise Puppet::DevError, "Cannot alias nonexistent value #{other}" unless value
    value[:aliases] << convert(name)
  end

  def self.matching(value)
    words = @values.reject { |one| one[:name].is_a?(Regexp) }
    found = words.find { |one| one[:name] == convert(value) || one[:aliases].include?(convert(value)) }
    found || @values.find { |one| one[:name].is_a?(Regexp) && one[:name] =~ value.to_s }
  end

  def self.convert(value)
    case value
    when Symbol, '' then value
    when String then value.intern
    when true then :true
    when false then :false
    else value.to_s.intern
    end
  end

  attr_accessor :resource

  def initialize(resource)
    @resource = resource
  end

  def default
    nil
  end

  def name
    self.class.name
  end

  def to_s
    name.to_s
  end

  def unsafe_validate(value)
    return if self.class.values.empty? || self.class.matching(value)
    raise ArgumentError, "Invalid value #{value.inspect}."
  end

  def unsafe_munge(value)
    found = self.class.matching(value)
    found && !found[:name].is_a?(Regexp) ? found[:name] : value
  end

  def unsafe_unmunge(value)
    value
  end

  def value
    @value.nil? ? nil : unsafe_unmunge(@value)
  end

  # Types redefine these as well as what they call.
  def validate(value)
    unsafe_validate(value)
  end

  def munge(value)
    unsafe_munge(value)
  end

  def value=(value)
    validate(value)
    @value = munge(value)
  end

  def provider
    __beyond__('it asks for the provider')
  end
end

class Puppet::Property < Puppet::Parameter
  def self.array_matching
    @array_matching || :first
  end

  def self.array_matching=(value)
    @array_matching = value.to_sym
  end

  def self.unmanaged
    @unmanaged
  end

  def self.unmanaged=(value)
    @unmanaged = value
  end

  def self.newvalue(name, options = {}, &block)
    add_value(name, options[:required_features])
  end

  def unsafe_validate(value)
    super
    found = self.class.matching(value)
    return unless found && found[:features]
    unless @resource.provider_has?(Array(found[:features]))
      raise ArgumentError, "The provider must have the features #{found[:features].inspect}"
    end
  end

  def should
    return nil if @should.nil?
    return @should.map { |one| unsafe_unmunge(one) } if self.class.array_matching == :all
    unsafe_unmunge(@should[0])
  end

  def value
    should
  end

  def should=(values)
    values = [values] unless values.is_a?(Array)
    @shouldorig = values
    values.each { |one| validate(one) }
    @should = values.map { |one| munge(one) }
  end

  def value=(values)
    self.should = values
  end
end

class Puppet::Property::Ensure < Puppet::Property
  def self.defaultvalues
    newvalue(:present)
    newvalue(:absent)
  end

  def default
    @resource.managed? ? :present : nil
  end
end

module Puppet::Coercion
  def self.boolean(value)
    value = value.downcase if value.respond_to?(:downcase)
    case value
    when true, :true, 'true', :yes, 'yes' then true
    when false, :false, 'false', :no, 'no' then false
    else raise 'expected a boolean value'
    end
  end
end

class Puppet::Parameter::Boolean < Puppet::Parameter
  def self.initvars
    newvalues('true', 'false', 'yes', 'no')
  end

  def unsafe_munge(value)
    Puppet::Coercion.boolean(value)
  end
end

class Puppet::Property::Boolean < Puppet::Property
  def unsafe_munge(value)
    Puppet::Coercion.boolean(value)
  end
end

class Puppet::Parameter::Path < Puppet::Parameter
  def self.accept_arrays(accepts = true)
    @accept_arrays = accepts
  end

  def self.arrays?
    @accept_arrays
  end

  def validate_path(paths)
    fail "#{name} only accepts a single path, not an array of paths" if paths.is_a?(Array) && !self.class.arrays?
    fail "#{name} must be a fully qualified path" unless Array(paths).all? { |path| absolute_path?(path) }
    paths
  end

  def unsafe_validate(paths)
    validate_path(paths)
  end

  def unsafe_munge(paths)
    paths
  end
end

# What is there already counts unless the list is said to be all.
class Puppet::Property::List < Puppet::Property
  def should
    __beyond__('it reads a list of which the machine has a part') unless @should.nil?
  end
end

class Puppet::Property::OrderedList < Puppet::Property::List
end

class Puppet::Property::KeyValue < Puppet::Property
  def separator
    '='
  end

  def unsafe_validate(value)
    raise ArgumentError, "The #{name} property must be a hash or pairs" unless value.is_a?(String) || value.is_a?(Hash)
    return if value.is_a?(Hash)
    raise ArgumentError, "Key/value pairs must be separated by '#{separator}'" unless value.include?(separator)
  end

  def unsafe_munge(value)
    return value if value.is_a?(String)
    value.to_a.map { |key, one| [key.to_s.strip.to_sym, one.to_s] }.to_h
  end

  def should
    __beyond__('it reads pairs of which the machine has a part') unless @should.nil?
  end
end

class Puppet::Type
  include Puppet::Checking

  METAPARAMETERS = [:noop, :schedule, :audit, :loglevel, :alias, :tag, :require, :subscribe, :before, :notify, :stage].freeze

  # The options of a property that count here.
  OPTIONS = [:array_matching, :required_features, :unmanaged].freeze

  def self.newtype(name, options = {}, &block)
    type = Class.new(Puppet::Type)
    type.prepare(name.to_s.downcase.intern)
    type.class_eval(&block)
    has_all = [:exists?, :create, :destroy].all? { |method| type.method_defined?(method) }
    type.ensurable if has_all && !type.attrclass(:ensure)
    @newest = type
  end

  def self.newest
    @newest
  end

  def self.type(name)
    __beyond__("it asks for the type #{name}")
  end

  def self.prepare(name)
    @name = name
    @parameters = []
    @properties = []
    @features = {}
  end

  def self.name
    @name
  end

  def self.desc(text)
  end

  def self.newparam(name, options = {}, &block)
    attribute = attribute(name, options[:parent] || Puppet::Parameter, &block)
    define_method("#{name}?") { [:true, true].include?(self[name]) ? true : nil } if options[:boolean]
    attribute.required_features = options[:required_features] if options[:required_features]
    attribute.isnamevar if options[:namevar]
    @parameters.reject! { |one| one.name == attribute.name }
    @parameters << attribute
    attribute
  end

  def self.newproperty(name, options = {}, &block)
    attribute = attribute(name, options[:parent] || Puppet::Property) do
      options.each { |key, value| send("#{key}=", value) if OPTIONS.include?(key) }
      class_eval(&block) if block
    end
    name.to_sym == :ensure ? @properties.unshift(attribute) : @properties.push(attribute)
    attribute
  end

  def self.attribute(name, parent, &block)
    attribute = Class.new(parent)
    attribute.prepare(name.to_s.downcase.intern)
    attribute.class_eval(&block) if block
    attribute
  end

  def self.ensurable(&block)
    if block
      newproperty(:ensure, parent: Puppet::Property::Ensure, &block)
    else
      newproperty(:ensure, parent: Puppet::Property::Ensure) { defaultvalues }
    end
  end

  def self.validate(&block)
    define_method(:unsafe_validate, &block)
  end

  def self.feature(name, text = '', options = {})
    @features[name.to_sym] = options[:methods]
  end

  def self.features
    @features
  end

  def self.autorequire(name, &block)
  end

  def self.autosubscribe(name, &block)
  end

  def self.autobefore(name, &block)
  end

  def self.autonotify(name, &block)
  end

  def self.apply_to(*)
  end

  def self.apply_to_all
  end

  def self.apply_to_host
  end

  def self.apply_to_device
  end

  def self.key_attributes
    @parameters.select(&:isnamevar?).map(&:name)
  end

  # Puppet's own patterns, where no attribute names the resource: no title fits.
  def self.title_patterns
    []
  end

  def self.attrclass(name)
    @properties.find { |one| one.name == name } || @parameters.find { |one| one.name == name }
  end

  def self.paramclass(name)
    attrclass(name)
  end

  def self.validattr?(name)
    name == :name || name == :provider || METAPARAMETERS.include?(name) || !attrclass(name).nil?
  end

  # The attributes in the order in which an agent sets those that are given, and then the others.
  def self.order
    key_attributes | [:provider] | @properties.map(&:name) | @parameters.map(&:name)
  end

  attr_reader :title

  def initialize(title, features)
    @title = title
    @provider_features = features
    @parameters = {}
    @unknown = {}
  end

  # A value that is not known, or that may not be set.
  def forget(name)
    @parameters.delete(name.to_sym)
    @unknown[name.to_sym] = true
  end

  def provider_has?(names)
    names.all? do |name|
      __beyond__('it asks what the provider can do') if @provider_features.nil? || self.class.features[name.to_sym]
      is_claimed = @provider_features.include?(name.to_s)
      __beyond__('it asks what the provider can do') if !is_claimed && @provider_features.include?('*')
      is_claimed
    end
  end

  # Sets a parameter as an agent does it; the provider must be able to manage it.
  def assign(name, value)
    name = name.to_sym
    kind = self.class.attrclass(name)
    return @parameters[name] = Given.new(value.is_a?(String) ? value.intern : value) if kind.nil? && name == :provider
    return forget(name) if kind.nil?
    return unless kind.required_features.empty? || provider_has?(kind.required_features)
    attribute = @parameters[name] || kind.new(self)
    @parameters[name] = attribute
    attribute.value = value
  end

  def []=(name, value)
    name = name.to_sym
    fail "no parameter named '#{name}'" unless self.class.validattr?(name)
    name = name_var if name == :name && name_var
    raise Puppet::Error, "Got nil value for #{name}" if value.nil?
    assign(name, value)
  end

  def assign_default(name)
    name = name.to_sym
    kind = self.class.attrclass(name)
    return if kind.nil? || @parameters[name] || @unknown[name]
    return unless kind.required_features.empty? || provider_has?(kind.required_features)
    attribute = kind.new(self)
    @parameters[name] = attribute
    value = attribute.default
    value ? attribute.value = value : @parameters.delete(name)
  end

  def unsafe_validate
  end

  def [](name)
    name = name.to_sym
    fail "Invalid parameter #{name}(#{name.inspect})" unless self.class.validattr?(name)
    name = name_var if name == :name && name_var
    is_open = self.class.attrclass(name).nil? && (METAPARAMETERS.include?(name) || !@parameters[name])
    __beyond__("it reads #{name}, whose value is not known") if @unknown[name] || is_open
    attribute = @parameters[name]
    attribute && attribute.value
  end

  def value(name)
    self[name]
  end

  def should(name)
    self[name]
  end

  def parameter(name)
    __beyond__("it reads #{name}, whose value is not known") if @unknown[name.to_sym]
    @parameters[name.to_sym]
  end

  def name_var
    names = self.class.key_attributes
    names.length == 1 && names.first
  end

  def name
    self[:name]
  end

  def type
    self.class.name
  end

  def ref
    "#{type.to_s.capitalize}[#{title}]"
  end

  def to_s
    ref
  end

  def managed?
    known = @parameters.values.any? { |one| one.is_a?(Puppet::Property) && one.should && !one.class.unmanaged }
    __beyond__('it asks whether anything is managed') unless known || @unknown.empty?
    known
  end

  def provider
    __beyond__('it asks for the provider')
  end

  def catalog
    __beyond__('it asks for the catalog')
  end

  # The provider that a resource names.
  class Given
    attr_reader :value

    def initialize(value)
      @value = value
    end
  end
end

# `Puppet::Type::File`, which no code shall take for Ruby's `File`.
class PuppetFileType
  class Owner < Puppet::Property
  end

  class Group < Puppet::Property
    validate do |group|
      raise Puppet::Error, 'Invalid group name' unless group && group != ''
    end
  end

  class Mode < Puppet::Property
    validate do |value|
      raise Puppet::Error, 'The file mode specification must be a string' unless value.is_a?(String)
      is_octal = value =~ /^0?[0-7]{1,4}$/
      is_symbolic = value =~ /^([ugoa]*[-=+][-=+rstwxXugo]*)(,[ugoa]*[-=+][-=+rstwxXugo]*)*$/
      raise Puppet::Error, 'The file mode specification is invalid' unless is_octal || is_symbolic
    end

    munge { |value| value =~ /^0?[0-7]{1,4}$/ ? value.to_i(8).to_s(8) : value }

    unmunge { |value| value =~ /^0?[0-7]{1,4}$/ ? value.rjust(4, '0') : value }
  end
end
