//! Where a value can do harm: what is run, what grants rights, what everybody reads.

use setpoint_catalog::{Catalog, Kind, Resource, ResourceId};
use setpoint_provenance::Prov;
use setpoint_puppet::Compilation;
use setpoint_puppet_values::{Data, Value};
use setpoint_source::Span;

use super::{nodes_of, text_of};

/// What a value that arrives at a sink can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// It is run.
    Command,
    /// It is in a file that is run or grants rights; what kind of file.
    PrivilegedFile(&'static str),
}

/// A parameter, or the title, of a resource.
#[derive(Debug)]
pub(super) struct Sink {
    pub(super) name: String,
    pub(super) nodes: Vec<Prov>,
    pub(super) span: Option<Span>,
    pub(super) reach: Reach,
    /// What arrives, if it is a text.
    pub(super) text: Option<String>,
}

impl Sink {
    pub(super) fn new(name: &str, nodes: Vec<Prov>, span: Option<Span>, reach: Reach) -> Self {
        Self { name: name.to_owned(), nodes, span, reach, text: None }
    }

    fn with_text(self, text: Option<&str>) -> Self {
        Self { text: text.map(str::to_owned), ..self }
    }
}

/// Whether an agent applies the resource itself: classes and defines only contain others.
pub(super) fn is_native(resource: &Resource) -> bool {
    matches!(resource.kind, None | Some(Kind::CompilableType))
}

/// The places of a resource at which a fact that nobody vouches for does harm.
pub(super) fn of(
    catalog: &Catalog,
    compilation: &Compilation,
    id: ResourceId,
    resource: &Resource,
) -> Vec<Sink> {
    let mut found = Vec::new();
    let mut add = |name: &str, value: &Value, reach: Reach| {
        let mut nodes = Vec::new();
        match (&value.data, reach) {
            // No shell reads the arguments of a command that is an array; its program it is.
            (Data::Array(items), Reach::Command) if name == "command" && !items.iter().any(is_array) => {
                items.iter().take(1).for_each(|item| nodes_of(item, &mut nodes));
            }
            (Data::Array(items), Reach::Command) => {
                for item in items.iter() {
                    match &item.data {
                        Data::Array(words) => {
                            words.iter().take(1).for_each(|word| nodes_of(word, &mut nodes));
                        }
                        _ => nodes_of(item, &mut nodes),
                    }
                }
            }
            _ => nodes_of(value, &mut nodes),
        }
        let span = resource.parameters.iter().find(|one| one.name.as_str() == name).and_then(|one| one.span);
        found.push(Sink::new(name, nodes, span.or(resource.span), reach).with_text(text_of(value)));
    };
    let commands: &[&str] = match resource.type_name.as_str() {
        "Exec" => &["command", "unless", "onlyif", "refresh"],
        "Cron" => &["command"],
        "Service" => &["start", "stop", "restart", "status"],
        "File" => &["validate_cmd"],
        _ => &[],
    };
    for name in commands {
        if let Some(value) = resource.get(name) {
            add(name, value, Reach::Command);
        }
    }
    match resource.type_name.as_str() {
        "File" | "Concat_file" => {
            if let (Some(content), Some(what)) = (resource.get("content"), privileged(resource)) {
                add("content", content, Reach::PrivilegedFile(what));
            }
        }
        "Concat_fragment" => {
            let target = resource.get("target").and_then(Value::as_str);
            let whole =
                target.and_then(|target| catalog.find("Concat_file".into(), target)).map(|id| &catalog[id]);
            let what = whole.and_then(privileged).or_else(|| target.and_then(privileged_path));
            if let (Some(content), Some(what)) = (resource.get("content"), what) {
                add("content", content, Reach::PrivilegedFile(what));
            }
        }
        "Ssh_authorized_key" => {
            for name in ["key", "options"] {
                if let Some(value) = resource.get(name) {
                    add(name, value, Reach::PrivilegedFile("a key that opens an account"));
                }
            }
        }
        "Exec" if resource.get("command").is_none() => {
            let title = compilation.trace.resources.get(id.index()).map_or(Prov::NONE, |trace| trace.title);
            found.push(Sink::new("title", vec![title], resource.span, Reach::Command));
        }
        _ => {}
    }
    found
}

fn is_array(value: &Value) -> bool {
    matches!(value.data, Data::Array(_))
}

/// What kind of file it is, if it is run or grants rights.
fn privileged(resource: &Resource) -> Option<&'static str> {
    let path = resource.get("path").and_then(Value::as_str).unwrap_or(&resource.title);
    privileged_path(path).or_else(|| {
        let is_run = mode_of(resource).is_some_and(|mode| mode & 0o111 != 0);
        let content = resource.get("content").and_then(Value::as_str);
        (is_run || content.is_some_and(|content| content.starts_with("#!"))).then_some("a script")
    })
}

fn privileged_path(path: &str) -> Option<&'static str> {
    let below = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    if path == "/etc/sudoers" || below(&["/etc/sudoers.d/"]) {
        Some("which grants rights by sudo")
    } else if below(&["/etc/cron", "/var/spool/cron/"]) {
        Some("a crontab")
    } else if below(&[
        "/etc/systemd/system/",
        "/lib/systemd/system/",
        "/usr/lib/systemd/system/",
        "/run/systemd/system/",
    ]) {
        Some("a unit of systemd")
    } else if below(&[
        "/etc/init.d/",
        "/etc/rc.local",
        "/etc/profile",
        "/etc/bash",
        "/root/.bash",
        "/root/.profile",
    ]) || below(&[
        "/usr/local/bin/",
        "/usr/local/sbin/",
        "/usr/bin/",
        "/usr/sbin/",
        "/bin/",
        "/sbin/",
        "/opt/bin/",
    ]) {
        Some("a script")
    } else if path.ends_with("authorized_keys") || path.ends_with("authorized_keys2") {
        Some("which opens an account")
    } else if below(&["/etc/pam.d/", "/etc/ld.so.preload", "/etc/security/"]) {
        Some("which decides who may log in")
    } else {
        None
    }
}

/// The bits of a mode; nothing if it is not given as a number.
fn mode_of(resource: &Resource) -> Option<u32> {
    let mode = resource.get("mode")?;
    match &mode.data {
        Data::String(text) => u32::from_str_radix(text, 8).ok(),
        Data::Integer(number) => u32::from_str_radix(&number.to_string(), 8).ok(),
        _ => None,
    }
}

/// Why every user may read a file; nothing if one may not, or if that is not known.
pub(super) fn world_readable(catalog: &Catalog, resource: &Resource) -> Option<String> {
    let (path, mode) = match resource.type_name.as_str() {
        "File" | "Concat_file" => {
            (resource.get("path").and_then(Value::as_str).unwrap_or(&resource.title), resource)
        }
        "Concat_fragment" => {
            let target = resource.get("target").and_then(Value::as_str)?;
            let whole = &catalog[catalog.find("Concat_file".into(), target)?];
            (whole.get("path").and_then(Value::as_str).unwrap_or(&whole.title), whole)
        }
        _ => return None,
    };
    if mode.get("ensure").and_then(Value::as_str).is_some_and(|ensure| ensure == "absent") {
        return None;
    }
    let why = match (mode.get("mode"), mode_of(mode)) {
        (None, _) => "it has no mode, and Puppet makes new files with 0644".to_owned(),
        (Some(_), Some(bits)) if bits & 0o004 != 0 => format!("its mode is {bits:04o}"),
        _ => return None,
    };
    let is_closed = |folder: &std::path::Path| {
        let id = folder.to_str().and_then(|folder| catalog.find("File".into(), folder));
        id.and_then(|id| mode_of(&catalog[id])).is_some_and(|mode| mode & 0o001 == 0)
    };
    let is_private = |folder: &std::path::Path| folder == std::path::Path::new("/root");
    let mut folders = std::path::Path::new(path).ancestors().skip(1);
    (!folders.any(|folder| is_closed(folder) || is_private(folder))).then_some(why)
}
