//! A start of a plan on a real machine: packages, files, users and services as its cells say.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_judge::{Node, Package, Placed};
use setpoint_packages::{Found, Index, PackageFacts};
use setpoint_resources::{Assumption, Base, Modelled, packaged_content};
use setpoint_state::{CellKey, CellKind, Kind, State, Value};

use crate::notation::Start;
use crate::observe::follow;

/// What `service NAME VERB` does on a machine with systemd.
const SERVICE: &str = "#!/bin/sh\nexec systemctl \"$2\" \"$1\"\n";
/// Accounts of the root of a trial, which are there without a word.
const ACCOUNTS: &str = "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n\
                        _apt:x:42:65534::/nonexistent:/usr/sbin/nologin\n\
                        nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
const GROUPS: &str = "root:x:0:\ndaemon:x:1:\nadm:x:4:\nshadow:x:42:\nstaff:x:50:\nnogroup:x:65534:\n";

pub(crate) struct Stage<'a> {
    pub(crate) modelled: &'a Modelled,
    pub(crate) packages: &'a Index,
    pub(crate) base: &'a Base,
    /// Files that are served: their address below `puppet:///`.
    pub(crate) served: &'a [String],
}

impl Stage<'_> {
    /// The machine of a state; what no program mentions is some value of its kind.
    pub(crate) fn start(&self, state: &State) -> Start {
        let mut start = Start { packages: self.stand_ins(state), ..Start::default() };
        for path in &self.base.directories {
            start.nodes.push(placed(path, directory()));
        }
        for assumed in &self.modelled.assumptions {
            if let Assumption::ExistingDirectory { path } = &assumed.assumption {
                start.nodes.push(placed(path, directory()));
            }
        }
        let mut mounts = BTreeSet::new();
        for address in self.served {
            let content = format!("(as in puppet:///{address})");
            let in_module = address.strip_prefix("modules/").and_then(|rest| rest.split_once('/'));
            let path = if let Some((module, path)) = in_module {
                format!("/modules/{module}/files/{path}")
            } else {
                mounts.extend(address.split('/').next());
                format!("/mounts/{address}")
            };
            start.nodes.push(placed(&path, file(&content)));
        }
        if !mounts.is_empty() {
            let served: Vec<String> =
                mounts.iter().map(|name| format!("[{name}]\n  path /mounts/{name}\n")).collect();
            let served = served.concat();
            start.nodes.push(placed("/var/lib/puppet/conf/fileserver.conf", file(&served)));
        }
        start
            .nodes
            .push(placed("/usr/sbin/service", Node { mode: Some("0755".to_owned()), ..file(SERVICE) }));
        start.nodes.extend(self.accounts(state));
        let units = self.units();
        let script = |text: &str| Node { mode: Some("0755".to_owned()), ..file(text) };
        start.nodes.extend(units.iter().map(|(path, text)| placed(path, script(text))));
        for (key, _) in self.cells(CellKind::Running) {
            start
                .nodes
                .push(placed(&format!("/var/lib/services/{}", key.name), file(&self.reads(&key.name))));
        }
        start.then = self.paths(state, &start.packages);
        start.then.extend(self.services(state, &start.packages));
        start
    }

    fn cells(&self, kind: CellKind) -> impl Iterator<Item = (&CellKey, setpoint_state::CellId)> {
        self.modelled
            .plan
            .space
            .iter()
            .filter(move |(_, cell)| cell.key.kind == kind)
            .map(|(id, cell)| (&cell.key, id))
    }

    fn has(&self, path: &str) -> bool {
        self.modelled.plan.space.find(&CellKey::path(path)).is_some()
    }

    /// Small packages with what the plan can see of the real ones.
    fn stand_ins(&self, state: &State) -> Vec<Package> {
        let names: BTreeMap<&str, bool> = self
            .cells(CellKind::Package)
            .filter(|(key, _)| key.detail.is_none())
            .map(|(key, id)| (&*key.name, *state.get(id) != Value::Absent))
            .collect();
        names
            .iter()
            .map(|(name, installed)| {
                let mut package = match self.packages.find(name) {
                    Ok(Found::Package(facts)) => self.stand_in(&facts),
                    _ => Package::default(),
                };
                (*name).clone_into(&mut package.name);
                "1.0".clone_into(&mut package.version);
                package.installed = *installed;
                // dpkg lets a package disappear whose every path another package has, too.
                package.files.insert(format!("/usr/share/doc/{name}/copyright"), String::new());
                let needed = self.packages.dependencies(name).map(|found| found.packages).unwrap_or_default();
                let needed: Vec<String> = needed
                    .iter()
                    .map(ToString::to_string)
                    .filter(|other| other != name && names.contains_key(other.as_str()))
                    .collect();
                package.depends = (!needed.is_empty()).then(|| needed.join(", "));
                package
            })
            .collect()
    }

    fn stand_in(&self, facts: &PackageFacts) -> Package {
        let mut package = Package::default();
        let seen = |path: &str| self.has(&follow(path));
        for path in facts.files.iter().filter(|path| seen(path)) {
            let path = follow(path);
            let text = self.content(&facts.name, &path);
            package.files.insert(path, text);
        }
        package.conffiles =
            facts.conffiles.iter().filter(|path| seen(path)).map(|path| follow(path)).collect();
        package.directories = facts
            .directories
            .iter()
            .chain(&facts.generated_directories)
            .filter(|path| seen(path))
            .map(|path| follow(path))
            .collect();
        let mut script = String::new();
        for group in facts.groups.iter().map(|group| &group.name) {
            script += &format!("getent group {group} >/dev/null || groupadd -r {group}\n");
        }
        for user in facts.users.iter().map(|user| &user.name) {
            script += &format!(
                "getent passwd {user} >/dev/null || if getent group {user} >/dev/null; then useradd -r -g {user} {user}; else useradd -r -U {user}; fi\n"
            );
        }
        for path in facts.generated.iter().filter(|path| seen(path)) {
            let text = packaged_content(&facts.name, path);
            script += &format!(
                "[ -e {path} ] || {{ mkdir -p $(dirname {path}); printf '%s' '{text}' >{path}; }}\n"
            );
        }
        let services: BTreeSet<&str> = facts.services.iter().map(|service| &*service.name).collect();
        for name in services.into_iter().filter(|name| self.is_service(name)) {
            // As dh_installsystemd has it.
            script += &format!(
                "if [ \"$1\" = configure ]; then systemctl enable {name}; systemctl start {name}; fi\n"
            );
        }
        if !script.is_empty() {
            package.scripts.insert("postinst".to_owned(), script);
        }
        package
    }

    fn is_service(&self, name: &str) -> bool {
        self.cells(CellKind::Running).any(|(key, _)| &*key.name == name)
    }

    /// A file of a package. The script of a service does what it is told.
    fn content(&self, package: &str, path: &str) -> String {
        let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".service");
        if Self::unit_paths(name).iter().any(|unit| unit == path) && self.is_service(name) {
            return Self::unit(name);
        }
        // A comment, for the tools that read the file.
        format!("# as {package} brings it\n")
    }

    fn unit_paths(name: &str) -> [String; 3] {
        [
            format!("/etc/systemd/system/{name}.service"),
            format!("/usr/lib/systemd/system/{name}.service"),
            format!("/etc/init.d/{name}"),
        ]
    }

    fn unit(name: &str) -> String {
        format!("#!/bin/sh\nexec systemctl \"$1\" {name}\n")
    }

    /// What a service loads, for the stand-in of systemd.
    fn reads(&self, name: &str) -> String {
        let loads = self.cells(CellKind::Loaded).filter(|(key, _)| &*key.name == name);
        let paths = loads.filter_map(|(key, _)| key.detail.as_deref());
        paths.map(|path| format!("Reads={path}\n")).collect::<Vec<_>>().concat()
    }

    /// Units of the services that the platform is taken to have.
    fn units(&self) -> Vec<(String, String)> {
        self.cells(CellKind::Running)
            .filter(|(key, _)| !Self::unit_paths(&key.name).iter().any(|path| self.has(path)))
            .flat_map(|(key, _)| {
                let unit = format!("/etc/systemd/system/{}.service", key.name);
                [unit, format!("/etc/init.d/{}", key.name)].map(|path| (path, Self::unit(&key.name)))
            })
            .collect()
    }

    /// What is at each path, after packages were installed.
    fn paths(&self, state: &State, packages: &[Package]) -> Vec<Placed> {
        let mut nodes: BTreeMap<&str, Node> = BTreeMap::new();
        for (key, id) in self.cells(CellKind::Path) {
            if stands_for_others(&key.name) || self.base.directories.contains(&*key.name) {
                continue;
            }
            let value = state.get(id);
            let node = match value {
                Value::Absent => Node { kind: "absent".to_owned(), ..Node::default() },
                Value::Directory => directory(),
                Value::Link(target) => {
                    Node { kind: "link".to_owned(), target: Some(target.to_string()), ..Node::default() }
                }
                other => file(&text(other, packages, &key.name)),
            };
            nodes.insert(&key.name, node);
        }
        // What is in the home of a user is the user's own.
        for (key, id) in self.cells(CellKind::User).filter(|(key, _)| key.detail.is_none()) {
            let home = format!("/home/{}", key.name);
            let inside = |path: &str| {
                path.strip_prefix(&home).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if *state.get(id) != Value::Absent {
                for (_, node) in nodes.iter_mut().filter(|(path, node)| inside(path) && node.kind != "absent")
                {
                    node.owner = Some(key.name.to_string());
                }
            }
        }
        for (kind, usual) in
            [(CellKind::Mode, "0640"), (CellKind::Owner, "daemon"), (CellKind::Group, "daemon")]
        {
            for (key, id) in self.cells(kind) {
                let Some(node) = nodes.get_mut(&*key.name).filter(|node| node.kind != "absent") else {
                    continue;
                };
                let value = match state.get(id) {
                    Value::Text(text) => Some(text.to_string()),
                    Value::Fresh(..) => Some(usual.to_owned()),
                    _ => None,
                };
                match kind {
                    CellKind::Mode => node.mode = value,
                    CellKind::Owner => node.owner = value,
                    _ => node.group = value,
                }
            }
        }
        nodes.into_iter().map(|(path, node)| placed(path, node)).collect()
    }

    fn accounts(&self, state: &State) -> Vec<Placed> {
        let there = |kind: CellKind| -> BTreeSet<String> {
            self.cells(kind)
                .filter(|(key, id)| key.detail.is_none() && *state.get(*id) != Value::Absent)
                .map(|(key, _)| key.name.to_string())
                .collect()
        };
        let (mut users, mut groups) = (there(CellKind::User), there(CellKind::UserGroup));
        users.extend(self.base.users.iter().cloned());
        groups.extend(self.base.groups.iter().cloned());
        let known = |list: &str, name: &str| list.lines().any(|line| line.split(':').next() == Some(name));
        let (mut passwd, mut shadow, mut group) =
            (ACCOUNTS.to_owned(), "root:*:19000:0:99999:7:::\n".to_owned(), GROUPS.to_owned());
        let mut number = 2000;
        for name in users.union(&groups).cloned().collect::<BTreeSet<String>>() {
            number += 1;
            if users.contains(&name) && !known(ACCOUNTS, &name) {
                let home = self.user_detail(state, &name, "home").unwrap_or_else(|| format!("/home/{name}"));
                passwd += &format!("{name}:x:{number}:{number}::{home}:/bin/sh\n");
                shadow += &format!("{name}:*:19000:0:99999:7:::\n");
            }
            if groups.contains(&name) && !known(GROUPS, &name) {
                group += &format!("{name}:x:{number}:\n");
            }
        }
        vec![
            placed("/etc/passwd", file(&passwd)),
            placed("/etc/group", file(&group)),
            placed("/etc/shadow", file(&shadow)),
        ]
    }

    fn user_detail(&self, state: &State, user: &str, detail: &str) -> Option<String> {
        let key = CellKey::with_detail(CellKind::User, user, detail);
        match state.get(self.modelled.plan.space.find(&key)?) {
            Value::Text(text) => Some(text.to_string()),
            _ => None,
        }
    }

    /// What runs, with what it has loaded, and what starts at boot.
    fn services(&self, state: &State, packages: &[Package]) -> Vec<Placed> {
        let mut nodes = Vec::new();
        for (key, id) in self.cells(CellKind::Running) {
            let name = &key.name;
            if *state.get(id) != Value::text("running") {
                for path in [format!("/run/services/{name}"), format!("/run/services/{name}.loaded")] {
                    nodes.push(placed(&path, Node { kind: "absent".to_owned(), ..Node::default() }));
                }
                continue;
            }
            nodes.push(placed(&format!("/run/services/{name}"), file("up\n")));
            for (loaded, id) in self.cells(CellKind::Loaded).filter(|(loaded, _)| loaded.name == *name) {
                let path = loaded.detail.as_deref().unwrap_or_default();
                let value = state.get(id);
                if value.kind() == Kind::File {
                    let copy = format!("/run/services/{name}.loaded/{}", path.replace('/', "%"));
                    nodes.push(placed(&copy, file(&text(value, packages, path))));
                }
            }
        }
        for (key, id) in self.cells(CellKind::Enabled) {
            let link = format!("/etc/systemd/system/multi-user.target.wants/{}.service", key.name);
            nodes.push(placed(&link, Node { kind: "absent".to_owned(), ..Node::default() }));
            if *state.get(id) == Value::text("true") {
                let target = Some("/etc/init.d".to_owned());
                nodes.push(placed(&link, Node { kind: "link".to_owned(), target, ..Node::default() }));
            }
        }
        nodes
    }
}

/// Whether a name stands for all that nothing names. A file of such a name can be put there, and is what a purged folder loses.
pub(crate) fn stands_for_others(name: &str) -> bool {
    name.ends_with(')') && !name.ends_with("/(another file)")
}

fn placed(path: &str, node: Node) -> Placed {
    Placed { path: path.to_owned(), node }
}

fn directory() -> Node {
    Node { kind: "directory".to_owned(), ..Node::default() }
}

fn file(content: &str) -> Node {
    Node { kind: "file".to_owned(), content: Some(content.to_owned()), ..Node::default() }
}

/// A content on the machine; that of a package is what its stand-in brings.
fn text(value: &Value, packages: &[Package], path: &str) -> String {
    match value {
        Value::File(text) => packages
            .iter()
            .find(|package| **text == *packaged_content(&package.name, path))
            .and_then(|package| package.files.get(path).cloned())
            .unwrap_or_else(|| text.to_string()),
        Value::Fresh(_, number) => format!("(some other content, number {number})\n"),
        _ => String::new(),
    }
}
