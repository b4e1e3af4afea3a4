//! What plain commands do to what is modelled. A command that is not understood is said to be so, with the reason.

use setpoint_commands::{Condition, Step};

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

/// What a command does, in a working directory.
pub(crate) fn effects(command: &str, folder: Option<&str>) -> Result<Vec<Effect>, String> {
    let found = setpoint_commands::effects(command, folder);
    if let Some(reason) = found.reason {
        return Err(reason.to_string());
    }
    let mut effects = Vec::new();
    for step in &found.steps {
        add(step, command, &mut effects)?;
    }
    Ok(effects)
}

/// The effects of a step, as far as they can be modelled.
fn add(step: &Step, command: &str, into: &mut Vec<Effect>) -> Result<(), String> {
    let effect = match step {
        Step::And(steps) | Step::Sequence(steps) => {
            for step in steps {
                add(step, command, into)?;
            }
            return Ok(());
        }
        Step::Or(_) => return Err("what comes after `||` depends on the exit status".to_owned()),
        // The lists of a package manager and the units that systemd has read are no part of what is modelled.
        Step::Nothing | Step::UpdatePackageLists | Step::ReloadUnits => return Ok(()),
        // Sockets are there while a service runs: a command that waits for one is taken to succeed.
        Step::Guard(Condition::Constant(true) | Condition::IsSocket(_)) => return Ok(()),
        Step::Guard(Condition::Exists(path) | Condition::IsFile(path) | Condition::IsDirectory(path))
        | Step::Read(path) => Effect::Need(path.clone()),
        Step::Guard(_) => return Err("it goes on only if a check within it says so".to_owned()),
        Step::Touch(path) => Effect::Touch(path.clone()),
        Step::Mkdir { mode: Some(_), .. } => return Err("mkdir with a mode is not modelled".to_owned()),
        Step::Mkdir { path, parents, mode: None } => {
            Effect::MakeDirectory { path: path.clone(), parents: *parents }
        }
        Step::Rmdir(path) => return Err(format!("whether {path} is empty is not known")),
        Step::Remove { path, recursive, force } => {
            Effect::Remove { path: path.clone(), recursive: *recursive, force: *force }
        }
        Step::Copy { recursive: true, .. } => return Err("cp of directories is not modelled".to_owned()),
        Step::Copy { from, to, into: certain, .. } => {
            Effect::Copy { from: from.clone(), to: place(from, to, *certain, into) }
        }
        Step::Move { from, to, into: certain } => {
            Effect::Move { from: from.clone(), to: place(from, to, *certain, into) }
        }
        Step::Link { symbolic: false, .. } => return Err("a hard link is not modelled".to_owned()),
        Step::Link { target, path, force, .. } => {
            Effect::Link { target: target.clone(), path: path.clone(), force: *force }
        }
        // What is in the archive is not known.
        Step::Extract { archive, into: target } => {
            into.extend([Effect::Need(archive.clone()), Effect::Need(target.clone())]);
            Effect::Disturb { path: target.clone(), below: true }
        }
        Step::Disturb { path } => Effect::Disturb { path: path.clone(), below: false },
        Step::Chmod { recursive: true, .. } => return Err("chmod -R is not modelled".to_owned()),
        Step::Chmod { path, mode, .. } => {
            let mode = crate::attributes::octal(mode).ok_or("a mode that adds or takes is not modelled")?;
            Effect::Mode { path: path.clone(), mode }
        }
        Step::Chown { recursive: true, .. } => return Err("chown -R is not modelled".to_owned()),
        Step::Chown { path, owner, group, .. } => {
            Effect::Owner { path: path.clone(), owner: owner.clone(), group: group.clone() }
        }
        Step::Write { path, content: Some(content), append: false } => {
            Effect::Write { path: path.clone(), content: content.clone() }
        }
        Step::Write { path, content: Some(content), append: true } => {
            Effect::Append { path: path.clone(), line: content.trim_end_matches('\n').to_owned() }
        }
        Step::Write { path, content: None, append: false } => {
            Effect::Set { path: path.clone(), name: format!("(what `{command}` writes)") }
        }
        Step::Write { path, .. } => return Err(format!("what is added to {path} is not known")),
        Step::EditFile { path, .. } => {
            into.push(Effect::Need(path.clone()));
            Effect::Disturb { path: path.clone(), below: false }
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
            "start" | "stop" | "restart" | "reload" | "enable" | "disable" => {
                Effect::Service { name: name.clone(), verb: action.clone() }
            }
            _ => return Err(format!("`{action}` of a service is not modelled")),
        },
        Step::CreateUser { name, .. } => Effect::AddUser(name.clone()),
        Step::ChangeUser { name, .. } => return Err(format!("changes of the user {name} are not modelled")),
        Step::RemoveUser(name) => Effect::RemoveUser(name.clone()),
        Step::CreateGroup(name) => Effect::AddGroup(name.clone()),
        Step::RemoveGroup(name) => Effect::RemoveGroup(name.clone()),
    };
    into.push(effect);
    Ok(())
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
pub(crate) fn question(command: &str, folder: Option<&str>) -> Result<Question, String> {
    let asked = setpoint_commands::condition(command, folder).map_err(|reason| reason.to_string())?;
    answerable(&asked)
}

fn answerable(asked: &Condition) -> Result<Question, String> {
    let several = |all: &[Condition]| all.iter().map(answerable).collect::<Result<Vec<_>, _>>();
    Ok(match asked {
        Condition::Constant(value) => Question::Constant(*value),
        Condition::Exists(path)
        | Condition::HasContent(path)
        | Condition::IsExecutable(path)
        | Condition::IsSocket(path) => Question::Exists(path.clone()),
        Condition::IsFile(path) => Question::IsFile(path.clone()),
        Condition::IsDirectory(path) => Question::IsDirectory(path.clone()),
        Condition::IsLink(path) => Question::IsLink(path.clone()),
        Condition::Matches { path, pattern, fixed, whole: true, ignore_case: false }
            if *fixed || !pattern.contains(['.', '*', '[', '^', '$', '\\']) =>
        {
            Question::HasLine { path: path.clone(), line: pattern.clone() }
        }
        Condition::Matches { path, .. } => {
            return Err(format!("whether a line of {path} matches a pattern is not modelled"));
        }
        Condition::UserExists(name) => Question::UserExists(name.clone()),
        Condition::GroupExists(name) => Question::GroupExists(name.clone()),
        Condition::PackageInstalled(name) => Question::PackageInstalled(name.clone()),
        Condition::Not(inner) => Question::Not(Box::new(answerable(inner)?)),
        Condition::All(all) => Question::All(several(all)?),
        Condition::Any(all) => Question::Any(several(all)?),
        Condition::ProgramExists(name) => {
            return Err(format!("whether there is a program {name} is not known"));
        }
        Condition::ServiceActive(name) | Condition::ServiceEnabled(name) => {
            return Err(format!("what the service manager says of {name} is not modelled"));
        }
        Condition::SameContent(one, other) => {
            return Err(format!("whether {one} and {other} are the same is not modelled"));
        }
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
        assert_eq!(question("test -f /a", None), Ok(Question::IsFile("/a".into())));
        assert_eq!(
            question("[ ! -d /a ]", None),
            Ok(Question::Not(Box::new(Question::IsDirectory("/a".into()))))
        );
        assert!(question("curl http://x", None).is_err());
    }
}
