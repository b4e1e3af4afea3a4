//! When Setpoint's outcome agrees with what Puppet said.
//!
//! Catalogs and what the manifest logged must be equal to the letter. Messages of the compiler may say more than
//! Puppet's, since ours are written for people: each of Puppet's must be met by one of ours at the same place that
//! contains Puppet's sentence up to the first place it names, as in `Duplicate declaration: File[a] is already declared`.
//! Where Puppet names no column, ours may; and a warning's column may be more precise than Puppet's.

use std::fmt::Write;

use setpoint_testing::{Case, diff};

use crate::{BOTH, Message, Mode, Outcome};

/// The problems, for people; empty if there is none.
pub fn agree(stored: &str, ours: &Outcome) -> String {
    let (said, wanted) = split(stored);
    let mut problems = String::new();
    for line in &said {
        if !ours.errors.iter().chain(&ours.messages).any(|message| meets(line, message)) {
            let _ = writeln!(problems, "- {line}");
        }
    }
    let mut found = ours.clone();
    found.messages.retain(|message| message.place.is_none());
    let errors = std::mem::take(&mut found.errors);
    let found = found.render();
    if found.trim_end() != wanted.trim_end() {
        problems += &diff(&wanted, &found);
    }
    let is_error = said.iter().any(|line| line.starts_with("error"));
    if !problems.is_empty() || is_error == errors.is_empty() {
        for error in errors.iter().chain(ours.messages.iter().filter(|message| message.place.is_some())) {
            let _ = write!(problems, "+ {}", error.render());
        }
    }
    problems
}

/// What the runner compares: the stored text where ours agrees with it, else ours.
pub fn answers_that_agree(
    case: &Case,
    compile: impl Fn(Mode) -> Result<Outcome, String>,
) -> Vec<(String, String)> {
    let mut answers = Vec::new();
    for section in &case.answers {
        let modes: &[Mode] = match section.name.as_str() {
            BOTH => &Mode::ALL,
            name if name == Mode::Seven.section() => &[Mode::Seven],
            name if name == Mode::Eight.section() => &[Mode::Eight],
            _ => continue,
        };
        let mut text = section.text.clone();
        for mode in modes {
            match compile(*mode) {
                Err(problem) => text = problem,
                Ok(ours) if agree(&section.text, &ours).is_empty() => continue,
                Ok(ours) => text = ours.render(),
            }
            break;
        }
        answers.push((section.name.clone(), text));
    }
    answers
}

/// How Puppet ends a warning of its own if it does not know where it is.
const NO_PLACE: &str = "(file & line not available)";

/// The compiler's own messages, and the rest.
fn split(stored: &str) -> (Vec<String>, String) {
    let mut said: Vec<String> = Vec::new();
    let mut rest = String::new();
    let mut in_message = false;
    let mut lines = stored.lines().peekable();
    while let Some(line) = lines.next() {
        if lines.next_if(|next| next.trim_start() == NO_PLACE).is_some() {
            said.push(line.to_owned());
            continue;
        }
        let starts = ["error at ", "error: ", "warning at "].iter().any(|start| line.starts_with(start));
        if starts {
            said.push(line.to_owned());
            in_message = true;
        } else if let (true, Some(line), Some(last)) = (in_message, line.strip_prefix("  "), said.last_mut())
        {
            last.push('\n');
            last.push_str(line);
        } else {
            in_message = false;
            rest.push_str(line);
            rest.push('\n');
        }
    }
    (said, rest)
}

fn meets(wanted: &str, ours: &Message) -> bool {
    let Some((head, sentence)) = wanted.split_once(": ") else { return false };
    let our_head = ours.head();
    // A message for which Puppet names no place, or only a line, may say more.
    let same_place = head == our_head
        || (matches!(head, "error" | "warning") && our_head.starts_with(&format!("{head} at ")))
        || our_head
            .strip_prefix(head)
            .is_some_and(|more| more.starts_with(':') || more.starts_with(" line "))
        || (head.starts_with("warning at ") && line_of(head) == line_of(&our_head));
    let fell_over = FAILURES_OF_RUBY.iter().any(|failure| sentence.contains(failure));
    same_place && (fell_over || ours.text.contains(essential(sentence)))
}

/// `warning at line 3:7` without the column.
fn line_of(head: &str) -> &str {
    head.rsplit_once(':').map_or(head, |(line, _)| line)
}

/// Where Puppet itself fell over, or speaks of its own inside, any error of ours at that place is better.
const FAILURES_OF_RUBY: [&str; 4] =
    ["SystemStackError", "undefined method", "no implicit conversion", "Attempt to redefine entity"];

/// What a library of Ruby said about its input, quoted by Puppet, need not be repeated.
const QUOTED_FROM_RUBY: [&str; 8] = [
    " at (",
    " at [\"",
    " (line ",
    " JSON syntax checker:",
    ". Caused by 'end pattern",
    // Where a reader of YAML lost track, and what one of JSON shows of the text.
    " at line ",
    "): 859: unexpected token",
    // The version in an address is that of the Puppet that was asked.
    " See https://puppet.com/docs/",
];

fn essential(sentence: &str) -> &str {
    let cut = QUOTED_FROM_RUBY.iter().filter_map(|mark| sentence.find(mark)).min().unwrap_or(sentence.len());
    sentence[..cut].trim_end().trim_end_matches('.')
}
