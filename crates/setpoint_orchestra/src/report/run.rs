//! Runs and searches.

use serde_json::{Map, Value, json};
use setpoint_source::{RunTitle, Sources, Span, Story, StoryFact, StoryRun, StoryStep, print};

use super::{object_name, step_name};
use crate::concrete::{CellMeaning, Explored, Ground, Run, Timeline, Write, timeline};
use crate::instance::ObjectId;

/// What a step changes: object, what was, what is.
struct Change {
    object: ObjectId,
    text: String,
    json: Value,
}

fn changes(ground: &Ground<'_>, step: usize, before: &[u8]) -> Vec<Change> {
    ground.steps[step]
        .writes
        .iter()
        .map(|&(cell, write)| match ground.meaning(cell) {
            CellMeaning::StateOf(object) => {
                let states = &ground.model.class(ground.instance.object(object).class).states;
                let name = |value: u8| states.get(value as usize).map_or("", |name| name.as_str());
                let old = name(before[cell as usize]);
                let new = match write {
                    Write::Set(value) => name(value),
                    Write::Add(_) | Write::Subtract(_) => old,
                };
                let id = object_name(ground, object);
                Change {
                    object,
                    text: format!("{id}: {old} → {new}"),
                    json: json!({ "object": id, "from": old, "to": new }),
                }
            }
            CellMeaning::MessagesAt(object, message) => {
                let name =
                    ground.model.class(ground.instance.object(object).class).messages[message as usize];
                let id = object_name(ground, object);
                let (verb, key) = match write {
                    Write::Subtract(_) => ("loses", "lost"),
                    Write::Add(_) | Write::Set(_) => ("gets", "got"),
                };
                let mut json = Map::new();
                json.insert("object".into(), json!(id));
                json.insert(key.into(), json!(&*name));
                Change { object, text: format!("{id} {verb} {name}"), json: Value::Object(json) }
            }
        })
        .collect()
}

/// The source places that a step is about: of the objects that it changes, and of their links.
fn places(ground: &Ground<'_>, changed: &[Change], sources: &Sources) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut add = |span: Option<Span>| {
        if let Some(span) = span {
            let place = sources.place(span);
            if !out.contains(&place) {
                out.push(place);
            }
        }
    };
    for change in changed {
        let object = ground.instance.object(change.object);
        add(object.span);
        for link in &object.links {
            add(link.span);
        }
    }
    out
}

/// The run, step by step: the round in which each step can happen at the earliest, the rule, its objects, what
/// changes, and the source lines; then what runs in parallel and the critical path.
pub fn run_text(ground: &Ground<'_>, run: &Run, is_whole: bool, sources: &Sources) -> String {
    let timeline = timeline(ground, run);
    let mut out = String::new();
    let mut state = ground.start.clone();
    let mut rows: Vec<(String, String, String)> = Vec::new();
    for entry in &timeline.entries {
        let changed = changes(ground, entry.step, &state);
        let texts: Vec<&str> = changed.iter().map(|change| change.text.as_str()).collect();
        let places = places(ground, &changed, sources);
        rows.push((
            format!("{:>4}  {}", entry.round, step_name(ground, entry.step)),
            texts.join(", "),
            places.first().cloned().unwrap_or_default(),
        ));
        Ground::apply(&ground.steps[entry.step], &mut state);
    }
    let widths = [0, 1]
        .map(|column| rows.iter().map(|row| [&row.0, &row.1][column].chars().count()).max().unwrap_or(0));
    for (step, change, place) in rows {
        let line = format!("{}  {}  {place}", padded(&step, widths[0]), padded(&change, widths[1]));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.push('\n');
    out.push_str(&end_text(ground, run, is_whole, &timeline));
    out
}

fn padded(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.chars().count());
    format!("{text}{}", " ".repeat(missing))
}

fn end_text(ground: &Ground<'_>, run: &Run, is_whole: bool, timeline: &Timeline) -> String {
    let steps = run.steps.len();
    let end = match (run.maximal, ground.is_final(&run.end)) {
        (_, true) if is_whole => "final".to_owned(),
        (_, true) => "final for what was read and has a model, and not known for the whole".to_owned(),
        (true, false) => "stuck: no rule applies, and the state is not final".to_owned(),
        (false, false) if ground.is_crowded(&run.end) => {
            "cut off: more than 255 messages would wait at one object".to_owned()
        }
        (false, false) => "cut off: the run goes on".to_owned(),
    };
    let mut out = format!(
        "{steps} {}; in parallel {} {}. The end is {end}.\n",
        plural(steps, "step", "steps"),
        timeline.rounds,
        plural(timeline.rounds as usize, "round", "rounds")
    );
    let path: Vec<String> =
        timeline.critical_path.iter().map(|&entry| step_name(ground, timeline.entries[entry].step)).collect();
    if !path.is_empty() {
        out.push_str("Critical path:\n");
        for (at, step) in path.iter().enumerate() {
            out.push_str(&format!("{:>4}  {step}\n", at + 1));
        }
    }
    out
}

pub(super) fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// `{"steps": […], "final", "maximal", "rounds", "critical_path", "end"}`; the documentation shows it.
pub fn run_json(ground: &Ground<'_>, run: &Run, sources: &Sources) -> Value {
    let timeline = timeline(ground, run);
    let mut state = ground.start.clone();
    let steps: Vec<Value> = timeline
        .entries
        .iter()
        .map(|entry| {
            let step = &ground.steps[entry.step];
            let rule = &ground.model.rules[step.rule];
            let changed = changes(ground, entry.step, &state);
            let objects: Vec<String> =
                step.binding.iter().map(|&object| object_name(ground, object)).collect();
            Ground::apply(step, &mut state);
            json!({
                "rule": &*rule.name,
                "title": rule.title,
                "objects": objects,
                "changes": changed.iter().map(|change| change.json.clone()).collect::<Vec<_>>(),
                "round": entry.round,
                "after": entry.after,
                "places": places(ground, &changed, sources),
            })
        })
        .collect();
    json!({
        "steps": steps,
        "final": ground.is_final(&run.end),
        "maximal": run.maximal,
        "rounds": timeline.rounds,
        "critical_path": timeline.critical_path,
        "end": state_json(ground, &run.end),
    })
}

/// Steps of one run that a story shows.
const SHOWN_STEPS: usize = 40;
/// Objects whose last state a story shows.
const SHOWN_OBJECTS: usize = 40;

/// A run as a story: its steps with what each changes, and where every object ends.
pub fn run_story(ground: &Ground<'_>, run: &Run, sources: &Sources) -> Story {
    let mut state = ground.start.clone();
    let mut steps = Vec::new();
    for &step in run.steps.iter().take(SHOWN_STEPS) {
        let changes = changes(ground, step, &state).into_iter().map(|change| change.text).collect();
        Ground::apply(&ground.steps[step], &mut state);
        steps.push(StoryStep { name: step_name(ground, step), changes });
    }
    // Objects without states, as links are, have nothing to tell.
    let ends: Vec<StoryFact> = ground
        .instance
        .ids()
        .filter_map(|id| {
            let object = ground.instance.object(id);
            let name = ground.model.class(object.class).states.get(ground.state_of(&run.end, id) as usize)?;
            Some(StoryFact::new(format!("{} is {name}", object.id)))
        })
        .collect();
    let left = ends.len().saturating_sub(SHOWN_OBJECTS);
    let mut end = ends;
    end.truncate(SHOWN_OBJECTS);
    if left > 0 {
        end.push(StoryFact::new(format!("and {left} more objects")));
    }
    let title = if ground.is_final(&run.end) { RunTitle::Arrives } else { RunTitle::Stays };
    let more = run.steps.len() - steps.len();
    Story {
        start: Vec::new(),
        runs: vec![StoryRun { title, steps, more, end }],
        data: run_json(ground, run, sources),
    }
}

/// The state of every object: `[{"object", "class", "type"?, "state"?, "messages"?, "place"?}]`.
pub fn state_json(ground: &Ground<'_>, state: &[u8]) -> Value {
    let objects: Vec<Value> = ground
        .instance
        .ids()
        .map(|id| {
            let object = ground.instance.object(id);
            let class = ground.model.class(object.class);
            let mut out = Map::new();
            out.insert("object".into(), json!(object.id));
            out.insert("class".into(), json!(&*class.name));
            if let Some(kind) = object.kind.and_then(|kind| class.types.get(kind as usize)) {
                out.insert("type".into(), json!(&**kind));
            }
            if let Some(name) = class.states.get(ground.state_of(state, id) as usize) {
                out.insert("state".into(), json!(&**name));
            }
            let waiting: Map<String, Value> = class
                .messages
                .iter()
                .enumerate()
                .filter_map(|(at, name)| {
                    let count = ground.messages_at(state, id, at as u8);
                    (count > 0).then(|| (name.to_string(), json!(count)))
                })
                .collect();
            if !waiting.is_empty() {
                out.insert("messages".into(), Value::Object(waiting));
            }
            if !object.links.is_empty() {
                let links: Map<String, Value> = class
                    .links
                    .iter()
                    .zip(&object.links)
                    .map(|(link, target)| (link.name.to_string(), json!(object_name(ground, target.target))))
                    .collect();
                out.insert("links".into(), Value::Object(links));
            }
            Value::Object(out)
        })
        .collect();
    Value::Array(objects)
}

/// What `simulate --all` says.
pub fn explored_text(ground: &Ground<'_>, explored: &Explored) -> String {
    let ends = explored.terminals.len();
    let finals = explored.terminals.iter().filter(|run| ground.is_final(&run.end)).count();
    let mut out = format!(
        "{} {} and {} {}; {ends} {} without a next step, {finals} of them final.\n",
        explored.states,
        plural(explored.states, "state", "states"),
        explored.transitions,
        plural(explored.transitions, "step", "steps"),
        plural(ends, "state", "states"),
    );
    if explored.crowded {
        out.push_str("More than 255 messages can wait at one object: the search does not go beyond that.\n");
    } else if !explored.complete {
        out.push_str("The limit was reached: there are more states than these.\n");
    }
    out
}

/// `{"states", "transitions", "complete", "terminals": [RUN…]}`.
pub fn explored_json(ground: &Ground<'_>, explored: &Explored, sources: &Sources) -> Value {
    let terminals: Vec<Value> =
        explored.terminals.iter().take(100).map(|run| run_json(ground, run, sources)).collect();
    json!({
        "states": explored.states,
        "transitions": explored.transitions,
        "complete": explored.complete,
        "terminal_states": explored.terminals.len(),
        "terminals": terminals,
    })
}

/// The place of a span, as in the JSON of `check`.
pub(super) fn place_json(span: Option<Span>, sources: &Sources) -> Value {
    span.map_or(Value::Null, |span| print::location(span, sources))
}
