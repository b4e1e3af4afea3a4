//! What changes in manifests and EPP templates.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use setpoint_puppet_syntax::ast::{Call, Expr, ExprKind, MethodCall, Parameter, Program, StringPart};
use setpoint_puppet_syntax::{children, everywhere};
use setpoint_source::{FileId, Range, Span};

use crate::change::{Change, Effect, Kind, ReachedBy};
use crate::facts::{Structured, begins_legacy, structured};
use crate::names::{Names, literal, of_lambda, with_parameters};
use crate::{Wanted, templates};

/// Everything in one file that the new version treats in another way.
pub(crate) fn changes(
    path: &Path,
    text: &str,
    program: &Program,
    names: &Names,
    wanted: &Wanted,
) -> Vec<Change> {
    let mut walker =
        Walker { path, text, file: program.file, names, wanted, scopes: Vec::new(), found: Vec::new() };
    program.body.iter().for_each(|expr| walker.visit(expr, false));
    walker.found
}

/// A scope in which a bare name may mean something else than a fact.
struct Scope {
    own: BTreeSet<String>,
    /// Set for a class: what it inherits from.
    parent: Option<String>,
    is_open_epp: bool,
}

struct Walker<'a> {
    path: &'a Path,
    text: &'a str,
    file: FileId,
    names: &'a Names,
    wanted: &'a Wanted,
    scopes: Vec<Scope>,
    found: Vec<Change>,
}

impl Walker<'_> {
    fn slice(&self, range: Range) -> &str {
        self.text.get(range.start as usize..range.end as usize).unwrap_or("")
    }

    fn span(&self, range: Range) -> Span {
        range.in_file(self.file)
    }

    fn change(&self, kind: Kind, range: Range, message: impl Into<String>) -> Change {
        Change::new(kind, PathBuf::from(self.path), self.span(range), message)
    }

    fn within(&mut self, scope: Scope, parameters: &[Parameter], body: &[Expr]) {
        // Class parameters see the parameters before them.
        self.scopes.push(scope);
        for parameter in parameters {
            for expr in parameter.type_expr.iter().chain(&parameter.default) {
                self.visit(expr, false);
            }
        }
        for expr in body {
            self.visit(expr, false);
        }
        self.scopes.pop();
    }

    fn visit(&mut self, expr: &Expr, is_part: bool) {
        let plain = |own| Scope { own, parent: None, is_open_epp: false };
        match &expr.kind {
            ExprKind::Class(class) => {
                let own = with_parameters(&class.parameters, &class.body);
                let parent = class.parent.as_ref().map(|(name, _)| name.to_string());
                self.within(Scope { own, parent, is_open_epp: false }, &class.parameters, &class.body);
            }
            ExprKind::Define(define) => {
                let mut own = with_parameters(&define.parameters, &define.body);
                own.extend(["name".to_owned(), "title".to_owned()]);
                self.within(plain(own), &define.parameters, &define.body);
            }
            ExprKind::Function(function) => {
                let own = with_parameters(&function.parameters, &function.body);
                self.within(plain(own), &function.parameters, &function.body);
            }
            ExprKind::Node(node) => self.within(plain(with_parameters(&[], &node.body)), &[], &node.body),
            ExprKind::Lambda(lambda) => {
                self.within(plain(of_lambda(lambda)), &lambda.parameters, &lambda.body);
            }
            ExprKind::Epp { parameters, body } => {
                let given = parameters.as_deref().unwrap_or(&[]);
                let own = with_parameters(given, body);
                self.within(Scope { own, parent: None, is_open_epp: parameters.is_none() }, given, body);
            }
            ExprKind::Interpolation(parts) => {
                for part in parts {
                    if let StringPart::Expr(inner) = part {
                        self.visit(inner, true);
                    }
                }
            }
            ExprKind::Variable(name) => self.variable(name.as_str(), expr.range, is_part),
            ExprKind::Access { target, keys } if self.is_facts(target) => match keys.first() {
                Some(key) => self.fact_of_hash(expr, target, key, keys.len()),
                None => self.inside(expr),
            },
            ExprKind::Call(call) => {
                self.call(expr, call);
                self.inside(expr);
                if let Some(lambda) = &call.lambda {
                    self.within(plain(of_lambda(lambda)), &lambda.parameters, &lambda.body);
                }
            }
            ExprKind::MethodCall(call) => {
                self.method(expr, call);
                self.inside(expr);
                if let Some(lambda) = &call.lambda {
                    self.within(plain(of_lambda(lambda)), &lambda.parameters, &lambda.body);
                }
            }
            ExprKind::Hash(pairs) => {
                self.duplicate_keys(pairs);
                self.inside(expr);
            }
            ExprKind::Case { options, .. } => {
                let defaults = options.iter().filter(|option| {
                    option.values.iter().any(|value| matches!(value.kind, ExprKind::Default))
                });
                let second = defaults.skip(1).filter_map(|option| option.values.first());
                let places: Vec<Range> = second.map(|value| value.range).collect();
                self.duplicate_defaults(&places);
                self.inside(expr);
            }
            ExprKind::Selector { cases, .. } => {
                let defaults = cases.iter().filter(|case| matches!(case.matches.kind, ExprKind::Default));
                let places: Vec<Range> = defaults.skip(1).map(|case| case.matches.range).collect();
                self.duplicate_defaults(&places);
                self.inside(expr);
            }
            ExprKind::Resource { type_name, .. } => {
                if self.wanted.to_9 && literal(type_name) == Some("zone") {
                    let message = "The type `zone` comes with the module zone_core, which Puppet 9 no longer brings; add it to the Puppetfile";
                    self.found.push(self.change(Kind::To9, type_name.range, message));
                }
                self.inside(expr);
            }
            _ => self.inside(expr),
        }
    }

    fn inside(&mut self, expr: &Expr) {
        let mut inner = Vec::new();
        children(expr, &mut |child| inner.push(child));
        for child in inner {
            self.visit(child, false);
        }
    }

    /// Whether a bare name may be a variable of the code instead of the fact.
    fn is_shadowed(&self, name: &str) -> bool {
        let hides = |scope: &Scope| {
            scope.own.contains(name)
                || self.names.may_inherit(scope.parent.as_deref(), name)
                || (scope.is_open_epp && self.names.may_be_given_to_epp(name))
        };
        self.names.is_set_outside(name) || self.scopes.iter().any(hides)
    }

    /// Whether the scopes around set the name themselves: then it is no fact at all.
    fn is_own(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.own.contains(name))
    }

    /// The structured fact for a name, unless a module defines a fact of this name.
    fn structured(&self, name: &str) -> Option<Structured> {
        structured(name).filter(|_| !self.names.custom_facts.contains(name))
    }

    fn is_facts(&self, expr: &Expr) -> bool {
        let ExprKind::Variable(name) = &expr.kind else { return false };
        match name.as_str() {
            "::facts" => true,
            "facts" => !self.is_shadowed("facts"),
            _ => false,
        }
    }

    fn variable(&mut self, written: &str, range: Range, is_part: bool) {
        if self.wanted.to_9 && written.trim_start_matches("::") == "pe_serverversion" {
            self.found.push(self.change(Kind::To9, range, "Puppet 9 has no `$pe_serverversion`"));
        }
        let name = written.strip_prefix("::").unwrap_or(written);
        if name.contains("::") {
            return;
        }
        let is_top = name.len() < written.len();
        let Some(fact) = self.structured(name) else { return };
        if !is_top && self.is_own(name) {
            return;
        }
        let is_shadowed = if is_top { self.names.is_set_outside(name) } else { self.is_shadowed(name) };
        let slice = self.slice(range);
        let (prefix, suffix) = match slice.strip_prefix('$') {
            Some(rest) if rest == written => {
                let before = self.text.get(..range.start as usize).unwrap_or("").trim_end();
                if is_part && !before.ends_with("${") { ("${facts", "}") } else { ("$facts", "") }
            }
            None if slice == written => ("facts", ""),
            // The place is not the one that was expected: leave it to a person.
            _ => return self.propose(fact, written, range),
        };
        let Some(access) = fact.access() else { return self.propose(fact, written, range) };
        let text = format!("{prefix}{access}{suffix}");
        if !fact.is_same() {
            let change = self.inexact(fact, written, range);
            self.found.push(change.proposing(self.span(range), text));
            return;
        }
        let message =
            format!("Puppet 8 has no fact `{name}`: `${written}` is an unknown variable, which is an error");
        let change = self.change(Kind::LegacyFact, range, message);
        self.found.push(if is_shadowed {
            let mut change = change.proposing(self.span(range), text);
            change.message = format!("`${written}` is the fact `{name}`, which Puppet 8 does not have, unless an outer or inherited scope sets a variable of this name");
            change
        } else {
            change.same(self.span(range), text, ReachedBy::Read(self.span(range)))
        });
    }

    fn inexact(&self, fact: Structured, written: &str, range: Range) -> Change {
        let message = format!(
            "Puppet 8 has no fact `{}`, and no other has the same value on every node; consider `{}`",
            written.trim_start_matches("::"),
            fact.hint()
        );
        self.change(Kind::LegacyFactInexact, range, message)
    }

    fn propose(&mut self, fact: Structured, written: &str, range: Range) {
        let change = self.inexact(fact, written, range);
        self.found.push(change);
    }

    /// `$facts['osfamily']`: the brackets alone are replaced, however `$facts` is written before them.
    fn fact_of_hash(&mut self, expr: &Expr, target: &Expr, key: &Expr, count: usize) {
        let brackets = Range { start: target.range.end, end: expr.range.end };
        let read = ReachedBy::Read(self.span(target.range));
        if let ExprKind::Interpolation(parts) = &key.kind {
            if let Some(StringPart::Text(text)) = parts.first()
                && let Some(hint) = begins_legacy(text)
            {
                let message = format!(
                    "Puppet 8 has no facts of this name, so the value becomes undef; consider `{hint}`"
                );
                let mut change = self.change(Kind::LegacyFactInexact, expr.range, message);
                change.effect = Effect::Silent;
                self.found.push(change);
            }
            return self.visit(key, false);
        }
        let Some((name, fact)) =
            literal(key).and_then(|name| Some((name.to_owned(), self.structured(name)?)))
        else {
            return self.visit(key, false);
        };
        if count > 1 || !self.slice(brackets).trim_start().starts_with('[') {
            let mut change = self.inexact(fact, &name, expr.range);
            change.effect = Effect::Silent;
            self.found.push(change);
            return;
        }
        match fact.access() {
            Some(access) if fact.is_same() => {
                let message = format!(
                    "Puppet 8 has no fact `{name}`: `$facts['{name}']` becomes undef, without an error"
                );
                let change = self.change(Kind::LegacyFactSilent, expr.range, message);
                self.found.push(change.same(self.span(brackets), access, read));
            }
            access => {
                let mut change = self.inexact(fact, &name, expr.range);
                change.effect = Effect::Silent;
                if let Some(access) = access {
                    change = change.proposing(self.span(brackets), access);
                }
                self.found.push(change);
            }
        }
    }

    fn method(&mut self, expr: &Expr, call: &MethodCall) {
        if !self.is_facts(&call.receiver) || !matches!(call.name.as_str(), "get" | "dig") {
            return self.function(expr, call.name.as_str(), &[], call.arguments.first());
        }
        let Some(argument) = call.arguments.first().filter(|_| call.arguments.len() == 1) else { return };
        let Some((name, fact)) =
            literal(argument).and_then(|name| Some((name.to_owned(), self.structured(name)?)))
        else {
            return;
        };
        let Some(path) = fact.path() else { return self.propose(fact, &name, argument.range) };
        let text = if call.name.as_str() == "get" {
            format!("'{path}'")
        } else {
            path.split('.').map(|part| format!("'{part}'")).collect::<Vec<_>>().join(", ")
        };
        let message = format!("Puppet 8 has no fact `{name}`: this becomes undef, without an error");
        let mut change = self.change(Kind::LegacyFactSilent, expr.range, message);
        change = if fact.is_same() {
            change.same(self.span(argument.range), text, ReachedBy::Read(self.span(call.receiver.range)))
        } else {
            change.kind = Kind::LegacyFactInexact;
            change.proposing(self.span(argument.range), text)
        };
        self.found.push(change);
    }

    fn call(&mut self, expr: &Expr, call: &Call) {
        let name = match &call.function.kind {
            ExprKind::Name(name) | ExprKind::TypeName(name) => name.as_str().trim_start_matches("::"),
            _ => return,
        };
        self.function(expr, name, &call.arguments, call.arguments.first());
    }

    /// A call of a function that a change of Puppet or of stdlib affects; `arguments` is empty for a call with a dot.
    fn function(&mut self, expr: &Expr, name: &str, arguments: &[Expr], first: Option<&Expr>) {
        match name {
            "getvar" | "fact" => {
                if let Some(argument) = first {
                    self.fact_by_name(expr, name, argument);
                }
            }
            "defined" => {
                for argument in arguments {
                    let variable = literal(argument).and_then(|text| text.strip_prefix('$'));
                    let Some(variable) = variable.map(|name| name.trim_start_matches("::").to_owned()) else {
                        continue;
                    };
                    if let Some(fact) = self.structured(&variable)
                        && !self.is_own(&variable)
                    {
                        let message = format!(
                            "Puppet 8 has no fact `{variable}`: this becomes false, without an error; test `{}`",
                            fact.hint()
                        );
                        self.found.push(self.change(Kind::LegacyFactSilent, argument.range, message));
                    }
                }
            }
            "query_facts" | "query_nodes" | "query_resources" | "puppetdb_query" => {
                for argument in arguments {
                    self.names_in_query(argument);
                }
            }
            "inline_template" => {
                for argument in arguments {
                    let found = templates::legacy_names(self.slice(argument.range), self.names);
                    for (name, fact) in found {
                        let message = format!(
                            "The template reads the fact `{name}`, which Puppet 8 does not have; use `@facts{}`",
                            fact.access().unwrap_or_default()
                        );
                        self.found.push(self.change(Kind::LegacyFact, argument.range, message));
                    }
                }
            }
            "Deferred" => {
                let message = if self.wanted.to_9 {
                    "Puppet 9 calls deferred functions before the run again, as Puppet 7 did; Puppet 8 calls each when its resource is applied"
                } else {
                    "Puppet 8 calls a deferred function when its resource is applied, Puppet 7 before the run: what it reads may be there by then, and a failure fails one resource only"
                };
                self.found.push(self.change(Kind::DeferredOrder, expr.range, message));
            }
            "regsubst" if self.wanted.to_9 && arguments.len() == 5 => {
                let (flags, encoding) = (&arguments[3], &arguments[4]);
                let dropped = Range { start: flags.range.end, end: encoding.range.end };
                let message = "Puppet 9's `regsubst` takes no encoding; older versions ignore it";
                let change = self.change(Kind::To9, encoding.range, message);
                let is_plain = matches!(encoding.kind, ExprKind::String(_) | ExprKind::Name(_));
                self.found.push(if is_plain && !self.slice(dropped).contains('#') {
                    change.same(self.span(dropped), "", ReachedBy::Nothing)
                } else {
                    change.proposing(self.span(dropped), "")
                });
            }
            "hiera" | "hiera_array" | "hiera_hash" | "hiera_include" if self.wanted.hiera_functions => {
                self.hiera_function(expr, name, arguments);
            }
            "has_key" if self.wanted.stdlib_9 && arguments.len() == 2 => {
                let text =
                    format!("({} in {})", self.slice(arguments[1].range), self.slice(arguments[0].range));
                let message =
                    "stdlib 9 has no `has_key`; `in` finds the same unless keys differ in case only";
                let change = self.change(Kind::Stdlib9, expr.range, message);
                self.found.push(change.proposing(self.span(expr.range), text));
            }
            _ if self.wanted.stdlib_9 && REMOVED_FROM_STDLIB.contains(&name) => {
                let advice = match name.strip_prefix("is_").or_else(|| name.strip_prefix("validate_")) {
                    Some(_) => "match a data type instead, as `$x =~ String` or in the parameter list",
                    None if name == "private" => "call `assert_private` instead",
                    None if name.starts_with("type") => "use Puppet's own `type`, which returns a data type",
                    None if name.starts_with("dig") || name == "try_get_value" => "call Puppet's own `dig`",
                    None => "write it another way",
                };
                let message = format!("stdlib 9 has no `{name}`; {advice}");
                self.found.push(self.change(Kind::Stdlib9, expr.range, message));
            }
            _ => {}
        }
    }

    /// Names of facts that PuppetDB is asked for: it knows what agents sent.
    fn names_in_query(&mut self, argument: &Expr) {
        let mut found = Vec::new();
        everywhere(std::slice::from_ref(argument), &mut |expr| {
            if let ExprKind::String(text) = &expr.kind
                && let Some(fact) = self.structured(text)
            {
                let message = format!(
                    "Agents of Puppet 8 do not send the fact `{text}` to PuppetDB; ask for `{}`",
                    fact.path().unwrap_or(text)
                );
                let mut change = self.change(Kind::LegacyFactInexact, expr.range, message);
                change.effect = Effect::Silent;
                found.push(change);
            }
        });
        self.found.append(&mut found);
    }

    /// `getvar('::osfamily')` and stdlib's `fact('osfamily')`.
    fn fact_by_name(&mut self, expr: &Expr, function: &str, argument: &Expr) {
        if let ExprKind::Interpolation(parts) = &argument.kind {
            if let Some(StringPart::Text(text)) = parts.first()
                && let Some(hint) = begins_legacy(text.trim_start_matches("facts."))
            {
                let message = format!("Puppet 8 has no facts of this name; consider `{hint}`");
                self.found.push(self.change(Kind::LegacyFactInexact, expr.range, message));
            }
            return;
        }
        let Some(written) = literal(argument) else { return };
        let name = written.trim_start_matches("::").trim_start_matches("facts.").to_owned();
        let is_bare = name.len() == written.len();
        let Some(fact) = self.structured(&name) else { return };
        if function == "getvar" && is_bare && self.is_own(&name) {
            return;
        }
        let message = format!("Puppet 8 has no fact `{name}`: this becomes undef, without an error");
        let change = self.change(Kind::LegacyFactSilent, expr.range, message);
        let Some(path) = fact.path() else { return self.propose(fact, &name, expr.range) };
        let text = if function == "getvar" { format!("'facts.{path}'") } else { format!("'{path}'") };
        let is_clear = function == "fact" || !is_bare || !self.is_shadowed(&name);
        self.found.push(if fact.is_same() && is_clear {
            change.same(self.span(argument.range), text, ReachedBy::Nothing)
        } else {
            change.proposing(self.span(argument.range), text)
        });
    }

    fn hiera_function(&mut self, expr: &Expr, name: &str, arguments: &[Expr]) {
        let message = format!("`{name}` is deprecated: it ignores `lookup_options`, which `lookup` heeds");
        let change = self.change(Kind::HieraFunction, expr.range, message);
        let (key, default) = match arguments {
            [key] => (key, None),
            [key, default] => (key, Some(default)),
            // A level that overrides the hierarchy has no counterpart.
            _ => return self.found.push(change),
        };
        let key = self.slice(key.range);
        let default =
            default.map(|default| format!(", {{ default_value => {} }}", self.slice(default.range)));
        let (of, after) = match name {
            "hiera" => ("", ""),
            "hiera_array" => (", Array, 'unique'", ""),
            "hiera_hash" => (", Hash, 'hash'", ""),
            _ => (", Array[String], 'unique'", ".include"),
        };
        let text = match (of, default) {
            (of, None) => format!("lookup({key}{of}){after}"),
            ("", Some(default)) => format!("lookup({key}{default})"),
            (of, Some(_)) => {
                let default = arguments.get(1).map(|default| self.slice(default.range)).unwrap_or_default();
                format!("lookup({key}{of}, {default}){after}")
            }
        };
        let span = self.span(expr.range);
        self.found.push(change.proposing(span, text));
    }

    fn duplicate_keys(&mut self, pairs: &[(Expr, Expr)]) {
        let key_of = |expr: &Expr| match &expr.kind {
            ExprKind::String(text) => Some(text.to_string()),
            ExprKind::Name(name) => Some(name.to_string()),
            ExprKind::Integer { value, .. } => Some(format!("{value}i")),
            _ => None,
        };
        for (at, (key, value)) in pairs.iter().enumerate().skip(1) {
            let Some(name) = key_of(key) else { continue };
            let earlier = pairs[..at].iter().rev().find(|(key, _)| key_of(key).as_deref() == Some(&*name));
            let Some((_, first)) = earlier else { continue };
            let message = format!(
                "The key `{}` is there twice: a warning in Puppet 7, where the last value counts, an error in Puppet 8",
                name.trim_end_matches('i')
            );
            let change = self.change(Kind::DuplicateHashKey, key.range, message);
            let before = pairs[at - 1].1.range.end;
            let dropped = Range { start: before, end: value.range.end };
            let is_alike = self.slice(first.range) == self.slice(value.range) && is_constant(value);
            // A comment between the two would go, too.
            self.found.push(if is_alike && !self.slice(dropped).contains('#') {
                change.same(self.span(dropped), "", ReachedBy::Nothing)
            } else {
                change
            });
        }
    }

    fn duplicate_defaults(&mut self, places: &[Range]) {
        for place in places {
            let message = "There is a `default` before this one, which is never used: a warning in Puppet 7, an error in Puppet 8; remove one";
            self.found.push(self.change(Kind::DuplicateCaseDefault, *place, message));
        }
    }
}

/// Whether an expression has the same value each time and no effect.
fn is_constant(expr: &Expr) -> bool {
    let mut is_plain = true;
    everywhere(std::slice::from_ref(expr), &mut |inner| {
        is_plain &= !matches!(inner.kind, ExprKind::Call(_) | ExprKind::MethodCall(_) | ExprKind::Lambda(_));
    });
    is_plain
}

/// Functions that stdlib 8 has and stdlib 9 does not, those apart that Puppet has itself, and `has_key`.
const REMOVED_FROM_STDLIB: &[&str] = &[
    "dig44",
    "hash",
    "is_absolute_path",
    "is_array",
    "is_bool",
    "is_domain_name",
    "is_email_address",
    "is_float",
    "is_function_available",
    "is_hash",
    "is_integer",
    "is_ip_address",
    "is_ipv4_address",
    "is_ipv6_address",
    "is_mac_address",
    "is_numeric",
    "is_string",
    "private",
    "sprintf_hash",
    "try_get_value",
    "type3x",
    "validate_absolute_path",
    "validate_array",
    "validate_bool",
    "validate_hash",
    "validate_integer",
    "validate_ip_address",
    "validate_ipv4_address",
    "validate_ipv6_address",
    "validate_numeric",
    "validate_re",
    "validate_slength",
    "validate_string",
];
