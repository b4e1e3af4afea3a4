//! Text for people: the message, the source lines it is about, and what to do.

use std::fmt::Write;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::frame::frames;
use super::relative;
use crate::{
    Diagnostic, Gap, InputReport, Place, Reason, Report, Rule, Severity, SilencedBy, Sources, Span, Standing,
    Verdict, conditional, few,
};

/// Nodes that one line names.
const SHOWN_NODES: usize = 8;
/// Rules that many resources break alike, for the same reason and with the same remedy.
const BROKEN_ALIKE: [Rule; 3] = [Rule::ChangesEveryRun, Rule::RedundantDependsOn, Rule::UnknownValue];
/// Findings of such rules that are shown with their source lines.
const SHOWN_ALIKE: usize = 3;
/// Findings that are told in a line each.
const SHOWN_LINES: usize = 20;
/// Reasons that are told of one input.
const SHOWN_REASONS: usize = 5;
/// If more inputs are proved whole than this, those with the same answers share a line.
const SHOWN_PROVED: usize = 8;

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Errors and warnings alone.
    Quiet,
    /// Long lists are cut.
    Plain,
    /// Every node, reason and finding in full.
    Full,
}

impl Detail {
    /// Returns how many of a list are told that is cut after so many.
    fn most(self, usual: usize) -> usize {
        if self == Self::Full { usize::MAX } else { usual }
    }
}

/// All findings of a report, then a line per input that says its verdict, then how many findings there are.
pub fn text(report: &Report, sources: &Sources, colour: bool, detail: Detail) -> String {
    let mut out = findings(report, sources, colour, detail);
    if detail == Detail::Quiet {
        return out;
    }
    // Inputs of one file with the same answers, open for the same reasons, share a line; what shows them may differ.
    let are_alike = |a: &InputReport, b: &InputReport| {
        a.path == b.path
            && a.verdict().says_the_same(b.verdict())
            && a.verdict().reasons() == b.verdict().reasons()
    };
    let chunks: Vec<&[InputReport]> = report.inputs.chunk_by(are_alike).collect();
    let proved: Vec<&[InputReport]> = chunks.iter().copied().filter(|chunk| is_proved_whole(chunk)).collect();
    let is_long = proved.len() > detail.most(SHOWN_PROVED);
    if is_long {
        together(&proved, &mut out);
    }
    for chunk in chunks.into_iter().filter(|chunk| !is_long || !is_proved_whole(chunk)) {
        answers(chunk, sources, detail, &mut out);
    }
    let mut standing: Vec<Standing> =
        report.inputs.iter().flat_map(|input| input.verdict().standing()).collect();
    standing.sort_unstable();
    standing.dedup();
    if !standing.is_empty() {
        let assumed: Vec<&str> = standing.iter().map(|one| one.sentence()).collect();
        let _ = writeln!(out, "proofs assume: {}", assumed.join("; "));
    }
    out.push_str(&summary(report));
    out
}

/// Whether all answers about inputs are proved, with nothing left open or assumed.
fn is_proved_whole(inputs: &[InputReport]) -> bool {
    inputs.iter().all(|input| {
        let verdict = input.verdict();
        !verdict.is_empty() && verdict.iter().all(|(_, answer)| answer.is_proved())
    })
}

/// Tells the answers about inputs that share them, each set of answers in one line.
fn together(proved: &[&[InputReport]], out: &mut String) {
    let mut told: Vec<(String, Vec<&InputReport>)> = Vec::new();
    for input in proved.iter().flat_map(|chunk| chunk.iter()) {
        let words = words(input);
        match told.iter_mut().find(|(known, _)| *known == words) {
            Some((_, inputs)) => inputs.push(input),
            None => told.push((words, vec![input])),
        }
    }
    for (words, inputs) in told {
        let name =
            |input: &'_ &InputReport| input.node.clone().unwrap_or_else(|| relative(&input.path).to_owned());
        let names: Vec<String> = inputs.iter().map(name).collect();
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.dedup();
        let cut = if names.len() > SHOWN_PROVED { "; `-v` lists them" } else { "" };
        let _ = writeln!(out, "{words}: {}{cut}", few(&names, SHOWN_PROVED));
        let covered = covered(inputs.iter().copied());
        if !covered.is_empty() {
            let _ = writeln!(out, "  looked at: {covered}");
        }
    }
}

/// Returns the answers about an input: `order independent, idempotent yes`.
fn words(input: &InputReport) -> String {
    let answers = input.verdict().words();
    let answers: Vec<String> =
        answers.map(|(question, word)| format!("{} {word}", question.heading())).collect();
    answers.join(", ")
}

/// Tells the answers about inputs that share them, why they are open, and how much was looked at.
fn answers(inputs: &[InputReport], sources: &Sources, detail: Detail, out: &mut String) {
    let [first, ..] = inputs else { return };
    if first.verdict().is_empty() && first.coverage.is_none() {
        return;
    }
    let answers = words(first);
    let nodes: Vec<&str> = inputs.iter().filter_map(|input| input.node.as_deref()).collect();
    let nodes = few(&nodes, detail.most(SHOWN_NODES));
    let subject = match (first.path.as_str(), nodes.is_empty()) {
        // The project that the call is about needs no name.
        (".", false) => nodes,
        (path, false) => format!("{} for {nodes}", relative(path)),
        (path, true) => relative(path).to_owned(),
    };
    if !answers.is_empty() {
        let _ = writeln!(out, "{subject}: {answers}");
    }
    for line in explained(first.verdict(), sources, detail) {
        let _ = writeln!(out, "  {line}");
    }
    let covered = covered(inputs);
    if !covered.is_empty() {
        // Without a verdict, the line tells by itself what it is about.
        let indent = if answers.is_empty() { format!("{subject}: ") } else { "  ".to_owned() };
        let _ = writeln!(out, "{indent}looked at: {covered}");
    }
}

/// Every finding with its source lines. Of rules that many resources break alike, the first few; the others are a line each.
fn findings(report: &Report, sources: &Sources, colour: bool, detail: Detail) -> String {
    let mut out = String::new();
    let mut grouped = BROKEN_ALIKE.map(|_| Vec::<&Diagnostic>::new());
    let least = if detail == Detail::Quiet { Severity::Warning } else { Severity::Note };
    for finding in report.findings().filter(|finding| finding.severity >= least) {
        if let Some((_, alike)) =
            BROKEN_ALIKE.iter().zip(&mut grouped).find(|(rule, _)| **rule == finding.rule)
        {
            alike.push(finding);
            if alike.len() > detail.most(SHOWN_ALIKE) {
                continue;
            }
        }
        out.push_str(&diagnostic_with(finding, sources, colour, detail));
        out.push('\n');
    }
    for alike in &grouped {
        let rest = alike.get(detail.most(SHOWN_ALIKE)..).unwrap_or_default();
        for finding in rest.iter().take(SHOWN_LINES) {
            let place = finding.span.map(|span| format!("{}: ", place(span, sources))).unwrap_or_default();
            let (severity, rule) = (finding.severity.as_str(), finding.rule.name());
            let _ = writeln!(out, "{place}{severity}[{rule}]: {}", finding.message);
        }
        if let Some((first, more)) = rest.get(SHOWN_LINES..).and_then(<[_]>::split_first) {
            let _ = writeln!(out, "and {} more of {}; `-v` shows them", more.len() + 1, first.rule.name());
        }
        if !rest.is_empty() {
            out.push('\n');
        }
    }
    out
}

/// What is proved only under assumptions, first; then what keeps answers open.
fn explained(verdict: &Verdict, sources: &Sources, detail: Detail) -> Vec<String> {
    let most = detail.most(SHOWN_REASONS);
    let mut lines: Vec<String> = Vec::new();
    let mut told: Vec<(Vec<&Reason>, Vec<String>)> = Vec::new();
    for (question, answer) in verdict.iter() {
        let Some(assumed) = conditional(answer) else { continue };
        let answer = format!("{} {}", question.heading(), question.proved_word());
        match told.iter_mut().find(|(known, _)| *known == assumed) {
            Some((_, answers)) => answers.push(answer),
            None => told.push((assumed, vec![answer])),
        }
    }
    for (assumed, answers) in &told {
        let words = Reason::told_together(assumed, most);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        lines.push(format!("{}, if {}", answers.join(", "), few(&words, most)));
    }
    let reasons = verdict.reasons();
    let open: Vec<_> = reasons.iter().filter(|(reason, _)| reason.gap != Gap::Assumed).collect();
    for (reason, questions) in open.iter().take(most) {
        let questions: Vec<&str> = questions.iter().map(|question| question.heading()).collect();
        let place = match &reason.place {
            Place::At(span) => format!(" ({})", place(*span, sources)),
            Place::File(path) => format!(" ({})", relative(path)),
            Place::Input => String::new(),
        };
        lines.push(format!("{} open: {}{place}", questions.join(", "), reason.words));
    }
    if open.len() > most {
        lines.push(format!("and {} more reasons; `-v` lists them", open.len() - most));
    }
    lines
}

/// How much of inputs was looked at, together.
fn covered<'a>(inputs: impl IntoIterator<Item = &'a InputReport>) -> String {
    let mut counted = inputs.into_iter().filter_map(|input| input.coverage.as_ref());
    let Some(first) = counted.next() else { return String::new() };
    let mut all = first.clone();
    counted.for_each(|coverage| all.join(coverage));
    all.line()
}

/// Returns a place as `path:line:column`.
fn place(span: Span, sources: &Sources) -> String {
    relative(&sources.place(span)).to_owned()
}

/// `checked 3 inputs (2 proved, 1 open): 1 error, 2 warnings`.
fn summary(report: &Report) -> String {
    let count = |severity| report.findings().filter(|finding| finding.severity == severity).count();
    let mut parts: Vec<String> = [Severity::Error, Severity::Warning, Severity::Note]
        .into_iter()
        .map(|severity| (count(severity), severity.as_str()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| plural(count, word))
        .collect();
    if parts.is_empty() {
        parts.push("nothing found".to_owned());
    }
    let silenced = [(SilencedBy::Comment, "by comments"), (SilencedBy::Baseline, "by the baseline")];
    for (count, how) in silenced.map(|(by, how)| (report.silenced(by), how)) {
        if count > 0 {
            parts.push(format!("{count} silenced {how}"));
        }
    }
    format!("checked {}{}: {}\n", plural(report.inputs.len(), "input"), tally(report), parts.join(", "))
}

/// How many of several inputs are proved, refuted and open: an input is refuted if one of its answers is, else open if one is.
fn tally(report: &Report) -> String {
    let verdicts = report.inputs.iter().map(InputReport::verdict).filter(|verdict| !verdict.is_empty());
    let (mut proved, mut refuted, mut open) = (0_usize, 0_usize, 0_usize);
    for verdict in verdicts {
        if verdict.iter().any(|(_, answer)| answer.is_refuted()) {
            refuted += 1;
        } else if verdict.iter().any(|(_, answer)| answer.is_unknown()) {
            open += 1;
        } else {
            proved += 1;
        }
    }
    let counts = [(proved, "proved"), (refuted, "refuted"), (open, "open")];
    let told: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if proved + refuted + open < 2 { String::new() } else { format!(" ({})", told.join(", ")) }
}

fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// One diagnostic, ending in a line end.
pub fn diagnostic(diagnostic: &Diagnostic, sources: &Sources, colour: bool) -> String {
    diagnostic_with(diagnostic, sources, colour, Detail::Plain)
}

fn diagnostic_with(diagnostic: &Diagnostic, sources: &Sources, colour: bool, detail: Detail) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let frames = frames(diagnostic, sources);
    let mut group = Group::with_title(level.primary_title(&diagnostic.message).id(diagnostic.rule.name()));
    for frame in &frames {
        if frame.marks.is_empty() {
            group = group.element(Origin::path(relative(frame.file.path())).line(frame.first_line));
            continue;
        }
        let mut snippet = Snippet::source(frame.text.as_str())
            .path(relative(frame.file.path()))
            .line_start(frame.first_line);
        for mark in &frame.marks {
            let kind = if mark.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            snippet = snippet.annotation(kind.span(mark.start..mark.end).label(mark.text));
        }
        group = group.element(snippet);
    }
    let story = diagnostic.story.as_ref().map(|story| story.lines()).unwrap_or_default();
    for note in diagnostic.notes.iter().chain(&story) {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    let nodes: Vec<&str> = diagnostic.nodes.iter().map(String::as_str).collect();
    let nodes = format!("This is so on {} nodes: {}.", nodes.len(), few(&nodes, detail.most(SHOWN_NODES)));
    if !diagnostic.nodes.is_empty() {
        group = group.element(Level::NOTE.message(nodes.as_str()));
    }
    for help in &diagnostic.helps {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let mut out = renderer.render(&[group]);
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Range;

    #[test]
    fn a_frame_shows_the_line_and_the_place() {
        let sources = Sources::new();
        let id = sources.add("site.pp", "node x {\n  fil { '/a': }\n}\n");
        let found = Diagnostic::new(Rule::UnknownResourceType, "there is no type `fil`")
            .at(Range::new(11, 14).in_file(id))
            .with_help("did you mean `file`?");
        let shown = diagnostic(&found, &sources, false);
        assert!(shown.contains("error[unknown-resource-type]: there is no type `fil`"), "{shown}");
        assert!(shown.contains("site.pp:2:3"), "{shown}");
        assert!(shown.contains("fil { '/a': }"), "{shown}");
        assert!(shown.contains("help: did you mean `file`?"), "{shown}");
    }

    #[test]
    fn a_very_long_line_is_named_and_not_shown() {
        let sources = Sources::new();
        let text = format!("x\n{}\n", "a".repeat(100_000));
        let id = sources.add("a.json", text.as_str());
        let found = Diagnostic::new(Rule::DuplicateKey, "twice").at(Range::new(90_000, 90_003).in_file(id));
        let found = found.with_label(Range::new(0, 1).in_file(id), "first");
        let shown = diagnostic(&found, &sources, false);
        assert!(shown.contains("a.json:2") && shown.len() < 1_000, "{shown}");
    }

    #[test]
    fn a_place_beyond_the_text_is_shown_at_its_end() {
        let sources = Sources::new();
        let id = sources.add("a.pp", "é");
        let found =
            Diagnostic::new(Rule::UnknownResourceType, "ends too early").at(Range::new(1, 400).in_file(id));
        assert!(diagnostic(&found, &sources, false).contains("ends too early"));
    }
}
