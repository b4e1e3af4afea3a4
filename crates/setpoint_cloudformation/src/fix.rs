//! Edits of a template's text.

use setpoint_source::{Edit, Fix, Range, Symbol};

use crate::template::{Resource, Template};

/// Adds names to the `DependsOn` of a resource, in the style of the file. `None` if the resource is not written in the
/// file itself, but made by a loop or a transform.
pub(crate) fn add_depends_on(template: &Template, resource: &Resource, targets: &[Symbol]) -> Option<Fix> {
    let text = &*template.text;
    let name = text.get(resource.name_range.start as usize..resource.name_range.end as usize)?;
    if resource.made_from.is_some() || name.trim_matches(['"', '\'']) != &*resource.name {
        return None;
    }
    let (range, replacement) = match resource.depends_range {
        Some(range) => extended(text, range, resource, targets)?,
        None => inserted(text, resource, targets)?,
    };
    let edit = Edit { span: template.span(range), replacement };
    let waits_for: Vec<String> = targets.iter().map(|target| format!("`{target}`")).collect();
    let title = format!("Let `{}` wait for {}", resource.name, waits_for.join(" and "));
    Some(Fix { title, edits: vec![edit] })
}

/// A new `DependsOn` beside `Type`: on a line of its own where the mapping has one line an entry.
fn inserted(text: &str, resource: &Resource, targets: &[Symbol]) -> Option<(Range, String)> {
    let (key, value) = resource.type_ranges;
    let start = key.start as usize;
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let before = text.get(line_start..start)?;
    let own_line = before.trim().is_empty();
    let quoted = text[start..].starts_with('"');
    let newline = if text[..start].ends_with("\r\n") { "\r\n" } else { "\n" };
    let names = listed(targets, if quoted { "\"" } else { "" });
    let names = if targets.len() == 1 { names } else { format!("[{names}]") };
    if own_line && !quoted {
        let rest = text.get(value.end as usize..)?;
        let end = value.end as usize + rest.find(['\r', '\n']).unwrap_or(rest.len());
        return Some((Range::new(end, end), format!("{newline}{before}DependsOn: {names}")));
    }
    let entry = if quoted { format!("\"DependsOn\": {names},") } else { format!("DependsOn: {names},") };
    let space = if own_line { format!("{newline}{before}") } else { " ".to_owned() };
    Some((Range::new(start, start), format!("{entry}{space}")))
}

/// `A, B`, each in quotes if the file has them.
fn listed(targets: &[Symbol], quote: &str) -> String {
    targets.iter().map(|target| format!("{quote}{target}{quote}")).collect::<Vec<_>>().join(", ")
}

/// The names that are there, and more.
fn extended(text: &str, range: Range, resource: &Resource, targets: &[Symbol]) -> Option<(Range, String)> {
    let old = text.get(range.start as usize..range.end as usize)?;
    if old.starts_with('[') {
        let open = old.trim_end().strip_suffix(']')?.trim_end();
        let quote = if old.contains('"') { "\"" } else { "" };
        let comma = if open.ends_with('[') { "" } else { ", " };
        return Some((range, format!("{open}{comma}{}]", listed(targets, quote))));
    }
    if old.starts_with('"') && text[resource.type_ranges.0.start as usize..].starts_with('"') {
        return Some((range, format!("[{old}, {}]", listed(targets, "\""))));
    }
    if let Some((_, last)) = resource.depends_on.last()
        && old.starts_with('-')
    {
        let line_start = text[..last.start as usize].rfind('\n').map_or(0, |at| at + 1);
        let lead = text.get(line_start..last.start as usize)?;
        let at = Range::new(last.end as usize, last.end as usize);
        let indent: String = lead.chars().take_while(|c| c.is_whitespace()).collect();
        // The first item may stand behind its key on another line.
        let indent = if lead.trim() == "-" { indent } else { return None };
        let more: Vec<String> = targets.iter().map(|target| format!("\n{indent}- {target}")).collect();
        return Some((at, more.concat()));
    }
    Some((range, format!("[{old}, {}]", listed(targets, ""))))
}
