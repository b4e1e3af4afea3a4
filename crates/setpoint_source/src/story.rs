//! Counterexamples as data: from which start, by which steps, to which end.

use serde_json::Value;

/// One run, or two that differ, that show a finding. Printers print it; none reads it back.
#[derive(Clone, PartialEq, Debug)]
pub struct Story {
    /// What matters of the start, a fact each; empty if any start shows it.
    pub start: Vec<String>,
    pub runs: Vec<StoryRun>,
    /// The same and more for programs: the `counterexample` of the JSON.
    pub data: Value,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoryRun {
    pub title: RunTitle,
    /// The steps that matter, in their order.
    pub steps: Vec<StoryStep>,
    /// How many steps are left out.
    pub more: usize,
    /// How it ends, a fact each.
    pub end: Vec<StoryFact>,
}

/// Which run it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunTitle {
    OneOrder,
    AnotherOrder,
    FirstRun,
    SecondRun,
    /// A run without failures.
    CleanRun,
    /// A run of an orchestration that ends in its goal.
    Arrives,
    /// A run of an orchestration that does not.
    Stays,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoryStep {
    pub name: String,
    pub changes: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoryFact {
    pub text: String,
    /// Something failed or was skipped.
    pub bad: bool,
}

impl RunTitle {
    pub fn words(self) -> &'static str {
        match self {
            Self::OneOrder => "In one order",
            Self::AnotherOrder => "In another order",
            Self::FirstRun => "The first run",
            Self::SecondRun => "The second run",
            Self::CleanRun => "A run without failures",
            Self::Arrives | Self::Stays => "The run",
        }
    }

    /// What stands before the end of the run.
    pub fn end_words(self) -> &'static str {
        match self {
            Self::Arrives => "All have arrived:",
            Self::Stays => "There it stays:",
            _ => "It ends so:",
        }
    }
}

impl StoryStep {
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), changes: Vec::new() }
    }
}

impl StoryFact {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), bad: false }
    }

    pub fn bad(text: impl Into<String>) -> Self {
        Self { text: text.into(), bad: true }
    }
}

impl Story {
    /// Changes every text of it.
    pub(crate) fn texts_mut(&mut self, change: &mut dyn FnMut(&mut String)) {
        self.start.iter_mut().for_each(&mut *change);
        for run in &mut self.runs {
            for step in &mut run.steps {
                change(&mut step.name);
                step.changes.iter_mut().for_each(&mut *change);
            }
            run.end.iter_mut().for_each(|fact| change(&mut fact.text));
        }
        change_strings(&mut self.data, change);
    }

    /// The story in a few lines of text. Runs of orchestrations are told by the notes of their findings.
    pub fn lines(&self) -> Vec<String> {
        let mut out = Vec::new();
        let is_twice = self.runs.iter().any(|run| run.title == RunTitle::SecondRun);
        if !self.start.is_empty() && self.runs.iter().any(StoryRun::is_told_in_lines) {
            out.push(format!(
                "{}: {}.",
                if is_twice { "At the start" } else { "Start" },
                joined(&self.start)
            ));
        }
        // Two runs that end alike differ in what they report alone, and the finding says that.
        let ends_alike = is_twice && self.runs.windows(2).all(|pair| pair[0].end == pair[1].end);
        for run in self.runs.iter().filter(|_| !ends_alike) {
            let steps: Vec<&str> = run.steps.iter().map(|step| step.name.as_str()).collect();
            let steps = steps.join(", then ");
            let end: Vec<&str> = run.end.iter().map(|fact| fact.text.as_str()).collect();
            let end = if end.is_empty() { "it ends".to_owned() } else { end.join("; ") };
            match run.title {
                RunTitle::OneOrder | RunTitle::AnotherOrder => out.push(format!("{steps}: {end}.")),
                RunTitle::FirstRun => out.push(format!("After the first run: {end}.")),
                RunTitle::SecondRun => out.push(format!("After the second run: {end}.")),
                RunTitle::CleanRun => {
                    out.push(if steps.is_empty() {
                        "Nothing in the catalog changes it.".to_owned()
                    } else {
                        format!("Order: {steps}.")
                    });
                    out.push(format!("At the end: {end}."));
                }
                RunTitle::Arrives | RunTitle::Stays => {}
            }
        }
        out
    }
}

impl StoryRun {
    fn is_told_in_lines(&self) -> bool {
        !matches!(self.title, RunTitle::Arrives | RunTitle::Stays)
    }
}

fn change_strings(value: &mut Value, change: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| change_strings(item, change)),
        Value::Object(entries) => entries.values_mut().for_each(|item| change_strings(item, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// `a, b, and c`.
fn joined(facts: &[String]) -> String {
    match facts {
        [rest @ .., last] if !rest.is_empty() => format!("{}, and {last}", rest.join(", ")),
        _ => facts.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_with_any_title_are_told_as_they_are() {
        let run = |title, names: [&str; 2]| StoryRun {
            title,
            steps: names.map(StoryStep::named).into(),
            more: 0,
            end: vec![StoryFact::bad("File[/a] fails: no folder; none"), StoryFact::new("/a does not exist")],
        };
        let (one, two) = ("Exec[make: a, then b]", "File[/a]");
        let story = Story {
            start: vec!["/a does not exist".to_owned(), "/b is a file".to_owned()],
            runs: vec![run(RunTitle::OneOrder, [one, two]), run(RunTitle::AnotherOrder, [two, one])],
            data: Value::Null,
        };
        let lines = story.lines();
        assert_eq!(lines[0], "Start: /a does not exist, and /b is a file.");
        assert!(lines[1].starts_with("Exec[make: a, then b], then File[/a]: File[/a] fails"), "{}", lines[1]);
    }
}
