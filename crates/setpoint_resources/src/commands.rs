//! What plain commands do. A command that is not understood is said to be so, with the reason.

/// One effect of a command on the machine. Paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Creates an empty file if nothing is there.
    Touch(String),
    /// Makes a directory; with `parents` also those above, and it does not mind if it is there.
    MakeDirectory {
        path: String,
        parents: bool,
    },
    Remove {
        path: String,
        recursive: bool,
        force: bool,
    },
    Copy {
        from: String,
        to: String,
    },
    Move {
        from: String,
        to: String,
    },
    Link {
        target: String,
        path: String,
        force: bool,
    },
    Mode {
        path: String,
        mode: String,
    },
    Owner {
        path: String,
        owner: Option<String>,
        group: Option<String>,
    },
    /// Sets the content of a file.
    Write {
        path: String,
        content: String,
    },
    /// Adds a line to a file.
    Append {
        path: String,
        line: String,
    },
    /// Creates a file whose content only the command decides.
    Create {
        path: String,
    },
    /// Sets a file to a content that only the command decides.
    Set {
        path: String,
        name: String,
    },
    /// Changes a path, or what is below it, in a way that is not known.
    Disturb {
        path: String,
        below: bool,
    },
    InstallPackages(Vec<String>),
    RemovePackages {
        names: Vec<String>,
        purge: bool,
    },
    NeedPackage(String),
    /// Without this path it fails.
    Need(String),
    /// What it does depends on this path.
    Read(String),
    AddUser(String),
    RemoveUser(String),
    AddGroup(String),
    RemoveGroup(String),
    Service {
        name: String,
        verb: String,
    },
}

impl Effect {
    /// The paths that exist afterwards.
    pub(crate) fn created(&self) -> Vec<&str> {
        match self {
            Self::Touch(path)
            | Self::MakeDirectory { path, .. }
            | Self::Link { path, .. }
            | Self::Write { path, .. }
            | Self::Append { path, .. }
            | Self::Create { path }
            | Self::Set { path, .. } => vec![path],
            Self::Copy { to, .. } | Self::Move { to, .. } => vec![to],
            _ => Vec::new(),
        }
    }

    /// All paths that it names.
    pub(crate) fn paths(&self) -> Vec<&str> {
        match self {
            Self::Touch(path)
            | Self::MakeDirectory { path, .. }
            | Self::Remove { path, .. }
            | Self::Link { path, .. }
            | Self::Write { path, .. }
            | Self::Append { path, .. }
            | Self::Create { path }
            | Self::Set { path, .. }
            | Self::Mode { path, .. }
            | Self::Owner { path, .. }
            | Self::Disturb { path, .. }
            | Self::Need(path)
            | Self::Read(path) => vec![path],
            Self::Copy { from, to } | Self::Move { from, to } => vec![from, to],
            _ => Vec::new(),
        }
    }
}

/// What is asked of the machine by `unless` and `onlyif`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Constant(bool),
    Exists(String),
    IsFile(String),
    IsDirectory(String),
    IsLink(String),
    HasLine { path: String, line: String },
    UserExists(String),
    GroupExists(String),
    PackageInstalled(String),
    Not(Box<Question>),
    All(Vec<Question>),
    Any(Vec<Question>),
}

/// The absolute paths among the words of a command.
pub(crate) fn absolute_paths(command: &str) -> impl Iterator<Item = &str> {
    command
        .split(|c: char| c.is_whitespace() || "'\"`;&|<>()=,{}$!".contains(c))
        .filter(|word| word.starts_with('/') && word.len() > 1 && !word.contains(['*', '?', '[']))
        .map(|word| word.trim_end_matches('/'))
        .filter(|word| !word.is_empty())
}

/// A simple command: its words, and where its output goes.
#[derive(Debug, Default)]
struct Simple {
    words: Vec<String>,
    output: Option<(String, bool)>,
}

/// How a command follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    Then,
    And,
    Or,
}

/// What a command does, in a working directory.
pub(crate) fn effects(command: &str, folder: Option<&str>) -> Result<Vec<Effect>, String> {
    let mut found = Vec::new();
    for (at, (link, simple)) in split(command)?.into_iter().enumerate() {
        if at > 0 && link == Link::Or {
            return Err("what comes after `||` depends on the exit status".to_owned());
        }
        found.extend(simple_effects(&simple, folder)?);
    }
    Ok(found)
}

/// Words and operators, as a shell reads them. Expansions are not understood.
fn split(command: &str) -> Result<Vec<(Link, Simple)>, String> {
    let mut all = Vec::new();
    let mut link = Link::Then;
    let mut simple = Simple::default();
    let mut redirect: Option<bool> = None;
    let mut characters = command.trim().chars().peekable();
    let put = |word: String, simple: &mut Simple, redirect: &mut Option<bool>| match redirect.take() {
        Some(append) => simple.output = Some((word, append)),
        None => simple.words.push(word),
    };
    while let Some(&next) = characters.peek() {
        match next {
            ' ' | '\t' => {
                characters.next();
            }
            '\n' | ';' => {
                characters.next();
                if !simple.words.is_empty() {
                    all.push((link, std::mem::take(&mut simple)));
                }
                link = Link::Then;
            }
            '&' | '|' => {
                characters.next();
                if characters.next_if_eq(&next).is_none() {
                    return Err("pipes and background commands are not understood".to_owned());
                }
                all.push((link, std::mem::take(&mut simple)));
                link = if next == '&' { Link::And } else { Link::Or };
            }
            '>' => {
                characters.next();
                redirect = Some(characters.next_if_eq(&'>').is_some());
            }
            '<' | '(' | ')' | '{' | '}' => return Err(format!("`{next}` is not understood")),
            '#' => break,
            _ => {
                let word = word(&mut characters)?;
                put(word, &mut simple, &mut redirect);
            }
        }
    }
    if redirect.is_some() {
        return Err("the redirection has no target".to_owned());
    }
    if !simple.words.is_empty() {
        all.push((link, simple));
    }
    if all.is_empty() { Err("there is no command".to_owned()) } else { Ok(all) }
}

fn word(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<String, String> {
    let mut text = String::new();
    while let Some(&next) = characters.peek() {
        match next {
            ' ' | '\t' | '\n' | ';' | '&' | '|' | '>' | '<' | '(' | ')' => break,
            '\'' => {
                characters.next();
                loop {
                    match characters.next() {
                        Some('\'') => break,
                        Some(other) => text.push(other),
                        None => return Err("a quote is not closed".to_owned()),
                    }
                }
            }
            '"' => {
                characters.next();
                loop {
                    match characters.next() {
                        Some('"') => break,
                        Some('\\') => match characters.next() {
                            Some(other @ ('"' | '\\' | '$' | '`')) => text.push(other),
                            Some(other) => text.extend(['\\', other]),
                            None => return Err("a quote is not closed".to_owned()),
                        },
                        Some('$' | '`') => return Err("variables are not understood".to_owned()),
                        Some(other) => text.push(other),
                        None => return Err("a quote is not closed".to_owned()),
                    }
                }
            }
            '\\' => {
                characters.next();
                text.extend(characters.next());
            }
            '$' | '`' => return Err("variables are not understood".to_owned()),
            '*' | '?' | '[' if !text.is_empty() => {
                return Err("patterns of paths are not understood".to_owned());
            }
            other => {
                text.push(other);
                characters.next();
            }
        }
    }
    Ok(text)
}

/// The path of a word, in a working directory.
fn absolute(word: &str, folder: Option<&str>) -> Result<String, String> {
    if word.starts_with('/') {
        return Ok(word.to_owned());
    }
    match folder {
        Some(folder) if !word.starts_with('~') => Ok(format!("{}/{word}", folder.trim_end_matches('/'))),
        _ => Err(format!("where {word} lies is not known")),
    }
}

/// The options and the other words.
fn options(words: &[String]) -> (String, Vec<&str>) {
    let mut letters = String::new();
    let mut rest = Vec::new();
    let mut only_words = false;
    for word in words {
        if only_words || !word.starts_with('-') || word == "-" {
            rest.push(word.as_str());
        } else if word == "--" {
            only_words = true;
        } else if let Some(long) = word.strip_prefix("--") {
            letters.push_str(match long {
                "parents" => "p",
                "recursive" => "r",
                "force" => "f",
                "symbolic" => "s",
                "purge" => "P",
                _ => "",
            });
        } else {
            letters.push_str(&word[1..]);
        }
    }
    (letters, rest)
}

fn simple_effects(simple: &Simple, folder: Option<&str>) -> Result<Vec<Effect>, String> {
    let Some((name, words)) = simple.words.split_first() else { return Ok(Vec::new()) };
    let name = name.rsplit('/').next().unwrap_or(name);
    let path = |word: &str| absolute(word, folder);
    if let Some((to, append)) = &simple.output {
        if to == "/dev/null" {
            let quiet = Simple { words: simple.words.clone(), output: None };
            return simple_effects(&quiet, folder);
        }
        let text = match name {
            "echo" if words.first().is_none_or(|word| !word.starts_with('-')) => {
                format!("{}\n", words.join(" "))
            }
            "printf" if words.len() == 1 && !words[0].contains(['%', '\\']) => words[0].clone(),
            "true" | ":" => String::new(),
            _ => return Err(format!("what {name} writes is not known")),
        };
        let path = path(to)?;
        return Ok(vec![if *append {
            Effect::Append { path, line: text.trim_end_matches('\n').to_owned() }
        } else {
            Effect::Write { path, content: text }
        }]);
    }
    let (letters, rest) = options(words);
    let has = |letter: char| letters.contains(letter);
    Ok(match name {
        "true" | ":" | "echo" | "printf" | "sleep" | "test" | "[" => Vec::new(),
        "sh" | "bash" | "dash" if words.first().is_some_and(|word| word == "-c") && words.len() == 2 => {
            effects(&words[1], folder)?
        }
        "touch" => rest.iter().map(|word| Ok(Effect::Touch(path(word)?))).collect::<Result<_, String>>()?,
        "mkdir" => {
            if words.iter().any(|word| word == "-m" || word.starts_with("--mode")) {
                return Err("mkdir with a mode is not understood".to_owned());
            }
            rest.iter()
                .map(|word| Ok(Effect::MakeDirectory { path: path(word)?, parents: has('p') }))
                .collect::<Result<_, String>>()?
        }
        "rm" => rest
            .iter()
            .map(|word| {
                Ok(Effect::Remove { path: path(word)?, recursive: has('r') || has('R'), force: has('f') })
            })
            .collect::<Result<_, String>>()?,
        "cp" | "mv" => {
            if has('r') || has('R') || has('a') || has('t') {
                return Err(format!("{name} of directories is not understood"));
            }
            let [from, to] = rest.as_slice() else { return Err(format!("{name} needs two paths")) };
            if to.ends_with('/') {
                return Err(format!("{name} into a directory is not understood"));
            }
            let (from, to) = (path(from)?, path(to)?);
            vec![if name == "cp" { Effect::Copy { from, to } } else { Effect::Move { from, to } }]
        }
        "ln" if has('s') => {
            let [target, link] = rest.as_slice() else { return Err("ln needs two paths".to_owned()) };
            vec![Effect::Link { target: (*target).to_owned(), path: path(link)?, force: has('f') }]
        }
        "chmod" => {
            let [mode, paths @ ..] = rest.as_slice() else { return Err("chmod needs a mode".to_owned()) };
            if has('R') {
                return Err("chmod -R is not understood".to_owned());
            }
            let mode = crate::attributes::octal(mode).ok_or("a mode that adds or takes is not understood")?;
            paths
                .iter()
                .map(|word| Ok(Effect::Mode { path: path(word)?, mode: mode.clone() }))
                .collect::<Result<_, String>>()?
        }
        "chown" | "chgrp" => {
            let [who, paths @ ..] = rest.as_slice() else { return Err(format!("{name} needs an owner")) };
            if has('R') {
                return Err(format!("{name} -R is not understood"));
            }
            let (owner, group) = match (name, who.split_once(':')) {
                ("chgrp", _) => (None, Some((*who).to_owned())),
                (_, Some((owner, group))) => {
                    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
                    (some(owner), some(group))
                }
                (_, None) => (Some((*who).to_owned()), None),
            };
            paths
                .iter()
                .map(|word| {
                    Ok(Effect::Owner { path: path(word)?, owner: owner.clone(), group: group.clone() })
                })
                .collect::<Result<_, String>>()?
        }
        "apt-get" | "apt" | "yum" | "dnf" => match rest.split_first() {
            Some((&"install", names)) => {
                vec![Effect::InstallPackages(names.iter().map(|name| (*name).to_owned()).collect())]
            }
            Some((&verb @ ("remove" | "purge" | "erase"), names)) => vec![Effect::RemovePackages {
                names: names.iter().map(|name| (*name).to_owned()).collect(),
                purge: verb == "purge" || has('P'),
            }],
            // The lists of a package manager are no part of what is modelled.
            Some((&("update" | "clean" | "makecache"), _)) => Vec::new(),
            _ => return Err(format!("{} is not understood", simple.words.join(" "))),
        },
        "systemctl" => match rest.as_slice() {
            ["daemon-reload"] => Vec::new(),
            [verb @ ("start" | "stop" | "restart" | "reload" | "enable" | "disable"), name] => {
                let name = name.strip_suffix(".service").unwrap_or(name).to_owned();
                vec![Effect::Service { name, verb: (*verb).to_owned() }]
            }
            _ => return Err(format!("{} is not understood", simple.words.join(" "))),
        },
        "service" => match rest.as_slice() {
            [name, verb @ ("start" | "stop" | "restart" | "reload")] => {
                vec![Effect::Service { name: (*name).to_owned(), verb: (*verb).to_owned() }]
            }
            _ => return Err(format!("{} is not understood", simple.words.join(" "))),
        },
        "useradd" | "adduser" => match rest.last() {
            Some(user) => vec![Effect::AddUser((*user).to_owned())],
            None => return Err("useradd needs a name".to_owned()),
        },
        "userdel" | "deluser" if rest.len() == 1 => vec![Effect::RemoveUser(rest[0].to_owned())],
        "groupadd" | "addgroup" => match rest.last() {
            Some(group) => vec![Effect::AddGroup((*group).to_owned())],
            None => return Err("groupadd needs a name".to_owned()),
        },
        "groupdel" | "delgroup" if rest.len() == 1 => vec![Effect::RemoveGroup(rest[0].to_owned())],
        "sed" if letters.contains('i') => match rest.as_slice() {
            [_, files @ ..]
                if !files.is_empty() && !words.iter().any(|word| word == "-e" || word == "-f") =>
            {
                let mut found = Vec::new();
                for file in files {
                    let path = path(file)?;
                    found.extend([Effect::Need(path.clone()), Effect::Disturb { path, below: false }]);
                }
                found
            }
            _ => return Err("sed with several scripts is not understood".to_owned()),
        },
        "tar" => unpack(words, folder)?,
        "a2enmod" | "a2dismod" | "a2ensite" | "a2dissite" | "a2enconf" | "a2disconf" => {
            let (kind, ends): (&str, &[&str]) = match &name[name.len() - 3..] {
                "mod" => ("mods", &["load", "conf"]),
                "ite" => ("sites", &["conf"]),
                _ => ("conf", &["conf"]),
            };
            let mut found = Vec::new();
            for part in rest {
                for end in ends {
                    let path = format!("/etc/apache2/{kind}-enabled/{part}.{end}");
                    found.push(if name.starts_with("a2dis") {
                        Effect::Remove { path, recursive: false, force: true }
                    } else if *end == "conf" && kind == "mods" {
                        // Whether a module has a configuration is not known.
                        Effect::Disturb { path, below: false }
                    } else {
                        Effect::Link {
                            target: format!("../{kind}-available/{part}.{end}"),
                            path,
                            force: true,
                        }
                    });
                }
            }
            found
        }
        _ if simple.words[0].starts_with("/etc/init.d/") => match rest.as_slice() {
            [verb @ ("start" | "stop" | "restart" | "reload")] => {
                vec![Effect::Service { name: name.to_owned(), verb: (*verb).to_owned() }]
            }
            _ => return Err(format!("{} is not understood", simple.words.join(" "))),
        },
        // Caches and states that nothing of a catalog reads.
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
        | "locale-gen" => Vec::new(),
        _ => return Err(format!("the command {name} is not known")),
    })
}

/// An archive that is unpacked: what is in it is not known.
fn unpack(words: &[String], folder: Option<&str>) -> Result<Vec<Effect>, String> {
    let mut extracts = false;
    let mut archive = None;
    let mut target = folder.map(str::to_owned);
    let mut rest = words.iter();
    let mut first = true;
    while let Some(word) = rest.next() {
        let letters = word.strip_prefix('-').or(if first { Some(word.as_str()) } else { None });
        first = false;
        match (word.as_str(), letters) {
            ("--extract" | "--get", _) => extracts = true,
            ("-C" | "--directory", _) => target = rest.next().cloned(),
            ("--file", _) => archive = rest.next().cloned(),
            (long, _) if long.starts_with("--") => {}
            (_, Some(letters)) => {
                extracts |= letters.contains('x');
                if letters.contains('C') {
                    target = rest.next().cloned();
                }
                if letters.contains('f') {
                    archive = rest.next().cloned();
                }
            }
            _ => {}
        }
    }
    match (extracts, archive, target) {
        (true, Some(archive), Some(target)) => {
            let (archive, target) = (absolute(&archive, folder)?, absolute(&target, folder)?);
            Ok(vec![
                Effect::Need(archive),
                Effect::Need(target.clone()),
                Effect::Disturb { path: target, below: true },
            ])
        }
        _ => Err("what tar does here is not understood".to_owned()),
    }
}

/// What a check asks.
pub(crate) fn question(command: &str, folder: Option<&str>) -> Result<Question, String> {
    let mut sums: Vec<Vec<Question>> = vec![Vec::new()];
    for (link, simple) in split(command)? {
        let asked = simple_question(&simple, folder)?;
        match link {
            Link::Or => sums.push(vec![asked]),
            Link::And => {
                if let Some(last) = sums.last_mut() {
                    last.push(asked);
                }
            }
            // Only the last command decides.
            Link::Then => sums = vec![vec![asked]],
        }
    }
    let mut sums: Vec<Question> = sums.into_iter().map(Question::All).collect();
    Ok(if sums.len() == 1 { sums.remove(0) } else { Question::Any(sums) })
}

fn simple_question(simple: &Simple, folder: Option<&str>) -> Result<Question, String> {
    let Some((name, words)) = simple.words.split_first() else { return Ok(Question::Constant(true)) };
    if name == "!" {
        let inner = Simple { words: words.to_vec(), output: None };
        return Ok(Question::Not(Box::new(simple_question(&inner, folder)?)));
    }
    let name = name.rsplit('/').next().unwrap_or(name);
    let path = |word: &str| absolute(word, folder);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(match (name, words.as_slice()) {
        ("true", []) => Question::Constant(true),
        ("false", []) => Question::Constant(false),
        ("sh" | "bash" | "dash", ["-c", inner]) => question(inner, folder)?,
        ("test", words) => test(words, folder)?,
        ("[", [words @ .., "]"]) => test(words, folder)?,
        ("grep", ["-q" | "-qxF" | "-qFx" | "-xqF" | "-Fxq" | "-qx", line, file])
            if words[0].contains('x') && !line.contains(['.', '*', '[', '^', '$', '\\']) =>
        {
            Question::HasLine { path: path(file)?, line: (*line).to_owned() }
        }
        ("id", [user]) | ("getent", ["passwd", user]) => Question::UserExists((*user).to_owned()),
        ("getent", ["group", group]) => Question::GroupExists((*group).to_owned()),
        ("dpkg", ["-s" | "-l", package])
        | ("dpkg-query", ["-W" | "-s" | "-l", package])
        | ("rpm", ["-q", package]) => Question::PackageInstalled((*package).to_owned()),
        ("ls", [file]) if file.starts_with('/') => Question::Exists(path(file)?),
        _ => return Err(format!("what `{}` answers is not known", simple.words.join(" "))),
    })
}

fn test(words: &[&str], folder: Option<&str>) -> Result<Question, String> {
    let path = |word: &str| absolute(word, folder);
    Ok(match words {
        ["!", rest @ ..] => Question::Not(Box::new(test(rest, folder)?)),
        ["-e" | "-s" | "-S" | "-r" | "-w" | "-x" | "-p", file] => Question::Exists(path(file)?),
        ["-f", file] => Question::IsFile(path(file)?),
        ["-d", file] => Question::IsDirectory(path(file)?),
        ["-h" | "-L", file] => Question::IsLink(path(file)?),
        _ => return Err(format!("what `test {}` answers is not known", words.join(" "))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_commands_are_understood() {
        assert_eq!(effects("/bin/touch /a", None), Ok(vec![Effect::Touch("/a".into())]));
        assert_eq!(
            effects("mkdir -p x && echo 'a b' > x/y", Some("/srv")),
            Ok(vec![
                Effect::MakeDirectory { path: "/srv/x".into(), parents: true },
                Effect::Write { path: "/srv/x/y".into(), content: "a b\n".into() }
            ])
        );
        assert_eq!(effects("/bin/sh -c \"rm -rf /a\"", None), effects("rm -rf /a", None));
        assert_eq!(
            effects("tar xzf /a.tgz -C /opt", None),
            Ok(vec![
                Effect::Need("/a.tgz".into()),
                Effect::Need("/opt".into()),
                Effect::Disturb { path: "/opt".into(), below: true }
            ])
        );
        assert_eq!(
            effects("sed -i s/a/b/ /f", None),
            Ok(vec![Effect::Need("/f".into()), Effect::Disturb { path: "/f".into(), below: false }])
        );
        assert_eq!(
            effects("/etc/init.d/web restart", None),
            Ok(vec![Effect::Service { name: "web".into(), verb: "restart".into() }])
        );
        assert!(effects("make install", None).is_err());
        assert!(effects("rm $x", None).is_err());
        assert!(effects("touch a", None).is_err());
        assert!(effects("", None).is_err());
    }

    #[test]
    fn checks_are_understood() {
        assert_eq!(question("test -f /a", None), Ok(Question::All(vec![Question::IsFile("/a".into())])));
        assert_eq!(
            question("[ ! -d /a ]", None),
            Ok(Question::All(vec![Question::Not(Box::new(Question::IsDirectory("/a".into())))]))
        );
        assert!(question("curl http://x", None).is_err());
    }
}
