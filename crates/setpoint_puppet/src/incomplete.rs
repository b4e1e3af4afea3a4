//! What nobody told of the machine or the server and is taken for granted: that a machine has no facts beyond those of its
//! platform, that its certificate says no more, and that the server is as Puppet sets it up. The catalog says that it rests on
//! what of this was read.

use std::sync::Arc;

use setpoint_puppet_functions::{Call, Host};
use setpoint_puppet_values::{Data, Key, Value};
use setpoint_source::{Span, Symbol};

use crate::compiler::Compiler;
use crate::scope::group_number;
use crate::variables::{is_built_in, split_qualified};
use crate::{CompileGap, CompileGapKind};

/// What is told of a machine is as it was told.
const NOTHING_MADE_UP: (&str, &[&str]) = ("", &[]);

/// A hash that is not known in full.
#[derive(Debug)]
pub(crate) struct Incomplete {
    hash: Value,
    /// The words that say that it has not an entry.
    lacks: &'static str,
    /// Where the hash stands in the facts, as `mountpoints.`, to name an entry in full.
    path: String,
    /// The words that say that one of its entries is as it was made up, and which entries were.
    has: (&'static str, &'static [&'static str]),
}

impl Compiler<'_> {
    /// Remembers which of the variables of the node nobody has told in full.
    pub(crate) fn note_incomplete(&mut self, facts: &Value, trusted: &Value, server: &Value) {
        if self.options.facts_are_partial {
            self.note_incomplete_facts(facts, String::new());
        }
        if self.options.trusted.is_none()
            && let Data::Hash(parts) = &trusted.data
        {
            let lacking = [
                ("extensions", "the certificate of the machine has no extension"),
                ("external", "the machine has no external trusted fact"),
            ];
            for (name, lacks) in lacking {
                if let Some(hash) = parts.get(&Key::from(name)) {
                    let (hash, path) = (hash.clone(), String::new());
                    self.incomplete.push(Incomplete { hash, lacks, path, has: NOTHING_MADE_UP });
                }
            }
            self.incomplete.push(Incomplete {
                hash: trusted.clone(),
                lacks: "the machine has no trusted fact",
                path: String::new(),
                has: ("the machine has the made-up value of its trusted fact", &["authenticated"]),
            });
        }
        if self.options.server_facts.is_none() {
            self.incomplete.push(Incomplete {
                hash: server.clone(),
                lacks: "the server has no fact",
                path: String::new(),
                has: ("the server has the made-up value of its fact", &["servername", "serverip"]),
            });
        }
    }

    /// Remembers facts and the hashes in them: another machine of the platform has further disks and interfaces, too.
    fn note_incomplete_facts(&mut self, facts: &Value, path: String) {
        let Data::Hash(parts) = &facts.data else { return };
        for (name, part) in parts.iter() {
            if let Some(name) = name.as_str() {
                self.note_incomplete_facts(part, format!("{path}{name}."));
            }
        }
        let lacks = "the machine has no fact";
        self.incomplete.push(Incomplete { hash: facts.clone(), lacks, path, has: NOTHING_MADE_UP });
    }

    /// Returns what is known of a hash that the machine may have more of.
    pub(crate) fn find_incomplete(&self, hash: &Value) -> Option<&Incomplete> {
        matches!(hash.data, Data::Hash(_)).then_some(())?;
        self.incomplete.iter().find(|one| one.hash.is_same_collection(hash))
    }

    /// Notes that a key of a hash was read, if the machine may have another value there than the hash. The result says so. Returns
    /// the words if the hash lacks the key.
    pub(crate) fn note_key_read(&mut self, hash: &Value, key: &str, span: Option<Span>) -> Option<Arc<str>> {
        let known = self.find_incomplete(hash)?;
        let Data::Hash(entries) = &hash.data else { return None };
        let (lacks, has, path) = (known.lacks, known.has, &known.path);
        if entries.contains_key(&Key::from(key)) {
            let (words, made_up) = has;
            if made_up.contains(&key) {
                self.note_absence(format!("{words} `{key}`"), span);
            }
            return None;
        }
        let words = format!("{lacks} `{path}{key}`");
        self.note_absence(words.clone(), span);
        Some(words.into())
    }

    /// Notes that all of a hash was read, if the machine may have more than it.
    pub(crate) fn note_whole_read(&mut self, hash: &Value, span: Span) {
        if let Some(Incomplete { lacks, path, .. }) = self.find_incomplete(hash) {
            let within = path.strip_suffix('.').map(|path| format!(" in `{path}`")).unwrap_or_default();
            self.note_absence(format!("{lacks}{within} beyond those that are known"), Some(span));
        }
    }

    /// Notes that a setting of the server was read which is Puppet's own only if nobody configured it.
    pub(crate) fn note_setting_read(&mut self, name: Symbol, span: Option<Span>) {
        // These say what was compiled, for whom and from what.
        if !["certname", "environment", "modulepath", "strict", "strict_variables"].contains(&name.as_str()) {
            self.note_absence(format!("the server's setting `{name}` is as Puppet has it"), span);
        }
    }

    /// Whether a fact of the user's own, or a classifier, may set a variable at top scope.
    pub(crate) fn may_be_set(&self, name: &str) -> bool {
        self.options.known_names.as_ref().is_some_and(|known| !known.contains(name))
    }

    /// Notes that a variable at top scope was read that nothing sets. The result says so.
    pub(crate) fn note_unset_variable(&mut self, name: &str, span: Option<Span>) -> Arc<str> {
        let words = format!("neither a fact nor a classifier sets `{name}`");
        self.note_absence(words.clone(), span);
        words.into()
    }

    fn note_absence(&mut self, words: String, span: Option<Span>) {
        let kind = CompileGapKind::AbsentFact(words);
        // The first place that reads it stands for all.
        if !self.gaps.iter().any(|gap| gap.kind == kind) {
            self.gaps.push(CompileGap { kind, span });
        }
    }

    /// Notes that a variable which was asked for is not set, if it is one that a classifier or a fact may set at top scope.
    pub(crate) fn note_if_unset(&mut self, name: Symbol) {
        let (class, leaf) = split_qualified(name);
        let is_of_scope = group_number(leaf).is_some() || is_built_in(leaf);
        if class.is_none() && !is_of_scope && self.may_be_set(&leaf) {
            let _ = self.note_unset_variable(&leaf, None);
        }
    }

    /// Whether something that the machine may have was taken to be missing.
    pub(crate) fn lacks_facts(&self) -> bool {
        self.gaps.iter().any(|gap| matches!(gap.kind, CompileGapKind::AbsentFact(_)))
    }

    /// Notes what a function reads of such hashes: the keys of a path, or all of the hash.
    pub(crate) fn note_call_read(&mut self, call: &Call<'_>) {
        if matches!(call.name.as_str(), "get" | "getvar" | "fact" | "dig" | "has_key") {
            self.note_keys_read(call);
        } else {
            for argument in &call.arguments {
                self.note_whole_read(argument, call.span);
            }
        }
    }

    fn note_keys_read(&mut self, call: &Call<'_>) {
        let mut texts = call.arguments.iter().filter_map(Value::as_str);
        let from = call.arguments.first().filter(|from| from.as_hash().is_some());
        let path: Vec<String> = match call.name.as_str() {
            "dig" | "has_key" => texts.map(str::to_owned).collect(),
            _ => {
                let keys = texts.next().unwrap_or_default().split('.');
                keys.map(|key| key.trim_matches(['\'', '"']).to_owned()).collect()
            }
        };
        let (from, path) = match (from, call.name.as_str(), path.as_slice()) {
            (Some(from), ..) => (Some(from.clone()), path.as_slice()),
            (None, "fact", path) => (Host::variable(self, "facts"), path),
            (None, _, [variable, path @ ..]) => {
                (Host::variable(self, variable.trim_start_matches("::")), path)
            }
            (None, _, []) => return,
        };
        if let Some(from) = from {
            self.note_path_read(from, path, Some(call.span));
        }
    }

    fn note_path_read(&mut self, from: Value, path: &[String], span: Option<Span>) {
        let mut at = from;
        for key in path {
            let _ = self.note_key_read(&at, key, span);
            let Some(next) = at.as_hash().and_then(|entries| entries.get(&Key::from(key.as_str()))) else {
                return;
            };
            at = next.clone();
        }
    }
}
