//! Maude, as the judge of the concrete engine: as many states, as many ends, and the same ends.

use std::fmt::Write;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::support::{cloudformation, nine_nodes, random_stack, random_topology, tosca};
use setpoint_orchestra::concrete::{Ground, explore};
use setpoint_orchestra::{Instance, Model};
use setpoint_testing::Random;

/// What a search says: the states that it saw, and for each state without a next one whether it is final.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    states: usize,
    ends: Vec<bool>,
}

/// The text of `maude`, or `None` where it is not installed.
fn maude(program: &str) -> Option<String> {
    let started = Command::new("maude")
        .args(["-no-banner", "-no-advise", "-interactive"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = started else {
        assert!(std::env::var_os("SETPOINT_REQUIRE_ALL").is_none(), "maude is required and not installed");
        println!("skipped: maude is not installed");
        return None;
    };
    let mut input = child.stdin.take().unwrap();
    let text = format!("{program}\nquit .\n");
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The answers of the searches, in order. An end is final if it has none of the words that say otherwise.
fn answers(output: &str, not_final: &[&str]) -> Vec<Answer> {
    let mut out = Vec::new();
    for search in output.split("search in ").skip(1) {
        let mut answer = Answer { states: 0, ends: Vec::new() };
        for solution in search.split("Solution ").skip(1) {
            let term = solution.split("S:State -->").nth(1).unwrap_or("");
            let term = term.split("No more").next().unwrap_or("");
            answer.ends.push(!not_final.iter().any(|word| term.contains(word)));
        }
        let last = search.rsplit("states: ").next().unwrap_or("");
        answer.states = last.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0);
        out.push(answer);
    }
    out
}

fn ours(model: &Model, instance: &Instance) -> Answer {
    let ground = Ground::new(model, instance).unwrap();
    let explored = explore(&ground, 1_000_000, |_| false);
    Answer {
        states: explored.states,
        ends: explored.terminals.iter().map(|run| ground.is_final(&run.end)).collect(),
    }
}

/// The initial term of an instance: its objects, numbered by their places.
fn tosca_term(model: &Model, instance: &Instance) -> String {
    let mut out = String::from("{");
    for (at, object) in instance.objects.iter().enumerate() {
        let class = model.class(object.class);
        let link = |number: usize| object.links[number].target.index();
        let kind = object.kind.map_or("", |kind| class.types[kind as usize].as_str());
        let _ = match &*class.name {
            "node" => write!(out, " node({at}, initial)"),
            "capability" => write!(out, " cap({kind}, {at}, closed, {})", link(0)),
            "requirement" => write!(out, " req({kind}, {at}, unbound, {})", link(0)),
            _ => write!(out, " rel({kind}, {at}, {}, {})", link(0), link(1)),
        };
    }
    out + " }"
}

fn stack_term(instance: &Instance) -> String {
    let mut out = String::from("{");
    for (at, object) in instance.objects.iter().enumerate() {
        let _ = match &object.links[..] {
            [parent, refer] => {
                write!(out, " prop({at}, notready, {}, {})", parent.target.index(), refer.target.index())
            }
            _ => write!(out, " res({at}, initial)"),
        };
    }
    out + " }"
}

#[test]
fn maude_agrees_on_topologies() {
    let model = tosca();
    let mut instances = vec![nine_nodes(&model)];
    for seed in 0..60 {
        let (nodes, links) = random_topology(&mut Random::new(seed * 7919));
        let names: Vec<String> = (0..nodes).map(|at| format!("n{at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let links: Vec<(&str, &str, &str)> =
            links.iter().map(|&(kind, from, to)| (kind, names[from], names[to])).collect();
        instances.push(crate::support::topology(&model, &names, &links));
    }
    let mut program = String::from(include_str!("support/setup.maude"));
    for instance in &instances {
        let _ = writeln!(program, "search in TOSCA : {} =>! S:State .", tosca_term(&model, instance));
    }
    let Some(output) = maude(&program) else { return };
    let theirs = answers(&output, &["initial)", "created)"]);
    assert_eq!(theirs.len(), instances.len(), "{output}");
    assert_eq!(theirs[0].states, 28_617);
    for (instance, theirs) in instances.iter().zip(&theirs) {
        assert_eq!(&ours(&model, instance), theirs, "{instance:?}");
    }
}

#[test]
fn maude_agrees_on_stacks() {
    let model = cloudformation();
    let instances: Vec<Instance> = (0..60)
        .map(|seed| {
            let (resources, references) = random_stack(&mut Random::new(seed * 104_729));
            let names: Vec<String> = (0..resources).map(|at| format!("r{at}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let references: Vec<(&str, &str)> =
                references.iter().map(|&(from, to)| (names[from], names[to])).collect();
            crate::support::stack(&model, &names, &references)
        })
        .collect();
    let mut program = String::from(include_str!("support/setup.maude"));
    for instance in &instances {
        let _ = writeln!(program, "search in CLOUDFORMATION : {} =>! S:State .", stack_term(instance));
    }
    let Some(output) = maude(&program) else { return };
    let theirs = answers(&output, &["initial)"]);
    assert_eq!(theirs.len(), instances.len(), "{output}");
    for (instance, theirs) in instances.iter().zip(&theirs) {
        assert_eq!(&ours(&model, instance), theirs, "{instance:?}");
    }
}
