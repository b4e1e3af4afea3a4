//! A counterexample as a story: from which start, by which steps, to which end.

use minijinja::Value;
use serde::Serialize;
use setpoint_source::{Story as Told, StoryFact, StoryRun};

use crate::markup::sentence;

#[derive(Debug, Serialize)]
pub(crate) struct Story {
    start: Vec<Value>,
    runs: Vec<Run>,
}

/// One of the runs that are told side by side.
#[derive(Debug, Serialize)]
struct Run {
    title: &'static str,
    steps: Vec<Step>,
    /// Steps that are not shown.
    more: usize,
    ends: &'static str,
    end: Vec<Fact>,
}

#[derive(Debug, Serialize)]
struct Step {
    name: String,
    changes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Fact {
    html: Value,
    bad: bool,
}

/// Marks up a story; nothing if it has no run to show.
pub(crate) fn shown(story: &Told) -> Option<Story> {
    let runs: Vec<Run> = story.runs.iter().map(run).collect();
    (!runs.is_empty()).then(|| Story { start: story.start.iter().map(|fact| sentence(fact)).collect(), runs })
}

fn run(run: &StoryRun) -> Run {
    let steps = run.steps.iter().map(|step| Step { name: step.name.clone(), changes: step.changes.clone() });
    Run {
        title: run.title.words(),
        steps: steps.collect(),
        more: run.more,
        ends: run.title.end_words(),
        end: run.end.iter().map(fact).collect(),
    }
}

fn fact(fact: &StoryFact) -> Fact {
    Fact { html: sentence(&fact.text), bad: fact.bad }
}
