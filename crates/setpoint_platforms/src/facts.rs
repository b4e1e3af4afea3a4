//! The one builder of facts.

use serde_json::{Map, Value, json};
use setpoint_puppet_values::ruby::base64::strict_encode64;
use sha1::Digest;

use crate::legacy;
use crate::table::{Platform, ReleaseShape};

const GIB: u64 = 1024 * 1024 * 1024;

/// The domain of a node whose name has none, as a machine would take it from its resolver.
const DOMAIN: &str = "example.com";

impl Platform {
    /// The first number of the release, or all of it where Facter does not take it apart.
    pub fn major(&self) -> &'static str {
        match self.shape {
            ReleaseShape::Whole => self.release,
            _ => self.release.split('.').next().unwrap_or(self.release),
        }
    }

    /// All facts of a node of this platform that runs this version of Puppet.
    pub fn facts(&self, node: &str, puppet: &str) -> Map<String, Value> {
        let node = Node::new(node);
        let mut facts = Map::new();
        let mut add = |name: &str, value: Value| {
            if !value.is_null() {
                facts.insert(name.to_owned(), value);
            }
        };
        let windows = self.family == "windows";
        let linux = self.kernel == "Linux";

        add("os", self.os());
        add("kernel", json!(self.kernel));
        add("kernelrelease", json!(self.kernel_release));
        let version = self.kernel_release.split('-').next().unwrap_or_default();
        add("kernelversion", json!(if self.kernel == "SunOS" { "11.4.0.15.0" } else { version }));
        add("kernelmajversion", json!(self.kernel_major(version)));
        add("networking", self.networking(&node));
        add("dhcp_servers", json!({"system": node.gateway(), self.interface: node.gateway()}));
        add("processors", self.processors());
        add("memory", self.memory());
        add("system_uptime", json!({"days": 1, "hours": 24, "seconds": 86400, "uptime": "1 day"}));
        add("timezone", json!(if windows { "Coordinated Universal Time" } else { "UTC" }));
        add("identity", self.identity(&node));
        let (platform, sitedir, ruby) = self.ruby;
        add("ruby", json!({"platform": platform, "sitedir": sitedir, "version": ruby}));
        add("path", json!(self.path));
        add("virtual", json!(if windows { "hyperv" } else { "kvm" }));
        add("is_virtual", json!(true));
        add("hypervisors", if windows { json!({"hyperv": {}}) } else { json!({"kvm": {}}) });
        add("dmi", self.dmi(&node));
        add("fips_enabled", json!(false));
        add("ssh", keys(&node));
        add("augeas", json!({"version": "1.14.0"}));
        add("facterversion", json!(if puppet.starts_with('7') { "4.3.0" } else { "4.10.0" }));
        if !windows {
            add("load_averages", json!({"1m": 0.05, "5m": 0.03, "15m": 0.01}));
            add("filesystems", json!(self.filesystems));
            add("mountpoints", self.mountpoints());
            add("disks", self.disks());
            add("partitions", self.partitions(&node));
            add("ps", json!(if linux || self.kernel == "SunOS" { "ps -ef" } else { "ps auxwww" }));
        }
        match self.kernel {
            "FreeBSD" | "SunOS" => {
                add("zfs_version", json!("5"));
                add("zpool_version", json!("5000"));
            }
            _ => {}
        }
        if self.kernel == "SunOS" {
            add(
                "solaris_zones",
                json!({"current": "global", "zones": {"global": {"id": "0", "status": "running", "path": "/", "brand": "solaris", "iptype": "shared"}}}),
            );
        }

        // What the agent itself adds.
        add("puppetversion", json!(puppet));
        add("clientversion", json!(puppet));
        add("clientcert", json!(node.name));
        add("clientnoop", json!(false));
        let aio = self.ruby.1.contains("puppetlabs") || windows;
        add("aio_agent_version", json!(if aio { puppet } else { "" }));
        if windows {
            add("env_windows_installdir", json!("C:\\Program Files\\Puppet Labs\\Puppet"));
            add("rubyplatform", json!(platform));
        }
        let flat = legacy::of(&facts);
        facts.extend(flat);
        facts.extend(self.module_facts(&node));
        facts
    }

    fn kernel_major<'a>(&self, version: &'a str) -> &'a str {
        match self.kernel {
            // Linux counts its first two numbers, and so does Windows; the others the first alone.
            "Linux" | "windows" => {
                version.match_indices('.').nth(1).map_or(version, |(second, _)| &version[..second])
            }
            "SunOS" => "11",
            _ => version.split('.').next().unwrap_or(version),
        }
    }

    fn release_parts(&self, full: &str) -> Value {
        let mut release = Map::new();
        release.insert("full".to_owned(), json!(full));
        release.insert("major".to_owned(), json!(self.major()));
        let number = full.split('-').next().unwrap_or(full);
        match self.shape {
            ReleaseShape::Whole => {}
            ReleaseShape::Dotted => {
                if let Some(minor) = full.split('.').nth(1) {
                    release.insert("minor".to_owned(), json!(minor));
                }
            }
            ReleaseShape::FreeBsd => {
                if let Some(minor) = number.split('.').nth(1) {
                    release.insert("minor".to_owned(), json!(minor));
                }
                if let Some((_, branch)) = full.split_once('-') {
                    release.insert("branch".to_owned(), json!(branch));
                    if let Some((_, level)) = branch.split_once("-p") {
                        release.insert("patchlevel".to_owned(), json!(level));
                    }
                }
            }
        }
        Value::Object(release)
    }

    fn os(&self) -> Value {
        let mut os = Map::new();
        os.insert("architecture".to_owned(), json!(self.architecture));
        os.insert("family".to_owned(), json!(self.family));
        os.insert("hardware".to_owned(), json!(self.hardware));
        os.insert("name".to_owned(), json!(self.os));
        os.insert("release".to_owned(), self.release_parts(self.release));
        if let Some((id, codename, description)) = self.distro {
            os.insert(
                "distro".to_owned(),
                json!({"codename": codename, "description": description, "id": id,
                       "release": self.release_parts(self.release)}),
            );
        }
        if self.kernel == "Linux" {
            os.insert(
                "selinux".to_owned(),
                match self.selinux {
                    None => json!({"enabled": false}),
                    Some(policy) => json!({"config_mode": "enforcing", "config_policy": "targeted",
                        "current_mode": "enforcing", "enabled": true, "enforced": true, "policy_version": policy}),
                },
            );
        }
        match self.family {
            "windows" => {
                let product = format!("Windows Server {} Standard", self.release);
                let version = if self.release == "2019" { "1809" } else { "21H2" };
                os.insert(
                    "windows".to_owned(),
                    json!({"display_version": version, "edition_id": "ServerStandard", "installation_type": "Server",
                        "product_name": product, "release_id": version, "system32": "C:\\Windows\\system32"}),
                );
            }
            "Darwin" => {
                os.insert(
                    "macosx".to_owned(),
                    json!({"build": "23G93", "product": "macOS",
                        "version": {"full": "14.6.1", "major": "14", "minor": "6", "patch": "1"}}),
                );
            }
            _ => {}
        }
        Value::Object(os)
    }

    fn networking(&self, node: &Node<'_>) -> Value {
        let outer = json!({
            "bindings": [{"address": node.ip(), "netmask": "255.255.255.0", "network": node.network()}],
            "bindings6": [{"address": node.ip6(), "netmask": "ffff:ffff:ffff:ffff::", "network": node.network6(),
                "scope6": "global", "flags": ["permanent"]}],
            "dhcp": node.gateway(),
            "ip": node.ip(),
            "ip6": node.ip6(),
            "mac": node.mac(),
            "mtu": 1500,
            "netmask": "255.255.255.0",
            "netmask6": "ffff:ffff:ffff:ffff::",
            "network": node.network(),
            "network6": node.network6(),
            "scope6": "global",
        });
        let all = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
        let mut interfaces = Map::new();
        interfaces.insert(self.interface.to_owned(), outer.clone());
        if self.family != "windows" {
            interfaces.insert(
                self.loopback.to_owned(),
                json!({
                    "bindings": [{"address": "127.0.0.1", "netmask": "255.0.0.0", "network": "127.0.0.0"}],
                    "bindings6": [{"address": "::1", "netmask": all, "network": "::1", "scope6": "host",
                        "flags": ["permanent"]}],
                    "ip": "127.0.0.1",
                    "ip6": "::1",
                    "mtu": if self.kernel == "Linux" { 65536 } else { 16384 },
                    "netmask": "255.0.0.0",
                    "netmask6": all,
                    "network": "127.0.0.0",
                    "network6": "::1",
                    "scope6": "host",
                }),
            );
        }
        let mut networking = Map::new();
        networking.insert("domain".to_owned(), json!(node.domain));
        networking.insert("fqdn".to_owned(), json!(node.fqdn()));
        networking.insert("hostname".to_owned(), json!(node.host));
        networking.insert("interfaces".to_owned(), Value::Object(interfaces));
        networking.insert("primary".to_owned(), json!(self.interface));
        for (key, value) in outer.as_object().into_iter().flatten() {
            if !key.starts_with("bindings") {
                networking.insert(key.clone(), value.clone());
            }
        }
        Value::Object(networking)
    }

    fn processors(&self) -> Value {
        json!({
            "cores": 4, "count": 4, "isa": self.isa, "models": ["Virtual CPU", "Virtual CPU", "Virtual CPU", "Virtual CPU"],
            "physicalcount": 1, "speed": "2.40 GHz", "threads": 1,
        })
    }

    fn memory(&self) -> Value {
        let mut memory = json!({"system": {
            "available": "6.00 GiB", "available_bytes": 6 * GIB, "capacity": "25.00%", "total": "8.00 GiB",
            "total_bytes": 8 * GIB, "used": "2.00 GiB", "used_bytes": 2 * GIB,
        }});
        if self.family != "windows" {
            memory["swap"] = json!({
                "available": "1.00 GiB", "available_bytes": GIB, "capacity": "0%", "total": "1.00 GiB",
                "total_bytes": GIB, "used": "0 bytes", "used_bytes": 0,
            });
        }
        memory
    }

    fn identity(&self, node: &Node<'_>) -> Value {
        if self.family == "windows" {
            return json!({"privileged": true, "user": format!("{}\\Administrator", node.host.to_ascii_uppercase())});
        }
        json!({"gid": 0, "group": self.group, "privileged": true, "uid": 0, "user": "root"})
    }

    fn dmi(&self, node: &Node<'_>) -> Value {
        if matches!(self.kernel, "OpenBSD" | "Darwin") {
            return json!({"product": {"name": "Virtual Machine"}});
        }
        let product = json!({"name": "Standard PC (Q35 + ICH9, 2009)", "serial_number": node.hex(8), "uuid": node.uuid("product")});
        if self.family == "windows" {
            return json!({"manufacturer": "QEMU", "product": product});
        }
        json!({
            "bios": {"release_date": "04/01/2014", "vendor": "SeaBIOS", "version": "1.16.2-1"},
            "board": {"manufacturer": "QEMU", "product": "Standard PC", "serial_number": node.hex(8)},
            "chassis": {"type": "Other"},
            "manufacturer": "QEMU",
            "product": product,
        })
    }

    fn disk(&self) -> &'static str {
        match self.kernel {
            "Linux" => "sda",
            "FreeBSD" => "ada0",
            "OpenBSD" => "sd0",
            "Darwin" => "disk0",
            _ => "c1t0d0",
        }
    }

    fn disks(&self) -> Value {
        json!({self.disk(): {"model": "QEMU HARDDISK", "size": "20.00 GiB", "size_bytes": 20 * GIB, "type": "hdd", "vendor": "ATA"}})
    }

    fn mountpoints(&self) -> Value {
        let mut mounts = Map::new();
        mounts.insert(
            "/".to_owned(),
            json!({
                "available": "15.00 GiB", "available_bytes": 15 * GIB, "capacity": "25.00%", "device": self.root_device,
                "filesystem": self.root_filesystem, "options": ["rw", "relatime"], "size": "20.00 GiB",
                "size_bytes": 20 * GIB, "used": "5.00 GiB", "used_bytes": 5 * GIB,
            }),
        );
        if self.kernel == "Linux" {
            for (path, size) in [("/dev/shm", "4.00 GiB"), ("/run", "1.00 GiB")] {
                let bytes = if size.starts_with('4') { 4 * GIB } else { GIB };
                mounts.insert(
                    path.to_owned(),
                    json!({
                        "available": size, "available_bytes": bytes, "capacity": "0%", "device": "tmpfs",
                        "filesystem": "tmpfs", "options": ["rw", "nosuid", "nodev"], "size": size, "size_bytes": bytes,
                        "used": "0 bytes", "used_bytes": 0,
                    }),
                );
            }
        }
        Value::Object(mounts)
    }

    fn partitions(&self, node: &Node<'_>) -> Value {
        let device = if self.root_device.starts_with('/') { self.root_device } else { self.disk() };
        json!({device: {
            "filesystem": self.root_filesystem, "mount": "/", "partuuid": format!("{}-01", node.hex(8)),
            "size": "20.00 GiB", "size_bytes": 20 * GIB, "uuid": node.uuid("root"),
        }})
    }

    /// Facts that widely used modules bring along. An agent has them as soon as the module is in its environment.
    pub(crate) fn facts_of_modules(&self, node: &str) -> Map<String, Value> {
        self.module_facts(&Node::new(node))
    }

    fn module_facts(&self, node: &Node<'_>) -> Map<String, Value> {
        let mut facts = Map::new();
        let mut add = |name: &str, value: Value| {
            facts.insert(name.to_owned(), value);
        };
        add("root_home", json!(self.root_home));
        add("service_provider", json!(self.service_provider));
        add("package_provider", json!(self.package_provider));
        add("puppet_vardir", json!(self.vardir));
        let code = if self.family == "windows" {
            "C:/ProgramData/PuppetLabs/code/environments"
        } else if self.vardir.contains("puppetlabs") {
            "/etc/puppetlabs/code/environments"
        } else {
            "/etc/puppet/code/environments"
        };
        add("puppet_environmentpath", json!(code));
        add("puppet_server", json!("puppet"));
        add("is_pe", json!(false));
        add("concat_basedir", json!(format!("{}/concat", self.vardir)));
        match self.family {
            "windows" => {
                add("archive_windir", json!("C:\\ProgramData\\staging"));
                add("staging_windir", json!("C:\\ProgramData\\staging"));
            }
            _ => add("staging_http_get", json!("curl")),
        }
        if self.kernel != "Linux" {
            return facts;
        }
        add("systemd", json!(self.systemd.is_some()));
        if let Some(version) = self.systemd {
            add("systemd_version", json!(version));
        }
        if let Some(version) = self.iptables {
            add("iptables_version", json!(version));
            add("ip6tables_version", json!(version));
        }
        add("mysql_server_id", json!(node.number()));
        // OpenStack's modules.
        add("os_service_default", json!("<SERVICE DEFAULT>"));
        add(
            "os_package_type",
            json!(if self.os == "Ubuntu" {
                "ubuntu"
            } else if self.family == "Debian" {
                "debian"
            } else {
                "rpm"
            }),
        );
        add("os_workers", json!(2));
        add("os_workers_small", json!(2));
        for name in ["os_workers_large", "os_workers_heat_engine", "os_workers_keystone"] {
            add(name, json!(4));
        }
        if self.family == "Debian" {
            add("iptables_persistent_version", json!("1.0.20"));
            add("monit_version", json!("5.33.0"));
            for name in ["apt_has_updates", "apt_has_dist_updates", "apt_reboot_required"] {
                add(name, json!(false));
            }
            for name in ["apt_updates", "apt_package_updates", "apt_security_updates", "apt_dist_updates"] {
                add(name, json!(0));
            }
            add("apt_update_last_success", json!(1_700_000_000));
        }
        facts
    }
}

/// What follows from a node's name.
struct Node<'a> {
    name: &'a str,
    host: &'a str,
    domain: &'a str,
    digest: Vec<u8>,
}

impl<'a> Node<'a> {
    fn new(name: &'a str) -> Self {
        let (host, domain) = name.split_once('.').unwrap_or((name, DOMAIN));
        Self { name, host, domain, digest: sha2::Sha256::digest(name.as_bytes()).to_vec() }
    }

    fn byte(&self, index: usize) -> u8 {
        self.digest.get(index).copied().unwrap_or_default()
    }

    fn fqdn(&self) -> String {
        format!("{}.{}", self.host, self.domain)
    }

    /// An address of a private network; neither the network itself, its gateway nor its broadcast address.
    fn ip(&self) -> String {
        format!("10.{}.{}.{}", self.byte(0), self.byte(1), 2 + self.byte(2) % 250)
    }

    fn network(&self) -> String {
        format!("10.{}.{}.0", self.byte(0), self.byte(1))
    }

    fn gateway(&self) -> String {
        format!("10.{}.{}.1", self.byte(0), self.byte(1))
    }

    fn ip6(&self) -> String {
        let host = (1 + u16::from(self.byte(2)) % 250) << 8 | u16::from(self.byte(3));
        format!("{}{host:x}", self.network6())
    }

    fn network6(&self) -> String {
        format!("fd00:{:x}:{:x}::", u16::from(self.byte(0)) + 1, u16::from(self.byte(1)) + 1)
    }

    fn mac(&self) -> String {
        format!("52:54:00:{:02x}:{:02x}:{:02x}", self.byte(0), self.byte(1), self.byte(2))
    }

    fn number(&self) -> u32 {
        u32::from_be_bytes([self.byte(0) & 0x7f, self.byte(1), self.byte(2), self.byte(3)])
    }

    fn hex(&self, digits: usize) -> String {
        let mut text = hex(&self.digest);
        text.truncate(digits);
        text
    }

    fn uuid(&self, what: &str) -> String {
        let text = hex(&self.derived(what));
        format!("{}-{}-4{}-a{}-{}", &text[..8], &text[8..12], &text[13..16], &text[17..20], &text[20..32])
    }

    /// Bytes of their own for each use.
    fn derived(&self, what: &str) -> Vec<u8> {
        sha2::Sha256::digest(format!("{} {what}", self.name).as_bytes()).to_vec()
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text += &format!("{byte:02x}");
    }
    text
}

/// Host keys of the right shape; nobody has their private halves.
fn keys(node: &Node<'_>) -> Value {
    let mut keys = Map::new();
    for (number, name, kind, length) in [
        (3, "ecdsa", "ecdsa-sha2-nistp256", 65),
        (4, "ed25519", "ssh-ed25519", 32),
        (1, "rsa", "ssh-rsa", 257),
    ] {
        let mut material: Vec<u8> = Vec::new();
        let mut block = 0;
        while material.len() < length {
            material.extend(node.derived(&format!("{name} {block}")));
            block += 1;
        }
        material.truncate(length);
        let mut blob = Vec::new();
        field(&mut blob, kind.as_bytes());
        match name {
            "ecdsa" => {
                field(&mut blob, b"nistp256");
                material[0] = 4;
            }
            "rsa" => {
                field(&mut blob, &[1, 0, 1]);
                material[0] = 0;
                material[1] |= 0x80;
            }
            _ => {}
        }
        field(&mut blob, &material);
        keys.insert(
            name.to_owned(),
            json!({
                "fingerprints": {
                    "sha1": format!("SSHFP {number} 1 {}", hex(&sha1::Sha1::digest(&blob))),
                    "sha256": format!("SSHFP {number} 2 {}", hex(&sha2::Sha256::digest(&blob))),
                },
                "key": strict_encode64(&blob),
                "type": kind,
            }),
        );
    }
    Value::Object(keys)
}

/// A field of an SSH key: its length, then its bytes.
fn field(blob: &mut Vec<u8>, bytes: &[u8]) {
    blob.extend((bytes.len() as u32).to_be_bytes());
    blob.extend(bytes);
}
