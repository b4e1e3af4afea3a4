//! Resources that each are an entry of a file: hosts, mounts, cron jobs, keys, mail aliases, lines and settings.

use setpoint_catalog::conversion::{DAYS, MONTHS};
use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_state::{CellId, CellKey, CellKind, Kind, Program, Reach, Test, Value};

use super::{Model, Type, small};
use crate::attributes::{Attributes, shared};
use crate::commands::Effect;
use crate::entries::{Entry, Expression, SEVERAL};
use crate::machine::{Machine, absent, all, any, choose, never, parent, sequence, when};
use crate::mentions::Mentions;
use crate::table::{Row, Scope, Values};
use crate::{Assumption, World};

const ANYWAY: &str = "what Puppet does anyway";
const OTHER_PLATFORM: &str = "only other platforms look at it";
const REPORTED: &str = "the words of a report";
const SPACES: &str = "spaces that no reader sees";
const GONE: &str = "what is absent has no properties";

/// Declares a type whose resources are entries of files.
macro_rules! entry_type {
    ($(#[$doc:meta])* $name:ident, $type:literal, $rows:expr) => {
        $(#[$doc])*
        pub(crate) struct $name;

        impl Type for $name {
            fn name(&self) -> &'static str {
                $type
            }

            fn rows(&self) -> &'static [Row] {
                const { $rows }
            }

            fn mention(&self, mentions: &mut Mentions, _id: ResourceId, resource: &Resource, world: &World<'_>) {
                mention(mentions, resource, world);
            }

            fn model(&self, machine: &mut Machine<'_>, _catalog: &Catalog, resource: &Resource) -> Model {
                model(machine, resource)
            }

            fn declares(&self, _resource: &Resource, _path: Option<&str>, key: &CellKey) -> bool {
                key.kind != CellKind::Path && !crate::entries::is_place(key)
            }
        }
    };
}

entry_type!(
    /// `host`: a line of /etc/hosts.
    Host,
    "Host",
    &[
        Row::modelled("name").of(Values::Single),
        Row::modelled("ensure").words(&["present", "absent"]),
        Row::modelled("ip").of(Values::Single),
        Row::modelled("host_aliases"),
        Row::moot("comment", GONE).with(&["absent"]),
        Row::kept("comment"),
        Row::modelled("target").of(Values::Single),
        Row::inert("provider", ANYWAY).words(&["parsed"]),
    ]
);

entry_type!(
    /// `mount`: a line of /etc/fstab, and whether it is mounted.
    Mount,
    "Mount",
    &[
        Row::modelled("name").of(Values::Single),
        Row::modelled("ensure").words(&["present", "defined", "unmounted", "absent", "mounted"]),
        Row::modelled("device").of(Values::Single),
        Row::moot("blockdevice", OTHER_PLATFORM),
        Row::modelled("fstype").of(Values::Single),
        Row::modelled("options").of(Values::Single),
        Row::modelled("pass").of(Values::Single),
        Row::moot("atboot", OTHER_PLATFORM),
        Row::modelled("dump").of(Values::Single),
        Row::modelled("target").of(Values::Single),
        Row::inert("remounts", "how a mounted file system is mounted anew"),
        Row::inert("provider", ANYWAY).words(&["parsed"]),
    ]
);

entry_type!(
    /// `cron`: a job of a crontab.
    Cron,
    "Cron",
    &[
        Row::modelled("name").of(Values::Single),
        Row::modelled("ensure").words(&["present", "absent"]),
        Row::modelled("command").of(Values::Single),
        Row::modelled("special").of(Values::Single),
        Row::modelled("minute"),
        Row::modelled("hour"),
        Row::modelled("weekday"),
        Row::modelled("month"),
        Row::modelled("monthday"),
        Row::modelled("environment"),
        Row::modelled("user").of(Values::Single),
        Row::modelled("target").of(Values::Single),
        Row::inert("provider", ANYWAY).words(&["crontab"]),
    ]
);

entry_type!(
    /// `ssh_authorized_key`: a line of authorized_keys.
    SshAuthorizedKey,
    "Ssh_authorized_key",
    &[
        Row::modelled("name").of(Values::Single),
        Row::modelled("ensure").words(&["present", "absent"]),
        Row::modelled("type").of(Values::Single),
        Row::modelled("key").of(Values::Single),
        Row::modelled("user").of(Values::Single),
        Row::modelled("target").of(Values::Single),
        Row::modelled("options"),
        Row::modelled("drop_privileges").words(&["true", "false", "yes", "no"]),
        Row::inert("provider", ANYWAY).words(&["parsed"]),
    ]
);

entry_type!(
    /// `sshkey`: a line of ssh_known_hosts.
    Sshkey,
    "Sshkey",
    &[
        Row::modelled("name").of(Values::Single),
        Row::modelled("ensure").words(&["present", "absent"]),
        Row::modelled("type").of(Values::Single),
        Row::modelled("key").of(Values::Single),
        Row::modelled("host_aliases"),
        Row::modelled("target").of(Values::Single),
        Row::inert("provider", ANYWAY).words(&["parsed"]),
    ]
);

entry_type!(
    /// `mailalias`: a line of /etc/aliases.
    Mailalias,
    "Mailalias",
    &[
        Row::modelled("name").of(Values::Single),
        Row::modelled("ensure").words(&["present", "absent"]),
        Row::modelled("recipient"),
        Row::open("file", Scope::Own),
        Row::modelled("target").of(Values::Single),
        Row::inert("provider", ANYWAY).words(&["aliases"]),
    ]
);

entry_type!(
    /// `file_line` of stdlib.
    FileLine,
    "File_line",
    &[
        Row::inert("name", "a name"),
        Row::modelled("ensure").words(&["present", "absent"]),
        Row::modelled("line").of(Values::Single),
        Row::modelled("match").of(Values::Single),
        Row::modelled("match_for_absence").words(&["true", "false"]),
        Row::modelled("multiple").words(&["true", "false"]),
        Row::open("after", Scope::Own),
        Row::modelled("path").of(Values::Single),
        Row::modelled("replace").words(&["true", "false"]),
        Row::inert("replace_all_matches_not_matching_line", ANYWAY).words(&["false"]),
        Row::open("replace_all_matches_not_matching_line", Scope::Own),
        Row::inert("encoding", ANYWAY).words(&["UTF-8"]),
        Row::open("encoding", Scope::Own),
        Row::modelled("append_on_no_match").words(&["true", "false"]),
        Row::inert("provider", ANYWAY).words(&["ruby"]),
    ]
);

entry_type!(
    /// `ini_setting` of inifile.
    IniSetting,
    "Ini_setting",
    &[
        Row::inert("name", "a name"),
        Row::modelled("ensure").words(&["present", "absent"]),
        Row::modelled("value"),
        Row::modelled("section").of(Values::Single),
        Row::modelled("setting").of(Values::Single),
        Row::inert("force_new_section_creation", ANYWAY).words(&["true", "yes"]),
        Row::open("force_new_section_creation", Scope::Own),
        Row::modelled("path").of(Values::Single),
        Row::inert("show_diff", REPORTED),
        Row::modelled("key_val_separator").of(Values::Single),
        Row::inert("section_prefix", ANYWAY).words(&["["]),
        Row::open("section_prefix", Scope::Own),
        Row::inert("section_suffix", ANYWAY).words(&["]"]),
        Row::open("section_suffix", Scope::Own),
        Row::inert("indent_char", SPACES),
        Row::inert("indent_width", SPACES),
        Row::modelled("refreshonly").words(&["true", "false", "yes", "no"]),
        Row::inert("provider", ANYWAY).words(&["ruby"]),
    ]
);

entry_type!(
    /// `ini_subsetting` of inifile.
    IniSubsetting,
    "Ini_subsetting",
    &[
        Row::inert("name", "a name"),
        Row::modelled("ensure").words(&["present", "absent"]),
        Row::modelled("value"),
        Row::modelled("section").of(Values::Single),
        Row::modelled("setting").of(Values::Single),
        Row::modelled("subsetting").of(Values::Single),
        Row::inert("subsetting_separator", ANYWAY).words(&[" "]),
        Row::open("subsetting_separator", Scope::Own),
        Row::inert("subsetting_key_val_separator", ANYWAY).words(&[""]),
        Row::open("subsetting_key_val_separator", Scope::Own),
        Row::modelled("path").of(Values::Single),
        Row::inert("show_diff", REPORTED),
        Row::modelled("key_val_separator").of(Values::Single),
        Row::open("quote_char", Scope::Own),
        Row::inert("use_exact_match", ANYWAY).words(&["false"]),
        Row::open("use_exact_match", Scope::Own),
        Row::inert("insert_type", ANYWAY).words(&["end"]),
        Row::open("insert_type", Scope::Own),
        Row::open("insert_value", Scope::Own),
        Row::inert("delete_if_empty", ANYWAY).words(&["false"]),
        Row::open("delete_if_empty", Scope::Own),
        Row::inert("provider", ANYWAY).words(&["ruby"]),
    ]
);

entry_type!(
    /// `augeas`: what its changes name.
    Augeas,
    "Augeas",
    &[
        Row::inert("name", "a name"),
        Row::modelled("context").of(Values::Single),
        Row::modelled("onlyif").of(Values::Single),
        Row::modelled("changes"),
        Row::inert("root", ANYWAY).words(&["/"]),
        Row::open("root", Scope::Everything),
        Row::inert("load_path", "where lenses are looked for"),
        Row::inert("force", ANYWAY).words(&["false"]),
        Row::open("force", Scope::Own),
        Row::inert("type_check", "whether lenses are checked"),
        Row::inert("lens", "how a file is read into a tree, by whose paths its parts are told apart"),
        Row::modelled("incl").of(Values::Single),
        Row::inert("show_diff", REPORTED),
        Row::inert("returns", ANYWAY).words(&["0"]),
        Row::inert("provider", ANYWAY).words(&["augeas"]),
    ]
);

entry_type!(
    /// `shellvar` of augeasproviders: a variable of a shell script.
    Shellvar,
    "Shellvar",
    &[
        Row::modelled("ensure").words(&["present", "absent"]),
        Row::open("ensure", Scope::Own),
        Row::inert("name", "a name"),
        Row::modelled("variable").of(Values::Single),
        Row::modelled("value"),
        Row::modelled("target").of(Values::Single),
        Row::open("quoted", Scope::Own),
        Row::open("array_type", Scope::Own),
        Row::open("array_append", Scope::Own),
        Row::open("comment", Scope::Own),
        Row::open("uncomment", Scope::Own),
        Row::inert("provider", ANYWAY).words(&["augeas"]),
    ]
);

entry_type!(
    /// `nova_config` and its kin: settings of a file that bears the name of the service.
    Configuration,
    "(settings)",
    &[
        Row::modelled("name").of(Values::Single),
        Row::modelled("ensure").words(&["present", "absent"]),
        Row::modelled("value"),
        Row::modelled("path").of(Values::Single),
        Row::modelled("secret").words(&["true", "false", "yes", "no"]),
        Row::open("ensure_absent_val", Scope::Own),
        Row::open("raw_value", Scope::Own),
        Row::open("key_val_separator", Scope::Own),
        Row::open("uri", Scope::Own),
        Row::inert("show_diff", REPORTED),
    ]
);

/// Notes the entries that a resource manages, and where.
fn mention(mentions: &mut Mentions, resource: &Resource, world: &World<'_>) {
    if resource.type_name.as_str() == "Mount" {
        let name = resource.name_or_title("name");
        mentions.add_path(&name, world);
        if let Some(point) = mentions.canonical(&name, world)
            && ["mounted", "unmounted", "absent"]
                .iter()
                .any(|word| resource.ensure().as_deref() == Some(word))
        {
            mentions.mount_points.insert(point, name);
        }
        if resource.ensure().as_deref() == Some("mounted") {
            mentions.looks_for(mount_helper(resource).into_iter().collect());
        }
    }
    if resource.type_name.as_str() == "Host" {
        let name = resource.name_or_title("name");
        for known in resource.texts("host_aliases").into_iter().chain([name.clone()]) {
            mentions.named_hosts.entry(known).or_default().insert(name.clone());
        }
    }
    if !mentions.row(resource, world) {
        mentions.parameters(resource, world);
    }
}

/// An entry that a resource manages.
#[derive(Clone, Debug)]
pub(crate) struct ManagedEntry {
    pub(crate) path: String,
    pub(crate) entry: Entry,
    /// `None`: it should be absent.
    pub(crate) value: Option<String>,
    /// The type reads its file once, before its first resource, and writes it from what it has read.
    remembers: bool,
    /// The user whose file it is.
    user: Option<String>,
    /// Whether that user writes it.
    as_user: bool,
    /// What happens if there is no file.
    missing: Missing,
    /// The value must not be shown.
    is_secret: bool,
    /// Nothing says that it is this file.
    is_guessed: bool,
}

impl ManagedEntry {
    /// Whether the file is made where it is missing.
    pub(crate) fn makes_file(&self) -> bool {
        self.missing == Missing::Create
    }

    /// The user as whom the file is written, and whose own the file must be, or else what is above it.
    pub(crate) fn written_as_user(&self) -> (&str, Vec<&str>) {
        match &self.user {
            Some(user) if matches!(self.entry, Entry::Key(_)) && user != "root" && self.as_user => {
                (user, std::iter::successors(Some(self.path.as_str()), |path| parent(path)).take(3).collect())
            }
            _ => ("root", Vec::new()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    Create,
    Fail,
}

const CRONTAB: &str = "/usr/bin/crontab";

/// The entries that a resource manages; none if its type is no editor.
pub(crate) fn rows(resource: &Resource, mentions: &Mentions) -> Vec<ManagedEntry> {
    let absent = resource.ensure().as_deref() == Some("absent");
    let row = |path: String, entry: Entry, value: String, remembers: bool| ManagedEntry {
        path,
        entry,
        value: (!absent).then_some(value),
        remembers,
        user: None,
        as_user: false,
        missing: Missing::Create,
        is_secret: false,
        is_guessed: false,
    };
    let type_name = resource.type_name.as_str();
    match type_name {
        "Host" => {
            let name = resource.name_or_title("name");
            let path = resource.text("target").unwrap_or_else(|| "/etc/hosts".to_owned());
            let mut words: Vec<String> = resource.text("ip").into_iter().collect();
            words.push(name.clone());
            words.extend(resource.texts("host_aliases"));
            let managed = vec![resource.has("ip"), true, resource.has("host_aliases")];
            let entry = Entry::Row { kind: CellKind::Host, name: shared(&name), column: 1, managed };
            vec![row(path, entry, words.join(" "), true)]
        }
        "Mount" => {
            let name = resource.name_or_title("name");
            let path = resource.text("target").unwrap_or_else(|| "/etc/fstab".to_owned());
            let mut words: Vec<String> = resource.text("device").into_iter().collect();
            words.push(name.clone());
            words.extend(resource.text("fstype"));
            words.extend(resource.text("options"));
            words.push(resource.text("dump").unwrap_or_else(|| "0".to_owned()));
            words.push(resource.text("pass").unwrap_or_else(|| "0".to_owned()));
            let has = |name: &str| resource.has(name);
            let managed = vec![has("device"), true, has("fstype"), has("options"), true];
            let entry = Entry::Row { kind: CellKind::Mount, name: shared(&name), column: 1, managed };
            vec![row(path, entry, words.join(" "), true)]
        }
        "Cron" => {
            let name = resource.name_or_title("name");
            let user = resource
                .text("user")
                .or_else(|| resource.text("target"))
                .unwrap_or_else(|| "root".to_owned());
            let mut lines = resource.texts("environment");
            let command = resource.text("command").unwrap_or_default();
            lines.push(match resource.text("special") {
                Some(special) if special != "absent" => format!("@{special} {command}"),
                _ => {
                    let field = |name: &str| {
                        let values = resource.texts(name);
                        let values: Vec<String> = values.iter().map(|value| number_of(name, value)).collect();
                        if values.is_empty() { "*".to_owned() } else { values.join(",") }
                    };
                    let fields =
                        [field("minute"), field("hour"), field("monthday"), field("month"), field("weekday")];
                    format!("{} {command}", fields.join(" "))
                }
            });
            let path = mentions.crontab(&user);
            let job = row(path, Entry::Job(shared(&name)), lines.join("\n"), true);
            vec![ManagedEntry { user: Some(user), ..job }]
        }
        "Ssh_authorized_key" => {
            let name = resource.name_or_title("name");
            let user = resource.text("user");
            let path = match (resource.text("target"), &user) {
                (Some(target), _) => target,
                (None, Some(user)) => format!("{}/.ssh/authorized_keys", mentions.home(user)),
                (None, None) => return Vec::new(),
            };
            let mut words: Vec<String> = Vec::new();
            let options = resource.texts("options");
            if !options.is_empty() {
                words.push(options.join(","));
            }
            let kind = resource.text("type").unwrap_or_else(|| "ssh-rsa".to_owned());
            words.push(match kind.as_str() {
                "rsa" => "ssh-rsa".to_owned(),
                "dsa" => "ssh-dss".to_owned(),
                "ed25519" => "ssh-ed25519".to_owned(),
                _ => kind,
            });
            words.push(resource.text("key").unwrap_or_default());
            words.push(name.clone());
            let key = row(path, Entry::Key(shared(&name)), words.join(" "), true);
            vec![ManagedEntry { user, as_user: resource.flag("drop_privileges") != Some(false), ..key }]
        }
        "Sshkey" => {
            let name = resource.name_or_title("name");
            let path = resource.text("target").unwrap_or_else(|| "/etc/ssh/ssh_known_hosts".to_owned());
            let mut names = vec![name.clone()];
            names.extend(resource.texts("host_aliases"));
            let value = format!(
                "{} {} {}",
                names.join(","),
                resource.text("type").unwrap_or_default(),
                resource.text("key").unwrap_or_default()
            );
            let managed = vec![resource.has("host_aliases"), true];
            let entry = Entry::Row { kind: CellKind::Key, name: shared(&name), column: 0, managed };
            vec![row(path, entry, value, true)]
        }
        "Mailalias" => {
            let name = resource.name_or_title("name");
            let path = resource.text("target").unwrap_or_else(|| "/etc/aliases".to_owned());
            let entry =
                Entry::Setting { section: shared(""), setting: shared(&name), separator: shared(":") };
            vec![row(path, entry, resource.texts("recipient").join(","), true)]
        }
        "File_line" => {
            let Some(path) = resource.text("path") else { return Vec::new() };
            let line = resource.text("line").unwrap_or_default();
            // A line that should be absent is looked for by itself, unless it says otherwise.
            let by_match = !absent || resource.flag("match_for_absence") == Some(true);
            let expression = resource.text("match").filter(|_| by_match);
            let value = if expression.is_some() { line.clone() } else { "present".to_owned() };
            let entry = match expression {
                Some(expression) => Entry::Match(shared(&expression)),
                None => Entry::Line(shared(&line)),
            };
            vec![ManagedEntry { missing: Missing::Fail, ..row(path, entry, value, false) }]
        }
        "Ini_setting" | "Ini_subsetting" => {
            let Some(path) = resource.text("path") else { return Vec::new() };
            let section = resource.text("section").unwrap_or_default();
            let setting = resource.text("setting").unwrap_or_default();
            let separator = resource.text("key_val_separator").unwrap_or_else(|| " = ".to_owned());
            let entry = match resource.text("subsetting") {
                Some(part) => Entry::Part {
                    section: shared(&section),
                    setting: shared(&setting),
                    separator: shared(&separator),
                    part: shared(&part),
                },
                None => Entry::Setting {
                    section: shared(&section),
                    setting: shared(&setting),
                    separator: shared(&separator),
                },
            };
            let value = resource.text("value").unwrap_or_default();
            let setting = row(path, entry, value, false);
            vec![ManagedEntry { is_secret: resource.hides("value"), ..setting }]
        }
        "Augeas" => augeas(resource, mentions),
        "Shellvar" => {
            let Some(path) = resource.text("target") else { return Vec::new() };
            let name = resource.text("variable").unwrap_or_else(|| resource.title.to_string());
            let entry =
                Entry::Setting { section: shared(""), setting: shared(&name), separator: shared("=") };
            vec![row(path, entry, resource.texts("value").join(" "), false)]
        }
        _ => configuration(resource)
            .map(|(path, entry, value)| {
                let is_secret = resource.hides("value") || resource.flag("secret") == Some(true);
                let is_guessed = !resource.has("path");
                ManagedEntry { is_secret, is_guessed, ..row(path, entry, value, false) }
            })
            .into_iter()
            .collect(),
    }
}

/// The number of a day or month that is given by its name.
fn number_of(field: &str, value: &str) -> String {
    let (names, first): (&[&str], usize) = match field {
        "weekday" => (&DAYS, 0),
        "month" => (&MONTHS, 1),
        _ => (&[], 0),
    };
    let value = value.to_lowercase();
    let found = names.iter().position(|name| value.len() > 2 && name.starts_with(&value));
    found.map_or(value, |at| (at + first).to_string())
}

/// Types as `nova_config { 'DEFAULT/debug': value => true }`: settings of `/etc/nova/nova.conf`.
pub(crate) fn configuration(resource: &Resource) -> Option<(String, Entry, String)> {
    let type_name = resource.type_name.as_str().to_lowercase();
    let service = type_name.strip_suffix("_config")?;
    let name = resource.name_or_title("name");
    let (section, setting) = name.split_once('/')?;
    if !resource.has("value") && !resource.has("ensure") {
        return None;
    }
    let path = resource.text("path").unwrap_or_else(|| format!("/etc/{service}/{service}.conf"));
    let value = resource.texts("value").join(",");
    let entry = Entry::Setting { section: shared(section), setting: shared(setting), separator: shared("=") };
    Some((path, entry, value))
}

/// `set` and `rm` of augeas, by the path in its tree.
fn augeas(resource: &Resource, mentions: &Mentions) -> Vec<ManagedEntry> {
    let context = resource.text("context").unwrap_or_default();
    let mut found = Vec::new();
    for change in changes(resource) {
        let mut words = change.splitn(3, char::is_whitespace);
        let (Some(verb), Some(target)) = (words.next(), words.next()) else { return Vec::new() };
        let value = words.next().unwrap_or_default().trim().trim_matches(['\'', '"']).to_owned();
        let value = match verb {
            "set" => Some(value),
            "rm" | "remove" | "clear" => None,
            _ => return Vec::new(),
        };
        let full = if target.starts_with('/') { target.to_owned() } else { format!("{context}/{target}") };
        let Some(tree) = full.strip_prefix("/files") else { return Vec::new() };
        // An expression finds its node wherever it is.
        let known = resource.text("incl").or_else(|| file_of_lenses(tree).filter(|_| !is_expression(tree)));
        let path = known.clone().unwrap_or_else(|| file_of(tree, mentions));
        let is_guessed = known.is_none() && !mentions.files.contains_key(&path);
        let key = tree.strip_prefix(path.as_str()).unwrap_or(tree).trim_start_matches('/').to_owned();
        found.push(ManagedEntry {
            path,
            entry: Entry::Other(shared(&key)),
            value,
            remembers: false,
            user: None,
            as_user: false,
            missing: Missing::Create,
            is_secret: false,
            is_guessed,
        });
    }
    found
}

fn changes(resource: &Resource) -> Vec<String> {
    resource
        .texts("changes")
        .iter()
        .flat_map(|text| text.lines())
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

/// Whether a path in augeas's tree is more than the names of nodes: which node it means depends on what is there.
fn is_expression(tree: &str) -> bool {
    tree.contains(['[', '*', '(']) || tree.contains("//") || tree.contains("..")
}

/// Whether one of the changes makes a node of its own in every run: `spec[last()+1]`, and the `01` of lists that are numbered.
fn adds_every_time(resource: &Resource) -> bool {
    let is_new_number = |part: &str| {
        part.len() > 1 && part.starts_with('0') && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    changes(resource).iter().any(|change| {
        let mut words = change.split_whitespace();
        let is_set = words.next() == Some("set");
        let target = words.next().unwrap_or_default();
        let plain: String = target.split_whitespace().collect();
        is_set && (plain.contains("last()+1") || plain.split('/').any(is_new_number))
    })
}

/// The cells of the nodes that may be one and the same: `Port` and `Port[1]`.
fn same_nodes(machine: &Machine<'_>, path: &str, cell: CellId) -> Vec<CellId> {
    let nodes: Vec<(String, bool, CellId)> = machine
        .tracked(path)
        .into_iter()
        .filter_map(|tracked| match &tracked.entry {
            Entry::Other(name) if !tracked.entry.is_made() => {
                Some((without_conditions(name), is_expression(name), tracked.cell))
            }
            _ => None,
        })
        .collect();
    let Some((own, is_own_expression, _)) = nodes.iter().find(|(_, _, other)| *other == cell).cloned() else {
        return Vec::new();
    };
    let others = nodes.into_iter().filter(|(name, is_other_expression, other)| {
        *name == own && *other != cell && (is_own_expression || *is_other_expression)
    });
    others.map(|(_, _, other)| other).collect()
}

/// A path in augeas's tree without what stands in brackets.
fn without_conditions(name: &str) -> String {
    let mut depth = 0_usize;
    let mut plain = String::new();
    for one in name.chars() {
        match one {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(one),
            _ => {}
        }
    }
    plain
}

/// The files of which augeas makes trees wherever it is installed, by its own lenses.
const OF_LENSES: &[&str] = &[
    "/etc/aliases",
    "/etc/apt/apt.conf.d/*",
    "/etc/apt/preferences.d/*",
    "/etc/cron.d/*",
    "/etc/crontab",
    "/etc/default/*",
    "/etc/environment",
    "/etc/exports",
    "/etc/fstab",
    "/etc/group",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/hosts.allow",
    "/etc/hosts.deny",
    "/etc/inittab",
    "/etc/ldap/ldap.conf",
    "/etc/login.defs",
    "/etc/logrotate.conf",
    "/etc/logrotate.d/*",
    "/etc/modprobe.d/*",
    "/etc/modules",
    "/etc/mysql/my.cnf",
    "/etc/network/interfaces",
    "/etc/nsswitch.conf",
    "/etc/ntp.conf",
    "/etc/pam.d/*",
    "/etc/passwd",
    "/etc/php.ini",
    "/etc/postfix/main.cf",
    "/etc/postfix/master.cf",
    "/etc/puppet/puppet.conf",
    "/etc/puppetlabs/puppet/puppet.conf",
    "/etc/resolv.conf",
    "/etc/rsyncd.conf",
    "/etc/rsyslog.conf",
    "/etc/samba/smb.conf",
    "/etc/security/access.conf",
    "/etc/security/limits.conf",
    "/etc/services",
    "/etc/shells",
    "/etc/ssh/ssh_config",
    "/etc/ssh/sshd_config",
    "/etc/sudoers",
    "/etc/sudoers.d/*",
    "/etc/sysctl.conf",
    "/etc/sysctl.d/*",
    "/etc/yum.conf",
    "/etc/yum.repos.d/*",
];

/// Returns the file of a path in augeas's tree, if one of augeas's own lenses reads it.
fn file_of_lenses(tree: &str) -> Option<String> {
    OF_LENSES.iter().find_map(|known| {
        match known.strip_suffix('*') {
            Some(folder) => {
                let name = tree.strip_prefix(folder)?.split('/').next()?;
                let is_plain = !name.is_empty() && !name.contains(['*', '[', '\\']);
                is_plain.then(|| format!("{folder}{name}"))
            }
            None => Some((*known).to_owned()),
        }
        .filter(|path| tree.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('/')))
    })
}

/// The file of a path in augeas's tree: the longest that the catalog names, else all but the last part.
fn file_of(tree: &str, mentions: &Mentions) -> String {
    let named = std::iter::successors(Some(tree), |path| parent(path).filter(|above| *above != "/"))
        .skip(1)
        .find(|path| mentions.files.contains_key(*path));
    if let Some(path) = named {
        return path.to_owned();
    }
    // A part with a number or a condition is inside the file.
    let mut path = String::new();
    let parts: Vec<&str> = tree.split('/').filter(|part| !part.is_empty()).collect();
    for (at, part) in parts.iter().enumerate() {
        let inside = part.contains(['[', '*'])
            || part.bytes().all(|byte| byte.is_ascii_digit())
            || at + 1 == parts.len();
        if inside && at > 0 {
            break;
        }
        path.push('/');
        path.push_str(part);
        let is_file = ["sshd_config", "ssh_config", "hosts", "fstab", "passwd", "group", "sudoers", "grub"]
            .contains(part)
            || part.rsplit_once('.').is_some_and(|(_, end)| !end.is_empty() && end != "d" && end.len() <= 5);
        if is_file {
            break;
        }
    }
    path
}

fn model(machine: &mut Machine<'_>, resource: &Resource) -> Model {
    let rows = rows(resource, &machine.mentions);
    if rows.is_empty() {
        return small::unmodelled(machine, resource);
    }
    if !is_managed(resource) {
        return Model::nothing();
    }
    let mut steps = Vec::new();
    let mut reach = Vec::new();
    let mut twice = None;
    for mut row in rows {
        let Some(path) = machine.mentions.canonical(&row.path, machine.world) else {
            return Model::nothing().not_known("its path is not absolute", Reach::Everything);
        };
        if row.is_guessed {
            machine.assume(Assumption::GuessedFile { path: path.clone() });
        }
        if row.is_secret {
            row.value = row.value.map(|value| machine.secret(&value));
        }
        let cell = machine.track(&path, row.entry.clone());
        reach.push(cell);
        if resource.type_name.as_str() == "Augeas" {
            let same = same_nodes(machine, &path, cell);
            if !same.is_empty() {
                twice = twice.or_else(|| Some([&same[..], &[cell]].concat()));
            }
        }
        twice = twice.or_else(|| machine.seen_twice(&path, cell));
        steps.push(edit(machine, resource, &path, cell, &row));
    }
    let mut model = Model::new(sequence(steps));
    if resource.type_name.as_str() == "Ini_setting" {
        model = refreshed(resource, model);
    }
    if let Some(cells) = twice {
        model = model.not_known("others see the same line in another way", Reach::Cells(cells));
    }
    match resource.type_name.as_str() {
        "Mount" => model = mount(machine, resource, model),
        // A setting and a part of it are two views of one line.
        "Ini_setting" | "Ini_subsetting" => {
            let both = views(machine, resource);
            if both.len() > 1 {
                let reason = "another resource manages the setting or a part of it";
                model = model.not_known(reason, Reach::Cells(both));
            }
        }
        "Cron" => model.suitable = machine.exists_if_provided(CRONTAB),
        // The way to the file must be one that nobody else can change.
        "Ssh_authorized_key" if resource.flag("drop_privileges") == Some(false) => {
            let reason = "whether all that lies above the file can be trusted is not known";
            model = model.not_known(reason, Reach::Cells(reach));
        }
        "Augeas" if !resource.has("onlyif") && adds_every_time(resource) => {
            let traces = super::exec::counted(machine, resource);
            model.apply = sequence(vec![model.apply, traces, Program::Change]);
        }
        "Augeas" if resource.has("onlyif") => {
            model = model.not_known("whether augeas is asked to do it is not known", Reach::Cells(reach));
        }
        _ => {}
    }
    model
}

/// A setting obeys a notification, although it does nothing then that it has not done before; unless that is all it waits for.
fn refreshed(resource: &Resource, model: Model) -> Model {
    if resource.flag("refreshonly") != Some(true) {
        return model.refreshed_by(Program::Change);
    }
    let refresh = sequence(vec![model.apply.clone(), Program::Change]);
    Model { apply: Program::Skip, ..model }.refreshed_by(refresh)
}

/// A resource without `ensure` and without any property of its entry has nothing to do.
fn is_managed(resource: &Resource) -> bool {
    let properties: &[&str] = match resource.type_name.as_str() {
        "Host" => &["ip", "host_aliases", "comment"],
        "Cron" => &["command", "special", "minute", "hour", "weekday", "month", "monthday", "environment"],
        _ => return true,
    };
    resource.has("ensure") || properties.iter().any(|property| resource.has(property))
}

/// The cells of a setting and of its parts, if both are managed.
fn views(machine: &mut Machine<'_>, resource: &Resource) -> Vec<CellId> {
    let path = resource.text("path").and_then(|path| machine.mentions.canonical(&path, machine.world));
    let (own_section, own_setting) = (resource.text("section"), resource.text("setting"));
    let is_own = |section: &str, setting: &str| {
        own_section.as_deref().unwrap_or_default() == section && own_setting.as_deref() == Some(setting)
    };
    let (mut whole, mut parts) = (Vec::new(), Vec::new());
    for tracked in path.map(|path| machine.tracked(&path)).unwrap_or_default() {
        match &tracked.entry {
            Entry::Setting { section, setting, .. } if is_own(section, setting) => whole.push(tracked.cell),
            Entry::Part { section, setting, .. } if is_own(section, setting) => parts.push(tracked.cell),
            _ => {}
        }
    }
    if whole.is_empty() || parts.is_empty() { Vec::new() } else { whole.into_iter().chain(parts).collect() }
}

/// The other entries that the type keeps in memory for a file.
fn remembered(machine: &Machine<'_>, path: &str, entry: &Entry) -> Vec<CellId> {
    machine
        .tracked(path)
        .into_iter()
        .filter(|tracked| std::mem::discriminant(&tracked.entry) == std::mem::discriminant(entry))
        .map(|tracked| tracked.cell)
        .collect()
}

/// Whether resources of other types write to the file.
fn is_contested(machine: &Machine<'_>, path: &str, entry: &Entry) -> bool {
    machine.mentions.files.contains_key(path)
        || machine.packages.provides(path)
        || machine.tracked(path).iter().any(|tracked| {
            // What `resources` purges it purges by the same type.
            !matches!(tracked.entry, Entry::Rest { .. })
                && std::mem::discriminant(&tracked.entry) != std::mem::discriminant(entry)
        })
}

fn edit(
    machine: &mut Machine<'_>,
    resource: &Resource,
    path: &str,
    cell: CellId,
    row: &ManagedEntry,
) -> Program {
    let wanted = row.value.as_ref().map_or(Value::Absent, |value| Value::text(value));
    let Some(file) = machine.path(path) else { return Program::fail("a directory is there") };
    let mut before = Vec::new();
    let mut seen = cell;
    let mut flush = vec![Program::set(cell, wanted.clone())];
    if matches!(row.entry, Entry::Match(_)) && row.value.is_some() {
        // Several lines that are replaced are several still.
        flush = vec![when(Test::is(cell, Value::text(SEVERAL)).negate(), flush.remove(0))];
    }
    if row.remembers && is_contested(machine, path, &row.entry) {
        // The type read the file before its first resource, and writes all of it from what it has read.
        let kind = resource.type_name.as_str();
        let rest = machine.scratch(kind, path, Value::Absent);
        let taken = machine.scratch(kind, &format!("{path} (read)"), Value::Absent);
        let mut reads = vec![Program::set(taken, Value::text("yes")), Program::copy(rest, file)];
        let mut writes = Vec::new();
        for other in remembered(machine, path, &row.entry) {
            let memory = machine.scratch(kind, &format!("{path} #{}", other.0), Value::Absent);
            reads.push(Program::copy(memory, other));
            writes.push(Program::copy(other, memory));
            if other == cell {
                seen = memory;
            }
        }
        flush = vec![Program::set(seen, wanted.clone())];
        let create = machine.write_file(path, &shared(""));
        flush.push(choose(absent(rest), create, Program::copy(file, rest)));
        for tracked in machine.tracked(path) {
            if std::mem::discriminant(&tracked.entry) != std::mem::discriminant(&row.entry) {
                // What others wrote since is lost.
                let memory = machine.scratch(kind, &format!("{path} #{}", tracked.cell.0), Value::Absent);
                reads.push(Program::copy(memory, tracked.cell));
                writes.push(Program::copy(tracked.cell, memory));
            }
        }
        before.push(when(absent(taken), sequence(reads)));
        flush.extend(writes);
    }
    let create = create(machine, path, row);
    let exists = if row.missing == Missing::Fail {
        // Without its file the resource fails, whatever it is to do.
        before.push(when(absent(file), Program::fail(&format!("{path} does not exist"))));
        Program::Skip
    } else if row.value.is_some() {
        when(absent(file), create)
    } else {
        Program::Skip
    };
    let (done, several) = line_is_fine(machine, path, resource, seen);
    before.extend(several);
    let directory = when(Test::Kind(file, Kind::Directory), Program::fail(&format!("{path} is a directory")));
    let mut change = Vec::new();
    // A line that is there twice is there.
    let is_right = match (&row.entry, &row.value) {
        (Entry::Line(_), Some(_)) => absent(seen).negate(),
        _ => Test::is(seen, wanted),
    };
    let mut wrong = all(vec![is_right.negate(), done.negate()]);
    change.push(without_match(machine, path, resource, (file, cell), row));
    if let Some(user) = &row.user {
        let known = machine.user_exists(user);
        // Nobody can read the jobs of a user who is not there.
        let is_job = matches!(row.entry, Entry::Job(_));
        if row.value.is_some() {
            change.push(when(
                known.clone().negate(),
                Program::fail(&format!("the user {user} does not exist")),
            ));
            if is_job && known != Test::True {
                wrong = any(vec![wrong, known.negate()]);
            }
        } else if is_job {
            wrong = all(vec![wrong, known]);
        }
        change.push(permitted(machine, row));
    } else if matches!(row.entry, Entry::Key(_)) {
        change.push(Program::fail("keys cannot be written without a user"));
    }
    let lines = others_lines(machine, path, cell, row, resource);
    change.extend([directory, exists, lines, sequence(flush), Program::Change]);
    before.push(when(wrong, sequence(change)));
    sequence(before)
}

/// Keys are written as their user: what is there of the file and the two folders above must be that user's own.
fn permitted(machine: &mut Machine<'_>, row: &ManagedEntry) -> Program {
    let (user, paths) = row.written_as_user();
    let mut program = Program::Skip;
    for path in paths.into_iter().rev() {
        let Some(path) = machine.mentions.canonical(path, machine.world) else { continue };
        let Some(owner) = machine.attribute(CellKind::Owner, &path) else { continue };
        let own = Test::is(owner, Value::text(user));
        let there = machine.exists(&path);
        if !machine.world.any_start {
            machine.start.push(any(vec![there.clone().negate(), own.clone()]));
        }
        let denied = Program::fail(&format!("{user} may not write there: {path} belongs to another"));
        program = choose(there, when(own.negate(), denied), program);
    }
    program
}

/// When a `file_line` has nothing to do although its line is not there, and when it does not know what to do.
fn line_is_fine(
    machine: &mut Machine<'_>,
    path: &str,
    resource: &Resource,
    cell: CellId,
) -> (Test, Option<Program>) {
    let absent_wanted = resource.ensure().as_deref() == Some("absent");
    if resource.type_name.as_str() != "File_line" || !resource.has("match") {
        return (never(), None);
    }
    let line = resource.text("line").unwrap_or_default();
    let matches = |expression: String| Entry::Match(shared(&expression)).read(&line) != Value::Absent;
    let mut fine = Vec::new();
    if !absent_wanted && resource.text("match").is_some_and(matches) {
        // The line itself is enough, whatever else matches.
        let own = machine.track(path, Entry::Line(shared(&line)));
        machine.laws.push(Test::Any(vec![absent(own), absent(cell).negate()]));
        machine.laws.push(Test::Any(vec![Test::is(cell, Value::text(&line)).negate(), absent(own).negate()]));
        fine.push(absent(own).negate());
    }
    let several = Test::is(cell, Value::text(SEVERAL));
    // Of several lines none is chosen.
    let fails = (resource.flag("multiple") != Some(true)
        && (absent_wanted || resource.flag("replace") != Some(false)))
    .then(|| {
        let undecided = all(vec![several, any(fine.clone()).negate()]);
        when(undecided, Program::fail("more than one line matches"))
    });
    if !absent_wanted && resource.flag("append_on_no_match") == Some(false) {
        fine.push(absent(cell));
    }
    if !absent_wanted && resource.flag("replace") == Some(false) {
        fine.push(absent(cell).negate());
    }
    (if fine.is_empty() { never() } else { any(fine) }, fails)
}

/// With `replace => false` stdlib asks which lines match before it adds one; without `match` that fails at the first line.
fn without_match(
    machine: &Machine<'_>,
    path: &str,
    resource: &Resource,
    (file, cell): (CellId, CellId),
    row: &ManagedEntry,
) -> Program {
    let asks = resource.type_name.as_str() == "File_line"
        && resource.flag("replace") == Some(false)
        && !resource.has("match")
        && row.value.is_some();
    if !asks {
        return Program::Skip;
    }
    let others = machine.tracked(path).into_iter().filter(|other| other.cell != cell);
    let mut is_empty: Vec<Test> = others.map(|other| absent(other.cell)).collect();
    is_empty.push(Test::is(file, Value::file("")));
    when(all(is_empty).negate(), Program::fail("`replace => false` without `match` fails where lines are"))
}

/// What the lines of other resources become when a line is added, replaced or taken away.
fn others_lines(
    machine: &mut Machine<'_>,
    path: &str,
    cell: CellId,
    row: &ManagedEntry,
    resource: &Resource,
) -> Program {
    if resource.type_name.as_str() != "File_line" {
        return Program::Skip;
    }
    let line = resource.text("line").unwrap_or_default();
    match (&row.entry, &row.value) {
        (Entry::Line(line), None) => machine.line_removed(path, cell, line),
        (Entry::Line(_), Some(_)) => {
            sequence(vec![machine.line_added(path, cell, &line), machine.put_last(path, &line)])
        }
        (Entry::Match(expression), None) => taken(machine, path, cell, expression),
        (Entry::Match(expression), Some(_)) => {
            let added = sequence(vec![machine.line_added(path, cell, &line), machine.put_last(path, &line)]);
            choose(absent(cell), added, replaced(machine, path, cell, expression, &line))
        }
        _ => Program::Skip,
    }
}

/// The lines of others that match are gone.
fn taken(machine: &Machine<'_>, path: &str, cell: CellId, expression: &str) -> Program {
    let mut steps = Vec::new();
    let matching = Expression::new(expression);
    for tracked in machine.tracked(path).into_iter().filter(|tracked| tracked.cell != cell) {
        let is_taken = match &tracked.entry {
            Entry::Line(other) if matching.read(other) != Value::Absent => Test::is(cell, Value::text(other)),
            Entry::Match(_) => Test::same(tracked.cell, cell),
            _ => continue,
        };
        steps.push(when(is_taken, Program::set(tracked.cell, Value::Absent)));
    }
    sequence(steps)
}

/// A line that matches becomes another one: what others find of it changes with it.
fn replaced(machine: &Machine<'_>, path: &str, cell: CellId, expression: &str, line: &str) -> Program {
    let mut steps = Vec::new();
    let matching = Expression::new(expression);
    let several = Test::is(cell, Value::text(SEVERAL));
    for tracked in machine.tracked(path).into_iter().filter(|tracked| tracked.cell != cell) {
        let found = tracked.read(line);
        match &tracked.entry {
            // All that match become the same line.
            Entry::Line(own) if **own == *line => {
                let repeated = Program::set(tracked.cell, Value::text("repeated"));
                steps.push(choose(several.clone(), repeated, Program::set(tracked.cell, found)));
            }
            Entry::Line(other) if matching.read(other) != Value::Absent => {
                let was = Test::is(cell, Value::text(other));
                steps.push(when(was, Program::set(tracked.cell, Value::Absent)));
            }
            Entry::Match(_) => {
                // The line that both find is one line.
                let same = Program::set(tracked.cell, found.clone());
                let other = if found == Value::Absent {
                    Program::Skip
                } else {
                    let more = Program::set(tracked.cell, Value::text(SEVERAL));
                    choose(absent(tracked.cell), Program::set(tracked.cell, found), more)
                };
                steps.push(choose(Test::same(tracked.cell, cell), same, other));
            }
            _ => {}
        }
    }
    sequence(steps)
}

/// Makes the file of an entry.
fn create(machine: &mut Machine<'_>, path: &str, row: &ManagedEntry) -> Program {
    let mut steps = Vec::new();
    let owner = row.user.clone().unwrap_or_else(|| "root".to_owned());
    if let Some(above) = parent(path).map(str::to_owned) {
        if matches!(row.entry, Entry::Key(_)) && above.ends_with("/.ssh") {
            if let Some(folder) = machine.path(&above) {
                let home = machine.parent_is_directory(&above);
                let mut make = vec![
                    when(home.negate(), Program::fail("the home of the user does not exist")),
                    Program::set(folder, Value::Directory),
                ];
                make.extend(machine.set_attributes(&above, "0700", &owner, &owner));
                steps.push(when(absent(folder), sequence(make)));
            }
        } else {
            let there = machine.is_directory(&above);
            steps.push(when(there.negate(), Program::fail("the directory above does not exist")));
        }
    }
    steps.push(machine.make_empty_file(path));
    let mode = if matches!(row.entry, Entry::Key(_)) { "0600" } else { "0644" };
    steps.extend(machine.set_attributes(path, mode, &owner, &owner));
    sequence(steps)
}

/// The program by which a file system of another machine or of a user is mounted.
pub(crate) fn mount_helper(resource: &Resource) -> Option<String> {
    const HELPED: [&str; 12] = [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "glusterfs",
        "ceph",
        "davfs",
        "lustre",
        "ocfs2",
        "ntfs",
        "ntfs-3g",
        "zfs",
    ];
    let kind = resource.text("fstype")?;
    let kind = kind.split('.').next().filter(|kind| *kind == "fuse").unwrap_or(&kind);
    (HELPED.contains(&kind) || kind == "fuse").then(|| format!("/usr/sbin/mount.{kind}"))
}

/// Whether a file system is mounted.
pub(crate) fn mounted_cell(machine: &mut Machine<'_>, name: &str) -> CellId {
    let new = machine.space.find(&CellKey::new(CellKind::Mount, name)).is_none();
    let cell = machine.other(CellKind::Mount, name, None);
    if new {
        machine.laws.push(Test::Any(vec![absent(cell), Test::is(cell, Value::text("mounted"))]));
        if !machine.world.any_start
            && let Some(point) = machine.mentions.canonical(name, machine.world)
        {
            let there = machine.is_directory(&point);
            machine.start.push(any(vec![absent(cell), there]));
        }
    }
    cell
}

/// The entry of a file system, and whether it is mounted.
fn mount(machine: &mut Machine<'_>, resource: &Resource, model: Model) -> Model {
    let name = resource.name_or_title("name");
    let ensure = resource.ensure().unwrap_or_else(|| "present".to_owned());
    let cell = mounted_cell(machine, &name);
    let mounted = Value::text("mounted");
    let mut steps = Vec::new();
    if matches!(ensure.as_str(), "absent" | "unmounted") {
        steps.push(when(
            absent(cell).negate(),
            sequence(vec![Program::set(cell, Value::Absent), Program::Change]),
        ));
    }
    steps.push(model.apply.clone());
    if ensure == "mounted"
        && let Some(point) = machine.mentions.canonical(&name, machine.world)
    {
        let there = machine.is_directory(&point);
        let helper = match mount_helper(resource) {
            Some(helper) => super::perform::perform(machine, &Effect::NeedProgram(vec![helper])),
            None => Program::Skip,
        };
        let device = resource.text("device").unwrap_or_default();
        let reached = crate::settings::read_to_fetch(machine, resource, &device, None);
        let attach = sequence(vec![
            when(there.negate(), Program::fail(&format!("the mount point {point} does not exist"))),
            helper,
            reached,
            Program::set(cell, mounted),
            Program::Change,
        ]);
        steps.push(when(absent(cell), attach));
    }
    Model { apply: sequence(steps), ..model }.refreshed_by(Program::Change)
}
