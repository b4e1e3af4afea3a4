//! `exec`.

use setpoint_catalog::Resource;
use setpoint_puppet_values::Data;
use setpoint_state::{CellId, CellKind, Kind, Program, Reach, Test, Value};

use super::perform::{bind, canonical, is_certain, perform, size};
use super::{Model, service};
use crate::attributes::{Attributes, shared};
use crate::commands::{self, Effect, Question};
use crate::entries::Entry;
use crate::machine::{Machine, PRESENT, absent, all, any, choose, installed, never, sequence, when};
use crate::mentions::is_below;
use crate::{Assumption, World};

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

/// What the command does, as declared or as understood.
pub(crate) fn effects(resource: &Resource, world: &World<'_>) -> Result<Vec<Effect>, String> {
    let command = command(resource);
    if let Some(declared) = super::declared::exec(resource, &command, world) {
        return Ok(declared);
    }
    let folder = resource.text("cwd");
    // An array is one program with its words, and no shell reads it.
    match resource.get("command").map(|value| &value.data) {
        Some(Data::Array(_)) => commands::effects_of_words(&resource.texts("command"), folder.as_deref()),
        _ => commands::effects(&command, folder.as_deref()),
    }
}

pub(crate) fn model(machine: &mut Machine<'_>, resource: &Resource) -> Model {
    let command = command(resource);
    let folder = resource.text("cwd");
    let mut unknown: Option<String> = None;
    let mut disturbed: Vec<CellId> = Vec::new();
    let refresh =
        resource.text("refresh").and_then(|other| commands::effects(&other, folder.as_deref()).ok());
    for effect in effects(resource, machine.world).into_iter().chain(refresh).flatten() {
        for leaf in effect.leaves() {
            disturbed.extend(disturbed_by(machine, resource, leaf));
        }
    }
    let mut run = match effects(resource, machine.world) {
        Ok(effects) => run(machine, resource, &command, &effects),
        Err(reason) => {
            unknown = Some(reason);
            run(machine, resource, &command, &[])
        }
    };
    let mut again = match resource.text("refresh") {
        Some(other) => match commands::effects(&other, folder.as_deref()) {
            Ok(effects) => self::run(machine, resource, &other, &effects),
            Err(reason) => {
                unknown.get_or_insert(reason);
                self::run(machine, resource, &other, &[])
            }
        },
        None => run.clone(),
    };
    let declared = super::declared::is_idempotent(resource, &command, machine.world);
    if declared == Some(false) {
        let count = counted(machine, resource);
        (run, again) = (sequence(vec![run, count.clone()]), sequence(vec![again, count]));
    }
    if size(&run).max(size(&again)) > LARGEST {
        unknown.get_or_insert_with(|| "it branches too often".to_owned());
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
    let refresh = sequence(vec![asking, when(guard, again), Program::Change]);
    let mut model = Model::new(apply).refreshed_by(refresh);
    if let Some(reason) = unknown {
        model = model.not_known(&reason, Reach::Everything);
    } else if guard_reason.is_some() || !disturbed.is_empty() {
        disturbed.sort_unstable();
        disturbed.dedup();
        if guard_reason.is_some() {
            machine.assume(Assumption::UnreadCheck { resource: resource.reference() });
        }
        let reason = guard_reason.unwrap_or_else(|| "what it makes of a file is not known".to_owned());
        model = model.not_known(&reason, Reach::Cells(disturbed));
    }
    model
}

/// Leaves something that is different after each time.
fn counted(machine: &mut Machine<'_>, resource: &Resource) -> Program {
    let traces = machine.other(CellKind::Other, &resource.reference(), Some("traces"));
    let set = |text: &str| Program::set(traces, Value::text(text));
    choose(Test::is(traces, Value::text("once")), set("again"), set("once"))
}

/// What an effect changes in a way that is not known.
fn disturbed_by(machine: &mut Machine<'_>, resource: &Resource, effect: &Effect) -> Vec<CellId> {
    match effect {
        Effect::Disturb { path, below } => touched(machine, path, *below),
        // What it does depends on the path, in a way that nobody says.
        Effect::Read(path) => touched(machine, path, false),
        Effect::Bystander(effect) => {
            machine.assume(Assumption::Bystander { resource: resource.reference(), effect });
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
    when(all(tests), surroundings(machine, resource))
}

/// Where and as whom a command runs.
fn surroundings(machine: &mut Machine<'_>, resource: &Resource) -> Program {
    let mut steps = Vec::new();
    if let Some(folder) = resource.text("cwd")
        && let Some(folder) = machine.mentions.canonical(&folder, machine.world)
    {
        let there = machine.through(&folder, &|machine, path| machine.is_directory(path));
        let failure = format!("the working directory {folder} does not exist");
        steps.push(when(there.negate(), Program::fail(&failure)));
    }
    if let Some(user) = resource.text("user") {
        let known = machine.user_exists(&user);
        steps.push(when(known.negate(), Program::fail(&format!("the user {user} does not exist"))));
    }
    sequence(steps)
}

/// Whether the checks let the command run.
fn guard(machine: &mut Machine<'_>, resource: &Resource) -> Result<Test, String> {
    let folder = resource.text("cwd");
    let mut tests = Vec::new();
    for path in resource.texts("creates") {
        if let Some(path) = machine.mentions.canonical(&path, machine.world) {
            tests.push(machine.leads(&path).negate());
        }
    }
    for check in resource.texts("unless") {
        let question = commands::question(&check, folder.as_deref())?;
        is_followed(machine, &question)?;
        tests.push(ask(machine, &question).negate());
    }
    for check in resource.texts("onlyif") {
        let question = commands::question(&check, folder.as_deref())?;
        is_followed(machine, &question)?;
        tests.push(ask(machine, &question));
    }
    Ok(all(tests))
}

/// Whether the lines that a check asks about are followed: packages and resources that edit files otherwise may bring or take
/// any line.
fn is_followed(machine: &Machine<'_>, question: &Question) -> Result<(), String> {
    for (path, entry) in question.entries() {
        let Some(path) = machine.mentions.canonical(path, machine.world) else { continue };
        let lines = |entry: &Entry| matches!(entry, Entry::Line(_) | Entry::Match(_) | Entry::Edited { .. });
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
            let cell = service::running_cell(machine, name);
            Test::is(cell, Value::text("running"))
        }
        Question::ServiceEnabled(name) => {
            let cell = service::enabled_cell(machine, name);
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
fn run(machine: &mut Machine<'_>, resource: &Resource, command: &str, effects: &[Effect]) -> Program {
    let mut steps = vec![surroundings(machine, resource)];
    if let Some(tool) = tool(machine, resource, command) {
        steps.push(when(tool.negate(), Program::fail("its command does not exist")));
    }
    let mut done = Vec::new();
    for effect in effects {
        done.push(perform(machine, effect));
        for leaf in effect.leaves() {
            if let Effect::Extract { archive, into } = leaf {
                done.push(unpacked(machine, resource, archive, into));
            }
        }
    }
    let done = sequence(done);
    steps.push(match returns(resource) {
        Returns::Success => done,
        Returns::Anything => bind(&done, Program::Skip, &Program::Skip),
        Returns::Failure => bind(&done, Program::fail("its exit status is another"), &Program::Skip),
    });
    sequence(steps)
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

/// What the resource says that an archive has: a content that the archive's decides.
fn unpacked(machine: &mut Machine<'_>, resource: &Resource, archive: &str, into: &str) -> Program {
    let (archive, into) = (canonical(machine, archive), canonical(machine, into));
    let mut steps = Vec::new();
    for path in promised(machine, resource) {
        if !is_below(&path, &into) {
            continue;
        }
        let above = super::perform::make_directories(machine, &path);
        let Some(cell) = machine.path(&path) else { continue };
        let make = if machine.mentions.ancestors.contains(&path) {
            machine.make_directory(&path, "0755")
        } else {
            let mut make = vec![machine.copy_file(&path, &archive)];
            make.extend(machine.set_attributes(&path, "0644", "root", "root"));
            sequence(make)
        };
        steps.push(when(absent(cell), sequence(vec![above, make])));
    }
    sequence(steps)
}

/// The program of the command is there, where that is a question.
fn tool(machine: &mut Machine<'_>, resource: &Resource, command: &str) -> Option<Test> {
    let word = command.split_whitespace().next()?.trim_matches(['"', '\'']).to_owned();
    let candidates: Vec<String> = if word.starts_with('/') {
        vec![word]
    } else {
        resource
            .texts("path")
            .iter()
            .flat_map(|path| path.split(':'))
            .map(|folder| format!("{}/{word}", folder.trim_end_matches('/')))
            .collect()
    };
    let candidates: Vec<String> =
        candidates.iter().filter_map(|path| machine.mentions.canonical(path, machine.world)).collect();
    let provided: Vec<String> = candidates.into_iter().filter(|path| machine.is_provided(path)).collect();
    if provided.is_empty() {
        return None;
    }
    let tests = provided
        .iter()
        .map(|path| match machine.path(path) {
            Some(cell) => Test::Any(vec![Test::Kind(cell, Kind::File), Test::Kind(cell, Kind::Link)]),
            None => never(),
        })
        .collect();
    Some(any(tests))
}
