require_relative '../../../puppet_x/sitelib/site'

Puppet::Functions.create_function(:'sitelib::sites') do
  local_types do
    type 'SiteOptions = Struct[{port => Variant[Integer, Pattern[/^\d+$/]], Optional[aliases] => Array[String]}]'
  end

  dispatch :sites do
    param 'Hash[String, SiteOptions]', :sites
  end

  def sites(sites)
    sites.map { |name, options| PuppetX::Sitelib::Site.new(name, options) }.sort.uniq.map(&:to_hash)
  end
end
