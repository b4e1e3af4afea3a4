//! Pairs of small catalogs that a seed decides: a few resources of a table, and the same after a few changes.

use std::collections::BTreeSet;
use std::fmt::Write;

use setpoint_source::Random;

/// A type with a model: its titles, and its parameters with values as a manifest has them. An empty value leaves the parameter
/// out.
struct Kind {
    name: &'static str,
    titles: &'static [&'static str],
    parameters: &'static [(&'static str, &'static [&'static str])],
}

/// The types and parameters that have models and that Puppet can apply in a root of its own.
const TABLE: &[Kind] = &[
    Kind {
        name: "file",
        titles: &["/srv/a", "/srv/b", "/srv/d/x"],
        parameters: &[
            ("ensure", &["file", "file", "present", "absent", ""]),
            ("content", &["\"x\\n\"", "\"y\\n\"", "''", "\"x\\n\"", ""]),
            ("mode", &["", "", "'0600'", "'0644'", "'0755'"]),
            ("owner", &["", "", "'daemon'", "'root'"]),
            ("group", &["", "", "", "'adm'"]),
            ("replace", &["", "", "", "", "false"]),
            ("backup", &["", "", "", "'.bak'", "false"]),
            ("force", &["", "", "", "true"]),
            ("validate_cmd", &["", "", "", "", "'/usr/bin/test -f %'", "'/bin/false %'"]),
            ("links", &["", "", "", "manage", "follow"]),
        ],
    },
    Kind {
        name: "file",
        titles: &["/srv/d"],
        parameters: &[
            ("ensure", &["directory"]),
            ("mode", &["", "'0700'", "'0755'"]),
            ("recurse", &["", "true", "true"]),
            ("recurselimit", &["", "", "1"]),
            ("purge", &["", "true"]),
            ("force", &["", "true"]),
            ("ignore", &["", "", "'x'"]),
        ],
    },
    Kind {
        name: "file",
        titles: &["/srv/l"],
        parameters: &[("ensure", &["link", "link", "absent"]), ("target", &["'/srv/a'", "'/srv/b'"])],
    },
    Kind {
        name: "file",
        titles: &["/srv/s"],
        parameters: &[
            ("path", &["", "", "'/srv/s'"]),
            (
                "source",
                &[
                    "'puppet:///modules/m/file'",
                    "'puppet:///modules/m/link'",
                    "['puppet:///modules/m/none', 'puppet:///modules/m/file']",
                    "'/etc/hosts.allow'",
                ],
            ),
            ("links", &["", "", "follow", "manage"]),
            ("mode", &["", "'0600'"]),
            ("replace", &["", "", "", "false"]),
        ],
    },
    Kind {
        name: "file",
        titles: &["/srv/r"],
        parameters: &[
            ("ensure", &["directory"]),
            ("source", &["'puppet:///modules/m/tree'", "'puppet:///modules/m/linked'"]),
            ("recurse", &["true", "remote", "true"]),
            ("recurselimit", &["", "1", "2"]),
            ("purge", &["", "true"]),
            ("force", &["", "true"]),
            ("ignore", &["", "", "'a'"]),
            ("mode", &["", "", "'0700'"]),
        ],
    },
    Kind {
        name: "file",
        titles: &["/etc/web.conf"],
        parameters: &[
            ("content", &["\"x\\n\"", "\"y\\n\"", "\"z\\n\""]),
            ("mode", &["", "'0600'", "'0640'"]),
        ],
    },
    Kind {
        name: "service",
        titles: &["web"],
        parameters: &[
            ("ensure", &["running", "running", "stopped", ""]),
            ("enable", &["", "true", "false"]),
            ("restart", &["", "", "'systemctl reload web'", "'/bin/false'"]),
            ("name", &["", "", "'web'"]),
        ],
    },
    Kind {
        name: "package",
        titles: &["foo", "bar"],
        parameters: &[
            ("ensure", &["installed", "present", "absent", "purged", "latest", "'1.0'"]),
            ("provider", &["", "", "apt"]),
        ],
    },
    Kind {
        name: "exec",
        titles: &["e1", "e2", "e3"],
        parameters: &[
            (
                "command",
                &[
                    "'touch /srv/t'",
                    "'true'",
                    "'false'",
                    "'false'",
                    "'mkdir -p /srv/k'",
                    "'rm -f /srv/t'",
                    "'test -f /srv/t'",
                ],
            ),
            ("path", &["'/usr/bin:/bin'"]),
            ("creates", &["", "", "", "'/srv/t'"]),
            ("unless", &["", "", "", "'test -f /srv/t'", "'test -d /srv/k'"]),
            ("onlyif", &["", "", "", "", "'test -f /srv/a'"]),
            ("refreshonly", &["", "", "true"]),
            ("refresh", &["", "", "", "", "'touch /srv/again'", "'false'", "'rm /srv/t'"]),
            ("returns", &["", "", "", "", "1", "[0, 1]"]),
            ("tries", &["", "", "", "", "2"]),
            ("cwd", &["", "", "", "", "'/srv'", "'/srv/k'"]),
            ("user", &["", "", "", "", "", "", "", "'root'", "'root'", "'daemon'", "'alice'"]),
            ("group", &["", "", "", "", "", "'adm'"]),
            ("environment", &["", "", "", "'X=1'"]),
            ("provider", &["", "", "", "posix", "shell"]),
        ],
    },
    Kind {
        name: "user",
        titles: &["alice"],
        parameters: &[
            ("ensure", &["present", "present", "absent"]),
            ("uid", &["", "", "2001", "2002"]),
            ("gid", &["", "", "", "'adm'", "'staff'"]),
            ("home", &["", "'/home/alice'", "'/srv/home'"]),
            ("managehome", &["", "", "true"]),
            ("shell", &["", "'/bin/sh'", "'/bin/bash'"]),
            ("comment", &["", "'one'", "'two'"]),
            ("groups", &["", "'adm'", "['adm', 'staff']"]),
            ("membership", &["", "", "inclusive", "minimum"]),
            ("password", &["", "", "'!'", "'*'"]),
            ("password_max_age", &["", "", "90"]),
            ("allowdupe", &["", "", "true"]),
        ],
    },
    Kind {
        name: "group",
        titles: &["team"],
        parameters: &[
            ("ensure", &["present", "present", "absent"]),
            ("gid", &["", "'3000'", "'3001'"]),
            ("allowdupe", &["", "", "true"]),
        ],
    },
    Kind {
        name: "cron",
        titles: &["job"],
        parameters: &[
            ("ensure", &["", "present", "absent"]),
            ("command", &["'/bin/true'", "'/bin/false'"]),
            ("user", &["root"]),
            ("special", &["", "", "", "daily"]),
            ("minute", &["'5'", "'10'", "[0, 30]", ""]),
            ("hour", &["", "'3'"]),
            ("weekday", &["", "", "'1'"]),
            ("month", &["", "", "'6'"]),
            ("monthday", &["", "", "'15'"]),
            ("environment", &["", "", "'A=1'"]),
        ],
    },
    Kind {
        name: "host",
        titles: &["h1", "h2"],
        parameters: &[
            ("ensure", &["", "present", "absent"]),
            ("ip", &["'10.0.0.1'", "'10.0.0.2'"]),
            ("host_aliases", &["", "", "'h3'"]),
            ("comment", &["", "", "'one'"]),
        ],
    },
    Kind {
        name: "mount",
        titles: &["/srv/m"],
        parameters: &[
            ("ensure", &["mounted", "present", "unmounted", "absent"]),
            ("device", &["'/dev/sda1'", "'/dev/sdb1'"]),
            ("fstype", &["ext4"]),
            ("options", &["'defaults'", "'noatime'"]),
            ("pass", &["", "", "1"]),
            ("dump", &["", "", "1"]),
        ],
    },
    Kind {
        name: "ssh_authorized_key",
        titles: &["k1"],
        parameters: &[
            ("ensure", &["", "present", "absent"]),
            ("user", &["root"]),
            ("type", &["'ssh-rsa'"]),
            ("key", &["'AAAA'", "'BBBB'"]),
            ("options", &["", "", "'no-pty'"]),
        ],
    },
    Kind {
        name: "file_line",
        titles: &["line"],
        parameters: &[
            ("ensure", &["", "", "absent"]),
            ("path", &["'/etc/hosts.allow'"]),
            ("line", &["'one'", "'two'"]),
            ("match", &["", "", "", "'^one'"]),
            ("multiple", &["", "", "true"]),
            ("replace", &["", "", "", "false"]),
        ],
    },
    Kind {
        name: "ini_setting",
        titles: &["setting"],
        parameters: &[
            ("ensure", &["", "present", "absent"]),
            ("path", &["'/srv/i'"]),
            ("section", &["'s'"]),
            ("setting", &["'k'"]),
            ("value", &["'1'", "'2'"]),
            ("key_val_separator", &["", "", "'='"]),
        ],
    },
    Kind {
        name: "ini_subsetting",
        titles: &["subsetting"],
        parameters: &[
            ("ensure", &["", "present", "absent"]),
            ("path", &["'/srv/j'"]),
            ("section", &["'s'"]),
            ("setting", &["'k'"]),
            ("subsetting", &["'-a'", "'-b'"]),
            ("value", &["'1'", "'2'"]),
        ],
    },
    Kind {
        name: "sshkey",
        // References to it need its full name.
        titles: &["h1@ssh-rsa"],
        parameters: &[
            ("ensure", &["", "present", "absent"]),
            ("type", &["'ssh-rsa'"]),
            ("key", &["'AAAA'", "'BBBB'"]),
            ("target", &["'/srv/known'"]),
            ("host_aliases", &["", "", "'h3'"]),
        ],
    },
    Kind {
        name: "mailalias",
        titles: &["hostmaster"],
        parameters: &[
            ("ensure", &["", "present", "absent"]),
            ("recipient", &["'root'", "'alice'"]),
            ("target", &["'/etc/aliases'"]),
        ],
    },
    Kind { name: "resources", titles: &["host"], parameters: &[("purge", &["true", "false"])] },
    Kind {
        name: "tidy",
        // What commands make, and what a resource declares, which it leaves alone.
        titles: &["/srv/t", "/srv/m"],
        parameters: &[
            ("recurse", &["", "true", "1"]),
            ("matches", &["", "", "'t'", "'*'"]),
            ("rmdirs", &["", "true"]),
            ("age", &["", "", "", "'1w'"]),
            ("size", &["", "", "", "'1k'"]),
        ],
    },
    Kind { name: "anchor", titles: &["a1"], parameters: &[] },
    Kind { name: "notify", titles: &["n1", "n2"], parameters: &[("message", &["'one'", "'two'", ""])] },
];

/// What holds in every pair: the file that lines are put into, the point of the mount, and schedules.
const ALWAYS: &str = "file { '/etc/hosts.allow': ensure => file }\nfile { '/srv/m': ensure => directory }\n\
                      schedule { 'no': period => never }\nschedule { 'any': }\n";

#[derive(Clone, Debug, PartialEq, Eq)]
struct Resource {
    kind: usize,
    title: &'static str,
    /// The place of each parameter's value in the table.
    values: Vec<usize>,
    /// A parameter that every type has.
    common: Option<&'static str>,
}

/// What keeps a resource from being applied, and what does not.
const COMMON: &[&str] = &["noop => true", "schedule => 'no'", "schedule => 'any'"];

/// A relationship, by the places of resources in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Edge {
    from: usize,
    to: usize,
    notifies: bool,
}

#[derive(Clone, Debug, Default)]
struct Manifest {
    resources: Vec<Resource>,
    edges: Vec<Edge>,
    /// So many of the first are in a class.
    inside: usize,
}

/// Two manifests of one node.
pub(crate) struct Pair {
    pub(crate) old: String,
    pub(crate) new: String,
    /// Paths and packages that are there before the old one is applied.
    pub(crate) already: Vec<&'static str>,
}

/// What may be there before: each is what some resource of the table declares.
const ALREADY: &[&str] = &["/srv/a", "/srv/b", "/srv/d", "/etc/web.conf", "foo", "alice", "/srv/t", "/srv/k"];

/// Makes the pair of a seed.
pub(crate) fn pair(seed: u64, is_plain: bool) -> Pair {
    let mut random = Random::new(seed);
    let old = manifest(&mut random);
    let mut new = old.clone();
    for _ in 0..2 + random.below(4) {
        change(&mut new, &mut random);
    }
    let there = |random: &mut Random| {
        let some = ALREADY.iter().copied().filter(|_| random.once_in(2));
        some.collect()
    };
    let mut already: Vec<&str> = if is_plain { Vec::new() } else { there(&mut random) };
    let (old, new) = (old.text(), new.text());
    // Of a user that commands have and nothing declares it is told that it is assumed to exist.
    let names = |part: &str| old.contains(part) || new.contains(part);
    if is_plain && names("user => 'alice'") && !names("\nuser { 'alice'") {
        already.push("alice");
    }
    Pair { old, new, already }
}

fn resource(random: &mut Random) -> Resource {
    let mut kind = random.below(TABLE.len());
    // What runs and what is restarted meets most.
    if random.once_in(4) {
        let active = ["exec", "exec", "service"];
        let name = *random.pick(&active);
        kind = TABLE.iter().position(|one| one.name == name).unwrap_or(kind);
    }
    let Kind { titles, parameters, .. } = &TABLE[kind];
    let title = *random.pick(titles);
    let values = parameters.iter().map(|(_, values)| random.below(values.len())).collect();
    let common = random.once_in(20).then(|| *random.pick(COMMON));
    Resource { kind, title, values, common }
}

impl Resource {
    fn reference(&self) -> String {
        let name = TABLE[self.kind].name;
        format!("{}{}['{}']", name[..1].to_uppercase(), &name[1..], self.title)
    }

    fn is(&self, other: &Self) -> bool {
        self.reference() == other.reference()
    }
}

fn manifest(random: &mut Random) -> Manifest {
    let mut manifest = Manifest::default();
    for _ in 0..4 + random.below(6) {
        add(&mut manifest, random);
    }
    for _ in 0..random.below(2 * manifest.resources.len() + 2) {
        relate(&mut manifest, random);
    }
    if random.once_in(4) {
        manifest.inside = random.below(manifest.resources.len());
    }
    manifest
}

fn add(manifest: &mut Manifest, random: &mut Random) {
    let new = resource(random);
    // A file below a folder needs it.
    if new.title == "/srv/d/x" && !manifest.resources.iter().any(|known| known.title == "/srv/d") {
        return;
    }
    if !manifest.resources.iter().any(|known| known.is(&new)) {
        manifest.resources.push(new);
    }
}

/// An edge from an earlier resource to a later one, so that there is no circle.
fn relate(manifest: &mut Manifest, random: &mut Random) {
    let count = manifest.resources.len();
    let (one, other) = (random.below(count), random.below(count));
    if one == other {
        return;
    }
    let edge = Edge { from: one.min(other), to: one.max(other), notifies: !random.once_in(3) };
    let goes_against_links = |edge: &Edge| {
        // Puppet itself puts a folder before what is in it, and a user before its jobs.
        let (from, to) = (&manifest.resources[edge.from], &manifest.resources[edge.to]);
        from.title.starts_with(to.title) || (to.title == "/srv/d" && from.title.starts_with("/srv/d"))
    };
    if !goes_against_links(&edge)
        && !manifest.edges.iter().any(|known| known.from == edge.from && known.to == edge.to)
    {
        manifest.edges.push(edge);
    }
}

fn change(manifest: &mut Manifest, random: &mut Random) {
    match random.below(10) {
        0 | 1 => add(manifest, random),
        2 | 3 if manifest.resources.len() > 1 => {
            let at = random.below(manifest.resources.len());
            let is_needed = manifest.resources[at].title == "/srv/d";
            if !is_needed {
                remove(manifest, at);
            }
        }
        4 => relate(manifest, random),
        5 if !manifest.edges.is_empty() => {
            let at = random.below(manifest.edges.len());
            if random.once_in(2) {
                manifest.edges.remove(at);
            } else {
                manifest.edges[at].notifies ^= true;
            }
        }
        _ => {
            let at = random.below(manifest.resources.len());
            let one = &mut manifest.resources[at];
            let parameters = TABLE[one.kind].parameters;
            if parameters.is_empty() {
                return;
            }
            let parameter = random.below(parameters.len());
            one.values[parameter] = random.below(parameters[parameter].1.len());
        }
    }
}

fn remove(manifest: &mut Manifest, at: usize) {
    manifest.resources.remove(at);
    manifest.edges.retain(|edge| edge.from != at && edge.to != at);
    for edge in &mut manifest.edges {
        edge.from -= usize::from(edge.from > at);
        edge.to -= usize::from(edge.to > at);
    }
    manifest.inside -= usize::from(manifest.inside > at);
}

impl Manifest {
    fn text(&self) -> String {
        let mut text = ALWAYS.to_owned();
        if self.inside > 0 {
            text += "class part {\n";
            (0..self.inside).for_each(|at| self.declare(at, &mut text));
            text += "}\ninclude part\n";
        }
        (self.inside..self.resources.len()).for_each(|at| self.declare(at, &mut text));
        for Edge { from, to, notifies } in &self.edges {
            let arrow = if *notifies { "~>" } else { "->" };
            let (from, to) = (self.resources[*from].reference(), self.resources[*to].reference());
            let _ = writeln!(text, "{from} {arrow} {to}");
        }
        text
    }

    fn declare(&self, at: usize, text: &mut String) {
        let Resource { kind, title, values, common } = &self.resources[at];
        let Kind { name, parameters, .. } = &TABLE[*kind];
        let _ = write!(text, "{name} {{ '{title}':");
        for ((parameter, choices), &value) in parameters.iter().zip(values) {
            let value = choices[value];
            if !value.is_empty() {
                let _ = write!(text, " {parameter} => {value},");
            }
        }
        if let Some(common) = common {
            let _ = write!(text, " {common},");
        }
        text.push_str(" }\n");
    }
}

/// The types of the table, for a test that all of them occur.
pub(crate) fn kinds() -> BTreeSet<&'static str> {
    TABLE.iter().map(|kind| kind.name).collect()
}

/// The parameters of the table, each with its type.
pub(crate) fn parameters() -> BTreeSet<(&'static str, &'static str)> {
    let named = TABLE.iter().flat_map(|kind| kind.parameters.iter().map(|(name, _)| (kind.name, *name)));
    named.collect()
}
