//! `exec`.

use std::collections::BTreeSet;

use setpoint_catalog::{Catalog, Resource, ResourceId};
use setpoint_commands::Surroundings;
use setpoint_puppet_values::Data;
use setpoint_state::{CellId, CellKey, CellKind, Kind, Program, Reach, Test, Value};

use super::perform::{bind, can_fail, canonical, is_certain, perform, size};
use super::{Model, Type, permissions, service};
use crate::attributes::{Attributes, shared};
use crate::commands::{self, Effect, Question};
use crate::entries::Entry;
use crate::machine::{Machine, PRESENT, absent, all, any, choose, installed, never, sequence, when};
use crate::mentions::{Mentions, OF_GIT, is_below};
use crate::table::{Row, Scope, Values};
use crate::{Assumption, Base, Origin, Unit, World, settings};

const ROWS: &[Row] = &[
    Row::modelled("command"),
    Row::modelled("path"),
    Row::modelled("user").of(Values::Single),
    Row::modelled("group").of(Values::Single),
    Row::modelled("cwd").of(Values::Single),
    Row::inert("logoutput", "the words of a report"),
    Row::modelled("refresh").of(Values::Single),
    Row::open("refresh", Scope::Everything),
    Row::modelled("environment"),
    Row::open("umask", Scope::Own),
    Row::inert("timeout", "a command that takes too long fails for reasons that no resource decides"),
    Row::modelled("tries").of(Values::Single),
    Row::inert("try_sleep", "how long Puppet waits"),
    Row::modelled("refreshonly").words(&["true", "false"]),
    Row::modelled("creates"),
    Row::modelled("unless"),
    Row::open("unless", Scope::Everything).of(Values::Nested),
    Row::modelled("onlyif"),
    Row::open("onlyif", Scope::Everything).of(Values::Nested),
    Row::modelled("returns"),
    Row::modelled("provider").words(&["posix", "shell"]),
    Row::open("provider", Scope::Everything),
];

/// `exec`.
pub(crate) struct Exec;

impl Type for Exec {
    fn name(&self) -> &'static str {
        "Exec"
    }

    fn rows(&self) -> &'static [Row] {
        ROWS
    }

    fn mention(&self, mentions: &mut Mentions, _id: ResourceId, resource: &Resource, world: &World<'_>) {
        let found =
            [effects(resource, mentions, world)].into_iter().chain(refresh(resource, mentions, world));
        for effect in found.flatten().flatten().collect::<Vec<_>>() {
            for leaf in effect.leaves() {
                mentions.effect(leaf, world);
            }
        }
        for check in resource.texts("unless").iter().chain(&resource.texts("onlyif")) {
            if let Ok(question) = question(resource, check, mentions, world) {
                mentions.question(&question, world);
            }
        }
        for text in commands(resource) {
            for path in commands::absolute_paths(&text) {
                mentions.add_path(path, world);
            }
            for program in setpoint_commands::needed_programs(&text) {
                mentions.looks_for(program_places(resource, &program, mentions, world));
            }
        }
        for path in resource.texts("creates").into_iter().chain(resource.text("cwd")) {
            mentions.add_path(&path, world);
        }
        for path in resource.texts("creates") {
            mentions.provide(&path, world);
        }
    }

    fn model(&self, machine: &mut Machine<'_>, _catalog: &Catalog, resource: &Resource) -> Model {
        model(machine, resource)
    }

    fn declares(&self, _resource: &Resource, _path: Option<&str>, _key: &CellKey) -> bool {
        false
    }
}

/// A program that branches more often than this is not asked about.
const LARGEST: usize = 4000;

/// The command of an exec.
pub(crate) fn command(resource: &Resource) -> String {
    resource.name_or_title("command")
}

/// All commands that an exec may run.
pub(crate) fn commands(resource: &Resource) -> Vec<String> {
    let mut all = vec![command(resource)];
    all.extend(resource.text("refresh"));
    all.extend(resource.texts("unless"));
    all.extend(resource.texts("onlyif"));
    all
}

/// Reads a command where and with what its resource runs it.
fn read<T>(
    resource: &Resource,
    mentions: &Mentions,
    world: &World<'_>,
    read: impl FnOnce(Surroundings<'_>) -> T,
) -> T {
    let folder = resource.text("cwd");
    let given = resource.texts("environment");
    let variables: Vec<(String, String)> = given
        .iter()
        .filter_map(|one| one.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let script = |path: &str| mentions.script(path, world);
    let programs = |word: &str| program_places(resource, word, mentions, world);
    read(Surroundings {
        folder: folder.as_deref(),
        variables: &variables,
        script: Some(&script),
        programs: Some(&programs),
    })
}

/// The places at which a command of a resource looks for a program; none if the platform has it for certain.
fn program_places(resource: &Resource, word: &str, mentions: &Mentions, world: &World<'_>) -> Vec<String> {
    let word = word.trim_matches(['"', '\'']);
    let places: Vec<String> = if word.starts_with('/') {
        mentions.canonical(word, world).into_iter().collect()
    } else if word.is_empty()
        || word.contains(['/', '=', '$', '`', '*', '%'])
        || world.base.is_shell_word(word)
    {
        Vec::new()
    } else {
        let mut folders: Vec<String> =
            resource.texts("path").iter().flat_map(|path| path.split(':')).map(str::to_owned).collect();
        if folders.is_empty() {
            folders = ["/usr/bin", "/usr/sbin"].map(str::to_owned).to_vec();
        }
        let places =
            folders.iter().filter_map(|folder| mentions.canonical(&format!("{folder}/{word}"), world));
        let mut found: Vec<String> = Vec::new();
        for place in places {
            if !found.contains(&place) {
                found.push(place);
            }
        }
        found
    };
    let is_platforms = |place: &String| {
        (world.base.has_program(place) || world.base.files.contains(place)) && !mentions.is_replaced(place)
    };
    if places.iter().any(is_platforms) { Vec::new() } else { places }
}

/// A program is at one of these places, as far as the catalog brings it there; else it is taken to be.
pub(crate) fn is_at_one_of(machine: &mut Machine<'_>, places: &[String]) -> Test {
    let is_open = |path: &&String| machine.is_provided(path) || machine.mentions.files.contains_key(*path);
    let open: Vec<String> = places.iter().filter(is_open).cloned().collect();
    if open.is_empty() {
        return Test::True;
    }
    let tests = open.iter().map(|path| match machine.path(path) {
        Some(cell) => {
            let there = Test::Any(vec![Test::Kind(cell, Kind::File), Test::Kind(cell, Kind::Link)]);
            all(vec![there, may_be_run(machine, path)])
        }
        None => never(),
    });
    let tests: Vec<Test> = tests.collect();
    any(tests)
}

/// What the command does, as declared or as understood.
fn effects(resource: &Resource, mentions: &Mentions, world: &World<'_>) -> Result<Vec<Effect>, String> {
    let command = command(resource);
    if let Some(declared) = super::declared::exec(resource, &command, world) {
        return Ok(declared);
    }
    if let Some(program) = replaced_program(resource, &command, mentions, world) {
        return Err(format!("the catalog puts a program of its own at {program}"));
    }
    read(resource, mentions, world, |surroundings| match resource.get("command").map(|value| &value.data) {
        // An array is one program with its words, and no shell reads it.
        Some(Data::Array(_)) => commands::effects_of_words(&resource.texts("command"), surroundings),
        _ => commands::effects(&command, surroundings),
    })
}

/// The path of a program of the catalog that a command runs in the place of the platform's own.
fn replaced_program(
    resource: &Resource,
    command: &str,
    mentions: &Mentions,
    world: &World<'_>,
) -> Option<String> {
    let folders: Vec<String> =
        resource.texts("path").iter().flat_map(|path| path.split(':')).map(str::to_owned).collect();
    let words = command.split(|one: char| one.is_whitespace() || ";&|()".contains(one));
    let is_platforms = |name: &str| {
        ["/usr/bin", "/usr/sbin"].iter().any(|folder| world.base.files.contains(&format!("{folder}/{name}")))
    };
    for word in words.filter(|word| is_platforms(word.rsplit('/').next().unwrap_or_default())) {
        let places = if word.starts_with('/') {
            vec![word.to_owned()]
        } else if word.contains('/') {
            continue;
        } else {
            folders.iter().map(|folder| format!("{folder}/{word}")).collect()
        };
        let mut places = places.iter().filter_map(|place| mentions.canonical(place, world));
        // The first that is there is run.
        let first = places.find(|place| mentions.is_replaced(place) || world.base.files.contains(place));
        if let Some(first) = first.filter(|first| mentions.is_replaced(first)) {
            return Some(first);
        }
    }
    None
}

/// What the command of a refresh does, if it is another one.
fn refresh(
    resource: &Resource,
    mentions: &Mentions,
    world: &World<'_>,
) -> Option<Result<Vec<Effect>, String>> {
    let command = resource.text("refresh")?;
    Some(read(resource, mentions, world, |surroundings| commands::effects(&command, surroundings)))
}

/// What a check of the resource asks.
fn question(
    resource: &Resource,
    check: &str,
    mentions: &Mentions,
    world: &World<'_>,
) -> Result<Question, String> {
    read(resource, mentions, world, |surroundings| commands::question(check, surroundings))
}

/// Whether the user says what a command does.
pub(crate) fn is_declared(resource: &Resource, world: &World<'_>) -> bool {
    resource.type_name.as_str() == "Exec"
        && super::declared::is_idempotent(resource, &command(resource), world).is_some()
}

fn model(machine: &mut Machine<'_>, resource: &Resource) -> Model {
    let command = command(resource);
    let mut unknown: Option<String> = None;
    let mut disturbed: Vec<CellId> = Vec::new();
    let done = effects(resource, &machine.mentions, machine.world);
    let done_again = refresh(resource, &machine.mentions, machine.world);
    for effect in done.iter().chain(done_again.iter().flatten()).flatten() {
        for leaf in effect.leaves() {
            disturbed.extend(disturbed_by(machine, resource, leaf));
        }
    }
    disturbed.extend(fed_back(machine, done.iter().flatten()));
    for done in [Some(&done), done_again.as_ref()].into_iter().flatten() {
        if let Err(reason) = done {
            unknown.get_or_insert(reason.clone());
        }
    }
    let done = done.unwrap_or_default();
    let done_again = done_again.map(Result::unwrap_or_default);
    let (mut run, mut again) = runs(machine, resource, &done, done_again.as_deref(), &mut unknown);
    let fetched: Vec<String> = done.iter().flat_map(Effect::leaves).filter_map(fetched_from).collect();
    let remembered = sequence(
        fetched
            .iter()
            .map(|address| {
                settings::read_to_fetch(machine, resource, address, resource.text("user").as_deref())
            })
            .collect(),
    );
    (run, again) = (sequence(vec![remembered.clone(), run]), sequence(vec![remembered, again]));
    assume_scripts(machine, resource);
    let declared = super::declared::is_idempotent(resource, &command, machine.world);
    if declared == Some(false) {
        let count = counted(machine, resource);
        (run, again) = (sequence(vec![run, count.clone()]), sequence(vec![again, count]));
    }
    if size(&run).max(size(&again)) > LARGEST {
        unknown.get_or_insert_with(|| "it branches too often".to_owned());
    }
    // What a user may do is not modelled; nor is it for who says what the command does.
    let user =
        resource.text("user").filter(|user| !["root", "0"].contains(&user.as_str()) && declared.is_none());
    let links = unsettled_links(machine, resource, done.iter().chain(done_again.iter().flatten()));
    if !links.is_empty() && declared.is_none() {
        disturbed.extend(links.iter().filter_map(|link| machine.path(link)).collect::<Vec<_>>());
        disturbed.extend(run.written());
        disturbed.extend(again.written());
    }
    let mut is_plain = false;
    let all_done = || done.iter().chain(done_again.iter().flatten());
    if user.as_ref().is_some_and(|user| permissions::are_settled(machine, user, all_done())) {
        // Whether the user may do it depends on what nothing of the catalog changes from now on: the start chooses.
        let denied =
            machine.other(CellKind::Other, &resource.reference(), Some("(its user may not do that)"));
        let failure = || Program::fail("its user may not do that");
        (run, again) = (choose(absent(denied), run, failure()), choose(absent(denied), again, failure()));
    } else if let Some(user) = &user {
        disturbed.extend(run.written());
        disturbed.extend(again.written());
        disturbed.extend(permissions::decided_by(machine, done.iter().chain(done_again.iter().flatten())));
        let all = done.iter().chain(done_again.iter().flatten());
        if unknown.is_none() && permissions::are_denied(machine, user, all) {
            is_plain = true;
            machine.denied_to = Some(user.clone());
            (run, again) = runs(machine, resource, &done, done_again.as_deref(), &mut unknown);
            machine.denied_to = None;
        }
    }
    let mut guard_reason: Option<String> = None;
    let guard = match guard(machine, resource) {
        Ok(guard) => guard,
        // Who says what a command does says that its checks find it done.
        Err(_) if declared == Some(true) => {
            let done = machine.other(CellKind::Other, &resource.reference(), Some("done"));
            let mark = Program::set(done, Value::text(PRESENT));
            (run, again) = (sequence(vec![run, mark.clone()]), sequence(vec![again, mark]));
            absent(done)
        }
        Err(reason) if unknown.is_none() => {
            // The command is understood, the check is not: it can do no more than the command.
            disturbed.extend(run.written());
            disturbed.extend(again.written());
            for check in resource.texts("unless").into_iter().chain(resource.texts("onlyif")) {
                for path in commands::absolute_paths(&check) {
                    disturbed.extend(touched(machine, path, false));
                }
            }
            guard_reason = Some(reason);
            Test::True
        }
        Err(_) => Test::True,
    };
    let asking = asking(machine, resource);
    let apply = if resource.flag("refreshonly") == Some(true) {
        Program::Skip
    } else {
        sequence(vec![asking.clone(), when(guard.clone(), sequence(vec![run, Program::Change]))])
    };
    // A refresh is one, also if the checks say that there is nothing to do.
    let refresh = sequence(vec![asking, when(guard.clone(), again), Program::Change]);
    let mut model = Model::new(apply).refreshed_by(refresh);
    model.checks = Some(guard).filter(|guard| *guard != Test::True);
    if let Some(reason) = unknown {
        model = model.not_known(&reason, Reach::Everything);
    } else if guard_reason.is_some() || !disturbed.is_empty() {
        disturbed.sort_unstable();
        disturbed.dedup();
        if guard_reason.is_some() {
            machine.assume(Assumption::UnreadCheck { resource: resource.reference() });
        }
        is_plain &= guard_reason.is_none();
        let reason = guard_reason.unwrap_or_else(|| match (user, links.first()) {
            (Some(user), _) => format!("whether the user {user} may do that is not known"),
            (None, Some(link)) => format!("whether {link} is the link by then that it is to be is not known"),
            (None, None) => "what it makes of a file is not known".to_owned(),
        });
        model = model.not_known(&reason, Reach::Cells(disturbed));
        model.is_plain = is_plain;
    }
    model
}

/// Whether a command has a program that fetches from other machines.
pub(crate) fn may_fetch(resource: &Resource) -> bool {
    commands(resource).iter().any(|text| ["curl", "wget", "git"].iter().any(|name| text.contains(name)))
}

/// The address that an effect fetches from.
fn fetched_from(effect: &Effect) -> Option<String> {
    match effect {
        Effect::Fetch { address, .. } | Effect::Clone { address, .. } => Some(address.clone()),
        _ => None,
    }
}

/// Whether a command names something behind a link of the catalog.
pub(crate) fn goes_through_links(machine: &Machine<'_>, resource: &Resource) -> bool {
    let mut texts = commands(resource);
    texts.extend(resource.texts("creates").into_iter().chain(resource.text("cwd")));
    let mut paths = texts.iter().flat_map(|text| commands::absolute_paths(text));
    paths.any(|path| !machine.mentions.links_above(path, machine.world).is_empty())
}

/// The links of the catalog that lead to what a command names, and that need not be there when it runs.
fn unsettled_links<'e>(
    machine: &Machine<'_>,
    resource: &Resource,
    effects: impl Iterator<Item = &'e Effect>,
) -> Vec<String> {
    let leaves: Vec<&Effect> = effects.flat_map(Effect::leaves).collect();
    let mut named: BTreeSet<String> =
        leaves.iter().flat_map(|effect| effect.paths()).map(str::to_owned).collect();
    named.extend(resource.texts("creates").into_iter().chain(resource.text("cwd")));
    for check in resource.texts("unless").iter().chain(&resource.texts("onlyif")) {
        named.extend(commands::absolute_paths(check).map(str::to_owned));
    }
    let links = named.iter().flat_map(|path| machine.mentions.links_above(path, machine.world));
    let owner = |link: &String| machine.mentions.files.get(link).copied();
    let found: BTreeSet<String> =
        links.filter(|link| owner(link).is_none_or(|owner| !machine.comes_before(owner))).collect();
    found.into_iter().collect()
}

/// What the command does, and what its refresh does.
fn runs(
    machine: &mut Machine<'_>,
    resource: &Resource,
    done: &[Effect],
    done_again: Option<&[Effect]>,
    unknown: &mut Option<String>,
) -> (Program, Program) {
    let run = run(machine, resource, &command(resource), done, unknown);
    let again = match (done_again, resource.text("refresh")) {
        (Some(done), Some(other)) => run_once(machine, resource, &other, done),
        _ => run.clone(),
    };
    (run, again)
}

/// Leaves something that is different after each time.
pub(crate) fn counted(machine: &mut Machine<'_>, resource: &Resource) -> Program {
    let traces = machine.other(CellKind::Other, &resource.reference(), Some("traces"));
    let set = |text: &str| Program::set(traces, Value::text(text));
    choose(Test::is(traces, Value::text("once")), set("again"), set("once"))
}

/// What a command makes from a file and puts into the place of that file: it grows with every run.
fn fed_back<'e>(machine: &mut Machine<'_>, effects: impl Iterator<Item = &'e Effect>) -> Vec<CellId> {
    let leaves: Vec<&Effect> = effects.flat_map(Effect::leaves).collect();
    let mut cells = Vec::new();
    for effect in &leaves {
        let Effect::Make { path, from, .. } = effect else { continue };
        let mut places = vec![path.clone()];
        for other in &leaves {
            if let Effect::Copy { from, to, .. } | Effect::Fill { from, to } = other
                && places.contains(from)
            {
                places.push(to.clone());
            }
        }
        if from.iter().any(|source| places.contains(source)) {
            for place in &places {
                cells.extend(touched(machine, place, false));
            }
        }
    }
    cells
}

/// What an effect changes in a way that is not known.
fn disturbed_by(machine: &mut Machine<'_>, resource: &Resource, effect: &Effect) -> Vec<CellId> {
    match effect {
        Effect::Disturb { path, below } => touched(machine, path, *below),
        // What it does depends on the path, in a way that nobody says.
        Effect::Read(path) => touched(machine, path, false),
        Effect::Clone { path, .. } => {
            let path = canonical(machine, path);
            let mut promised = promised(machine, resource);
            promised.push(format!("{path}/{OF_GIT}"));
            let stand_ins: Vec<String> = machine.mentions.stand_ins().collect();
            let below = machine.below(&path);
            let others = below.iter().filter(|path| !stand_ins.contains(path) && !promised.contains(path));
            others.flat_map(|path| touched(machine, path, false)).collect()
        }
        // Others than those that are named may match.
        Effect::NeedMatching(pattern) if super::perform::sources(machine, pattern).is_empty() => {
            machine.assume(Assumption::UnreadSource { address: pattern.clone() });
            Vec::new()
        }
        Effect::Listens(path) => {
            machine.assume(Assumption::Listening { path: path.clone() });
            Vec::new()
        }
        // The resource says what comes out of the archive; the rest of what is named below is in doubt.
        Effect::Extract { into, .. } => {
            let into = canonical(machine, into);
            let promised = promised(machine, resource);
            let mut cells = Vec::new();
            for path in machine.below(&into) {
                if !promised.contains(&path) && !promised.iter().any(|other| is_below(other, &path)) {
                    cells.extend(touched(machine, &path, false));
                }
            }
            cells
        }
        Effect::Append { path, line } => {
            let path = canonical(machine, path);
            let cell = machine.track(&path, Entry::Line(shared(line)));
            machine.seen_twice(&path, cell).unwrap_or_default()
        }
        Effect::Edit { path, program, extended } => {
            let path = canonical(machine, path);
            if is_certain(machine, &path, program, *extended) {
                Vec::new()
            } else {
                touched(machine, &path, false)
            }
        }
        _ => Vec::new(),
    }
}

/// What a command is said to create.
fn promised(machine: &Machine<'_>, resource: &Resource) -> Vec<String> {
    let creates = resource.texts("creates");
    creates.iter().filter_map(|path| machine.mentions.canonical(path, machine.world)).collect()
}

/// The cells of a path, and of what is below it.
fn touched(machine: &mut Machine<'_>, path: &str, below: bool) -> Vec<CellId> {
    let path = canonical(machine, path);
    let mut paths = vec![path.clone()];
    if below {
        paths.extend(machine.below(&path));
    }
    let mut cells = Vec::new();
    for path in paths {
        cells.extend(machine.path(&path));
        cells.extend(machine.tracked(&path).into_iter().map(|tracked| tracked.cell));
    }
    cells
}

/// What the checks need that are commands: they run as the command does, unless what it creates is there.
fn asking(machine: &mut Machine<'_>, resource: &Resource) -> Program {
    if !resource.has("unless") && !resource.has("onlyif") {
        return Program::Skip;
    }
    let mut tests = Vec::new();
    for path in resource.texts("creates") {
        if let Some(path) = machine.mentions.canonical(&path, machine.world) {
            tests.push(machine.leads(&path).negate());
        }
    }
    let mut steps = vec![folder_is_there(machine, resource)];
    for check in resource.texts("unless").into_iter().chain(resource.texts("onlyif")) {
        steps.push(program_is_there(machine, resource, &check));
    }
    when(all(tests), sequence(steps))
}

/// What is left of a command that only says what it would do.
pub(crate) fn checks_alone(machine: &mut Machine<'_>, resource: &Resource) -> Model {
    let asking = asking(machine, resource);
    Model::new(asking)
}

/// Fails if the program of a command is not there.
fn program_is_there(machine: &mut Machine<'_>, resource: &Resource, command: &str) -> Program {
    match tool(machine, resource, command) {
        Some(tool) => when(tool.negate(), Program::fail("its command does not exist")),
        None => Program::Skip,
    }
}

/// The scripts that a command runs and that resources of the catalog declare.
pub(crate) fn scripts(machine: &Machine<'_>, resource: &Resource) -> Vec<(String, ResourceId)> {
    let asked = std::cell::RefCell::new(BTreeSet::new());
    let script = |path: &str| {
        let text = machine.mentions.script(path, machine.world)?;
        asked.borrow_mut().insert(path.to_owned());
        Some(text)
    };
    read(resource, &machine.mentions, machine.world, |surroundings| {
        for command in commands(resource) {
            // Only which scripts are asked for is of interest here.
            drop(commands::effects(&command, Surroundings { script: Some(&script), ..surroundings }));
        }
    });
    let owner = |path: &String| {
        let canonical = machine.mentions.canonical(path, machine.world)?;
        machine.mentions.files.get(&canonical).copied()
    };
    asked.into_inner().into_iter().filter_map(|path| Some((path.clone(), owner(&path)?))).collect()
}

/// Adds the assumption about scripts that the command runs and that need not be there as they are declared.
fn assume_scripts(machine: &mut Machine<'_>, resource: &Resource) {
    for (path, owner) in scripts(machine, resource) {
        if !machine.comes_before(owner) {
            machine.assume(Assumption::DeclaredScript { path });
        }
    }
}

/// Fails if the folder is missing in which a command runs.
fn folder_is_there(machine: &mut Machine<'_>, resource: &Resource) -> Program {
    if let Some(folder) = resource.text("cwd")
        && let Some(folder) = machine.mentions.canonical(&folder, machine.world)
    {
        let there = machine.through(&folder, &|machine, path| machine.is_directory(path));
        let failure = format!("the working directory {folder} does not exist");
        return when(there.negate(), Program::fail(&failure));
    }
    Program::Skip
}

/// Whether the user and the group exist as which a command runs, each with what is said if it does not. Without them Puppet's
/// child process ends with status 1, as if the command had: `returns => 1` expects that, and a check says no.
fn accounts(machine: &mut Machine<'_>, resource: &Resource) -> Vec<(Test, String)> {
    let mut found = Vec::new();
    if let Some(user) = resource.text("user") {
        found.push((machine.user_exists(&user), format!("the user {user} does not exist")));
    }
    if let Some(group) = resource.text("group") {
        found.push((machine.group_exists(&group), format!("the group {group} does not exist")));
    }
    found
}

/// Whether the checks let the command run.
fn guard(machine: &mut Machine<'_>, resource: &Resource) -> Result<Test, String> {
    let mut tests = Vec::new();
    for path in resource.texts("creates") {
        if let Some(path) = machine.mentions.canonical(&path, machine.world) {
            tests.push(machine.leads(&path).negate());
        }
    }
    let has_accounts = all(accounts(machine, resource).into_iter().map(|(exists, _)| exists).collect());
    for check in resource.texts("unless") {
        let question = question(resource, &check, &machine.mentions, machine.world)?;
        is_followed(machine, &question)?;
        tests.push(all(vec![has_accounts.clone(), ask(machine, &question)]).negate());
    }
    for check in resource.texts("onlyif") {
        let question = question(resource, &check, &machine.mentions, machine.world)?;
        is_followed(machine, &question)?;
        tests.push(all(vec![has_accounts.clone(), ask(machine, &question)]));
    }
    Ok(all(tests))
}

/// Whether the lines that a check asks about are followed: packages and resources that edit files otherwise may bring or take
/// any line.
fn is_followed(machine: &Machine<'_>, question: &Question) -> Result<(), String> {
    for (path, entry) in question.entries() {
        let Some(path) = machine.mentions.canonical(path, machine.world) else { continue };
        let lines = |entry: &Entry| {
            use Entry::{After, Edited, Last, Line, MadeFrom, Match};
            matches!(entry, Line(_) | Match(_) | Edited { .. } | Last | After(_) | MadeFrom(_))
        };
        let packaged = matches!(entry, Entry::Match(_)) && machine.packages.provides(&path);
        if packaged || !machine.tracked(&path).iter().all(|tracked| lines(&tracked.entry)) {
            return Err(format!("whether a line of {path} matches a pattern is not modelled"));
        }
    }
    Ok(())
}

/// Where a program of that name may be.
pub(crate) fn program_paths(name: &str) -> Vec<String> {
    if name.starts_with('/') {
        return vec![name.to_owned()];
    }
    ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"]
        .iter()
        .map(|folder| format!("{folder}/{name}"))
        .collect()
}

pub(crate) fn ask(machine: &mut Machine<'_>, question: &Question) -> Test {
    let kind = |machine: &mut Machine<'_>, path: &str, kind: Kind| {
        let Some(path) = machine.mentions.canonical(path, machine.world) else { return never() };
        let is = move |machine: &mut Machine<'_>, path: &str| match machine.path(path) {
            Some(cell) => Test::Kind(cell, kind),
            None if kind == Kind::Directory => Test::True,
            None => never(),
        };
        // Only who asks for the link itself does not follow it.
        if kind == Kind::Link { is(machine, &path) } else { machine.through(&path, &is) }
    };
    match question {
        Question::Constant(true) => Test::True,
        Question::Constant(false) => never(),
        Question::Exists(path) => match machine.mentions.canonical(path, machine.world) {
            Some(path) => machine.leads(&path),
            None => never(),
        },
        Question::IsFile(path) => kind(machine, path, Kind::File),
        Question::IsDirectory(path) => kind(machine, path, Kind::Directory),
        Question::IsLink(path) => kind(machine, path, Kind::Link),
        Question::HasLine { path, line } => match machine.mentions.canonical(path, machine.world) {
            Some(path) => machine.through(&path, &|machine, path| {
                let cell = machine.track(path, Entry::Line(shared(line)));
                absent(cell).negate()
            }),
            None => never(),
        },
        Question::HasContent(path) => match machine.mentions.canonical(path, machine.world) {
            Some(path) => machine.through(&path, &|machine, path| match machine.path(path) {
                Some(cell) => {
                    let empty = machine.has_content(path, &shared(""));
                    all(vec![absent(cell).negate(), empty.negate()])
                }
                None => Test::True,
            }),
            None => never(),
        },
        Question::Matches { path, expression } => match machine.mentions.canonical(path, machine.world) {
            Some(path) => machine.through(&path, &|machine, path| {
                let cell = machine.track(path, Entry::Match(shared(expression)));
                absent(cell).negate()
            }),
            None => never(),
        },
        Question::SameContent(one, other) => {
            let (one, other) = (canonical(machine, one), canonical(machine, other));
            let both = vec![machine.exists(&one), machine.exists(&other), machine.same_content(&one, &other)];
            all(both)
        }
        Question::ProgramExists(name) => {
            let paths = program_paths(name);
            let provided: Vec<&String> = paths.iter().filter(|path| machine.is_provided(path)).collect();
            if provided.is_empty() {
                // Nothing in the catalog brings it: it is there or not, and stays so.
                let cell = machine.other(CellKind::Other, name, Some("program"));
                return absent(cell).negate();
            }
            any(provided.iter().map(|path| machine.exists(path)).collect())
        }
        Question::ServiceActive(name) => {
            let unit = Unit::named(name, machine.world.base.family);
            let cell = service::running_cell(machine, &unit);
            Test::is(cell, Value::text("running"))
        }
        Question::ServiceEnabled(name) => {
            let unit = Unit::named(name, machine.world.base.family);
            let cell = service::enabled_cell(machine, &unit);
            Test::is(cell, Value::text("true"))
        }
        Question::UserExists(name) => machine.user_exists(name),
        Question::GroupExists(name) => machine.group_exists(name),
        Question::PackageInstalled(name) => {
            let name = machine.packages.real_name(name);
            let cell = machine.package(&name);
            installed(cell)
        }
        Question::Not(inner) => ask(machine, inner).negate(),
        Question::All(parts) => all(parts.iter().map(|part| ask(machine, part)).collect()),
        Question::Any(parts) => any(parts.iter().map(|part| ask(machine, part)).collect()),
    }
}

/// One execution: what it needs, and what it does.
fn run(
    machine: &mut Machine<'_>,
    resource: &Resource,
    command: &str,
    effects: &[Effect],
    unknown: &mut Option<String>,
) -> Program {
    let mut steps = vec![folder_is_there(machine, resource), program_is_there(machine, resource, command)];
    if unknown.is_some() && effects.is_empty() {
        steps.extend(needed_programs(machine, resource, command));
    }
    // Without its program it does not end with a status of its own.
    let first = effects.iter().take_while(|effect| matches!(effect, Effect::NeedProgram(_))).count();
    let (programs, effects) = effects.split_at(first);
    steps.extend(programs.iter().map(|effect| perform(machine, effect)));
    let done = performed(machine, resource, effects);
    if can_fail(&done)
        && resource.texts("returns").iter().any(|status| !["0", "1"].contains(&status.as_str()))
    {
        unknown.get_or_insert_with(|| "with which status it fails is not known".to_owned());
    }
    let done = tried(resource, done, unknown);
    steps.push(match returns(resource) {
        Returns::Success => done,
        Returns::Anything => bind(&done, Program::Skip, &Program::Skip),
        Returns::Failure => bind(&done, Program::fail("its exit status is another"), &Program::Skip),
    });
    sequence(steps)
}

/// What a command that is not understood cannot do without all the same.
fn needed_programs(machine: &mut Machine<'_>, resource: &Resource, command: &str) -> Vec<Program> {
    let needed = setpoint_commands::needed_programs(command);
    let places = needed.iter().map(|word| program_places(resource, word, &machine.mentions, machine.world));
    let places: Vec<Vec<String>> = places.filter(|places| !places.is_empty()).collect();
    places.into_iter().map(|places| perform(machine, &Effect::NeedProgram(places))).collect()
}

/// One execution of `refresh`: Puppet looks at no exit status of it, and does not try it again.
fn run_once(machine: &mut Machine<'_>, resource: &Resource, command: &str, effects: &[Effect]) -> Program {
    let mut steps = vec![folder_is_there(machine, resource), program_is_there(machine, resource, command)];
    let done = performed(machine, resource, effects);
    steps.push(bind(&done, Program::Skip, &Program::Skip));
    sequence(steps)
}

/// What a command does, with what comes out of archives.
fn performed(machine: &mut Machine<'_>, resource: &Resource, effects: &[Effect]) -> Program {
    let mut done = Vec::new();
    for effect in effects {
        done.push(perform(machine, effect));
        for leaf in effect.leaves() {
            match leaf {
                Effect::Extract { archive, into } => {
                    let archive = canonical(machine, archive);
                    done.push(unpacked(machine, resource, into, &|machine, path| {
                        machine.copy_file(path, &archive)
                    }));
                }
                Effect::Clone { path, address } => {
                    let name = format!("(out of {address})");
                    done.push(unpacked(machine, resource, path, &|machine, path| {
                        machine.write_named(path, &name, Origin::Elsewhere)
                    }));
                }
                _ => {}
            }
        }
    }
    let done = sequence(done);
    accounts(machine, resource)
        .into_iter()
        .rev()
        .fold(done, |done, (exists, failure)| choose(exists, done, Program::fail(&failure)))
}

/// A command that fails is tried again, on what it has left.
fn tried(resource: &Resource, done: Program, unknown: &mut Option<String>) -> Program {
    let tries: usize = resource.text("tries").and_then(|tries| tries.parse().ok()).unwrap_or(1);
    if tries < 2 || !can_fail(&done) {
        return done;
    }
    if tries > MOST_TRIES && writes_before_failing(&done) {
        unknown.get_or_insert_with(|| "it leaves something each time that it is tried".to_owned());
    }
    let again = (1..tries.min(MOST_TRIES)).fold(done.clone(), |again, _| bind(&done, Program::Skip, &again));
    if size(&again) > LARGEST { done } else { again }
}

/// So many tries are followed one by one.
const MOST_TRIES: usize = 3;

/// Whether a failure may come after something was written.
fn writes_before_failing(program: &Program) -> bool {
    fn walk(program: &Program, wrote: &mut bool) -> bool {
        match program {
            Program::Fail(_) => *wrote,
            Program::Write(..) => {
                *wrote = true;
                false
            }
            Program::If(_, yes, no) => {
                let (mut left, mut right) = (*wrote, *wrote);
                let found = walk(yes, &mut left) || walk(no, &mut right);
                *wrote = left || right;
                found
            }
            Program::Sequence(programs) => programs.iter().any(|program| walk(program, wrote)),
            Program::Skip | Program::Change => false,
        }
    }
    walk(program, &mut false)
}

/// What is fine as an exit status.
enum Returns {
    Success,
    Failure,
    Anything,
}

/// A failure is taken to have one of the statuses that are named.
fn returns(resource: &Resource) -> Returns {
    let named = resource.texts("returns");
    let success = named.is_empty() || named.iter().any(|status| status == "0");
    let failure = named.iter().any(|status| status != "0");
    match (success, failure) {
        (true, true) => Returns::Anything,
        (false, _) => Returns::Failure,
        (true, false) => Returns::Success,
    }
}

/// What the resource says that an archive or a clone has: a content that only these decide.
fn unpacked(
    machine: &mut Machine<'_>,
    resource: &Resource,
    into: &str,
    write: &dyn Fn(&mut Machine<'_>, &str) -> Program,
) -> Program {
    let into = canonical(machine, into);
    let own = format!("{into}/{OF_GIT}");
    let mut steps = Vec::new();
    for path in promised(machine, resource) {
        if !is_below(&path, &into) || path == own {
            continue;
        }
        let above = super::perform::make_directories(machine, &path);
        let Some(cell) = machine.path(&path) else { continue };
        let make = if machine.mentions.ancestors.contains(&path) {
            machine.make_directory(&path, "0755")
        } else {
            let mut make = vec![write(machine, &path)];
            make.extend(machine.set_attributes(&path, "0644", "root", "root"));
            sequence(make)
        };
        steps.push(when(absent(cell), sequence(vec![above, make])));
    }
    sequence(steps)
}

/// The program of the command is there, where that is a question.
fn tool(machine: &mut Machine<'_>, resource: &Resource, command: &str) -> Option<Test> {
    // A shell is there, and finds its own words.
    if resource.text("provider").as_deref() == Some("shell") {
        return None;
    }
    let word = command.split_whitespace().next()?.trim_matches(['"', '\'']).to_owned();
    let folders: Vec<String> = resource
        .texts("path")
        .iter()
        .flat_map(|path| path.split(':'))
        .filter_map(|folder| machine.mentions.canonical(folder, machine.world))
        .collect();
    let candidates: Vec<String> = if word.starts_with('/') {
        machine.mentions.canonical(&word, machine.world).into_iter().collect()
    } else {
        folders.iter().map(|folder| format!("{}/{word}", folder.trim_end_matches('/'))).collect()
    };
    // The platform's own program is there, unless the catalog manages it.
    let is_open = |path: &String| machine.is_provided(path) || machine.mentions.files.contains_key(path);
    let base = machine.world.base;
    let is_platforms = |path: &String| base.files.contains(path) || base.has_program(path);
    let is_certain = |path: &String| !machine.mentions.files.contains_key(path) && is_platforms(path);
    let any_start = machine.world.any_start;
    if !any_start && candidates.iter().any(is_certain) {
        return None;
    }
    let provided: Vec<String> = candidates.into_iter().filter(is_open).collect();
    if provided.is_empty() {
        // Puppet looks for a program, whatever a shell would make of the word.
        let base = machine.world.base;
        let is_missing = base.is_shell_word(&word) || Base::lacks_program(&word, &folders);
        return is_missing.then(never);
    }
    Some(is_at_one_of(machine, &provided))
}

/// Whether a file is executable, where the catalog gives it a mode that is not.
pub(crate) fn may_be_run(machine: &mut Machine<'_>, path: &str) -> Test {
    let modes = machine.mentions.plain_modes(path);
    if modes.is_empty() {
        return Test::True;
    }
    let Some(cell) = machine.attribute(CellKind::Mode, path) else { return Test::True };
    any(modes.iter().map(|mode| Test::is(cell, Value::text(mode))).collect()).negate()
}
