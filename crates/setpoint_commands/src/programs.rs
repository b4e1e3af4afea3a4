//! The programs that are known, and what their words mean.

use crate::infer::{Shell, Stream, literal};
use crate::lexer::Word;
use crate::step::{Condition, NotUnderstood, Step};

type Done = Result<(Step, Stream), NotUnderstood>;

/// An option: its letter, its long name, and whether a value follows. A long name alone has a letter that is no letter.
type Known = (char, &'static str, bool);

struct Arguments<'a> {
    options: Vec<(char, Option<Word>)>,
    operands: Vec<&'a Word>,
}

impl Arguments<'_> {
    fn has(&self, letter: char) -> bool {
        self.options.iter().any(|(known, _)| *known == letter)
    }

    fn value(&self, letter: char) -> Option<&Word> {
        self.options.iter().rev().find(|(known, _)| *known == letter)?.1.as_ref()
    }
}

/// Options and operands; an option that is not known stops.
fn arguments<'a>(program: &str, words: &'a [Word], known: &[Known]) -> Result<Arguments<'a>, NotUnderstood> {
    let mut found = Arguments { options: Vec::new(), operands: Vec::new() };
    let unknown =
        |word: &str| NotUnderstood::new(word, format!("what this option of {program} changes is not known"));
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let text = word.text.as_str();
        if text == "--" {
            found.operands.extend(&words[at..]);
            break;
        }
        if !text.starts_with('-') || text == "-" {
            found.operands.push(word);
            continue;
        }
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let (letter, _, valued) =
                known.iter().find(|(_, long, _)| *long == name).ok_or_else(|| unknown(text))?;
            let value = match value {
                Some(value) => Some(Word { text: value.to_owned(), ..word.clone() }),
                None if *valued => {
                    at += 1;
                    Some(words.get(at - 1).cloned().ok_or_else(|| unknown(text))?)
                }
                None => None,
            };
            found.options.push((*letter, value));
            continue;
        }
        let letters: Vec<char> = text.chars().skip(1).collect();
        for (place, letter) in letters.iter().enumerate() {
            let (_, _, valued) =
                known.iter().find(|(short, _, _)| short == letter).ok_or_else(|| unknown(text))?;
            if !valued {
                found.options.push((*letter, None));
                continue;
            }
            let rest: String = letters[place + 1..].iter().collect();
            let value = if rest.is_empty() {
                at += 1;
                words.get(at - 1).cloned().ok_or_else(|| unknown(text))?
            } else {
                Word { text: rest, ..word.clone() }
            };
            found.options.push((*letter, Some(value)));
            break;
        }
    }
    Ok(found)
}

fn needs(program: &str, what: &str) -> NotUnderstood {
    NotUnderstood::new(program, format!("{what} is missing"))
}

#[allow(clippy::unnecessary_wraps, reason = "it ends most of the programs below")]
fn only(step: Step) -> Done {
    Ok((step, Stream::Nothing))
}

fn guard(condition: Condition) -> Done {
    only(Step::Guard(condition))
}

/// Several effects of one program: all of them, the first failure ends it.
fn all(mut steps: Vec<Step>) -> Done {
    only(match steps.len() {
        0 => Step::Nothing,
        1 => steps.remove(0),
        _ => Step::And(steps),
    })
}

fn texts(words: &[&Word]) -> Result<Vec<String>, NotUnderstood> {
    words.iter().map(|word| literal(word)).collect()
}

const VERBOSE: Known = ('v', "verbose", false);

pub(crate) fn run(shell: &mut Shell, program: &str, words: &[Word], input: Stream) -> Done {
    let (folder, name) = program.rsplit_once('/').unwrap_or(("/bin", program));
    if let Some(script) =
        program.strip_prefix("/etc/init.d/").or_else(|| program.strip_prefix("/etc/rc.d/init.d/"))
    {
        return match words {
            [action] => only(Step::Service { name: script.to_owned(), action: literal(action)? }),
            _ => Err(NotUnderstood::new(program, "an init script takes one action")),
        };
    }
    // A program of the same name elsewhere is another one: `/opt/app/install`.
    if !matches!(folder, "/bin" | "/sbin" | "/usr/bin" | "/usr/sbin" | "/usr/local/bin" | "/usr/local/sbin") {
        return Err(NotUnderstood::new(program, "what this program does is not known"));
    }
    match name {
        "true" | ":" => guard(Condition::Constant(true)),
        "false" => guard(Condition::Constant(false)),
        "exit" => match words {
            [] => only(Step::Nothing),
            _ => Err(NotUnderstood::new("exit", "it ends the command early")),
        },
        "sleep" | "export" | "umask" | "set" | "wait" | "sync" => only(Step::Nothing),
        // Caches and kernel state that nothing in a catalog reads.
        "ldconfig"
        | "update-ca-certificates"
        | "newaliases"
        | "sysctl"
        | "udevadm"
        | "sss_cache"
        | "ifup"
        | "ifdown"
        | "modprobe"
        | "update-grub"
        | "postmap"
        | "locale-gen" => only(Step::Nothing),
        "a2enmod" | "a2dismod" | "a2ensite" | "a2dissite" | "a2enconf" | "a2disconf" => apache(name, words),
        "cd" | "pushd" => {
            let [folder] = words else {
                return Err(NotUnderstood::new(name, "the home of a user is not known"));
            };
            let path = shell.path(folder)?;
            shell.folder = Some(path.clone());
            guard(Condition::IsDirectory(path))
        }
        "sudo" | "env" | "nice" | "ionice" | "timeout" | "nohup" | "exec" | "time" | "stdbuf" | "setsid" => {
            wrapper(shell, name, words, input)
        }
        "sh" | "bash" | "dash" | "ksh" => shell_command(shell, name, words),
        "su" | "runuser" => switch_user(shell, name, words),
        "echo" | "printf" => Ok((Step::Nothing, Stream::Text(printed(name, words)))),
        "yes" => Ok((Step::Nothing, Stream::Text(None))),
        "cat" => cat(shell, words, input),
        "tee" => tee(shell, words, &input),
        "touch" => {
            let found = arguments(
                name,
                words,
                &[
                    ('a', "", false),
                    ('m', "", false),
                    ('d', "date", true),
                    ('t', "", true),
                    ('r', "reference", true),
                ],
            )?;
            each(&found.operands, name, |word| Ok(Step::Touch(shell.path(word)?)))
        }
        "mkdir" => {
            let found = arguments(
                name,
                words,
                &[('p', "parents", false), ('m', "mode", true), VERBOSE, ('Z', "context", false)],
            )?;
            let mode = found.value('m').map(literal).transpose()?;
            each(&found.operands, name, |word| {
                Ok(Step::Mkdir { path: shell.path(word)?, parents: found.has('p'), mode: mode.clone() })
            })
        }
        "rmdir" => {
            let found = arguments(name, words, &[VERBOSE])?;
            each(&found.operands, name, |word| Ok(Step::Rmdir(shell.path(word)?)))
        }
        "rm" | "unlink" => {
            let found = arguments(
                name,
                words,
                &[
                    ('r', "recursive", false),
                    ('R', "", false),
                    ('f', "force", false),
                    ('d', "dir", false),
                    VERBOSE,
                ],
            )?;
            let recursive = found.has('r') || found.has('R');
            let force = found.has('f');
            if found.operands.is_empty() && force {
                return only(Step::Nothing);
            }
            each(&found.operands, name, |word| Ok(Step::Remove { path: shell.path(word)?, recursive, force }))
        }
        "cp" | "mv" => copy(shell, name, words),
        "install" => install(shell, words),
        "ln" => link(shell, words),
        "tar" | "gtar" | "bsdtar" => tar(shell, words),
        "unzip" => {
            let found = arguments(
                name,
                words,
                &[('o', "", false), ('q', "", false), ('n', "", false), ('d', "", true)],
            )?;
            let [archive] = found.operands[..] else { return Err(needs(name, "an archive alone")) };
            let into = match found.value('d') {
                Some(folder) => shell.path(folder)?,
                None => shell.path(&Word { text: ".".to_owned(), ..Word::default() })?,
            };
            only(Step::Extract { archive: shell.path(archive)?, into })
        }
        "chmod" => {
            let found = modes(words)?;
            let (mode, paths) = found.split_first().ok_or_else(|| needs(name, "a mode"))?;
            let recursive = words.iter().any(is_recursive);
            let mode = literal(mode)?;
            each(paths, name, |word| {
                Ok(Step::Chmod { path: shell.path(word)?, mode: mode.clone(), recursive })
            })
        }
        "chown" | "chgrp" => owner(shell, name, words),
        "sed" => sed(shell, words, &input),
        "perl" => perl(shell, words),
        "apt-get" | "apt" | "aptitude" => apt(name, words),
        "yum" | "dnf" | "microdnf" | "tdnf" | "zypper" => yum(name, words),
        "dpkg" | "dpkg-query" | "rpm" | "rpmquery" => package_query(name, words),
        "systemctl" => systemctl(words),
        "service" | "invoke-rc.d" => {
            let found = arguments(name, words, &[('q', "quiet", false), ('\u{1}', "skip-redirect", false)])?;
            let found = texts(&found.operands)?;
            match &found[..] {
                [service, action] if action == "status" => guard(Condition::ServiceActive(unit(service))),
                [service, action] => only(Step::Service { name: unit(service), action: action.clone() }),
                _ => Err(needs(name, "a service or what to do with it")),
            }
        }
        "chkconfig" | "update-rc.d" => {
            let found: Vec<String> = words.iter().map(literal).collect::<Result<_, _>>()?;
            match &found.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                [service, "on" | "enable" | "defaults"] | ["--add", service] => {
                    only(Step::Service { name: (*service).to_owned(), action: "enable".to_owned() })
                }
                [service, "off" | "disable" | "remove"] | ["-f", service, "remove"] | ["--del", service] => {
                    only(Step::Service { name: (*service).to_owned(), action: "disable".to_owned() })
                }
                _ => Err(NotUnderstood::new(name, "these words are not known")),
            }
        }
        "useradd" | "adduser" | "usermod" => user(name, words),
        "userdel" | "deluser" => {
            let found = arguments(
                name,
                words,
                &[('f', "force", false), ('\u{1}', "system", false), ('\u{2}', "quiet", false)],
            )?;
            let [user] = found.operands[..] else { return Err(needs(name, "one user")) };
            only(Step::RemoveUser(literal(user)?))
        }
        "groupadd" | "addgroup" => {
            let found = arguments(
                name,
                words,
                &[
                    ('r', "system", false),
                    ('f', "force", false),
                    ('g', "gid", true),
                    ('\u{1}', "quiet", false),
                    ('o', "non-unique", false),
                ],
            )?;
            match (&found.operands[..], name) {
                ([group], _) => only(Step::CreateGroup(literal(group)?)),
                ([user, group], "addgroup") => member(user, group),
                _ => Err(needs(name, "one group")),
            }
        }
        "groupdel" | "delgroup" => match words {
            [group] => only(Step::RemoveGroup(literal(group)?)),
            _ => Err(needs(name, "one group")),
        },
        "gpasswd" => match words {
            [option, user, group] if option.text == "-a" => member(user, group),
            _ => Err(NotUnderstood::new(name, "only `gpasswd -a USER GROUP` is known")),
        },
        "test" => test(shell, words),
        "[" | "[[" => match words.split_last() {
            Some((last, rest)) if last.text == "]" || last.text == "]]" => test(shell, rest),
            _ => Err(NotUnderstood::new(name, "it is not closed")),
        },
        "which" | "type" | "hash" => match words.iter().rfind(|word| !word.text.starts_with('-')) {
            Some(wanted) => guard(Condition::ProgramExists(literal(wanted)?)),
            None => Err(needs(name, "a program")),
        },
        "command" => match words {
            [option, wanted] if option.text == "-v" || option.text == "-V" => {
                guard(Condition::ProgramExists(literal(wanted)?))
            }
            [option, ..] if !option.text.starts_with('-') => shell.inner(words, input),
            _ => Err(NotUnderstood::new(name, "this option is not known")),
        },
        "grep" | "egrep" | "fgrep" | "zgrep" => grep(shell, name, words, &input),
        "id" => {
            let found =
                arguments(name, words, &[('u', "user", false), ('g', "group", false), ('n', "name", false)])?;
            match found.operands[..] {
                [user] => guard(Condition::UserExists(literal(user)?)),
                _ => Err(needs(name, "a user")),
            }
        }
        "getent" => match words {
            [table, key] if table.text == "passwd" => guard(Condition::UserExists(literal(key)?)),
            [table, key] if table.text == "group" => guard(Condition::GroupExists(literal(key)?)),
            _ => Err(NotUnderstood::new(name, "only users and groups are known")),
        },
        "ls" | "stat" | "readlink" => {
            let paths: Vec<&Word> = words.iter().filter(|word| !word.text.starts_with('-')).collect();
            let [path] = paths[..] else { return Err(needs(name, "one path")) };
            Ok((Step::Guard(Condition::Exists(shell.path(path)?)), Stream::Text(None)))
        }
        "cmp" | "diff" => {
            let found = arguments(
                name,
                words,
                &[('s', "silent", false), ('q', "brief", false), ('u', "", false), ('\u{1}', "quiet", false)],
            )?;
            let [one, other] = found.operands[..] else { return Err(needs(name, "two files")) };
            Ok((
                Step::Guard(Condition::SameContent(shell.path(one)?, shell.path(other)?)),
                Stream::Text(None),
            ))
        }
        _ => Err(NotUnderstood::new(program, "what this program does is not known")),
    }
}

fn each(words: &[&Word], program: &str, step: impl Fn(&Word) -> Result<Step, NotUnderstood>) -> Done {
    if words.is_empty() {
        return Err(needs(program, "a path"));
    }
    all(words.iter().map(|word| step(word)).collect::<Result<_, _>>()?)
}

/// `sudo -u USER COMMAND` and the like: what counts is the command.
fn wrapper(shell: &mut Shell, name: &str, words: &[Word], input: Stream) -> Done {
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

fn shell_command(shell: &mut Shell, name: &str, words: &[Word]) -> Done {
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
            _ => return Err(NotUnderstood::new(&first.text, "what is in the script is not known")),
        }
    }
    Err(needs(name, "a command"))
}

fn switch_user(shell: &mut Shell, name: &str, words: &[Word]) -> Done {
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

fn cat(shell: &Shell, words: &[Word], input: Stream) -> Done {
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

fn tee(shell: &Shell, words: &[Word], input: &Stream) -> Done {
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

/// The operands of cp and mv: what is taken, where to, and whether that is a directory for certain.
fn copy(shell: &Shell, name: &str, words: &[Word]) -> Done {
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
fn apache(name: &str, words: &[Word]) -> Done {
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
        for end in ends {
            let path = format!("/etc/apache2/{folder}-enabled/{part}.{end}");
            steps.push(if name.starts_with("a2dis") {
                Step::Remove { path, recursive: false, force: true }
            } else if folder == "mods" && *end == "conf" {
                // Not every module has a configuration, and some need others.
                Step::Disturb { path }
            } else {
                let target = format!("../{folder}-available/{part}.{end}");
                Step::Link { target, path, symbolic: true, force: true }
            });
        }
    }
    all(steps)
}

fn install(shell: &Shell, words: &[Word]) -> Done {
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

fn link(shell: &Shell, words: &[Word]) -> Done {
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
    only(Step::Link { target, path: path_text, symbolic, force: found.has('f') })
}

fn tar(shell: &Shell, words: &[Word]) -> Done {
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

fn is_recursive(word: &Word) -> bool {
    word.text == "--recursive"
        || (word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('R'))
}

/// The operands of chmod: a mode may begin with a dash (`-x`).
fn modes(words: &[Word]) -> Result<Vec<&Word>, NotUnderstood> {
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

fn owner(shell: &Shell, name: &str, words: &[Word]) -> Done {
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

fn sed(shell: &Shell, words: &[Word], input: &Stream) -> Done {
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
    if in_place {
        return each(&files, "sed", |word| {
            Ok(Step::EditFile { path: shell.path(word)?, program: program.clone() })
        });
    }
    if files.is_empty() && *input != Stream::Nothing {
        return Ok((Step::Nothing, Stream::Text(None)));
    }
    let (step, _) = each(&files, "sed", |word| Ok(Step::Read(shell.path(word)?)))?;
    Ok((step, Stream::Text(None)))
}

/// `perl -pi -e PROGRAM FILE`: an edit in place.
fn perl(shell: &Shell, words: &[Word]) -> Done {
    match words {
        [option, program, files @ ..] if option.text == "-pie" => {
            let files: Vec<&Word> = files.iter().collect();
            let program = literal(program)?;
            each(&files, "perl", |word| {
                Ok(Step::EditFile { path: shell.path(word)?, program: program.clone() })
            })
        }
        [inplace, option, program, files @ ..]
            if matches!(inplace.text.as_str(), "-pi" | "-i" | "-p")
                && matches!(option.text.as_str(), "-e" | "-pe" | "-ie") =>
        {
            let files: Vec<&Word> = files.iter().collect();
            let program = literal(program)?;
            each(&files, "perl", |word| {
                Ok(Step::EditFile { path: shell.path(word)?, program: program.clone() })
            })
        }
        _ => Err(NotUnderstood::new("perl", "what its program does is not known")),
    }
}

fn apt(name: &str, words: &[Word]) -> Done {
    let found = arguments(
        name,
        words,
        &[
            ('y', "yes", false),
            ('q', "quiet", false),
            ('f', "fix-broken", false),
            ('o', "option", true),
            ('t', "target-release", true),
            ('m', "fix-missing", false),
            ('\u{1}', "no-install-recommends", false),
            ('\u{2}', "force-yes", false),
            ('\u{3}', "allow-unauthenticated", false),
            ('\u{4}', "purge", false),
            ('\u{5}', "assume-yes", false),
            ('\u{6}', "install-recommends", false),
            ('\u{7}', "allow-downgrades", false),
            ('u', "show-upgraded", false),
            ('\u{8}', "reinstall", false),
            ('c', "config-file", true),
            ('\u{b}', "allow-change-held-packages", false),
            ('R', "without-recommends", false),
            ('\u{c}', "auto-remove", false),
            ('\u{e}', "no-upgrade", false),
            ('\u{f}', "install-suggests", false),
            ('\u{10}', "no-install-suggests", false),
        ],
    )?;
    let operands = texts(&found.operands)?;
    let Some((verb, names)) = operands.split_first() else { return Err(needs(name, "what to do")) };
    match verb.as_str() {
        "update" => only(Step::UpdatePackageLists),
        "install" if !names.is_empty() => {
            let mut steps = Vec::new();
            for package in names {
                if package.contains('/') {
                    return Err(NotUnderstood::new(package, "what is in a package file is not known"));
                }
                // A minus at the end removes.
                steps.push(match package.strip_suffix('-') {
                    Some(package) => Step::RemovePackage { name: package.to_owned(), purge: false },
                    None => Step::InstallPackage(package.trim_end_matches('+').to_owned()),
                });
            }
            all(steps)
        }
        "remove" | "purge" if !names.is_empty() => {
            let purge = verb == "purge" || found.has('\u{4}');
            all(names.iter().map(|name| Step::RemovePackage { name: name.clone(), purge }).collect())
        }
        _ => Err(NotUnderstood::new(verb, format!("what `{name} {verb}` changes depends on the machine"))),
    }
}

fn yum(name: &str, words: &[Word]) -> Done {
    let found = arguments(
        name,
        words,
        &[
            ('y', "assumeyes", false),
            ('q', "quiet", false),
            ('n', "non-interactive", false),
            ('d', "debuglevel", true),
            ('e', "errorlevel", true),
            ('\u{1}', "enablerepo", true),
            ('\u{2}', "disablerepo", true),
            ('\u{3}', "nogpgcheck", false),
            ('\u{4}', "setopt", true),
            ('\u{5}', "best", false),
            ('\u{6}', "no-recommends", false),
            ('\u{7}', "auto-agree-with-licenses", false),
            ('l', "", false),
            ('\u{8}', "disableplugin", true),
        ],
    )?;
    let operands = texts(&found.operands)?;
    let Some((verb, names)) = operands.split_first() else { return Err(needs(name, "what to do")) };
    match verb.as_str() {
        "makecache" | "check-update" | "clean" | "refresh" | "ref" => only(Step::UpdatePackageLists),
        "install" | "in" if !names.is_empty() => {
            if let Some(file) = names.iter().find(|name| name.contains('/') || name.starts_with('@')) {
                return Err(NotUnderstood::new(file, "what is in it is not known"));
            }
            all(names.iter().map(|name| Step::InstallPackage(name.clone())).collect())
        }
        "remove" | "erase" | "rm" if !names.is_empty() => {
            all(names.iter().map(|name| Step::RemovePackage { name: name.clone(), purge: false }).collect())
        }
        _ => Err(NotUnderstood::new(verb, format!("what `{name} {verb}` changes depends on the machine"))),
    }
}

fn package_query(name: &str, words: &[Word]) -> Done {
    let texts: Vec<String> = words.iter().map(literal).collect::<Result<_, _>>()?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    match (name, &texts[..]) {
        ("dpkg", ["-s" | "--status" | "-L" | "-l", package])
        | ("dpkg-query", ["-W" | "--show" | "-s" | "--status" | "-l", package])
        | ("rpm", ["-q" | "--query", package] | ["-q", "--quiet", package] | ["--quiet", "-q", package])
        | ("rpmquery", [package]) => {
            Ok((Step::Guard(Condition::PackageInstalled((*package).to_owned())), Stream::Text(None)))
        }
        ("dpkg", ["-r" | "--remove", package]) | ("rpm", ["-e" | "--erase", package]) => {
            only(Step::RemovePackage { name: (*package).to_owned(), purge: false })
        }
        ("dpkg", ["-P" | "--purge", package]) => {
            only(Step::RemovePackage { name: (*package).to_owned(), purge: true })
        }
        (_, [first, ..]) => Err(NotUnderstood::new(*first, format!("what {name} does with it is not known"))),
        _ => Err(needs(name, "what to do")),
    }
}

/// Units of services are named without their ending, as Puppet names them.
fn unit(name: &str) -> String {
    name.strip_suffix(".service").unwrap_or(name).to_owned()
}

fn systemctl(words: &[Word]) -> Done {
    let found = arguments(
        "systemctl",
        words,
        &[
            ('q', "quiet", false),
            ('\u{1}', "now", false),
            ('\u{2}', "no-block", false),
            ('\u{3}', "system", false),
            ('f', "force", false),
            ('\u{4}', "no-pager", false),
            ('\u{5}', "no-reload", false),
            ('\u{6}', "runtime", false),
            ('\u{7}', "no-ask-password", false),
            ('\u{8}', "wait", false),
            ('l', "full", false),
        ],
    )?;
    let operands = texts(&found.operands)?;
    let Some((verb, units)) = operands.split_first() else { return Err(needs("systemctl", "what to do")) };
    let of_each = |action: &str| -> Vec<Step> {
        units.iter().map(|name| Step::Service { name: unit(name), action: action.to_owned() }).collect()
    };
    let ask = |condition: fn(String) -> Condition| -> Done {
        match units {
            [name] => Ok((Step::Guard(condition(unit(name))), Stream::Text(None))),
            _ => Err(needs("systemctl", "one unit")),
        }
    };
    match verb.as_str() {
        "daemon-reload" | "daemon-reexec" => only(Step::ReloadUnits),
        "is-active" | "status" => ask(Condition::ServiceActive),
        "is-enabled" => ask(Condition::ServiceEnabled),
        "reset-failed" => only(Step::Nothing),
        _ if units.is_empty() => Err(NotUnderstood::new(verb, "systemctl does not say with what")),
        "enable" | "disable" | "mask" => {
            let mut steps = of_each(verb);
            if found.has('\u{1}') {
                steps.extend(of_each(if verb == "enable" { "start" } else { "stop" }));
            }
            all(steps)
        }
        "start"
        | "stop"
        | "restart"
        | "reload"
        | "try-restart"
        | "condrestart"
        | "reload-or-restart"
        | "unmask"
        | "reload-or-try-restart"
        | "force-reload"
        | "reenable" => all(of_each(verb)),
        _ => Err(NotUnderstood::new(verb, "what systemctl does with it is not known")),
    }
}

fn member(user: &Word, group: &Word) -> Done {
    only(Step::ChangeUser {
        name: literal(user)?,
        group: None,
        groups: vec![literal(group)?],
        append_groups: true,
        home: None,
    })
}

fn user(name: &str, words: &[Word]) -> Done {
    let debian = name == "adduser";
    let found = arguments(
        name,
        words,
        &[
            ('d', "home", true),
            ('\u{1}', "home-dir", true),
            ('g', if debian { "ingroup" } else { "gid" }, true),
            ('G', "groups", true),
            ('a', "append", false),
            ('s', "shell", true),
            ('u', "uid", true),
            ('c', if debian { "gecos" } else { "comment" }, true),
            ('r', "system", false),
            ('m', "create-home", false),
            ('M', "no-create-home", false),
            ('\u{2}', "disabled-password", false),
            ('\u{3}', "disabled-login", false),
            ('\u{4}', "quiet", false),
            ('\u{5}', "group", false),
            ('p', "password", true),
            ('U', "user-group", false),
            ('N', "no-user-group", false),
            ('o', "non-unique", false),
            ('L', "lock", false),
            ('e', "expiredate", true),
            ('\u{6}', "move-home", false),
            ('b', "base-dir", true),
            ('k', "skel", true),
        ],
    )?;
    if let ([who, group], true) = (&found.operands[..], debian) {
        return member(who, group);
    }
    let [who] = found.operands[..] else { return Err(needs(name, "one user")) };
    let group = found.value('g').map(literal).transpose()?;
    let home = found.value('d').or_else(|| found.value('\u{1}')).map(literal).transpose()?;
    let groups: Vec<String> = match found.value('G') {
        Some(list) => literal(list)?.split(',').map(str::to_owned).collect(),
        None => Vec::new(),
    };
    let name_of_user = literal(who)?;
    if name == "usermod" {
        // What else it changes (a shell, a comment, a password) is no part of what is followed.
        return only(Step::ChangeUser {
            name: name_of_user,
            group,
            groups,
            append_groups: found.has('a'),
            home,
        });
    }
    let create_home = if debian { !found.has('M') } else { found.has('m') && !found.has('M') };
    only(Step::CreateUser { name: name_of_user, group, groups, home, create_home })
}

fn test(shell: &Shell, words: &[Word]) -> Done {
    guard(test_condition(shell, words, 0)?)
}

fn test_condition(shell: &Shell, words: &[Word], depth: usize) -> Result<Condition, NotUnderstood> {
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
                "-e" | "-a" | "-r" | "-w" | "-S" | "-p" => Condition::Exists(path()?),
                "-f" => Condition::IsFile(path()?),
                "-d" => Condition::IsDirectory(path()?),
                "-L" | "-h" => Condition::IsLink(path()?),
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

fn grep(shell: &Shell, name: &str, words: &[Word], input: &Stream) -> Done {
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
    let matches = Condition::Matches {
        path,
        pattern: literal(pattern)?,
        fixed: found.has('F') || name == "fgrep",
        whole: found.has('x'),
        ignore_case: found.has('i'),
    };
    Ok((Step::Guard(matches), Stream::Text(None)))
}
