//! `exec`.

use setpoint_catalog::Resource;
use setpoint_state::{CellId, CellKind, Kind, Program, Reach, Test, Value};

use super::{Model, service};
use crate::attributes::{Attributes, shared};
use crate::commands::{self, Effect, Question};
use crate::entries::Entry;
use crate::machine::{
    LATEST, Machine, PRESENT, absent, all, any, choose, installed, never, parent, sequence, when,
};
use crate::{Note, World};

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
    commands::effects(&command, resource.text("cwd").as_deref())
}

pub(crate) fn model(machine: &mut Machine<'_>, resource: &Resource) -> Model {
    let command = command(resource);
    let folder = resource.text("cwd");
    let mut unknown: Option<String> = None;
    let mut disturbed: Vec<CellId> = Vec::new();
    for effect in effects(resource, machine.world).unwrap_or_default() {
        if let Effect::Disturb { path, below } = effect {
            disturbed.extend(touched(machine, &path, below));
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
    let apply = if resource.flag("refreshonly") == Some(true) {
        Program::Skip
    } else {
        when(guard.clone(), sequence(vec![run, Program::Change]))
    };
    // A refresh is one, also if the checks say that there is nothing to do.
    let refresh = sequence(vec![when(guard, again), Program::Change]);
    let mut model = Model::new(apply).refreshed_by(refresh);
    if let Some(reason) = unknown {
        machine.notes.insert(Note::UnknownCommand { resource: resource.reference(), reason: reason.clone() });
        model = model.not_known(&reason, Reach::Everything);
    } else if guard_reason.is_some() || !disturbed.is_empty() {
        disturbed.sort_unstable();
        disturbed.dedup();
        let reason = guard_reason.unwrap_or_else(|| "what it makes of a file is not known".to_owned());
        machine.notes.insert(Note::UnknownCommand { resource: resource.reference(), reason: reason.clone() });
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

/// Whether the checks let the command run.
fn guard(machine: &mut Machine<'_>, resource: &Resource) -> Result<Test, String> {
    let folder = resource.text("cwd");
    let mut tests = Vec::new();
    for path in resource.texts("creates") {
        if let Some(path) = machine.mentions.canonical(&path, machine.world) {
            tests.push(machine.exists(&path).negate());
        }
    }
    for check in resource.texts("unless") {
        let question = commands::question(&check, folder.as_deref())?;
        tests.push(ask(machine, &question).negate());
    }
    for check in resource.texts("onlyif") {
        let question = commands::question(&check, folder.as_deref())?;
        tests.push(ask(machine, &question));
    }
    Ok(all(tests))
}

fn ask(machine: &mut Machine<'_>, question: &Question) -> Test {
    let kind = |machine: &mut Machine<'_>, path: &str, kind: Kind| {
        let Some(path) = machine.mentions.canonical(path, machine.world) else { return never() };
        match machine.path(&path) {
            Some(cell) => Test::Kind(cell, kind),
            None if kind == Kind::Directory => Test::True,
            None => never(),
        }
    };
    match question {
        Question::Constant(true) => Test::True,
        Question::Constant(false) => never(),
        Question::Exists(path) => match machine.mentions.canonical(path, machine.world) {
            Some(path) => machine.exists(&path),
            None => never(),
        },
        Question::IsFile(path) => kind(machine, path, Kind::File),
        Question::IsDirectory(path) => kind(machine, path, Kind::Directory),
        Question::IsLink(path) => kind(machine, path, Kind::Link),
        Question::HasLine { path, line } => match machine.mentions.canonical(path, machine.world) {
            Some(path) => {
                let cell = machine.track(&path, Entry::Line(shared(line)));
                absent(cell).negate()
            }
            None => never(),
        },
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
    let mut steps = Vec::new();
    if let Some(folder) = resource.text("cwd")
        && let Some(folder) = machine.mentions.canonical(&folder, machine.world)
    {
        let there = machine.is_directory(&folder);
        steps.push(when(
            there.negate(),
            Program::fail(&format!("the working directory {folder} does not exist")),
        ));
    }
    if let Some(tool) = tool(machine, resource, command) {
        steps.push(when(tool.negate(), Program::fail("its command does not exist")));
    }
    if let Some(user) = resource.text("user") {
        let known = machine.user_exists(&user);
        steps.push(when(known.negate(), Program::fail(&format!("the user {user} does not exist"))));
    }
    if is_false(command) {
        steps.push(Program::fail("the command fails"));
    }
    for effect in effects {
        steps.push(perform(machine, effect));
    }
    sequence(steps)
}

fn is_false(command: &str) -> bool {
    matches!(command.trim(), "false" | "/bin/false" | "/usr/bin/false")
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

fn canonical(machine: &Machine<'_>, path: &str) -> String {
    machine.mentions.canonical(path, machine.world).unwrap_or_else(|| path.to_owned())
}

/// The program of one effect.
pub(crate) fn perform(machine: &mut Machine<'_>, effect: &Effect) -> Program {
    match effect {
        Effect::Touch(path) => {
            let path = canonical(machine, path);
            let Some(cell) = machine.path(&path) else { return Program::Skip };
            let create = create_file(machine, &path, "");
            when(absent(cell), create)
        }
        Effect::MakeDirectory { path, parents } => {
            make_directory(machine, &canonical(machine, path), *parents)
        }
        Effect::Remove { path, recursive, force } => {
            let path = canonical(machine, path);
            let Some(cell) = machine.path(&path) else { return Program::fail("it cannot be removed") };
            let missing =
                if *force { Program::Skip } else { Program::fail(&format!("{path} does not exist")) };
            let tree = if *recursive {
                machine.remove_tree(&path)
            } else {
                Program::fail(&format!("{path} is a directory"))
            };
            let one = machine.remove_one(&path);
            choose(absent(cell), missing, choose(Test::Kind(cell, Kind::Directory), tree, one))
        }
        Effect::Copy { from, to } => copy(machine, &canonical(machine, from), &canonical(machine, to), false),
        Effect::Move { from, to } => copy(machine, &canonical(machine, from), &canonical(machine, to), true),
        Effect::Link { target, path, force } => {
            let path = canonical(machine, path);
            let Some(cell) = machine.path(&path) else { return Program::fail("a directory is there") };
            let parent = machine.parent_is_directory(&path);
            let mut make = vec![
                when(parent.negate(), Program::fail("the directory above does not exist")),
                Program::set(cell, Value::Link(shared(target))),
            ];
            make.extend(machine.set_attributes(&path, "0777", "root", "root"));
            let there = if *force {
                choose(
                    Test::Kind(cell, Kind::Directory),
                    Program::fail(&format!("{path} is a directory")),
                    sequence(make.clone()),
                )
            } else {
                Program::fail(&format!("{path} exists"))
            };
            choose(absent(cell), sequence(make), there)
        }
        Effect::Mode { path, mode } => {
            let path = canonical(machine, path);
            attribute(machine, &path, CellKind::Mode, mode)
        }
        Effect::Owner { path, owner, group } => {
            let path = canonical(machine, path);
            let mut steps = Vec::new();
            if let Some(owner) = owner {
                let known = machine.user_exists(owner);
                steps.push(when(known.negate(), Program::fail(&format!("the user {owner} does not exist"))));
                steps.push(attribute(machine, &path, CellKind::Owner, owner));
            }
            if let Some(group) = group {
                let known = machine.group_exists(group);
                steps.push(when(known.negate(), Program::fail(&format!("the group {group} does not exist"))));
                steps.push(attribute(machine, &path, CellKind::Group, group));
            }
            sequence(steps)
        }
        Effect::Write { path, content } => {
            let path = canonical(machine, path);
            let write = machine.write_file(&path, &shared(content));
            overwrite(machine, &path, write)
        }
        Effect::Set { path, name } => {
            let path = canonical(machine, path);
            let write = machine.write_named(&path, name);
            overwrite(machine, &path, write)
        }
        Effect::Create { path } => {
            let path = canonical(machine, path);
            let Some(cell) = machine.path(&path) else { return Program::Skip };
            let create = create_file(machine, &path, "(as the command made it)");
            when(absent(cell), create)
        }
        Effect::Append { path, line } => {
            let path = canonical(machine, path);
            let entry = machine.track(&path, Entry::Line(shared(line)));
            let Some(cell) = machine.path(&path) else { return Program::fail("a directory is there") };
            let create = create_file(machine, &path, "");
            let count = choose(
                absent(entry),
                Program::set(entry, Value::text(PRESENT)),
                Program::set(entry, Value::text("repeated")),
            );
            sequence(vec![
                when(absent(cell), create),
                when(Test::Kind(cell, Kind::Directory), Program::fail(&format!("{path} is a directory"))),
                count,
            ])
        }
        Effect::InstallPackages(names) => {
            let mut steps = Vec::new();
            for name in names {
                let name = machine.packages.real_name(name);
                let cell = machine.package(&name);
                let install = machine.install(&name, LATEST);
                steps.push(when(installed(cell).negate(), install));
            }
            sequence(steps)
        }
        Effect::RemovePackages { names, purge } => {
            let mut steps = Vec::new();
            for name in names {
                let name = machine.packages.real_name(name);
                let cell = machine.package(&name);
                let remove = machine.uninstall(&name, *purge);
                steps.push(when(installed(cell), remove));
            }
            sequence(steps)
        }
        Effect::NeedPackage(name) => {
            let name = machine.packages.real_name(name);
            let cell = machine.package(&name);
            when(installed(cell).negate(), Program::fail(&format!("the package {name} is not installed")))
        }
        Effect::Need(path) => {
            let path = canonical(machine, path);
            let there = machine.exists(&path);
            when(there.negate(), Program::fail(&format!("{path} does not exist")))
        }
        // What it does is said beside the program.
        Effect::Read(_) | Effect::Disturb { .. } => Program::Skip,
        Effect::AddUser(name) => {
            let cell = machine.user(name);
            let mut steps = vec![
                when(absent(cell).negate(), Program::fail(&format!("the user {name} exists"))),
                Program::set(cell, Value::text(PRESENT)),
            ];
            if !machine.is_base_group(name) {
                let group = machine.group(name);
                steps.push(Program::set(group, Value::text(PRESENT)));
            }
            sequence(steps)
        }
        Effect::RemoveUser(name) => {
            let cell = machine.user(name);
            sequence(vec![
                when(absent(cell), Program::fail(&format!("the user {name} does not exist"))),
                Program::set(cell, Value::Absent),
            ])
        }
        Effect::AddGroup(name) => {
            let cell = machine.group(name);
            sequence(vec![
                when(absent(cell).negate(), Program::fail(&format!("the group {name} exists"))),
                Program::set(cell, Value::text(PRESENT)),
            ])
        }
        Effect::RemoveGroup(name) => {
            let cell = machine.group(name);
            sequence(vec![
                when(absent(cell), Program::fail(&format!("the group {name} does not exist"))),
                Program::set(cell, Value::Absent),
            ])
        }
        Effect::Service { name, verb } => by_hand(machine, name, verb),
    }
}

/// A service that a command starts, stops or enables.
fn by_hand(machine: &mut Machine<'_>, name: &str, verb: &str) -> Program {
    let unit = service::unit_exists(machine, name);
    let mut steps = vec![when(unit.negate(), Program::fail(&format!("{name} has no unit and no script")))];
    match verb {
        "start" => steps.push(service::start(machine, name)),
        "stop" => steps.push(service::stop(machine, name)),
        "restart" | "reload" => steps.extend(service::load(machine, name)),
        _ => {
            let enabled = service::enabled_cell(machine, name);
            let value = if verb == "enable" { "true" } else { "false" };
            steps.push(Program::set(enabled, Value::text(value)));
        }
    }
    sequence(steps)
}

fn create_file(machine: &mut Machine<'_>, path: &str, content: &str) -> Program {
    let parent = machine.parent_is_directory(path);
    let mut create = vec![
        when(parent.negate(), Program::fail("the directory above does not exist")),
        machine.write_file(path, &shared(content)),
    ];
    create.extend(machine.set_attributes(path, "0644", "root", "root"));
    sequence(create)
}

/// Replaces the content of a file, or makes one.
fn overwrite(machine: &mut Machine<'_>, path: &str, write: Program) -> Program {
    let Some(cell) = machine.path(path) else { return Program::fail("a directory is there") };
    let parent = machine.parent_is_directory(path);
    let mut create =
        vec![when(parent.negate(), Program::fail("the directory above does not exist")), write.clone()];
    create.extend(machine.set_attributes(path, "0644", "root", "root"));
    let directory = Program::fail(&format!("{path} is a directory"));
    choose(absent(cell), sequence(create), choose(Test::Kind(cell, Kind::Directory), directory, write))
}

fn attribute(machine: &mut Machine<'_>, path: &str, kind: CellKind, value: &str) -> Program {
    let there = machine.exists(path);
    let set =
        machine.attribute(kind, path).map_or(Program::Skip, |cell| Program::set(cell, Value::text(value)));
    choose(there, set, Program::fail(&format!("{path} does not exist")))
}

fn make_directory(machine: &mut Machine<'_>, path: &str, parents: bool) -> Program {
    let Some(cell) = machine.path(path) else {
        return if parents { Program::Skip } else { Program::fail(&format!("{path} exists")) };
    };
    let make = machine.make_directory(path, "0755");
    if !parents {
        let above = machine.parent_is_directory(path);
        let create =
            sequence(vec![when(above.negate(), Program::fail("the directory above does not exist")), make]);
        return choose(absent(cell), create, Program::fail(&format!("{path} exists")));
    }
    let mut steps = Vec::new();
    if let Some(above) = parent(path)
        && machine.path(above).is_some()
    {
        let above = above.to_owned();
        steps.push(make_directory(machine, &above, true));
    }
    let blocked = Program::fail(&format!("a file is at {path}"));
    steps.push(choose(absent(cell), make, when(Test::Kind(cell, Kind::File), blocked)));
    sequence(steps)
}

fn copy(machine: &mut Machine<'_>, from: &str, to: &str, and_remove: bool) -> Program {
    let Some(source) = machine.path(from) else { return Program::fail("a directory cannot be copied so") };
    let Some(target) = machine.path(to) else {
        return Program::fail("copies into directories are not modelled");
    };
    let write = machine.copy_file(to, from);
    let overwrite = overwrite(machine, to, write);
    let mut steps = vec![
        when(Test::Kind(source, Kind::File).negate(), Program::fail(&format!("{from} is no file"))),
        when(Test::Kind(target, Kind::Directory), Program::fail(&format!("{to} is a directory"))),
        overwrite,
    ];
    if and_remove {
        steps.push(machine.remove_one(from));
    }
    sequence(steps)
}
