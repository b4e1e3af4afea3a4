//! What a package creates besides its files: by `sysusers.d` and `tmpfiles.d`, or by the plain commands of its scripts.
//!
//! A script is read for the first installation of its package. Conditions are decided where they ask which action it is,
//! whether there was an older version, or whether the thing that the command makes is there already; a path that is made under
//! any other condition is conditional, and so is what a loop or a function makes.

use std::collections::BTreeMap;

use super::shell::{Piece, pieces};
use crate::Collection;
use crate::facts::User;

/// Which of its scripts a package runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    Preinst,
    Postinst,
}

impl Script {
    /// Its first argument at the first installation.
    fn action(self) -> &'static str {
        match self {
            Self::Preinst => "install",
            Self::Postinst => "configure",
        }
    }
}

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
        let words = super::shell::words(line);
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

/// Reads a file of `tmpfiles.d`: `d PATH …` makes a directory, `f PATH …` a file, `L PATH …` a link.
pub fn tmpfiles(into: &mut Collection, package: &str, text: &str) {
    for line in text.lines() {
        let words = super::shell::words(line);
        let [kind, path, ..] = &words[..] else { continue };
        // `!` is done at boot alone. `%` stands for something of the machine.
        if kind.contains('!') || !is_plain_path(path) {
            continue;
        }
        match kind.trim_end_matches(['+', '-', '=', '~', '^', '$', '?']) {
            "d" | "D" | "v" | "q" | "Q" => into.add_generated_directory(package, path),
            "f" | "F" | "L" | "p" => into.add_generated(package, path),
            "C" => into.add_conditional(package, path),
            _ => {}
        }
    }
}

/// Whether something holds at the first installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Truth {
    True,
    False,
    Open,
}

impl Truth {
    fn negate(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Open => Self::Open,
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::False, _) | (_, Self::False) => Self::False,
            (Self::True, Self::True) => Self::True,
            _ => Self::Open,
        }
    }
}

/// A part of a script that is run under a condition.
enum Block {
    /// The commands of a condition that goes on to `then` or `do`, and whether all conditions before it failed.
    Condition(Vec<Vec<String>>, Truth),
    /// Whether the branch is run, and whether the next one is reached.
    If {
        runs: Truth,
        next: Truth,
    },
    /// Whether it asks for the action, and whether the branch is run.
    Case(bool, Truth),
    Other(Truth),
}

impl Block {
    fn runs(&self) -> Truth {
        match self {
            Self::Condition(..) => Truth::True,
            Self::If { runs, .. } => *runs,
            Self::Case(_, truth) | Self::Other(truth) => *truth,
        }
    }
}

/// Reads a maintainer script: users and groups, directories, links and files that it makes with names that it spells out, or that it
/// sets in a plain assignment before.
pub fn script(into: &mut Collection, package: &str, script: Script, text: &str) {
    let mut reader = ScriptReader {
        into,
        package,
        script,
        variables: BTreeMap::new(),
        blocks: Vec::new(),
        guard: Truth::True,
        opens_function: false,
        patterns: Vec::new(),
    };
    let mut command: Vec<String> = Vec::new();
    for piece in pieces(text) {
        match piece {
            Piece::Word(word) => {
                if word.ends_with("()") && command.len() < 2 {
                    reader.opens_function = true;
                    command.clear();
                    continue;
                }
                if reader.opens_branch(&command, &word) || (command.is_empty() && reader.reserved(&word)) {
                    command.clear();
                    continue;
                }
                command.push(word);
                if matches!(&command[..], [case, .., last] if case == "case" && last == "in") {
                    reader.open_case(&command);
                    command.clear();
                }
            }
            Piece::Operator(operator) => {
                reader.run(&command, operator);
                command.clear();
            }
        }
    }
    reader.run(&command, ";");
}

struct ScriptReader<'a> {
    into: &'a mut Collection,
    package: &'a str,
    script: Script,
    variables: BTreeMap<String, String>,
    blocks: Vec<Block>,
    /// Whether the commands before on the line let this one run: `[ -d X ] || mkdir X`.
    guard: Truth,
    /// The name of a function stands before.
    opens_function: bool,
    /// Words before a bar, which may be patterns of a branch: `configure | reconfigure)`.
    patterns: Vec<String>,
}

impl ScriptReader<'_> {
    /// Takes a word that opens, divides or closes a part of the script.
    fn reserved(&mut self, word: &str) -> bool {
        match word {
            "if" => self.blocks.push(Block::Condition(Vec::new(), Truth::True)),
            // Nobody knows how often a loop runs.
            "while" | "until" => self.blocks.push(Block::Condition(Vec::new(), Truth::Open)),
            "then" | "do" => {
                let Some(Block::Condition(commands, reached)) =
                    self.blocks.pop_if(|block| matches!(block, Block::Condition(..)))
                else {
                    self.blocks.push(Block::Other(Truth::Open));
                    return true;
                };
                let holds = self.condition(&commands);
                let (runs, next) = (reached.and(holds), reached.and(holds.negate()));
                self.blocks.push(Block::If { runs, next });
            }
            "else" => {
                if let Some(Block::If { runs, next }) = self.blocks.last_mut() {
                    *runs = *next;
                }
            }
            "elif" => {
                let reached = match self.blocks.pop() {
                    Some(Block::If { next, .. }) => next,
                    _ => Truth::Open,
                };
                self.blocks.push(Block::Condition(Vec::new(), reached));
            }
            "fi" | "done" | "esac" | "}" => {
                self.blocks.pop();
            }
            "{" => {
                let is_function = std::mem::take(&mut self.opens_function);
                self.blocks.push(Block::Other(if is_function { Truth::Open } else { Truth::True }));
            }
            _ => return false,
        }
        self.guard = Truth::True;
        true
    }

    fn open_case(&mut self, command: &[String]) {
        let on_action = command.get(1).is_some_and(|word| word == "$1" || word == "${1}" || word == "${1:-}");
        self.blocks.push(Block::Case(on_action, Truth::Open));
        self.guard = Truth::True;
    }

    /// Takes the pattern of a branch: `configure|reconfigure)`.
    fn opens_branch(&mut self, command: &[String], word: &str) -> bool {
        let Some(Block::Case(on_action, truth)) = self.blocks.last_mut() else { return false };
        let Some(last) = word.strip_suffix(')').filter(|_| command.is_empty()) else { return false };
        let action = self.script.action();
        let before = std::mem::take(&mut self.patterns);
        let names_action = before
            .iter()
            .map(String::as_str)
            .chain(last.split('|'))
            .any(|pattern| pattern.trim_start_matches('(') == action);
        *truth = match (*on_action, names_action) {
            (true, true) => Truth::True,
            (true, false) if last != "*" => Truth::False,
            _ => Truth::Open,
        };
        self.guard = Truth::True;
        true
    }

    fn runs(&self) -> Truth {
        self.blocks.iter().fold(self.guard, |all, block| all.and(block.runs()))
    }

    /// Takes a whole command and the operator after it.
    fn run(&mut self, command: &[String], operator: &str) {
        if let Some(Block::Condition(words, _)) = self.blocks.last_mut() {
            if !command.is_empty() {
                words.push(command.to_vec());
            }
            if operator != ";" {
                words.push(vec![operator.to_owned()]);
            }
            return;
        }
        match command {
            [pattern] if operator == "|" => self.patterns.push(pattern.clone()),
            _ => self.patterns.clear(),
        }
        if operator == ";;" {
            self.effect(command);
            if let Some(Block::Case(_, truth)) = self.blocks.last_mut() {
                *truth = Truth::Open;
            }
            self.guard = Truth::True;
            return;
        }
        if !command.is_empty() {
            self.effect(command);
        }
        self.guard = match operator {
            "&&" => self.guard.and(self.test(command)),
            // `[ -d X ] || mkdir X`: whoever asks whether it is there makes it if it is not.
            "||" if command.is_empty() => self.guard,
            "||" if is_question_of_presence(command) => self.guard,
            "||" => self.guard.and(self.test(command).negate()),
            _ => Truth::True,
        };
    }

    /// Decides the condition of an `if`.
    fn condition(&self, words: &[Vec<String>]) -> Truth {
        let mut all = Truth::True;
        for command in words {
            match command.first().map(String::as_str) {
                Some("&&") => {}
                Some("||" | "|" | "&") => return Truth::Open,
                _ => all = all.and(self.test(command)),
            }
        }
        all
    }

    /// Decides a command as a question. `! test -e X` holds: what is made below is made where it is not there.
    fn test(&self, command: &[String]) -> Truth {
        match command {
            [] => Truth::Open,
            [not, rest @ ..] if not == "!" => {
                if is_question_of_presence(rest) {
                    Truth::True
                } else {
                    self.test(rest).negate()
                }
            }
            [test, inner @ .., end] if test == "[" && end == "]" => self.bracket(inner),
            [test, inner @ ..] if test == "test" => self.bracket(inner),
            [only] if only == "true" || only == ":" => Truth::True,
            _ => Truth::Open,
        }
    }

    fn bracket(&self, inner: &[String]) -> Truth {
        if inner.iter().any(|word| word == "-o") {
            return Truth::Open;
        }
        inner.split(|word| word == "-a").fold(Truth::True, |all, part| {
            let words: Vec<&str> = part.iter().map(String::as_str).collect();
            all.and(self.plain_test(&words))
        })
    }

    fn plain_test(&self, words: &[&str]) -> Truth {
        let of = |holds: bool| if holds { Truth::True } else { Truth::False };
        let is_version = |word: &str| matches!(word, "$2" | "${2}" | "${2:-}");
        match words {
            ["!", kind, _] if is_presence(kind) => Truth::True,
            ["!", rest @ ..] => self.plain_test(rest).negate(),
            [one, "=" | "==", word] if one.trim_matches(['{', '}']) == "$1" || *one == "${1}" => {
                of(*word == self.script.action())
            }
            [one, "!=", word] if *one == "$1" || *one == "${1}" => of(*word != self.script.action()),
            // There was no older version.
            ["-z", word] if is_version(word) => Truth::True,
            ["-n", word] if is_version(word) => Truth::False,
            [word, "=" | "==", ""] if is_version(word) => Truth::True,
            _ => Truth::Open,
        }
    }

    fn effect(&mut self, command: &[String]) {
        let runs = self.runs();
        if runs == Truth::False {
            return;
        }
        let mut words = command;
        while let [first, rest @ ..] = words {
            if let Some((name, value)) = assignment(first) {
                // Another value under a condition makes it unknown.
                let value = expand(value, &self.variables);
                match value {
                    Some(value) if runs == Truth::True || !self.variables.contains_key(name) => {
                        self.variables.insert(name.to_owned(), value);
                    }
                    _ => {
                        self.variables.remove(name);
                    }
                }
            } else if !matches!(first.as_str(), "!" | "export" | "local" | "readonly" | "exec" | "command") {
                break;
            }
            words = rest;
        }
        let [program, arguments @ ..] = words else { return };
        let program = program.rsplit('/').next().unwrap_or(program);
        if let Some(kind) =
            ["adduser", "addgroup", "useradd", "groupadd"].into_iter().find(|kind| *kind == program)
        {
            let end = arguments.iter().position(|word| is_redirection(word)).unwrap_or(arguments.len());
            let arguments: Option<Vec<String>> =
                arguments[..end].iter().map(|word| expand(word, &self.variables)).collect();
            if let Some(arguments) = arguments {
                let home = create(self.into, self.package, kind, &arguments);
                if let Some(home) = home {
                    self.make(&home, true, runs);
                }
            }
            return;
        }
        for (path, is_directory, is_certain) in self.makes(program, arguments) {
            let runs = if is_certain { runs } else { Truth::Open };
            self.make(&path, is_directory, runs);
        }
    }

    fn make(&mut self, path: &str, is_directory: bool, runs: Truth) {
        if !is_plain_path(path) {
            return;
        }
        match (runs, is_directory) {
            (Truth::True, true) => self.into.add_generated_directory(self.package, path),
            (Truth::True, false) => self.into.add_generated(self.package, path),
            _ => self.into.add_conditional(self.package, path),
        }
    }

    /// The paths that a command makes, whether they are directories, and whether it certainly makes them.
    fn makes(&self, program: &str, arguments: &[String]) -> Vec<(String, bool, bool)> {
        let plain: Vec<Option<String>> = arguments
            .iter()
            .take_while(|word| !is_redirection(word))
            .map(|word| expand(word, &self.variables))
            .collect();
        // Values of options are no paths; a path that is not known is left out.
        let operands = |valued: &[&str]| {
            let mut found: Vec<Option<String>> = Vec::new();
            let mut words = plain.iter();
            while let Some(word) = words.next() {
                match word.as_deref() {
                    Some(option) if option.starts_with('-') && option.len() > 1 => {
                        if valued.contains(&option) {
                            words.next();
                        }
                    }
                    _ => found.push(word.clone()),
                }
            }
            found
        };
        let has = |flags: &[&str]| plain.iter().flatten().any(|word| flags.contains(&word.as_str()));
        let all = |found: Vec<Option<String>>, is_directory| {
            found.into_iter().flatten().map(|path| (path, is_directory, true)).collect()
        };
        match program {
            "mkdir" => all(operands(&["-m", "--mode"]), true),
            "install" if has(&["-d", "--directory"]) || arguments.iter().any(|word| is_flags(word, 'd')) => {
                all(operands(&["-m", "-o", "-g", "--mode", "--owner", "--group"]), true)
            }
            "touch" => all(operands(&["-d", "-t", "-r"]), false),
            "ucf" => match &operands(&["--debconf-template", "--state-dir", "--sum-file"])[..] {
                [_, Some(path)] => vec![(path.clone(), false, true)],
                _ => Vec::new(),
            },
            "ln" | "cp" | "mv" | "install" => match &operands(&["-m", "-o", "-g", "-t", "-S"])[..] {
                // A target that is a directory already takes what is put into it.
                [Some(_), Some(path)] => vec![(path.clone(), false, program == "ln" && !path.ends_with('/'))],
                _ => Vec::new(),
            },
            "update-alternatives" => {
                let mut found = Vec::new();
                for (at, word) in plain.iter().enumerate() {
                    if !matches!(word.as_deref(), Some("--install" | "--slave")) {
                        continue;
                    }
                    if let Some([Some(link), Some(name), ..]) = plain.get(at + 1..) {
                        found.push((link.clone(), false, true));
                        found.push((format!("/etc/alternatives/{name}"), false, true));
                    }
                }
                found
            }
            _ => Vec::new(),
        }
    }
}

fn is_presence(kind: &str) -> bool {
    matches!(kind, "-e" | "-d" | "-f" | "-L" | "-h" | "-s" | "-r")
}

/// Whether a command asks whether something is there that is made where it is not.
fn is_question_of_presence(command: &[String]) -> bool {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    match &words[..] {
        ["[", kind, _, "]"] | ["test", kind, _] => is_presence(kind),
        ["getent" | "id", ..] | ["dpkg-statoverride", "--list", ..] => true,
        ["grep", rest @ ..] => rest.iter().any(|word| matches!(*word, "/etc/passwd" | "/etc/group")),
        _ => false,
    }
}

/// Whether a word is short options together, one of them this.
fn is_flags(word: &str, flag: char) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(flag)
}

fn is_redirection(word: &str) -> bool {
    word.contains(['>', '<'])
}

fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((name, value))
}

/// Whether a path is spelled out, and of the machine rather than of one run.
fn is_plain_path(path: &str) -> bool {
    const PASSING: [&str; 4] = ["/tmp/", "/dev/", "/proc/", "/sys/"];
    path.len() > 1
        && path.starts_with('/')
        && !path.contains(['*', '?', '[', '{', '$', '`', '%', '~', '(', ')'])
        && !path.split('/').any(|part| part == ".." || part == ".")
        && !PASSING.iter().any(|start| path.starts_with(start))
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

/// Adds what a command creates. Returns the home that it makes.
fn create(into: &mut Collection, package: &str, kind: &str, arguments: &[String]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    let mut home = None;
    let mut group = None;
    let mut own_group = kind == "useradd";
    let mut for_system = false;
    let mut makes_home = kind == "adduser";
    let mut at = 0;
    while let Some(argument) = arguments.get(at) {
        at += 1;
        let (option, mut value) = match argument.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value)),
            _ => (argument.as_str(), None),
        };
        if !option.starts_with('-') {
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
            "--system" | "-r" => for_system = true,
            "-M" | "--no-create-home" => {
                for_system |= option == "-M";
                makes_home = false;
            }
            "-m" | "--create-home" => makes_home = true,
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
    let name = names.first().copied().filter(|name| valid(name))?;
    match kind {
        "addgroup" | "groupadd" => into.add_group(package, name),
        // `adduser --group NAME` without a home makes a group alone, if it does not say otherwise.
        "adduser" if names.len() == 2 => {}
        _ => {
            let home = home.filter(|home| home.starts_with('/') && *home != "/nonexistent");
            let by_name = group.filter(|group| valid(group));
            if own_group && group.is_none() {
                into.add_group(package, name);
            }
            let primary = by_name.or((own_group || !for_system).then_some(name));
            into.add_user(
                package,
                User { name: name.into(), group: primary.map(Box::from), home: home.map(Box::from) },
            );
            return home.filter(|_| makes_home).map(str::to_owned);
        }
    }
    None
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
