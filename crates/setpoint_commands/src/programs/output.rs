//! Programs that print, and what reads them.

use super::{Done, Known, all, arguments, each, needs, only};
use crate::infer::{Shell, Stream, literal};
use crate::lexer::Word;
use crate::step::{Condition, NotUnderstood, Step};

/// `echo` and `printf`: what other commands print in their words is a part of what they print.
pub(super) fn echo(shell: &mut Shell<'_>, name: &str, words: &[Word]) -> Done {
    let mut from = Vec::new();
    let mut is_made = false;
    let mut is_volatile = false;
    for command in words.iter().flat_map(|word| &word.commands) {
        let (sources, volatile) = shell.printed_by(command)?.sources();
        is_made |= !sources.is_empty();
        is_volatile |= volatile;
        from.extend(sources);
    }
    let printed = match (is_volatile, is_made) {
        (true, _) => Stream::Volatile,
        (false, true) => Stream::Made(from),
        (false, false) => Stream::Text(printed(name, words)),
    };
    Ok((Step::Nothing, printed))
}

/// What echo or printf prints, where that is plain.
fn printed(name: &str, words: &[Word]) -> Option<String> {
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

pub(super) fn cat(shell: &Shell<'_>, words: &[Word], input: Stream) -> Done {
    match words {
        [] => Ok((Step::Nothing, input)),
        [file] if file.expands.is_none() => {
            let path = shell.path(file)?;
            let printed = if is_random(&path) { Stream::Volatile } else { Stream::File(path.clone()) };
            Ok((Step::Read(path), printed))
        }
        _ => {
            let found = arguments("cat", words, &[])?;
            made(shell, "cat", &found.operands, &input)
        }
    }
}

fn is_random(path: &str) -> bool {
    matches!(path, "/dev/urandom" | "/dev/random")
}

/// What a program prints of the files that it reads, else of its input. Files may be patterns.
pub(super) fn made(shell: &Shell<'_>, program: &str, files: &[&Word], input: &Stream) -> Done {
    if files.is_empty() {
        let (from, volatile) = input.sources();
        let printed = match input {
            _ if volatile => Stream::Volatile,
            Stream::Nothing => return Err(NotUnderstood::new(program, "what it reads is not known")),
            Stream::Text(_) => Stream::Text(None),
            _ => Stream::Made(from),
        };
        return Ok((Step::Nothing, printed));
    }
    let mut steps = Vec::new();
    let mut from = Vec::new();
    for word in files {
        let path = shell.pattern(word)?;
        steps.push(if word.expands.is_some() {
            Step::ReadMatching(path.clone())
        } else {
            Step::Read(path.clone())
        });
        from.push(path);
    }
    let printed = if from.iter().any(|path| is_random(path)) { Stream::Volatile } else { Stream::Made(from) };
    Ok((if steps.len() == 1 { steps.remove(0) } else { Step::Each(steps) }, printed))
}

/// Programs that print what they make of files or of their input.
pub(super) fn filter(shell: &Shell<'_>, name: &str, words: &[Word], input: &Stream) -> Done {
    let (known, program_first): (&[Known], bool) = match name {
        "awk" | "gawk" | "mawk" => (&[('F', "field-separator", true), ('v', "assign", true)], true),
        "jq" => {
            (&[('r', "raw-output", false), ('c', "compact-output", false), ('S', "sort-keys", false)], true)
        }
        "sort" => (
            &[
                ('u', "unique", false),
                ('n', "", false),
                ('r', "reverse", false),
                ('k', "key", true),
                ('t', "", true),
            ],
            false,
        ),
        "uniq" => (&[('c', "count", false), ('d', "", false), ('u', "", false)], false),
        "head" | "tail" => (&[('n', "lines", true), ('c', "bytes", true), ('q', "quiet", false)], false),
        "cut" => {
            (&[('d', "delimiter", true), ('f', "fields", true), ('c', "", true), ('b', "", true)], false)
        }
        "tr" => {
            (&[('d', "delete", false), ('s', "squeeze-repeats", false), ('c', "complement", false)], false)
        }
        "wc" => {
            (&[('l', "lines", false), ('c', "bytes", false), ('w', "words", false), ('m', "", false)], false)
        }
        "base64" => (&[('d', "decode", false), ('w', "wrap", true), ('i', "", false)], false),
        _ => (&[], false),
    };
    let found = arguments(name, words, known)?;
    let mut files = &found.operands[..];
    if program_first {
        let (program, rest) = files.split_first().ok_or_else(|| needs(name, "a program"))?;
        let program = literal(program)?;
        if name != "jq"
            && (program.contains("system(") || program.contains('>') || program.contains("getline"))
        {
            return Err(NotUnderstood::new(name, "its program writes files or runs commands"));
        }
        if program.contains("rand(") || program.contains("systime(") {
            return Ok((made(shell, name, rest, input)?.0, Stream::Volatile));
        }
        files = rest;
    } else if name == "tr" {
        files = &[];
    }
    made(shell, name, files, input)
}

/// Writes files that are other ones each time, and must have folders.
fn made_anew(shell: &Shell<'_>, outputs: &[&Word]) -> Result<Vec<Step>, NotUnderstood> {
    let make = |word: &&Word| {
        let path = shell.path(word)?;
        Ok(Step::Make { path, from: Vec::new(), append: false, volatile: true })
    };
    outputs.iter().map(make).collect()
}

/// `openssl req -keyout FILE -out FILE` and the like: what it reads, and what it writes.
pub(super) fn openssl(shell: &Shell<'_>, words: &[Word]) -> Done {
    let Some((verb, rest)) = words.split_first() else { return Err(needs("openssl", "what to do")) };
    let verb = literal(verb)?;
    let draws = ["req", "genrsa", "genpkey", "dhparam", "rand", "gendsa", "ecparam", "ca", "pkcs12", "x509"];
    if !draws.contains(&verb.as_str()) && !["rsa", "pkcs8", "dgst", "enc", "crl"].contains(&verb.as_str()) {
        return Err(NotUnderstood::new(verb, "what openssl does with it is not known"));
    }
    let (mut reads, mut outputs) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        at += 1;
        let Some(value) = rest.get(at) else { break };
        match word.text.as_str() {
            "-out" | "-keyout" => outputs.push(value),
            "-in" | "-inkey" | "-CA" | "-CAkey" | "-config" | "-extfile" | "-certfile" => reads.push(value),
            "-key" | "-signkey" if !value.text.starts_with('-') => reads.push(value),
            _ => continue,
        }
        at += 1;
    }
    let mut steps = Vec::new();
    for word in reads {
        steps.push(Step::Read(shell.path(word)?));
    }
    steps.extend(made_anew(shell, &outputs)?);
    if outputs.is_empty() {
        return Ok((if steps.is_empty() { Step::Nothing } else { Step::And(steps) }, Stream::Volatile));
    }
    all(steps)
}

/// `htpasswd -c FILE USER` makes a file, and without `-c` it edits one. The salt is another one each time.
pub(super) fn htpasswd(shell: &Shell<'_>, words: &[Word]) -> Done {
    let letters = ['c', 'b', 'B', 'm', 'd', 's', 'i', 'p'];
    let known: Vec<Known> = letters.iter().map(|letter| (*letter, "", false)).collect();
    let found = arguments("htpasswd", words, &known)?;
    let Some(file) = found.operands.first() else { return Err(needs("htpasswd", "a file")) };
    if found.has('c') {
        return all(made_anew(shell, &[file])?);
    }
    let path = shell.path(file)?;
    all(vec![Step::Read(path.clone()), Step::Disturb { path }])
}

/// `ssh-keygen -f FILE`: a key and its public part, where there is none.
pub(super) fn ssh_keygen(shell: &Shell<'_>, words: &[Word]) -> Done {
    let known: &[Known] = &[
        ('t', "", true),
        ('b', "", true),
        ('N', "", true),
        ('f', "", true),
        ('C', "", true),
        ('q', "", false),
    ];
    let found = arguments("ssh-keygen", words, known)?;
    let file = found.value('f').ok_or_else(|| needs("ssh-keygen", "a file"))?;
    let public = Word { text: format!("{}.pub", file.text), ..file.clone() };
    let there = Condition::Exists(shell.path(file)?);
    let mut steps = vec![Step::Guard(Condition::Not(Box::new(there)))];
    steps.extend(made_anew(shell, &[file, &public])?);
    all(steps)
}

pub(super) fn tee(shell: &Shell<'_>, words: &[Word], input: &Stream) -> Done {
    let found = arguments("tee", words, &[('a', "append", false), ('i', "", false)])?;
    let append = found.has('a');
    let (from, volatile) = input.sources();
    let (step, _) = each(&found.operands, "tee", |word| {
        let path = shell.path(word)?;
        Ok(match input {
            Stream::Text(content) => Step::Write { path, content: content.clone(), append },
            Stream::File(from) if !append => {
                let empty = Step::Write { path: path.clone(), content: Some(String::new()), append };
                Step::And(vec![empty, Step::Fill { from: from.clone(), to: path }])
            }
            _ => Step::Make { path, from: from.clone(), append, volatile },
        })
    })?;
    Ok((step, input.clone()))
}

/// `curl -o FILE ADDRESS`, `wget -O FILE ADDRESS`.
pub(super) fn fetch(shell: &Shell<'_>, name: &str, words: &[Word]) -> Done {
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
