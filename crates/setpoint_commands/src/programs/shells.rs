//! Programs that start other programs.

use super::{Done, needs, only};
use crate::infer::{Shell, Stream, literal};
use crate::lexer::Word;
use crate::step::NotUnderstood;

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
    while let Some(word) = words.get(at).filter(|word| word.text.starts_with('-')) {
        if name == "sudo" && (word.text == "-i" || word.text == "--login") {
            shell.folder = None;
        }
        at += 1 + usize::from(valued.contains(&word.text.as_str()));
    }
    // The first word of `timeout` is a time.
    at += usize::from(name == "timeout");
    match words.get(at..) {
        Some([]) | None => Err(needs(name, "a command")),
        Some(inner) => shell.inner(inner, input),
    }
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
    let before = shell.folder.clone();
    if words.iter().any(|word| matches!(word.text.as_str(), "-" | "-l" | "--login")) {
        shell.folder = None;
    }
    let step = shell.text(&literal(text)?)?;
    shell.folder = before;
    only(step)
}
