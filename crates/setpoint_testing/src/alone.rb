# Puppet words some errors by libraries that it finds beside itself: with `multi_json` those of JSON. What an oracle answers
# depends on Puppet and Ruby alone, so these libraries are not there for it.
module Kernel
  alias_method :require_whatever_is_there, :require
  private :require_whatever_is_there

  def require(name)
    raise LoadError, "cannot load such file -- #{name}" if name == 'multi_json'
    require_whatever_is_there(name)
  end
  private :require
end
