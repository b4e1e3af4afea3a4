//! Regular expressions with Ruby's meaning: `^` and `$` are ends of lines, `\h` is a hexadecimal digit, `(?m)` lets a dot
//! match a line end, and classes such as `\w` know ASCII only.

mod translate;

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use setpoint_source::Limit;

use crate::error::ValueError;
use translate::translate;

/// Steps of backtracking before a match is given up.
const BACKTRACK_LIMIT: Limit = Limit::new(2_000_000);
/// Expressions that are kept compiled.
const CACHE_LIMIT: usize = 10_000;
/// Matches that [`Regex::find_all`] collects.
const MATCH_LIMIT: Limit = Limit::new(1_000_000);

/// A regular expression; compiled on first use, once per process.
#[derive(Clone, Debug)]
pub struct Regex {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    source: Arc<str>,
    compiled: OnceLock<Entry>,
}

#[derive(Debug)]
struct Compiled {
    regex: fancy_regex::Regex,
    /// For texts that end with a line end, after which no line starts; absent if it makes no difference.
    exact: Option<fancy_regex::Regex>,
    names: Arc<Vec<(Arc<str>, usize)>>,
}

/// What a source compiles to.
type Entry = Arc<Result<Compiled, ValueError>>;

static CACHE: LazyLock<Mutex<FxHashMap<Arc<str>, Entry>>> = LazyLock::new(Mutex::default);

/// Where an expression matched, and its groups; group 0 is the whole match.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    pub text: Arc<str>,
    pub groups: Vec<Option<Range<usize>>>,
    pub names: Arc<Vec<(Arc<str>, usize)>>,
}

impl Match {
    pub fn group(&self, index: usize) -> Option<&str> {
        self.text.get(self.groups.get(index)?.clone()?)
    }

    pub fn named(&self, name: &str) -> Option<&str> {
        let mut groups = self.names.iter().filter(|(known, _)| **known == *name);
        groups.find_map(|(_, index)| self.group(*index))
    }

    pub fn start(&self) -> usize {
        self.groups.first().and_then(Clone::clone).map_or(0, |range| range.start)
    }

    pub fn end(&self) -> usize {
        self.groups.first().and_then(Clone::clone).map_or(0, |range| range.end)
    }
}

impl Regex {
    /// The expression of a source, checked.
    pub fn new(source: impl Into<Arc<str>>) -> Result<Self, ValueError> {
        let regex = Self::unchecked(source);
        regex.compiled()?;
        Ok(regex)
    }

    /// The expression of a source that was checked before, or whose error may come later.
    pub fn unchecked(source: impl Into<Arc<str>>) -> Self {
        Self { inner: Arc::new(Inner { source: source.into(), compiled: OnceLock::new() }) }
    }

    pub fn source(&self) -> &str {
        &self.inner.source
    }

    /// `/source/`, with slashes escaped.
    pub fn with_delimiters(&self) -> String {
        let mut text = String::with_capacity(self.source().len() + 2);
        text.push('/');
        let mut letters = self.source().chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => {
                    text.push('\\');
                    text.extend(letters.next());
                }
                '/' => text.push_str("\\/"),
                '\n' => text.push_str("\\n"),
                letter => text.push(letter),
            }
        }
        text.push('/');
        text
    }

    pub fn is_match(&self, text: &str) -> Result<bool, ValueError> {
        let compiled = self.compiled()?;
        compiled.for_text(text).is_match(text).map_err(|error| self.too_costly(&error))
    }

    /// The first match at or after a byte offset.
    pub fn find(&self, text: &str) -> Result<Option<Match>, ValueError> {
        self.find_in(&Arc::from(text), 0)
    }

    /// The first match from a place on, in a text that is shared: many matches of one text do not copy it for each.
    pub fn find_in(&self, text: &Arc<str>, start: usize) -> Result<Option<Match>, ValueError> {
        if start > text.len() {
            return Ok(None);
        }
        let compiled = self.compiled()?;
        let found = compiled
            .for_text(text)
            .captures_from_pos(&**text, start)
            .map_err(|error| self.too_costly(&error))?;
        Ok(found.map(|captures| Match {
            text: Arc::clone(text),
            groups: (0..captures.len())
                .map(|index| captures.get(index).map(|group| group.start()..group.end()))
                .collect(),
            names: Arc::clone(&compiled.names),
        }))
    }

    /// All matches that do not overlap, as Ruby's `scan` and `gsub` find them.
    pub fn find_all(&self, text: &str) -> Result<Vec<Match>, ValueError> {
        let text: Arc<str> = Arc::from(text);
        let mut matches = Vec::new();
        let mut start = 0;
        while let Some(found) = self.find_in(&text, start)? {
            let empty = found.start() == found.end();
            // After an empty match the search goes on one character further.
            start = if empty {
                found.end() + text[found.end()..].chars().next().map_or(1, char::len_utf8)
            } else {
                found.end()
            };
            matches.push(found);
            if matches.len() > MATCH_LIMIT {
                let pattern = self.with_delimiters();
                let message = format!("Setpoint collects no more than {MATCH_LIMIT} matches of {pattern}");
                return Err(ValueError::limit(message));
            }
            if start > text.len() {
                break;
            }
        }
        Ok(matches)
    }

    /// The source that matches a text only, as Ruby's `Regexp.escape` writes it.
    pub fn escape(text: &str) -> String {
        let mut escaped = String::with_capacity(text.len());
        for letter in text.chars() {
            match letter {
                '\n' => escaped.push_str("\\n"),
                '\t' => escaped.push_str("\\t"),
                '\r' => escaped.push_str("\\r"),
                '\x0C' => escaped.push_str("\\f"),
                '\x0B' => escaped.push_str("\\v"),
                '.' | '*' | '?' | '+' | '^' | '$' | '|' | '\\' | '(' | ')' | '[' | ']' | '{' | '}' | '-'
                | '#' | ' ' => {
                    escaped.push('\\');
                    escaped.push(letter);
                }
                letter => escaped.push(letter),
            }
        }
        escaped
    }

    fn compiled(&self) -> Result<&Compiled, ValueError> {
        let entry = self.inner.compiled.get_or_init(|| lookup(&self.inner.source));
        entry.as_ref().as_ref().map_err(Clone::clone)
    }

    fn too_costly(&self, error: &fancy_regex::Error) -> ValueError {
        ValueError::limit(format!("The match of {} was given up: {error}", self.with_delimiters()))
    }
}

impl Compiled {
    fn for_text(&self, text: &str) -> &fancy_regex::Regex {
        match &self.exact {
            Some(exact) if text.ends_with('\n') => exact,
            _ => &self.regex,
        }
    }
}

/// Whether a pattern is refused for its size or for a construct that Ruby has and the engine has not.
fn is_limit(error: &fancy_regex::Error) -> bool {
    use fancy_regex::{CompileError, Error};
    let Error::CompileError(error) = error else { return false };
    match &**error {
        CompileError::InnerError(inner) => inner.size_limit().is_some(),
        CompileError::PatternTooComplex
        | CompileError::FeatureNotYetSupported(_)
        | CompileError::DfaBuildError(..)
        | CompileError::UnexpectedGeneralError(_) => true,
        _ => false,
    }
}

fn lookup(source: &Arc<str>) -> Entry {
    let known = CACHE.lock().unwrap_or_else(PoisonError::into_inner).get(source).cloned();
    if let Some(known) = known {
        return known;
    }
    let compiled = Arc::new(compile(source));
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if cache.len() >= CACHE_LIMIT {
        cache.clear();
    }
    cache.insert(Arc::clone(source), Arc::clone(&compiled));
    compiled
}

fn compile(source: &str) -> Result<Compiled, ValueError> {
    let error =
        |reason: &str| ValueError::new(format!("{reason}: {}", Regex::unchecked(source).with_delimiters()));
    let translated = translate(source).map_err(|reason| error(&reason))?;
    let build = |pattern: &str| {
        fancy_regex::RegexBuilder::new(pattern).backtrack_limit(BACKTRACK_LIMIT.get()).build().map_err(
            |reason| {
                let refused = error(&reason.to_string().replace('\n', " "));
                ValueError { is_limit: is_limit(&reason), ..refused }
            },
        )
    };
    let regex = build(&translated.pattern)?;
    let exact = translated.exact.as_deref().map(build).transpose()?;
    let names = regex
        .capture_names()
        .enumerate()
        .filter_map(|(index, name)| name.map(|name| (Arc::from(name), index)))
        .collect();
    Ok(Compiled { regex, exact, names: Arc::new(names) })
}

impl PartialEq for Regex {
    fn eq(&self, other: &Self) -> bool {
        self.inner.source == other.inner.source
    }
}

impl Eq for Regex {}

impl Hash for Regex {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.source.hash(state);
    }
}
