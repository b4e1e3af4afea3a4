//! Files: the one that is compiled, and those that it includes.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;
use setpoint_source::{
    Class, Counted, Diagnostic, FileError, FileId, FileSystem, Limit, Range, Rule, Sources, Span, Symbol,
    normal,
};

use super::ast::{Body, Expression};
use super::classpath::{ClassPath, OnPath};
use super::parser::Parser;
use super::{Dialect, lexer};
use crate::library;

/// Includes may not include each other deeper than this: a chain that long is a mistake.
const MAX_INCLUDE_DEPTH: Limit = Limit::new(50);
/// All includes of one specification: files that include two others each, and so on, would never end.
const MAX_INCLUDES: Limit = Limit::new(10_000);
const MAX_INCLUDED_BYTES: Limit = Limit::new(256 * 1024 * 1024);

/// A specification with its includes, and what is wrong with its syntax.
#[derive(Debug)]
pub struct Parsed {
    pub body: Body,
    /// The end of the file; nothing if it could not be read.
    pub end: Option<Span>,
    pub diagnostics: Vec<Diagnostic>,
    /// The file and those that it includes.
    pub files: Counted,
    /// Included files that nobody edits: built in, or in an archive.
    pub foreign: FxHashSet<FileId>,
    /// Which file each `#include` brought; a file that is included twice is here twice.
    pub includes: Vec<(Span, FileId)>,
}

/// How a specification is read: in which dialect, and where its includes are found.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'p> {
    pub dialect: Dialect,
    /// Folders and archives below which every include is looked for. If there are none, an include is relative to the file
    /// that it stands in.
    pub classpath: &'p [PathBuf],
}

impl From<Dialect> for Reading<'_> {
    fn from(dialect: Dialect) -> Self {
        Self { dialect, classpath: &[] }
    }
}

/// Reads and parses a file and all that it includes.
pub fn parse_file<'p>(
    path: &Path,
    files: &dyn FileSystem,
    sources: &Sources,
    reading: impl Into<Reading<'p>>,
) -> Parsed {
    match read_specification(files, path) {
        Ok(text) => parse_text(path, text, files, sources, reading),
        Err(error) => {
            let diagnostic = Diagnostic::new(Rule::SmartfrogInclude, error.to_string());
            let files = Counted { found: 1, read: 0, parsed: 0 };
            Parsed {
                body: Body::default(),
                end: None,
                diagnostics: vec![diagnostic],
                files,
                foreign: FxHashSet::default(),
                includes: Vec::new(),
            }
        }
    }
}

/// Parses a text that stands for a file at `path`.
pub fn parse_text<'p>(
    path: &Path,
    text: impl Into<String>,
    files: &dyn FileSystem,
    sources: &Sources,
    reading: impl Into<Reading<'p>>,
) -> Parsed {
    let reading = reading.into();
    let mut includer = Includer::new(files, sources, ClassPath::new(reading.classpath));
    let (body, end) = includer.file(path, text.into(), reading.dialect, 0);
    let Includer { diagnostics, counted: files, foreign, includes, .. } = includer;
    Parsed { body, end: Some(end), diagnostics, files, foreign, includes }
}

/// Reads a text in the production language or, if it is none, in the core language, in which `PARENT` and `IF` may be names. Returns
/// also in which.
pub fn parse_in_either(
    path: &Path,
    text: &str,
    files: &dyn FileSystem,
    sources: &Sources,
    classpath: &[PathBuf],
) -> (Parsed, Dialect) {
    let read = |dialect| parse_text(path, text, files, sources, Reading { dialect, classpath });
    let is_well_formed =
        |parsed: &Parsed| parsed.diagnostics.iter().all(|finding| finding.rule.class() != Class::Syntax);
    let production = read(Dialect::Production);
    if is_well_formed(&production) {
        return (production, Dialect::Production);
    }
    let core = read(Dialect::Core);
    if is_well_formed(&core) { (core, Dialect::Core) } else { (production, Dialect::Production) }
}

/// Reads a specification. Shipped files have names in Latin-1 in their comments: a byte that is not UTF-8 becomes
/// [`lexer::NOT_UTF8`], which the lexer refuses wherever it stands outside of a comment.
pub fn read_specification(files: &dyn FileSystem, path: &Path) -> Result<String, FileError> {
    files.read(path).map(decode)
}

fn decode(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let mut text = String::with_capacity(error.as_bytes().len());
        for chunk in error.as_bytes().utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|_| lexer::NOT_UTF8));
        }
        text
    })
}

/// Follows `#include`, and counts the names that `--` makes.
pub(super) struct Includer<'f> {
    files: &'f dyn FileSystem,
    sources: &'f Sources,
    classpath: ClassPath<'f>,
    /// The files that are being read, outermost first.
    open: Vec<PathBuf>,
    count: usize,
    bytes: usize,
    next_unique: usize,
    counted: Counted,
    foreign: FxHashSet<FileId>,
    includes: Vec<(Span, FileId)>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'f> Includer<'f> {
    fn new(files: &'f dyn FileSystem, sources: &'f Sources, classpath: ClassPath<'f>) -> Self {
        Self {
            files,
            sources,
            classpath,
            open: Vec::new(),
            count: 0,
            bytes: 0,
            next_unique: FIRST_UNIQUE,
            counted: Counted::default(),
            foreign: FxHashSet::default(),
            includes: Vec::new(),
            diagnostics: Vec::new(),
        }
    }

    /// A fresh name for `--`.
    pub(super) fn unique(&mut self) -> Symbol {
        self.next_unique += 1;
        Symbol::new(&format!("unique{}", self.next_unique - 1))
    }

    /// Operands and elements of vectors take such names too, as in the production compiler.
    pub(super) fn name_operands(&mut self, operands: &mut [Expression]) {
        for operand in operands {
            operand.unique = Some(self.next_unique);
            self.next_unique += 1;
        }
    }

    fn file(&mut self, path: &Path, text: String, dialect: Dialect, depth: usize) -> (Body, Span) {
        self.bytes += text.len();
        let id = self.sources.add(path.display().to_string(), text);
        let file = self.sources.file(id);
        let (tokens, errors) = lexer::tokens(file.text(), dialect);
        self.diagnostics.extend(
            errors
                .into_iter()
                .take(MAX_LEXICAL_ERRORS)
                .map(|error| Diagnostic::new(Rule::SyntaxError, error.message).at(error.range.in_file(id))),
        );
        self.open.push(normal(path));
        let body = Parser::new((file.text(), &tokens), id, dialect, self, depth).specification();
        self.open.pop();
        let is_broken = |finding: &Diagnostic| {
            finding.rule.class() == Class::Syntax && finding.span.is_some_and(|span| span.file == id)
        };
        self.counted.add(true, !self.diagnostics.iter().any(is_broken));
        let length = file.text().len();
        (body, Range::new(length, length).in_file(id))
    }

    /// The statements of an included file; none if it cannot be included, which is then reported.
    pub(super) fn include(
        &mut self,
        name: &str,
        optional: bool,
        span: Span,
        dialect: Dialect,
        depth: usize,
    ) -> Body {
        let fail = |this: &mut Self, rule: Rule, message: String| {
            this.counted.add(false, false);
            this.diagnostics.push(Diagnostic::new(rule, message).at(span));
            Body::default()
        };
        self.count += 1;
        if self.count > MAX_INCLUDES || self.bytes > MAX_INCLUDED_BYTES {
            if self.count == MAX_INCLUDES.get() + 1
                || self.bytes > MAX_INCLUDED_BYTES && self.count <= MAX_INCLUDES
            {
                self.count = MAX_INCLUDES.get() + 1;
                let message = format!("more than {MAX_INCLUDES} files, or 256 MB, are included in all");
                return fail(self, Rule::SmartfrogLimit, message);
            }
            return Body::default();
        }
        let (path, found, is_packed) = self.locate(name);
        let built_in = library::file(name.trim_start_matches('/'));
        let key = normal(&path);
        if let Some(at) = self.open.iter().position(|open| *open == key) {
            let chain: Vec<String> =
                self.open[at..].iter().chain([&key]).map(|path| path.display().to_string()).collect();
            return fail(
                self,
                Rule::SmartfrogInclude,
                format!("the file includes itself: {}", chain.join(" → ")),
            );
        }
        if self.open.len() >= MAX_INCLUDE_DEPTH {
            let message = format!("files include each other more than {MAX_INCLUDE_DEPTH} deep");
            return fail(self, Rule::SmartfrogLimit, message);
        }
        let is_foreign = is_packed || found.is_err();
        let (body, end) = match (found, built_in) {
            (Ok(bytes), _) => self.file(&path, decode(bytes), dialect, depth),
            (Err(error), Some(text)) if error.missing => {
                self.file(Path::new(name), text.to_owned(), Dialect::Production, depth)
            }
            (Err(error), None) if error.missing && optional => return Body::default(),
            (Err(error), _) => return fail(self, Rule::SmartfrogInclude, self.explain(name, &error)),
        };
        self.includes.push((span, end.file));
        if is_foreign {
            self.foreign.insert(end.file);
        }
        body
    }

    /// Returns where an include leads, what is there, and whether it lies in an archive.
    fn locate(&mut self, name: &str) -> (PathBuf, Result<Vec<u8>, FileError>, bool) {
        if self.classpath.is_empty() && name.starts_with('/') && library::file(&name[1..]).is_some() {
            // `/` is the root of the class path, and no folder of this machine.
            return (PathBuf::from(name), Err(missing_file(Path::new(name))), false);
        }
        if self.classpath.is_empty() {
            let folder = self.open.last().and_then(|path| path.parent()).unwrap_or(Path::new(""));
            let path = folder.join(name);
            let found = self.files.read(&path);
            return (path, found, false);
        }
        match self.classpath.find(name, self.files) {
            Ok(Some(OnPath { path, bytes, is_packed })) => (path, Ok(bytes), is_packed),
            Ok(None) => {
                let path = PathBuf::from(name.trim_start_matches('/'));
                let error = missing_file(&path);
                (path, Err(error), false)
            }
            Err(error) => (PathBuf::from(name), Err(error), false),
        }
    }

    /// Says why an include was not read, and what would help.
    fn explain(&self, name: &str, error: &FileError) -> String {
        if !self.classpath.is_empty() && error.missing {
            return format!("no folder or archive of the class path has the file `{name}`");
        }
        let is_shipped = name.starts_with('/') || name.starts_with("org/");
        if self.classpath.is_empty() && is_shipped {
            return format!(
                "`{name}` is not read: `--classpath DIR` says below which folders it lies ({error})"
            );
        }
        error.to_string()
    }
}

fn missing_file(path: &Path) -> FileError {
    FileError { path: path.to_owned(), reason: String::new(), missing: true }
}

const MAX_LEXICAL_ERRORS: usize = 20;

/// The production compiler reads files of its own first, which take the names before this one.
const FIRST_UNIQUE: usize = 16;
