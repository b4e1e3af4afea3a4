# Puppet itself, applying many small catalogs in one folder that is its root: one JSON request a line in, one JSON answer
# a line out.
#
# Request: {"catalog": {…}, "earlier": [{…}], "start": [entry], "packages": [package], "runs": number}
#   earlier: catalogs that are applied, one after the other, before the first state is taken
#   entry: {"path", "kind": "file"|"directory"|"link"|"absent", "content", "target", "mode", "owner", "group"}; users, hosts
#     and the like are files
#   package: {"name", "version", "depends", "conflicts", "files": {path: content}, "directories": [path], "conffiles": [path],
#     "scripts": {"postinst": text}, "installed": bool}
# Answer: {"before": state, "runs": [{"error": text | null, "resources": {name: status}, "after": state, "logs": [text]}],
#   "earlier_error": text | null, "earlier_failed": bool}
#   state: {"tree": {path: entry}, "packages": {name: {"version", "status"}}}
#   status: {"failed", "skipped", "changed", "refreshed", "failed_to_restart"}
#
# Puppet is loaded and warmed once; each run is a process of its own, in a root of its own, with the few tools that providers call.
# A root needs no more than the rights of the superuser: nothing is mounted.
require 'json'
require 'tmpdir'
require 'fileutils'
require 'digest'
require 'etc'
require 'timeout'
require 'puppet'

SECONDS_FOR_A_RUN = 60
MODULES = %w[augeas_core cron_core host_core mailalias mount_core sshkeys_core stdlib inifile concat vcsrepo archive]
RUBY_FOLDERS = (%w[/usr/share/augeas /usr/lib/ruby /usr/share/rubygems-integration /usr/lib/x86_64-linux-gnu/ruby] + $LOAD_PATH.select { |path| path.start_with?('/opt', '/usr/local') }).uniq
MODULE_FOLDERS = %w[/usr/share/puppet/modules /usr/share/puppet/vendor_modules /opt/puppetlabs/puppet/vendor_modules]
TYPES = %i[file exec user group package service notify tidy resources filebucket schedule stage whit cron host mount
           ssh_authorized_key sshkey augeas mailalias file_line anchor ini_setting ini_subsetting concat_file
           concat_fragment archive vcsrepo]
TOOLS = %w(sh dash bash true false cat cp mv rm ln ls mkdir rmdir touch chmod chown chgrp echo printf test [ sed grep awk mawk
           tar gzip xz zstd diff sort cut tr head tail env id sleep date mktemp readlink dirname basename install expr cmp
           find uname stat wc tee which git git-upload-pack curl wget gpasswd unlink cmp
           dpkg dpkg-deb dpkg-query dpkg-split dpkg-divert dpkg-trigger dpkg-maintscript-helper dpkg-statoverride
           start-stop-daemon ldconfig
           apt-get apt-cache apt-mark apt-config useradd usermod userdel groupadd groupmod groupdel chage passwd chpasswd getent)
# What a new home has.
SKELETON = %w[.bash_logout .bashrc .profile].freeze
FOLDERS = %w[etc etc/skel etc/apt etc/apt/apt.conf.d etc/apt/preferences.d etc/apt/sources.list.d etc/default etc/init.d
             etc/systemd/system etc/dpkg/dpkg.cfg.d home opt root run srv tmp proc dev
             var/backups var/cache/apt/archives/partial var/lib/apt/lists/partial var/lib/apt/periodic
             var/lib/dpkg/info var/lib/dpkg/updates var/lib/dpkg/triggers var/lib/dpkg/alternatives var/lib/dpkg/parts
             var/log/apt var/mail var/spool/cron/crontabs var/tmp
             var/lib/puppet/conf var/lib/puppet/code var/lib/puppet/run var/lib/puppet/log var/lib/puppet/var/state
             var/lib/puppet/var/bucket var/lib/puppet/var/clientbucket var/lib/puppet/var/client_data/catalog]
# Where the tools keep their own books.
PRIVATE = %w[usr etc/skel dev proc tmp var/lib/puppet var/lib/dpkg var/lib/apt var/cache var/log/apt var/log/dpkg.log var/log/alternatives.log var/backups repository modules
             etc/apt etc/dpkg etc/ld.so.cache etc/.pwd.lock etc/passwd- etc/group- etc/shadow- etc/gshadow- etc/subuid etc/subuid-
             etc/subgid etc/subgid- etc/passwd.lock]

# Stands in for systemd: units are files, what runs and what is enabled are files below /run and /etc. A line
# `Reads=/path` of a unit, or of a file of its name in /var/lib/services, names a file that is loaded at each start.
SYSTEMCTL = <<'SH'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do
  case "$1" in -p|--property) shift;; esac
  shift
done
verb=$1; [ $# -gt 0 ] && shift
while [ "${1#-}" != "$1" ]; do shift; done
[ "$1" = "--" ] && shift
name=${1%.service}
file=$name.service
case "$name" in *.timer|*.socket|*.path) file=$name;; esac
find_unit() {
  for folder in /etc/systemd/system /run/systemd/system /lib/systemd/system; do
    if [ -f "$folder/$1" ]; then echo "$folder/$1"; return; fi
  done
}
unit=$(find_unit "$file")
script=
[ -z "$unit" ] && [ -x "/etc/init.d/$name" ] && script=/etc/init.d/$name
state=/run/services/$name
known() { [ -n "$unit$script" ] || { echo "Unit $name.service could not be found." >&2; exit 5; }; }
load() {
  rm -rf "$state.loaded"; mkdir -p "$state.loaded"
  cat "/var/lib/services/$name" "$unit$script" 2>/dev/null | sed -n 's/^#* *Reads=//p; s/^EnvironmentFile=-\{0,1\}//p' | while read -r path; do
    if [ -f "$path" ]; then cp "$path" "$state.loaded/$(echo "$path" | tr / '%')"; fi
  done
  # A service that cannot read its configuration does not start.
  needed=$(sed -n 's/^#* *Needs=//p; s/^EnvironmentFile=\([^-]\)/\1/p' "$unit$script")
  for path in $needed; do [ -f "$path" ] || return 1; done
  dead=
  [ -n "$unit" ] || return 0
  # What is not a service refuses to start without the unit that it triggers.
  if [ "$file" = "$name" ]; then
    triggered=$(sed -n 's/^Unit=//p; s/^Service=//p' "$unit" | tail -n 1)
    at=; if grep -q '^Accept=yes' "$unit"; then at=@; fi
    [ -n "$(find_unit "${triggered:-${name%.*}$at.service}")" ] || return 1
    return 0
  fi
  for path in $(sed -n 's/^ExecStart=[@:+!]*\([^ -][^ ]*\).*/\1/p; s/^WorkingDirectory=\([^-]\)/\1/p' "$unit"); do [ -e "$path" ] || dead=yes; done
  for user in $(sed -n 's/^User=//p' "$unit"); do grep -q "^$user:" /etc/passwd || dead=yes; done
  # Who starts a simple service is not told that its program could not be run.
  if [ -n "$dead" ] && grep -q '^Type=\(exec\|forking\|notify\|oneshot\|dbus\)' "$unit"; then return 1; fi
  return 0
}
up() {
  mkdir -p /run/services
  # It is done when it was started, and does not run.
  grep -qs '^Type=oneshot' "$unit" && ! grep -q '^RemainAfterExit=yes' "$unit" && dead=yes
  if [ -z "$dead" ]; then echo up >"$state"; else rm -rf "$state" "$state.loaded"; fi
}
case "$verb" in
  is-active) if [ -f "$state" ]; then echo active; exit 0; else echo inactive; exit 3; fi;;
  is-enabled)
    known
    if [ "$(readlink "/etc/systemd/system/$name.service")" = /dev/null ]; then echo masked; exit 1; fi
    if [ -e "/etc/systemd/system/multi-user.target.wants/$name.service" ]; then echo enabled; exit 0; else echo disabled; exit 1; fi;;
  start) known; if [ ! -f "$state" ]; then load || exit 1; up; fi;;
  restart|reload-or-restart|force-reload)
    known; rm -f "$state"; load || exit 1; up;;
  try-restart|condrestart|reload-or-try-restart) known; if [ -f "$state" ]; then load || exit 1; fi;;
  reload) known; [ -f "$state" ] || { echo "$name.service is not active, cannot reload." >&2; exit 1; }; load;;
  stop) known; rm -rf "$state" "$state.loaded";;
  enable)
    known; mkdir -p /etc/systemd/system/multi-user.target.wants
    ln -sf "${unit:-$script}" "/etc/systemd/system/multi-user.target.wants/$name.service";;
  disable) known; rm -f "/etc/systemd/system/multi-user.target.wants/$name.service";;
  unmask) if [ "$(readlink "/etc/systemd/system/$name.service")" = /dev/null ]; then rm "/etc/systemd/system/$name.service"; fi;;
  mask) ln -sf /dev/null "/etc/systemd/system/$name.service";;
  daemon-reload) ;;
  show) echo no;;
  cat) known; cat "$unit$script";;
  list-unit-files) ;;
  *) echo "systemctl: $verb is not known here" >&2; exit 1;;
esac
exit 0
SH

# Stands in for cron's tool: one file a user.
CRONTAB = <<'SH'
#!/bin/sh
user=root
verb=
while [ $# -gt 0 ]; do
  case "$1" in
    -u) user=$2; shift;;
    -l|-r) verb=$1;;
    *) verb=$1;;
  esac
  shift
done
# The user must be known.
grep -q "^$user:" /etc/passwd || { echo "crontab: user \`$user' unknown" >&2; exit 1; }
file=/var/spool/cron/crontabs/$user
case "$verb" in
  -l) if [ -f "$file" ]; then cat "$file"; else echo "no crontab for $user" >&2; exit 1; fi;;
  -r) rm -f "$file";;
  -|'') cat >"$file";;
  *) cp "$verb" "$file";;
esac
SH

# Exchanges what is at a mount point, with its mode and owners, and what lies behind it: the file system while it is not mounted, else
# what that hides.
EXCHANGE = <<'SH'
exchange() {
  behind=/run/behind$1
  mkdir -p "$behind" "$behind.moved"
  find "$1" -mindepth 1 -maxdepth 1 -exec mv -t "$behind.moved" {} +
  chown --reference="$1" "$behind.moved"; chmod --reference="$1" "$behind.moved"
  find "$behind" -mindepth 1 -maxdepth 1 -exec mv -t "$1" {} +
  chown --reference="$behind" "$1"; chmod --reference="$behind" "$1"
  rmdir "$behind"; mv "$behind.moved" "$behind"
}
SH

# Stands in for mount: what is mounted is one line of a file, and what it hides lies elsewhere.
MOUNT = <<'SH'
#!/bin/sh
. /usr/share/exchange
table=/run/mounts
touch $table
case "$1" in
  -o) shift 2;;
esac
[ $# -eq 0 ] && { cat $table; exit 0; }
point=$1
for word in "$@"; do point=$word; done
[ -d "$point" ] || { echo "mount: $point: mount point does not exist." >&2; exit 32; }
grep -q "[[:space:]]$point[[:space:]]" /etc/fstab || { echo "mount: $point: can't find in /etc/fstab." >&2; exit 1; }
grep -q " on $point type " $table && exit 0
awk -v p="$point" '$2 == p { print $1 " on " p " type " $3 " (rw)" }' /etc/fstab >>$table
exchange "$point"
SH

UMOUNT = <<'SH'
#!/bin/sh
. /usr/share/exchange
table=/run/mounts
touch $table
grep -q " on $1 type " $table && exchange "$1"
grep -v " on $1 type " $table >$table.new
mv $table.new $table
SH

# Stand in for the older tools of services, which know the same units.
SERVICE = <<'SH'
#!/bin/sh
case "$2" in
  status) exec systemctl is-active "$1";;
  *) exec systemctl "$2" "$1";;
esac
SH

UPDATE_RC = <<'SH'
#!/bin/sh
[ "$1" = -f ] && shift
case "$2" in
  defaults|enable) exec systemctl enable "$1";;
  remove|disable) exec systemctl disable "$1";;
esac
SH

# Stands in for a2enmod and its kin: links below /etc/apache2.
A2 = <<'SH'
#!/bin/sh
name=${0##*/}
case "$name" in
  *mod) folder=mods; ends="load conf";;
  *site) folder=sites; ends=conf;;
  *) folder=conf; ends=conf;;
esac
while [ "${1#-}" != "$1" ]; do shift; done
for part in "$@"; do
  [ -e "/etc/apache2/$folder-available/$part.${ends%% *}" ] || { echo "ERROR: $part does not exist!" >&2; exit 1; }
  for end in $ends; do
    link=/etc/apache2/$folder-enabled/$part.$end
    case "$name" in
      a2en*) [ -e "/etc/apache2/$folder-available/$part.$end" ] && ln -sf "../$folder-available/$part.$end" "$link";;
      *) rm -f "$link";;
    esac
  done
done
exit 0
SH

# Stands in for what changes nothing that a catalog manages.
NOTHING = "#!/bin/sh\nexit 0\n"

# The facts by which types and providers decide: a Debian, whatever the machine is.
class KnownFacts
  VALUES = { 'osfamily' => 'Debian', 'operatingsystem' => 'Debian', 'operatingsystemrelease' => '12.5', 'operatingsystemmajrelease' => '12',
             'kernel' => 'Linux', 'kernelrelease' => '6.1.0', 'fqdn' => 'node1.example.com', 'hostname' => 'node1', 'domain' => 'example.com',
             'ipaddress' => '192.0.2.1', 'uniqueid' => '00000000', 'facterversion' => '4.3.0', 'id' => 'root', 'os.name' => 'Debian', 'os.family' => 'Debian',
             'path' => '/usr/sbin:/usr/bin:/sbin:/bin', 'architecture' => 'amd64', 'hardwaremodel' => 'x86_64', 'puppetversion' => Puppet.version,
             'os' => { 'name' => 'Debian', 'family' => 'Debian', 'release' => { 'full' => '12.5', 'major' => '12' } } }.freeze

  def value(name)
    VALUES[name.to_s.downcase]
  end

  def add(*); end

  def each(&block)
    VALUES.each(&block)
  end

  def to_hash
    VALUES
  end

  def resolve(*)
    VALUES
  end

  def method_missing(*)
    nil
  end

  def respond_to_missing?(*)
    true
  end
end

CONTEXT = {}

def module_folders
  MODULES.map { |name| MODULE_FOLDERS.map { |parent| "#{parent}/#{name}" }.find { |path| File.directory?(path) } }.compact
end

# All that runs will need is loaded before they lose sight of it.
def load_puppet
  Puppet.runtime[:facter] = KnownFacts.new
  arguments = %w[conf code var run log].flat_map { |name| ["--#{name}dir", "/var/lib/puppet/#{name}"] }
  module_folders.each { |path| $LOAD_PATH.unshift("#{path}/lib") }
  Puppet.initialize_settings(arguments + %w[--no-daemonize --certname node1.example.com --no-storeconfigs])
  Puppet::Util::Log.newdesttype(:collected) do
    match 'Collected'
    define_method(:initialize) { |to| @to = to }
    define_method(:handle) { |message| @to << message }
  end
  Puppet::Util::Log.newdestination(Collected.new)
  Puppet[:report] = false
  Puppet[:show_diff] = false
  Puppet[:splay] = false
  Puppet[:mkusers] = false
  Puppet[:manage_internal_file_permissions] = false
  Puppet[:user] = 'root'
  Puppet[:group] = 'root'
  Puppet[:noop] = false
  Puppet[:default_file_terminus] = :file_server
  # The stand-in for systemd is there in every root.
  systemd = Puppet::FileSystem.method(:exist?)
  Puppet::FileSystem.define_singleton_method(:exist?) { |path| path.to_s == '/proc/1/comm' || systemd.call(path) }
  reading = Puppet::FileSystem.method(:read)
  Puppet::FileSystem.define_singleton_method(:read) { |path, *rest, **opts| path.to_s == '/proc/1/comm' ? 'systemd' : reading.call(path, *rest, **opts) }
  TYPES.each do |name|
    type = Puppet::Type.type(name)
    next unless type
    type.loadproviders if type.respond_to?(:loadproviders)
    type.providerloader&.loadall(Puppet.lookup(:current_environment))
    Dir.glob(module_folders.map { |path| "#{path}/lib/puppet/provider/#{name}/*.rb" }).sort.each { |file| require file }
  end
  %w[puppet/configurer puppet/transaction puppet/transaction/report puppet/file_bucket/dipper puppet/indirector/catalog/json
     puppet/file_serving/metadata puppet/file_serving/content puppet/indirector/file_metadata/file puppet/indirector/file_metadata/rest
     puppet/indirector/file_metadata/selector puppet/indirector/file_metadata/file_server puppet/indirector/file_content/file
     puppet/indirector/file_content/selector puppet/indirector/file_content/file_server puppet/indirector/file_bucket_file/file
     puppet/indirector/file_bucket_file/selector puppet/file_serving/configuration puppet/file_serving/mount/modules
     puppet/file_serving/terminus_selector puppet/util/autoload puppet/application/apply puppet/util/diff
     puppet/util/filetype augeas tempfile open3 io/console pp psych].each do |file|
    begin
      require file
    rescue LoadError
      nil
    end
  end
  environment = Puppet::Node::Environment.create(:production, ['/modules'])
  CONTEXT.merge!(current_environment: environment, environments: Puppet::Environments::Static.new(environment), loaders: Puppet::Pops::Loaders.new(environment))
  %w[IBM437 UTF-16LE ISO-8859-1 US-ASCII].each { |name| ''.encode(name) rescue nil }
end

def copy_in(path, root)
  real = File.realpath(path)
  target = "#{root}#{real}"
  return if File.exist?(target)
  FileUtils.mkdir_p(File.dirname(target))
  begin
    File.link(real, target)
  rescue SystemCallError
    FileUtils.cp(real, target, preserve: true)
  end
end

def libraries(path)
  `ldd #{path} 2>/dev/null`.scan(%r{(/\S+)}).flatten.select { |library| File.exist?(library) }
end

# Links or copies the tools and what they need.
def install_tools(root)
  %w[usr/bin usr/sbin usr/lib usr/lib64 usr/share usr/local/bin].each { |name| FileUtils.mkdir_p("#{root}/#{name}") }
  folders = %w[/usr/bin /usr/sbin /bin /sbin /usr/local/bin]
  tools = TOOLS.map { |name| folders.map { |folder| "#{folder}/#{name}" }.find { |path| File.executable?(path) } }.compact
  tools += Dir.glob('/usr/lib/apt/methods/{file,copy,store}') + Dir.glob('/usr/lib/apt/solvers/dump')
  needed = []
  tools.each do |path|
    copy_in(path, root)
    name = File.basename(path)
    # A tool that is a link is found by its own name, too.
    place = "#{root}#{File.dirname(path).sub(%r{\A/s?bin}, '/usr\0')}/#{name}"
    FileUtils.mkdir_p(File.dirname(place))
    File.symlink(File.realpath(path), place) unless File.exist?(place)
    needed.concat(libraries(path))
  end
  needed.concat(Dir.glob('/lib/*/libnss_files.so*'))
  needed.uniq.each do |path|
    copy_in(path, root)
    real = "#{root}#{File.realpath(path)}"
    place = "#{root}#{File.realpath(File.dirname(path))}/#{File.basename(path)}"
    FileUtils.mkdir_p(File.dirname(place))
    File.symlink(real.sub(root, ''), place) unless File.exist?(place) || File.symlink?(place)
  end
  { 'systemctl' => SYSTEMCTL, 'crontab' => CRONTAB, 'mount' => MOUNT, 'umount' => UMOUNT, 'service' => SERVICE, 'invoke-rc.d' => SERVICE,
    'update-rc.d' => UPDATE_RC }.merge(%w[a2enmod a2dismod a2ensite a2dissite a2enconf a2disconf].to_h { |name| [name, A2] })
    .merge(%w[journalctl debconf-set-selections sysctl newaliases update-grub apt-key].to_h { |name| [name, NOTHING] }).each do |name, text|
    %w[bin sbin].each do |folder|
      File.write("#{root}/usr/#{folder}/#{name}", text)
      File.chmod(0o755, "#{root}/usr/#{folder}/#{name}")
    end
  end
  FileUtils.mkdir_p("#{root}/usr/share")
  File.write("#{root}/usr/share/exchange", EXCHANGE)
  # Puppet loads parts of itself late.
  (RUBY_FOLDERS + module_folders.map { |path| File.realpath("#{path}/lib") }).select { |path| File.directory?(path) }.each do |path|
    FileUtils.mkdir_p("#{root}#{File.dirname(path)}")
    system('cp', '-al', path, "#{root}#{path}", err: File::NULL) || system('cp', '-a', path, "#{root}#{path}")
  end
  # dpkg's shared data and apt's own defaults.
  FileUtils.mkdir_p("#{root}/usr/share/dpkg")
  Dir.glob('/usr/share/dpkg/*').each { |path| copy_in(path, root) if File.file?(path) }
end

# What is not a tool: made anew for each case.
def skeleton(root)
  %w[bin sbin lib lib64].each { |name| File.symlink("usr/#{name}", "#{root}/#{name}") unless File.symlink?("#{root}/#{name}") }
  FOLDERS.each { |name| FileUtils.mkdir_p("#{root}/#{name}") }
  SKELETON.each { |name| File.write("#{root}/etc/skel/#{name}", "(as in /etc/skel/#{name})") }
  File.symlink('/run', "#{root}/var/run")
  File.chmod(0o1777, "#{root}/tmp")
  File.chmod(0o700, "#{root}/root")
  FileUtils.touch("#{root}/dev/null")
  File.binwrite("#{root}/dev/urandom", RANDOM)
  FileUtils.chmod(0o666, "#{root}/dev/null")
  { 'etc/passwd' => "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n_apt:x:42:65534::/nonexistent:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    'etc/group' => "root:x:0:\ndaemon:x:1:\nadm:x:4:\nshadow:x:42:\nstaff:x:50:\nnogroup:x:65534:\n",
    'etc/shadow' => "root:*:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\n_apt:*:19000:0:99999:7:::\nnobody:*:19000:0:99999:7:::\n",
    'etc/gshadow' => "root:*::\ndaemon:*::\nadm:*::\nshadow:*::\nstaff:*::\nnogroup:*::\n",
    'etc/nsswitch.conf' => "passwd: files\ngroup: files\nshadow: files\nhosts: files\n",
    'etc/login.defs' => "UID_MIN 1000\nUID_MAX 60000\nSYS_UID_MIN 101\nSYS_UID_MAX 999\nGID_MIN 1000\nGID_MAX 60000\nSYS_GID_MIN 101\nSYS_GID_MAX 999\nUSERGROUPS_ENAB yes\nENCRYPT_METHOD SHA512\nCREATE_HOME no\n",
    'etc/dpkg/dpkg.cfg' => "force-unsafe-io\n",
    'etc/hosts' => "127.0.0.1\tlocalhost\n",
    'etc/fstab' => "# no devices\n",
    'etc/shells' => "/bin/sh\n/bin/bash\n",
    'etc/apt/sources.list' => "deb [trusted=yes] file:/repository ./\n",
    'etc/apt/apt.conf' => "APT::Sandbox::User \"root\";\nAPT::Install-Recommends \"false\";\nDir::Log \"/var/log/apt\";\nDPkg::Use-Pty \"0\";\nAcquire::Languages \"none\";\nDPkg::Path \"/usr/sbin:/usr/bin:/sbin:/bin\";\n",
    'var/lib/dpkg/status' => '', 'var/lib/dpkg/available' => '', 'var/lib/dpkg/info/format' => "1\n",
    'var/lib/dpkg/triggers/File' => '', 'var/lib/dpkg/triggers/Unincorp' => '', 'var/lib/dpkg/diversions' => '', 'var/lib/dpkg/statoverride' => '' }.each do |name, text|
    File.write("#{root}/#{name}", text)
  end
end

# Stands in for a device.
RANDOM = Random.new(1).bytes(65_536)

SHARED = %w[usr usr/bin usr/sbin usr/lib usr/share usr/local usr/local/bin usr/lib/systemd]

def children(path)
  File.directory?(path) ? Dir.children(path).sort : []
end

# Takes away what a case has left behind.
def clean(root, tools)
  (children(root) - %w[usr]).each { |name| FileUtils.rm_rf("#{root}/#{name}") }
  SHARED.each do |folder|
    (children("#{root}/#{folder}") - (tools[folder] || [])).each { |name| FileUtils.rm_rf("#{root}/#{folder}/#{name}") }
  end
end

def account_id(root, file, name)
  return nil if name.nil?
  return name.to_i if name.to_s =~ /\A\d+\z/
  line = File.readlines("#{root}/etc/#{file}").find { |text| text.start_with?("#{name}:") }
  line && line.split(':')[2].to_i
end

def place(root, entry)
  path = "#{root}#{entry['path']}"
  FileUtils.mkdir_p(File.dirname(path)) unless entry['kind'] == 'absent'
  case entry['kind']
  when 'directory' then FileUtils.mkdir_p(path)
  when 'link' then File.symlink(entry['target'], path)
  when 'absent' then FileUtils.rm_rf(path)
  else File.binwrite(path, entry['content'] || '')
  end
  return if entry['kind'] == 'absent'
  File.chmod(entry['mode'].to_i(8), path) if entry['mode'] && entry['kind'] != 'link'
  owner, group = account_id(root, 'passwd', entry['owner']), account_id(root, 'group', entry['group'])
  File.lchown(owner, group, path) if owner || group
end

# Builds a package and gives its paragraph of the index.
def build(package, root, scratch)
  name = package['name']
  version = package['version'] || '1.0'
  folder = "#{scratch}/#{name}_#{version}"
  control = +"Package: #{name}\nVersion: #{version}\nArchitecture: all\nMaintainer: Nobody <nobody@example.com>\n"
  control << "Depends: #{package['depends']}\n" if package['depends']
  control << "Recommends: #{package['recommends']}\n" if package['recommends']
  control << "Conflicts: #{package['conflicts']}\n" if package['conflicts']
  control << "Description: a package of a case\n"
  file = "#{name}_#{version}_all.deb"
  FileUtils.mkdir_p("#{folder}/DEBIAN")
  File.write("#{folder}/DEBIAN/control", control)
  conffiles = package['conffiles'] || []
  File.write("#{folder}/DEBIAN/conffiles", conffiles.map { |path| "#{path}\n" }.join) unless conffiles.empty?
  (package['scripts'] || {}).each do |script, text|
    File.write("#{folder}/DEBIAN/#{script}", "#!/bin/sh\nset -e\n#{text}\n")
    File.chmod(0o755, "#{folder}/DEBIAN/#{script}")
  end
  (package['directories'] || []).each { |path| FileUtils.mkdir_p("#{folder}#{path}") }
  (package['files'] || {}).each do |path, text|
    FileUtils.mkdir_p(File.dirname("#{folder}#{path}"))
    File.write("#{folder}#{path}", text)
    File.chmod(0o755, "#{folder}#{path}") if path =~ %r{/(bin|sbin|init\.d)/}
  end
  made = "#{root}/repository/#{file}"
  FileUtils.mkdir_p(File.dirname(made))
  system('dpkg-deb', '--root-owner-group', '-Znone', '--build', folder, made, out: File::NULL) || raise("dpkg-deb cannot build #{name}")
  "#{control}Filename: ./#{file}\nSize: #{File.size(made)}\nSHA256: #{Digest::SHA256.file(made).hexdigest}\n\n"
end

def enter(root)
  $stdin.reopen(File::NULL)
  $stdout.reopen(File::NULL)
  $stderr.reopen(File::NULL) unless ENV['JUDGE_DEBUG']
  Dir.chroot(root)
  Dir.chdir('/')
  File.umask(0o022)
  ENV.replace('PATH' => '/usr/sbin:/usr/bin:/sbin:/bin', 'HOME' => '/root', 'LC_ALL' => 'C.UTF-8', 'DEBIAN_FRONTEND' => 'noninteractive')
end

# What a block says in a process of its own.
def apart
  reader, writer = IO.pipe
  child = fork do
    reader.close
    # It ends before there is much to collect.
    GC.disable
    result = begin
      yield
    rescue Exception => e # rubocop:disable Lint/RescueException
      { 'error' => "#{e.class}: #{e.message}", 'trace' => (e.backtrace || []).first(8) }
    end
    writer.write(JSON.generate(result))
    writer.close
    exit!(0)
  end
  writer.close
  text = reader.read
  Process.wait(child)
  JSON.parse(text)
end

def inside(root)
  apart do
    enter(root)
    yield
  end
end

# A process within the root that has applied a catalog before, so that its children find Puppet warm.
class Applier
  WARM = { 'resources' => [{ 'type' => 'Stage', 'title' => 'main' }, { 'type' => 'Class', 'title' => 'main' },
                           { 'type' => 'File', 'title' => '/srv/warm', 'parameters' => { 'content' => 'x', 'mode' => '0600' } },
                           { 'type' => 'Exec', 'title' => '/bin/true' }],
           'edges' => [{ 'source' => 'Stage[main]', 'target' => 'Class[main]' }], 'classes' => [], 'name' => 'node1.example.com',
           'version' => 1, 'environment' => 'production', 'catalog_format' => 1 }.freeze

  def initialize(root)
    questions, @questions = IO.pipe
    @answers, answers = IO.pipe
    @process = fork do
      @questions.close
      @answers.close
      enter(root)
      apply(WARM)
      GC.start
      answers.sync = true
      answers.puts('warm')
      questions.each_line { |line| answers.puts(JSON.generate(apart { apply(JSON.parse(line)) })) }
      exit!(0)
    end
    questions.close
    answers.close
    @answers.gets
  end

  def ask(catalog)
    @questions.puts(JSON.generate(catalog))
    @questions.flush
    JSON.parse(@answers.gets || raise('Puppet has ended'))
  end

  def finish
    @questions.close
    Process.wait(@process)
  end
end

def prepare_packages(packages, root)
  return if packages.empty?
  Dir.mktmpdir('packages') do |scratch|
    File.write("#{root}/repository/Packages", '') if FileUtils.mkdir_p("#{root}/repository")
    index = packages.map { |package| build(package, root, scratch) }
    File.write("#{root}/repository/Packages", index.join)
    File.write("#{root}/repository/Release", "Suite: stable\nArchitectures: all\n")
  end
  # As on most machines, where packages recommend anything.
  if packages.any? { |package| package['recommends'] }
    # apt reads this file last: what stands in apt.conf.d would not count.
    settings = "#{root}/etc/apt/apt.conf"
    text = File.read(settings)
    File.delete(settings)
    File.write(settings, text + "APT::Install-Recommends \"true\";\n")
  end
  installed = packages.select { |package| package['installed'] }.map { |package| "#{package['name']}=#{package['version'] || '1.0'}" }
  answer = inside(root) do
    `apt-get -q update 2>&1`
    said = installed.empty? ? '' : `apt-get -q -y install #{installed.join(' ')} 2>&1`
    $?.success? ? {} : { 'error' => said }
  end
  raise "packages cannot be prepared: #{answer['error']}" if answer['error']
end

def names(root, file)
  File.readlines("#{root}/etc/#{file}").to_h { |line| [line.split(':')[2].to_i, line.split(':')[0]] }
rescue SystemCallError
  {}
end

def entry(path, owners, groups)
  stat = File.lstat(path)
  found = { 'mode' => format('%04o', stat.mode & 0o7777), 'owner' => owners[stat.uid] || stat.uid.to_s, 'group' => groups[stat.gid] || stat.gid.to_s }
  if stat.symlink?
    found.merge('kind' => 'link', 'target' => File.readlink(path))
  elsif stat.directory?
    found.merge('kind' => 'directory')
  else
    found.merge('kind' => 'file', 'content' => File.binread(path).force_encoding('UTF-8').scrub)
  end
end

def walk(root, at, out, owners, groups)
  children("#{root}/#{at}").each do |name|
    relative = at.empty? ? name : "#{at}/#{name}"
    next if PRIVATE.include?(relative)
    out["/#{relative}"] = entry("#{root}/#{relative}", owners, groups)
    walk(root, relative, out, owners, groups) if out["/#{relative}"]['kind'] == 'directory'
  end
end

def state(root, tools)
  tree = {}
  owners, groups = names(root, 'passwd'), names(root, 'group')
  walk(root, '', tree, owners, groups)
  # Of the tools' own folders only what a case has put there.
  SHARED.select { |folder| File.directory?("#{root}/#{folder}") }.each do |folder|
    tree["/#{folder}"] = entry("#{root}/#{folder}", owners, groups)
    (children("#{root}/#{folder}") - (tools[folder] || [])).each do |name|
      tree["/#{folder}/#{name}"] = entry("#{root}/#{folder}/#{name}", owners, groups)
      walk(root, "#{folder}/#{name}", tree, owners, groups) if tree["/#{folder}/#{name}"]['kind'] == 'directory'
    end
  end
  packages = {}
  File.read("#{root}/var/lib/dpkg/status").split("\n\n").each do |paragraph|
    fields = paragraph.lines.map { |line| line.chomp.split(': ', 2) }.select { |pair| pair.length == 2 }.to_h
    packages[fields['Package']] = { 'version' => fields['Version'], 'status' => fields['Status'] } if fields['Package']
  end
  { 'tree' => tree, 'packages' => packages }
end

class Collected
  attr_reader :messages
  def initialize
    @messages = []
  end

  def <<(message)
    @messages << message
  end
end

def apply(json)
  logs = Collected.new
  Puppet::Util::Log.level = :notice
  Puppet::Util::Log.close_all
  Puppet::Util::Log.newdestination(logs)
  status = {}
  error = nil
  # What modules there are is asked anew.
  environment = Puppet::Node::Environment.create(:production, ['/modules'])
  context = CONTEXT.merge(current_environment: environment, environments: Puppet::Environments::Static.new(environment))
  Puppet.override(context, 'judge') do
    begin
      catalog = Puppet::Resource::Catalog.from_data_hash(json)
      catalog.environment_instance = environment
      ral = catalog.to_ral
      ral.finalize
      ral.retrieval_duration = 0
      report = Puppet::Transaction::Report.new(nil, 'production')
      ral.host_config = true
      transaction = Timeout.timeout(SECONDS_FOR_A_RUN) { ral.apply(report: report) }
      report.resource_statuses.each do |name, one|
        status[name] = { 'failed' => one.failed ? true : false, 'skipped' => one.skipped ? true : false, 'changed' => one.changed ? true : false, 'refreshed' => one.restarted ? true : false, 'failed_to_restart' => one.failed_to_restart ? true : false, 'events' => one.events.map { |e| [e.property, e.status, e.name].map(&:to_s) } }
      end
    rescue SystemExit, StandardError, ScriptError => e
      error = "#{e.class}: #{e.message}"
      error += "\n" + e.backtrace.first(10).join("\n") if ENV['JUDGE_DEBUG']
    end
  end
  { 'error' => error, 'resources' => status, 'logs' => logs.messages.map { |m| "#{m.level}: #{m.source}: #{m.message}" } }
end

def answer(request, root, tools, applier)
  clean(root, tools)
  skeleton(root)
  (request['start'] || []).each { |entry| place(root, entry) }
  prepare_packages(request['packages'] || [], root)
  # What is placed after the packages are there: changed conffiles, say.
  (request['then'] || []).each { |entry| place(root, entry) }
  earlier = (request['earlier'] || []).map { |catalog| applier.ask(catalog) }
  before = state(root, tools)
  runs = (request['runs'] || 2).times.map do
    result = applier.ask(request['catalog'])
    result['after'] = state(root, tools)
    result
  end
  failed = (earlier.last || { 'resources' => {} })['resources'].values.any? { |one| one['failed'] || one['failed_to_restart'] }
  { 'before' => before, 'runs' => runs, 'earlier_error' => earlier.map { |one| one['error'] }.compact.first, 'earlier_failed' => failed }
end

Dir.mktmpdir('judge') do |folder|
  load_puppet
  root = "#{folder}/root"
  FileUtils.mkdir_p(root)
  install_tools(root)
  tools = SHARED.to_h { |name| [name, children("#{root}/#{name}")] }
  skeleton(root)
  GC.start
  applier = Applier.new(root)
  $stdout.sync = true
  $stdin.each_line do |line|
    reply = begin
      answer(JSON.parse(line), root, tools, applier)
    rescue StandardError => e
      { 'error' => "#{e.class}: #{e.message}\n#{(e.backtrace || []).first(5).join("\n")}" }
    end
    $stdout.puts JSON.generate(reply)
  end
  applier.finish
end
