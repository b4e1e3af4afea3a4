//! The settings of tools that work for resources: useradd reads /etc/login.defs, dpkg and apt read their own, and what fetches from
//! other machines finds their names in /etc/hosts. Who changes them before a resource is made may change what becomes of it;
//! what they say is not read, so that it is assumed not to matter.

use setpoint_catalog::Resource;
use setpoint_state::{CellKind, Program};

use crate::Assumption;
use crate::entries::{Entry, Tracked};
use crate::machine::{Machine, absent, sequence, when};

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

/// Whether the catalog names any of them.
pub(crate) fn are_named(machine: &Machine<'_>) -> bool {
    let places = USERS.iter().chain(PACKAGES);
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
