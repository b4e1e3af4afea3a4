//! Whether a value fits what a definition wants.

use indexmap::IndexMap;
use setpoint_data::{Entry, Node};
use setpoint_source::{Diagnostic, FileId, Rule, Severity, Symbol, nearest};

use crate::grammar::{Edition, describe, is_call, is_flag, is_number, is_text, is_version};
use crate::scalar::Units;
use crate::schema::{Schema, inherit};
use crate::types::{Types, ancestors, full_name};

/// Findings about definitions and values, with the types that they are held against.
pub(crate) struct Checker<'a> {
    pub(crate) types: &'a Types,
    pub(crate) edition: Edition,
    /// An import was not read: what is not known may stand there.
    pub(crate) incomplete: bool,
    pub(crate) found: Vec<Diagnostic>,
}

/// What a data type is in the end.
pub(crate) enum Base {
    Primitive(&'static str),
    Units(Units),
    /// A type with properties of its own.
    Complex,
    /// Nothing defines it.
    Unknown,
    /// What the value is cannot be said by its text.
    Open,
}

const PRIMITIVES: [&str; 13] = [
    "string",
    "integer",
    "float",
    "boolean",
    "timestamp",
    "version",
    "range",
    "list",
    "map",
    "bytes",
    "nil",
    "null",
    "scalar",
];

/// The name of a built-in data type, whatever namespace it is named in.
pub(crate) fn primitive(name: Symbol) -> Option<&'static str> {
    let bare = name.as_str().rsplit(':').next().unwrap_or_default();
    PRIMITIVES.into_iter().find(|known| *known == bare)
}

impl Checker<'_> {
    pub(crate) fn base(&self, kind: Symbol) -> Base {
        let chain = ancestors(&self.types.data, kind);
        let Some(&last) = chain.last() else { return Base::Unknown };
        let bare = last.as_str().rsplit(':').next().unwrap_or_default();
        if let Some(units) = Units::named(bare) {
            return Base::Units(units);
        }
        // A type of that name in the table goes before the built-in one.
        match (self.types.data.contains_key(&last), primitive(last)) {
            (false, Some("scalar")) if chain.len() == 1 => Base::Open,
            (false, Some("scalar")) => Base::Units(Units::of_type(&self.types.data, kind)),
            (false, Some(name)) => Base::Primitive(name),
            (true, _) => Base::Complex,
            (false, None)
                if ["json", "xml", "PortDef"].contains(&bare) || bare.starts_with("tosca.datatypes.") =>
            {
                Base::Open
            }
            (false, None) => Base::Unknown,
        }
    }

    /// Adds a finding that a missing import softens.
    pub(crate) fn report(
        &mut self,
        rule: Rule,
        message: String,
        node: &Node,
        file: FileId,
    ) -> &mut Diagnostic {
        let mut finding =
            Diagnostic::new(rule, message).severity(Severity::Error).at(node.range.in_file(file));
        if self.incomplete && matches!(rule, Rule::UnknownType | Rule::UnknownReference) {
            finding = finding
                .severity(Severity::Note)
                .with_note("An import that could not be followed may define it.");
        }
        self.found.push(finding);
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    fn unfit(&mut self, node: &Node, file: FileId, what: &str, wanted: &str) {
        let message = format!("{what} must be {wanted}, and is {}", describe(node));
        self.report(Rule::InvalidValue, message, node, file);
    }

    /// Holds a value against a definition.
    pub(crate) fn value(&mut self, node: &Node, schema: &Schema, file: FileId, what: &str) {
        let Some(kind) = schema.kind else { return };
        if is_call(node) {
            return;
        }
        // Tools for the Simple Profile take an empty value for one that is left out.
        if node.is_null() && self.edition == Edition::One {
            return;
        }
        let before = self.found.len();
        let base = self.base(kind);
        match &base {
            Base::Unknown | Base::Open => return,
            Base::Primitive(name) => self.primitive(name, node, schema, kind, file, what),
            Base::Units(units) => self.scalar(units, node, file, what),
            Base::Complex => self.complex(node, kind, file, what),
        }
        if self.found.len() > before {
            return;
        }
        let mut clauses: Vec<&Schema> = vec![schema];
        let chain = ancestors(&self.types.data, kind);
        let types = self.types;
        clauses.extend(chain.iter().filter_map(|name| types.data.get(name)).map(|found| &found.schema));
        for clause in clauses {
            let broken = clause
                .constraints
                .iter()
                .chain(&clause.validation)
                .find(|constraint| holds(constraint, node, &base) == Some(false));
            if let Some(broken) = broken {
                let message = format!("{what} is {}, which breaks {}", describe(node), spelled(broken));
                self.report(Rule::InvalidValue, message, node, file);
                return;
            }
        }
    }

    fn scalar(&mut self, units: &Units, node: &Node, file: FileId, what: &str) {
        match units.parse(node) {
            Err(wanted) => self.unfit(node, file, what, &wanted),
            Ok((number, _)) => {
                let Some(kind) = units.number else { return };
                let is_integer = matches!(self.base(kind), Base::Primitive("integer"));
                if is_integer && number.parse::<i128>().is_err() {
                    return self.unfit(node, file, what, "a whole number with a unit");
                }
                let alone = Node {
                    range: node.range,
                    tag: None,
                    kind: setpoint_data::Kind::Scalar {
                        text: number.into(),
                        style: setpoint_data::Style::Plain,
                    },
                };
                let schema = Schema { kind: Some(kind), ..Schema::default() };
                self.value(&alone, &schema, file, what);
            }
        }
    }

    fn primitive(
        &mut self,
        name: &str,
        node: &Node,
        schema: &Schema,
        kind: Symbol,
        file: FileId,
        what: &str,
    ) {
        let is_old = self.edition == Edition::One;
        let text = node.text();
        let wanted = match name {
            "string" if is_text(node) => return,
            "string" => "text",
            "integer" if is_integer(node, is_old) => return,
            "integer" => "a whole number",
            "float" if is_number(node) || is_special_float(node) => return,
            "float" if is_old && text.is_some_and(|text| text.parse::<f64>().is_ok()) => return,
            "float" => "a number",
            "boolean" if !is_old && matches!(node.plain(), Some("true" | "false")) => return,
            "boolean" if is_old && (is_flag(node) || text.is_some_and(is_truth)) => return,
            "boolean" => "true or false",
            "timestamp" if text.is_some_and(|text| is_timestamp(text, is_old)) => return,
            "timestamp" => "a timestamp such as 2025-04-12T23:20:50Z",
            "version" if is_version(node) => return,
            "version" => "a version such as 1.0.2",
            "range" if is_range(node) => return,
            "range" => "a range such as [1, 10]",
            "bytes" if node.tag.is_none() && is_text(node) && text.is_some_and(is_base64) => return,
            "bytes" => "bytes in Base64",
            "nil" | "null" if node.is_null() => return,
            "nil" | "null" => "null",
            "list" if node.is_sequence() => {
                let entry = self.element(schema, kind, |schema| schema.entry.as_deref());
                for (item, schema) in
                    node.items().iter().flat_map(|item| entry.iter().map(move |one| (item, one)))
                {
                    self.value(item, schema, file, &format!("an element of {what}"));
                }
                return;
            }
            "list" => "a list",
            "map" if node.is_mapping() => {
                let key = self.element(schema, kind, |schema| schema.key.as_deref());
                let entry = self.element(schema, kind, |schema| schema.entry.as_deref());
                for Entry { key: name, value } in node.entries() {
                    if let Some(schema) = &key {
                        self.value(name, schema, file, &format!("a key of {what}"));
                    }
                    if let Some(schema) = &entry {
                        let shown = name.text().unwrap_or_default();
                        self.value(value, schema, file, &format!("`{shown}` of {what}"));
                    }
                }
                return;
            }
            "map" => "a mapping",
            _ => return,
        };
        self.unfit(node, file, what, wanted);
    }

    /// The schema of the elements of a list or map: that of the definition, or of the type that it names.
    fn element(
        &self,
        schema: &Schema,
        kind: Symbol,
        part: impl Fn(&Schema) -> Option<&Schema>,
    ) -> Option<Schema> {
        let chain = ancestors(&self.types.data, kind);
        let of_type = || chain.iter().find_map(|name| part(&self.types.data.get(name)?.schema));
        part(schema).or_else(of_type).cloned()
    }

    fn complex(&mut self, node: &Node, kind: Symbol, file: FileId, what: &str) {
        let mut properties: IndexMap<Symbol, Schema> = IndexMap::new();
        for found in ancestors(&self.types.data, kind).iter().filter_map(|name| self.types.data.get(name)) {
            inherit(&mut properties, &found.properties);
        }
        if properties.is_empty() {
            return;
        }
        if !node.is_mapping() {
            return self.unfit(node, file, what, &format!("a mapping with the properties of `{kind}`"));
        }
        self.assignments(node.entries(), &properties, file, what, &format!("a `{kind}`"));
        self.missing(node, &properties, node, file, what);
    }

    /// Holds values against the definitions of their names.
    pub(crate) fn assignments(
        &mut self,
        given: &[Entry],
        definitions: &IndexMap<Symbol, Schema>,
        file: FileId,
        of: &str,
        kind: &str,
    ) {
        for Entry { key, value } in given {
            let Some(name) = key.text() else { continue };
            let Some(schema) = definitions.get(&Symbol::new(name)) else {
                let meant = nearest(name, definitions.keys().map(|name| name.as_str())).map(str::to_owned);
                let message = format!("{of} has `{name}`, which {kind} does not define");
                let finding = self.report(Rule::UnknownReference, message, key, file);
                if let Some(meant) = meant {
                    finding.help(format!("`{meant}` may be meant."));
                }
                continue;
            };
            if let Some(fixed) = &schema.value
                && fixed.text() != value.text()
            {
                let message =
                    format!("`{name}` of {of} cannot be changed: its definition fixes {}", describe(fixed));
                self.report(Rule::InvalidValue, message, value, file);
                continue;
            }
            self.value(value, schema, file, &format!("`{name}` of {of}"));
        }
    }

    /// Reports what has to be given and is not.
    pub(crate) fn missing(
        &mut self,
        given: &Node,
        definitions: &IndexMap<Symbol, Schema>,
        place: &Node,
        file: FileId,
        of: &str,
    ) {
        for (name, schema) in definitions {
            if schema.must_be_given() && schema.kind.is_some() && given.get(name).is_none() {
                let message = format!("{of} has no value for `{name}`, which is required");
                self.report(Rule::InvalidValue, message, place, file);
            }
        }
    }

    /// Reports a type that nothing defines.
    pub(crate) fn known_type(
        &mut self,
        table: &crate::types::Table,
        what: &str,
        kind: Symbol,
        span: setpoint_source::Span,
    ) -> bool {
        let is_known = table.contains_key(&full_name(table, kind));
        if !is_known {
            let meant = nearest(&kind, table.keys().map(|name| name.as_str()));
            self.unknown_type(what, kind, meant, span);
        }
        is_known
    }

    /// Reports a type that nothing defines.
    pub(crate) fn unknown_type(
        &mut self,
        what: &str,
        kind: Symbol,
        meant: Option<&str>,
        span: setpoint_source::Span,
    ) {
        let mut finding =
            Diagnostic::new(Rule::UnknownType, format!("the {what} type `{kind}` is not defined"))
                .severity(Severity::Error)
                .at(span);
        if let Some(meant) = meant {
            finding = finding.with_help(format!("`{meant}` may be meant."));
        }
        if self.incomplete {
            finding = finding
                .severity(Severity::Note)
                .with_note("An import that could not be followed may define it.");
        }
        self.found.push(finding);
    }
}

fn is_integer(node: &Node, is_old: bool) -> bool {
    let parse = |text: &str| {
        let text = text.replace('_', "");
        let digits = text.trim_start_matches(['+', '-']);
        let radix = |prefix: &str, radix: u32| {
            digits.strip_prefix(prefix).is_some_and(|rest| i128::from_str_radix(rest, radix).is_ok())
        };
        digits.parse::<i128>().is_ok() || radix("0x", 16) || radix("0o", 8)
    };
    node.plain().is_some_and(parse) || (is_old && node.text().is_some_and(|text| parse(text.trim())))
}

fn is_special_float(node: &Node) -> bool {
    node.plain().is_some_and(|text| {
        [".inf", "-.inf", "+.inf", ".nan"].iter().any(|word| text.eq_ignore_ascii_case(word))
    })
}

fn is_truth(text: &str) -> bool {
    ["true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn is_base64(text: &str) -> bool {
    let text: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let body = text.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    text.len().is_multiple_of(4)
        && text.len() - body <= 2
        && text.iter().take(body).all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(byte))
}

/// Whether a text is a date, or a date and a time with its zone.
fn is_timestamp(text: &str, is_old: bool) -> bool {
    let bytes = text.as_bytes();
    let digits =
        |from: usize, to: usize| bytes.get(from..to).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    let is_date = digits(0, 4) && bytes.get(4) == Some(&b'-');
    if is_old {
        return is_date;
    }
    let is_date = is_date && digits(5, 7) && bytes.get(7) == Some(&b'-') && digits(8, 10);
    let Some(time) = text.get(10..) else { return false };
    is_date
        && (time.is_empty()
            || (time.starts_with(['T', 't'])
                && (time.ends_with(['Z', 'z'])
                    || time.get(time.len().saturating_sub(6)..).is_some_and(|zone| {
                        zone.starts_with(['+', '-']) && zone.as_bytes().get(3) == Some(&b':')
                    }))))
}

fn is_range(node: &Node) -> bool {
    let number = |node: &Node| node.text().and_then(|text| text.parse::<i128>().ok());
    match node.items() {
        [low, high] if is_call(low) || is_call(high) => true,
        [low, high] => match (number(low), number(high)) {
            (Some(low), Some(high)) => low <= high,
            (Some(_), None) => high.text() == Some("UNBOUNDED"),
            _ => low.text() == Some("UNBOUNDED"),
        },
        _ => false,
    }
}

/// A constraint as people wrote it, on one line.
fn spelled(node: &Node) -> String {
    fn write(node: &Node, out: &mut String) {
        match &node.kind {
            setpoint_data::Kind::Scalar { text, .. } => out.push_str(text),
            setpoint_data::Kind::Sequence(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { ", " });
                    write(item, out);
                }
                out.push(']');
            }
            setpoint_data::Kind::Mapping(entries) => {
                for (index, Entry { key, value }) in entries.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { ", " });
                    write(key, out);
                    out.push_str(": ");
                    write(value, out);
                }
            }
        }
    }
    let mut out = String::new();
    write(node, &mut out);
    if out.chars().count() > 100 {
        out = out.chars().take(100).collect::<String>() + "…";
    }
    format!("`{out}`")
}

/// Whether a value keeps a constraint, or equals a plain value; nothing if that cannot be decided.
pub(crate) fn keeps(clause: &Node, value: &Node, base: &Base) -> Option<bool> {
    if clause.text().is_some() { same(value, clause, base) } else { holds(clause, value, base) }
}

/// Whether a value keeps a constraint; nothing if that cannot be decided.
fn holds(constraint: &Node, value: &Node, base: &Base) -> Option<bool> {
    let [Entry { key, value: argument }] = constraint.entries() else { return None };
    let name = key.text()?;
    match name.strip_prefix('$') {
        Some(name) => expression(name, argument, value, base),
        None => clause(name, argument, value, base),
    }
}

/// A constraint clause of the Simple Profile.
fn clause(name: &str, argument: &Node, value: &Node, base: &Base) -> Option<bool> {
    if is_call(argument) || argument.items().iter().any(is_call) {
        return None;
    }
    match name {
        "in_range" => {
            let [low, high] = argument.items() else { return None };
            let inside = |value: &Node| {
                let above = at_least(value, low, base)?;
                let below = at_least(high, value, base)?;
                Some(above && below)
            };
            match value.items() {
                [low, high] => Some(inside(low)? && inside(high)?),
                _ => inside(value),
            }
        }
        "valid_values" if value.is_sequence() => value
            .items()
            .iter()
            .map(|item| among(item, argument, base))
            .try_fold(true, |all, one| Some(all && one?)),
        "valid_values" => among(value, argument, base),
        "length" => Some(length(value) == argument.text()?.parse::<usize>().ok()?),
        "min_length" => Some(length(value) >= argument.text()?.parse::<usize>().ok()?),
        "max_length" => Some(length(value) <= argument.text()?.parse::<usize>().ok()?),
        "pattern" => matches_pattern(argument, value),
        _ => compare(name, value, argument, base),
    }
}

fn compare(name: &str, left: &Node, right: &Node, base: &Base) -> Option<bool> {
    match name {
        "equal" => same(left, right, base),
        "greater_than" => at_least(right, left, base).map(|reached| !reached),
        "greater_or_equal" => at_least(left, right, base),
        "less_than" => at_least(left, right, base).map(|reached| !reached),
        "less_or_equal" => at_least(right, left, base),
        _ => None,
    }
}

/// A validation clause of TOSCA 2.0.
fn expression(name: &str, arguments: &Node, value: &Node, base: &Base) -> Option<bool> {
    let inner = |node: &Node| holds(node, value, base);
    match (name, arguments.items()) {
        ("and", items) => {
            let all: Vec<Option<bool>> = items.iter().map(inner).collect();
            if all.contains(&Some(false)) {
                Some(false)
            } else {
                all.into_iter().collect::<Option<Vec<_>>>().map(|_| true)
            }
        }
        ("or", items) => {
            let all: Vec<Option<bool>> = items.iter().map(inner).collect();
            if all.contains(&Some(true)) {
                Some(true)
            } else {
                all.into_iter().collect::<Option<Vec<_>>>().map(|_| false)
            }
        }
        ("not", [item]) => inner(item).map(|holds| !holds),
        (_, [left, right]) => {
            // `{$length: [$value]}` on the left is a number.
            if let [Entry { key, value: of }] = left.entries() {
                let is_value = matches!(of.items(), [one] if one.text() == Some("$value"));
                if key.text() != Some("$length") || !is_value {
                    return None;
                }
                let (length, bound) = (length(value), right.text()?.parse::<usize>().ok()?);
                return Some(match name {
                    "equal" => length == bound,
                    "greater_than" => length > bound,
                    "greater_or_equal" => length >= bound,
                    "less_than" => length < bound,
                    "less_or_equal" => length <= bound,
                    _ => return None,
                });
            }
            if left.text() != Some("$value") || is_call(right) || right.items().iter().any(is_call) {
                return None;
            }
            match name {
                "valid_values" => among(value, right, base),
                "matches" => matches_pattern(right, value),
                "has_prefix" => Some(value.text()?.starts_with(right.text()?)),
                "has_suffix" => Some(value.text()?.ends_with(right.text()?)),
                _ => compare(name, value, right, base),
            }
        }
        _ => None,
    }
}

/// The size of a value, for comparisons.
fn quantity(node: &Node, base: &Base) -> Option<f64> {
    match base {
        Base::Units(units) => units.parse(node).ok().map(|(_, worth)| worth),
        Base::Primitive("integer" | "float" | "range") => node.text()?.parse().ok(),
        _ => None,
    }
}

/// Whether one value is at least another.
fn at_least(value: &Node, bound: &Node, base: &Base) -> Option<bool> {
    // As the greatest of a range, or as the least.
    if value.text() == Some("UNBOUNDED") || bound.text() == Some("UNBOUNDED") {
        return Some(true);
    }
    Some(quantity(value, base)? >= quantity(bound, base)?)
}

fn same(left: &Node, right: &Node, base: &Base) -> Option<bool> {
    match (quantity(left, base), quantity(right, base)) {
        #[allow(clippy::float_cmp)]
        (Some(left), Some(right)) => Some(left == right),
        _ => Some(left.text()? == right.text()?),
    }
}

fn among(value: &Node, values: &Node, base: &Base) -> Option<bool> {
    if !values.is_sequence() || value.text().is_none() || matches!(base, Base::Complex) {
        return None;
    }
    let equal = |one: &Node| same(value, one, base).unwrap_or(false) || one.text() == value.text();
    Some(values.items().iter().any(equal))
}

fn length(value: &Node) -> usize {
    match &value.kind {
        setpoint_data::Kind::Scalar { text, .. } => text.chars().count(),
        setpoint_data::Kind::Sequence(items) => items.len(),
        setpoint_data::Kind::Mapping(entries) => entries.len(),
    }
}

/// Whether a pattern is found in a text. Tools differ in whether it has to cover all of it, so that a part is enough here.
fn matches_pattern(pattern: &Node, value: &Node) -> Option<bool> {
    let pattern = fancy_regex::Regex::new(pattern.text()?).ok()?;
    pattern.is_match(value.text()?).ok()
}
