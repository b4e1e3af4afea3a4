//! What a command that is not understood needs all the same: its program, its folder and its user, and the paths that its words
//! name.

use std::collections::BTreeMap;

use setpoint_catalog::Resource;
use setpoint_puppet_values::Data;
use setpoint_source::{Diagnostic, Rule};
use setpoint_state::{CellKey, CellKind, StepId};

use crate::edit::quoted;
use crate::findings::{FindingBuilder, listed};

/// What separates the words of a command, besides white space.
const SEPARATORS: &[char] = &['\'', '"', '=', ';', '|', '&', '<', '>', '(', ')', ',', '`', ':'];

impl FindingBuilder<'_> {
    /// Returns the warning that a command of unknown effect names what other resources manage, if it does. `others`: the steps whose
    /// order with it is open.
    pub(crate) fn may_need(&self, command: StepId, others: &[StepId]) -> Option<Diagnostic> {
        let resource = self.declared(command).filter(|one| one.type_name.as_str() == "Exec")?;
        let needs = Needs::of(resource);
        let mut found: BTreeMap<StepId, String> = BTreeMap::new();
        let ordered = self.ordered_with(command);
        for &other in others.iter().filter(|other| !ordered.contains(other)) {
            let Some(step) = self.step(other).filter(|step| !step.passes_on && other != command) else {
                continue;
            };
            let keys = step.apply.written().into_iter().filter_map(|cell| self.modelled.plan.space.get(cell));
            if let Some(named) = keys.filter_map(|cell| needs.named(&cell.key)).min() {
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

/// What a command names.
struct Needs {
    paths: Vec<String>,
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
        let paths = words.map(str::to_owned).chain(texts("cwd"));
        let plain = |path: String| path.trim_end_matches('/').to_owned();
        let paths = paths.filter(|path| path.starts_with('/')).map(plain).filter(|path| !path.is_empty());
        Self { paths: paths.collect(), user: texts("user").into_iter().next() }
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

/// The texts of a value.
pub(crate) fn texts(data: &Data) -> Vec<String> {
    match data {
        Data::String(text) => vec![text.to_string()],
        Data::Array(items) => items.iter().flat_map(|item| texts(&item.data)).collect(),
        _ => Vec::new(),
    }
}
