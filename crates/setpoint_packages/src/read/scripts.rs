//! Users and groups that a package creates: by `sysusers.d`, or by the commands of its scripts.

use std::collections::BTreeMap;

use crate::Collection;
use crate::facts::User;

/// Users and groups that every Debian has from the start: scripts that mention them create nothing.
const ALWAYS_THERE: [&str; 38] = [
    "_apt", "adm", "audio", "backup", "bin", "cdrom", "daemon", "dialout", "dip", "disk", "fax", "floppy",
    "games", "gnats", "irc", "kmem", "list", "lp", "mail", "man", "news", "nobody", "nogroup", "operator",
    "plugdev", "proxy", "root", "sasl", "shadow", "src", "staff", "sudo", "sync", "sys", "tty", "users",
    "video", "www-data",
];

/// Reads a file of `sysusers.d`: `u NAME ID "GECOS" HOME SHELL`, `g NAME ID`, `m USER GROUP`.
pub fn sysusers(into: &mut Collection, package: &str, text: &str) {
    for line in text.lines() {
        let words = words(line);
        let field =
            |at: usize| words.get(at).map(String::as_str).filter(|word| *word != "-" && !word.is_empty());
        let Some(name) = field(1).filter(|name| !ALWAYS_THERE.contains(name)) else { continue };
        match words[0].as_str() {
            "u" | "u!" => {
                // `ID:GROUP` names another primary group.
                let group = field(2).and_then(|id| id.split_once(':')).map_or(name, |(_, group)| group);
                let by_name = group.starts_with(|c: char| !c.is_ascii_digit());
                if group == name {
                    into.add_group(package, name);
                }
                into.add_user(
                    package,
                    User {
                        name: name.into(),
                        group: by_name.then(|| group.into()),
                        home: field(4).filter(|home| home.starts_with('/')).map(Box::from),
                    },
                );
            }
            "g" => into.add_group(package, name),
            "m" => {
                if let Some(group) = field(2).filter(|group| !ALWAYS_THERE.contains(group)) {
                    into.add_group(package, group);
                }
            }
            _ => {}
        }
    }
}

/// Reads a maintainer script: `adduser`, `addgroup`, `useradd` and `groupadd` with names that it spells out, or that it sets
/// in a plain assignment before.
pub fn script(into: &mut Collection, package: &str, text: &str) {
    let joined = text.replace("\\\n", " ");
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    for line in joined.lines() {
        let words = words(line);
        for word in &words {
            if let Some((name, value)) = word.split_once('=')
                && !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            {
                let value = expand(value, &variables).unwrap_or_default();
                variables.entry(name.to_owned()).or_insert(value);
            }
        }
        let mut rest = &words[..];
        while let Some(at) = rest.iter().position(|word| command(word).is_some()) {
            let end = rest[at + 1..]
                .iter()
                .position(|word| matches!(word.as_str(), ";" | "&&" | "||" | "|" | "fi" | "then" | "}"))
                .map_or(rest.len(), |end| at + 1 + end);
            let arguments: Option<Vec<String>> =
                rest[at + 1..end].iter().map(|word| expand(word, &variables)).collect();
            if let (Some(kind), Some(arguments)) = (command(&rest[at]), arguments) {
                create(into, package, kind, &arguments);
            }
            rest = &rest[end..];
        }
    }
}

fn command(word: &str) -> Option<&'static str> {
    let name = word.rsplit('/').next().unwrap_or(word);
    ["adduser", "addgroup", "useradd", "groupadd"].into_iter().find(|command| *command == name)
}

/// Options that take a value.
const VALUED: [&str; 21] = [
    "--home",
    "--gecos",
    "--shell",
    "--ingroup",
    "--gid",
    "--uid",
    "--firstuid",
    "--lastuid",
    "--firstgid",
    "--lastgid",
    "--conf",
    "--comment",
    "--home-dir",
    "--base-dir",
    "--groups",
    "--root",
    "-d",
    "-c",
    "-s",
    "-g",
    "-u",
];

fn create(into: &mut Collection, package: &str, kind: &str, arguments: &[String]) {
    let mut names: Vec<&str> = Vec::new();
    let mut home = None;
    let mut group = None;
    let mut own_group = kind == "useradd";
    let mut for_system = false;
    let mut at = 0;
    while let Some(argument) = arguments.get(at) {
        at += 1;
        let (option, mut value) = match argument.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value)),
            _ => (argument.as_str(), None),
        };
        if !option.starts_with('-') {
            // What is sent elsewhere is no name.
            if option.contains(['>', '<']) {
                break;
            }
            names.push(option);
            continue;
        }
        if value.is_none() && (VALUED.contains(&option) || (option == "-G" && kind == "useradd")) {
            value = arguments.get(at).map(String::as_str);
            at += 1;
        }
        match option {
            "--home" | "--home-dir" | "-d" => home = value,
            "--ingroup" | "--gid" | "-g" => group = value,
            "--group" => own_group = true,
            "--system" | "-r" | "-M" => for_system = true,
            _ => {}
        }
    }
    let valid = |name: &&str| {
        !name.is_empty()
            && !ALWAYS_THERE.contains(name)
            && name.len() <= 32
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
    };
    let Some(name) = names.first().copied().filter(|name| valid(name)) else { return };
    match kind {
        "addgroup" | "groupadd" => into.add_group(package, name),
        // `adduser --group NAME` without a home makes a group alone, if it does not say otherwise.
        "adduser" if names.len() == 2 => {}
        _ => {
            let by_name = group.filter(|group| valid(group));
            if own_group && group.is_none() {
                into.add_group(package, name);
            }
            let primary = by_name.or((own_group || !for_system).then_some(name));
            into.add_user(
                package,
                User {
                    name: name.into(),
                    group: primary.map(Box::from),
                    home: home.filter(|home| home.starts_with('/') && *home != "/nonexistent").map(Box::from),
                },
            );
        }
    }
}

/// A word with `$NAME` and `${NAME}` replaced; none if it needs more than that.
fn expand(word: &str, variables: &BTreeMap<String, String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let (name, next) = if let Some(braced) = after.strip_prefix('{') {
            braced.split_once('}')?
        } else {
            let end = after.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            after.split_at(end)
        };
        out.push_str(variables.get(name)?);
        rest = next;
    }
    out.push_str(rest);
    (!out.contains('`')).then_some(out)
}

/// The words of a line of shell, quotes removed, operators apart; up to a comment.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut inside = false;
    let mut quote: Option<char> = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => word.push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                inside = true;
            }
            (None, '#') if !inside => break,
            (None, ';' | '&' | '|') => {
                if inside {
                    words.push(std::mem::take(&mut word));
                    inside = false;
                }
                let mut operator = c.to_string();
                if chars.peek() == Some(&c) {
                    operator.push(c);
                    chars.next();
                }
                words.push(operator);
            }
            (None, _) if c.is_whitespace() => {
                if inside {
                    words.push(std::mem::take(&mut word));
                    inside = false;
                }
            }
            (None, _) => {
                word.push(c);
                inside = true;
            }
        }
    }
    if inside {
        words.push(word);
    }
    words
}
