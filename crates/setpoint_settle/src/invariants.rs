//! What the user states must hold, as tests over the plan.

use setpoint_catalog::Catalog;
use setpoint_config::{Claim, Config, Expected, Invariant as Stated, Subject};
use setpoint_source::Diagnostic;
use setpoint_state::{CellKey, CellKind, Kind, Plan, Test, Value};
use setpoint_verify::Invariant;

use crate::rules;

/// The stated invariants that are about this node, and what is to be said about those that cannot be asked.
pub(crate) fn stated(
    config: &Config,
    plan: &Plan,
    catalog: &Catalog,
    platform: Option<&str>,
) -> (Vec<Invariant>, Vec<Diagnostic>) {
    let (mut asked, mut problems) = (Vec::new(), Vec::new());
    let here = |one: &&Stated| {
        let node = one.nodes.is_empty() || one.nodes.iter().any(|pattern| pattern.matches(&catalog.name));
        let on = |name: &str| one.platforms.iter().any(|wanted| wanted.value == name);
        node && (one.platforms.is_empty() || platform.is_some_and(on))
    };
    for one in config.invariants.iter().filter(here) {
        match test(&one.claim, plan) {
            Ok(test) => asked.push(Invariant { name: one.name.value.as_str().into(), test }),
            Err(reason) => {
                let message = format!("the invariant `{}` is not asked about: {reason}", one.name.value);
                problems.push(Diagnostic::new(&rules::UNDECIDED, message).at(one.span));
            }
        }
    }
    (asked, problems)
}

fn test(claim: &Claim, plan: &Plan) -> Result<Test, String> {
    let Claim::State { subject, expected } = claim else {
        return Err("a sentence is not understood; name a file, package, service, user or group".to_owned());
    };
    let (kind, name) = match subject {
        Subject::File(name) => (CellKind::Path, name.value.clone()),
        Subject::Package(name) => (CellKind::Package, name.value.clone()),
        Subject::Service(name) => (CellKind::Running, name.value.clone()),
        Subject::User(name) => (CellKind::User, name.value.clone()),
        Subject::Group(name) => (CellKind::UserGroup, name.value.clone()),
        Subject::Resource(reference) => of_reference(&reference.value)
            .ok_or_else(|| format!("`{}` is no file, package, service, user or group", reference.value))?,
    };
    let tests = tests(kind, &name, expected, plan)?;
    if tests.is_empty() {
        return Err("it expects nothing".to_owned());
    }
    Ok(Test::All(tests))
}

/// `File[/etc/motd]`
fn of_reference(reference: &str) -> Option<(CellKind, String)> {
    let (type_name, rest) = reference.split_once('[')?;
    let kind = match type_name {
        "File" => CellKind::Path,
        "Package" => CellKind::Package,
        "Service" => CellKind::Running,
        "User" => CellKind::User,
        "Group" => CellKind::UserGroup,
        _ => return None,
    };
    Some((kind, rest.strip_suffix(']')?.trim_matches(['\'', '"']).to_owned()))
}

fn tests(kind: CellKind, name: &str, expected: &Expected, plan: &Plan) -> Result<Vec<Test>, String> {
    let cell = |kind: CellKind| {
        plan.space
            .find(&CellKey::new(kind, name))
            .ok_or_else(|| format!("nothing in the catalog touches {name} in this respect"))
    };
    let mut tests = Vec::new();
    if let Some(ensure) = &expected.ensure {
        let cell = cell(kind)?;
        tests.push(match ensure.value.as_str() {
            "file" => Test::Kind(cell, Kind::File),
            "directory" => Test::Kind(cell, Kind::Directory),
            "link" => Test::Kind(cell, Kind::Link),
            "absent" => Test::Kind(cell, Kind::Absent),
            "present" | "installed" => Test::Kind(cell, Kind::Absent).negate(),
            other => Test::is(cell, Value::text(other)),
        });
    }
    if let Some(content) = &expected.content {
        tests.push(Test::is(cell(CellKind::Path)?, Value::file(&content.value)));
    }
    if let Some(target) = &expected.target {
        tests.push(Test::is(cell(CellKind::Path)?, Value::Link(target.value.as_str().into())));
    }
    let texts = [
        (CellKind::Mode, &expected.mode),
        (CellKind::Owner, &expected.owner),
        (CellKind::Group, &expected.owning_group),
    ];
    for (kind, value) in texts {
        if let Some(value) = value {
            tests.push(Test::is(cell(kind)?, Value::text(&value.value)));
        }
    }
    if let Some(enabled) = &expected.enabled {
        let word = if enabled.value { "true" } else { "false" };
        tests.push(Test::is(cell(CellKind::Enabled)?, Value::text(word)));
    }
    Ok(tests)
}
