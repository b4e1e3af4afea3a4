//! YAML, from a stream of events to a tree.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{BufReader, Read as _};
use std::sync::{Arc, Once};

use libyaml_safer::{Error, Event, EventData, Mark, Parser, ScalarStyle};
use setpoint_source::{Diagnostic, FileId, Range, Rule};

use crate::json::{limit_reached, unique};
use crate::node::{Document, Entry, Kind, Node, Style};
use crate::{MAX_DEPTH, MAX_NODES};

/// What is said of an alias without a node.
pub const UNKNOWN_ALIAS: &str = "this alias names a node that contains it, or none";

/// What becomes of `<<` and of keys that stand twice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Merged as the specification says, and unique.
    Merged,
    /// As they stand: the reader has rules of its own.
    AsWritten,
}

pub(crate) fn read(file: FileId, text: &str, keys: Keys) -> Document {
    let mut builder = Builder::new(file, keys);
    let mut input = Input::new(text);
    loop {
        match input.parse(&mut builder) {
            Ended::Here => break,
            // What the parser cannot read as it stands is read again in another form.
            Ended::Panicked { at } => {
                builder = Builder::new(file, keys);
                if !input.rewrite(at) {
                    let range = Range::new(at.min(text.len()), text.len());
                    builder.stop(range, "Setpoint's YAML parser cannot read what stands here".to_owned());
                    break;
                }
            }
        }
    }
    builder.close_all();
    Document {
        root: builder.root,
        second: builder.second,
        alias: builder.alias,
        diagnostics: builder.diagnostics,
    }
}

/// libyaml reads its input in pieces of this size: what is wrong in a later one does not keep it from reading this one.
const PIECE: usize = 16 * 1024;

/// How many commas after tags are set apart in one text.
const MAX_BLANKS: usize = 100;

/// A text as the parser gets it.
///
/// The parser is a port of libyaml that panics on three inputs which libyaml reads: a block scalar that ends with the
/// text, a backslash at the end of the text, and a tag that a comma follows (`[!!str, a]`). A line feed is added for
/// the first two, and taken from the scalar again; for the third, a blank stands before the comma.
struct Input<'a> {
    text: &'a str,
    /// The byte order mark, which the parser does not count.
    skipped: usize,
    adds_line_feed: bool,
    /// Where blanks are added, in order.
    blanks: Vec<usize>,
    /// Places of commas that need no blank, by trial.
    refused: Vec<usize>,
    /// The last place where a panic occurred, to see whether a blank helped.
    panicked_at: Option<usize>,
}

enum Ended {
    /// All is read, or the builder wants no more.
    Here,
    /// The parser gave up after this place.
    Panicked { at: usize },
}

impl<'a> Input<'a> {
    fn new(text: &'a str) -> Self {
        let last_line = text.rsplit('\n').next().unwrap_or_default();
        Self {
            text,
            skipped: if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 },
            // A line of blanks is no content of a block scalar, unless they are more than its indentation.
            adds_line_feed: !last_line.trim_matches(' ').is_empty(),
            blanks: Vec::new(),
            refused: Vec::new(),
            panicked_at: None,
        }
    }

    fn parse(&self, builder: &mut Builder) -> Ended {
        let mut rewritten = String::new();
        let mut from = 0;
        for &at in &self.blanks {
            rewritten.push_str(&self.text[from..at]);
            rewritten.push(' ');
            from = at;
        }
        let head = if rewritten.is_empty() {
            self.text.as_bytes()
        } else {
            rewritten.push_str(&self.text[from..]);
            rewritten.as_bytes()
        };
        let tail: &[u8] = if self.adds_line_feed { b"\n" } else { b"" };
        let mut parser = Parser::new();
        parser.set_input(BufReader::with_capacity(PIECE, head.chain(tail)));
        let mut at = 0;
        let ended = quietly(|| {
            for event in &mut parser {
                let going_on = match event {
                    Ok(event) => {
                        let range = self.range(&event);
                        at = range.end as usize;
                        let ends_with_text = event.end_mark.index as usize > head.len() - self.skipped;
                        builder.event(event.data, range, self.text, ends_with_text)
                    }
                    Err(error) => builder.error(&error, self.place_of(&error), self.text),
                };
                if !going_on {
                    break;
                }
            }
        });
        if ended { Ended::Here } else { Ended::Panicked { at } }
    }

    /// Changes the form of the text after a panic; false if there is nothing left to try.
    fn rewrite(&mut self, at: usize) -> bool {
        if self.panicked_at == Some(at)
            && let Some(useless) = self.blanks.pop()
        {
            self.refused.push(useless);
        }
        self.panicked_at = Some(at);
        if self.blanks.len() + self.refused.len() < MAX_BLANKS
            && let Some(comma) = self.next_tag_with_comma(at)
        {
            let index = self.blanks.partition_point(|&known| known < comma);
            self.blanks.insert(index, comma);
            return true;
        }
        !std::mem::replace(&mut self.adds_line_feed, true)
    }

    /// The place of the first comma from `at` on that directly follows what may be a tag.
    fn next_tag_with_comma(&self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut from = at;
        while let Some(mark) = bytes.get(from..)?.iter().position(|&byte| byte == b'!') {
            let start = from + mark;
            let length = bytes[start..]
                .iter()
                .position(|byte| byte.is_ascii_whitespace() || b",[]{}".contains(byte))
                .unwrap_or(bytes.len() - start);
            let end = start + length;
            let is_new = !self.blanks.contains(&end) && !self.refused.contains(&end);
            if bytes.get(end) == Some(&b',') && is_new {
                return Some(end);
            }
            from = start + 1;
        }
        None
    }

    /// The place in the text of a place in what the parser read.
    fn byte(&self, mark: Mark) -> usize {
        let at = self.skipped + mark.index as usize;
        // The n-th blank stands n places further on than in the text.
        let blanks = self.blanks.iter().enumerate().filter(|(count, blank)| *blank + count < at).count();
        (at - blanks).min(self.text.len())
    }

    fn range(&self, event: &Event) -> Range {
        let (start, end) = (self.byte(event.start_mark), self.byte(event.end_mark));
        Range::new(start, end.max(start))
    }

    fn place_of(&self, error: &Error) -> usize {
        if let Some(mark) = error.problem_mark() {
            return self.byte(mark);
        }
        // The reader stops at characters that may not stand in a text.
        let mut places = self.text.char_indices().skip(usize::from(self.skipped > 0));
        places.find(|(_, letter)| !is_allowed(*letter)).map_or(self.text.len(), |(at, _)| at)
    }
}

fn is_allowed(letter: char) -> bool {
    matches!(
        letter,
        '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..
    )
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs the parser; false if it panicked, of which nothing is printed.
fn quietly(run: impl FnOnce()) -> bool {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let outer = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                outer(panic);
            }
        }));
    });
    QUIET.set(true);
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    QUIET.set(false);
    ended.is_ok()
}

/// A collection that is not closed yet.
struct Open {
    start: Range,
    tag: Option<Arc<str>>,
    anchor: Option<String>,
    mapping: bool,
    items: Vec<Node>,
    first_node: usize,
}

struct Builder {
    file: FileId,
    keys: Keys,
    open: Vec<Open>,
    /// The node of each anchor, and how many nodes it holds.
    anchors: HashMap<String, (Node, usize)>,
    nodes: usize,
    root: Option<Node>,
    /// The first document has ended.
    has_ended: bool,
    second: Option<Range>,
    alias: Option<Range>,
    diagnostics: Vec<Diagnostic>,
}

impl Builder {
    fn new(file: FileId, keys: Keys) -> Self {
        Self {
            file,
            keys,
            open: Vec::new(),
            anchors: HashMap::new(),
            nodes: 0,
            root: None,
            has_ended: false,
            second: None,
            alias: None,
            diagnostics: Vec::new(),
        }
    }

    /// Takes one event; false ends the reading. `ends_with_text`: it ends with the line feed that was added.
    fn event(&mut self, event: EventData, range: Range, text: &str, ends_with_text: bool) -> bool {
        match event {
            EventData::Scalar { anchor, tag, value, style, .. } => {
                self.scalar((value, style), (anchor, tag), range, text, ends_with_text)
            }
            EventData::SequenceStart { anchor, tag, .. } => self.start(range, anchor, tag.as_deref(), false),
            EventData::MappingStart { anchor, tag, .. } => self.start(range, anchor, tag.as_deref(), true),
            EventData::SequenceEnd | EventData::MappingEnd => self.close(range),
            EventData::Alias { anchor } => {
                self.alias = self.alias.or(Some(range));
                let Some((node, count)) = self.anchors.get(&anchor).cloned() else {
                    return self.fail(range, UNKNOWN_ALIAS);
                };
                self.nodes += count;
                if self.nodes > MAX_NODES {
                    return self.stop(
                        range,
                        format!("aliases make more than {MAX_NODES} values of this file: it is too large"),
                    );
                }
                self.add(Node { range, ..node }, None, count)
            }
            // Only the first document counts.
            EventData::DocumentEnd { .. } => {
                self.has_ended = self.root.is_some();
                true
            }
            EventData::DocumentStart { .. } if self.has_ended => {
                self.second = Some(range);
                false
            }
            _ => true,
        }
    }

    fn scalar(
        &mut self,
        (mut value, style): (String, ScalarStyle),
        (anchor, tag): (Option<String>, Option<String>),
        mut range: Range,
        text: &str,
        ends_with_text: bool,
    ) -> bool {
        let style = match style {
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
            ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
            _ => Style::Plain,
        };
        if style == Style::Block {
            if ends_with_text && value.ends_with('\n') {
                value.pop();
            }
            // The parser ends a block scalar where the next token starts.
            let written = text.get(range.start as usize..range.end as usize).unwrap_or_default();
            range = Range::new(range.start as usize, range.start as usize + written.trim_end().len());
        }
        let kind = Kind::Scalar { text: value.into(), style };
        self.nodes += 1;
        self.add(Node { range, tag: tag.as_deref().and_then(tag_text), kind }, anchor, 1)
    }

    /// Takes what is wrong with the text; returns that the reading ends.
    fn error(&mut self, error: &Error, at: usize, text: &str) -> bool {
        // What stands after the first document does not break that one.
        if self.has_ended {
            self.second = Some(Range::new(at, at));
            return false;
        }
        let next = text.get(at..).and_then(|rest| rest.chars().next());
        let end = next.map_or(at, |next| at + next.len_utf8());
        let message = match error.context() {
            Some(context) => format!("{} {context}", error.problem()),
            None => error.problem().to_owned(),
        };
        self.fail(Range::new(at, end), &message)
    }

    fn start(&mut self, start: Range, anchor: Option<String>, tag: Option<&str>, mapping: bool) -> bool {
        if self.open.len() >= MAX_DEPTH {
            return self.stop(start, format!("the data is nested more than {MAX_DEPTH} levels deep"));
        }
        if let Some(anchor) = &anchor {
            // Within the node, its name means the node itself.
            self.anchors.remove(anchor);
        }
        self.nodes += 1;
        let tag = tag.and_then(tag_text);
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
                self.alias = self.alias.or(Some(key.range));
                match &value.kind {
                    Kind::Mapping(more) => merged.extend(more.iter().cloned()),
                    Kind::Sequence(maps) if maps.iter().all(Node::is_mapping) => {
                        merged.extend(maps.iter().flat_map(Node::entries).cloned());
                    }
                    Kind::Sequence(_) | Kind::Scalar { .. } => entries.push(Entry { key, value }),
                }
            } else {
                entries.push(Entry { key, value });
            }
        }
        if self.keys == Keys::AsWritten {
            return entries;
        }
        let mut entries = unique(entries, self.file, &mut self.diagnostics);
        if merged.is_empty() {
            return entries;
        }
        let mut known: std::collections::HashSet<Option<String>> =
            entries.iter().map(|entry| entry.key.text().map(str::to_owned)).collect();
        for entry in merged {
            if known.insert(entry.key.text().map(str::to_owned)) {
                entries.push(entry);
            }
        }
        entries
    }

    fn add(&mut self, node: Node, anchor: Option<String>, count: usize) -> bool {
        if let Some(anchor) = anchor {
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

/// A tag as nodes have it; `!` alone says nothing.
fn tag_text(tag: &str) -> Option<Arc<str>> {
    if let Some(core) = tag.strip_prefix("tag:yaml.org,2002:") {
        return Some(format!("!{core}").into());
    }
    let tag = tag.strip_prefix('!').unwrap_or(tag);
    (!tag.is_empty()).then(|| tag.into())
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
    fn aliases_and_merges_have_a_place() {
        assert_eq!(read("a: 1\n").0.alias, None);
        assert_eq!(read("a: &a 1\n").0.alias, None);
        assert_eq!(read("a: &a 1\nb: *a\n").0.alias.map(|range| range.start), Some(11));
        assert_eq!(read("a: {<<: {b: 1}}\n").0.alias.map(|range| range.start), Some(4));
        // What cannot be merged stays as it is written.
        let root = read("a: {<<: [5]}\n").0.root.expect("a tree");
        assert!(root.get("a").is_some_and(|inner| inner.get("<<").is_some()));
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
