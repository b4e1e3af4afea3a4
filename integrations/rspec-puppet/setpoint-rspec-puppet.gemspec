Gem::Specification.new do |spec|
  spec.name = 'setpoint-rspec-puppet'
  spec.version = '0.1.0'
  spec.summary = 'Compiles the catalogs of rspec-puppet by a resident setpoint'
  spec.authors = ['Setpoint']
  spec.licenses = ['MIT', 'Apache-2.0']
  spec.files = Dir['lib/**/*.rb'] + ['README.md']
  spec.required_ruby_version = '>= 2.7'
  spec.add_dependency 'rspec-puppet', '>= 2.9'
end
