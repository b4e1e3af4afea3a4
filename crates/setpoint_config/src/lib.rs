//! `setpoint.toml`: what users tell Setpoint about their code and their machines.
//!
//! The file is read here, with the place of every setting, so that whoever uses one can point to it. What is wrong with
//! it is a diagnostic; the rest is used. This crate stands on the ground floor: it knows no Puppet, no resource and
//! no platform, only plain values. Who reads a part gives it its meaning.

mod model;
mod read;
mod sentence;
mod value;

use std::path::{Path, PathBuf};

use setpoint_source::{Diagnostic, FileError, FileSystem, Range, Sources, read_text};

pub use model::{Case, CaseEntry, Config, Effects, Exec, Invariant, Pattern, Policy, Puppet, Type};
pub use sentence::{Fact, FileProperty, PathKind, Sentence, SentenceError};
pub use value::{Entry, Placed, Table, Value, ValueKind};

/// The name of the file.
pub const FILE_NAME: &str = "setpoint.toml";

/// The nearest `setpoint.toml` at or above a file or folder.
pub fn find(files: &dyn FileSystem, start: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(start).unwrap_or_else(|_| start.to_owned());
    // The path as the user wrote it reads better in messages; above its first part only the absolute one leads on.
    let folders = start.ancestors().chain(absolute.ancestors());
    let mut paths = folders.map(|folder| folder.join(FILE_NAME)).filter(|path| files.permits(path));
    paths.find(|path| files.has_file(path))
}

/// Reads a file. What is wrong with it is in the diagnostics; what can be used is in the configuration.
pub fn load(
    files: &dyn FileSystem,
    sources: &Sources,
    path: &Path,
) -> Result<(Config, Vec<Diagnostic>), FileError> {
    let text = read_text(files, path)?;
    let file = sources.add(path.to_string_lossy(), text.as_str());
    let (mut config, diagnostics) = read::config(file, &text);
    path.clone_into(&mut config.path);
    Ok((config, diagnostics))
}

/// An invariant that the command line states.
pub fn stated(sources: &Sources, text: &str) -> Result<Invariant, Box<Diagnostic>> {
    let span = Range::new(0, text.len()).in_file(sources.add("--invariant", text));
    let sentence = Sentence::parse(text).map_err(|error| Box::new(read::misread(&error, span, 0)))?;
    let (nodes, platforms) = (Vec::new(), Vec::new());
    Ok(Invariant { name: text.to_owned(), sentence, nodes, platforms, span })
}

#[cfg(test)]
mod tests;
