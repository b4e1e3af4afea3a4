//! What a file says, as plain data. The readers of each part give it its meaning.

use std::path::{Path, PathBuf};

use setpoint_source::Span;

use crate::sentence::Sentence;
use crate::value::{Placed, Table, Value};

/// All of `setpoint.toml`.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The file; empty if there is none.
    pub path: PathBuf,
    pub puppet: Puppet,
    pub cases: Vec<Case>,
    /// The values of functions, templates and Hiera keys that cannot be computed here.
    pub stubs: Table,
    pub execs: Vec<Exec>,
    pub types: Vec<Type>,
    pub invariants: Vec<Invariant>,
    pub policies: Vec<Policy>,
    /// `[rules]`: those that are off unless asked for.
    pub enabled: Vec<Placed<String>>,
}

impl Config {
    /// A path that the file names. Relative paths start where the file is.
    pub fn resolve(&self, path: &str) -> PathBuf {
        self.folder().join(path)
    }

    /// The folder of the file.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    pub fn stub(&self, name: &str) -> Option<&Value> {
        self.stubs.get(name).map(|entry| &entry.value)
    }
}

/// `[[policy]]`: which values may not reach which places.
#[derive(Debug, Clone)]
pub struct Policy {
    pub name: String,
    /// `fact:NAME`, `trusted:NAME`, `hiera:KEY`, `file:PATH` or `secret`; `*` stands for anything.
    pub from: Vec<Placed<String>>,
    /// `File[/etc/*].content`; `*` stands for anything.
    pub to: Vec<Placed<String>>,
    /// Functions that cleanse on the way.
    pub unless: Vec<Placed<String>>,
    pub span: Span,
}

/// `[puppet]`: how manifests are compiled if the command line does not say otherwise.
#[derive(Debug, Clone, Default)]
pub struct Puppet {
    /// `7` or `8`.
    pub version: Option<Placed<u8>>,
    /// Folders of modules.
    pub modulepath: Option<Vec<Placed<String>>>,
    /// The platforms to compile for.
    pub platforms: Vec<Placed<String>>,
    /// Files with facts, one a node; `*`, `?` and `**` stand for names.
    pub facts: Vec<Placed<String>>,
    /// Names of nodes.
    pub nodes: Vec<Placed<String>>,
    /// Classes that are entered where no node has a resource; `*` stands for anything.
    pub roles: Vec<Placed<String>>,
    pub strict_variables: Option<bool>,
    /// The `hiera.yaml` of the global level.
    pub hiera: Option<Placed<String>>,
}

/// `[[case]]`: one thing to compile.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: Placed<String>,
    pub entry: CaseEntry,
    pub platform: Option<Placed<String>>,
    pub node: Option<Placed<String>>,
    /// Facts that are added to those of the platform.
    pub facts: Table,
    /// Trusted facts; `extensions` is what users mostly give.
    pub trusted: Table,
    /// The parameters of the class.
    pub parameters: Table,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CaseEntry {
    /// Puppet code.
    Code(Placed<String>),
    /// A file with Puppet code.
    Manifest(Placed<String>),
    /// A class that is declared with the parameters of the case.
    Class(Placed<String>),
}

/// A text that must be equal, or a regular expression if it begins with `^`.
#[derive(Debug, Clone)]
pub struct Pattern {
    pub text: String,
    pub span: Span,
    pub(crate) regex: Option<fancy_regex::Regex>,
}

impl Pattern {
    pub fn is_regex(&self) -> bool {
        self.regex.is_some()
    }

    /// Whether a text is meant. An expression that needs too many steps matches nothing.
    pub fn matches(&self, text: &str) -> bool {
        match &self.regex {
            Some(regex) => regex.is_match(text).unwrap_or(false),
            None => self.text == text,
        }
    }
}

/// What something does to a machine. Paths may hold `{title}` and `{parameter}` in models of types.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Effects {
    /// Files that exist afterwards; their content is kept if they were there.
    pub creates: Vec<Placed<String>>,
    /// Folders that exist afterwards.
    pub directories: Vec<Placed<String>>,
    /// Files whose content it sets, always to the same.
    pub writes: Vec<Placed<String>>,
    /// Paths whose presence and content decide what it does.
    pub reads: Vec<Placed<String>>,
    /// Paths that are gone afterwards.
    pub removes: Vec<Placed<String>>,
    /// Paths without which it fails.
    pub needs: Vec<Placed<String>>,
    /// Packages that are installed afterwards.
    pub packages: Vec<Placed<String>>,
    /// Packages that are not installed afterwards.
    pub removes_packages: Vec<Placed<String>>,
    /// Packages without which it fails.
    pub needs_packages: Vec<Placed<String>>,
    /// Users that exist afterwards.
    pub users: Vec<Placed<String>>,
    /// Groups that exist afterwards.
    pub groups: Vec<Placed<String>>,
    /// Services that have loaded their configuration afterwards.
    pub restarts: Vec<Placed<String>>,
}

/// `[[exec]]`: what commands do that Setpoint cannot know. One without effects changes nothing that is managed.
#[derive(Debug, Clone)]
pub struct Exec {
    /// Absent: any title.
    pub title: Option<Pattern>,
    /// Absent: any command.
    pub command: Option<Pattern>,
    pub effects: Effects,
    /// Whether a second run changes nothing. `true` unless it says otherwise.
    pub idempotent: bool,
    pub span: Span,
}

impl Exec {
    /// Whether this is about an exec with that title and command.
    pub fn matches(&self, title: &str, command: &str) -> bool {
        self.title.as_ref().is_none_or(|pattern| pattern.matches(title))
            && self.command.as_ref().is_none_or(|pattern| pattern.matches(command))
    }
}

/// `[type.NAME]`: what a resource of a type does.
#[derive(Debug, Clone)]
pub struct Type {
    /// In lower case, as `ini_setting` or `mymodule::thing`.
    pub name: Placed<String>,
    pub effects: Effects,
    /// The content of what it writes, as `{content}`. Without it the content is one that only these parameters decide.
    pub content: Option<Placed<String>>,
    /// A file of which it sets one key, and leaves the rest alone.
    pub edits: Option<Placed<String>>,
    pub key: Option<Placed<String>>,
    pub value: Option<Placed<String>>,
    /// Whether `ensure => absent` removes what the resource would otherwise write. `true` unless it says otherwise.
    pub ensurable: bool,
    pub span: Span,
}

/// `[[invariant]]`: what must hold after every run without failure.
#[derive(Debug, Clone)]
pub struct Invariant {
    /// As the user calls it; what it says, if it has no name.
    pub name: String,
    pub sentence: Sentence,
    /// Only on these nodes; names or `^` expressions. All if empty.
    pub nodes: Vec<Pattern>,
    /// Only on these platforms. All if empty.
    pub platforms: Vec<Placed<String>>,
    pub span: Span,
}

impl Invariant {
    /// Whether it is about a node of this name on this platform.
    pub fn is_about(&self, node: &str, platform: Option<&str>) -> bool {
        let on = |name: &str| self.platforms.iter().any(|wanted| wanted.value == name);
        (self.nodes.is_empty() || self.nodes.iter().any(|pattern| pattern.matches(node)))
            && (self.platforms.is_empty() || platform.is_some_and(on))
    }
}
