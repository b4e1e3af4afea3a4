Facter.add(:site_location) do
  setcode { 'here' }
end
