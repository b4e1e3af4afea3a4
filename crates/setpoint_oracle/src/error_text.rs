//! Puppet's error messages, without the path they took: `Evaluation Error: Error while evaluating a Resource
//! Statement, Unknown variable: 'x'. (file: /tmp/main.pp, line: 7, column: 20) (file: …, line: 13) on node n` says
//! `Unknown variable: 'x'.` at line 7, column 20.

use std::fmt::Write;

use crate::Place;

/// The message itself and the innermost place that Puppet names at its end.
pub(crate) fn essence(message: &str, root: &str) -> (String, Option<Place>) {
    let mut text = message.trim();
    if let Some((before, node)) = text.rsplit_once(" on node ")
        && !node.contains(' ')
    {
        text = before;
    }
    let mut places = Vec::new();
    while let Some((before, place)) = last_place(text, root) {
        places.push(place);
        text = before.trim_end();
    }
    places.reverse();
    let place = places.iter().find(|place| place.column.is_some()).or(places.first()).cloned();
    (readable(without_addresses(without_prefixes(text)), root), place)
}

/// The message with its places as people write them: `(line 3)`.
pub(crate) fn readable(text: impl Into<String>, root: &str) -> String {
    let text = text.into();
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("(file: ") {
        let Some(end) = rest[at..].find(')').map(|end| at + end + 1) else { break };
        out.push_str(&rest[..at]);
        match parse_place(&rest[at..end], root) {
            Some(place) => {
                let _ = write!(out, "({place})");
            }
            None => out.push_str(&rest[at..end]),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out.replace(&format!("{root}/"), "")
}

fn without_prefixes(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        if let Some(rest) = text.strip_prefix("Evaluation Error: ") {
            text = rest;
        } else if let Some(rest) = text.strip_prefix("Could not parse for environment production: ") {
            text = rest;
        } else if let Some(rest) = text.strip_prefix("Error while evaluating a") {
            match rest.split_once(',') {
                Some((what, rest)) if !what.contains(['(', ':']) => text = rest,
                _ => return text,
            }
        } else {
            return text;
        }
    }
}

/// A Ruby object's address is no part of an answer: ` by #<Puppet::Resource::Type:0x00007f2d19522888>`.
fn without_addresses(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(" by #<Puppet::") {
        let Some(end) = rest[at..].find('>').map(|end| at + end + 1) else { break };
        out.push_str(&rest[..at]);
        rest = &rest[end..];
    }
    out + rest
}

/// `… (file: F, line: 1, column: 2)` is what is before it, and the place.
fn last_place<'a>(text: &'a str, root: &str) -> Option<(&'a str, Place)> {
    let at = text.rfind("(file: ")?;
    let place = parse_place(&text[at..], root)?;
    Some((&text[..at], place))
}

fn parse_place(text: &str, root: &str) -> Option<Place> {
    let inner = text.strip_prefix("(file: ")?.strip_suffix(')')?;
    let mut file = inner;
    let (mut line, mut column) = (None, None);
    if let Some((before, number)) = file.rsplit_once(", column: ") {
        column = Some(number.parse().ok()?);
        file = before;
    }
    if let Some((before, number)) = file.rsplit_once(", line: ") {
        line = Some(number.parse().ok()?);
        file = before;
    }
    if file.contains(['(', ')']) {
        return None;
    }
    Some(Place::new(file, line, column, root))
}

#[cfg(test)]
mod tests {
    use super::essence;

    #[test]
    fn the_innermost_place_and_the_last_cause_are_kept() {
        let message = "Evaluation Error: Error while evaluating a Resource Statement, Evaluation Error: Unknown variable: 'x'. \
                       (file: /t/main.pp, line: 7, column: 20) (file: /t/main.pp, line: 13) on node n.example.com";
        let (text, place) = essence(message, "/t");
        assert_eq!(text, "Unknown variable: 'x'.");
        assert_eq!(place.map(|place| place.to_string()).as_deref(), Some("line 7:20"));
    }

    #[test]
    fn places_within_the_message_are_shortened() {
        let message = "Evaluation Error: Error while evaluating a Resource Statement, Duplicate declaration: Foo[a] is already \
                       declared at (file: /t/modules/m/manifests/a.pp, line: 3); cannot redeclare (file: /t/main.pp, line: 9) \
                       (file: /t/main.pp, line: 9, column: 2) on node n";
        let (text, place) = essence(message, "/t");
        assert_eq!(
            text,
            "Duplicate declaration: Foo[a] is already declared at (modules/m/manifests/a.pp line 3); cannot redeclare"
        );
        assert_eq!(place.map(|place| place.to_string()).as_deref(), Some("line 9:2"));
    }
}
