//! How cases write down what is there at the start.
//!
//! ```text
//! /srv/file = "content\n" 0640 alice:adm
//! /srv/directory/ 0700
//! /srv/link -> /srv/file
//! user alice /home/alice
//! group team
//! service web running enabled reads /etc/web.conf
//! after packages:
//! /etc/web.conf = "changed later\n"
//! ```
//!
//! Packages are written so; a package without a line of its own is not known to apt:
//!
//! ```text
//! web 1.0 installed depends lib recommends mail
//!   /etc/web.conf = "default\n" conffile
//!   /opt/web/
//!   user web
//!   starts web
//! ```
//!
//! An input `modules/web/files/x` is what `puppet:///modules/web/x` gives; `setpoint.toml` declares models.

use std::collections::BTreeMap;

use setpoint_config::Config;
use setpoint_judge::{Node, Package, Placed};
use setpoint_resources::{Source, Sources};
use setpoint_testing::Case;

#[derive(Debug, Default)]
pub(crate) struct Start {
    pub(crate) nodes: Vec<Placed>,
    pub(crate) then: Vec<Placed>,
    pub(crate) packages: Vec<Package>,
    /// The users that the scripts of packages create.
    pub(crate) package_users: Vec<(String, String)>,
    /// Whether installing a package starts a service.
    pub(crate) packages_start_services: bool,
    pub(crate) config: Config,
    pub(crate) served: Served,
}

/// The files of modules, by the path in their file server.
#[derive(Debug, Default)]
pub(crate) struct Served(BTreeMap<String, String>);

impl Sources for Served {
    fn get(&self, address: &str) -> Option<Source> {
        let path = address.strip_prefix("puppet:///modules/")?.trim_end_matches('/');
        self.find(path)
    }
}

impl Served {
    fn find(&self, path: &str) -> Option<Source> {
        if let Some(content) = self.0.get(path) {
            return Some(Source::File(content.as_str().into()));
        }
        let prefix = format!("{path}/");
        let below = self.0.keys().filter_map(|other| other.strip_prefix(&prefix)?.split('/').next());
        let names: std::collections::BTreeSet<&str> = below.collect();
        let children = names
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), self.find(&format!("{prefix}{name}"))?)));
        (!names.is_empty()).then(|| Source::Directory(children.collect()))
    }
}

/// All that a case says about the machine and its surroundings.
pub(crate) fn read(case: &Case) -> Result<Start, String> {
    let input = |name: &str| case.input(name).unwrap_or_default();
    let mut start = start(input("start"), input("packages"))?;
    if let Some(text) = case.input("setpoint.toml") {
        let mut files = setpoint_source::MemoryFileSystem::new();
        files.add("setpoint.toml", text.to_owned());
        let path = std::path::Path::new("setpoint.toml");
        let (config, said) = setpoint_config::load(&files, &setpoint_source::Sources::new(), path)
            .map_err(|error| error.to_string())?;
        if let Some(said) = said.first() {
            return Err(format!("setpoint.toml: {}", said.message));
        }
        start.config = config;
    }
    for section in &case.inputs {
        let Some((module, path)) =
            section.name.strip_prefix("modules/").and_then(|rest| rest.split_once("/files/"))
        else {
            continue;
        };
        start.served.0.insert(format!("{module}/{path}"), section.text.clone());
        start.nodes.push(file(&format!("/{}", section.name), &section.text));
    }
    Ok(start)
}

const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n\
                      _apt:x:42:65534::/nonexistent:/usr/sbin/nologin\n\
                      nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
const GROUP: &str = "root:x:0:\ndaemon:x:1:\nadm:x:4:\nshadow:x:42:\nstaff:x:50:\nnogroup:x:65534:\n";

fn start(text: &str, packages: &str) -> Result<Start, String> {
    let mut start = Start::default();
    let (mut passwd, mut shadow) = (PASSWD.to_owned(), String::new());
    let mut groups: Vec<(String, usize, Vec<String>)> = Vec::new();
    let mut later = false;
    let mut next = 2000;
    for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["after", "packages:"] => later = true,
            ["user", name, rest @ ..] => {
                next += 1;
                let default = format!("/home/{name}");
                let home = rest.first().copied().unwrap_or(&default);
                passwd += &format!("{name}:x:{next}:{next}::{home}:/bin/sh\n");
                shadow += &format!("{name}:*:19000:0:99999:7:::\n");
                groups.push(((*name).to_owned(), next, Vec::new()));
            }
            ["group", name, members @ ..] => {
                next += 1;
                groups.push((
                    (*name).to_owned(),
                    next,
                    members.iter().map(|name| (*name).to_owned()).collect(),
                ));
            }
            ["service", name, rest @ ..] => {
                let reads: Vec<&str> =
                    rest.iter().skip_while(|word| **word != "reads").skip(1).copied().collect();
                let unit: Vec<String> = reads.iter().map(|path| format!("Reads={path}\n")).collect();
                let path = format!("/etc/systemd/system/{name}.service");
                start.nodes.push(file(&path, &format!("[Service]\n{}", unit.concat())));
                if rest.contains(&"running") {
                    start.nodes.push(file(&format!("/run/services/{name}"), "up\n"));
                }
                if rest.contains(&"enabled") {
                    let link = format!("/etc/systemd/system/multi-user.target.wants/{name}.service");
                    start.nodes.push(Placed {
                        path: link,
                        node: Node { kind: "link".to_owned(), target: Some(path), ..Node::default() },
                    });
                }
            }
            _ => {
                let placed = placed(line)?;
                if later { start.then.push(placed) } else { start.nodes.push(placed) }
            }
        }
    }
    if !groups.is_empty() {
        let group: Vec<String> = groups
            .iter()
            .map(|(name, id, members)| format!("{name}:x:{id}:{}\n", members.join(",")))
            .collect();
        let accounts = [
            file("/etc/passwd", &passwd),
            file("/etc/group", &format!("{GROUP}{}", group.concat())),
            file("/etc/shadow", &format!("root:*:19000:0:99999:7:::\n{shadow}")),
        ];
        start.nodes.splice(0..0, accounts);
    }
    read_packages(packages, &mut start)?;
    Ok(start)
}

fn file(path: &str, content: &str) -> Placed {
    Placed {
        path: path.to_owned(),
        node: Node { kind: "file".to_owned(), content: Some(content.to_owned()), ..Node::default() },
    }
}

/// A path with its content and attributes.
fn placed(line: &str) -> Result<Placed, String> {
    let (mut node, path, rest);
    if let Some((left, right)) = line.split_once(" = ") {
        let (text, after) = quoted(right)?;
        node = Node { kind: "file".to_owned(), content: Some(text), ..Node::default() };
        (path, rest) = (left.trim(), after);
    } else if let Some((left, right)) = line.split_once(" -> ") {
        node = Node { kind: "link".to_owned(), target: Some(right.trim().to_owned()), ..Node::default() };
        (path, rest) = (left.trim(), "");
    } else {
        let (left, right) = line.split_once(' ').unwrap_or((line, ""));
        if !left.ends_with('/') {
            return Err(format!("the start has a line that is not understood: {line}"));
        }
        node = Node { kind: "directory".to_owned(), ..Node::default() };
        (path, rest) = (left.trim_end_matches('/'), right);
    }
    for word in rest.split_whitespace() {
        if let Some((owner, group)) = word.split_once(':') {
            node.owner = Some(owner.to_owned());
            node.group = Some(group.to_owned());
        } else if word.bytes().all(|byte| byte.is_ascii_digit()) {
            node.mode = Some(word.to_owned());
        }
    }
    Ok(Placed { path: path.to_owned(), node })
}

/// A text in JSON's quotes, and what follows.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let content = stream.next().and_then(Result::ok).ok_or_else(|| format!("no text in quotes: {text}"))?;
    let at = stream.byte_offset();
    Ok((content, &text[at..]))
}

fn read_packages(text: &str, start: &mut Start) -> Result<(), String> {
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if !line.starts_with(' ') {
            let mut words = line.split_whitespace();
            let mut package = Package {
                name: words.next().unwrap_or_default().to_owned(),
                version: words.next().unwrap_or("1.0").to_owned(),
                ..Package::default()
            };
            let mut rest = words.peekable();
            while let Some(word) = rest.next() {
                match word {
                    "installed" => package.installed = true,
                    "depends" => package.depends = rest.next().map(str::to_owned),
                    "recommends" => package.recommends = rest.next().map(str::to_owned),
                    other => return Err(format!("a package has a word that is not understood: {other}")),
                }
            }
            start.packages.push(package);
            continue;
        }
        let package = start.packages.last_mut().ok_or("a line of a package comes before its name")?;
        let line = line.trim();
        if let Some(user) = line.strip_prefix("user ") {
            start.package_users.push((package.name.clone(), user.to_owned()));
            let script = package.scripts.entry("postinst".to_owned()).or_default();
            *script += &format!("getent passwd {user} >/dev/null || useradd -r {user}\n");
        } else if let Some(service) = line.strip_prefix("starts ") {
            start.packages_start_services = true;
            let scripts = &mut package.scripts;
            *scripts.entry("postinst".to_owned()).or_default() +=
                &format!("systemctl enable {service}\nsystemctl start {service}\n");
            *scripts.entry("prerm".to_owned()).or_default() += &format!("systemctl stop {service}\n");
        } else if line.ends_with('/') {
            package.directories.push(line.trim_end_matches('/').to_owned());
        } else {
            let (path, rest) = line.split_once(" = ").ok_or_else(|| format!("not understood: {line}"))?;
            let (content, after) = quoted(rest)?;
            if after.contains("conffile") {
                package.conffiles.push(path.to_owned());
            }
            package.files.insert(path.to_owned(), content);
        }
    }
    Ok(())
}

/// The index that the models see of the packages.
pub(crate) fn index(start: &Start) -> setpoint_packages::Index {
    let mut collection = setpoint_packages::Collection::new();
    let mut newest: BTreeMap<&str, &Package> = BTreeMap::new();
    for package in &start.packages {
        newest.insert(&package.name, package);
    }
    for package in newest.values() {
        collection.set_listed(&package.name);
        for path in package.files.keys() {
            collection.add_file(&package.name, path);
        }
        for path in &package.directories {
            collection.add_directory(&package.name, path);
        }
        collection.set_conffiles(&package.name, package.conffiles.iter().map(String::as_str));
        for name in package.depends.iter().flat_map(|names| names.split(',')) {
            collection.add_depends(&package.name, vec![name.trim().into()]);
        }
        for name in package.recommends.iter().flat_map(|names| names.split(',')) {
            collection.add_recommends(&package.name, vec![name.trim().into()]);
        }
    }
    for (package, user) in &start.package_users {
        let user = setpoint_packages::User {
            name: user.as_str().into(),
            group: Some(user.as_str().into()),
            home: None,
        };
        collection.add_user(package, user);
    }
    setpoint_packages::Index::from_bytes(collection.to_bytes()).expect("an index that was just made is read")
}
