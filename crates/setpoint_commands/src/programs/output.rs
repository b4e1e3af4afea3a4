//! Programs that print, and what reads them.

use super::{Done, arguments, each};
use crate::infer::{Shell, Stream};
use crate::lexer::Word;
use crate::step::Step;

/// What echo or printf prints, where that is plain.
pub(super) fn printed(name: &str, words: &[Word]) -> Option<String> {
    let texts: Vec<&str> = words
        .iter()
        .map(|word| word.expands.is_none().then_some(word.text.as_str()))
        .collect::<Option<_>>()?;
    if name == "printf" {
        return match texts[..] {
            [text] if !text.contains('%') => unescape(text),
            ["%s", text] => Some(text.to_owned()),
            ["%s\\n", text] => Some(format!("{text}\n")),
            _ => None,
        };
    }
    match texts[..] {
        ["-n", ref rest @ ..] => plain(&rest.join(" ")),
        ["-e", ref rest @ ..] => unescape(&rest.join(" ")).map(|text| text + "\n"),
        ["-ne" | "-en", ref rest @ ..] => unescape(&rest.join(" ")),
        _ => plain(&texts.join(" ")).map(|text| text + "\n"),
    }
}

/// Shells differ in whether echo reads escapes: a text that has some is not known.
fn plain(text: &str) -> Option<String> {
    (!text.contains('\\')).then(|| text.to_owned())
}

fn unescape(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(next) = chars.next() {
        if next != '\\' {
            out.push(next);
            continue;
        }
        out.push(match chars.next()? {
            'n' => '\n',
            't' => '\t',
            '\\' => '\\',
            _ => return None,
        });
    }
    Some(out)
}

pub(super) fn cat(shell: &Shell, words: &[Word], input: Stream) -> Done {
    match words {
        [] => Ok((Step::Nothing, input)),
        [file] => {
            let path = shell.path(file)?;
            Ok((Step::Read(path.clone()), Stream::File(path)))
        }
        _ => {
            let found = arguments("cat", words, &[])?;
            let steps = found.operands.iter().map(|word| Ok(Step::Read(shell.path(word)?)));
            Ok((Step::And(steps.collect::<Result<_, _>>()?), Stream::Text(None)))
        }
    }
}

pub(super) fn tee(shell: &Shell, words: &[Word], input: &Stream) -> Done {
    let found = arguments("tee", words, &[('a', "append", false), ('i', "", false)])?;
    let content = match input {
        Stream::Text(text) => text.clone(),
        Stream::Nothing | Stream::File(_) => None,
    };
    let append = found.has('a');
    let (step, _) = each(&found.operands, "tee", |word| {
        Ok(Step::Write { path: shell.path(word)?, content: content.clone(), append })
    })?;
    Ok((step, Stream::Text(content)))
}
