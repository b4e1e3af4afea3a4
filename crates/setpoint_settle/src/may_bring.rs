//! What a package that no index lists brings all the same, by its name: its service, its user, its folder, its command; and the
//! archive of the catalog that it comes from. Who needs these must come after it, and the archive before it.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_catalog::{Resource, ResourceId};
use setpoint_resources::Assumption;
use setpoint_source::{Diagnostic, Rule};
use setpoint_state::StepId;

use crate::edit::quoted;
use crate::findings::{FindingBuilder, listed};
use crate::may_need::texts;

/// What the name of a package has more than that of its service, and the other way round.
const ENDINGS: [&str; 6] = ["-server", "-daemon", "-service", "-common", "-core", "d"];
/// Words in names of packages that say nothing of an archive.
const COMMON_WORDS: [&str; 12] = [
    "server", "client", "common", "tools", "python", "python3", "agent", "daemon", "core", "plugin",
    "plugins", "module",
];
/// Types that write a file.
const WRITES: [&str; 5] = ["File", "Concat_file", "File_line", "Ini_setting", "Ini_subsetting"];

/// The order of the steps, both ways.
struct Order {
    before: BTreeMap<StepId, Vec<StepId>>,
    after: BTreeMap<StepId, Vec<StepId>>,
}

impl Order {
    fn of(edges: &[(StepId, StepId)]) -> Self {
        let (mut before, mut after): (BTreeMap<_, Vec<_>>, BTreeMap<_, Vec<_>>) = Default::default();
        for &(first, second) in edges {
            before.entry(second).or_default().push(first);
            after.entry(first).or_default().push(second);
        }
        Self { before, after }
    }

    fn before(&self, step: StepId) -> BTreeSet<StepId> {
        reached(&self.before, step)
    }

    fn after(&self, step: StepId) -> BTreeSet<StepId> {
        reached(&self.after, step)
    }
}

fn reached(next: &BTreeMap<StepId, Vec<StepId>>, step: StepId) -> BTreeSet<StepId> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![step];
    while let Some(at) = waiting.pop() {
        let steps = next.get(&at).into_iter().flatten();
        waiting.extend(steps.copied().filter(|other| found.insert(*other)));
    }
    found
}

impl FindingBuilder<'_> {
    /// The steps that always come before a step, and those that always come after it. The proof leaves the order of a step with
    /// others open as a whole, also with those that relationships put in order.
    pub(crate) fn before_and_after(&self, step: StepId) -> (BTreeSet<StepId>, BTreeSet<StepId>) {
        let order = Order::of(&self.modelled.plan.edges);
        (order.before(step), order.after(step))
    }

    /// Returns a warning for each package that no index lists and that has no order with what seems to belong to it, and for each
    /// that seems to come from an archive of the catalog. `told`: what is told of missing orders already.
    pub(crate) fn unlisted_packages(&self, told: &[Diagnostic]) -> Vec<Diagnostic> {
        let packages = self.installed_packages();
        if packages.is_empty() {
            return Vec::new();
        }
        let order = Order::of(&self.modelled.plan.edges);
        let managed = Managed::of(self.catalog.iter().map(|(_, resource)| resource));
        let others: Vec<(StepId, &Resource)> = self
            .real_steps()
            .filter_map(|(step, resource)| Some((step, self.catalog.get(resource)?)))
            .collect();
        let all_archives = others.iter().filter(|(_, other)| is_archive(other));
        let all_archives: Vec<StepId> = all_archives.map(|(step, _)| *step).collect();
        let mut found = Vec::new();
        for (package, resource, origin) in packages {
            let name = name_of(resource);
            // What no index lists comes from the only archive that there is, whatever its name.
            let only_archive =
                (origin == Listed::Nowhere && all_archives.len() == 1).then(|| all_archives[0]);
            let (before, after) = (order.before(package), order.after(package));
            let is_told = |other: &Resource| {
                let both = [resource.reference(), other.reference()];
                told.iter().any(|one| both.iter().all(|name| one.resources.contains(name)))
            };
            let mut needed: BTreeMap<StepId, String> = BTreeMap::new();
            let mut archives = Vec::new();
            let mut unread = Vec::new();
            for &(step, other) in &others {
                if only_archive == Some(step) || is_archive_of(other, &name, origin) {
                    if after.contains(&step) || is_told(other) {
                        continue;
                    }
                    if !before.contains(&step) {
                        archives.push(step);
                    } else if is_of_apt(other) && !self.reads_lists(&order, step, &before) {
                        unread.push(step);
                    }
                } else if origin == Listed::Nowhere
                    && step != package
                    && !before.contains(&step)
                    && !after.contains(&step)
                    && let Some(what) = managed.need(other, &name)
                    && !is_told(other)
                {
                    needed.insert(step, what);
                }
            }
            found.extend(self.tell_needed(package, &needed));
            found.extend(self.tell_archives(package, &archives, false, origin));
            found.extend(self.tell_archives(package, &unread, true, origin));
        }
        found
    }

    /// The packages that are to be installed by the platform's own manager, with what is known of each.
    fn installed_packages(&self) -> Vec<(StepId, &Resource, Listed)> {
        let mut gaps: BTreeMap<ResourceId, Listed> = BTreeMap::new();
        for one in &self.modelled.assumptions {
            let listed = match one.assumption {
                Assumption::UnknownPackage { .. } | Assumption::VirtualPackage { .. } => Listed::Nowhere,
                Assumption::PartialPackage { .. } => Listed::InPart,
                _ => continue,
            };
            for &resource in &one.resources {
                let known = gaps.entry(resource).or_insert(listed);
                *known = (*known).max(listed);
            }
        }
        let steps = self.real_steps();
        let packages = steps.filter_map(|(step, id)| {
            let resource = self.catalog.get(id)?;
            let listed = gaps.get(&id).copied().unwrap_or(Listed::Whole);
            let is_plain = ["provider", "source"].iter().all(|name| resource.get(name).is_none());
            let is_wanted = resource.type_name.as_str() == "Package" && !is_absent(resource);
            (is_wanted && (is_plain || listed == Listed::Nowhere)).then_some((step, resource, listed))
        });
        packages.collect()
    }

    /// Whether the lists of packages are read between an archive and a package.
    fn reads_lists(&self, order: &Order, archive: StepId, before: &BTreeSet<StepId>) -> bool {
        let after = order.after(archive);
        after.intersection(before).any(|&step| self.declared(step).is_some_and(updates_lists))
    }

    fn tell_needed(&self, package: StepId, needed: &BTreeMap<StepId, String>) -> Option<Diagnostic> {
        let steps: Vec<StepId> = needed.keys().copied().collect();
        let first = self.declared(*steps.first()?)?;
        let mut what: Vec<&str> = needed.values().map(String::as_str).collect();
        what.sort_unstable();
        what.dedup();
        let verb = if steps.len() == 1 { "needs" } else { "need" };
        let (names, by) = (self.names(&steps), self.words.step(package));
        let message = format!(
            "{names} {verb} {}, which {by} seems to bring, and nothing puts the package first",
            listed(&what)
        );
        let reference = self.reference(package)?;
        let finding = Diagnostic::new(Rule::MayNeed, message)
            .with_note("No index lists what the package installs; that it brings this, its name says.")
            .with_help(format!("Add `require => {reference}` to {}.", first.reference()));
        Some(self.placed(finding, &[&steps[..], &[package]].concat()))
    }

    fn tell_archives(
        &self,
        package: StepId,
        archives: &[StepId],
        is_first: bool,
        listed: Listed,
    ) -> Option<Diagnostic> {
        let first = self.reference(*archives.first()?)?;
        let (name, by) = (self.words.step(package), self.names(archives));
        let (missing, help) = if is_first {
            (
                "nothing reads the lists of packages between the two",
                format!("Let {by} notify a command that runs `apt-get update`, and let {name} require it."),
            )
        } else {
            ("nothing puts the archive first", format!("Add `require => {first}` to {name}."))
        };
        let message = format!("{name} seems to come from the archive that {by} adds, and {missing}");
        let note = if listed == Listed::Whole {
            "The platform has a package of that name, too: until the lists of the archive are read, that one is installed."
        } else {
            "No index of the platform lists the package. If the archive is not known yet, its installation fails."
        };
        let finding = Diagnostic::new(Rule::MayNeed, message).with_note(note).with_help(help);
        Some(self.placed(finding, &[&[package], archives].concat()))
    }

    fn reference(&self, step: StepId) -> Option<String> {
        let resource = self.declared(step)?;
        Some(format!("{}[{}]", resource.type_name, quoted(&resource.title)))
    }
}

/// Where a package is listed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Listed {
    /// In an index of the platform.
    Whole,
    /// Only its main files are known: it may come from anywhere.
    InPart,
    Nowhere,
}

/// What the catalog itself makes.
struct Managed {
    accounts: BTreeSet<String>,
    paths: BTreeSet<String>,
}

impl Managed {
    fn of<'a>(resources: impl Iterator<Item = &'a Resource>) -> Self {
        let mut managed = Self { accounts: BTreeSet::new(), paths: BTreeSet::new() };
        for resource in resources {
            match resource.type_name.as_str() {
                "User" | "Group" => managed.accounts.insert(name_of(resource)),
                "File" => managed.paths.insert(path_of(resource)),
                _ => continue,
            };
        }
        managed
    }

    /// What of a package a resource needs, by the package's name.
    fn need(&self, resource: &Resource, package: &str) -> Option<String> {
        if is_absent(resource) {
            return None;
        }
        match resource.type_name.as_str() {
            "Service" => {
                let service = name_of(resource);
                let plain = service.strip_suffix(".service").unwrap_or(&service);
                is_service_of(plain, package).then(|| format!("the service {plain}"))
            }
            "Exec" => {
                let command = resource.get("command").map(|value| texts(&value.data)).unwrap_or_default();
                let command = command.into_iter().next().unwrap_or_else(|| resource.title.to_string());
                let program = command.split_whitespace().next().unwrap_or_default();
                let program = program.rsplit('/').next().unwrap_or_default();
                (program == package).then(|| format!("the command {program}"))
            }
            writes if WRITES.contains(&writes) => self.needed_to_write(resource, package),
            _ => None,
        }
    }

    fn needed_to_write(&self, resource: &Resource, package: &str) -> Option<String> {
        for name in ["owner", "group"] {
            if resource.get(name).is_some_and(|value| texts(&value.data) == [package])
                && !self.accounts.contains(package)
            {
                let what = if name == "owner" { "user" } else { "group" };
                return Some(format!("the {what} {package}"));
            }
        }
        let path = path_of(resource);
        let (above, _) = path.rsplit_once('/')?;
        let place = above.split('/').position(|part| part == package)?;
        let folder: Vec<&str> = above.split('/').take(place + 1).collect();
        let folder = folder.join("/");
        // What lies deeper may be made by others; the folder above all is the package's.
        let is_managed = |path: &str| self.paths.contains(path);
        let parents = std::iter::successors(Some(above), |path| path.rsplit_once('/').map(|(up, _)| up));
        let is_made = parents.take_while(|path| path.len() >= folder.len()).any(is_managed);
        (!is_made && place > 1).then(|| format!("the directory {folder}"))
    }
}

/// Whether a resource adds an archive, and its text bears the name of a package; for one that the platform has, too, its first
/// word.
fn is_archive_of(resource: &Resource, package: &str, listed: Listed) -> bool {
    if !is_archive(resource) {
        return false;
    }
    let values = ["name", "path", "descr", "baseurl", "mirrorlist", "content", "source"];
    let mut texts: Vec<String> =
        values.iter().filter_map(|name| resource.get(name)).flat_map(|value| texts(&value.data)).collect();
    texts.push(resource.title.to_string());
    let text = texts.join(" ").to_lowercase();
    let parts = package.split(|letter: char| !letter.is_alphanumeric());
    let parts = parts.take(if listed == Listed::Whole { 1 } else { usize::MAX });
    parts.filter(|part| part.len() > 3 && !COMMON_WORDS.contains(part)).any(|part| text.contains(part))
}

/// Whether a resource adds an archive of packages.
fn is_archive(resource: &Resource) -> bool {
    let is_archive = match resource.type_name.as_str() {
        "Yumrepo" | "Zypprepo" => true,
        "File" | "Concat_file" => path_of(resource).starts_with("/etc/yum.repos.d/") || is_of_apt(resource),
        _ => false,
    };
    is_archive && !is_absent(resource)
}

fn is_of_apt(resource: &Resource) -> bool {
    let path = path_of(resource);
    let is_list = || [".list", ".sources"].iter().any(|ending| path.ends_with(ending));
    path.starts_with("/etc/apt/sources.list.d/") && is_list()
}

fn is_service_of(service: &str, package: &str) -> bool {
    let with = |one: &str, other: &str| ENDINGS.iter().any(|ending| one.strip_suffix(ending) == Some(other));
    service == package || with(service, package) || with(package, service)
}

/// Whether a resource makes apt read its lists.
fn updates_lists(resource: &Resource) -> bool {
    if resource.type_name.as_str() != "Exec" {
        return false;
    }
    let command = resource.get("command").map(|value| texts(&value.data)).unwrap_or_default();
    let command = if command.is_empty() { resource.title.to_string() } else { command.join(" ") };
    let mut words = command.split(|letter: char| letter.is_whitespace() || "'\"".contains(letter));
    let is_apt =
        |word: &str| ["apt-get", "apt", "aptitude"].contains(&word.rsplit('/').next().unwrap_or(word));
    words.any(is_apt) && words.any(|word| word == "update")
}

fn is_absent(resource: &Resource) -> bool {
    let ensure = resource.get("ensure").map(|value| texts(&value.data)).unwrap_or_default();
    matches!(ensure.first().map(String::as_str), Some("absent" | "purged" | "false"))
}

pub(crate) fn name_of(resource: &Resource) -> String {
    text_or_title(resource, "name")
}

fn path_of(resource: &Resource) -> String {
    text_or_title(resource, "path").trim_end_matches('/').to_owned()
}

fn text_or_title(resource: &Resource, parameter: &str) -> String {
    let given = resource.get(parameter).map(|value| texts(&value.data)).unwrap_or_default();
    given.into_iter().next().unwrap_or_else(|| resource.title.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_has_the_name_of_its_package_or_nearly() {
        assert!(is_service_of("rundeckd", "rundeck"));
        assert!(is_service_of("grafana", "grafana-server"));
        assert!(is_service_of("acme", "acme"));
        assert!(!is_service_of("mysql", "mysql-client"));
        assert!(!is_service_of("zabbix-server", "zabbix-web"));
    }
}
