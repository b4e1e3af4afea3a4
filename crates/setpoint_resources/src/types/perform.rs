//! What commands do, as programs.

use setpoint_commands::Edit;
use setpoint_state::{CellKind, Kind, Program, Test, Value};

use super::{exec, service};
use crate::attributes::shared;
use crate::commands::{Effect, Question};
use crate::entries::Entry;
use crate::machine::{
    LATEST, LONGEST_WAY, Machine, PRESENT, absent, all, any, choose, installed, never, parent, sequence, when,
};
use crate::mentions::{OF_GIT, SOME_FILE};
use crate::{Origin, Unit};

/// A program with what follows it, and what follows a failure of it.
pub(crate) fn bind(program: &Program, then: Program, otherwise: &Program) -> Program {
    if !can_fail(program) {
        return sequence(vec![program.clone(), then]);
    }
    match program {
        Program::Fail(_) => otherwise.clone(),
        Program::If(test, yes, no) => {
            choose(test.clone(), bind(yes, then.clone(), otherwise), bind(no, then, otherwise))
        }
        Program::Sequence(programs) => {
            programs.iter().rev().fold(then, |then, program| bind(program, then, otherwise))
        }
        other => sequence(vec![other.clone(), then]),
    }
}

/// Whether a program may fail.
pub(crate) fn can_fail(program: &Program) -> bool {
    match program {
        Program::Fail(_) => true,
        Program::If(_, yes, no) => can_fail(yes) || can_fail(no),
        Program::Sequence(programs) => programs.iter().any(can_fail),
        _ => false,
    }
}

/// How many parts a program has.
pub(crate) fn size(program: &Program) -> usize {
    match program {
        Program::If(_, yes, no) => 1 + size(yes) + size(no),
        Program::Sequence(programs) => programs.iter().map(size).sum(),
        _ => 1,
    }
}

/// All of the effects, until one fails.
fn perform_all(machine: &mut Machine<'_>, effects: &[Effect]) -> Program {
    let programs = effects.iter().map(|effect| perform(machine, effect)).collect();
    sequence(programs)
}

pub(crate) fn canonical(machine: &Machine<'_>, path: &str) -> String {
    machine.mentions.canonical(path, machine.world).unwrap_or_else(|| path.to_owned())
}

/// Does something to what a path leads to, through the links that the catalog makes.
fn through(
    machine: &mut Machine<'_>,
    path: &str,
    act: &dyn Fn(&mut Machine<'_>, &str) -> Program,
) -> Program {
    through_steps(machine, path, act, LONGEST_WAY)
}

fn through_steps(
    machine: &mut Machine<'_>,
    path: &str,
    act: &dyn Fn(&mut Machine<'_>, &str) -> Program,
    steps: usize,
) -> Program {
    let mut program = act(machine, path);
    for (is, to) in machine.led(path) {
        let there = if steps == 0 {
            Program::fail("too many levels of links")
        } else {
            through_steps(machine, &to, act, steps - 1)
        };
        program = choose(is, there, program);
    }
    program
}

/// Makes a link at a path that is not entered.
fn link(machine: &mut Machine<'_>, target: &str, path: &str, force: bool) -> Program {
    let Some(cell) = machine.path(path) else { return Program::fail("a directory is there") };
    let parent = machine.parent_is_directory(path);
    let mut make = vec![
        when(parent.negate(), Program::fail("the directory above does not exist")),
        Program::set(cell, Value::Link(shared(target))),
    ];
    make.extend(machine.set_attributes(path, "0777", "root", "root"));
    for tracked in machine.tracked(path) {
        make.push(Program::set(tracked.cell, Value::Absent));
    }
    let there = if force {
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

/// The program of one effect, for whoever runs the command.
pub(crate) fn perform(machine: &mut Machine<'_>, effect: &Effect) -> Program {
    let program = perform_as_root(machine, effect);
    match &machine.denied_to {
        Some(user) => super::permissions::deny(effect, program, user),
        None => program,
    }
}

fn perform_as_root(machine: &mut Machine<'_>, effect: &Effect) -> Program {
    match effect {
        Effect::Touch(path) => through(machine, &canonical(machine, path), &|machine, path| {
            let Some(cell) = machine.path(path) else { return Program::Skip };
            let create = create_file(machine, path, "");
            when(absent(cell), create)
        }),
        Effect::MakeDirectory { path, parents, mode } => {
            make_directory(machine, &canonical(machine, path), *parents, mode.as_deref().unwrap_or("0755"))
        }
        Effect::NeedProgram(places) => {
            let there = exec::is_at_one_of(machine, places);
            let name = places.first().map(|place| last(place)).unwrap_or_default();
            when(there.negate(), Program::fail(&format!("the program {name} is not there")))
        }
        Effect::RemoveDirectory(path) => {
            let path = canonical(machine, path);
            let Some(cell) = machine.path(&path) else { return Program::fail("it cannot be removed") };
            let mut full = Vec::new();
            for child in machine.below(&path) {
                full.extend(machine.path(&child).map(|child| absent(child).negate()));
            }
            let remove = machine.remove_one(&path);
            let empty = choose(any(full), Program::fail(&format!("{path} is not empty")), remove);
            choose(
                Test::Kind(cell, Kind::Directory),
                empty,
                Program::fail(&format!("{path} is no directory")),
            )
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
        Effect::Copy { from, to, and_remove, keeps_attributes } => {
            let (from, to) = (canonical(machine, from), canonical(machine, to));
            let name = from.rsplit('/').next().unwrap_or_default();
            let within = format!("{}/{name}", to.trim_end_matches('/'));
            let into = copy(machine, &from, &within, *and_remove, *keeps_attributes);
            let plain = copy(machine, &from, &to, *and_remove, *keeps_attributes);
            let is_directory = machine.is_directory(&to);
            choose(is_directory, into, plain)
        }
        Effect::Fill { from, to } => {
            let (from, to) = (canonical(machine, from), canonical(machine, to));
            let there = machine.path(&from).map_or_else(never, |cell| Test::Kind(cell, Kind::File));
            let copy = machine.copy_file(&to, &from);
            // What is missing is read as nothing.
            when(there, copy)
        }
        Effect::Link { target, path, force, replaces } => {
            let path = canonical(machine, path);
            let outer = link(machine, target, &path, *force);
            let within = format!("{path}/{}", last(target));
            let inner = if machine.mentions.is_named(&within) {
                link(machine, target, &within, *force)
            } else {
                Program::fail(&format!("{path} is a directory"))
            };
            let is_directory = machine.is_directory(&path);
            let mut program = choose(is_directory, inner, outer);
            if !replaces {
                // A link to a directory is entered.
                for (is, to) in machine.led(&path) {
                    let directory = machine.through(&to, &|machine, path| machine.is_directory(path));
                    let within = format!("{to}/{}", last(target));
                    let inner = link(machine, target, &within, *force);
                    program = choose(all(vec![is, directory]), inner, program);
                }
            }
            program
        }
        Effect::Mode { path, mode, recursive } => {
            through(machine, &canonical(machine, path), &|machine, path| {
                let own = attribute(machine, path, CellKind::Mode, mode);
                sequence(vec![own, below(machine, path, *recursive, CellKind::Mode, mode)])
            })
        }
        Effect::Owner { path, owner, group, recursive } => {
            let path = canonical(machine, path);
            let mut steps = Vec::new();
            if let Some(owner) = owner {
                let known = machine.user_exists(owner);
                steps.push(when(known.negate(), Program::fail(&format!("the user {owner} does not exist"))));
                steps.push(through(machine, &path, &|machine, path| {
                    let own = attribute(machine, path, CellKind::Owner, owner);
                    sequence(vec![own, below(machine, path, *recursive, CellKind::Owner, owner)])
                }));
            }
            if let Some(group) = group {
                let known = machine.group_exists(group);
                steps.push(when(known.negate(), Program::fail(&format!("the group {group} does not exist"))));
                steps.push(through(machine, &path, &|machine, path| {
                    let own = attribute(machine, path, CellKind::Group, group);
                    sequence(vec![own, below(machine, path, *recursive, CellKind::Group, group)])
                }));
            }
            sequence(steps)
        }
        Effect::Write { path, content } => through(machine, &canonical(machine, path), &|machine, path| {
            let write = machine.write_file(path, &shared(content));
            overwrite(machine, path, write)
        }),
        Effect::Set { path, name } => through(machine, &canonical(machine, path), &|machine, path| {
            let write = machine.write_named(path, name, Origin::Elsewhere);
            overwrite(machine, path, write)
        }),
        Effect::Fetch { path, address } => through(machine, &canonical(machine, path), &|machine, path| {
            let write = machine.write_named(path, &format!("(as in {address})"), Origin::Elsewhere);
            overwrite(machine, path, write)
        }),
        Effect::Make { path, name, from, volatile } => {
            let from: Vec<String> = from.iter().flat_map(|from| sources(machine, from)).collect();
            through(machine, &canonical(machine, path), &|machine, path| {
                let write = machine.write_made(path, name, &from, *volatile);
                overwrite(machine, path, write)
            })
        }
        Effect::Record { name, value, from } => {
            let cell = machine.other(CellKind::Other, name, None);
            let mut steps = vec![Program::set(cell, Value::text(value))];
            for path in from.clone().iter().flat_map(|from| sources(machine, from)).collect::<Vec<_>>() {
                if let Some(source) = machine.path(&path) {
                    steps.push(Program::copy(machine.made_from(CellKind::Other, name, &path), source));
                }
                // What was followed in the file was read, too.
                for tracked in machine.tracked(&path) {
                    let entry = format!("{path}: {:?}", tracked.entry);
                    let made = match tracked.entry {
                        Entry::MadeFrom(_) => machine.made_from(CellKind::Other, name, &entry),
                        _ => machine.other(CellKind::Other, name, Some(&entry)),
                    };
                    steps.push(Program::copy(made, tracked.cell));
                }
            }
            sequence(steps)
        }
        Effect::Clone { path, address } => {
            let path = canonical(machine, path);
            checkout(machine, &path, address)
        }
        Effect::NeedMatching(pattern) => {
            let named = sources(machine, pattern);
            let there = any(named.iter().map(|path| machine.leads(path)).collect());
            when(there.negate(), Program::fail(&format!("nothing matches {pattern}")))
        }
        Effect::Create { path } => {
            let path = canonical(machine, path);
            let Some(cell) = machine.path(&path) else { return Program::Skip };
            machine.origins.add(MADE_BY_COMMAND, Origin::Elsewhere);
            let create = create_file(machine, &path, MADE_BY_COMMAND);
            when(absent(cell), create)
        }
        Effect::Append { path, line } => through(machine, &canonical(machine, path), &|machine, path| {
            let entry = machine.track(path, Entry::Line(shared(line)));
            let Some(cell) = machine.path(path) else { return Program::fail("a directory is there") };
            let create = create_file(machine, path, "");
            let count = choose(
                absent(entry),
                Program::set(entry, Value::text(PRESENT)),
                Program::set(entry, Value::text("repeated")),
            );
            sequence(vec![
                when(absent(cell), create),
                when(Test::Kind(cell, Kind::Directory), Program::fail(&format!("{path} is a directory"))),
                machine.put_last(path, line),
                count,
                machine.line_added(path, entry, line),
            ])
        }),
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
            machine.assume_package(&name);
            let cell = machine.package(&name);
            when(installed(cell).negate(), Program::fail(&format!("the package {name} is not installed")))
        }
        Effect::Need(path) => {
            let path = canonical(machine, path);
            let there = machine.leads(&path);
            when(there.negate(), Program::fail(&format!("{path} does not exist")))
        }
        // What it does is said beside the program.
        Effect::Read(_) | Effect::Disturb { .. } | Effect::Listens(_) => Program::Skip,
        Effect::Extract { archive, into } => {
            let (archive, into) = (canonical(machine, archive), canonical(machine, into));
            let archived = machine.path(&archive).map_or(Test::True, |cell| Test::Kind(cell, Kind::File));
            let folder = machine.is_directory(&into);
            sequence(vec![
                when(archived.negate(), Program::fail(&format!("{archive} does not exist"))),
                when(folder.negate(), Program::fail(&format!("{into} does not exist"))),
            ])
        }
        Effect::Edit { path, program, extended } => {
            let path = canonical(machine, path);
            edit(machine, &path, program, *extended)
        }
        Effect::Check(question) => {
            let test = exec::ask(machine, question);
            let reason = match question {
                Question::Constant(_) => "its command ends with an error",
                _ => "a check within it does not hold",
            };
            when(test.negate(), Program::fail(reason))
        }
        Effect::Regardless(effects) => {
            let program = perform_all(machine, effects);
            bind(&program, Program::Skip, &Program::Skip)
        }
        Effect::Either(first, second) => {
            let (first, second) = (perform_all(machine, first), perform_all(machine, second));
            bind(&first, Program::Skip, &second)
        }
        Effect::Each(lists) => {
            let mut rest = Program::Skip;
            for list in lists.iter().rev() {
                let program = perform_all(machine, list);
                let ignored = bind(&rest, Program::Skip, &Program::Skip);
                let failed = sequence(vec![ignored, Program::fail("one of its parts fails")]);
                rest = bind(&program, rest, &failed);
            }
            rest
        }
        Effect::AddUser { name, group, groups, home, .. } => {
            let cell = machine.user(name);
            let mut steps =
                vec![when(absent(cell).negate(), Program::fail(&format!("the user {name} exists")))];
            for group in group.iter().chain(groups) {
                let known = machine.group_exists(group);
                steps.push(when(known.negate(), Program::fail(&format!("the group {group} does not exist"))));
            }
            steps.push(Program::set(cell, Value::text(PRESENT)));
            if group.is_none() && !machine.is_base_group(name) {
                let group = machine.group(name);
                steps.push(Program::set(group, Value::text(PRESENT)));
            }
            for group in groups {
                let member = machine.member(name, group);
                steps.push(Program::set(member, Value::text("member")));
            }
            if let Some(home) = home.as_deref().map(|home| canonical(machine, home)) {
                steps.push(super::accounts::make_home(machine, &home, name, group.as_deref()));
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
        Effect::Join { user, groups } => {
            let known = machine.user_exists(user);
            let mut steps =
                vec![when(known.negate(), Program::fail(&format!("the user {user} does not exist")))];
            for group in groups {
                let known = machine.group_exists(group);
                steps.push(when(known.negate(), Program::fail(&format!("the group {group} does not exist"))));
            }
            for group in groups {
                let member = machine.member(user, group);
                steps.push(Program::set(member, Value::text("member")));
            }
            sequence(steps)
        }
        Effect::AddGroup { name, force } => {
            let cell = machine.group(name);
            let there =
                if *force { Program::Skip } else { Program::fail(&format!("the group {name} exists")) };
            choose(absent(cell), Program::set(cell, Value::text(PRESENT)), there)
        }
        Effect::RemoveGroup(name) => {
            let cell = machine.group(name);
            sequence(vec![
                when(absent(cell), Program::fail(&format!("the group {name} does not exist"))),
                Program::set(cell, Value::Absent),
            ])
        }
        Effect::Service { name, verb } => {
            by_hand(machine, &Unit::named(name, machine.world.base.family), verb)
        }
    }
}

/// The paths of the catalog that a path, a pattern, or a folder that ends with a slash stands for.
pub(crate) fn sources(machine: &Machine<'_>, from: &str) -> Vec<String> {
    machine.mentions.matching(from, machine.world)
}

/// Fills a directory with what is fetched, where nothing is in it.
fn checkout(machine: &mut Machine<'_>, path: &str, address: &str) -> Program {
    let Some(cell) = machine.path(path) else {
        return Program::fail(&format!("{path} is a directory of the platform, and not empty"));
    };
    let above = make_directories(machine, path);
    let make = machine.make_directory(path, "0755");
    let mut full = Vec::new();
    for child in machine.below(path) {
        full.extend(machine.path(&child).map(|child| absent(child).negate()));
    }
    let something = format!("{path}/{SOME_FILE}");
    let fill = machine.write_named(&something, &format!("(out of {address})"), Origin::Elsewhere);
    let own = format!("{path}/{OF_GIT}");
    let fill = if machine.mentions.is_named(&own) {
        sequence(vec![fill, machine.make_directory(&own, "0755")])
    } else {
        fill
    };
    let blocked = Program::fail(&format!("something is at {path}"));
    choose(
        absent(cell),
        sequence(vec![above, make, fill.clone()]),
        choose(all(vec![Test::Kind(cell, Kind::Directory), any(full).negate()]), fill, blocked),
    )
}

/// A service that a command starts, stops or enables.
fn by_hand(machine: &mut Machine<'_>, name: &Unit, verb: &str) -> Program {
    let unit = service::unit_exists(machine, name);
    let mut steps = vec![when(unit.negate(), Program::fail(&format!("{name} has no unit and no script")))];
    match verb {
        "start" => steps.push(service::start(machine, name)),
        "stop" => steps.push(service::stop(machine, name)),
        "restart" | "reload-or-restart" | "force-reload" => steps.extend(service::load(machine, name)),
        "reload" | "try-restart" | "condrestart" | "reload-or-try-restart" => {
            let running = service::running_cell(machine, name);
            let load = sequence(service::load(machine, name));
            let stopped =
                if verb == "reload" { Program::fail(&format!("{name} does not run")) } else { Program::Skip };
            steps.push(choose(Test::is(running, Value::text("running")), load, stopped));
        }
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

/// The last part of a path.
fn last(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// Sets an attribute of all that is below a directory.
fn below(machine: &mut Machine<'_>, path: &str, recursive: bool, kind: CellKind, value: &str) -> Program {
    let mut steps = Vec::new();
    if recursive {
        for child in machine.below(path) {
            if let (Some(cell), Some(set)) = (machine.path(&child), machine.attribute(kind, &child)) {
                let here = all(vec![absent(cell).negate(), Test::Kind(cell, Kind::Link).negate()]);
                steps.push(when(here, Program::set(set, Value::text(value))));
            }
        }
    }
    sequence(steps)
}

/// What is missing above a path.
pub(crate) fn make_directories(machine: &mut Machine<'_>, path: &str) -> Program {
    match parent(path) {
        Some(above) if above != "/" => {
            let above = above.to_owned();
            make_directory(machine, &above, true, "0755")
        }
        _ => Program::Skip,
    }
}

/// Contents of one file that are followed at most.
const MOST_CONTENTS: usize = 16;

/// The content of a file that a command creates.
const MADE_BY_COMMAND: &str = "(as the command made it)";

/// Returns the contents that a file may have by what the catalog writes and edits; `None` if they are too many to follow.
fn known_contents(machine: &Machine<'_>, path: &str) -> Option<Vec<String>> {
    let edits: Vec<Edit> = machine
        .mentions
        .edits(path)
        .iter()
        .filter_map(|(program, extended)| Edit::parse(program, *extended))
        .collect();
    let mut known: Vec<String> = machine.mentions.contents(path);
    let mut at = 0;
    while let Some(content) = known.get(at).cloned() {
        at += 1;
        for edit in &edits {
            if let Some(next) = edit.apply(&content)
                && !known.contains(&next)
            {
                if known.len() == MOST_CONTENTS {
                    return None;
                }
                known.push(next);
            }
        }
    }
    Some(known)
}

/// Whether all that an edit may find is known, or what it does to other contents certainly happens once and disturbs
/// nothing else that is followed in the file.
pub(crate) fn is_certain(machine: &Machine<'_>, path: &str, program: &str, extended: bool) -> bool {
    if known_contents(machine, path).is_none() {
        return false;
    }
    if machine.mentions.is_written_whole(path) && !machine.packages.provides(path) {
        return true;
    }
    let Some(edit) = Edit::parse(program, extended) else { return false };
    let others = machine.mentions.edits(path);
    let own = (program.to_owned(), extended);
    let apart = others.iter().filter(|other| **other != own).all(|(program, extended)| {
        Edit::parse(program, *extended).is_some_and(|other| edit.is_apart_from(&other))
    });
    let alone = machine.tracked(path).iter().all(|tracked| matches!(tracked.entry, Entry::Edited { .. }));
    edit.settles() && apart && alone
}

/// What `sed -i` makes of a file that is there.
fn edit(machine: &mut Machine<'_>, path: &str, program: &str, extended: bool) -> Program {
    let Some(edit) = Edit::parse(program, extended) else { return Program::Skip };
    let mut otherwise = Program::Skip;
    if !machine.mentions.is_written_whole(path) && edit.settles() {
        let cell = machine.track(path, Entry::Edited { program: shared(program), extended });
        otherwise = Program::set(cell, Value::text(PRESENT));
    }
    for content in known_contents(machine, path).unwrap_or_default() {
        let Some(after) = edit.apply(&content) else { continue };
        let found = machine.has_content(path, &shared(&content));
        let write = machine.write_file(path, &shared(&after));
        otherwise = choose(found, write, otherwise);
    }
    otherwise
}

fn make_directory(machine: &mut Machine<'_>, path: &str, parents: bool, mode: &str) -> Program {
    let Some(cell) = machine.path(path) else {
        return if parents { Program::Skip } else { Program::fail(&format!("{path} exists")) };
    };
    let make = machine.make_directory(path, mode);
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
        steps.push(make_directory(machine, &above, true, "0755"));
    }
    let blocked = Program::fail(&format!("a file is at {path}"));
    let mut in_the_way = vec![Test::Kind(cell, Kind::File)];
    for (is, to) in machine.led(path) {
        let directory = machine.through(&to, &|machine, path| machine.is_directory(path));
        in_the_way.push(all(vec![is, directory.negate()]));
    }
    steps.push(choose(absent(cell), make, when(any(in_the_way), blocked)));
    sequence(steps)
}

fn copy(machine: &mut Machine<'_>, from: &str, to: &str, and_remove: bool, keeps: bool) -> Program {
    if and_remove {
        return plain_copy(machine, from, to, true, keeps);
    }
    // What the two lead to is read and written.
    through(machine, from, &|machine, from| {
        let mut program = plain_copy(machine, from, to, false, keeps);
        for (is, other) in machine.led(to) {
            let there = machine.leads(&other);
            let dangling = Program::fail(&format!("{to} leads nowhere"));
            let copied = through(machine, &other, &|machine, to| plain_copy(machine, from, to, false, keeps));
            program = choose(is, choose(there, copied, dangling), program);
        }
        program
    })
}

/// Copies or moves a file, and follows no link. A link is moved as what it is.
fn plain_copy(machine: &mut Machine<'_>, from: &str, to: &str, and_remove: bool, keeps: bool) -> Program {
    let Some(source) = machine.path(from) else { return Program::fail("a directory cannot be copied so") };
    let Some(target) = machine.path(to) else {
        return Program::fail("copies into directories are not modelled");
    };
    let write = machine.copy_file(to, from);
    let overwrite = overwrite(machine, to, write);
    let mut attributes = Vec::new();
    if keeps || and_remove {
        for kind in [CellKind::Mode, CellKind::Owner, CellKind::Group] {
            if let (Some(to), Some(from)) = (machine.attribute(kind, to), machine.attribute(kind, from)) {
                attributes.push(Program::copy(to, from));
            }
        }
    }
    let mut right = vec![Test::Kind(source, Kind::File)];
    if and_remove {
        right.push(Test::Kind(source, Kind::Link));
    }
    let mut steps = vec![
        when(any(right).negate(), Program::fail(&format!("{from} is no file"))),
        when(Test::Kind(target, Kind::Directory), Program::fail(&format!("{to} is a directory"))),
        if from == to { Program::fail("the two are the same file") } else { Program::Skip },
        overwrite,
        sequence(attributes),
    ];
    if and_remove {
        steps.push(machine.remove_one(from));
    }
    sequence(steps)
}
