//! The same classes, put to Puppet.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};
use setpoint_catalog::compare::{Change, Scope, compare};
use setpoint_catalog::{Catalog, Resource};
use setpoint_oracle::Puppet;
use setpoint_testing::repository;

use super::{Arguments, Class, Entered, MAIN, NODE, PUPPET};

/// What Puppet said about a class. Kept between calls: Puppet needs minutes for all.
struct Answers {
    folder: PathBuf,
    modules: Vec<String>,
    /// The folder of the modules, for examples.
    module_folder: PathBuf,
    facts: serde_json::Map<String, Value>,
    puppet: Option<Puppet>,
    strict: bool,
}

/// How the answers of both compare.
pub(super) struct Compared {
    pub(super) asked: usize,
    pub(super) same: usize,
    pub(super) refused: usize,
    /// The causes of differences, with their classes.
    pub(super) different: Vec<(String, Vec<String>)>,
}

pub(super) fn run(arguments: &Arguments, entered: &[Entered]) -> Result<Compared, String> {
    let platform = setpoint_platforms::find(&arguments.platform).map_err(|unknown| unknown.to_string())?;
    let mut folder = repository().join("target/modules").join(&arguments.platform);
    if arguments.puppet != "7" {
        folder = folder.join(format!("puppet-{}", arguments.puppet));
    }
    if arguments.list.is_some() {
        folder = folder.join("examples");
    }
    if let Some(seed) = arguments.generated {
        folder = folder.join(format!("generated-{seed}"));
    }
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut modules: Vec<String> = std::fs::read_dir(&arguments.modules)
        .map_err(|error| format!("{}: {error}", arguments.modules.display()))?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    modules.sort();
    let mut answers = Answers {
        folder,
        modules,
        module_folder: arguments.modules.clone(),
        facts: platform.facts(NODE, PUPPET),
        puppet: None,
        strict: arguments.puppet != "7",
    };
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut agreed, mut asked) = ((0, 0), 0);
    let mut counts = ExampleCounts::default();
    for one in entered {
        let theirs = match answers.known(&one.class) {
            Some(known) => known,
            None if arguments.known => continue,
            None => answers.ask(&one.class)?,
        };
        asked += 1;
        let difference = difference(one, &theirs)?;
        counts.add(one, &theirs, difference.is_none());
        match difference {
            None if one.catalog.is_some() => agreed.0 += 1,
            None => agreed.1 += 1,
            Some((cause, details)) => {
                let line = if arguments.show {
                    format!("{}\n{details}", one.class.name)
                } else {
                    one.class.name.clone()
                };
                groups.entry(cause).or_default().push(line);
            }
        }
    }
    let different: usize = groups.values().map(Vec::len).sum();
    let mut groups: Vec<(String, Vec<String>)> = groups.into_iter().collect();
    groups.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
    for (cause, classes) in &groups {
        println!("{} x {cause}", classes.len());
        for class in classes {
            println!("    {class}");
        }
    }
    println!(
        "{} classes: {} compile to the same catalog, {} are refused alike, {different} differ",
        asked, agreed.0, agreed.1
    );
    if arguments.list.is_some() {
        println!("{counts}");
    }
    Ok(Compared { asked, same: agreed.0, refused: agreed.1, different: groups })
}

/// How the catalogs that Puppet compiles compare with ours.
#[derive(Default)]
struct ExampleCounts {
    compiled: usize,
    equal: usize,
    opaque: usize,
    refused: usize,
    different: usize,
}

impl ExampleCounts {
    fn add(&mut self, one: &Entered, theirs: &Value, is_same: bool) {
        if theirs["catalog"].is_null() {
            return;
        }
        self.compiled += 1;
        let counter = match (&one.opaque, &one.catalog) {
            (Some(_), _) => &mut self.opaque,
            (None, None) => &mut self.refused,
            (None, Some(_)) if is_same => &mut self.equal,
            (None, Some(_)) => &mut self.different,
        };
        *counter += 1;
    }
}

impl std::fmt::Display for ExampleCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "of {} that Puppet compiles: {} equal, {} opaque, {} refused by ours, {} different without a word",
            self.compiled, self.equal, self.opaque, self.refused, self.different
        )
    }
}

impl Answers {
    /// Where the answer is kept: by the name of a class, or by the text of an example.
    fn path(&self, class: &Class) -> PathBuf {
        let name = match &class.code {
            Some(code) => format!("{}-{:016x}", class.module, super::number(code)),
            None => class.name.replace("::", "-"),
        };
        self.folder.join(format!("{name}.json"))
    }

    fn known(&self, class: &Class) -> Option<Value> {
        serde_json::from_str(&with_usual_folders(&std::fs::read_to_string(self.path(class)).ok()?)).ok()
    }

    fn ask(&mut self, class: &Class) -> Result<Value, String> {
        let path = self.path(class);
        if self.puppet.is_none() {
            self.puppet = Some(Puppet::start()?);
        }
        let puppet = self.puppet.as_mut().ok_or("Puppet does not start")?;
        let mut facts = self.facts.clone();
        facts.extend(class.facts());
        let outcome = match &class.code {
            Some(code) => puppet.ask_with_folder(code, &self.module_folder, NODE, &facts, self.strict)?,
            None => puppet.ask_kept(MAIN, &self.modules, NODE, &facts, self.strict)?,
        };
        let errors: Vec<String> = outcome.errors.iter().map(|error| error.text.clone()).collect();
        let answer = json!({"catalog": outcome.catalog, "errors": errors});
        std::fs::write(&path, answer.to_string()).map_err(|error| format!("{}: {error}", path.display()))?;
        self.known(class).ok_or_else(|| format!("{}: not readable", path.display()))
    }
}

/// An answer in which Puppet's settings are the usual ones: the folders that it was given for the question are temporary.
fn with_usual_folders(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/tmp/oracle") {
        out.push_str(before);
        let (name, tail) = after.split_once('/').unwrap_or((after, ""));
        if let Some(tail) = tail.strip_prefix("conf") {
            out.push_str("/etc/puppetlabs/puppet");
            rest = tail;
        } else {
            out.push_str("/tmp/oracle");
            out.push_str(name);
            rest = after.get(name.len()..).unwrap_or_default();
        }
    }
    out + rest
}

/// The cause of a difference, to group by, and its details.
fn difference(one: &Entered, theirs: &Value) -> Result<Option<(String, String)>, String> {
    let error = theirs["errors"].as_array().and_then(|errors| errors.first()).and_then(Value::as_str);
    match (&one.catalog, theirs["catalog"].is_null()) {
        (Some(ours), false) => {
            let theirs =
                setpoint_catalog::read::from_tree(&theirs["catalog"]).map_err(|error| error.to_string())?;
            Ok(catalogs(ours, &theirs).map(|(cause, details)| match &one.opaque {
                Some(why) => (format!("opaque: {}", short(why)), details),
                None => (cause, details),
            }))
        }
        (Some(_), true) => {
            let error = error.unwrap_or("no reason");
            Ok(Some((format!("Puppet refuses: {}", short(error)), error.to_owned())))
        }
        (None, false) => {
            let error = one.error.as_deref().unwrap_or("no reason");
            let what = if one.opaque.is_some() { "opaque" } else { "ours refuses" };
            Ok(Some((format!("{what}: {}", short(error)), format!("{}: {error}", one.place))))
        }
        (None, true) => {
            let (ours, theirs) = (one.error.as_deref().unwrap_or_default(), error.unwrap_or_default());
            let alike = (without_place(ours).is_some() && without_place(ours) == without_place(theirs))
                || words(theirs).starts_with(&words(ours))
                || words(ours).starts_with(&words(theirs))
                || contained(ours, theirs);
            Ok((!alike).then(|| {
                let details = format!("  ours:   {} {ours}\n  theirs: {theirs}", one.place);
                (format!("other refusal: {}", short(ours)), details)
            }))
        }
    }
}

fn contained(ours: &str, theirs: &str) -> bool {
    let first = ours.lines().next().unwrap_or_default();
    let first = first.trim_end_matches('.');
    words(theirs).contains(&words(first))
}

/// A message without the place in its middle, which both write in their own way.
fn without_place(text: &str) -> Option<(String, String)> {
    let (before, rest) = text.split_once(" is already declared at (")?;
    let (_, after) = rest.split_once(')')?;
    Some((words(before), words(after)))
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn short(text: &str) -> String {
    let mut text = words(text.split(" (file:").next().unwrap_or_default());
    if let Some((at, _)) = text.char_indices().nth(140) {
        text.truncate(at);
    }
    text
}

fn catalogs(ours: &Catalog, theirs: &Catalog) -> Option<(String, String)> {
    let changes = compare(theirs, ours, Scope::ALL);
    let first = changes.first()?;
    let kind = |change: &Change| {
        let of = |resource: Option<&Resource>| {
            resource.map(|resource| resource.type_name.to_string()).unwrap_or_default()
        };
        let type_name = of(change.resource(theirs, ours));
        match change {
            Change::Added { .. } => format!("extra {type_name}"),
            Change::Removed { .. } => format!("missing {type_name}"),
            Change::Parameter { name, .. } => format!("{type_name}.{name}"),
            Change::Tags { .. } => format!("tags of {type_name}"),
            Change::Exported { .. } => "exported".to_owned(),
            Change::Container { .. } => format!("container of {type_name}"),
            Change::Order { .. } => "order".to_owned(),
        }
    };
    let details: Vec<String> = changes
        .iter()
        .take(8)
        .map(|change| {
            let resource = change.resource(theirs, ours).map(Resource::reference).unwrap_or_default();
            format!("  {resource}: {}", change_text(change))
        })
        .collect();
    Some((
        format!("catalog: {}", kind(first)),
        format!("{}\n  ({} differences)", details.join("\n"), changes.len()),
    ))
}

fn change_text(change: &Change) -> String {
    match change {
        Change::Parameter { name, before, after, .. } => {
            let show = |value: &Option<_>| value.as_ref().map_or("absent".to_owned(), text);
            format!("{name} is {}, in Puppet {}", show(after), show(before))
        }
        Change::Tags { lost, gained, .. } => format!("tags lack {lost:?}, gain {gained:?}"),
        other => format!("{other:?}").split(' ').next().unwrap_or_default().to_owned(),
    }
}

fn text(value: &setpoint_puppet_values::Value) -> String {
    let mut out = setpoint_catalog::write::Json::with_capacity(64);
    setpoint_catalog::write::rich_value(value, &mut out);
    let mut text = words(&out.finish());
    if let Some((at, _)) = text.char_indices().nth(300) {
        text.truncate(at);
    }
    text
}
