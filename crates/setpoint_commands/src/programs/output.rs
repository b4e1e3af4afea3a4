//! Programs that print, and what reads them.

use super::{Done, arguments, each, needs, only};
use crate::infer::{Shell, Stream, literal};
use crate::lexer::Word;
use crate::step::{NotUnderstood, Step};

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

/// `curl -o FILE ADDRESS`, `wget -O FILE ADDRESS`.
pub(super) fn fetch(shell: &Shell, name: &str, words: &[Word]) -> Done {
    let curl = name == "curl";
    let found = arguments(
        name,
        words,
        &[
            ('o', "output", true),
            ('O', "output-document", !curl),
            ('s', "silent", false),
            ('S', "show-error", false),
            ('L', "location", false),
            ('f', "fail", false),
            ('k', "insecure", false),
            ('q', "quiet", false),
            ('g', "globoff", false),
            ('n', "", false),
            ('v', "verbose", false),
            ('\u{1}', "no-check-certificate", false),
            ('\u{2}', "no-verbose", false),
            ('\u{3}', "retry", true),
            ('\u{4}', "max-time", true),
            ('\u{5}', "connect-timeout", true),
            ('\u{6}', "timeout", true),
            ('\u{7}', "tries", true),
            ('T', "", true),
            ('t', "", true),
            ('P', "directory-prefix", true),
            ('H', "header", true),
            ('u', "user", true),
            ('x', "proxy", true),
        ],
    )?;
    let [address] = found.operands[..] else { return Err(needs(name, "one address")) };
    let address = literal(address)?;
    if curl && (found.has('T') || found.has('t')) || found.has('P') {
        return Err(NotUnderstood::new(name, "one of its options is not followed"));
    }
    let own_name = address.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let path = match (found.value(if curl { 'o' } else { 'O' }), curl) {
        (Some(path), _) if path.text == "-" => {
            return Err(NotUnderstood::new(name, "what it prints is not known"));
        }
        (Some(path), _) => shell.path(path)?,
        (None, true) if !found.has('O') => {
            return Err(NotUnderstood::new(name, "what it prints is not known"));
        }
        (None, _) => shell.path(&Word { text: own_name.to_owned(), ..Word::default() })?,
    };
    only(Step::Fetch { path, address })
}
