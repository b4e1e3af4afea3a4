//! What a command that is not understood needs all the same: its program, its folder and its user, and the paths that its words
//! name.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_catalog::Resource;
use setpoint_puppet_values::Data;
use setpoint_resources::stem_of_package;
use setpoint_source::{Diagnostic, Rule};
use setpoint_state::{CellId, CellKey, CellKind, Program, Step, StepId};

use crate::edit::quoted;
use crate::findings::{FindingBuilder, listed};
use crate::may_bring::name_of;

/// What separates the words of a command, besides white space.
const SEPARATORS: &[char] = &['\'', '"', '=', ';', '|', '&', '<', '>', '(', ')', ',', '`', ':'];

/// Types whose effect may be unknown, and which do something only if what they look at is there.
const MAY_NEED: [&str; 3] = ["Exec", "Archive", "Vcsrepo"];

impl FindingBuilder<'_> {
    /// Returns the warning that a command of unknown effect names what other resources manage, if it does. `others`: the steps whose
    /// order with it is open.
    pub(crate) fn may_need(&self, command: StepId, others: &[StepId]) -> Option<Diagnostic> {
        let resource = self.declared(command).filter(|one| MAY_NEED.contains(&one.type_name.as_str()))?;
        // What only runs when it is notified needs nothing if nobody notifies it.
        let plan = &self.modelled.plan;
        let is_idle = self.step(command).is_some_and(|step| step.apply == Program::Skip)
            && !plan.notifies.iter().any(|(_, to)| *to == command);
        if is_idle && resource.get("refreshonly").is_some() {
            return None;
        }
        let needs = Needs::of(resource);
        let looked_at = self.step(command).map(looked_at).unwrap_or_default();
        let mut found: BTreeMap<StepId, String> = BTreeMap::new();
        let (before, after) = self.before_and_after(command);
        // What something before it brings for certain it finds, whoever else brings it, too.
        let steps = before.iter().filter_map(|step| self.step(*step));
        let brought: BTreeSet<CellId> = steps.flat_map(|step| step.apply.written()).collect();
        let packages = before.iter().filter_map(|step| self.declared(*step));
        let packages: Vec<String> =
            packages.filter(|one| one.type_name.as_str() == "Package").map(name_of).collect();
        let is_brought = |cell: CellId, key: &CellKey| {
            let program = key.name.rsplit('/').next().unwrap_or_default();
            let is_program = ["/usr/bin/", "/usr/sbin/"].iter().any(|folder| key.name.starts_with(folder));
            brought.contains(&cell)
                || is_program && packages.iter().any(|name| program.starts_with(stem_of_package(name)))
        };
        for &other in others.iter().filter(|other| !before.contains(other) && !after.contains(other)) {
            let Some(step) = self.step(other).filter(|step| !step.passes_on && other != command) else {
                continue;
            };
            let written = step.apply.written().into_iter();
            let named = written.filter_map(|cell| {
                let key = &self.modelled.plan.space.get(cell)?.key;
                let is_looked_at = looked_at.binary_search(&cell).is_ok() && !is_brought(cell, key);
                needs.named(key).or_else(|| is_looked_at.then(|| plain_name(key)).flatten())
            });
            if let Some(named) =
                named.min().or_else(|| self.declared(other).and_then(|one| needs.service(one)))
            {
                found.insert(other, named);
            }
        }
        let steps: Vec<StepId> = found.keys().copied().collect();
        let (first, _) = found.first_key_value()?;
        let mut named: Vec<&str> = found.values().map(String::as_str).collect();
        named.sort_unstable();
        named.dedup();
        let (name, by) = (self.words.step(command), self.names(&steps));
        let verb = if steps.len() == 1 { "manages" } else { "manage" };
        let message = format!("{name} names {}, which {by} {verb}, and nothing orders them", listed(&named));
        let other = self.declared(*first)?;
        let reference = format!("{}[{}]", other.type_name, quoted(&other.title));
        let finding = Diagnostic::new(Rule::MayNeed, message)
            .with_note("What the command does is not known. If it comes first, it fails or finds what was there before.")
            .with_help(format!(
                "Add `require => {reference}` to {name}, or say what it does in setpoint.toml (`setpoint explain may-need`)."
            ));
        Some(self.placed(finding, &[&[command], &steps[..]].concat()))
    }
}

/// Programs that do nothing unless a service answers, and the names of that service.
static CLIENTS: &[(&[&str], &[&str])] = &[
    (&["mysql", "mysqladmin", "mysqldump", "mariadb", "mariadb-admin"], &["mysql", "mysqld", "mariadb"]),
    (&["psql", "createdb", "createuser", "pg_dump"], &["postgresql"]),
    (&["rabbitmqctl", "rabbitmqadmin"], &["rabbitmq-server"]),
    (&["redis-cli"], &["redis", "redis-server"]),
    (&["docker"], &["docker"]),
];

/// What a command names.
struct Needs {
    paths: Vec<String>,
    /// The services that its programs talk to.
    services: Vec<&'static str>,
    user: Option<String>,
}

impl Needs {
    fn of(resource: &Resource) -> Self {
        let texts = |name: &str| resource.get(name).map(|value| texts(&value.data)).unwrap_or_default();
        let mut commands = texts("command");
        if commands.is_empty() {
            commands.push(resource.title.to_string());
        }
        let words = commands.iter().flat_map(|text| {
            text.split(|letter: char| letter.is_whitespace() || SEPARATORS.contains(&letter))
        });
        let words: Vec<&str> = words.collect();
        let is_run =
            |program: &&'static str| words.iter().any(|word| word.rsplit('/').next() == Some(*program));
        let lines = CLIENTS.iter().filter(|(programs, _)| programs.iter().any(is_run));
        let services = lines.flat_map(|(_, services)| services.iter().copied()).collect();
        let paths = words.iter().map(|word| (*word).to_owned()).chain(texts("cwd"));
        let plain = |path: String| path.trim_end_matches('/').to_owned();
        let paths = paths.filter(|path| path.starts_with('/')).map(plain).filter(|path| !path.is_empty());
        Self { paths: paths.collect(), services, user: texts("user").into_iter().next() }
    }

    /// Returns how the command needs a resource that is a service; `None` if it does not.
    fn service(&self, resource: &Resource) -> Option<String> {
        let name = name_of(resource);
        let plain = name.strip_suffix(".service").unwrap_or(&name);
        (resource.type_name.as_str() == "Service" && self.services.contains(&plain))
            .then(|| format!("the service {plain}"))
    }

    /// Returns how the command names a cell; `None` if it does not.
    fn named(&self, key: &CellKey) -> Option<String> {
        match key.kind {
            // On merged systems the model knows /bin/x by the name /usr/bin/x.
            CellKind::Path => self
                .paths
                .iter()
                .find(|path| **path == *key.name || key.name.strip_prefix("/usr") == Some(path.as_str()))
                .cloned(),
            CellKind::User if key.detail.is_none() => {
                self.user.as_ref().filter(|user| **user == *key.name).map(|user| format!("the user {user}"))
            }
            _ => None,
        }
    }
}

/// The cells that decide whether what is known of a command fails.
fn looked_at(step: &Step) -> Vec<CellId> {
    let mut cells = Vec::new();
    for program in [&step.apply, &step.refresh] {
        program.reads(&mut cells);
    }
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// A path, a user or a group by its name.
fn plain_name(key: &CellKey) -> Option<String> {
    match key.kind {
        CellKind::Path => Some(key.name.to_string()),
        CellKind::User if key.detail.is_none() => Some(format!("the user {}", key.name)),
        CellKind::UserGroup if key.detail.is_none() => Some(format!("the group {}", key.name)),
        _ => None,
    }
}

/// The texts of a value.
pub(crate) fn texts(data: &Data) -> Vec<String> {
    match data {
        Data::String(text) => vec![text.to_string()],
        Data::Array(items) => items.iter().flat_map(|item| texts(&item.data)).collect(),
        _ => Vec::new(),
    }
}
