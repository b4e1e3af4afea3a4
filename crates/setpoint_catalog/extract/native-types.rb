# Prints src/native/table.rs: what the installed Puppet knows about its own resource types.
#
#   ruby native-types.rb MODULES > ../src/native/table.rs
#
# MODULES is the folder with the modules that hold the separately packaged core types. Only names are taken: of types,
# attributes, namevars, allowed values and providers. The types of modules that are not there are in SUPPLEMENT. What
# Puppet says to kinds of values is in tests/values.txt, which answer-values.rb prints.
require 'puppet'
require 'tmpdir'

MODULES = ARGV.fetch(0, '/usr/share/puppet/modules')
CORE = %w[component exec file filebucket group notify package resources schedule service stage tidy user whit].freeze
PACKAGED = {
  'augeas_core' => %w[augeas], 'cron_core' => %w[cron], 'host_core' => %w[host], 'mailalias' => %w[mailalias],
  'mount_core' => %w[mount], 'selinux_core' => %w[selboolean selmodule], 'sshkeys_core' => %w[ssh_authorized_key sshkey]
}.freeze

tmp = Dir.mktmpdir
at_exit { FileUtils.rm_rf(tmp) }
Puppet.initialize_settings(%W[--confdir #{tmp}/c --vardir #{tmp}/v --codedir #{tmp}/d])
PACKAGED.each_key { |name| $LOAD_PATH.unshift("#{MODULES}/#{name}/lib") }

def text(string)
  string.to_s.dump
end

def list(items)
  "&[#{items.join(', ')}]"
end

def pattern(regexp)
  flags = (regexp.options & Regexp::MULTILINE).zero? ? '' : '(?s)'
  text("(?m)#{flags}#{regexp.source}")
end

# Ruby's own validation of values against `newvalues` is replaced where a type defines `validate`.
def check(klass)
  owner = klass.instance_method(:unsafe_validate).owner
  if [Puppet::Parameter, Puppet::Property].include?(owner) then 'Values'
  elsif owner == Puppet::Parameter::Path then 'Path'
  else 'Own'
  end
end

# By type and attribute, a letter for each kind of values.
KINDS = {}
kinds = []
File.foreach(File.join(__dir__, '../tests/values.txt'), chomp: true) do |line|
  word, first, second, answers = line.split(' ', 4)
  kinds << first if word == 'value'
  next unless word == 'attribute'

  by_kind = kinds.zip(answers.chars).group_by(&:first).values.map { |pairs| pairs.map(&:last).uniq }
  KINDS["#{first} #{second}"] = by_kind.map { |found| found.size == 1 ? found.first : 'm' }.join
end

# The providers that manage an attribute, if not all do.
def managed_by(type, klass)
  return nil unless klass.respond_to?(:required_features) && !Array(klass.required_features).empty?

  type.providers.select { |name| type.provider(name).supports_parameter?(klass) }.map(&:to_s).sort
end

# Puppet was asked with the provider that it takes by itself.
def kinds_of(type, name, managed_by)
  return '' if managed_by && !managed_by.include?(type.defaultprovider&.name.to_s)

  KINDS.fetch("#{type.name} #{name}", '')
end

def attribute_of(type, name)
  klass = type.attrclass(name)
  collection = klass.value_collection
  values = collection.instance_variable_get(:@strings).flat_map { |v| [v.name, *v.aliases].map { |s| [s, v.name] } }
  patterns = collection.instance_variable_get(:@regexes).map { |v| pattern(v.name) }
  property = type.attrtype(name) == :property
  managed_by = managed_by(type, klass)
  { name: name.to_s, role: property ? 'Property' : 'Parameter', namevar: type.key_attributes.include?(name),
    check: check(klass), values: values.map { |spelling, value| [spelling.to_s, value.to_s] }, patterns: patterns,
    managed_by: managed_by, kinds: kinds_of(type, name, managed_by) }
end

def type_facts(name, mod)
  type = Puppet::Type.type(name) or abort("no type #{name}")
  { name: name, module: mod, namevars: type.key_attributes.map(&:to_s),
    patterns: type.title_patterns.map { |regexp, names| [pattern(regexp), names.map { |n| n.first.to_s }] },
    isomorphic: type.isomorphic?, refreshes: type.method_defined?(:refresh), providers: type.providers.map(&:to_s).sort,
    attributes: type.allattrs.reject { |a| Puppet::Type.metaparam?(a) }.map { |a| attribute_of(type, a) } }
end

# Types that Puppet's own agent packages ship in modules which Debian does not package.
PRESENCE = [%w[present present], %w[absent absent]].freeze
TRUTH = [%w[true true], %w[false false]].freeze
ANY = '(?m).*'
YUM_BOOLEAN = '(?m)^(true|false|0|1|no|yes)$'

def plain(name, role, **more)
  { name: name, role: role, namevar: false, check: 'Values', values: [], patterns: [], kinds: '', managed_by: nil }.merge(more)
end

def yum(name, pattern = ANY, check = 'Values')
  plain(name, 'Property', check: check, values: [%w[absent absent]], patterns: [text(pattern)])
end

def supplement(name, mod, namevar, providers, attributes)
  key = plain(namevar, 'Parameter', namevar: true)
  provider = plain('provider', 'Parameter', check: 'Own')
  { name: name, module: mod, namevars: [namevar], patterns: [[text('(?m)(?s)(.*)'), [namevar]]], isomorphic: true,
    refreshes: false, providers: providers, attributes: [key, provider] + attributes }
end

YUM_URLS = %w[mirrorlist baseurl gpgkey include gpgcakey proxy metalink].freeze
YUM_TEXTS = %w[descr exclude includepkgs proxy_username proxy_password sslcacert sslclientcert sslclientkey username
               password].freeze
YUM_BOOLEANS = %w[enabled gpgcheck payload_gpgcheck repo_gpgcheck enablegroups module_hotfixes keepalive protect
                  s3_enabled sslverify skip_if_unavailable assumeyes].freeze
YUM_NUMBERS = %w[mirrorlist_expire retries timeout minrate cost deltarpm_percentage
                 deltarpm_metadata_percentage].freeze
ZFS = %w[aclinherit aclmode acltype atime canmount checksum compression copies dedup devices exec logbias mountpoint
         nbmand overlay primarycache quota readonly recordsize refquota refreservation relatime reservation
         secondarycache setuid shareiscsi sharenfs sharesmb snapdir sync version volsize vscan xattr zoned].freeze

SUPPLEMENT = [
  supplement('yumrepo', 'yumrepo_core', 'name', %w[inifile],
             [plain('ensure', 'Property', values: PRESENCE), plain('target', 'Parameter')] +
             YUM_URLS.map { |n| yum(n, ANY, 'Own') } + YUM_TEXTS.map { |n| yum(n) } +
             YUM_BOOLEANS.map { |n| yum(n, YUM_BOOLEAN) } + YUM_NUMBERS.map { |n| yum(n, '(?m)^\d+$') } +
             [yum('failovermethod', '(?m)^roundrobin|priority$'), yum('http_caching', '(?m)^(packages|all|none)$'),
              yum('metadata_expire', '(?m)^([0-9]+[dhm]?|never)$'), yum('priority', '(?m)^-?\d+$'),
              yum('throttle', '(?m)^\d+[kMG%]?$'), yum('bandwidth', '(?m)^\d+[kMG]?$')]),
  supplement('zfs', 'zfs_core', 'name', %w[zfs],
             [plain('ensure', 'Property', values: PRESENCE)] + ZFS.map { |n| plain(n, 'Property') }),
  supplement('zpool', 'zfs_core', 'pool', %w[zpool],
             [plain('ensure', 'Property', values: PRESENCE), plain('force', 'Property', values: TRUTH)] +
             %w[disk spare log cache ashift autoexpand failmode raid_parity].map { |n| plain(n, 'Property') } +
             %w[mirror raidz].map { |n| plain(n, 'Property', check: 'Own') }),
  supplement('zone', 'zone_core', 'name', %w[solaris],
             [plain('ensure', 'Property', values: %w[absent configured installed running].map { |v| [v, v] }),
              plain('iptype', 'Property', values: %w[shared exclusive].map { |v| [v, v] }),
              plain('autoboot', 'Property', values: TRUTH)] +
             %w[id clone sysidcfg create_args install_args realhostname].map { |n| plain(n, 'Parameter') } +
             %w[ip pool shares].map { |n| plain(n, 'Property') } +
             %w[path dataset inherit].map { |n| plain(n, 'Property', check: 'Own') })
].freeze

def attribute_line(attribute)
  values = attribute[:values].map { |spelling, value| "(#{text(spelling)}, #{text(value)})" }
  providers = attribute[:managed_by] ? "Some(#{list(attribute[:managed_by].map { |n| text(n) })})" : 'None'
  "    a(#{text(attribute[:name])}, #{attribute[:role]}, #{attribute[:namevar]}, #{attribute[:check]}, " \
    "#{list(values)}, #{list(attribute[:patterns])}, #{text(attribute[:kinds])}, #{providers}),"
end

def type_text(facts)
  patterns = facts[:patterns].map { |source, names| "(#{source}, #{list(names.map { |n| text(n) })})" }
  attributes = facts[:attributes].sort_by { |a| a[:name] }
  <<~RUST
    static #{facts[:name].upcase}: [Attribute; #{attributes.size}] = [
    #{attributes.map { |a| attribute_line(a) }.join("\n")}
    ];
  RUST
    .then { |table| [table, <<~RUST] }
      NativeType {
          name: #{text(facts[:name])},
          module: #{facts[:module] ? "Some(#{text(facts[:module])})" : 'None'},
          attributes: Cow::Borrowed(&#{facts[:name].upcase}),
          namevars: Cow::Borrowed(#{list(facts[:namevars].map { |n| text(n) })}),
          title_patterns: Cow::Borrowed(#{list(patterns)}),
          isomorphic: #{facts[:isomorphic]},
          refreshes: #{facts[:refreshes]},
          providers: Cow::Borrowed(#{list(facts[:providers].map { |n| text(n) })}),
          auto: Cow::Borrowed(&[]),
          open: false,
      },
    RUST
end

types = CORE.map { |name| type_facts(name, nil) }
PACKAGED.each { |mod, names| types += names.map { |name| type_facts(name, mod) } }
types = (types + SUPPLEMENT).sort_by { |facts| facts[:name] }
metaparameters = []
Puppet::Type.eachmetaparam { |name| metaparameters << name.to_s }
tables = types.map { |facts| type_text(facts) }

puts <<~RUST
  //! Generated by extract/native-types.rb from Puppet #{Puppet.version}. Do not edit.

  use std::borrow::Cow;

  use super::Check::{Own, Path, Values};
  use super::Role::{Parameter, Property};
  use super::{Attribute, Check, NativeType, Role};

  #[rustfmt::skip]
  pub(super) static METAPARAMETERS: [&str; #{metaparameters.size}] = #{list(metaparameters.sort.map { |n| text(n) }).delete_prefix('&')};

  #[allow(clippy::too_many_arguments, reason = "a row of the table")]
  const fn a(
      name: &'static str,
      role: Role,
      namevar: bool,
      check: Check,
      values: &'static [(&'static str, &'static str)],
      patterns: &'static [&'static str],
      kinds: &'static str,
      managed_by: Option<&'static [&'static str]>,
  ) -> Attribute {
      let (values, patterns) = (Cow::Borrowed(values), Cow::Borrowed(patterns));
      Attribute { name, role, namevar, check, values, patterns, kinds, managed_by }
  }

  #[rustfmt::skip]
  pub(super) static TYPES: [NativeType; #{types.size}] = [
  #{tables.map(&:last).join.lines.map { |l| "    #{l}" }.join.rstrip}
  ];

  #{tables.map { |t| "#[rustfmt::skip]\n#{t.first}" }.join("\n").rstrip}
RUST
