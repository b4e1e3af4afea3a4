//! A next run as text, as markdown and as JSON.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::{Map, Value as Json, json};
use setpoint_source::Secrets;

use super::{Action, Certainty, Declared, Effect, EffectKind, NextRun, NextStep, Outcome, Refresh, Reported};

/// Names that one line lists; more are counted.
const MAX_NAMES: usize = 5;
/// Resources that a row of a table names; more are counted.
const MAX_ROW_NAMES: usize = 3;

/// One thing that the run does, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub resource: String,
    /// What happens, as a clause without a subject: `restarts the service`.
    pub change: String,
    pub because: String,
    pub certainty: Certainty,
}

impl NextRun {
    /// Whether the run does nothing, as far as is known, and nothing is open.
    pub fn is_quiet(&self) -> bool {
        self.steps.is_empty() && self.dropped.is_empty() && self.every_run.is_empty() && self.open.is_empty()
    }

    /// Returns the steps that happen on the machine that is expected.
    pub fn expected(&self) -> impl Iterator<Item = &NextStep> {
        self.steps.iter().filter(|step| happens(step))
    }

    /// Returns the steps that the change brings.
    fn brought(&self) -> impl Iterator<Item = &NextStep> {
        self.expected().filter(|step| !step.as_before)
    }

    /// Returns the steps that one more run of the old catalog would do just so.
    fn standing(&self) -> impl Iterator<Item = &NextStep> {
        self.expected().filter(|step| step.as_before)
    }

    /// Returns the steps that do nothing there, and may do something on another machine because of the change.
    fn possible(&self) -> impl Iterator<Item = &NextStep> {
        self.steps.iter().filter(|step| step.certainty == Certainty::Possible && !step.as_before)
    }

    /// Returns the steps that restart or reload a service.
    pub fn restarts(&self) -> impl Iterator<Item = &NextStep> {
        self.steps.iter().filter(|step| {
            let action = step.refresh.as_ref().map(|refresh| &refresh.action);
            matches!(action, Some(Action::Restart { .. } | Action::Reload { .. }))
        })
    }

    /// Returns the steps that fail.
    pub fn failures(&self) -> impl Iterator<Item = &NextStep> {
        self.steps.iter().filter(|step| matches!(step.outcome, Outcome::Failed { .. }))
    }

    /// Returns what the change brings, in order, with the reason of each.
    pub fn rows(&self) -> Vec<Row> {
        self.brought().map(row).collect()
    }

    /// Puts asterisks for secrets wherever they stand in words: the last net.
    pub fn mask(&mut self, secrets: &Secrets) {
        let masked = |text: &mut String| {
            if let Cow::Owned(masked) = secrets.mask(text) {
                *text = masked;
            }
        };
        for step in &mut self.steps {
            masked(&mut step.resource);
            step.effects.iter_mut().for_each(|effect| masked(&mut effect.words));
            if let Outcome::Failed { reason: text } | Outcome::Skipped { because: text } = &mut step.outcome {
                masked(text);
            }
            if let Certainty::Open { reason } = &mut step.certainty {
                masked(reason);
            }
            step.may_fail.iter_mut().flatten().for_each(masked);
            if let Some(refresh) = &mut step.refresh {
                refresh.chain.iter_mut().for_each(masked);
                match &mut refresh.action {
                    Action::Restart { command: Some(command) }
                    | Action::Reload { command }
                    | Action::Run { command } => masked(command),
                    Action::Restart { command: None }
                    | Action::NothingToRestart
                    | Action::HeldBack
                    | Action::Other => {}
                }
            }
        }
        for dropped in &mut self.dropped {
            masked(&mut dropped.resource);
            [&mut dropped.stays, &mut dropped.goes, &mut dropped.taken_over_by]
                .into_iter()
                .flatten()
                .for_each(masked);
        }
        self.every_run.iter_mut().for_each(|one| masked(&mut one.resource));
        for open in &mut self.open {
            masked(&mut open.resource);
            masked(&mut open.reason);
        }
        for one in &mut self.assuming {
            masked(&mut one.words);
            one.resources.iter_mut().for_each(masked);
        }
        self.failing_before.iter_mut().for_each(masked);
    }

    /// The run in few lines: a resource each, then what else there is to know.
    pub fn summary(&self) -> Vec<String> {
        let rows = self.rows().into_iter().map(|row| {
            let doubt = doubt(&row.certainty);
            format!("{}: {}{doubt}, because {}", row.resource, row.change, row.because)
        });
        let mut lines: Vec<String> = rows.collect();
        if lines.is_empty() {
            lines.push(self.nothing().to_owned());
        }
        lines.extend(self.standing_lines(TEXT).into_iter().map(|line| format!("As before: {line}.")));
        let mut rest = String::new();
        self.rest(&mut rest);
        lines.extend(rest.lines().map(str::to_owned));
        lines
    }

    /// The run step by step.
    pub fn text(&self) -> String {
        let mut out = String::new();
        if !self.failing_before.is_empty() {
            let _ = writeln!(out, "The old catalog fails already: {}.", self.failing_before.join(", "));
        }
        let count = self.expected().count();
        let width = count.to_string().len();
        if count == 0 {
            let _ = writeln!(out, "{}", self.nothing());
        }
        for (at, step) in self.expected().enumerate() {
            let Row { resource, change, because, certainty } = row(step);
            let place = step.place.as_ref().map(|place| format!("  ({}:{})", place.path, place.line));
            let doubt = doubt(&certainty);
            let number = at + 1;
            let _ =
                writeln!(out, "{number:>width$}. {resource}: {change}{doubt}{}", place.unwrap_or_default());
            let _ = writeln!(out, "{:width$}  because {because}", "");
            for effect in step
                .effects
                .iter()
                .filter(|effect| effect.kind != EffectKind::Ran && !effect.words.is_empty())
            {
                let _ = writeln!(out, "{:width$}  then {}", "", effect.words);
            }
            if let Some(skipped) = &step.may_fail {
                let _ = writeln!(out, "{:width$}  it may fail{}", "", then_skipped(skipped));
            }
        }
        self.rest(&mut out);
        out
    }

    /// What is told where no step is.
    fn nothing(&self) -> &'static str {
        match (self.standing().next().is_some(), self.open.is_empty()) {
            (true, _) => "As far as is known, the next run does nothing but what it did before this change.",
            (false, true) => "The next run changes nothing.",
            (false, false) => "As far as is known, the next run changes nothing.",
        }
    }

    /// What one more run of the old catalog would do just so, alike steps on one line.
    fn standing_lines(&self, form: Form) -> Vec<String> {
        let line = |(names, row): (Vec<String>, Row)| {
            let shown: Vec<String> = names.iter().map(|name| (form.name)(name)).collect();
            let (change, doubt) = ((form.words)(&each(&names, &row.change)), doubt(&row.certainty));
            format!("{}: {change}{doubt}", few(&shown, MAX_NAMES))
        };
        let without_reason = self.standing().map(|step| Row { because: String::new(), ..row(step) });
        merged(without_reason).into_iter().map(line).collect()
    }

    /// What is told after the steps.
    fn rest(&self, out: &mut String) {
        for dropped in &self.dropped {
            let _ = writeln!(out, "No longer in the catalog: {}; {}.", dropped.resource, left(dropped));
        }
        for one in &self.every_run {
            let since = if one.already { "as before" } else { "from now on" };
            let _ = writeln!(out, "Changes in every run, {since}: {}.", one.resource);
        }
        let possible: Vec<&str> = self.possible().map(|step| &*step.resource).collect();
        if !possible.is_empty() {
            let _ = writeln!(
                out,
                "Depending on what else is on the machine, may also act: {}.",
                possible.join(", ")
            );
        }
        for line in open_lines(&self.open.iter().collect::<Vec<_>>(), TEXT) {
            let _ = writeln!(out, "Open: {line}.");
        }
        for one in self.assuming_for_told() {
            let _ = writeln!(out, "Assumed: {}.", one.words);
        }
        if self.expected().any(|step| step.certainty == Certainty::Expected) {
            out.push_str("Expected: on a machine on which nothing but the old catalog has been at work.\n");
        }
    }

    /// What is assumed for resources that do something because of the change.
    fn assuming_for_told(&self) -> impl Iterator<Item = &super::Assuming> {
        let is_told = |name: &String| self.brought().any(|step| step.resource == *name);
        self.assuming.iter().filter(move |one| one.resources.iter().any(is_told))
    }

    /// What the run does as a table, and what stays.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        let rows = self.cells();
        if rows.is_empty() {
            let _ = writeln!(out, "{}", self.nothing());
        } else {
            out.push_str("| change | because |\n|---|---|\n");
            for (change, because) in rows {
                let _ = writeln!(out, "| {change} | {because} |");
            }
        }
        out.push('\n');
        out.push_str(&self.remarks());
        if let Some((heading, lines)) = self.asides() {
            let _ = writeln!(out, "\n<details><summary>{heading}</summary>\n");
            for line in lines {
                let _ = writeln!(out, "- {line}");
            }
            out.push_str("\n</details>\n");
        }
        out
    }

    /// What a reader of the change may pass over, as a heading and lines of markdown: what is as before, and what is open.
    pub fn asides(&self) -> Option<(String, Vec<String>)> {
        let mut lines: Vec<String> =
            self.standing_lines(MARKDOWN).iter().map(|line| format!("As before: {line}")).collect();
        let is_untold = |open: &&super::Open| !self.brought().any(|step| step.resource == open.resource);
        let open: Vec<&super::Open> = self.open.iter().filter(is_untold).collect();
        lines.extend(open_lines(&open, MARKDOWN).iter().map(|line| format!("Open: {line}")));
        let standing = counted(self.standing().count(), "resource");
        let heading = match open.len() {
            0 => format!("As before this change: {standing}"),
            count => format!("As before this change: {standing}; open: {}", counted(count, "resource")),
        };
        (!lines.is_empty()).then_some((heading, lines))
    }

    /// What the change brings and why, in order, as cells of a markdown table.
    pub fn cells(&self) -> Vec<(String, String)> {
        let cells = |(names, row): (Vec<String>, Row)| {
            let doubt = match row.certainty {
                Certainty::Certain | Certainty::Possible => "",
                Certainty::Expected => " *(expected)*",
                Certainty::Open { .. } => " *(open)*",
            };
            let is_new = |one: &super::EveryRun| !one.already && names.contains(&one.resource);
            let every = if self.every_run.iter().any(is_new) { ", **every run**" } else { "" };
            let shown: Vec<String> = names.iter().map(|name| code(name)).collect();
            let change = cell(&each(&names, &row.change));
            let why_open = match &row.certainty {
                Certainty::Open { reason } => format!("; open: {}", cell(reason)),
                _ => String::new(),
            };
            let change = format!("{}: {change}{every}{doubt}", few(&shown, MAX_ROW_NAMES));
            (change, format!("{}{why_open}", cell(&row.because)))
        };
        merged(self.rows().into_iter()).into_iter().map(cells).collect()
    }

    /// What is told in markdown after the table: files, services, what stays, what may be.
    pub fn remarks(&self) -> String {
        let mut out = String::new();
        let files: Vec<String> = self
            .brought()
            .filter(|step| step.outcome == Outcome::Changed && step.resource.starts_with("File["))
            .map(|step| code(&step.resource))
            .collect();
        let change = match files.len() {
            0 => "none change".to_owned(),
            1 => format!("{} changes", listed(&files)),
            _ => format!("{} change", listed(&files)),
        };
        let restarted = self.restarts().filter(|step| !step.as_before);
        let restarted: Vec<String> = restarted.map(|step| code(&step.resource)).collect();
        let dropped: Vec<String> = self
            .dropped
            .iter()
            .map(|one| format!("{} ({})", code(&one.resource), cell(&left(one))))
            .collect();
        let removed = match dropped.as_slice() {
            [] => "Removed from the catalog and left on the machine: nothing".to_owned(),
            some => format!("Removed from the catalog: {}", listed(some)),
        };
        let _ = writeln!(
            out,
            "Files: {change}. Services restarted or reloaded now: {}. {removed}.",
            listed(&restarted)
        );
        let every: Vec<String> =
            self.every_run.iter().filter(|one| !one.already).map(|one| code(&one.resource)).collect();
        if !every.is_empty() {
            let _ = writeln!(out, "\n**On every run from now on:** {}.", listed(&every));
        }
        let risky: Vec<String> = self
            .steps
            .iter()
            .filter(|step| step.may_fail.is_some() && !step.as_before)
            .map(|step| code(&step.resource))
            .collect();
        if !risky.is_empty() {
            let _ = writeln!(out, "\nMay fail: {}.", listed(&risky));
        }
        let possible: Vec<String> = self.possible().map(|step| code(&step.resource)).collect();
        if !possible.is_empty() {
            let _ = writeln!(
                out,
                "\nDepending on what else is on the machine, may also act: {}.",
                listed(&possible)
            );
        }
        out
    }

    pub fn json(&self) -> Json {
        let dropped: Vec<Json> = self
            .dropped
            .iter()
            .map(|one| {
                json!({
                    "resource": one.resource,
                    "stays": one.stays,
                    "goes": one.goes,
                    "taken_over_by": one.taken_over_by,
                    "open": one.is_open,
                })
            })
            .collect();
        let every_run: Vec<Json> = self
            .every_run
            .iter()
            .map(|one| json!({ "resource": one.resource, "already": one.already }))
            .collect();
        let open: Vec<Json> = self
            .open
            .iter()
            .map(|one| {
                json!({
                    "resource": one.resource,
                    "reason": one.reason,
                    "reaches_everything": one.reaches_everything,
                    "only_in_old": one.is_old,
                })
            })
            .collect();
        let assuming: Vec<Json> = self
            .assuming
            .iter()
            .map(|one| json!({ "words": one.words, "resources": one.resources }))
            .collect();
        json!({
            "steps": self.steps.iter().map(step_json).collect::<Vec<Json>>(),
            "idle": self.idle,
            "dropped": dropped,
            "every_run": every_run,
            "open": open,
            "assuming": assuming,
            "failing_before": self.failing_before,
        })
    }
}

fn doubt(certainty: &Certainty) -> &'static str {
    match certainty {
        Certainty::Certain | Certainty::Possible => "",
        Certainty::Expected => " (expected)",
        Certainty::Open { .. } => " (open)",
    }
}

fn happens(step: &NextStep) -> bool {
    let acts = match step.outcome {
        Outcome::Unchanged => step.refresh.is_some() || matches!(step.certainty, Certainty::Open { .. }),
        // What is declared as before has not been applied before, either.
        Outcome::Unscheduled => step.declared != Declared::Same,
        Outcome::Changed | Outcome::Failed { .. } | Outcome::Skipped { .. } => true,
    };
    step.certainty != Certainty::Possible && acts
}

fn row(step: &NextStep) -> Row {
    let mut clauses: Vec<Clause> = effects(&step.effects);
    if let Some(refresh) = &step.refresh {
        clauses.push(refreshed(refresh));
    }
    match &step.outcome {
        Outcome::Failed { reason } => {
            let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            match (clauses.last_mut(), &step.refresh) {
                (Some(last), Some(refresh)) if refresh.fails => last.rest.push_str(&reason),
                _ => clauses.push(Clause::new("fails", "fail", reason)),
            }
        }
        Outcome::Skipped { .. } => clauses.push(Clause::new("is", "be", " skipped")),
        Outcome::Unscheduled => {
            clauses.push(Clause::new("is", "be", " left as it is: its schedule is `never`"));
        }
        Outcome::Changed | Outcome::Unchanged => {}
    }
    let is_open = matches!(step.certainty, Certainty::Open { .. });
    if clauses.is_empty() {
        clauses.push(Clause::new("may change", "change", ""));
    }
    let words: Vec<String> = clauses.iter().map(|clause| clause.words(is_open)).collect();
    Row {
        resource: step.resource.clone(),
        change: words.join("; "),
        because: because(step),
        certainty: step.certainty.clone(),
    }
}

/// A clause without a subject. Of what is open it is only said that it may be.
#[derive(PartialEq, Eq)]
struct Clause {
    verb: &'static str,
    infinitive: &'static str,
    rest: String,
}

impl Clause {
    fn new(verb: &'static str, infinitive: &'static str, rest: impl Into<String>) -> Self {
        Self { verb, infinitive, rest: rest.into() }
    }

    fn words(&self, is_open: bool) -> String {
        let Self { verb, infinitive, rest } = self;
        if is_open { format!("may {infinitive}{rest}") } else { format!("{verb}{rest}") }
    }
}

/// What a refresh does.
fn refreshed(refresh: &Refresh) -> Clause {
    let by = |command: &str| format!(", by `{command}`");
    let by_its_own = |command: &Option<String>| command.as_deref().map(by).unwrap_or_default();
    match (&refresh.action, refresh.fails) {
        (Action::Restart { command }, false) => Clause::new("restarts", "restart", by_its_own(command)),
        (Action::Restart { command }, true) => {
            Clause::new("fails to restart", "fail to restart", by_its_own(command))
        }
        (Action::Reload { command }, false) => Clause::new("reloads", "reload", by(command)),
        (Action::Reload { command }, true) => Clause::new("fails to reload", "fail to reload", by(command)),
        (Action::Run { command }, false) => Clause::new("runs", "run", format!(" `{command}`")),
        (Action::Run { command }, true) => Clause::new("runs", "run", format!(" `{command}`, which fails")),
        (Action::NothingToRestart, _) => {
            Clause::new("is", "be", " notified, and there is nothing to restart")
        }
        (Action::HeldBack, false) => Clause::new("is", "be", " notified, and its checks hold it back"),
        (Action::HeldBack | Action::Other, true) => {
            Clause::new("fails when it is refreshed", "fail when it is refreshed", "")
        }
        (Action::Other, false) => Clause::new("is", "be", " refreshed"),
    }
}

/// What a step changes, in few words.
fn effects(effects: &[Effect]) -> Vec<Clause> {
    let reported = effects.iter().filter(|effect| effect.reported != Reported::No);
    let mut clauses: Vec<Clause> = Vec::new();
    for effect in reported {
        let property = match &effect.reported {
            Reported::Property(name) => name.as_str(),
            Reported::SomeProperty | Reported::No => "",
        };
        let clause = match (effect.kind, property) {
            (EffectKind::Ran, _) => Clause::new("runs", "run", format!(" `{}`", effect.words)),
            (EffectKind::Created, "ensure") => Clause::new("is", "be", " created"),
            (EffectKind::Removed, "ensure") => Clause::new("is", "be", " removed"),
            (_, "") => Clause::new("changes", "change", ""),
            (_, name) => Clause::new("changes", "change", format!(" {name}")),
        };
        if !clauses.contains(&clause) {
            clauses.push(clause);
        }
    }
    clauses
}

fn because(step: &NextStep) -> String {
    if let Outcome::Skipped { because } = &step.outcome {
        let is_open = matches!(step.certainty, Certainty::Open { .. });
        return format!("{because} {}", if is_open { "may fail" } else { "fails" });
    }
    let mut reasons: Vec<String> = Vec::new();
    if let Some(refresh) = &step.refresh {
        reasons.push(format!("notified: {}", refresh.chain.join(" → ")));
    }
    match &step.declared {
        Declared::Added => reasons.push("new in the catalog".to_owned()),
        Declared::Changed(parameters) => {
            reasons.push(format!("the catalog changes {}", parameters.join(", ")));
        }
        Declared::Same if step.refresh.is_none() => {
            let reason = if step.as_before {
                "it does so in every run, before this change, too"
            } else {
                "what it declares or checks does not hold"
            };
            reasons.push(reason.to_owned());
        }
        Declared::Same => {}
    }
    reasons.join("; ")
}

fn then_skipped(skipped: &[String]) -> String {
    match skipped {
        [] => String::new(),
        names => format!("; then skipped: {}", listed(names)),
    }
}

fn left(dropped: &super::Dropped) -> String {
    let mut parts: Vec<String> = Vec::new();
    if !dropped.taken_over_by.is_empty() {
        parts.push(format!("now managed by {}", dropped.taken_over_by.join(", ")));
    }
    if !dropped.stays.is_empty() {
        parts.push(format!("stays on the machine: {}", dropped.stays.join(", ")));
    }
    if !dropped.goes.is_empty() {
        parts.push(format!("after the run {}", dropped.goes.join(", ")));
    }
    // No model knows all that a command did in the runs before.
    if dropped.resource.starts_with("Exec[") {
        parts.push("what its command did stays".to_owned());
    } else if dropped.is_open {
        parts.push("what it did stays, as far as no other resource changes it".to_owned());
    }
    if parts.is_empty() { "it leaves nothing".to_owned() } else { parts.join("; ") }
}

/// What no model knows, a line for each reason.
fn open_lines(all: &[&super::Open], form: Form) -> Vec<String> {
    let mut by_reason: Vec<(String, Vec<String>)> = Vec::new();
    for open in all {
        let (reason, name) = (reason_of(open), (form.name)(&open.resource));
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => by_reason.push((reason, vec![name])),
        }
    }
    let line = |(reason, names): (String, Vec<String>)| {
        format!("{}: {}", few(&names, MAX_NAMES), (form.words)(&reason))
    };
    by_reason.into_iter().map(line).collect()
}

fn reason_of(open: &super::Open) -> String {
    let reach = match (open.reaches_everything, open.is_old) {
        (true, true) => "; it may have touched anything, so nothing is certain",
        (true, false) => "; it may touch anything, so nothing after it is certain",
        (false, _) => "",
    };
    let old = if open.is_old { "in the old catalog, " } else { "" };
    format!("{old}{}{reach}", open.reason)
}

/// How names and words are written.
#[derive(Clone, Copy)]
struct Form {
    name: fn(&str) -> String,
    words: fn(&str) -> String,
}

const TEXT: Form = Form { name: str::to_owned, words: str::to_owned };
const MARKDOWN: Form = Form { name: code, words: cell };

/// Puts rows together that say the same of resources of one type.
fn merged(rows: impl Iterator<Item = Row>) -> Vec<(Vec<String>, Row)> {
    let kind = |row: &Row| row.resource.split('[').next().unwrap_or_default().to_owned();
    let mut found: Vec<(Vec<String>, Row)> = Vec::new();
    for row in rows {
        let is_alike = |(_, other): &&mut (Vec<String>, Row)| {
            (kind(other), &other.change, &other.because, &other.certainty)
                == (kind(&row), &row.change, &row.because, &row.certainty)
        };
        match found.iter_mut().find(is_alike) {
            Some((names, _)) => names.push(row.resource),
            None => found.push((vec![row.resource.clone()], row)),
        }
    }
    found
}

/// A clause of a row that is told of some resources.
fn each(names: &[String], change: &str) -> String {
    if names.len() > 1 { format!("each {change}") } else { change.to_owned() }
}

fn counted(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// The first few of some names.
fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { few(names, MAX_NAMES) }
}

fn few(names: &[String], most: usize) -> String {
    match names.get(..most) {
        Some(first) if names.len() > most => {
            format!("{} and {} more", first.join(", "), names.len() - most)
        }
        _ => names.join(", "),
    }
}

/// A word in the font of code, whatever is in it.
fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ").replace('|', "\\|");
    // The fence is longer than any in the text.
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if longest > 0 { format!("{fence} {text} {fence}") } else { format!("{fence}{text}{fence}") }
}

/// Text within a table, whose own markup is code alone.
fn cell(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ").replace('|', "\\|");
    let is_balanced = text.matches('`').count().is_multiple_of(2);
    let mut in_code = false;
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '`' if is_balanced => in_code = !in_code,
            '<' if !in_code => {
                out.push_str("&lt;");
                continue;
            }
            '>' if !in_code => {
                out.push_str("&gt;");
                continue;
            }
            '`' | '*' | '_' | '[' | '@' if !in_code => out.push('\\'),
            _ => {}
        }
        out.push(char);
    }
    out
}

fn step_json(step: &NextStep) -> Json {
    let mut out = Map::new();
    let mut put = |key: &str, value: Json| {
        out.insert(key.to_owned(), value);
    };
    put("resource", json!(step.resource));
    let place = step.place.as_ref();
    put("location", place.map_or(Json::Null, |place| json!({ "path": place.path, "line": place.line })));
    match &step.declared {
        Declared::Added => put("declared", json!("added")),
        Declared::Same => put("declared", json!("same")),
        Declared::Changed(parameters) => {
            put("declared", json!("changed"));
            put("parameters", json!(parameters));
        }
    }
    match &step.outcome {
        Outcome::Unchanged => put("outcome", json!("unchanged")),
        Outcome::Changed => put("outcome", json!("changed")),
        Outcome::Failed { reason } => {
            put("outcome", json!("failed"));
            put("reason", json!(reason));
        }
        Outcome::Skipped { because } => {
            put("outcome", json!("skipped"));
            put("because", json!(because));
        }
        Outcome::Unscheduled => put("outcome", json!("unscheduled")),
    }
    let effects: Vec<Json> = step.effects.iter().map(effect_json).collect();
    put("effects", json!(effects));
    if let Some(refresh) = &step.refresh {
        let (action, command) = match &refresh.action {
            Action::Restart { command } => ("restart", command.as_ref()),
            Action::Reload { command } => ("reload", Some(command)),
            Action::NothingToRestart => ("nothing-to-restart", None),
            Action::Run { command } => ("run", Some(command)),
            Action::HeldBack => ("held-back", None),
            Action::Other => ("refresh", None),
        };
        let Refresh { chain, fails, .. } = refresh;
        put("refresh", json!({ "action": action, "command": command, "chain": chain, "fails": fails }));
    }
    match &step.certainty {
        Certainty::Certain => put("certainty", json!("certain")),
        Certainty::Expected => put("certainty", json!("expected")),
        Certainty::Possible => put("certainty", json!("possible")),
        Certainty::Open { reason } => {
            put("certainty", json!("open"));
            put("open", json!(reason));
        }
    }
    if let Some(skipped) = &step.may_fail {
        put("may_fail", json!({ "skips": skipped }));
    }
    if step.as_before {
        put("as_before", json!(true));
    }
    Json::Object(out)
}

fn effect_json(effect: &Effect) -> Json {
    let kind = match effect.kind {
        EffectKind::Created => "created",
        EffectKind::Removed => "removed",
        EffectKind::Changed => "changed",
        EffectKind::Ran => "ran",
    };
    let property = match &effect.reported {
        Reported::Property(name) => Some(name),
        Reported::SomeProperty | Reported::No => None,
    };
    json!({
        "kind": kind,
        "property": property,
        "reported": effect.reported != Reported::No,
        "words": effect.words,
    })
}
