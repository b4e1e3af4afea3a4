//! The programs that are known, and what their words mean.

mod accounts;
mod checks;
mod files;
mod output;
mod packages;
mod services;
mod shells;

use crate::infer::{Shell, Stream, literal};
use crate::lexer::Word;
use crate::step::{Condition, NotUnderstood, Step};
use accounts::{member, user};
use checks::{grep, test};
use files::{apache, copy, install, is_recursive, link, modes, owner, perl, sed, tar};
use output::{cat, echo, fetch, filter, htpasswd, openssl, ssh_keygen, tee};
use packages::{apt, package_query, yum};
use services::{systemctl, unit};
use shells::{shell_command, switch_user, wrapper};

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

/// Whether a shell itself does what a word says.
pub(crate) fn is_word_of_shells(word: &str) -> bool {
    const WORDS: [&str; 21] = [
        ":", "[", "[[", "cd", "command", "echo", "exec", "exit", "export", "false", "hash", "popd", "printf",
        "pushd", "pwd", "set", "test", "true", "type", "umask", "wait",
    ];
    WORDS.contains(&word)
}

const VERBOSE: Known = ('v', "verbose", false);

pub(crate) fn run(shell: &mut Shell<'_>, program: &str, words: &[Word], input: Stream) -> Done {
    let (folder, name) = program.rsplit_once('/').unwrap_or(("/bin", program));
    if let Some(script) =
        program.strip_prefix("/etc/init.d/").or_else(|| program.strip_prefix("/etc/rc.d/init.d/"))
    {
        return match words {
            [action] => only(Step::Service { name: script.to_owned(), action: literal(action)? }),
            _ => Err(NotUnderstood::new(program, "an init script takes one action")),
        };
    }
    // A script that looks at its arguments has words whose values are not known.
    if texts(&words.iter().collect::<Vec<_>>()).is_ok()
        && let Some(script) = shell.script_of(program)
    {
        return only(shell.script(&script)?);
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
        "set" => {
            for word in words {
                match word.text.as_str() {
                    "-e" | "-eu" | "-ex" | "-eux" | "-xe" | "-ue" => shell.ends_at_failure = true,
                    "-x" | "-u" | "-ux" | "+x" => {}
                    other => return Err(NotUnderstood::new(other, "what `set` changes is not followed")),
                }
            }
            only(Step::Nothing)
        }
        "sleep" | "umask" | "wait" | "sync" | "sss_cache" | "logger" | "wall" => only(Step::Nothing),
        "export" => {
            for word in words {
                shell.is_settled(word)?;
                shell.assign(word);
            }
            only(Step::Nothing)
        }
        "ldconfig" | "update-ca-certificates" | "newaliases" | "udevadm" | "update-grub" | "locale-gen" => {
            let from: &[&str] = match name {
                "ldconfig" => &["/etc/ld.so.conf", "/etc/ld.so.conf.d/"],
                "update-ca-certificates" => {
                    &["/etc/ca-certificates.conf", "/usr/local/share/ca-certificates/"]
                }
                "newaliases" => &["/etc/aliases"],
                "udevadm" => &["/etc/udev/rules.d/"],
                "update-grub" => &["/etc/default/grub", "/etc/grub.d/"],
                _ => &["/etc/locale.gen"],
            };
            record(name, words, from)
        }
        "update-alternatives" => match words {
            [set, name, target] if set.text == "--set" => {
                let target = shell.path(target)?;
                let path = format!("/etc/alternatives/{}", literal(name)?);
                all(vec![
                    Step::Read(target.clone()),
                    Step::Link { target, path, symbolic: true, force: true, replaces: true },
                ])
            }
            _ => Err(NotUnderstood::new(name, "only `update-alternatives --set NAME PATH` is followed")),
        },
        "ifup" | "ifdown" => record(name, words, &["/etc/network/interfaces", "/etc/network/interfaces.d/"]),
        "modprobe" => record(name, words, &["/etc/modprobe.d/"]),
        "sysctl" => sysctl(shell, words),
        "postmap" | "postalias" => {
            let paths: Vec<&Word> = words.iter().filter(|word| !word.text.starts_with('-')).collect();
            each(&paths, name, |word| {
                // The kind of table may stand before the path: `hash:/etc/postfix/virtual`.
                let text = literal(word)?;
                let path = text.split_once(':').map_or(text.clone(), |(_, path)| path.to_owned());
                let path = shell.path(&Word { text: path, ..Word::default() })?;
                let made = Step::Record {
                    name: format!("{path}.db"),
                    value: "made".to_owned(),
                    from: vec![path.clone()],
                };
                Ok(Step::And(vec![Step::Read(path), made]))
            })
        }
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
        "echo" | "printf" => echo(shell, name, words),
        // What no resource decides.
        "uname" | "nproc" | "arch" | "whoami" => Ok((Step::Nothing, Stream::Text(None))),
        "hostname" if words.iter().all(|word| word.text == "-s") => Ok((Step::Nothing, Stream::Text(None))),
        "yes" => Ok((Step::Nothing, Stream::Text(None))),
        "date" | "uuidgen" | "pwgen" | "mcookie" => Ok((Step::Nothing, Stream::Volatile)),
        "awk" | "gawk" | "mawk" | "sort" | "uniq" | "head" | "tail" | "cut" | "tr" | "wc" | "base64"
        | "md5sum" | "sha1sum" | "sha256sum" | "sha512sum" | "tac" | "rev" | "nl" | "jq" | "zcat" => {
            filter(shell, name, words, &input)
        }
        "openssl" => openssl(shell, words),
        "htpasswd" => htpasswd(shell, words),
        "ssh-keygen" => ssh_keygen(shell, words),
        "git" => git(shell, words),
        "cat" => cat(shell, words, input),
        "tee" => tee(shell, words, &input),
        "touch" => {
            let found = arguments(
                name,
                words,
                &[
                    ('a', "", false),
                    ('m', "", false),
                    ('c', "no-create", false),
                    ('d', "date", true),
                    ('t', "", true),
                    ('r', "reference", true),
                ],
            )?;
            if found.has('c') {
                return only(Step::Nothing);
            }
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
                ([group], _) => only(Step::CreateGroup { name: literal(group)?, force: found.has('f') }),
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
            let path = shell.path(path)?;
            Ok((Step::Guard(Condition::Exists(path.clone())), Stream::Made(vec![path])))
        }
        "curl" | "wget" => fetch(shell, name, words),
        // Answers and keys that no resource manages.
        "debconf-set-selections" | "apt-key" => {
            let texts: Vec<String> = words.iter().map(literal).collect::<Result<_, _>>()?;
            let mut from = input.sources().0;
            from.extend(texts.iter().filter(|text| text.starts_with('/')).cloned());
            let given = match &input {
                Stream::Text(Some(text)) => text.clone(),
                _ => String::new(),
            };
            only(Step::Record { name: name.to_owned(), value: format!("{} {given}", texts.join(" ")), from })
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

/// What nobody manages, as these words and the files that are read make it.
fn record(name: &str, words: &[Word], from: &[&str]) -> Done {
    let texts: Vec<String> = words.iter().map(literal).collect::<Result<_, _>>()?;
    let from = from.iter().map(|path| (*path).to_owned()).collect();
    only(Step::Record { name: name.to_owned(), value: texts.join(" "), from })
}

/// `sysctl -p FILE`, `sysctl --system`, `sysctl -w KEY=VALUE`, `sysctl KEY`.
fn sysctl(shell: &Shell<'_>, words: &[Word]) -> Done {
    let found = arguments(
        "sysctl",
        words,
        &[
            ('p', "load", false),
            ('w', "write", false),
            ('q', "quiet", false),
            ('e', "ignore", false),
            ('n', "values", false),
            ('\u{1}', "system", false),
        ],
    )?;
    let kernel = |value: String, from: Vec<String>| Step::Record { name: "sysctl".to_owned(), value, from };
    if found.has('\u{1}') {
        return only(kernel(
            "--system".to_owned(),
            vec!["/etc/sysctl.conf".to_owned(), "/etc/sysctl.d/".to_owned()],
        ));
    }
    if found.has('p') {
        if found.operands.is_empty() {
            return only(kernel("-p".to_owned(), vec!["/etc/sysctl.conf".to_owned()]));
        }
        let paths: Vec<String> =
            found.operands.iter().map(|word| shell.path(word)).collect::<Result<_, _>>()?;
        let mut steps: Vec<Step> = paths.iter().map(|path| Step::Read(path.clone())).collect();
        steps.push(kernel("-p".to_owned(), paths));
        return all(steps);
    }
    let mut steps = Vec::new();
    for text in texts(&found.operands)? {
        match text.split_once('=') {
            Some((key, value)) => steps.push(Step::Record {
                name: format!("sysctl {}", key.trim()),
                value: value.trim().to_owned(),
                from: Vec::new(),
            }),
            None => return Ok((Step::Nothing, Stream::Text(None))),
        }
    }
    all(steps)
}

/// `git clone ADDRESS FOLDER`.
fn git(shell: &Shell<'_>, words: &[Word]) -> Done {
    let Some((verb, rest)) = words.split_first().filter(|(verb, _)| verb.text == "clone") else {
        return Err(NotUnderstood::new("git", "only `git clone` is followed"));
    };
    let found = arguments(
        &verb.text,
        rest,
        &[
            ('b', "branch", true),
            ('q', "quiet", false),
            ('\u{1}', "depth", true),
            ('\u{2}', "recursive", false),
            ('\u{3}', "recurse-submodules", false),
            ('\u{4}', "bare", false),
            ('\u{5}', "mirror", false),
            ('\u{6}', "single-branch", false),
            ('o', "origin", true),
        ],
    )?;
    let (address, path) = match found.operands[..] {
        [address, path] => (literal(address)?, shell.path(path)?),
        [address] => {
            let text = literal(address)?;
            let name = text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
            let name = name.strip_suffix(".git").unwrap_or(name).to_owned();
            let path = shell.path(&Word { text: name, ..Word::default() })?;
            (text, path)
        }
        _ => return Err(needs("git", "an address")),
    };
    only(Step::Clone { path, address })
}

fn each(words: &[&Word], program: &str, step: impl Fn(&Word) -> Result<Step, NotUnderstood>) -> Done {
    if words.is_empty() {
        return Err(needs(program, "a path"));
    }
    let mut steps: Vec<Step> = words.iter().map(|word| step(word)).collect::<Result<_, _>>()?;
    only(if steps.len() == 1 { steps.remove(0) } else { Step::Each(steps) })
}
