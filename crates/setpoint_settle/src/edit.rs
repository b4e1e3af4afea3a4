//! A relationship written into the manifest, next to the resource that needs it.

use setpoint_catalog::{Catalog, Relation, Resource, ResourceId};
use setpoint_puppet_syntax::ast::{Attribute, AttributeKind, Expr, ExprKind, ResourceBody};
use setpoint_puppet_syntax::{everywhere, parse};
use setpoint_source::{Edit, FileId, Fix, Range, Sources};

/// The change that gives `holder` a relationship to all of `others`. There is none where the text of the declaration is not
/// at hand: in a catalog without sources, for a resource that a function made.
pub fn relation_fix(
    sources: &Sources,
    catalog: &Catalog,
    holder: ResourceId,
    relation: Relation,
    others: &[ResourceId],
) -> Option<Fix> {
    let held = catalog.get(holder)?;
    let declaration = Declaration::of(sources, held)?;
    let mut references: Vec<String> = Vec::new();
    for &other in others {
        let reference = declaration.reference_to(sources, catalog.get(other)?);
        if !references.contains(&reference) {
            references.push(reference);
        }
    }
    let edit = declaration.with_relation(relation, &references)?;
    let title = format!("add `{} => {}` to {held}", relation.as_str(), one_or_list(&references));
    Some(Fix { title, edits: vec![edit] })
}

fn one_or_list(references: &[String]) -> String {
    match references {
        [one] => one.clone(),
        more => format!("[{}]", more.join(", ")),
    }
}

/// Where a resource is declared.
struct Declaration {
    file: FileId,
    text: String,
    body: ResourceBody,
    /// The class, definition or node that the declaration stands in; the whole file if there is none.
    scope: Range,
    /// How many bodies the resource expression has.
    bodies: usize,
}

impl Declaration {
    fn of(sources: &Sources, resource: &Resource) -> Option<Self> {
        let span = resource.span?;
        let text = sources.file(span.file).text().to_owned();
        let parsed = parse(span.file, &text);
        let mut found: Option<Expr> = None;
        let mut scope = Range::new(0, text.len());
        everywhere(&parsed.program.body, &mut |expr| {
            let holds = expr.range.start <= span.range.start && span.range.end <= expr.range.end;
            match &expr.kind {
                ExprKind::Resource { .. } if expr.range == span.range => found = Some(expr.clone()),
                ExprKind::Class(_) | ExprKind::Define(_) | ExprKind::Node(_) if holds => scope = expr.range,
                _ => {}
            }
        });
        let ExprKind::Resource { bodies, .. } = found?.kind else { return None };
        let count = bodies.len();
        let body = bodies.into_iter().find(|body| count == 1 || declares(&body.title, &resource.title))?;
        Some(Self { file: span.file, text, body, scope, bodies: count })
    }

    /// How the manifest can name another resource here. One that is declared in the same scope is named as it is
    /// declared there, so that a definition names the one of its own instance.
    fn reference_to(&self, sources: &Sources, other: &Resource) -> String {
        let beside = Self::of(sources, other)
            .filter(|near| near.file == self.file && near.scope == self.scope)
            .filter(|near| {
                matches!(near.body.title.kind, ExprKind::Interpolation(_) | ExprKind::Variable(_))
            });
        match beside {
            Some(near) => format!("{}[{}]", other.type_name, self.slice(near.body.title.range)),
            None => format!("{}[{}]", other.type_name, quoted(&other.title)),
        }
    }

    /// The text with one more relationship.
    fn with_relation(&self, relation: Relation, references: &[String]) -> Option<Edit> {
        for attribute in &self.body.attributes {
            match &attribute.kind {
                AttributeKind::Set { name, value, .. } if name.as_str() == relation.as_str() => {
                    return Some(self.extended(value, &references.join(", ")));
                }
                // What a splat brings is not known here; a second value would be refused.
                AttributeKind::Splat(_) => return None,
                _ => {}
            }
        }
        Some(self.inserted(relation.as_str(), &one_or_list(references)))
    }

    /// `require => A` becomes `require => [A, B]`.
    fn extended(&self, value: &Expr, reference: &str) -> Edit {
        let (range, replacement) = match &value.kind {
            ExprKind::Array(items) => match items.last() {
                // Elements that have lines of their own.
                Some(last) if self.line_of(last.range.start) != self.line_of(value.range.start) => {
                    let indent = self.indentation(last.range.start as usize);
                    return self.new_line(last.range.end as usize, indent, reference);
                }
                Some(last) => {
                    (Range::new(last.range.end as usize, last.range.end as usize), format!(", {reference}"))
                }
                None => (value.range, format!("[{reference}]")),
            },
            _ => (value.range, format!("[{}, {reference}]", self.slice(value.range))),
        };
        Edit { span: range.in_file(self.file), replacement }
    }

    /// A new attribute after the last one, in the layout of the others.
    fn inserted(&self, name: &str, reference: &str) -> Edit {
        let title_end = self.body.title.range.end as usize;
        let Some(last) = self.body.attributes.last() else {
            // `type { 'title': }`: the colon follows the title.
            let colon = self
                .text
                .get(title_end..)
                .and_then(|rest| rest.find(':'))
                .map_or(title_end, |at| title_end + at + 1);
            let space = if self.text.get(colon..).is_some_and(|rest| rest.starts_with([' ', '\n'])) {
                ""
            } else {
                " "
            };
            return self.insert(colon, format!(" {name} => {reference}{space}"));
        };
        let end = last.range.end as usize;
        if self.line_of(last.range.start) == self.line_of(self.body.title.range.start) && self.on_one_line() {
            return self.insert(end, format!(", {name} => {reference}"));
        }
        let indent = self.indentation(last.range.start as usize);
        let width = self.name_width().max(name.len());
        self.new_line(end, indent, &format!("{name:width$} => {reference}"))
    }

    /// A line of its own after an attribute or element that ends here. A comment behind it stays where it is.
    fn new_line(&self, end: usize, indent: &str, added: &str) -> Edit {
        let rest = self.text.get(end..).unwrap_or("");
        let line = rest.split('\n').next().unwrap_or("");
        let has_comma = line.trim_start_matches([' ', '\t']).starts_with(',');
        let before = line.find(',').filter(|_| has_comma).map_or(0, |at| at + 1);
        let comma = if has_comma { "," } else { "" };
        let behind = line.get(before..).unwrap_or("");
        let comment = behind.trim();
        let is_comment = comment.starts_with('#')
            || (comment.starts_with("/*") && comment.find("*/").is_some_and(|at| at + 2 == comment.len()));
        if is_comment {
            // The text up to the end of the line stays, with a comma before the comment if there was none.
            let kept = format!("{}{}", if has_comma { &line[..before] } else { "," }, behind.trim_end());
            let range = Range::new(end, end + line.len());
            let replacement = format!("{kept}\n{indent}{added}{comma}");
            return Edit { span: range.in_file(self.file), replacement };
        }
        if has_comma {
            return self.insert(end + before, format!("\n{indent}{added},"));
        }
        self.insert(end, format!(",\n{indent}{added}"))
    }

    fn insert(&self, at: usize, replacement: String) -> Edit {
        Edit { span: Range::new(at, at).in_file(self.file), replacement }
    }

    fn slice(&self, range: Range) -> &str {
        self.text.get(range.start as usize..range.end as usize).unwrap_or("")
    }

    fn on_one_line(&self) -> bool {
        self.bodies > 1 || !self.slice(self.body.range).contains('\n')
    }

    fn line_of(&self, offset: u32) -> usize {
        self.text.get(..offset as usize).map_or(0, |before| before.matches('\n').count())
    }

    /// The white space before the text at an offset, on its line.
    fn indentation(&self, offset: usize) -> &str {
        let before = self.text.get(..offset).unwrap_or("");
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let indent = before.get(line..).unwrap_or("");
        indent.get(..indent.len() - indent.trim_start().len()).unwrap_or("")
    }

    /// How wide the column of names is, where the arrows stand below each other.
    fn name_width(&self) -> usize {
        self.body.attributes.iter().map(arrow_column).max().unwrap_or(0)
    }
}

/// The width of an attribute's name up to its arrow, without the one space before the arrow.
fn arrow_column(attribute: &Attribute) -> usize {
    match &attribute.kind {
        AttributeKind::Set { name_range, .. } | AttributeKind::Append { name_range, .. } => {
            (name_range.end - name_range.start) as usize
        }
        AttributeKind::Splat(_) => 1,
    }
}

/// Whether the title of a body is, or lists, this title.
fn declares(title: &Expr, wanted: &str) -> bool {
    match &title.kind {
        ExprKind::String(text) => **text == *wanted,
        ExprKind::Name(name) => name.as_str() == wanted,
        ExprKind::Array(items) => items.iter().any(|item| declares(item, wanted)),
        _ => false,
    }
}

pub(crate) fn quoted(title: &str) -> String {
    format!("'{}'", title.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::relation_fix;
    use setpoint_catalog::{Catalog, Relation, Resource};
    use setpoint_puppet_syntax::ast::ExprKind;
    use setpoint_puppet_syntax::{everywhere, parse};
    use setpoint_source::{Fix, Sources};

    /// The manifest after `File[f]` was given a relationship to `Package[p]`.
    fn after(text: &str, relation: Relation) -> Option<String> {
        let sources = Sources::new();
        let file = sources.add("site.pp", text);
        let mut catalog = Catalog::new("node", "production");
        let parsed = parse(file, text);
        let mut ids = Vec::new();
        for (wanted, title) in [("file", "f"), ("package", "p")] {
            let mut resource = Resource::new(if wanted == "file" { "File" } else { "Package" }.into(), title);
            everywhere(&parsed.program.body, &mut |expr| {
                if let ExprKind::Resource { type_name, .. } = &expr.kind
                    && matches!(&type_name.kind, ExprKind::Name(name) if name.as_str() == wanted)
                {
                    resource.span = Some(expr.range.in_file(file));
                }
            });
            ids.push(catalog.add(resource).unwrap());
        }
        let fix = relation_fix(&sources, &catalog, ids[0], relation, &[ids[1]])?;
        Some(Fix::apply(&fix.edits, text))
    }

    #[test]
    fn a_relationship_is_written_in_the_layout_of_the_declaration() {
        let cases = [
            ("file { 'f': }", "file { 'f': require => Package['p'] }"),
            ("file { 'f': ensure => file }", "file { 'f': ensure => file, require => Package['p'] }"),
            (
                "file { 'f':\n  ensure => file,\n}",
                "file { 'f':\n  ensure => file,\n  require => Package['p'],\n}",
            ),
            (
                "file { 'f':\n  ensure  => file,\n  content => 'a'\n}",
                "file { 'f':\n  ensure  => file,\n  content => 'a',\n  require => Package['p']\n}",
            ),
            ("file { 'f': require => User['u'] }", "file { 'f': require => [User['u'], Package['p']] }"),
            (
                "file { 'f': require => [User['u'], Group['g']] }",
                "file { 'f': require => [User['u'], Group['g'], Package['p']] }",
            ),
            (
                "file { 'e': ensure => file; 'f': mode => '0600' }",
                "file { 'e': ensure => file; 'f': mode => '0600', require => Package['p'] }",
            ),
        ];
        let comments = [
            (
                "file { 'f':\n  ensure => file, # kept\n}",
                "file { 'f':\n  ensure => file, # kept\n  require => Package['p'],\n}",
            ),
            (
                "file { 'f':\n  # above\n  ensure => file # kept, too\n  # below\n}",
                "file { 'f':\n  # above\n  ensure => file, # kept, too\n  require => Package['p']\n  # below\n}",
            ),
            (
                "file { 'f':\n  ensure => file, /* kept */\n  mode => '0600' /* and this */\n}",
                "file { 'f':\n  ensure => file, /* kept */\n  mode => '0600', /* and this */\n  require => Package['p']\n}",
            ),
            (
                "file { 'f':\n  require => [\n    User['u'], # why\n  ],\n}",
                "file { 'f':\n  require => [\n    User['u'], # why\n    Package['p'],\n  ],\n}",
            ),
            (
                "file { 'f':\n  require => [\n    User['u'] # why\n  ],\n}",
                "file { 'f':\n  require => [\n    User['u'], # why\n    Package['p']\n  ],\n}",
            ),
            (
                "file { 'f': # first\n  mode => '#1' }",
                "file { 'f': # first\n  mode => '#1',\n  require => Package['p'] }",
            ),
        ];
        for (before, wanted) in cases.into_iter().chain(comments) {
            assert_eq!(after(before, Relation::Require).as_deref(), Some(wanted), "{before}");
        }
    }

    #[test]
    fn a_definition_names_the_resource_of_its_own_instance() {
        let text = "define d() {\n  package { \"p-${name}\": }\n  file { \"/etc/${name}\":\n    content => 'x',\n  }\n}";
        let wanted = "define d() {\n  package { \"p-${name}\": }\n  file { \"/etc/${name}\":\n    content => 'x',\n    require => Package[\"p-${name}\"],\n  }\n}";
        assert_eq!(after(text, Relation::Require).as_deref(), Some(wanted));
    }

    #[test]
    fn what_a_splat_brings_is_left_alone() {
        assert_eq!(after("file { 'f': * => $all }", Relation::Require), None);
    }
}
