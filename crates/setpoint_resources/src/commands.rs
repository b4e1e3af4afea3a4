//! What plain commands do to what is modelled. A command that is not understood is said to be so, with the reason.

use setpoint_commands::{Condition, Edit, Step, Surroundings, Syntax, expression};

use crate::attributes::shared;
use crate::entries::Entry;

/// One effect of a command on the machine. Paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Creates an empty file if nothing is there.
    Touch(String),
    /// Makes a directory; with `parents` also those above, and it does not mind if it is there.
    MakeDirectory {
        path: String,
        parents: bool,
        mode: Option<String>,
    },
    /// Removes a directory that is empty.
    RemoveDirectory(String),
    Remove {
        path: String,
        recursive: bool,
        force: bool,
    },
    /// Copies or moves a file; if a directory is there, into it.
    Copy {
        from: String,
        to: String,
        and_remove: bool,
        keeps_attributes: bool,
    },
    /// Puts the content of one file into another that is there.
    Fill {
        from: String,
        to: String,
    },
    Link {
        target: String,
        path: String,
        force: bool,
        /// What is a link to a directory is replaced, and not entered.
        replaces: bool,
    },
    Mode {
        path: String,
        mode: String,
        recursive: bool,
    },
    Owner {
        path: String,
        owner: Option<String>,
        group: Option<String>,
        recursive: bool,
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
    /// Sets a file to what is at an address.
    Fetch {
        path: String,
        address: String,
    },
    /// Sets a file to what only the contents of others decide; a `volatile` content is another one each time. What it is made
    /// from may be patterns.
    Make {
        path: String,
        name: String,
        from: Vec<String>,
        volatile: bool,
    },
    /// Sets something that no resource manages. What it is made from: files, and folders that end with a slash.
    Record {
        name: String,
        value: String,
        from: Vec<String>,
    },
    /// Makes a directory and fills it; fails if something is in it.
    Clone {
        path: String,
        address: String,
    },
    /// Without a path that matches it fails.
    NeedMatching(String),
    /// Edits a file as sed does.
    Edit {
        path: String,
        program: String,
        extended: bool,
    },
    /// Unpacks an archive into a directory.
    Extract {
        archive: String,
        into: String,
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
    /// A program is run that is at one of these places.
    NeedProgram(Vec<String>),
    /// What it does depends on this path.
    Read(String),
    AddUser {
        name: String,
        group: Option<String>,
        groups: Vec<String>,
        /// The home that it makes.
        home: Option<String>,
        /// Its number is below those of people.
        system: bool,
    },
    /// Puts a user into groups.
    Join {
        user: String,
        groups: Vec<String>,
    },
    RemoveUser(String),
    /// With `force` it does not mind if it is there.
    AddGroup {
        name: String,
        force: bool,
    },
    RemoveGroup(String),
    Service {
        name: String,
        verb: String,
    },
    /// Waits until something listens at a socket.
    Listens(String),
    /// Fails unless the answer is yes.
    Check(Question),
    /// Whatever becomes of the effects: `a; b`.
    Regardless(Vec<Effect>),
    /// The second list only if the first fails: `a || b`.
    Either(Vec<Effect>, Vec<Effect>),
    /// Each list, whatever becomes of the others; it fails if one of them does.
    Each(Vec<Vec<Effect>>),
}

impl Effect {
    /// The effects within, or the effect itself.
    pub(crate) fn leaves(&self) -> Vec<&Effect> {
        match self {
            Self::Regardless(effects) => effects.iter().flat_map(Self::leaves).collect(),
            Self::Either(first, second) => first.iter().chain(second).flat_map(Self::leaves).collect(),
            Self::Each(lists) => lists.iter().flatten().flat_map(Self::leaves).collect(),
            _ => vec![self],
        }
    }

    /// The paths that exist afterwards.
    pub(crate) fn created(&self) -> Vec<&str> {
        match self {
            Self::Touch(path)
            | Self::MakeDirectory { path, .. }
            | Self::Link { path, .. }
            | Self::Write { path, .. }
            | Self::Append { path, .. }
            | Self::Create { path }
            | Self::Make { path, .. }
            | Self::Clone { path, .. }
            | Self::Set { path, .. } => vec![path],
            Self::Copy { to, .. } => vec![to],
            Self::AddUser { home: Some(home), .. } => vec![home],
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
            | Self::Edit { path, .. }
            | Self::RemoveDirectory(path)
            | Self::Clone { path, .. }
            | Self::Need(path)
            | Self::Read(path) => vec![path],
            Self::Make { path, from, .. } => {
                let plain = from.iter().filter(|from| !from.contains(['*', '?']));
                std::iter::once(path).chain(plain).map(String::as_str).collect()
            }
            Self::Record { from, .. } => {
                from.iter().filter(|path| !path.ends_with('/')).map(String::as_str).collect()
            }
            Self::Copy { from, to, .. } | Self::Fill { from, to } => vec![from, to],
            Self::Extract { archive, into } => vec![archive, into],
            Self::AddUser { home: Some(home), .. } => vec![home],
            Self::Check(question) => question.paths(),
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
    /// It is there, and not empty.
    HasContent(String),
    HasLine {
        path: String,
        line: String,
    },
    /// A line matches an expression.
    Matches {
        path: String,
        expression: String,
    },
    SameContent(String, String),
    ProgramExists(String),
    ServiceActive(String),
    ServiceEnabled(String),
    UserExists(String),
    GroupExists(String),
    PackageInstalled(String),
    Not(Box<Question>),
    All(Vec<Question>),
    Any(Vec<Question>),
}

impl Question {
    fn parts(&self) -> Vec<&Question> {
        match self {
            Self::Not(inner) => inner.parts(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::parts).collect(),
            _ => vec![self],
        }
    }

    /// All paths that it asks about.
    pub(crate) fn paths(&self) -> Vec<&str> {
        let mut found = Vec::new();
        for part in self.parts() {
            match part {
                Self::Exists(path)
                | Self::IsFile(path)
                | Self::IsDirectory(path)
                | Self::IsLink(path)
                | Self::HasContent(path)
                | Self::HasLine { path, .. }
                | Self::Matches { path, .. } => found.push(path.as_str()),
                Self::SameContent(one, other) => found.extend([one.as_str(), other.as_str()]),
                _ => {}
            }
        }
        found
    }

    /// The lines and expressions of files that it asks about.
    pub(crate) fn entries(&self) -> Vec<(&str, Entry)> {
        let mut found = Vec::new();
        for part in self.parts() {
            match part {
                Self::HasLine { path, line } => found.push((path.as_str(), Entry::Line(shared(line)))),
                Self::Matches { path, expression } => {
                    found.push((path.as_str(), Entry::Match(shared(expression))));
                }
                _ => {}
            }
        }
        found
    }

    /// The programs that it looks for.
    pub(crate) fn programs(&self) -> Vec<&str> {
        self.parts()
            .into_iter()
            .filter_map(|part| match part {
                Self::ProgramExists(name) => Some(name.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The services that it asks about.
    pub(crate) fn services(&self) -> Vec<&str> {
        self.parts()
            .into_iter()
            .filter_map(|part| match part {
                Self::ServiceActive(name) | Self::ServiceEnabled(name) => Some(name.as_str()),
                _ => None,
            })
            .collect()
    }
}

/// The absolute paths among the words of a command.
pub(crate) fn absolute_paths(command: &str) -> impl Iterator<Item = &str> {
    command
        .split(|c: char| c.is_whitespace() || "'\"`;&|<>()=,{}$!".contains(c))
        .filter(|word| word.starts_with('/') && word.len() > 1 && !word.contains(['*', '?', '[']))
        .map(|word| word.trim_end_matches('/'))
        .filter(|word| !word.is_empty())
}

/// What a command does.
pub(crate) fn effects(command: &str, surroundings: Surroundings<'_>) -> Result<Vec<Effect>, String> {
    let found = setpoint_commands::effects(command, surroundings);
    if let Some(reason) = found.reason {
        return Err(reason.to_string());
    }
    sequence(&found.steps, command)
}

/// What a program does that is started without a shell.
pub(crate) fn effects_of_words(
    words: &[String],
    surroundings: Surroundings<'_>,
) -> Result<Vec<Effect>, String> {
    let found = setpoint_commands::effects_of_words(words, surroundings);
    match found.reason {
        Some(reason) => Err(reason.to_string()),
        None => sequence(&found.steps, &words.join(" ")),
    }
}

/// Steps of which only the last decides.
fn sequence(steps: &[Step], command: &str) -> Result<Vec<Effect>, String> {
    let mut effects = Vec::new();
    let Some((last, before)) = steps.split_last() else { return Ok(effects) };
    let mut ignored = Vec::new();
    for step in before {
        let mut one = Vec::new();
        add(step, command, &mut one)?;
        ignored.push(Effect::Regardless(one));
    }
    effects.extend(ignored);
    add(last, command, &mut effects)?;
    Ok(effects)
}

/// The effects of a step, as far as they can be modelled.
fn add(step: &Step, command: &str, into: &mut Vec<Effect>) -> Result<(), String> {
    let effect = match step {
        Step::And(steps) => {
            for step in steps {
                add(step, command, into)?;
            }
            return Ok(());
        }
        Step::Sequence(steps) => {
            into.extend(sequence(steps, command)?);
            return Ok(());
        }
        Step::Or(steps) => {
            let mut otherwise: Option<Vec<Effect>> = None;
            for step in steps.iter().rev() {
                let mut first = Vec::new();
                add(step, command, &mut first)?;
                otherwise = Some(match otherwise {
                    Some(second) => vec![Effect::Either(first, second)],
                    None => first,
                });
            }
            into.extend(otherwise.unwrap_or_default());
            return Ok(());
        }
        Step::Each(steps) => {
            let mut lists = Vec::new();
            for step in steps {
                let mut one = Vec::new();
                add(step, command, &mut one)?;
                lists.push(one);
            }
            Effect::Each(lists)
        }
        Step::Nothing | Step::Guard(Condition::Constant(true)) => return Ok(()),
        Step::UpdatePackageLists => record(LISTS, &REPOSITORIES),
        Step::ReloadUnits => {
            record("the units of systemd", &["/etc/systemd/system/", "/usr/lib/systemd/system/"])
        }
        Step::Record { name, value, from } => {
            Effect::Record { name: name.clone(), value: value.clone(), from: from.clone() }
        }
        Step::Make { path, from, append: true, .. } => {
            into.extend(from.iter().map(|from| Effect::Read(from.clone())));
            Effect::Disturb { path: path.clone(), below: false }
        }
        Step::Make { path, from, append: false, volatile } => {
            if !volatile && may_vary(command) {
                into.push(Effect::Disturb { path: path.clone(), below: false });
            }
            Effect::Make {
                path: path.clone(),
                name: format!("(what `{command}` writes)"),
                from: from.clone(),
                volatile: *volatile,
            }
        }
        Step::Clone { path, address } => Effect::Clone { path: path.clone(), address: address.clone() },
        Step::ReadMatching(pattern) => Effect::NeedMatching(pattern.clone()),
        // Sockets are there while a service runs.
        Step::Guard(Condition::IsSocket(path)) => Effect::Listens(path.clone()),
        Step::Read(path) => Effect::Need(path.clone()),
        Step::Program(places) => Effect::NeedProgram(places.clone()),
        Step::Guard(condition) => Effect::Check(answerable(condition)?),
        Step::Touch(path) => Effect::Touch(path.clone()),
        Step::Mkdir { path, parents, mode } => {
            let mode = match mode {
                Some(mode) => {
                    Some(crate::attributes::octal(mode).ok_or("a mode that adds or takes is not modelled")?)
                }
                None => None,
            };
            Effect::MakeDirectory { path: path.clone(), parents: *parents, mode }
        }
        Step::Rmdir(path) => Effect::RemoveDirectory(path.clone()),
        Step::Remove { path, recursive, force } => {
            Effect::Remove { path: path.clone(), recursive: *recursive, force: *force }
        }
        Step::Copy { recursive: true, .. } => return Err("cp of directories is not modelled".to_owned()),
        Step::Copy { from, to, into: certain, .. } => {
            let to = place(from, to, *certain, into);
            Effect::Copy { from: from.clone(), to, and_remove: false, keeps_attributes: false }
        }
        Step::Move { from, to, into: certain } => {
            let to = place(from, to, *certain, into);
            Effect::Copy { from: from.clone(), to, and_remove: true, keeps_attributes: true }
        }
        Step::Fill { from, to } => Effect::Fill { from: from.clone(), to: to.clone() },
        Step::Fetch { path, address } => Effect::Fetch { path: path.clone(), address: address.clone() },
        Step::Link { symbolic: false, .. } => return Err("a hard link is not modelled".to_owned()),
        Step::Link { target, path, force, replaces, .. } => {
            Effect::Link { target: target.clone(), path: path.clone(), force: *force, replaces: *replaces }
        }
        Step::Extract { archive, into: target } => {
            Effect::Extract { archive: archive.clone(), into: target.clone() }
        }
        Step::Disturb { path } => Effect::Disturb { path: path.clone(), below: false },
        Step::Chmod { path, mode, recursive } => {
            let mode = crate::attributes::octal(mode).ok_or("a mode that adds or takes is not modelled")?;
            Effect::Mode { path: path.clone(), mode, recursive: *recursive }
        }
        Step::Chown { path, owner, group, recursive } => Effect::Owner {
            path: path.clone(),
            owner: owner.clone(),
            group: group.clone(),
            recursive: *recursive,
        },
        Step::Write { path, content: Some(content), append: false } => {
            Effect::Write { path: path.clone(), content: content.clone() }
        }
        Step::Write { path, content: Some(content), append: true } => {
            Effect::Append { path: path.clone(), line: content.trim_end_matches('\n').to_owned() }
        }
        Step::Write { path, content: None, append: false } => {
            if may_vary(command) {
                into.push(Effect::Disturb { path: path.clone(), below: false });
            }
            Effect::Set { path: path.clone(), name: format!("(what `{command}` writes)") }
        }
        Step::Write { path, .. } => return Err(format!("what is added to {path} is not known")),
        Step::EditFile { path, program, extended } => {
            into.push(Effect::Need(path.clone()));
            match Edit::parse(program, *extended) {
                Some(_) => Effect::Edit { path: path.clone(), program: program.clone(), extended: *extended },
                None => Effect::Disturb { path: path.clone(), below: false },
            }
        }
        Step::InstallPackage(name) => match into.last_mut() {
            Some(Effect::InstallPackages(names)) => {
                names.push(name.clone());
                return Ok(());
            }
            _ => Effect::InstallPackages(vec![name.clone()]),
        },
        Step::RemovePackage { name, purge } => {
            Effect::RemovePackages { names: vec![name.clone()], purge: *purge }
        }
        Step::Service { name, action } => match action.as_str() {
            "start"
            | "stop"
            | "restart"
            | "reload"
            | "enable"
            | "disable"
            | "try-restart"
            | "condrestart"
            | "reload-or-restart"
            | "reload-or-try-restart"
            | "force-reload" => Effect::Service { name: name.clone(), verb: action.clone() },
            _ => return Err(format!("`{action}` of a service is not modelled")),
        },
        Step::CreateUser { name, group, groups, home, create_home, system } => Effect::AddUser {
            name: name.clone(),
            group: group.clone(),
            groups: groups.clone(),
            home: create_home.then(|| home.clone().unwrap_or_else(|| format!("/home/{name}"))),
            system: *system,
        },
        Step::ChangeUser { name, group: None, groups, append_groups: true, home: None } => {
            Effect::Join { user: name.clone(), groups: groups.clone() }
        }
        Step::ChangeUser { name, .. } => return Err(format!("changes of the user {name} are not modelled")),
        Step::RemoveUser(name) => Effect::RemoveUser(name.clone()),
        Step::CreateGroup { name, force } => Effect::AddGroup { name: name.clone(), force: *force },
        Step::RemoveGroup(name) => Effect::RemoveGroup(name.clone()),
    };
    into.push(effect);
    Ok(())
}

/// Whether what a command prints may be another thing in each run: it has variables of the shell, or tells of what goes on.
fn may_vary(command: &str) -> bool {
    const TELLING: [&str; 16] = [
        "date", "df", "du", "find", "free", "ip", "last", "ls", "lsof", "netstat", "ps", "ss", "stat",
        "uptime", "w", "who",
    ];
    let mut words = command.split(|one: char| one.is_whitespace() || ";&|(){}'\"`".contains(one));
    let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    command.contains('$') || words.any(|word| TELLING.contains(&name(word).as_str()))
}

/// What package managers have read of their archives.
pub(crate) const LISTS: &str = "the lists of packages";

/// Where package managers learn of their archives.
pub(crate) const REPOSITORIES: [&str; 7] = [
    "/etc/apt/sources.list",
    "/etc/apt/sources.list.d/",
    "/etc/apt/preferences.d/",
    "/etc/apt/apt.conf.d/",
    "/etc/apt/keyrings/",
    "/etc/apt/trusted.gpg.d/",
    "/etc/yum.repos.d/",
];

/// Something that is made anew from these files, and that no resource manages.
fn record(name: &str, from: &[&str]) -> Effect {
    let from = from.iter().map(|path| (*path).to_owned()).collect();
    Effect::Record { name: name.to_owned(), value: "made".to_owned(), from }
}

/// Where a copy goes: into a directory under its own name, if that is certain. The directory must then be there.
fn place(from: &str, to: &str, certain: Option<bool>, effects: &mut Vec<Effect>) -> String {
    if certain != Some(true) {
        return to.to_owned();
    }
    effects.push(Effect::Need(to.to_owned()));
    let name = from.rsplit('/').next().unwrap_or_default();
    format!("{}/{name}", to.trim_end_matches('/'))
}

/// What a check asks.
pub(crate) fn question(command: &str, surroundings: Surroundings<'_>) -> Result<Question, String> {
    let asked = setpoint_commands::condition(command, surroundings).map_err(|reason| reason.to_string())?;
    answerable(&asked)
}

fn answerable(asked: &Condition) -> Result<Question, String> {
    let several = |all: &[Condition]| all.iter().map(answerable).collect::<Result<Vec<_>, _>>();
    Ok(match asked {
        Condition::Constant(value) => Question::Constant(*value),
        Condition::Exists(path) | Condition::IsExecutable(path) => Question::Exists(path.clone()),
        // It comes and goes with the service that listens.
        Condition::IsSocket(path) => {
            return Err(format!("whether something listens at {path} is not modelled"));
        }
        Condition::HasContent(path) => Question::HasContent(path.clone()),
        Condition::IsFile(path) => Question::IsFile(path.clone()),
        Condition::IsDirectory(path) => Question::IsDirectory(path.clone()),
        Condition::IsLink(path) => Question::IsLink(path.clone()),
        Condition::Matches { path, pattern, syntax, whole, ignore_case } => {
            if let Some(account) = account_of(path, pattern) {
                return Ok(account);
            }
            if is_kept_by_others(path) {
                return Err(format!("whether a line of {path} matches a pattern is not modelled"));
            }
            match line_of(pattern, *syntax, *whole).filter(|_| !ignore_case) {
                Some(line) => Question::HasLine { path: path.clone(), line },
                None => matching(path, pattern, *syntax, *whole, *ignore_case)?,
            }
        }
        Condition::UserExists(name) => Question::UserExists(name.clone()),
        Condition::GroupExists(name) => Question::GroupExists(name.clone()),
        Condition::PackageInstalled(name) => Question::PackageInstalled(name.clone()),
        Condition::Not(inner) => Question::Not(Box::new(answerable(inner)?)),
        Condition::All(all) => Question::All(several(all)?),
        Condition::Any(all) => Question::Any(several(all)?),
        Condition::ProgramExists(name) => Question::ProgramExists(name.clone()),
        Condition::ServiceActive(name) => Question::ServiceActive(name.clone()),
        Condition::ServiceEnabled(name) => Question::ServiceEnabled(name.clone()),
        Condition::SameContent(one, other) => Question::SameContent(one.clone(), other.clone()),
    })
}

/// Files that programs keep, and of which no lines are followed.
fn is_kept_by_others(path: &str) -> bool {
    ["/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow", "/etc/mtab"].contains(&path)
        || ["/proc/", "/sys/", "/run/", "/dev/", "/var/lib/dpkg/", "/var/lib/apt/", "/var/log/"]
            .iter()
            .any(|folder| path.starts_with(folder))
}

/// The user or group that a pattern as `^alice:` looks for.
fn account_of(path: &str, pattern: &str) -> Option<Question> {
    let name = pattern.strip_prefix('^')?.strip_suffix(':')?;
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)) {
        return None;
    }
    match path {
        "/etc/passwd" => Some(Question::UserExists(name.to_owned())),
        "/etc/group" => Some(Question::GroupExists(name.to_owned())),
        _ => None,
    }
}

/// The line that a pattern asks for, if it is one text and all of a line.
fn line_of(pattern: &str, syntax: Syntax, whole: bool) -> Option<String> {
    let inner = match syntax {
        Syntax::Fixed => return whole.then(|| pattern.to_owned()),
        _ => pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('$')),
    };
    let line = if whole { pattern } else { inner? };
    (!line.contains(['.', '*', '[', '^', '$', '\\', '(', '|', '+', '?', '{'])).then(|| line.to_owned())
}

fn matching(
    path: &str,
    pattern: &str,
    syntax: Syntax,
    whole: bool,
    ignore_case: bool,
) -> Result<Question, String> {
    let unread = || format!("whether a line of {path} matches a pattern is not modelled");
    let mut found = expression(pattern, syntax).ok_or_else(unread)?;
    if whole {
        found = format!("^(?:{found})$");
    }
    if ignore_case {
        found = format!("(?i){found}");
    }
    fancy_regex::Regex::new(&found).map_err(|_| unread())?;
    Ok(Question::Matches { path: path.to_owned(), expression: found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_commands_are_understood() {
        assert_eq!(effects("/bin/touch /a", Surroundings::default()), Ok(vec![Effect::Touch("/a".into())]));
        assert_eq!(
            effects("mkdir -p x && echo 'a b' > x/y", Surroundings::of(Some("/srv"))),
            Ok(vec![
                Effect::MakeDirectory { path: "/srv/x".into(), parents: true, mode: None },
                Effect::Write { path: "/srv/x/y".into(), content: "a b\n".into() }
            ])
        );
        assert_eq!(
            effects("/bin/sh -c \"rm -rf /a\"", Surroundings::default()),
            effects("rm -rf /a", Surroundings::default())
        );
        assert_eq!(
            effects("tar xzf /a.tgz -C /opt", Surroundings::default()),
            Ok(vec![Effect::Extract { archive: "/a.tgz".into(), into: "/opt".into() }])
        );
        assert_eq!(
            effects("sed -i s/a/b/ /f", Surroundings::default()),
            Ok(vec![
                Effect::Need("/f".into()),
                Effect::Edit { path: "/f".into(), program: "s/a/b/".into(), extended: false }
            ])
        );
        assert_eq!(
            effects("sed -i 1d /f", Surroundings::default()),
            Ok(vec![Effect::Need("/f".into()), Effect::Disturb { path: "/f".into(), below: false }])
        );
        assert_eq!(
            effects("rm /a; touch /b || true", Surroundings::default()),
            Ok(vec![
                Effect::Regardless(vec![Effect::Remove {
                    path: "/a".into(),
                    recursive: false,
                    force: false
                }]),
                Effect::Either(vec![Effect::Touch("/b".into())], Vec::new()),
            ])
        );
        assert_eq!(
            effects("/etc/init.d/web restart", Surroundings::default()),
            Ok(vec![Effect::Service { name: "web".into(), verb: "restart".into() }])
        );
        assert!(effects("make install", Surroundings::default()).is_err());
        assert!(effects("rm $x", Surroundings::default()).is_err());
        assert!(effects("touch a", Surroundings::default()).is_err());
        assert!(effects("", Surroundings::default()).is_err());
    }

    #[test]
    fn checks_are_understood() {
        assert_eq!(question("test -f /a", Surroundings::default()), Ok(Question::IsFile("/a".into())));
        assert_eq!(
            question("[ ! -d /a ]", Surroundings::default()),
            Ok(Question::Not(Box::new(Question::IsDirectory("/a".into()))))
        );
        assert_eq!(
            question("grep -q '^a b$' /f", Surroundings::default()),
            Ok(Question::HasLine { path: "/f".into(), line: "a b".into() })
        );
        assert_eq!(
            question("grep -q '^a' /f", Surroundings::default()),
            Ok(Question::Matches { path: "/f".into(), expression: "^a".into() })
        );
        assert_eq!(
            question("grep -q ^alice: /etc/passwd", Surroundings::default()),
            Ok(Question::UserExists("alice".into()))
        );
        assert!(question("grep -q x /etc/passwd", Surroundings::default()).is_err());
        assert!(question("grep -q x /proc/mounts", Surroundings::default()).is_err());
        assert!(question("make it", Surroundings::default()).is_err());
    }
}
