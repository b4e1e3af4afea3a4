//! The flat facts of old. Facter 4 still gives them, and modules still read them.

use serde_json::{Map, Value};

/// The flat facts that follow from the structured ones.
pub(crate) fn of(facts: &Map<String, Value>) -> Map<String, Value> {
    let mut flat = Map::new();
    for (name, path) in COPIES {
        if let Some(value) = at(facts, path) {
            flat.insert((*name).to_owned(), value.clone());
        }
    }
    for (name, path) in MEGABYTES {
        if let Some(bytes) = at(facts, path).and_then(Value::as_f64) {
            flat.insert((*name).to_owned(), (bytes / 1024.0 / 1024.0).into());
        }
    }
    interfaces(facts, &mut flat);
    disks(facts, &mut flat);
    keys(facts, &mut flat);
    if let Some(models) = at(facts, "processors.models").and_then(Value::as_array) {
        for (number, model) in models.iter().enumerate() {
            flat.insert(format!("processor{number}"), model.clone());
        }
    }
    flat
}

fn at<'a>(facts: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let mut parts = path.split('.');
    let mut value = facts.get(parts.next()?)?;
    for part in parts {
        value = value.get(part)?;
    }
    Some(value)
}

fn interfaces(facts: &Map<String, Value>, flat: &mut Map<String, Value>) {
    let Some(interfaces) = at(facts, "networking.interfaces").and_then(Value::as_object) else { return };
    let names: Vec<&str> = interfaces.keys().map(String::as_str).collect();
    flat.insert("interfaces".to_owned(), names.join(",").into());
    for (interface, settings) in interfaces {
        for (key, name) in [
            ("ip", "ipaddress"),
            ("ip6", "ipaddress6"),
            ("mac", "macaddress"),
            ("mtu", "mtu"),
            ("netmask", "netmask"),
            ("netmask6", "netmask6"),
            ("network", "network"),
            ("network6", "network6"),
            ("scope6", "scope6"),
        ] {
            if let Some(value) = settings.get(key) {
                flat.insert(format!("{name}_{interface}"), value.clone());
            }
        }
    }
}

fn disks(facts: &Map<String, Value>, flat: &mut Map<String, Value>) {
    let Some(disks) = facts.get("disks").and_then(Value::as_object) else { return };
    let names: Vec<&str> = disks.keys().map(String::as_str).collect();
    flat.insert("blockdevices".to_owned(), names.join(",").into());
    for (disk, settings) in disks {
        for (key, name) in [("size_bytes", "size"), ("vendor", "vendor"), ("model", "model")] {
            if let Some(value) = settings.get(key) {
                flat.insert(format!("blockdevice_{disk}_{name}"), value.clone());
            }
        }
    }
}

fn keys(facts: &Map<String, Value>, flat: &mut Map<String, Value>) {
    let Some(keys) = facts.get("ssh").and_then(Value::as_object) else { return };
    for (kind, settings) in keys {
        if let Some(key) = settings.get("key") {
            flat.insert(format!("ssh{kind}key"), key.clone());
        }
        let print = |digest: &str| {
            settings.get("fingerprints").and_then(|all| all.get(digest)).and_then(Value::as_str)
        };
        if let (Some(sha1), Some(sha256)) = (print("sha1"), print("sha256")) {
            flat.insert(format!("sshfp_{kind}"), format!("{sha1}\n{sha256}").into());
        }
    }
}

const COPIES: &[(&str, &str)] = &[
    ("architecture", "os.architecture"),
    ("augeasversion", "augeas.version"),
    ("bios_release_date", "dmi.bios.release_date"),
    ("bios_vendor", "dmi.bios.vendor"),
    ("bios_version", "dmi.bios.version"),
    ("boardmanufacturer", "dmi.board.manufacturer"),
    ("boardproductname", "dmi.board.product"),
    ("boardserialnumber", "dmi.board.serial_number"),
    ("chassistype", "dmi.chassis.type"),
    ("domain", "networking.domain"),
    ("fqdn", "networking.fqdn"),
    ("gid", "identity.group"),
    ("hardwareisa", "processors.isa"),
    ("hardwaremodel", "os.hardware"),
    ("hostname", "networking.hostname"),
    ("id", "identity.user"),
    ("ipaddress", "networking.ip"),
    ("ipaddress6", "networking.ip6"),
    ("lsbdistcodename", "os.distro.codename"),
    ("lsbdistdescription", "os.distro.description"),
    ("lsbdistid", "os.distro.id"),
    ("lsbdistrelease", "os.distro.release.full"),
    ("lsbmajdistrelease", "os.distro.release.major"),
    ("lsbminordistrelease", "os.distro.release.minor"),
    ("macaddress", "networking.mac"),
    ("macosx_buildversion", "os.macosx.build"),
    ("macosx_productname", "os.macosx.product"),
    ("macosx_productversion", "os.macosx.version.full"),
    ("macosx_productversion_major", "os.macosx.version.major"),
    ("macosx_productversion_minor", "os.macosx.version.minor"),
    ("macosx_productversion_patch", "os.macosx.version.patch"),
    ("manufacturer", "dmi.manufacturer"),
    ("memoryfree", "memory.system.available"),
    ("memorysize", "memory.system.total"),
    ("netmask", "networking.netmask"),
    ("netmask6", "networking.netmask6"),
    ("network", "networking.network"),
    ("network6", "networking.network6"),
    ("operatingsystem", "os.name"),
    ("operatingsystemmajrelease", "os.release.major"),
    ("operatingsystemrelease", "os.release.full"),
    ("osfamily", "os.family"),
    ("physicalprocessorcount", "processors.physicalcount"),
    ("processorcount", "processors.count"),
    ("productname", "dmi.product.name"),
    ("rubyplatform", "ruby.platform"),
    ("rubysitedir", "ruby.sitedir"),
    ("rubyversion", "ruby.version"),
    ("scope6", "networking.scope6"),
    ("selinux", "os.selinux.enabled"),
    ("selinux_config_mode", "os.selinux.config_mode"),
    ("selinux_config_policy", "os.selinux.config_policy"),
    ("selinux_current_mode", "os.selinux.current_mode"),
    ("selinux_enforced", "os.selinux.enforced"),
    ("selinux_policyversion", "os.selinux.policy_version"),
    ("serialnumber", "dmi.product.serial_number"),
    ("swapfree", "memory.swap.available"),
    ("swapsize", "memory.swap.total"),
    ("system32", "os.windows.system32"),
    ("uptime", "system_uptime.uptime"),
    ("uptime_days", "system_uptime.days"),
    ("uptime_hours", "system_uptime.hours"),
    ("uptime_seconds", "system_uptime.seconds"),
    ("uuid", "dmi.product.uuid"),
    ("windows_edition_id", "os.windows.edition_id"),
    ("windows_installation_type", "os.windows.installation_type"),
    ("windows_product_name", "os.windows.product_name"),
    ("windows_release_id", "os.windows.release_id"),
    ("zonename", "solaris_zones.current"),
];

const MEGABYTES: &[(&str, &str)] = &[
    ("memoryfree_mb", "memory.system.available_bytes"),
    ("memorysize_mb", "memory.system.total_bytes"),
    ("swapfree_mb", "memory.swap.available_bytes"),
    ("swapsize_mb", "memory.swap.total_bytes"),
];
