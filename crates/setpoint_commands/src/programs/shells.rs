//! Programs that start other programs.

use super::{Done, needs, only};
use crate::infer::{Shell, Stream, literal};
use crate::lexer::Word;
use crate::step::{Condition, NotUnderstood, Step};

/// `sudo -u USER COMMAND` and the like: what counts is the command.
pub(super) fn wrapper(shell: &mut Shell<'_>, name: &str, words: &[Word], input: Stream) -> Done {
    let valued: &[&str] = match name {
        "sudo" => &["-u", "-g", "-p", "--user", "--group"],
        "nice" => &["-n"],
        "ionice" => &["-c", "-n"],
        "timeout" => &["-s", "-k", "--signal", "--kill-after"],
        "stdbuf" => &["-i", "-o", "-e"],
        "env" => &["-u"],
        _ => &[],
    };
    let mut at = 0;
    let mut user = None;
    while let Some(word) = words.get(at).filter(|word| word.text.starts_with('-')) {
        if name == "sudo" && (word.text == "-i" || word.text == "--login") {
            shell.folder = None;
        }
        if name == "sudo" && (word.text == "-u" || word.text == "--user") {
            user = words.get(at + 1);
        } else if name == "sudo"
            && let Some(given) = word.text.strip_prefix("--user=")
        {
            return Err(NotUnderstood::new(given, "the user as whom it runs is not followed"));
        }
        at += 1 + usize::from(valued.contains(&word.text.as_str()));
    }
    // The first word of `timeout` is a time.
    at += usize::from(name == "timeout");
    match words.get(at..) {
        Some([]) | None => Err(needs(name, "a command")),
        Some(inner) => {
            let (step, printed) = shell.inner(inner, input)?;
            Ok((with_user(user, step)?, printed))
        }
    }
}

/// The user must be there as whom a command runs.
fn with_user(user: Option<&Word>, step: Step) -> Result<Step, NotUnderstood> {
    Ok(match user.map(literal).transpose()? {
        Some(user) => Step::And(vec![Step::Guard(Condition::UserExists(user)), step]),
        None => step,
    })
}

pub(super) fn shell_command(shell: &mut Shell<'_>, name: &str, words: &[Word]) -> Done {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        match first.text.as_str() {
            "-c" | "-ec" | "-lc" | "-xc" | "-exc" => {
                let [text] = after else {
                    return Err(NotUnderstood::new(name, "words after the command are not followed"));
                };
                let before = shell.folder.clone();
                let step = shell.text(&literal(text)?)?;
                shell.folder = before;
                return only(step);
            }
            "-e" | "-x" | "-l" | "-u" | "--login" => rest = after,
            _ if after.is_empty() && first.expands.is_none() => {
                let path = shell.path(first)?;
                return only(shell.script(&path)?);
            }
            _ => return Err(NotUnderstood::new(&first.text, "what is in the script is not known")),
        }
    }
    Err(needs(name, "a command"))
}

pub(super) fn switch_user(shell: &mut Shell<'_>, name: &str, words: &[Word]) -> Done {
    let at = words.iter().position(|word| word.text == "-c" || word.text == "--command");
    let Some(text) = at.and_then(|at| words.get(at + 1)) else {
        return Err(NotUnderstood::new(name, "only `-c COMMAND` is followed"));
    };
    // The words are options, a user, and the command.
    let mut user = None;
    let mut place = 0;
    while let Some(word) = words.get(place) {
        match word.text.as_str() {
            "-c" | "--command" | "-s" | "--shell" | "-g" | "--group" | "-G" | "--supp-group" => place += 1,
            "-u" | "--user" => {
                place += 1;
                user = words.get(place);
            }
            other if !other.starts_with('-') => user = user.or(Some(word)),
            _ => {}
        }
        place += 1;
    }
    let before = shell.folder.clone();
    if words.iter().any(|word| matches!(word.text.as_str(), "-" | "-l" | "--login")) {
        shell.folder = None;
    }
    let step = shell.text(&literal(text)?)?;
    shell.folder = before;
    only(with_user(user, step)?)
}
