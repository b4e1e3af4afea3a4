Puppet::Type.type(:line_in).provide(:ruby) do
  desc 'Edits with Ruby.'
  mk_resource_methods

  def exists?
    File.exist?(resource[:path])
  end
end
