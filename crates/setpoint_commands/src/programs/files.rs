//! Programs that change files and directories.

use super::{Done, VERBOSE, all, arguments, each, needs, only, texts};
use crate::infer::{Shell, Stream, literal};
use crate::lexer::Word;
use crate::step::{Condition, NotUnderstood, Step};

/// The operands of cp and mv: what is taken, where to, and whether that is a directory for certain.
pub(super) fn copy(shell: &Shell<'_>, name: &str, words: &[Word]) -> Done {
    let found = arguments(
        name,
        words,
        &[
            ('r', "recursive", false),
            ('R', "", false),
            ('a', "archive", false),
            ('p', "", false),
            ('f', "force", false),
            VERBOSE,
            ('t', "target-directory", true),
            ('T', "no-target-directory", false),
            ('L', "dereference", false),
            ('d', "", false),
            ('P', "no-dereference", false),
            ('\u{1}', "preserve", false),
            ('H', "", false),
        ],
    )?;
    let recursive = ['r', 'R', 'a'].iter().any(|letter| found.has(*letter));
    let (from, to, certain) = if let Some(folder) = found.value('t') {
        (&found.operands[..], folder, Some(true))
    } else {
        {
            let (to, from) = found.operands.split_last().ok_or_else(|| needs(name, "a path"))?;
            let certain = if found.has('T') {
                Some(false)
            } else {
                (from.len() > 1 || to.text.ends_with('/')).then_some(true)
            };
            (from, *to, certain)
        }
    };
    let to = shell.path(to)?;
    each(from, name, |word| {
        let (from, to) = (shell.path(word)?, to.clone());
        Ok(if name == "cp" {
            Step::Copy { from, to, into: certain, recursive }
        } else {
            Step::Move { from, to, into: certain }
        })
    })
}

/// Debian's tools that link what Apache is to read.
pub(super) fn apache(name: &str, words: &[Word]) -> Done {
    let found =
        arguments(name, words, &[('q', "quiet", false), ('f', "force", false), ('m', "maintmode", false)])?;
    let (folder, ends): (&str, &[&str]) = if name.ends_with("mod") {
        ("mods", &["load", "conf"])
    } else if name.ends_with("site") {
        ("sites", &["conf"])
    } else {
        ("conf", &["conf"])
    };
    let mut steps = Vec::new();
    for part in texts(&found.operands)? {
        let end = ends.first().copied().unwrap_or_default();
        steps.push(Step::Read(format!("/etc/apache2/{folder}-available/{part}.{end}")));
        for end in ends {
            let path = format!("/etc/apache2/{folder}-enabled/{part}.{end}");
            steps.push(if name.starts_with("a2dis") {
                Step::Remove { path, recursive: false, force: true }
            } else if folder == "mods" && *end == "conf" {
                // Not every module has a configuration, and some need others.
                Step::Disturb { path }
            } else {
                let target = format!("../{folder}-available/{part}.{end}");
                Step::Link { target, path, symbolic: true, force: true, replaces: true }
            });
        }
    }
    all(steps)
}

pub(super) fn install(shell: &Shell<'_>, words: &[Word]) -> Done {
    let found = arguments(
        "install",
        words,
        &[
            ('d', "directory", false),
            ('m', "mode", true),
            ('o', "owner", true),
            ('g', "group", true),
            ('D', "", false),
            VERBOSE,
            ('p', "preserve-timestamps", false),
            ('c', "", false),
        ],
    )?;
    let mode = found.value('m').map(literal).transpose()?.unwrap_or_else(|| "0755".to_owned());
    let owner = found.value('o').map(literal).transpose()?;
    let group = found.value('g').map(literal).transpose()?;
    let owned = |path: &str| {
        (owner.is_some() || group.is_some()).then(|| Step::Chown {
            path: path.to_owned(),
            owner: owner.clone(),
            group: group.clone(),
            recursive: false,
        })
    };
    let mut steps = Vec::new();
    if found.has('d') {
        for word in &found.operands {
            let path = shell.path(word)?;
            steps.push(Step::Mkdir { path: path.clone(), parents: true, mode: None });
            steps.push(Step::Chmod { path: path.clone(), mode: mode.clone(), recursive: false });
            steps.extend(owned(&path));
        }
        return all(steps);
    }
    // It looks for its owner before anything else.
    steps.extend(owner.iter().map(|owner| Step::Guard(Condition::UserExists(owner.clone()))));
    steps.extend(group.iter().map(|group| Step::Guard(Condition::GroupExists(group.clone()))));
    let [from, to] = found.operands[..] else { return Err(needs("install", "one file and where to")) };
    if to.text.ends_with('/') {
        return Err(NotUnderstood::new(&to.text, "install into a directory is not followed"));
    }
    let to = shell.path(to)?;
    if found.has('D')
        && let Some((parent, _)) = to.rsplit_once('/').filter(|(parent, _)| !parent.is_empty())
    {
        steps.push(Step::Mkdir { path: parent.to_owned(), parents: true, mode: None });
    }
    steps.push(Step::Copy { from: shell.path(from)?, to: to.clone(), into: None, recursive: false });
    steps.push(Step::Chmod { path: to.clone(), mode, recursive: false });
    steps.extend(owned(&to));
    all(steps)
}

pub(super) fn link(shell: &Shell<'_>, words: &[Word]) -> Done {
    let found = arguments(
        "ln",
        words,
        &[
            ('s', "symbolic", false),
            ('f', "force", false),
            ('n', "no-dereference", false),
            VERBOSE,
            ('T', "no-target-directory", false),
            ('h', "", false),
        ],
    )?;
    let [target, path] = found.operands[..] else { return Err(needs("ln", "one target and one path")) };
    let symbolic = found.has('s');
    // The target of a symbolic link is kept as written.
    let target = if symbolic { literal(target)? } else { shell.path(target)? };
    let mut path_text = shell.path(path)?;
    if path.text.ends_with('/') {
        let last = target.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        path_text = format!("{path_text}/{last}");
    }
    let replaces = ['n', 'T', 'h'].iter().any(|letter| found.has(*letter));
    only(Step::Link { target, path: path_text, symbolic, force: found.has('f'), replaces })
}

pub(super) fn tar(shell: &Shell<'_>, words: &[Word]) -> Done {
    // The first word may be options without a dash: `tar xzf FILE`.
    let mut words = words.to_vec();
    if let Some(first) = words.first_mut().filter(|word| !word.text.starts_with('-')) {
        first.text.insert(0, '-');
    }
    let found = arguments(
        "tar",
        &words,
        &[
            ('x', "extract", false),
            ('z', "gzip", false),
            ('j', "bzip2", false),
            ('J', "xz", false),
            ('f', "file", true),
            ('C', "directory", true),
            VERBOSE,
            ('p', "preserve-permissions", false),
            ('\u{1}', "strip-components", true),
            ('\u{2}', "no-same-owner", false),
            ('\u{3}', "overwrite", false),
            ('a', "auto-compress", false),
            ('k', "", false),
            ('\u{4}', "same-owner", false),
            ('m', "touch", false),
            ('\u{5}', "strip", true),
        ],
    )?;
    if !found.has('x') {
        return Err(NotUnderstood::new("tar", "only unpacking is followed"));
    }
    let archive = found.value('f').ok_or_else(|| needs("tar", "an archive"))?;
    let into = match found.value('C') {
        Some(folder) => shell.path(folder)?,
        None => shell.path(&Word { text: ".".to_owned(), ..Word::default() })?,
    };
    only(Step::Extract { archive: shell.path(archive)?, into })
}

pub(super) fn is_recursive(word: &Word) -> bool {
    word.text == "--recursive"
        || (word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('R'))
}

/// The operands of chmod: a mode may begin with a dash (`-x`).
pub(super) fn modes(words: &[Word]) -> Result<Vec<&Word>, NotUnderstood> {
    let mut found = Vec::new();
    for word in words {
        match word.text.as_str() {
            "-R" | "-v" | "-f" | "-c" | "-Rf" | "-fR" | "-Rv" | "--recursive" | "--verbose" | "--changes"
            | "--quiet" => {}
            long if long.starts_with("--") => {
                return Err(NotUnderstood::new(long, "this option of chmod is not known"));
            }
            _ => found.push(word),
        }
    }
    Ok(found)
}

pub(super) fn owner(shell: &Shell<'_>, name: &str, words: &[Word]) -> Done {
    let found = arguments(
        name,
        words,
        &[
            ('R', "recursive", false),
            ('h', "no-dereference", false),
            ('f', "silent", false),
            ('c', "changes", false),
            VERBOSE,
            ('H', "", false),
            ('L', "", false),
            ('P', "", false),
        ],
    )?;
    let (who, paths) = found.operands.split_first().ok_or_else(|| needs(name, "an owner"))?;
    let who = literal(who)?;
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let (owner, group) = match who.split_once([':', '.']) {
        _ if name == "chgrp" => (None, some(&who)),
        // `USER:` takes the user's own group, which is not known here.
        Some((_, "")) => return Err(NotUnderstood::new(&who, "the group of the user is not known")),
        Some((owner, group)) => (some(owner), some(group)),
        None => (some(&who), None),
    };
    let recursive = found.has('R');
    each(paths, name, |word| {
        Ok(Step::Chown { path: shell.path(word)?, owner: owner.clone(), group: group.clone(), recursive })
    })
}

pub(super) fn sed(shell: &Shell<'_>, words: &[Word], input: &Stream) -> Done {
    // `-i` may have the ending of a copy in the same word, and never in the next.
    let mut in_place = false;
    let mut rest = Vec::new();
    for word in words {
        let text = word.text.as_str();
        if text == "--in-place" || text == "-i" {
            in_place = true;
        } else if text.starts_with("-i") && text.len() > 2 && !text.starts_with("-ie")
            || text.starts_with("--in-place=")
        {
            return Err(NotUnderstood::new(text, "the copy that sed keeps is not followed"));
        } else if matches!(text, "-ri" | "-Ei" | "-ni" | "-ir" | "-iE") {
            in_place = true;
        } else {
            rest.push(word.clone());
        }
    }
    let found = arguments(
        "sed",
        &rest,
        &[
            ('e', "expression", true),
            ('r', "regexp-extended", false),
            ('E', "", false),
            ('n', "quiet", false),
            ('s', "separate", false),
            ('z', "null-data", false),
            ('\u{1}', "follow-symlinks", false),
        ],
    )?;
    let given: Vec<&Word> = found
        .options
        .iter()
        .filter(|(letter, _)| *letter == 'e')
        .filter_map(|(_, value)| value.as_ref())
        .collect();
    let (programs, files) = if given.is_empty() {
        let (program, files) = found.operands.split_first().ok_or_else(|| needs("sed", "a program"))?;
        (vec![*program], files.to_vec())
    } else {
        (given, found.operands.clone())
    };
    let program = programs.iter().map(|word| literal(word)).collect::<Result<Vec<_>, _>>()?.join("\n");
    let runs = ["/e", "/ge", "/eg"].iter().any(|end| program.ends_with(end));
    if runs || program.starts_with("w ") || program.contains(" w ") || program.contains("/w ") {
        return Err(NotUnderstood::new("sed", "its program writes other files or runs commands"));
    }
    let extended = found.has('r')
        || found.has('E')
        || words.iter().any(|word| matches!(word.text.as_str(), "-ri" | "-Ei" | "-ir" | "-iE"));
    // With other options the program means something else, which is not followed.
    let plain = !found.has('n') && !found.has('z') && !words.iter().any(|word| word.text == "-ni");
    let program = if plain { program } else { format!("{program} (with other options)") };
    if in_place
        && plain
        && let Some(line) = appended(&program)
    {
        return each(&files, "sed", |word| {
            let path = shell.path(word)?;
            let content = Some(format!("{line}\n"));
            Ok(Step::And(vec![Step::Read(path.clone()), Step::Write { path, content, append: true }]))
        });
    }
    if in_place {
        return each(&files, "sed", |word| {
            Ok(Step::EditFile { path: shell.path(word)?, program: program.clone(), extended })
        });
    }
    super::output::made(shell, "sed", &files, input)
}

/// The line that a program adds at the end of a file: `$ a LINE`.
fn appended(program: &str) -> Option<&str> {
    let text = program.trim_start().strip_prefix('$')?.trim_start().strip_prefix('a')?;
    let text = text.strip_prefix('\\').unwrap_or(text).trim_start();
    (!text.is_empty() && !text.contains(['\n', '\\'])).then_some(text)
}

/// `perl -pi -e PROGRAM FILE`: an edit in place.
pub(super) fn perl(shell: &Shell<'_>, words: &[Word]) -> Done {
    match words {
        [option, program, files @ ..] if option.text == "-pie" => {
            let files: Vec<&Word> = files.iter().collect();
            let program = literal(program)?;
            each(&files, "perl", |word| {
                Ok(Step::EditFile {
                    path: shell.path(word)?,
                    program: format!("perl {program}"),
                    extended: false,
                })
            })
        }
        [inplace, option, program, files @ ..]
            if matches!(inplace.text.as_str(), "-pi" | "-i" | "-p")
                && matches!(option.text.as_str(), "-e" | "-pe" | "-ie") =>
        {
            let files: Vec<&Word> = files.iter().collect();
            let program = literal(program)?;
            each(&files, "perl", |word| {
                Ok(Step::EditFile {
                    path: shell.path(word)?,
                    program: format!("perl {program}"),
                    extended: false,
                })
            })
        }
        _ => Err(NotUnderstood::new("perl", "what its program does is not known")),
    }
}
