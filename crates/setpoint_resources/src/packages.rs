//! What packages do to the machine, as far as the catalog can see it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_packages::{Coverage, Dependencies, Family, Found, PackageFacts, is_trimmed};
use setpoint_state::{CellId, CellKey, CellKind, Kind, Program, Test, Value};

use crate::clock::{Clock, Late};
use crate::entries::{Entry, SEVERAL, Tracked};
use crate::machine::{
    CONFIG_FILES, LATEST, Machine, PRESENT, absent, all, any, choose, installed, sequence, when,
};
use crate::mentions::{Mentions, is_below};
use crate::types::{parsed, service};
use crate::{Assumption, Origin, Unit, World};

/// The content of a file of a package: one for each package and path.
pub fn packaged_content(package: &str, path: &str) -> String {
    format!("(as in the package {package}: {path})")
}

/// The setting of the machine by which what packages recommend is installed with them.
pub const RECOMMENDED: &str = "(what they recommend is installed)";

/// As what a package brings something.
const AS_FILE: &str = "file";
const AS_CONFFILE: &str = "conffile";
const AS_DIRECTORY: &str = "directory";

/// Something that a package may bring.
enum Brought {
    Path(String, May),
    User(String),
    Group(String),
    Service(Unit),
}

impl Brought {
    fn name(&self) -> String {
        match self {
            Self::Path(path, _) => path.clone(),
            Self::User(user) => format!("the user {user}"),
            Self::Group(group) => format!("the group {group}"),
            Self::Service(service) => format!("the service {service}, and starts it"),
        }
    }
}

/// A package, reduced to what the catalog can see of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packaged {
    files: Vec<String>,
    conffiles: Vec<String>,
    directories: Vec<String>,
    generated: Vec<String>,
    users: Vec<String>,
    groups: Vec<String>,
    services: Vec<Unit>,
    has_conffiles: bool,
    /// What must be installed with it and what goes with it, itself not included.
    depends: Vec<Need>,
    dependants: Vec<Need>,
    /// What is taken away when it is installed.
    excludes: Vec<String>,
    /// What it may bring, as far as is known.
    may_bring: Vec<(String, May)>,
    /// Whether it may bring users, groups and services that are not known.
    may_bring_more: bool,
}

/// A package that another one needs, or that needs it, unless one of several others is installed: with postfix installed,
/// `exim4 | mail-transport-agent` brings no exim4.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Need {
    package: String,
    unless: Vec<String>,
    /// It is recommended alone, or comes with what is: apt installs it unless the machine is told not to, and nothing goes
    /// when it goes.
    recommended: bool,
}

/// As what a package may bring a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum May {
    Anything,
    /// All its files are listed, and its empty directories are not.
    Directory,
}

/// What is not known of the paths of a package.
#[derive(Clone, Debug, Default)]
struct Unlisted {
    /// It may bring any path, and any user.
    everything: bool,
    /// It may bring empty directories, and its scripts were not read.
    directories: bool,
    paths: BTreeSet<String>,
}

impl Unlisted {
    fn everything() -> Self {
        Self { everything: true, ..Self::default() }
    }

    fn of(known: Option<&PackageFacts>, trimmed: &[String], mentions: &Mentions) -> Self {
        let Some(known) = known.filter(|known| !known.is_partial()) else { return Self::everything() };
        let mut paths: BTreeSet<String> = known
            .conditional
            .iter()
            .filter(|path| mentions.is_named(path))
            .map(ToString::to_string)
            .collect();
        if known.coverage == Coverage::Trimmed {
            paths.extend(trimmed.iter().filter(|path| !known.has_path(path)).cloned());
        }
        Self { everything: false, directories: !known.lists_empty_directories, paths }
    }

    fn is_nothing(&self) -> bool {
        !self.everything && !self.directories && self.paths.is_empty()
    }

    fn extend(&mut self, other: &Self) {
        self.everything |= other.everything;
        self.directories |= other.directories;
        self.paths.extend(other.paths.iter().cloned());
    }

    fn may_bring(&self, path: &str) -> Option<May> {
        if self.everything || self.paths.contains(path) {
            Some(May::Anything)
        } else {
            self.directories.then_some(May::Directory)
        }
    }
}

/// The packages that a catalog names, and those that come with them and can be seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct PackageSet {
    packages: BTreeMap<String, Arc<Packaged>>,
    /// Names that resources use, and the package that they mean.
    names: BTreeMap<String, String>,
    unknown: BTreeSet<String>,
    /// Those of which the start chooses what is not known.
    open: BTreeSet<String>,
    /// What is not known of the packages that resources name, with all that they need, and how it is told.
    unlisted: BTreeMap<String, Unlisted>,
    gaps: BTreeMap<String, Vec<Assumption>>,
    /// What something in the catalog may remove.
    vanishing: BTreeSet<String>,
    /// What something purges, and what must have a version.
    purged: BTreeSet<String>,
    versioned: BTreeSet<String>,
    pub(crate) users: BTreeSet<String>,
    pub(crate) groups: BTreeSet<String>,
    paths: FxHashSet<String>,
    /// The packages that have a directory, and how many have a file.
    directories: FxHashMap<String, Vec<String>>,
    files: FxHashMap<String, usize>,
}

/// The first word of the name of a package: `mysql` of `mysql-server`, which brings `mysqladmin` or needs who does.
pub fn stem_of_package(name: &str) -> &str {
    name.split(['-', '_', '.']).next().unwrap_or(name)
}

impl PackageSet {
    pub(crate) fn collect(
        world: &World<'_>,
        mentions: &mut Mentions,
        clock: &mut Clock,
    ) -> Result<Self, Late> {
        let mut set = Self::default();
        // What every machine has matters to no package.
        let named: Vec<String> = mentions
            .named()
            .filter(|path| world.any_start || !mentions.is_base_directory(path, world))
            .cloned()
            .collect();
        let trimmed: Vec<String> = named.into_iter().filter(|path| is_trimmed(path)).collect();
        let mut closures: BTreeMap<String, Dependencies> = BTreeMap::new();
        let mut facts: BTreeMap<String, PackageFacts> = BTreeMap::new();
        for name in mentions.packages.clone() {
            if set.names.contains_key(&name) {
                continue;
            }
            clock.tick()?;
            match world.packages.find(&name) {
                Ok(Found::Package(found)) => {
                    let real = found.name.to_string();
                    let own = Unlisted::of(Some(&found), &trimmed, mentions);
                    if own.everything || !own.paths.is_empty() {
                        set.add_gap(&real, Assumption::PartialPackage { package: real.clone() }, &own);
                    } else if own.directories {
                        set.add_gap(&real, Assumption::EmptyDirectories { package: real.clone() }, &own);
                    }
                    let unread = Assumption::Dependencies { package: real.clone() };
                    let with = world.packages.dependencies(&real).unwrap_or_else(|_| {
                        set.add_gap(&real, unread.clone(), &Unlisted::everything());
                        Dependencies::default()
                    });
                    if !with.unknown.is_empty() || !with.uncertain.is_empty() {
                        set.add_gap(&real, unread, &Unlisted::everything());
                    }
                    closures.insert(real.clone(), with);
                    facts.insert(real.clone(), found);
                    set.names.insert(name, real);
                }
                Ok(Found::Virtual(providers)) => {
                    let providers = providers.iter().map(ToString::to_string).collect();
                    let gap = Assumption::VirtualPackage { package: name.clone(), providers };
                    set.add_gap(&name, gap, &Unlisted::everything());
                    set.unknown.insert(name.clone());
                    set.names.insert(name.clone(), name);
                }
                Ok(Found::Unknown) | Err(_) => {
                    let gap = Assumption::UnknownPackage { package: name.clone() };
                    set.add_gap(&name, gap, &Unlisted::everything());
                    set.unknown.insert(name.clone());
                    set.names.insert(name.clone(), name);
                }
            }
        }
        let asked: BTreeSet<String> = set.names.values().cloned().collect();
        let mut deep = BTreeSet::new();
        let mut unlisted: FxHashMap<&str, Unlisted> = FxHashMap::default();
        let needed = closures.values().flat_map(|with| with.packages.iter().map(ToString::to_string));
        let certain: BTreeSet<String> = asked.iter().cloned().chain(needed).collect();
        let mut every = certain.clone();
        for name in closures.keys() {
            let with = world.packages.dependencies_with_recommended(name).unwrap_or_default();
            every.extend(with.packages.iter().map(ToString::to_string));
        }
        for name in &every {
            clock.tick()?;
            let known = match facts.remove(name) {
                Some(known) => Some(known),
                None => world.packages.lookup(name).ok().flatten(),
            };
            let of_it = Unlisted::of(known.as_ref(), &trimmed, mentions);
            if !of_it.is_nothing() {
                unlisted.insert(name.as_str(), of_it);
            }
            let packaged = known.map(|known| reduce(&known, world, mentions, &mut deep)).unwrap_or_default();
            let is_seen =
                if certain.contains(name) { packaged.is_seen() } else { packaged.is_named(mentions) };
            if asked.contains(name) || is_seen {
                set.packages.insert(name.clone(), Arc::new(packaged));
            }
        }
        mentions.add_packaged(&deep);
        for (package, with) in &closures {
            let others = with.packages.iter().filter(|other| ***other != **package);
            for of_it in others.filter_map(|other| unlisted.get(&**other)) {
                set.add_gap(package, Assumption::Dependencies { package: package.clone() }, of_it);
            }
        }
        set.relate(world, &closures, &asked);
        set.exclude(world);
        set.purged = mentions.purged_packages.iter().map(|name| set.real_name(name)).collect();
        set.versioned = mentions.versioned_packages.iter().map(|name| set.real_name(name)).collect();
        let excluded: Vec<String> =
            set.packages.values().flat_map(|packaged| packaged.excludes.iter().cloned()).collect();
        for name in mentions.removed_packages.iter().chain(&excluded) {
            let real = set.real_name(name);
            set.vanishing.extend(set.get(&real).dependants.iter().map(|need| need.package.clone()));
            set.vanishing.insert(real);
        }
        for packaged in set.packages.values_mut().map(Arc::make_mut) {
            for list in [
                &mut packaged.files,
                &mut packaged.conffiles,
                &mut packaged.directories,
                &mut packaged.generated,
            ] {
                list.retain(|path| mentions.is_named(path));
            }
        }
        set.leave_open(world, mentions);
        for (name, packaged) in &set.packages {
            set.users.extend(packaged.users.iter().cloned());
            set.groups.extend(packaged.groups.iter().cloned());
            for path in &packaged.directories {
                set.directories.entry(path.clone()).or_default().push(name.clone());
            }
            for path in &packaged.files {
                *set.files.entry(path.clone()).or_default() += 1;
            }
            for list in [&packaged.files, &packaged.conffiles, &packaged.generated, &packaged.directories] {
                set.paths.extend(list.iter().cloned());
            }
        }
        Ok(set)
    }

    fn add_gap(&mut self, package: &str, gap: Assumption, unlisted: &Unlisted) {
        let gaps = self.gaps.entry(package.to_owned()).or_default();
        if !gaps.contains(&gap) {
            gaps.push(gap);
        }
        self.unlisted.entry(package.to_owned()).or_default().extend(unlisted);
    }

    /// Which of the packages that are seen come with which.
    fn relate(
        &mut self,
        world: &World<'_>,
        closures: &BTreeMap<String, Dependencies>,
        named: &BTreeSet<String>,
    ) {
        let seen: Vec<String> = self.packages.keys().cloned().collect();
        for name in &seen {
            let needs = match closures.get(name) {
                Some(with) => self.needs(world, name, with, named),
                None if named.contains(name) => Vec::new(),
                None => {
                    let with = world.packages.dependencies(name).unwrap_or_default();
                    self.needs(world, name, &with, named)
                }
            };
            for need in needs {
                if !need.recommended
                    && let Some(packaged) = self.packages.get_mut(&need.package)
                {
                    let dependant = Need { package: name.clone(), ..need.clone() };
                    Arc::make_mut(packaged).dependants.push(dependant);
                }
                if let Some(packaged) = self.packages.get_mut(name) {
                    Arc::make_mut(packaged).depends.push(need);
                }
            }
        }
    }

    /// What a package needs of what is seen, and which of the packages that are named would do instead.
    fn needs(
        &self,
        world: &World<'_>,
        name: &str,
        with: &Dependencies,
        named: &BTreeSet<String>,
    ) -> Vec<Need> {
        let all = world.packages.dependencies_with_recommended(name).unwrap_or_default();
        let others = all.packages.iter().filter(|other| ***other != *name);
        let mut needs: Vec<Need> = others
            .filter(|other| self.packages.contains_key(&***other))
            .map(|other| Need {
                package: other.to_string(),
                unless: Vec::new(),
                recommended: with.packages.binary_search(other).is_err(),
            })
            .collect();
        let instead = all.choices.iter().chain(&with.choices).flat_map(|choice| &choice.instead);
        let instead: BTreeSet<&str> =
            instead.map(|other| &**other).filter(|other| *other != name && named.contains(*other)).collect();
        for other in instead {
            let beside = world.packages.dependencies_beside(name, other).unwrap_or_default();
            let recommended = world.packages.recommended_beside(name, other).unwrap_or_default();
            for need in &mut needs {
                let kept = if need.recommended { &recommended } else { &beside };
                if need.package != other && kept.packages.iter().all(|kept| **kept != *need.package) {
                    need.unless.push(other.to_owned());
                }
            }
        }
        needs
    }

    /// What packages with gaps may bring besides: paths that the catalog names, unless there are too many, or something takes the
    /// package away again.
    fn leave_open(&mut self, world: &World<'_>, mentions: &Mentions) {
        const MOST: usize = 16;
        let is_free = |path: &&String| {
            !mentions.is_base_directory(path, world)
                && !world.base.files.contains(*path)
                && !path.contains('(')
        };
        let named: Vec<&String> = mentions.named().filter(is_free).collect();
        for (name, unlisted) in &self.unlisted {
            if self.vanishing.contains(name) {
                continue;
            }
            let Some(packaged) = self.packages.get_mut(name) else { continue };
            let packaged = Arc::make_mut(packaged);
            let lists = [&packaged.files, &packaged.conffiles, &packaged.directories, &packaged.generated];
            let is_listed = |path: &String| lists.iter().any(|list| list.contains(path));
            // A program that a command looks for is another package's, unless it bears the name of this one.
            let stem = stem_of_package(name);
            let is_others = |path: &str| {
                let program = path.rsplit('/').next().unwrap_or_default();
                mentions.is_program(path) && !program.starts_with(stem)
            };
            let may_bring: Vec<(String, May)> = named
                .iter()
                .filter(|path| !is_listed(path) && !is_others(path))
                .filter_map(|path| Some(((*path).clone(), unlisted.may_bring(path)?)))
                .collect();
            // A file that is put anew loses every entry that others make in it.
            let entries = if may_bring.is_empty() { 0 } else { mentions.entries.len() };
            if may_bring.len() + entries > MOST {
                continue;
            }
            packaged.may_bring = may_bring;
            packaged.may_bring_more = unlisted.everything || unlisted.directories;
            self.open.insert(name.clone());
        }
    }

    /// Whether what is not known of a package is a choice that the start makes.
    pub(crate) fn is_open(&self, name: &str) -> bool {
        self.open.contains(name)
    }

    /// Which of the packages that are seen exclude each other.
    fn exclude(&mut self, world: &World<'_>) {
        // Elsewhere than with apt, a conflict fails an installation and takes nothing away.
        if world.base.family != Family::Debian {
            return;
        }
        let names: Vec<String> = self.packages.keys().cloned().collect();
        let listed: Vec<&str> = names.iter().map(String::as_str).collect();
        for (one, other) in world.packages.exclusions(&listed).unwrap_or_default() {
            for (own, excluded) in [(one, other), (other, one)] {
                if let Some(packaged) = self.packages.get_mut(&names[own]) {
                    Arc::make_mut(packaged).excludes.push(names[excluded].clone());
                }
            }
        }
    }

    /// The package that a name means.
    pub(crate) fn real_name(&self, name: &str) -> String {
        self.names.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }

    pub(crate) fn can_vanish(&self, name: &str) -> bool {
        self.vanishing.contains(name)
    }

    pub(crate) fn is_unknown(&self, name: &str) -> bool {
        self.unknown.contains(name)
    }

    pub(crate) fn provides(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    pub(crate) fn provides_directory(&self, path: &str) -> bool {
        self.directories.contains_key(path)
    }

    /// The configuration that a package brings below /etc, among the paths that are named.
    pub(crate) fn configuration_of_service(&self, service: &Unit) -> Vec<String> {
        self.packages
            .values()
            .filter(|packaged| packaged.services.iter().any(|name| name == service))
            .flat_map(|packaged| packaged.conffiles.iter().cloned())
            .collect()
    }

    /// Whether the package of a service brings a folder, or something below it, among the paths that are named.
    pub(crate) fn service_has_below(&self, service: &Unit, folder: &str) -> bool {
        let mut of_service =
            self.packages.values().filter(|packaged| packaged.services.iter().any(|name| name == service));
        of_service.any(|packaged| packaged.has_below(folder))
    }

    /// Whether a package brings a folder, or something below it. Every package has files where all of them do.
    fn has_below(&self, name: &str, folder: &str) -> bool {
        let of_all = ["/usr/share/doc", "/var/lib/dpkg"];
        of_all.iter().any(|path| is_below(path, folder))
            || self.packages.get(name).is_some_and(|packaged| packaged.has_below(folder))
    }

    fn get(&self, name: &str) -> Arc<Packaged> {
        self.packages.get(name).cloned().unwrap_or_default()
    }

    /// The other packages that have a directory.
    fn others_with_directory(&self, path: &str, name: &str) -> Vec<String> {
        let all = self.directories.get(path).into_iter().flatten();
        all.filter(|other| *other != name).cloned().collect()
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.packages.keys().cloned().collect()
    }
}

impl Packaged {
    /// Whether it brings a folder, or something below it, among the paths that are named.
    fn has_below(&self, folder: &str) -> bool {
        let all = [&self.files, &self.conffiles, &self.directories, &self.generated];
        all.into_iter().flatten().any(|path| path == folder || is_below(path, folder))
    }

    fn is_seen(&self) -> bool {
        !(self.files.is_empty()
            && self.conffiles.is_empty()
            && self.directories.is_empty()
            && self.generated.is_empty()
            && self.users.is_empty()
            && self.groups.is_empty())
    }

    /// Whether something in the catalog names what it brings: one that is only recommended does not matter otherwise.
    fn is_named(&self, mentions: &Mentions) -> bool {
        let paths = [&self.files, &self.conffiles, &self.directories, &self.generated];
        paths.iter().any(|paths| !paths.is_empty())
            || self.users.iter().any(|user| mentions.users.contains(user))
            || self.groups.iter().any(|group| mentions.groups.contains(group))
            || !self.services.is_empty()
    }
}

fn reduce(
    facts: &PackageFacts,
    world: &World<'_>,
    mentions: &Mentions,
    deep: &mut BTreeSet<String>,
) -> Packaged {
    let mut kept = |paths: &[Box<str>]| -> Vec<String> {
        let mut found = Vec::new();
        for path in paths {
            let path =
                if needs_following(path) { world.base.follow(path.to_string()) } else { path.to_string() };
            if !mentions.is_interesting(&path) {
                continue;
            }
            if !mentions.is_named(&path) {
                deep.insert(path.clone());
            }
            found.push(path);
        }
        found.sort();
        found.dedup();
        found
    };
    let mut files = kept(&facts.files);
    let conffiles = kept(&facts.conffiles);
    files.retain(|path| conffiles.binary_search(path).is_err());
    let mut directories = kept(&facts.directories);
    directories.extend(kept(&facts.generated_directories));
    directories.retain(|path| world.any_start || !mentions.is_base_directory(path, world));
    directories.sort();
    directories.dedup();
    let mut services: Vec<Unit> = facts
        .services
        .iter()
        .map(|service| Unit::named(&service.name, world.base.family))
        .filter(|name| mentions.services.contains(name))
        .collect();
    services.dedup();
    let mut groups: Vec<String> = facts.groups.iter().map(|group| group.name.to_string()).collect();
    groups.extend(facts.users.iter().filter_map(|user| user.group.as_ref()).map(ToString::to_string));
    groups.retain(|group| !world.base.groups.contains(group));
    groups.sort();
    groups.dedup();
    Packaged {
        files,
        conffiles,
        directories,
        generated: kept(&facts.generated),
        users: facts
            .users
            .iter()
            .map(|user| user.name.to_string())
            .filter(|user| !world.base.users.contains(user))
            .collect(),
        groups,
        services,
        has_conffiles: !facts.conffiles.is_empty(),
        depends: Vec::new(),
        dependants: Vec::new(),
        excludes: Vec::new(),
        may_bring: Vec::new(),
        may_bring_more: false,
    }
}

fn needs_following(path: &str) -> bool {
    ["/bin/", "/sbin/", "/lib", "/var/run", "/var/lock"].iter().any(|prefix| path.starts_with(prefix))
}

/// The mode that packages give a file.
fn usual_mode(path: &str) -> &'static str {
    let programs = ["/usr/bin/", "/usr/sbin/", "/usr/games/", "/etc/init.d/", "/usr/local/bin/"];
    if programs.iter().any(|folder| path.starts_with(folder)) { "0755" } else { "0644" }
}

impl Machine<'_> {
    /// Adds what is assumed of a package: that it brings nothing of what is not known of it.
    pub(crate) fn assume_package(&mut self, name: &str) {
        let gaps = self.packages.gaps.get(name).cloned().unwrap_or_default();
        if !self.packages.is_open(name) {
            for gap in gaps {
                self.assume(gap);
            }
            return;
        }
        let brought = self.may_bring(name);
        for gap in gaps {
            // Which of the packages a manager chooses, if any, is no question of the start.
            if matches!(gap, Assumption::VirtualPackage { .. }) {
                self.start.extend(brought.iter().map(|(cell, _)| absent(*cell)));
                self.assume(gap);
                continue;
            }
            for (cell, _) in &brought {
                self.assume_start(absent(*cell), gap.clone());
            }
            if brought.is_empty() {
                self.assume_start(Test::True, gap);
            }
        }
    }

    /// What a package may bring besides what is known, each with the cell that says whether it does.
    fn may_bring(&mut self, name: &str) -> Vec<(CellId, Brought)> {
        if !self.packages.is_open(name) {
            return Vec::new();
        }
        let packaged = self.packages.get(name);
        let paths = packaged.may_bring.iter().cloned();
        let mut found: Vec<Brought> = paths.map(|(path, may)| Brought::Path(path, may)).collect();
        if !packaged.may_bring_more {
            return found.into_iter().map(|brought| (self.choice(name, &brought), brought)).collect();
        }
        let users = self.mentions.users.iter().filter(|user| !self.is_base_user(user));
        found.extend(users.cloned().map(Brought::User));
        let groups = self.mentions.groups.iter().filter(|group| !self.is_base_group(group));
        found.extend(groups.cloned().map(Brought::Group));
        if self.world.packages_start_services {
            found.extend(self.mentions.services.iter().cloned().map(Brought::Service));
        }
        found.into_iter().map(|brought| (self.choice(name, &brought), brought)).collect()
    }

    /// The cell that says whether and as what a package brings something: chosen at the start, and never written.
    fn choice(&mut self, name: &str, brought: &Brought) -> CellId {
        let key = CellKey::with_detail(CellKind::Other, name, &format!("(brings {})", brought.name()));
        let new = self.space.find(&key).is_none();
        let cell = self.space.cell(key, &[Kind::Absent, Kind::Text]);
        if new {
            let ways: &[&str] = match brought {
                Brought::Path(_, May::Anything) => &[AS_FILE, AS_CONFFILE, AS_DIRECTORY],
                Brought::Path(_, May::Directory) => &[AS_DIRECTORY],
                Brought::User(_) | Brought::Group(_) | Brought::Service(_) => &[AS_FILE],
            };
            let mut choices = vec![absent(cell)];
            choices.extend(ways.iter().map(|way| Test::is(cell, Value::text(way))));
            self.laws.push(Test::Any(choices));
        }
        cell
    }

    /// Puts what a package may bring besides what is known, as the start has chosen.
    fn unpack_choices(&mut self, name: &str) -> Vec<Program> {
        let mut steps = Vec::new();
        for (choice, brought) in self.may_bring(name) {
            let is = |text: &str| Test::is(choice, Value::text(text));
            match brought {
                Brought::Path(path, may) => {
                    let Some(cell) = self.path(&path) else { continue };
                    let above = crate::types::perform::make_directories(self, &path);
                    let blocked = || Program::fail(&format!("something else is at {path}"));
                    if may == May::Anything {
                        let mut put = vec![self.write_packaged(name, &path)];
                        put.extend(self.set_attributes(&path, usual_mode(&path), "root", "root"));
                        let put = sequence(put);
                        let fresh = sequence(vec![above.clone(), put.clone()]);
                        let over = choose(Test::Kind(cell, Kind::Directory), blocked(), put);
                        steps.push(when(is(AS_FILE), choose(absent(cell), fresh.clone(), over)));
                        let kept = when(Test::Kind(cell, Kind::Directory), blocked());
                        steps.push(when(is(AS_CONFFILE), choose(absent(cell), fresh, kept)));
                    }
                    let make = self.make_directory(&path, "0755");
                    let make = choose(
                        absent(cell),
                        sequence(vec![above, make]),
                        when(Test::Kind(cell, Kind::File), blocked()),
                    );
                    steps.push(when(is(AS_DIRECTORY), make));
                }
                Brought::User(user) => {
                    let cell = self.user(&user);
                    let make = when(absent(cell), Program::set(cell, Value::text(PRESENT)));
                    steps.push(when(is(AS_FILE), make));
                }
                Brought::Group(group) => {
                    let cell = self.group(&group);
                    let make = when(absent(cell), Program::set(cell, Value::text(PRESENT)));
                    steps.push(when(is(AS_FILE), make));
                }
                Brought::Service(service) => {
                    let start = service::start(self, &service);
                    let enabled = service::enabled_cell(self, &service);
                    let enable = Program::set(enabled, Value::text("true"));
                    steps.push(when(is(AS_FILE), sequence(vec![start, enable])));
                }
            }
        }
        steps
    }

    /// Puts a file of a package.
    fn write_packaged(&mut self, package: &str, path: &str) -> Program {
        let content = packaged_content(package, path);
        let mut steps = vec![self.write_named(path, &content, Origin::Package(package.to_owned()))];
        let tracked: Vec<Tracked> =
            self.tracked(path).into_iter().filter(|tracked| !tracked.entry.is_of_the_run()).collect();
        let chosen: Vec<CellId> =
            tracked.iter().map(|tracked| self.packaged_entry(package, path, &tracked.entry)).collect();
        for (line, &there) in tracked.iter().zip(&chosen) {
            let Entry::Line(text) = &line.entry else { continue };
            for (other, &found) in tracked.iter().zip(&chosen) {
                let value = other.read(text);
                if matches!(other.entry, Entry::Match(_)) && value != Value::Absent {
                    self.laws.push(any(vec![absent(there), Test::is(found, value)]));
                }
            }
        }
        steps.extend(tracked.iter().zip(chosen).map(|(tracked, chosen)| Program::copy(tracked.cell, chosen)));
        sequence(steps)
    }

    /// The cell that says what a packaged file has as one of the entries that resources manage: chosen at the start, and never
    /// written.
    fn packaged_entry(&mut self, package: &str, path: &str, entry: &Entry) -> CellId {
        let own = entry.key(path);
        let name = own.detail.as_deref().filter(|detail| *detail != path).unwrap_or(&own.name);
        let key = CellKey::with_detail(CellKind::Other, package, &format!("({path} has {name})"));
        let new = self.space.find(&key).is_none();
        let cell = self.space.cell(key, &[Kind::Absent, Kind::Text]);
        if new {
            match entry {
                Entry::Line(_) | Entry::Edited { .. } | Entry::Rest { .. } => {
                    self.laws.push(Test::Any(vec![absent(cell), Test::is(cell, Value::text(PRESENT))]));
                }
                Entry::Match(_) => self.laws.push(Test::is(cell, Value::text(SEVERAL)).negate()),
                _ => {}
            }
            self.assume_start(absent(cell), Assumption::PackagedEntries { path: path.to_owned() });
        }
        cell
    }

    /// Installs a package and what it needs, where they are not installed.
    pub(crate) fn install(&mut self, name: &str, version: &str) -> Program {
        self.assume_package(name);
        let mut steps = Vec::new();
        for need in &self.packages.get(name).depends {
            let cell = self.package(&need.package);
            let unpack = self.unpack(&need.package, LATEST);
            let mut conditions = vec![installed(cell).negate()];
            conditions.extend(need.unless.iter().map(|other| installed(self.package(other)).negate()));
            if need.recommended {
                conditions.push(self.installs_recommended());
                // What is only recommended takes nothing away.
                let excludes = &self.packages.get(&need.package).excludes;
                conditions.extend(excludes.iter().map(|other| installed(self.package(other)).negate()));
            }
            steps.push(when(all(conditions), unpack));
        }
        steps.push(self.unpack(name, version));
        sequence(steps)
    }

    /// Whether the package manager installs what packages recommend: a setting of the machine, either way at the start.
    fn installs_recommended(&mut self) -> Test {
        let cell = self.other(CellKind::Other, "packages", Some(RECOMMENDED));
        absent(cell).negate()
    }

    /// Puts the files of a package, its users and its services.
    pub(crate) fn unpack(&mut self, name: &str, version: &str) -> Program {
        // What many packages need is asked for as often.
        if version == LATEST
            && let Some(known) = self.unpacked.get(name)
        {
            return known.clone();
        }
        let program = self.unpack_anew(name, version);
        if version == LATEST {
            self.unpacked.insert(name.to_owned(), program.clone());
        }
        program
    }

    fn unpack_anew(&mut self, name: &str, version: &str) -> Program {
        let packaged = self.packages.get(name);
        let mut steps = Vec::new();
        // What excludes it goes first.
        for other in &packaged.excludes {
            let cell = self.package(other);
            let remove = self.uninstall_for(other, false, Some(name));
            steps.push(when(installed(cell), remove));
        }
        for path in &packaged.directories {
            let Some(cell) = self.path(path) else { continue };
            let make = self.make_directory(path, "0755");
            let blocked = Program::fail(&format!("{name} needs the directory {path}, and a file is there"));
            steps.push(choose(absent(cell), make, when(Test::Kind(cell, Kind::File), blocked)));
        }
        for path in packaged.files.iter().chain(&packaged.conffiles) {
            let Some(cell) = self.path(path) else { continue };
            let mut put = vec![self.write_packaged(name, path)];
            put.extend(self.set_attributes(path, usual_mode(path), "root", "root"));
            let blocked = Program::fail(&format!("{name} has the file {path}, and a directory is there"));
            let is_conffile = packaged.conffiles.binary_search(path).is_ok();
            // A conffile that is there is kept, whatever it holds.
            let there = if is_conffile { Program::Skip } else { sequence(put.clone()) };
            steps.push(choose(
                absent(cell),
                sequence(put),
                choose(Test::Kind(cell, Kind::Directory), blocked, there),
            ));
        }
        for path in &packaged.generated {
            let Some(cell) = self.path(path) else { continue };
            let mut put = vec![self.write_packaged(name, path)];
            put.extend(self.set_attributes(path, usual_mode(path), "root", "root"));
            steps.push(when(absent(cell), sequence(put)));
        }
        for group in &packaged.groups {
            let cell = self.group(group);
            steps.push(when(absent(cell), Program::set(cell, Value::text(PRESENT))));
        }
        for user in &packaged.users {
            let cell = self.user(user);
            let make = sequence(vec![Program::set(cell, Value::text(PRESENT)), self.made_by(user, name)]);
            steps.push(when(absent(cell), make));
        }
        steps.extend(self.unpack_choices(name));
        // Its files lie on what is mounted at the time, also those that nothing names.
        for (point, mount) in self.mentions.mount_points.clone() {
            if self.packages.has_below(name, &point) {
                let mounted = parsed::mounted_cell(self, &mount);
                let place = format!("(what was mounted at {point} when it was installed)");
                let place = self.other(CellKind::Other, &format!("the package {name}"), Some(&place));
                steps.push(Program::copy(place, mounted));
            }
        }
        let cell = self.package(name);
        steps.push(Program::set(cell, Value::text(version)));
        if self.world.packages_start_services {
            for name in &packaged.services {
                steps.push(service::start(self, name));
                let enabled = service::enabled_cell(self, name);
                steps.push(Program::set(enabled, Value::text("true")));
            }
        }
        sequence(steps)
    }

    /// Removes a package and what needs it.
    pub(crate) fn uninstall(&mut self, name: &str, purge: bool) -> Program {
        self.uninstall_for(name, purge, None)
    }

    /// The same, where another package takes its place: what that one serves as well stays.
    fn uninstall_for(&mut self, name: &str, purge: bool, arriving: Option<&str>) -> Program {
        self.assume_package(name);
        let mut steps = Vec::new();
        for need in &self.packages.get(name).dependants {
            let serves = |other: &String| Some(other.as_str()) == arriving;
            if need.unless.iter().any(serves) || serves(&need.package) {
                continue;
            }
            let mut conditions = vec![installed(self.package(&need.package))];
            conditions.extend(need.unless.iter().map(|other| installed(self.package(other)).negate()));
            let remove = self.take_away(&need.package, purge);
            steps.push(when(all(conditions), remove));
        }
        steps.push(self.take_away(name, purge));
        sequence(steps)
    }

    fn take_away(&mut self, name: &str, purge: bool) -> Program {
        let packaged = self.packages.get(name);
        let mut steps = Vec::new();
        if self.world.packages_start_services {
            for name in &packaged.services {
                steps.push(service::stop(self, name));
            }
        }
        let mut gone: Vec<&String> = packaged.files.iter().collect();
        if purge {
            gone.extend(&packaged.conffiles);
        }
        for path in gone {
            let Some(cell) = self.path(path) else { continue };
            let remove = self.remove_one(path);
            steps.push(when(Test::Kind(cell, Kind::Directory).negate(), remove));
        }
        for path in packaged.directories.iter().rev() {
            let Some(cell) = self.path(path) else { continue };
            // A directory goes when it is empty and no other package has it.
            let mut conditions = vec![Test::Kind(cell, Kind::Directory)];
            for child in self.below(path) {
                if let Some(child) = self.path(&child) {
                    conditions.push(absent(child));
                }
            }
            for other in self.packages.others_with_directory(path, name) {
                let other = self.package(&other);
                conditions.push(installed(other).negate());
            }
            let remove = self.remove_one(path);
            steps.push(when(all(conditions), remove));
        }
        let cell = self.package(name);
        // What a removal leaves matters only to what purges it.
        let kept = packaged.has_conffiles && self.packages.purged.contains(name);
        let left = if purge || !kept { Value::Absent } else { Value::text(CONFIG_FILES) };
        steps.push(Program::set(cell, left));
        sequence(steps)
    }

    /// What an admissible start has of what packages may bring: what is installed has brought it.
    pub(crate) fn assume_choices(&mut self) {
        if self.world.any_start {
            return;
        }
        for name in self.packages.seen() {
            if !self.packages.is_open(&name) {
                continue;
            }
            let cell = self.package(&name);
            for (choice, brought) in self.may_bring(&name) {
                let there = match brought {
                    Brought::Path(path, _) => self.exists(&path),
                    Brought::User(user) => absent(self.user(&user)).negate(),
                    Brought::Group(group) => absent(self.group(&group)).negate(),
                    Brought::Service(_) => continue,
                };
                self.start.push(any(vec![installed(cell).negate(), absent(choice), there]));
            }
        }
    }

    /// What an admissible start has of packages: what is installed has its files, users and dependencies.
    pub(crate) fn assume_packages(&mut self) {
        if self.world.any_start {
            return;
        }
        for name in self.packages.seen() {
            let packaged = self.packages.get(&name);
            let cell = self.package(&name);
            if !self.packages.versioned.contains(&name) {
                // Any version is as good as another.
                let mut states = vec![absent(cell), Test::is(cell, Value::text(LATEST))];
                if self.packages.purged.contains(&name) {
                    states.push(Test::is(cell, Value::text(CONFIG_FILES)));
                }
                self.start.push(Test::Any(states));
            }
            let mut has = Vec::new();
            let mut lacks = Vec::new();
            for path in &packaged.files {
                if let Some(path_cell) = self.path(path) {
                    has.push(absent(path_cell).negate());
                    let others = self.packages.files.get(path).is_some_and(|count| *count > 1);
                    if !others
                        && !self.mentions.provided.contains(path)
                        && !self.mentions.files.contains_key(path)
                    {
                        lacks.push(absent(path_cell));
                    }
                }
            }
            for path in &packaged.directories {
                if let Some(path) = self.path(path) {
                    has.push(Test::Kind(path, Kind::Directory));
                }
            }
            for user in &packaged.users {
                let user = self.user(user);
                has.push(absent(user).negate());
            }
            for group in &packaged.groups {
                let group = self.group(group);
                has.push(absent(group).negate());
            }
            for need in packaged.depends.iter().filter(|need| !need.recommended) {
                let mut ways = vec![installed(self.package(&need.package))];
                ways.extend(need.unless.iter().map(|other| installed(self.package(other))));
                has.push(any(ways));
            }
            for other in &packaged.excludes {
                let other = self.package(other);
                has.push(installed(other).negate());
            }
            if !has.is_empty() {
                self.start.push(any(vec![installed(cell).negate(), all(has)]));
            }
            if !lacks.is_empty() {
                self.start.push(any(vec![installed(cell), all(lacks)]));
            }
        }
    }
}
