//! A tree of commands becomes steps.

use crate::lexer::{PATTERN, Word, tokens};
use crate::parser::{Node, Redirect, Simple, parse};
use crate::programs;
use crate::step::{Condition, Effects, NotUnderstood, Step};

/// Gives the text of a script at a path, where it is known.
pub type Scripts<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Gives the places at which a program is looked for, by the word that names it; none where it is there for certain.
pub type Programs<'a> = dyn Fn(&str) -> Vec<String> + 'a;

/// Where a command runs.
#[derive(Clone, Copy, Default)]
#[allow(missing_debug_implementations, reason = "scripts are a function")]
pub struct Surroundings<'a> {
    /// The working directory.
    pub folder: Option<&'a str>,
    /// The variables of its environment that are known.
    pub variables: &'a [(String, String)],
    /// Gives the text of a script, where it is known.
    pub script: Option<&'a Scripts<'a>>,
    /// Says which programs may be missing. Without it, every program that is known is taken to be there.
    pub programs: Option<&'a Programs<'a>>,
}

impl<'a> Surroundings<'a> {
    /// A working directory, and nothing else that is known.
    pub fn of(folder: Option<&'a str>) -> Self {
        Self { folder, ..Self::default() }
    }
}

/// What a command does that a shell runs.
pub fn effects(command: &str, surroundings: Surroundings<'_>) -> Effects {
    told(Shell::new(surroundings).text(command))
}

/// What a program does that is started without a shell: words are as they stand.
pub fn effects_of_words<T: AsRef<str>>(words: &[T], surroundings: Surroundings<'_>) -> Effects {
    let word = |text: &T| Word { text: text.as_ref().to_owned(), quoted: true, ..Word::default() };
    let simple = Simple { words: words.iter().map(word).collect(), redirects: Vec::new() };
    told(Shell::new(surroundings).simple(&simple, Stream::Nothing).map(|(step, _)| step))
}

/// Returns the programs that a command cannot do without, whatever they do, as far as its words say: `a && b` needs both,
/// `a || b` perhaps none.
pub fn needed_programs(command: &str) -> Vec<String> {
    let mut found = Vec::new();
    if let Ok(node) = tokens(command).and_then(|tokens| parse(&tokens)) {
        add_programs(&node, &mut found);
    }
    found
}

fn add_programs(node: &Node, into: &mut Vec<String>) {
    match node {
        Node::Simple(simple) => {
            let mut words = without_assignments(&simple.words);
            while let Some((first, rest)) = words.split_first() {
                if first.expands.is_some() {
                    return;
                }
                into.push(first.text.clone());
                // Programs that run the one that comes next, where no option stands between the two.
                let is_wrapper =
                    ["sudo", "env", "nice", "nohup", "exec", "time"].contains(&first.text.as_str());
                if !is_wrapper || rest.first().is_none_or(|word| word.text.starts_with('-')) {
                    return;
                }
                words = without_assignments(rest);
            }
        }
        Node::Pipe(nodes) | Node::Sequence(nodes) => {
            if let Some(last) = nodes.last() {
                add_programs(last, into);
            }
        }
        Node::And(one, other) => {
            add_programs(one, into);
            add_programs(other, into);
        }
        Node::Group(inner) => add_programs(inner, into),
        Node::Or(..) | Node::Not(_) => {}
    }
}

/// What a check asks (`unless`, `onlyif`): whether it ends well, if it changes nothing.
pub fn condition(command: &str, surroundings: Surroundings<'_>) -> Result<Condition, NotUnderstood> {
    let step = Shell::new(surroundings).text(command)?;
    asked(&step)
        .ok_or_else(|| NotUnderstood::new(command.trim(), "a check that changes the machine is not followed"))
}

fn told(found: Result<Step, NotUnderstood>) -> Effects {
    match found {
        Ok(Step::Sequence(steps)) => Effects { steps, understood: true, reason: None },
        Ok(step) => Effects { steps: vec![step], understood: true, reason: None },
        Err(reason) => Effects { steps: Vec::new(), understood: false, reason: Some(reason) },
    }
}

/// Whether a step ends well; none if it changes something.
pub(crate) fn asked(step: &Step) -> Option<Condition> {
    Some(match step {
        Step::Guard(condition) => condition.clone(),
        Step::Nothing => Condition::Constant(true),
        Step::Read(path) => Condition::Exists(path.clone()),
        // A check that cannot be run is another matter.
        Step::Program(_) => Condition::Constant(true),
        Step::And(steps) | Step::Each(steps) => {
            Condition::All(steps.iter().map(asked).collect::<Option<_>>()?)
        }
        Step::Or(steps) => Condition::Any(steps.iter().map(asked).collect::<Option<_>>()?),
        // Only the last one decides, and those before it must change nothing.
        Step::Sequence(steps) => steps.iter().map(asked).collect::<Option<Vec<_>>>()?.pop()?,
        _ => return None,
    })
}

/// What one command hands to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stream {
    Nothing,
    /// This text; what it is may not be known.
    Text(Option<String>),
    /// The content of this file; nothing if it is missing.
    File(String),
    /// What only the contents of these files decide.
    Made(Vec<String>),
    /// Something else each time.
    Volatile,
}

impl Stream {
    /// The files that decide what it is, and whether it is another one each time.
    pub(crate) fn sources(&self) -> (Vec<String>, bool) {
        match self {
            Self::File(path) => (vec![path.clone()], false),
            Self::Made(paths) => (paths.clone(), false),
            Self::Volatile => (Vec::new(), true),
            Self::Nothing | Self::Text(_) => (Vec::new(), false),
        }
    }
}

pub(crate) struct Shell<'a> {
    /// The working directory, where it is known.
    pub(crate) folder: Option<String>,
    variables: Vec<(String, String)>,
    script: Option<&'a Scripts<'a>>,
    programs: Option<&'a Programs<'a>>,
    /// `set -e`: the first failure ends it.
    pub(crate) ends_at_failure: bool,
    depth: usize,
}

/// Shells within shells.
const MAX_DEPTH: usize = 8;

impl<'a> Shell<'a> {
    fn new(surroundings: Surroundings<'a>) -> Self {
        Self {
            folder: surroundings.folder.map(str::to_owned),
            variables: surroundings.variables.to_vec(),
            script: surroundings.script,
            programs: surroundings.programs,
            ends_at_failure: false,
            depth: 0,
        }
    }

    /// A word with the values of the variables that are known.
    fn resolve(&self, word: &Word) -> Word {
        let value = |name: &str| {
            self.variables.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        word.resolve(&value)
    }

    /// Stops at a value that other commands read from files: what is made of it is not followed.
    pub(crate) fn is_settled(&mut self, word: &Word) -> Result<(), NotUnderstood> {
        for command in &word.commands {
            if !self.printed_by(command)?.sources().0.is_empty() {
                return Err(NotUnderstood::new(&word.text, "what another command prints is not known"));
            }
        }
        Ok(())
    }

    /// Remembers `NAME=VALUE`; a value that is not known makes the variable unknown.
    pub(crate) fn assign(&mut self, word: &Word) {
        if let Some((name, value)) = word.text.split_once('=') {
            self.variables.retain(|(known, _)| known != name);
            if word.expands.is_none() {
                self.variables.push((name.to_owned(), value.to_owned()));
            }
        }
    }

    /// A variable that was perhaps assigned is not known.
    fn forget_what_differs_from(&mut self, known: &[(String, String)]) {
        self.variables.retain(|one| known.contains(one));
    }

    pub(crate) fn knows_script(&self, path: &str) -> bool {
        self.script.is_some_and(|script| script(path).is_some())
    }

    /// Returns the path of the script that is run as this program, where its text is known: at its path, or at the first of the
    /// places where a name is looked for that has one.
    pub(crate) fn script_of(&self, program: &str) -> Option<String> {
        if program.starts_with('/') {
            return self.knows_script(program).then(|| program.to_owned());
        }
        let places = self.programs.filter(|_| !program.contains('/')).map(|programs| programs(program));
        places.into_iter().flatten().find(|place| self.knows_script(place))
    }

    /// A script that is known, as what it does. Its own arguments are not known.
    pub(crate) fn script(&mut self, path: &str) -> Result<Step, NotUnderstood> {
        let text = self.script.and_then(|script| script(path));
        let text = text.ok_or_else(|| NotUnderstood::new(path, "what is in the script is not known"))?;
        let first = text.lines().next().unwrap_or_default();
        if first.starts_with("#!") && !first.trim_end().trim_end_matches(" -e").ends_with("sh") {
            return Err(NotUnderstood::new(path, "the script is none of a shell"));
        }
        let before = (self.folder.clone(), self.variables.clone(), self.ends_at_failure);
        self.ends_at_failure = first.trim_end().ends_with(" -e");
        let step = self.text(&text);
        (self.folder, self.variables, self.ends_at_failure) = before;
        Ok(Step::And(vec![Step::Read(path.to_owned()), step?]))
    }

    /// A command as text, also that of `sh -c`.
    pub(crate) fn text(&mut self, command: &str) -> Result<Step, NotUnderstood> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(NotUnderstood::new("sh", "shells are nested too deeply"));
        }
        let tokens = tokens(command)?;
        if tokens.is_empty() {
            return Err(NotUnderstood::new("", "there is no command"));
        }
        let step = self.node(&parse(&tokens)?)?;
        self.depth -= 1;
        Ok(step)
    }

    /// What a command prints whose output is a word of another one. It must change nothing.
    pub(crate) fn printed_by(&mut self, command: &str) -> Result<Stream, NotUnderstood> {
        let unknown = || NotUnderstood::new(command, "what another command prints is not known");
        let parsed = parse(&tokens(command)?)?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(unknown());
        }
        let parts = match parsed {
            Node::Simple(simple) => vec![simple],
            Node::Pipe(parts) => {
                let simple = parts.into_iter().map(|part| match part {
                    Node::Simple(simple) => Ok(simple),
                    _ => Err(unknown()),
                });
                simple.collect::<Result<_, _>>()?
            }
            _ => return Err(unknown()),
        };
        let mut stream = Stream::Nothing;
        for part in &parts {
            let is_silent =
                |redirect: &Redirect| redirect.target.text == "/dev/null" || redirect.kind == ">&";
            if !part.redirects.iter().all(is_silent) {
                return Err(unknown());
            }
            let (step, next) = self.simple(part, stream)?;
            if asked(&step).is_none() {
                return Err(unknown());
            }
            stream = next;
        }
        self.depth -= 1;
        if stream == Stream::Nothing { Err(unknown()) } else { Ok(stream) }
    }

    fn node(&mut self, node: &Node) -> Result<Step, NotUnderstood> {
        Ok(match node {
            Node::Simple(simple) => self.simple(simple, Stream::Nothing)?.0,
            Node::Pipe(parts) => self.pipe(parts)?,
            Node::And(left, right) => {
                let mut steps = match self.node(left)? {
                    Step::And(steps) => steps,
                    step => vec![step],
                };
                steps.push(self.node(right)?);
                Step::And(steps)
            }
            Node::Or(left, right) => {
                let before = self.folder.clone();
                let mut steps = match self.node(left)? {
                    Step::Or(steps) => steps,
                    step => vec![step],
                };
                if self.folder != before {
                    // The right side runs only if the left one failed, perhaps before it changed the folder.
                    self.folder = None;
                }
                let known = self.variables.clone();
                steps.push(self.node(right)?);
                if self.folder != before {
                    self.folder = None;
                }
                self.forget_what_differs_from(&known);
                Step::Or(steps)
            }
            Node::Sequence(nodes) => {
                let mut steps = Vec::new();
                let mut strict: Vec<Step> = Vec::new();
                for node in nodes {
                    let is_strict = self.ends_at_failure;
                    let before = self.folder.clone();
                    let known = self.variables.clone();
                    let step = self.node(node)?;
                    if is_strict { &mut strict } else { &mut steps }.push(step);
                    if !matches!(node, Node::Simple(_)) {
                        self.forget_what_differs_from(&known);
                    }
                    // A `cd` that may have failed, or that was not reached, leaves the folder in doubt.
                    if self.folder != before && !is_strict {
                        self.folder = None;
                    }
                }
                if !strict.is_empty() {
                    steps.push(Step::And(strict));
                }
                Step::Sequence(steps)
            }
            Node::Not(inner) => {
                let step = self.node(inner)?;
                let condition = asked(&step)
                    .ok_or_else(|| NotUnderstood::new("!", "what it turns round changes the machine"))?;
                Step::Guard(Condition::Not(Box::new(condition)))
            }
            Node::Group(inner) => {
                let before = (self.folder.clone(), self.variables.clone());
                let step = self.node(inner)?;
                (self.folder, self.variables) = before;
                step
            }
        })
    }

    fn pipe(&mut self, parts: &[Node]) -> Result<Step, NotUnderstood> {
        let before = self.folder.clone();
        let mut stream = Stream::Nothing;
        let mut steps = Vec::new();
        for part in parts {
            let Node::Simple(simple) = part else {
                return Err(NotUnderstood::new("|", "what a group prints is not known"));
            };
            let (step, next) = self.simple(simple, stream)?;
            stream = next;
            steps.push(step);
        }
        self.folder = before;
        // The last part decides whether the pipe ends well: `cat FILE | grep -q x` is what grep says.
        if let Some(last) = steps.pop() {
            steps.retain(|step| asked(step).is_none() && !matches!(step, Step::ReadMatching(_)));
            if last != Step::Nothing || steps.is_empty() {
                steps.push(last);
            } else {
                steps.push(Step::Guard(Condition::Constant(true)));
            }
        }
        Ok(match steps.len() {
            0 => Step::Nothing,
            1 => steps.remove(0),
            _ => Step::Sequence(steps),
        })
    }

    pub(crate) fn simple(&mut self, simple: &Simple, input: Stream) -> Result<(Step, Stream), NotUnderstood> {
        let redirect = |one: &Redirect| Redirect { target: self.resolve(&one.target), ..one.clone() };
        let simple = &Simple {
            words: simple.words.iter().map(|word| self.resolve(word)).collect(),
            redirects: simple.redirects.iter().map(redirect).collect(),
        };
        let mut input = input;
        let mut before = Vec::new();
        let mut outputs: Vec<(&Redirect, bool)> = Vec::new();
        for redirect in &simple.redirects {
            match (redirect.kind, redirect.from) {
                ("<", None | Some(0)) => {
                    if redirect.target.text == "/dev/null" {
                        continue;
                    }
                    let path = self.path(&redirect.target)?;
                    before.push(Step::Read(path.clone()));
                    input = Stream::File(path);
                }
                // `2>&1` only joins two streams.
                (">&", _)
                    if redirect.target.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => {}
                (">" | ">>" | "&>" | ">&", from) => {
                    let quiet = ["/dev/null", "/dev/stdout", "/dev/stderr"];
                    if redirect.target.expands.is_none() && quiet.contains(&redirect.target.text.as_str()) {
                        // What is thrown away is no input of the next command.
                        outputs.push((redirect, true));
                        continue;
                    }
                    if !matches!(from, None | Some(1 | 2)) {
                        return Err(NotUnderstood::new(
                            redirect.kind,
                            "only input, output and errors are followed",
                        ));
                    }
                    outputs.push((redirect, false));
                }
                _ => return Err(NotUnderstood::new(redirect.kind, "this redirection is not followed")),
            }
        }
        let words = without_assignments(&simple.words);
        for word in &simple.words[..simple.words.len() - words.len()] {
            self.is_settled(word)?;
        }
        let (step, mut stream) = if words.is_empty() {
            for word in &simple.words {
                self.assign(word);
            }
            (Step::Nothing, Stream::Text(Some(String::new())))
        } else {
            self.program(words, input)?
        };
        let mut steps = before;
        let mut copies = Vec::new();
        for (redirect, quiet) in outputs {
            let errors = redirect.from == Some(2);
            let written = std::mem::replace(&mut stream, Stream::Nothing);
            if quiet {
                if errors {
                    stream = written;
                }
                continue;
            }
            let content = match (&written, errors) {
                (_, true) => None,
                (Stream::Text(text), _) => text.clone(),
                (Stream::Nothing, _)
                    if matches!(step, Step::Guard(_) | Step::Nothing) && words_are_silent(words) =>
                {
                    Some(String::new())
                }
                _ => None,
            };
            let path = self.path(&redirect.target)?;
            let append = redirect.kind == ">>";
            match &written {
                Stream::Made(_) | Stream::Volatile if !errors => {
                    let (from, volatile) = written.sources();
                    steps.push(Step::Make { path, from, append, volatile });
                }
                Stream::File(from) if !errors && append => {
                    steps.push(Step::Make { path, from: vec![from.clone()], append, volatile: false });
                }
                // The shell empties the file, then the program fills it.
                Stream::File(from) if !errors && !append => {
                    steps.push(Step::Write { path: path.clone(), content: Some(String::new()), append });
                    copies.push(Step::Fill { from: from.clone(), to: path });
                }
                _ => steps.push(Step::Write { path, content, append }),
            }
            if errors {
                stream = written;
            }
        }
        // The shell opens the files first, so that what it writes is there even if the program fails.
        if steps.is_empty() {
            return Ok((step, stream));
        }
        if step != Step::Nothing {
            steps.push(step);
        }
        steps.extend(copies);
        Ok((if steps.len() == 1 { steps.remove(0) } else { Step::And(steps) }, stream))
    }

    fn program(&mut self, words: &[Word], input: Stream) -> Result<(Step, Stream), NotUnderstood> {
        let (first, rest) =
            words.split_first().ok_or_else(|| NotUnderstood::new("", "there is no command"))?;
        let program = literal(first)?;
        let places = self.programs.map(|places| places(&program)).unwrap_or_default();
        let (step, stream) = programs::run(self, &program, rest, input)?;
        if places.is_empty() || programs::is_word_of_shells(&program) {
            return Ok((step, stream));
        }
        Ok((Step::And(vec![Step::Program(places), step]), stream))
    }

    /// A command that is an argument of another: `sudo COMMAND`.
    pub(crate) fn inner(&mut self, words: &[Word], input: Stream) -> Result<(Step, Stream), NotUnderstood> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(NotUnderstood::new("sudo", "commands are nested too deeply"));
        }
        let done = self.program(without_assignments(words), input)?;
        self.depth -= 1;
        Ok(done)
    }

    /// A pattern as one of absolute paths; a word without patterns as its path.
    pub(crate) fn pattern(&self, word: &Word) -> Result<String, NotUnderstood> {
        let is_pattern = word.expands == Some(PATTERN) && !word.text.contains(['{', '[']);
        self.path(&Word { expands: word.expands.filter(|_| !is_pattern), ..word.clone() })
    }

    /// A word as an absolute path.
    pub(crate) fn path(&self, word: &Word) -> Result<String, NotUnderstood> {
        let text = literal(word)?;
        let whole = if text.starts_with('/') {
            text.clone()
        } else {
            let folder = self.folder.as_deref().ok_or_else(|| {
                NotUnderstood::new(&text, "it is relative, and no working directory is given")
            })?;
            format!("{folder}/{text}")
        };
        let mut parts = Vec::new();
        for part in whole.split('/') {
            match part {
                "" | "." => {}
                ".." => return Err(NotUnderstood::new(&text, "where `..` leads depends on links")),
                _ => parts.push(part),
            }
        }
        Ok(format!("/{}", parts.join("/")))
    }
}

/// A word that means what it looks like.
pub(crate) fn literal(word: &Word) -> Result<String, NotUnderstood> {
    match word.expands {
        Some(why) => Err(NotUnderstood::new(&word.text, why)),
        None => Ok(word.text.clone()),
    }
}

fn without_assignments(words: &[Word]) -> &[Word] {
    let is_assignment = |word: &Word| {
        word.text.split_once('=').is_some_and(|(name, _)| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    };
    let count = words.iter().take_while(|word| is_assignment(word)).count();
    &words[count..]
}

fn words_are_silent(words: &[Word]) -> bool {
    let name = words.first().map(|word| word.text.rsplit('/').next().unwrap_or_default());
    matches!(name, Some("true" | ":" | "false" | "test" | "["))
}
