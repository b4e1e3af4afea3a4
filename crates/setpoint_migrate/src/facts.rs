//! Legacy facts, and the structured facts that have their values.

/// What stands for a legacy fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Structured {
    /// The same value and type wherever Facter runs; all parts but the last always exist.
    Same(&'static str),
    /// The same value and type, or nothing: a part before the last may be missing, so that `[]` would fail.
    SameIfThere(&'static str),
    /// A near fact that may differ in value, type or presence.
    Near(&'static str),
    /// No fact of the same meaning at a fixed path.
    Other(&'static str),
}

/// Returns what stands for a fact that Puppet 8 no longer sends, `None` for any other name.
pub(crate) fn structured(name: &str) -> Option<Structured> {
    if let Ok(at) = TABLE.binary_search_by_key(&name, |(name, _)| name) {
        return Some(TABLE[at].1);
    }
    let (_, hint) =
        PREFIXES.iter().find(|(prefix, _)| name.len() > prefix.len() && name.starts_with(prefix))?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match name.strip_prefix("processor") {
        Some(rest) if !is_number(rest) => None,
        _ => Some(Structured::Other(hint)),
    }
}

/// Whether a text with interpolations begins as the name of a legacy fact of an interface or a disk.
pub(crate) fn begins_legacy(text: &str) -> Option<&'static str> {
    let text = text.trim_start_matches("::");
    let found = PREFIXES.iter().find(|(prefix, _)| text.starts_with(prefix) && prefix.ends_with('_'));
    found.map(|(_, hint)| *hint)
}

const INTERFACE: &str =
    "$facts.dig('networking', 'interfaces', NAME, …); names with `.` or `:` have `_` in legacy facts";

const PREFIXES: &[(&str, &str)] = &[
    ("blockdevice_", "$facts.dig('disks', NAME, …)"),
    ("ipaddress6_", INTERFACE),
    ("ipaddress_", INTERFACE),
    ("ldom_", "$facts['ldom']"),
    ("macaddress_", INTERFACE),
    ("mtu_", INTERFACE),
    ("netmask6_", INTERFACE),
    ("netmask_", INTERFACE),
    ("network6_", INTERFACE),
    ("network_", INTERFACE),
    ("scope6_", INTERFACE),
    ("processor", "$facts['processors']['models'][NUMBER]"),
    ("sp_", "$facts['system_profiler']"),
];

use Structured::{Near, Other, Same, SameIfThere};

/// Sorted by name. `lsbdist*` facts are absent without lsb-release, while `os.distro` is not; uptimes and free memory in
/// megabytes are computed at another moment or in another unit.
const TABLE: &[(&str, Structured)] = &[
    ("architecture", Same("os.architecture")),
    ("augeasversion", SameIfThere("augeas.version")),
    ("bios_release_date", SameIfThere("dmi.bios.release_date")),
    ("bios_vendor", SameIfThere("dmi.bios.vendor")),
    ("bios_version", SameIfThere("dmi.bios.version")),
    ("blockdevices", Other("$facts['disks'].keys.join(',')")),
    ("boardassettag", SameIfThere("dmi.board.asset_tag")),
    ("boardmanufacturer", SameIfThere("dmi.board.manufacturer")),
    ("boardproductname", SameIfThere("dmi.board.product")),
    ("boardserialnumber", SameIfThere("dmi.board.serial_number")),
    ("chassisassettag", SameIfThere("dmi.chassis.asset_tag")),
    ("chassistype", SameIfThere("dmi.chassis.type")),
    ("dhcp_servers", Other("$facts['networking']['dhcp'], and `dhcp` of each interface")),
    ("domain", Same("networking.domain")),
    ("fqdn", Same("networking.fqdn")),
    ("gid", Same("identity.group")),
    ("hardwareisa", Same("processors.isa")),
    ("hardwaremodel", Same("os.hardware")),
    ("hostname", Same("networking.hostname")),
    ("id", Same("identity.user")),
    ("interfaces", Other("$facts['networking']['interfaces'].keys.join(',')")),
    ("ipaddress", Same("networking.ip")),
    ("ipaddress6", Same("networking.ip6")),
    ("lsbdistcodename", Near("os.distro.codename")),
    ("lsbdistdescription", Near("os.distro.description")),
    ("lsbdistid", Near("os.distro.id")),
    ("lsbdistrelease", Near("os.distro.release.full")),
    ("lsbmajdistrelease", Near("os.distro.release.major")),
    ("lsbminordistrelease", Near("os.distro.release.minor")),
    ("lsbrelease", Near("os.distro.specification")),
    ("macaddress", Same("networking.mac")),
    ("macosx_buildversion", SameIfThere("os.macosx.build")),
    ("macosx_productname", SameIfThere("os.macosx.product")),
    ("macosx_productversion", SameIfThere("os.macosx.version.full")),
    ("macosx_productversion_major", SameIfThere("os.macosx.version.major")),
    ("macosx_productversion_minor", SameIfThere("os.macosx.version.minor")),
    ("macosx_productversion_patch", SameIfThere("os.macosx.version.patch")),
    ("manufacturer", SameIfThere("dmi.manufacturer")),
    ("memoryfree", Near("memory.system.available")),
    ("memoryfree_mb", Other("$facts['memory']['system']['available_bytes'] / 1048576.0")),
    ("memorysize", Same("memory.system.total")),
    ("memorysize_mb", Other("$facts['memory']['system']['total_bytes'] / 1048576.0")),
    ("netmask", Same("networking.netmask")),
    ("netmask6", Same("networking.netmask6")),
    ("network", Same("networking.network")),
    ("network6", Same("networking.network6")),
    ("operatingsystem", Same("os.name")),
    ("operatingsystemmajrelease", Same("os.release.major")),
    ("operatingsystemrelease", Same("os.release.full")),
    ("osfamily", Same("os.family")),
    ("physicalprocessorcount", Same("processors.physicalcount")),
    ("processorcount", Same("processors.count")),
    ("productname", SameIfThere("dmi.product.name")),
    ("rubyplatform", Same("ruby.platform")),
    ("rubysitedir", Same("ruby.sitedir")),
    ("rubyversion", Same("ruby.version")),
    ("scope6", Same("networking.scope6")),
    ("selinux", SameIfThere("os.selinux.enabled")),
    ("selinux_config_mode", SameIfThere("os.selinux.config_mode")),
    ("selinux_config_policy", SameIfThere("os.selinux.config_policy")),
    ("selinux_current_mode", SameIfThere("os.selinux.current_mode")),
    ("selinux_enforced", SameIfThere("os.selinux.enforced")),
    ("selinux_policyversion", SameIfThere("os.selinux.policy_version")),
    ("serialnumber", SameIfThere("dmi.product.serial_number")),
    ("sshdsakey", SameIfThere("ssh.dsa.key")),
    ("sshecdsakey", SameIfThere("ssh.ecdsa.key")),
    ("sshed25519key", SameIfThere("ssh.ed25519.key")),
    ("sshfp_dsa", Other("$facts['ssh']['dsa']['fingerprints']")),
    ("sshfp_ecdsa", Other("$facts['ssh']['ecdsa']['fingerprints']")),
    ("sshfp_ed25519", Other("$facts['ssh']['ed25519']['fingerprints']")),
    ("sshfp_rsa", Other("$facts['ssh']['rsa']['fingerprints']")),
    ("sshrsakey", SameIfThere("ssh.rsa.key")),
    ("swapencrypted", SameIfThere("memory.swap.encrypted")),
    ("swapfree", Near("memory.swap.available")),
    ("swapfree_mb", Other("$facts.dig('memory', 'swap', 'available_bytes') / 1048576.0")),
    ("swapsize", SameIfThere("memory.swap.total")),
    ("swapsize_mb", Other("$facts.dig('memory', 'swap', 'total_bytes') / 1048576.0")),
    ("system32", SameIfThere("os.windows.system32")),
    ("uptime", Near("system_uptime.uptime")),
    ("uptime_days", Near("system_uptime.days")),
    ("uptime_hours", Near("system_uptime.hours")),
    ("uptime_seconds", Near("system_uptime.seconds")),
    ("uuid", SameIfThere("dmi.product.uuid")),
    ("windows_edition_id", SameIfThere("os.windows.edition_id")),
    ("windows_installation_type", SameIfThere("os.windows.installation_type")),
    ("windows_product_name", SameIfThere("os.windows.product_name")),
    ("windows_release_id", SameIfThere("os.windows.release_id")),
    ("xendomains", Near("xen.domains")),
    ("zonename", SameIfThere("solaris_zones.current")),
    ("zones", Other("$facts['solaris_zones']['zones'].length")),
];

impl Structured {
    /// The path of the structured fact, if there is one.
    pub(crate) fn path(self) -> Option<&'static str> {
        match self {
            Same(path) | SameIfThere(path) | Near(path) => Some(path),
            Other(_) => None,
        }
    }

    pub(crate) fn is_same(self) -> bool {
        matches!(self, Same(_) | SameIfThere(_))
    }

    /// What follows `facts` in Puppet and in Ruby: `['os']['family']`, or a `dig` where a part may be missing.
    pub(crate) fn access(self) -> Option<String> {
        let quoted = |path: &str| path.split('.').map(|part| format!("'{part}'")).collect::<Vec<_>>();
        match self {
            Same(path) => Some(format!("[{}]", quoted(path).join("]["))),
            SameIfThere(path) | Near(path) => Some(format!(".dig({})", quoted(path).join(", "))),
            Other(_) => None,
        }
    }

    /// What to write instead, for people.
    pub(crate) fn hint(self) -> String {
        match self {
            Same(_) | SameIfThere(_) | Near(_) => format!("$facts{}", self.access().unwrap_or_default()),
            Other(hint) => hint.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Structured, TABLE, begins_legacy, structured};

    #[test]
    fn the_table_is_sorted_and_leaves_modern_facts_alone() {
        assert!(TABLE.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for modern in [
            "is_virtual",
            "virtual",
            "kernel",
            "kernelversion",
            "timezone",
            "clientcert",
            "path",
            "os",
            "processors",
        ] {
            assert_eq!(structured(modern), None, "{modern}");
        }
        assert_eq!(structured("osfamily"), Some(Structured::Same("os.family")));
        assert!(matches!(structured("ipaddress_eth0"), Some(Structured::Other(_))));
        assert!(matches!(structured("processor0"), Some(Structured::Other(_))));
        assert!(begins_legacy("::macaddress_").is_some() && begins_legacy("processor").is_none());
    }
}
