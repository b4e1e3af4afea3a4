//! A counterexample as a story: from which start, by which steps, to which end.

use minijinja::Value;
use serde::Serialize;
use serde_json::Value as Json;
use setpoint_source::Diagnostic;

use crate::markup::sentence;

/// Facts of one start or end that are shown when nobody has chosen among them.
const MAX_FACTS: usize = 8;
/// Steps of one run that are shown.
const MAX_STEPS: usize = 40;
/// Objects whose last state is shown.
const MAX_OBJECTS: usize = 40;

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

/// The story of a finding, and its notes that are no part of it. A note tells what matters most in words; where there is
/// none, the counterexample itself is told.
pub(crate) fn told(finding: &Diagnostic) -> (Option<Story>, Vec<&str>) {
    let mut notes: Vec<&str> = finding.notes.iter().map(String::as_str).collect();
    let Some(found) = &finding.counterexample else { return (None, notes) };
    if found.get("steps").is_some() {
        return (Some(Story { start: Vec::new(), runs: vec![orchestrated(found)] }), notes);
    }
    let start = match taken(&mut notes, &["Start: ", "At the start: "]) {
        Some(words) => vec![sentence(&words)],
        None => facts(&found["start"]).iter().map(|fact| sentence(fact)).collect(),
    };
    let mut story = Story { start, runs: Vec::new() };
    if let Some([one, two]) = found["runs"].as_array().map(Vec::as_slice) {
        story.runs.push(ordered("In one order", one, finding, &mut notes));
        story.runs.push(ordered("In another order", two, finding, &mut notes));
    } else if let (Some(first), Some(second)) = (found.get("first_run"), found.get("second_run")) {
        story.runs.push(whole("The first run", first, taken(&mut notes, &["After the first run: "])));
        story.runs.push(whole("The second run", second, taken(&mut notes, &["After the second run: "])));
    } else if let Some(run) = found.get("run") {
        let steps = taken(&mut notes, &["Order: "]);
        let mut told = whole("A run without failures", run, taken(&mut notes, &["At the end: "]));
        told.steps = steps.iter().flat_map(|steps| steps.split(", then ")).map(named).collect();
        story.runs.push(told);
    }
    (Some(story).filter(|story| !story.runs.is_empty()), notes)
}

/// Takes the note with one of these beginnings out, without its beginning and its full stop.
fn taken(notes: &mut Vec<&str>, beginnings: &[&str]) -> Option<String> {
    let told = |note: &str| beginnings.iter().find_map(|one| note.strip_prefix(one)).map(ended);
    let at = notes.iter().position(|note| told(note).is_some())?;
    told(notes.remove(at))
}

fn ended(text: &str) -> String {
    text.strip_suffix('.').unwrap_or(text).to_owned()
}

/// One of two runs that differ by their order. The note about it names the steps that matter: `A, then B: how it ends.`
fn ordered(title: &'static str, run: &Json, finding: &Diagnostic, notes: &mut Vec<&str>) -> Run {
    let order = strings(&run["order"]);
    let of_note = |note: &str| -> Option<(Vec<String>, String)> {
        note.match_indices(": ").find_map(|(at, _)| {
            let steps: Vec<&str> = note[..at].split(", then ").collect();
            let mut rest = order.iter();
            let is_run = steps.iter().all(|step| rest.any(|one| one == step));
            is_run.then(|| (steps.iter().map(ToString::to_string).collect(), ended(&note[at + 2..])))
        })
    };
    if let Some(at) = notes.iter().position(|note| of_note(note).is_some())
        && let Some((steps, end)) = of_note(notes.remove(at))
    {
        let mut told = whole(title, run, Some(end));
        told.steps = steps.iter().map(|step| named(step)).collect();
        return told;
    }
    let mut told = whole(title, run, None);
    told.steps =
        order.iter().filter(|step| finding.resources.contains(step)).map(|step| named(step)).collect();
    told
}

fn named(name: &str) -> Step {
    Step { name: name.to_owned(), changes: Vec::new() }
}

/// A run whose steps go without saying.
fn whole(title: &'static str, run: &Json, words: Option<String>) -> Run {
    let end = if let Some(words) = words {
        words.split("; ").map(fact).collect()
    } else {
        let failed = strings(&run["failed"]).into_iter().map(|name| format!("{name} fails"));
        let skipped = strings(&run["skipped"]).into_iter().map(|name| format!("{name} is skipped"));
        let told: Vec<String> = failed.chain(skipped).take(MAX_FACTS).collect();
        told.iter().chain(&facts(&run["end"])).map(|text| fact(text)).collect()
    };
    Run { title, steps: Vec::new(), more: 0, ends: "It ends so:", end }
}

fn fact(text: &str) -> Fact {
    let bad = text.contains(" fails: ") || text.ends_with(" fails") || text.ends_with(" is skipped");
    Fact { html: sentence(text), bad }
}

/// What is told of a state: each fact once, and not too many.
fn facts(state: &Json) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for fact in strings(state) {
        if !out.contains(&fact) {
            out.push(fact);
        }
    }
    if out.len() > MAX_FACTS {
        let more = out.len() - MAX_FACTS;
        out.truncate(MAX_FACTS);
        out.push(format!("and {more} more facts"));
    }
    out
}

fn strings(list: &Json) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect()
}

/// A run of an orchestration: steps with what each changes, and where every object ends.
fn orchestrated(found: &Json) -> Run {
    let all = found["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let steps = all.iter().take(MAX_STEPS).map(|step| {
        let text = |key: &str| step[key].as_str().unwrap_or_default();
        let title =
            if text("title").is_empty() { String::new() } else { format!(" “{}”", text("title")) };
        let objects = strings(&step["objects"]).join(", ");
        let changes = step["changes"].as_array().into_iter().flatten().map(changed).collect();
        Step { name: format!("{}{title} ({objects})", text("rule")), changes }
    });
    let steps: Vec<Step> = steps.collect();
    let objects = found["end"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut end: Vec<Fact> = objects.iter().take(MAX_OBJECTS).filter_map(object).collect();
    if objects.len() > MAX_OBJECTS {
        end.push(fact(&format!("and {} more objects", objects.len() - MAX_OBJECTS)));
    }
    Run {
        title: if all.is_empty() { "At the start already" } else { "The run" },
        more: all.len() - steps.len(),
        steps,
        ends: if found["final"] == true { "All have arrived:" } else { "There it stays:" },
        end,
    }
}

fn changed(change: &Json) -> String {
    let text = |key: &str| change[key].as_str().unwrap_or_default();
    let object = text("object");
    if change.get("got").is_some() {
        format!("{object} gets {}", text("got"))
    } else if change.get("lost").is_some() {
        format!("{object} loses {}", text("lost"))
    } else {
        format!("{object}: {} → {}", text("from"), text("to"))
    }
}

/// Objects without states, as links are, have nothing to tell.
fn object(object: &Json) -> Option<Fact> {
    let state = object["state"].as_str()?;
    Some(fact(&format!("{} is {state}", object["object"].as_str().unwrap_or_default())))
}
