//! Programs that only ask.

use super::{Done, arguments, guard, needs};
use crate::Syntax;
use crate::infer::{Shell, Stream, literal};
use crate::lexer::Word;
use crate::step::{Condition, NotUnderstood, Step};

pub(super) fn test(shell: &Shell<'_>, words: &[Word]) -> Done {
    guard(test_condition(shell, words, 0)?)
}

fn test_condition(shell: &Shell<'_>, words: &[Word], depth: usize) -> Result<Condition, NotUnderstood> {
    if depth > 16 {
        return Err(NotUnderstood::new("!", "it is nested too deeply"));
    }
    // `-a` and `-o` join; `-o` binds weaker.
    for (joint, all_of) in [("-o", false), ("||", false), ("-a", true), ("&&", true)] {
        if let Some(at) =
            words.iter().position(|word| !word.quoted && word.text == joint).filter(|at| *at > 0)
        {
            let left = test_condition(shell, &words[..at], depth + 1)?;
            let right = test_condition(shell, &words[at + 1..], depth + 1)?;
            return Ok(if all_of {
                Condition::All(vec![left, right])
            } else {
                Condition::Any(vec![left, right])
            });
        }
    }
    if let Some((first, rest)) = words.split_first()
        && first.text == "!"
        && !rest.is_empty()
    {
        return Ok(Condition::Not(Box::new(test_condition(shell, rest, depth + 1)?)));
    }
    match words {
        [word] => Ok(Condition::Constant(!literal(word)?.is_empty())),
        [operator, word] => {
            let path = || shell.path(word);
            Ok(match operator.text.as_str() {
                "-e" | "-a" | "-r" | "-w" | "-p" => Condition::Exists(path()?),
                "-f" => Condition::IsFile(path()?),
                "-d" => Condition::IsDirectory(path()?),
                "-L" | "-h" => Condition::IsLink(path()?),
                "-S" => Condition::IsSocket(path()?),
                "-s" => Condition::HasContent(path()?),
                "-x" => Condition::IsExecutable(path()?),
                "-z" => Condition::Constant(literal(word)?.is_empty()),
                "-n" => Condition::Constant(!literal(word)?.is_empty()),
                other => return Err(NotUnderstood::new(other, "what it asks of a path is not known")),
            })
        }
        [one, operator, other] => {
            let (one, other) = (literal(one)?, literal(other)?);
            Ok(match operator.text.as_str() {
                "=" | "==" => Condition::Constant(one == other),
                "!=" => Condition::Constant(one != other),
                unknown => return Err(NotUnderstood::new(unknown, "this comparison is not followed")),
            })
        }
        [] => Ok(Condition::Constant(false)),
        [first, ..] => Err(NotUnderstood::new(&first.text, "this test is not followed")),
    }
}

pub(super) fn grep(shell: &Shell<'_>, name: &str, words: &[Word], input: &Stream) -> Done {
    let found = arguments(
        name,
        words,
        &[
            ('q', "quiet", false),
            ('s', "no-messages", false),
            ('i', "ignore-case", false),
            ('E', "extended-regexp", false),
            ('F', "fixed-strings", false),
            ('x', "line-regexp", false),
            ('w', "word-regexp", false),
            ('e', "regexp", true),
            ('v', "invert-match", false),
            ('P', "perl-regexp", false),
            ('c', "count", false),
            ('\u{1}', "silent", false),
            ('G', "basic-regexp", false),
            ('n', "line-number", false),
            ('o', "only-matching", false),
            ('h', "no-filename", false),
            ('m', "max-count", true),
        ],
    )?;
    if found.has('v') || found.has('c') {
        return Err(NotUnderstood::new(name, "only whether a line matches is followed"));
    }
    let (pattern, files) = if let Some(pattern) = found.value('e') {
        (pattern, &found.operands[..])
    } else {
        {
            let (pattern, files) = found.operands.split_first().ok_or_else(|| needs(name, "a pattern"))?;
            (*pattern, files)
        }
    };
    let path = match (files, input) {
        ([file], _) => shell.path(file)?,
        ([], Stream::File(path)) => path.clone(),
        ([], _) => return Err(NotUnderstood::new(name, "what it reads is not known")),
        _ => return Err(NotUnderstood::new(name, "only one file is followed")),
    };
    if found.has('w') {
        return Err(NotUnderstood::new("-w", "where words end is not followed"));
    }
    let syntax = if found.has('F') || name == "fgrep" {
        Syntax::Fixed
    } else if found.has('P') {
        Syntax::Perl
    } else if found.has('E') || name == "egrep" {
        Syntax::Extended
    } else {
        Syntax::Basic
    };
    let printed = Stream::Made(vec![path.clone()]);
    let matches = Condition::Matches {
        path,
        pattern: literal(pattern)?,
        syntax,
        whole: found.has('x'),
        ignore_case: found.has('i'),
    };
    Ok((Step::Guard(matches), printed))
}
