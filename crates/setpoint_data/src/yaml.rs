//! YAML, from a stream of events to a tree.

use std::collections::HashMap;
use std::sync::Arc;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use setpoint_source::{Diagnostic, FileId, Range, Rule};

use crate::json::{limit_reached, unique};
use crate::node::{Document, Entry, Kind, Node, Style};
use crate::{MAX_DEPTH, MAX_NODES};

/// What becomes of `<<` and of keys that stand twice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Merged as the specification says, and unique.
    Merged,
    /// As they stand: the reader has rules of its own.
    AsWritten,
}

/// The parser counts brackets in a byte, and stops where that is full.
const MAX_FLOW_DEPTH: usize = 250;

/// Whether so many brackets are open before a place that the parser stops there.
fn is_bracket_limit(text: &str, at: usize) -> bool {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    let count = |brackets: &[u8; 2]| before.iter().filter(|byte| brackets.contains(byte)).count();
    count(b"[{") >= count(b"]}") + MAX_FLOW_DEPTH
}

pub(crate) fn read(file: FileId, text: &str, keys: Keys) -> Document {
    let offsets = Offsets::new(text);
    let mut builder = Builder {
        file,
        keys,
        open: Vec::new(),
        anchors: HashMap::new(),
        nodes: 0,
        root: None,
        has_ended: false,
        second: None,
        diagnostics: Vec::new(),
    };
    for event in Parser::new_from_str(text) {
        let going_on = match event {
            Ok((event, span)) => builder.event(event, offsets.range(&span)),
            // What stands after the first document does not break that one.
            Err(error) if builder.has_ended => {
                let at = offsets.byte(error.marker().index());
                builder.second = Some(Range::new(at, at));
                false
            }
            Err(error) if is_bracket_limit(text, offsets.byte(error.marker().index())) => {
                let at = offsets.byte(error.marker().index());
                builder.stop(
                    Range::new(at, at),
                    format!("the brackets of YAML are nested more than {MAX_FLOW_DEPTH} levels deep"),
                )
            }
            Err(error) => {
                let at = offsets.byte(error.marker().index());
                let end = text
                    .get(at..)
                    .and_then(|rest| rest.chars().next())
                    .map_or(at, |next| at + next.len_utf8());
                builder.fail(Range::new(at, end), error.info());
                false
            }
        };
        if !going_on {
            break;
        }
    }
    builder.close_all();
    Document { root: builder.root, second: builder.second, diagnostics: builder.diagnostics }
}

/// From positions in characters, as the parser counts, to bytes.
struct Offsets {
    /// Absent for ASCII, where the two are the same.
    bytes: Option<Vec<u32>>,
    len: usize,
}

impl Offsets {
    fn new(text: &str) -> Self {
        let bytes = (!text.is_ascii()).then(|| text.char_indices().map(|(at, _)| at as u32).collect());
        Self { bytes, len: text.len() }
    }

    fn byte(&self, index: usize) -> usize {
        match &self.bytes {
            None => index.min(self.len),
            Some(bytes) => bytes.get(index).map_or(self.len, |&at| at as usize),
        }
    }

    fn range(&self, span: &saphyr_parser::Span) -> Range {
        Range::new(self.byte(span.start.index()), self.byte(span.end.index()))
    }
}

/// A collection that is not closed yet.
struct Open {
    start: Range,
    tag: Option<Arc<str>>,
    anchor: usize,
    mapping: bool,
    items: Vec<Node>,
    first_node: usize,
}

struct Builder {
    file: FileId,
    keys: Keys,
    open: Vec<Open>,
    /// The node of each anchor, and how many nodes it holds.
    anchors: HashMap<usize, (Node, usize)>,
    nodes: usize,
    root: Option<Node>,
    /// The first document has ended.
    has_ended: bool,
    second: Option<Range>,
    diagnostics: Vec<Diagnostic>,
}

impl Builder {
    /// Takes one event; false ends the reading.
    fn event(&mut self, event: Event<'_>, range: Range) -> bool {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
                    ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
                };
                let kind = Kind::Scalar { text: text.as_ref().into(), style };
                self.nodes += 1;
                self.add(Node { range, tag: tag.map(|tag| tag_text(&tag)), kind }, anchor, 1)
            }
            Event::SequenceStart(anchor, tag) => self.start(range, anchor, tag.as_deref(), false),
            Event::MappingStart(anchor, tag) => self.start(range, anchor, tag.as_deref(), true),
            Event::SequenceEnd | Event::MappingEnd => self.close(range),
            Event::Alias(anchor) => {
                let Some((node, count)) = self.anchors.get(&anchor).cloned() else {
                    return self.fail(range, "this alias names a node that contains it, or none");
                };
                self.nodes += count;
                if self.nodes > MAX_NODES {
                    return self.stop(
                        range,
                        format!("aliases make more than {MAX_NODES} values of this file: it is too large"),
                    );
                }
                self.add(Node { range, ..node }, 0, count)
            }
            // Only the first document counts.
            Event::DocumentEnd => {
                self.has_ended = self.root.is_some();
                true
            }
            Event::DocumentStart(_) if self.has_ended => {
                self.second = Some(range);
                false
            }
            _ => true,
        }
    }

    fn start(&mut self, start: Range, anchor: usize, tag: Option<&Tag>, mapping: bool) -> bool {
        if self.open.len() >= MAX_DEPTH {
            return self.stop(start, format!("the data is nested more than {MAX_DEPTH} levels deep"));
        }
        self.nodes += 1;
        let tag = tag.map(tag_text);
        self.open.push(Open { start, tag, anchor, mapping, items: Vec::new(), first_node: self.nodes });
        true
    }

    fn close(&mut self, end: Range) -> bool {
        let Some(open) = self.open.pop() else { return true };
        let last = open.items.last().map_or(open.start, |item| item.range);
        // The end of a block collection is reported where the next token starts; the last item ends it.
        let end = if end.start == end.end { last } else { end };
        let range = open.start.to(last).to(end);
        let kind = if open.mapping {
            Kind::Mapping(Arc::new(self.entries(open.items)))
        } else {
            Kind::Sequence(Arc::new(open.items))
        };
        let count = self.nodes - open.first_node + 1;
        self.add(Node { range, tag: open.tag, kind }, open.anchor, count)
    }

    /// Pairs keys with values and takes in what `<<` merges.
    fn entries(&mut self, items: Vec<Node>) -> Vec<Entry> {
        let mut entries = Vec::with_capacity(items.len() / 2);
        let mut merged: Vec<Entry> = Vec::new();
        let mut items = items.into_iter();
        while let (Some(key), Some(value)) = (items.next(), items.next()) {
            if self.keys == Keys::AsWritten {
                entries.push(Entry { key, value });
            } else if key.plain() == Some("<<") {
                match &value.kind {
                    Kind::Mapping(more) => merged.extend(more.iter().cloned()),
                    Kind::Sequence(maps) => merged.extend(maps.iter().flat_map(Node::entries).cloned()),
                    Kind::Scalar { .. } => entries.push(Entry { key, value }),
                }
            } else {
                entries.push(Entry { key, value });
            }
        }
        if self.keys == Keys::AsWritten {
            return entries;
        }
        let mut entries = unique(entries, self.file, &mut self.diagnostics);
        for entry in merged {
            if !entries.iter().any(|known| known.key.text() == entry.key.text()) {
                entries.push(entry);
            }
        }
        entries
    }

    fn add(&mut self, node: Node, anchor: usize, count: usize) -> bool {
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), count));
        }
        match self.open.last_mut() {
            Some(open) => open.items.push(node),
            None if self.root.is_none() => self.root = Some(node),
            None => {}
        }
        true
    }

    /// After an error, what is open is closed, so that nothing that was read is lost.
    fn close_all(&mut self) {
        while let Some(open) = self.open.last_mut() {
            if open.mapping && open.items.len() % 2 == 1 {
                open.items.pop();
            }
            self.close(Range::default());
        }
    }

    /// Ends the reading at a limit of ours: what is beyond it may be well-formed.
    fn stop(&mut self, range: Range, message: String) -> bool {
        self.diagnostics.push(limit_reached(message, range.in_file(self.file)));
        false
    }

    fn fail(&mut self, range: Range, message: &str) -> bool {
        let message = format!("this is not valid YAML: {message}");
        self.diagnostics.push(Diagnostic::new(Rule::InvalidData, message).at(range.in_file(self.file)));
        false
    }
}

fn tag_text(tag: &Tag) -> Arc<str> {
    if tag.is_yaml_core_schema() { format!("!{}", tag.suffix).into() } else { tag.suffix.as_str().into() }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use setpoint_source::{Rule, Sources};

    fn read(text: &str) -> (crate::Document, Sources) {
        let sources = Sources::new();
        let file = sources.add("x.yaml", text);
        (crate::read(file, text), sources)
    }

    #[test]
    fn nodes_know_their_place() {
        let text = "é: [1, !Ref Vpc]\nb:\n  c: 'x'\n";
        let (document, _) = read(text);
        let root = document.root.unwrap();
        let reference = &root.get("é").unwrap().items()[1];
        assert_eq!(reference.tag.as_deref(), Some("Ref"));
        assert_eq!(&text[reference.range.start as usize..reference.range.end as usize], "!Ref Vpc");
        let inner = root.get("b").unwrap();
        assert_eq!(&text[inner.range.start as usize..inner.range.end as usize], "c: 'x'");
    }

    #[test]
    fn merges_and_aliases_are_taken_in() {
        let (document, _) = read("a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  y: 3\n");
        let root = document.root.unwrap();
        let b = root.get("b").unwrap();
        assert_eq!(b.get("x").unwrap().text(), Some("1"));
        assert_eq!(b.get("y").unwrap().text(), Some("3"));
    }

    #[test]
    fn a_bomb_of_aliases_is_refused() {
        let mut text = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for n in 1..10 {
            let before = format!("*a{}", n - 1);
            let _ = writeln!(text, "a{n}: &a{n} [{}]", [before.as_str(); 10].join(","));
        }
        let (document, _) = read(&text);
        assert!(document.diagnostics[0].message.contains("too large"));
    }

    #[test]
    fn deep_nesting_is_a_limit() {
        for text in
            ["[".repeat(100_000), format!("{}1{}", "[".repeat(600), "]".repeat(600)), "- ".repeat(600)]
        {
            let (document, _) = read(&text);
            assert_eq!(document.diagnostics[0].rule, Rule::LimitReached);
        }
    }

    #[test]
    fn a_second_document_has_a_place() {
        assert_eq!(read("a: 1\n").0.second, None);
        assert_eq!(read("a: 1\n---\nb: 2\n").0.second.map(|range| range.start), Some(5));
        let (document, _) = read("a: 1\n...\n}\n");
        assert!(document.second.is_some() && document.diagnostics.is_empty());
    }

    #[test]
    fn what_stands_before_an_error_is_kept() {
        let (document, _) = read("a: 1\nb: [2\nc: }\n");
        assert!(!document.diagnostics.is_empty());
        assert_eq!(document.root.unwrap().get("a").unwrap().text(), Some("1"));
    }

    #[test]
    fn json_is_read_as_json() {
        let (document, _) = read("{\"a\":\t\"\\ud83d\\ude00\", \"n\": 1.5, \"z\": null}");
        assert!(document.diagnostics.is_empty());
        let root = document.root.unwrap();
        assert_eq!(root.get("a").unwrap().text(), Some("😀"));
        assert!(root.get("z").unwrap().is_null());
    }
}
