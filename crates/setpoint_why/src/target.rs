//! What can be asked about: `File[/etc/motd]`, `Class[Ntp].servers[0]`, `Package[a] -> File[b]`.

use setpoint_catalog::{Catalog, ResourceId};
use setpoint_source::Symbol;

/// An output of a compilation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// That a resource or class is there.
    Resource(ResourceId),
    /// A parameter, or a part of it, whether it is there or not.
    Parameter {
        resource: ResourceId,
        name: Symbol,
        path: Vec<Step>,
    },
    Tags(ResourceId),
    /// That one contains or comes before the other.
    Edge(ResourceId, ResourceId),
    /// A resource or class that is not there.
    Absent {
        type_name: Symbol,
        title: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Index(usize),
    Key(String),
}

/// A target that names nothing in the catalog: what is wrong, and what was meant perhaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    pub message: String,
    /// The resource that was named, if only the resource is missing.
    pub absent: Option<(Symbol, String)>,
}

impl Unknown {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), absent: None }
    }
}

/// Reads a target as people write it.
pub fn parse(catalog: &Catalog, text: &str) -> Result<Target, Unknown> {
    let text = text.trim();
    if let Some((left, right)) = arrow(text) {
        let from = resource(catalog, left.trim())?;
        let to = resource(catalog, right.trim())?;
        return Ok(Target::Edge(from, to));
    }
    let Some(end) = reference_end(text) else {
        return Err(Unknown::new(format!(
            "`{text}` is no reference; write `File[/etc/motd]`, `File[/etc/motd].content`, `Class[Ntp].servers[0]` or \
             `Package[a] -> File[b]`"
        )));
    };
    let (reference, rest) = text.split_at(end);
    let id = resource(catalog, reference)?;
    let Some(rest) = rest.strip_prefix('.') else {
        return if rest.is_empty() {
            Ok(Target::Resource(id))
        } else {
            Err(Unknown::new(format!("after `{reference}` comes `.parameter`, not `{rest}`")))
        };
    };
    let length = rest.find(['.', '[']).unwrap_or(rest.len());
    let (name, path) = rest.split_at(length);
    if name.is_empty() {
        return Err(Unknown::new(format!("which parameter of {reference}?")));
    }
    let path = steps(path)
        .ok_or_else(|| Unknown::new(format!("`{path}` is no path; write `[0]`, `['key']` or `.key`")))?;
    Ok(Target::Parameter { resource: id, name: Symbol::new(name), path })
}

/// The arrow between two references, if there is one outside of brackets.
fn arrow(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            '-' | '~' if depth == 0 && text[at..].len() > 1 && text[at + 1..].starts_with('>') => {
                return Some((&text[..at], &text[at + 2..]));
            }
            _ => {}
        }
    }
    None
}

/// Where the reference at the start of a text ends. Titles may have brackets of their own.
fn reference_end(text: &str) -> Option<usize> {
    let open = text.find('[')?;
    if open == 0 || text[..open].contains(char::is_whitespace) {
        return None;
    }
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match letter {
            '[' => depth += 1,
            ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let length = after.find(['.', '[']).unwrap_or(after.len());
            let (key, next) = after.split_at(length);
            steps.push(step(key)?);
            rest = next;
        } else {
            let inner = rest.strip_prefix('[')?;
            let (key, next) = inner.split_once(']')?;
            steps.push(step(key)?);
            rest = next;
        }
    }
    Some(steps)
}

fn step(key: &str) -> Option<Step> {
    let key = key.trim();
    let quoted = ['\'', '"'].iter().find_map(|quote| key.strip_prefix(*quote)?.strip_suffix(*quote));
    match (quoted, key.parse()) {
        (Some(text), _) => Some(Step::Key(text.to_owned())),
        (None, Ok(at)) => Some(Step::Index(at)),
        (None, Err(_)) if key.is_empty() => None,
        (None, Err(_)) => Some(Step::Key(key.to_owned())),
    }
}

fn resource(catalog: &Catalog, text: &str) -> Result<ResourceId, Unknown> {
    let wrong = || Unknown::new(format!("`{text}` is no reference; write `File[/etc/motd]`"));
    let (type_name, rest) = text.split_once('[').ok_or_else(wrong)?;
    let title = rest.strip_suffix(']').ok_or_else(wrong)?;
    let quoted = ['\'', '"'].iter().find_map(|quote| title.strip_prefix(*quote)?.strip_suffix(*quote));
    let title = quoted.unwrap_or(title);
    let type_name = Symbol::new(&setpoint_catalog::display_name(&type_name.trim().to_lowercase()));
    let title = if type_name.as_str() == "Class" && title != "main" {
        setpoint_catalog::display_name(&title.strip_prefix("::").unwrap_or(title).to_lowercase())
    } else {
        title.to_owned()
    };
    match catalog.find(type_name, &title) {
        Some(id) if !catalog[id].virtual_ => Ok(id),
        found => {
            let reference = format!("{type_name}[{title}]");
            let mut message = match found {
                Some(_) => format!("{reference} is declared, but virtual: nothing has made it real"),
                None => format!("there is no {reference} in the catalog"),
            };
            if found.is_none()
                && let Some(near) = nearest(catalog, &reference)
            {
                message += &format!("; did you mean {near}?");
            }
            Err(Unknown { message, absent: Some((type_name, title)) })
        }
    }
}

/// The reference in the catalog that is most like another.
fn nearest(catalog: &Catalog, reference: &str) -> Option<String> {
    let real = catalog.resources().iter().filter(|resource| !resource.virtual_);
    let known: Vec<String> = real.map(setpoint_catalog::Resource::reference).collect();
    let by_title = || {
        let (_, title) = reference.split_once('[')?;
        known
            .iter()
            .find(|known| known.split_once('[').is_some_and(|(_, other)| other.eq_ignore_ascii_case(title)))
    };
    setpoint_source::nearest(reference, known.iter().map(String::as_str))
        .map(str::to_owned)
        .or_else(|| by_title().cloned())
}
