# What the scope of a manifest leads to: the compiler, the catalog, the node, resources, definitions and the environment.
class PuppetCompiler
  def initialize(scope)
    @scope = scope
  end

  def topscope
    @scope.__top__
  end

  def catalog
    PuppetCatalog.new(@scope)
  end

  def environment
    PuppetEnvironment.new(@scope)
  end

  def node
    PuppetNode.new(@scope)
  end

  def findresource(*arguments)
    @scope.findresource(*arguments)
  end
end

class PuppetCatalog
  def initialize(scope)
    @scope = scope
  end

  def resource(type, title = nil)
    title.nil? ? @scope.findresource(type) : @scope.findresource(type, title)
  end

  def classes
    @scope.__classes__
  end

  def name
    @scope.__node__
  end

  def environment
    @scope.__environment__
  end
end

class PuppetNode
  def initialize(scope)
    @scope = scope
  end

  def name
    @scope.__node__
  end

  def facts
    PuppetFacts.new(@scope)
  end

  def environment
    PuppetEnvironment.new(@scope)
  end

  def trusted_data
    @scope['trusted']
  end
end

class PuppetFacts
  def initialize(scope)
    @scope = scope
  end

  def values
    @scope['facts']
  end

  def name
    @scope.__node__
  end
end

class PuppetEnvironment
  def initialize(scope)
    @scope = scope
  end

  def name
    @scope.__environment__.to_sym
  end

  def to_s
    @scope.__environment__
  end

  def to_sym
    name
  end

  def module(name)
    path = @scope.__module__(name)
    path && PuppetModule.new(name, path)
  end
end

class PuppetModule
  attr_reader :name, :path

  def initialize(name, path)
    @name = name
    @path = path
  end

  def to_s
    @name
  end

  def file(path)
    found = File.join(@path, 'files', path)
    File.exist?(found) ? found : nil
  end

  def template(path)
    found = File.join(@path, 'templates', path)
    File.exist?(found) ? found : nil
  end

  def files
    File.join(@path, 'files')
  end

  def templates
    File.join(@path, 'templates')
  end
end

class PuppetResource
  attr_reader :type, :title

  def initialize(type, title, parameters, is_defined)
    @type = type
    @title = title
    @parameters = parameters
    @is_defined = is_defined
  end

  def name
    @title.to_s
  end

  def to_s
    "#{@type}[#{@title}]"
  end

  def ref
    to_s
  end

  def [](name)
    name.to_s == 'title' ? @title : @parameters[name.to_s]
  end

  def to_hash
    # A resource of a native type has what its title sets.
    __beyond__('it reads the parameters of a resource together with its title') unless @is_defined
    given = @parameters.reject { |_, value| value.nil? }
    { name: @title.to_s }.merge(given.map { |name, value| [name.to_sym, value] }.to_h)
  end
end

class PuppetDefinition
  attr_reader :name, :type

  def initialize(type, name)
    @type = type
    @name = name
  end

  def module_name
    @name.split('::').first
  end

  def to_s
    @name
  end
end
