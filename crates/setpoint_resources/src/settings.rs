//! The settings of tools that work for resources: useradd reads /etc/login.defs, dpkg and apt read their own, and what fetches from
//! other machines finds their names in /etc/hosts. Who changes them before a resource is made may change what becomes of it;
//! what they say is not read, so that it is assumed not to matter.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_state::{CellKind, Kind, Program};

use crate::attributes::Attributes;
use crate::commands::absolute_paths;
use crate::configurations::{Named, named_in};
use crate::entries::{Entry, Tracked};
use crate::machine::{Machine, absent, sequence, when};
use crate::mentions::ancestors;
use crate::{Assumption, Unit};

/// What useradd and adduser read.
pub(crate) const USERS: &[&str] = &["/etc/login.defs", "/etc/default/useradd", "/etc/adduser.conf"];
/// What groupadd reads.
pub(crate) const GROUPS: &[&str] = &["/etc/login.defs"];
/// What package managers read besides their archives; folders end with a slash.
pub(crate) const PACKAGES: &[&str] = &[
    "/etc/apt/apt.conf",
    "/etc/apt/apt.conf.d/",
    "/etc/apt/preferences",
    "/etc/apt/preferences.d/",
    "/etc/dnf/dnf.conf",
    "/etc/dpkg/dpkg.cfg",
    "/etc/dpkg/dpkg.cfg.d/",
    "/etc/yum.conf",
    "/usr/sbin/policy-rc.d",
];

/// What the scripts of packages read and bring no file of: what they make of a machine depends on it. A name that ends with a dash
/// stands for all that begin so.
const SCRIPTS: &[(&[&str], &[&str])] = &[
    (&["exim4-config", "postfix"], &["/etc/mailname"]),
    (&["tzdata"], &["/etc/localtime", "/etc/timezone"]),
    (&["keyboard-configuration", "console-setup"], &["/etc/default/keyboard"]),
    (&["postgresql-"], &["/etc/postgresql-common/createcluster.conf", "/etc/default/locale"]),
    (&["mariadb-server", "mariadb-server-", "mysql-server", "mysql-server-"], &["/etc/mysql/"]),
    (
        &["linux-image-"],
        &["/etc/default/grub", "/etc/initramfs-tools/", "/etc/kernel-img.conf", "/etc/modules"],
    ),
    (&["grub-"], &["/etc/default/grub", "/etc/default/grub.d/"]),
    (&["mdadm"], &["/etc/mdadm/mdadm.conf"]),
    (&["slapd"], &["/etc/ldap/ldap.conf"]),
    (&["krb5-kdc", "krb5-admin-server"], &["/etc/krb5.conf"]),
];

/// What is read when a package is installed.
pub(crate) fn of_package(name: &str) -> Vec<&'static str> {
    let is_meant = |known: &&str| *known == name || (known.ends_with('-') && name.starts_with(*known));
    let scripts = SCRIPTS.iter().filter(|(names, _)| names.iter().any(is_meant));
    PACKAGES.iter().chain(scripts.flat_map(|(_, places)| *places)).copied().collect()
}

/// Whether the catalog names any of them.
pub(crate) fn are_named(machine: &Machine<'_>) -> bool {
    let scripts = SCRIPTS.iter().flat_map(|(_, places)| *places);
    let places = USERS.iter().chain(PACKAGES).chain(scripts);
    let mut found = places.flat_map(|place| machine.mentions.matching(place, machine.world));
    found.any(|path| machine.mentions.is_named(&path))
}

/// How the names of machines become addresses.
const NAMES: &[&str] = &["/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/gai.conf"];
/// Whom to trust.
const CERTIFICATES: &[&str] = &[
    "/etc/ca-certificates.conf",
    "/etc/pki/ca-trust/",
    "/etc/pki/tls/",
    "/etc/ssl/certs/",
    "/etc/ssl/openssl.cnf",
    "/usr/local/share/ca-certificates/",
];
/// The package that brings them.
const TRUST: &str = "ca-certificates";
/// What ssh reads, besides its folder in the home of the user.
const SHELL: &[&str] = &["/etc/ssh/ssh_config", "/etc/ssh/ssh_config.d/", "/etc/ssh/ssh_known_hosts"];
/// What git, curl and wget read, besides their files in the home of the user.
const TOOLS: &[&str] = &["/etc/curlrc", "/etc/gitconfig", "/etc/wgetrc"];
const OF_USERS: &[&str] = &[".config/git/", ".curlrc", ".gitconfig", ".netrc", ".wgetrc"];
const HOSTS: &str = "/etc/hosts";

/// Remembers with which settings a resource was made, where they matter and need not come first.
pub(crate) fn read(machine: &mut Machine<'_>, resource: &Resource, places: &[&str]) -> Program {
    let found = places.iter().flat_map(|place| machine.mentions.matching(place, machine.world));
    let found: Vec<String> = found.filter(|path| machine.mentions.is_named(path)).collect();
    let mut steps = Vec::new();
    for path in found {
        let owner = machine.mentions.files.get(&path).copied();
        if owner.is_some_and(|owner| machine.comes_before(owner)) {
            continue;
        }
        let Some(source) = machine.path(&path) else { continue };
        let made = machine.made_from(CellKind::Other, &how_made(resource), &path);
        let mut copies = vec![Program::copy(made, source)];
        for tracked in machine.tracked(&path) {
            copies.push(copy_entry(machine, resource, &path, &tracked));
        }
        steps.push(if_it_matters(machine, resource, &path, copies));
    }
    sequence(steps)
}

/// Remembers with which settings something was fetched from an address, as a user.
pub(crate) fn read_to_fetch(
    machine: &mut Machine<'_>,
    resource: &Resource,
    address: &str,
    user: Option<&str>,
) -> Program {
    let Some(Address { host, is_encrypted, is_shell }) = Address::of(address) else { return Program::Skip };
    let home = machine.mentions.home(user.unwrap_or("root"));
    let of_user: Vec<String> = OF_USERS.iter().map(|name| format!("{home}/{name}")).collect();
    let folder = format!("{home}/.ssh/");
    let mut places: Vec<&str> = TOOLS.to_vec();
    places.extend(of_user.iter().map(String::as_str));
    if is_encrypted {
        places.extend(CERTIFICATES);
    }
    if is_shell {
        places.extend(SHELL);
        places.push(&folder);
    }
    let is_number = host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !is_number {
        places.extend(NAMES);
        if machine.mentions.files.contains_key(HOSTS) {
            places.push(HOSTS);
        }
    }
    let mut steps = vec![read(machine, resource, &places)];
    if is_encrypted && let Some(package) = machine.package_if_named(TRUST) {
        let made = machine.other(CellKind::Other, &how_made(resource), Some(&format!("the package {TRUST}")));
        steps.push(if_it_matters(machine, resource, TRUST, vec![Program::copy(made, package)]));
    }
    // Of the entries of other machines nothing is read.
    let names = machine.mentions.named_hosts.get(host).cloned().unwrap_or_default();
    for tracked in machine.tracked(HOSTS) {
        if let Entry::Row { kind: CellKind::Host, name, .. } = &tracked.entry
            && names.contains(&**name)
        {
            let copy = copy_entry(machine, resource, HOSTS, &tracked);
            steps.push(if_it_matters(machine, resource, &format!("{HOSTS} ({name})"), vec![copy]));
        }
    }
    sequence(steps)
}

/// What the configuration of a service names and a resource of the catalog makes.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum MadeFor {
    Path(String),
    User(String),
    Group(String),
    /// A machine, by the name of its entry in /etc/hosts.
    Machine(String),
}

/// What a service names in its configuration, and in the scripts that it runs, and what resources make, each with the resource.
fn made_for(machine: &Machine<'_>, catalog: &Catalog, service: &Unit) -> BTreeMap<MadeFor, ResourceId> {
    let mut found = BTreeMap::new();
    let named = named_by(machine, service);
    for path in named.paths.iter().flat_map(|path| machine.mentions.matching(path, machine.world)) {
        let is_folder = |path: &&str| {
            let declared = machine.mentions.declared.get(*path);
            declared.is_some_and(|kinds| kinds.contains(&Kind::Directory))
        };
        let folder = ancestors(&path).take(1).find(is_folder);
        for path in std::iter::once(path.as_str()).chain(folder) {
            if let Some(id) = machine.mentions.files.get(path) {
                found.insert(MadeFor::Path(path.to_owned()), *id);
            }
        }
    }
    let words: BTreeSet<String> = named.accounts.into_iter().chain(named.machines).collect();
    if words.is_empty() {
        return found;
    }
    for (id, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
        let name = resource.name_or_title("name");
        if !words.contains(&name) || resource.ensure().as_deref() == Some("absent") {
            continue;
        }
        match resource.type_name.as_str() {
            "User" if !machine.is_base_user(&name) => found.insert(MadeFor::User(name), id),
            "Group" if !machine.is_base_group(&name) => found.insert(MadeFor::Group(name), id),
            "Host" => found.insert(MadeFor::Machine(name), id),
            _ => None,
        };
    }
    found
}

/// What the contents name that a service reads and runs when it starts.
fn named_by(machine: &Machine<'_>, service: &Unit) -> Named {
    let mut named = Named::default();
    for path in crate::types::service::loads(machine, service) {
        let Some(content) = machine.mentions.script(&path, machine.world) else { continue };
        let more = named_in(&content);
        named.paths.extend(more.paths);
        named.accounts.extend(more.accounts);
        named.machines.extend(more.machines);
    }
    let scripts = machine.mentions.unit_file(service).programs.into_iter();
    let scripts = scripts.chain(service.paths().into_iter().filter(|path| path.starts_with("/etc/init.d/")));
    for script in scripts {
        let Some(content) = machine.mentions.script(&script, machine.world) else { continue };
        let code = content.lines().filter(|line| !line.trim_start().starts_with('#'));
        named.paths.extend(code.flat_map(absolute_paths).filter(|path| *path != script).map(str::to_owned));
    }
    named
}

/// Whether the configuration of a service names something that resources make.
pub(crate) fn are_in_configuration(machine: &Machine<'_>, catalog: &Catalog, service: &Unit) -> bool {
    !made_for(machine, catalog, service).is_empty()
}

/// Remembers which folders, users and groups were there that the configuration of a service names when it was started, where
/// they need not come first.
pub(crate) fn read_for_service(
    machine: &mut Machine<'_>,
    catalog: &Catalog,
    resource: &Resource,
    service: &Unit,
) -> Program {
    let mut steps = Vec::new();
    for (made, id) in made_for(machine, catalog, service) {
        if machine.comes_before(id) {
            continue;
        }
        let (name, cell, made) = match made {
            MadeFor::Path(path) => {
                let Some(cell) = machine.path(&path) else { continue };
                let made = machine.made_from(CellKind::Other, &how_made(resource), &path);
                (path, cell, made)
            }
            MadeFor::User(name) => {
                let name_of_cell = format!("the user {name}");
                let made = machine.other(CellKind::Other, &how_made(resource), Some(&name_of_cell));
                (name_of_cell, machine.user(&name), made)
            }
            MadeFor::Machine(name) => {
                let is_own = |tracked: &Tracked| matches!(&tracked.entry, Entry::Row { kind: CellKind::Host, name: row, .. } if **row == *name);
                let Some(tracked) = machine.tracked(HOSTS).into_iter().find(is_own) else { continue };
                let name_of_cell = format!("the address of {name}");
                let made = machine.other(CellKind::Other, &how_made(resource), Some(&name_of_cell));
                (name_of_cell, tracked.cell, made)
            }
            MadeFor::Group(name) => {
                let name_of_cell = format!("the group {name}");
                let made = machine.other(CellKind::Other, &how_made(resource), Some(&name_of_cell));
                (name_of_cell, machine.group(&name), made)
            }
        };
        let matters =
            machine.other(CellKind::Other, &resource.reference(), Some(&format!("(it needs {name})")));
        let assumption = Assumption::NamedByConfiguration { what: name, service: resource.reference() };
        machine.assume_start(absent(matters), assumption);
        steps.push(when(absent(matters).negate(), Program::copy(made, cell)));
    }
    sequence(steps)
}

/// The machine that something is fetched from, and how.
struct Address<'a> {
    host: &'a str,
    is_encrypted: bool,
    is_shell: bool,
}

impl<'a> Address<'a> {
    /// Reads `https://user@host:8080/path`, and `host:path` as git and NFS have it; `None` for what is on this machine.
    fn of(address: &'a str) -> Option<Self> {
        let (scheme, rest) = match address.split_once("://") {
            Some((scheme, rest)) => (scheme, rest),
            None => (
                "",
                address.split_once(':').map(|(before, _)| before).filter(|before| !before.contains('/'))?,
            ),
        };
        if ["file", "puppet"].contains(&scheme) {
            return None;
        }
        let authority = rest.split('/').next().unwrap_or(rest);
        let host = authority.rsplit('@').next().unwrap_or(authority);
        let host = host.split(':').next().unwrap_or(host);
        let is_shell = scheme.is_empty() || scheme.contains("ssh");
        (!host.is_empty()).then_some(Self { host, is_encrypted: scheme.ends_with('s'), is_shell })
    }
}

fn how_made(resource: &Resource) -> String {
    format!("how {} was made", resource.reference())
}

/// Remembers an entry of a file.
fn copy_entry(machine: &mut Machine<'_>, resource: &Resource, path: &str, tracked: &Tracked) -> Program {
    let part = format!("{path}: {:?}", tracked.entry);
    let made = machine.other(CellKind::Other, &how_made(resource), Some(&part));
    Program::copy(made, tracked.cell)
}

/// Does what remembers settings if they matter, which they are assumed not to.
fn if_it_matters(
    machine: &mut Machine<'_>,
    resource: &Resource,
    path: &str,
    copies: Vec<Program>,
) -> Program {
    let name = resource.reference();
    let matters = machine.other(CellKind::Other, &name, Some(&format!("({path} matters to it)")));
    let assumption = Assumption::Settings { path: path.to_owned(), resource: name };
    machine.assume_start(absent(matters), assumption);
    when(absent(matters).negate(), sequence(copies))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_its_machine() {
        let host = |text: &str| Address::of(text).map(|address| address.host.to_owned());
        assert_eq!(host("https://me@files.corp:8443/a:b"), Some("files.corp".to_owned()));
        assert_eq!(host("git@git.corp:team/app.git"), Some("git.corp".to_owned()));
        assert_eq!(host("nas:/export"), Some("nas".to_owned()));
        assert_eq!(host("/dev/sdb1"), None);
        assert_eq!(host("/srv/git:x/app.git"), None);
        assert_eq!(host("puppet:///modules/app/x.tgz"), None);
        assert_eq!(host("file:///srv/x"), None);
    }
}
