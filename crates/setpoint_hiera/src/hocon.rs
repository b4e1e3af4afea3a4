//! HOCON: JSON with fewer marks, with values that follow each other, and with names that stand for other values.
//!
//! Environment variables are not read, and `include` is passed over, as the library that Puppet uses does it for data that
//! comes as a text.

use indexmap::IndexMap;
use setpoint_puppet_values::{Key, Value};
use setpoint_source::{Limit, Range};

use crate::data::{Entries, Item, Kind};

const MAX_DEPTH: Limit = Limit::new(200);

pub(crate) fn read(text: &str) -> Result<Item, String> {
    let mut parser = Parser { text, at: 0 };
    let root = parser.document()?;
    let mut resolver = Resolver { root: &root, open: Vec::new(), steps: 0 };
    let entries = resolver.object(&root, &[])?;
    Ok(Item { range: Range::new(0, text.len()), kind: Kind::Hash(entries) })
}

/// What a key is given, each time that it is given something.
type Fields = IndexMap<String, Vec<Node>>;

#[derive(Debug)]
struct Node {
    range: Range,
    line: usize,
    /// Pieces that follow each other make one value.
    pieces: Vec<Piece>,
}

#[derive(Debug)]
enum Piece {
    Quoted(String),
    Plain(String),
    /// Between two others.
    Space(String),
    Array(Vec<Node>),
    Object(Fields),
    Name {
        path: Vec<String>,
        shown: String,
        optional: bool,
    },
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn line(&self) -> usize {
        self.text.get(..self.at).unwrap_or("").matches('\n').count() + 1
    }

    fn fail<T>(&self, message: &str) -> Result<T, String> {
        Err(format!("String: {}: {message}", self.line()))
    }

    fn token(&self) -> String {
        self.peek().map_or_else(|| "end of file".to_owned(), |letter| format!("'{letter}'"))
    }

    fn eat(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len();
        }
        found
    }

    fn is_comment(&self) -> bool {
        self.rest().starts_with('#') || self.rest().starts_with("//")
    }

    /// Blanks and comments; whether a line ended among them.
    fn space(&mut self, over_lines: bool) -> bool {
        let mut ended = false;
        while let Some(letter) = self.peek() {
            if self.is_comment() {
                let end = self.rest().find('\n').unwrap_or(self.rest().len());
                self.at += end;
            } else if letter == '\n' {
                if !over_lines {
                    return ended;
                }
                ended = true;
                self.at += 1;
            } else if letter.is_whitespace() || letter == '\u{feff}' {
                self.at += letter.len_utf8();
            } else {
                break;
            }
        }
        ended
    }

    fn document(&mut self) -> Result<Fields, String> {
        self.space(true);
        if self.peek() == Some('[') {
            return self.fail(" has type LIST rather than object at file root");
        }
        let braces = self.eat("{");
        let fields = self.fields(braces, 0)?;
        self.space(true);
        if !self.rest().is_empty() {
            let token = self.token();
            return self.fail(&format!("Document has trailing tokens after first object or array: {token}"));
        }
        Ok(fields)
    }

    fn fields(&mut self, braces: bool, depth: usize) -> Result<Fields, String> {
        let mut fields = Fields::new();
        if depth > MAX_DEPTH {
            return self.fail("the data is nested too deeply");
        }
        loop {
            self.space(true);
            match self.peek() {
                Some('}') if braces => {
                    self.at += 1;
                    return Ok(fields);
                }
                None if !braces => return Ok(fields),
                None | Some(',' | '}' | ']') => {
                    let token = self.token();
                    return self.fail(&format!("expecting a close brace or a field name here, got {token}"));
                }
                _ => {}
            }
            if self.rest().starts_with("include") && self.include() {
                continue;
            }
            self.field(&mut fields, depth)?;
            let ended = self.space(true);
            if !self.eat(",") && !ended && !matches!(self.peek(), Some('}') | None) {
                let token = self.token();
                return self
                    .fail(&format!("expecting a close brace or a comma or a new line here, got {token}"));
            }
        }
    }

    /// `include "file"`: what it names is not read.
    fn include(&mut self) -> bool {
        let start = self.at;
        self.at += "include".len();
        self.space(false);
        for opening in ["required(", "file(", "url(", "classpath("] {
            self.eat(opening);
        }
        if self.peek() == Some('"') && self.quoted().is_ok() {
            while self.eat(")") {}
            self.space(true);
            self.eat(",");
            return true;
        }
        self.at = start;
        false
    }

    fn field(&mut self, fields: &mut Fields, depth: usize) -> Result<(), String> {
        let path = self.path()?;
        self.space(true);
        let append = self.eat("+=");
        if !append && !self.eat("=") && !self.eat(":") && self.peek() != Some('{') {
            let token = self.token();
            return self.fail(&format!("Key '{}' may not be followed by token: {token}", path.join(".")));
        }
        self.space(true);
        let mut node = self.value(depth + 1)?;
        if append {
            let name = Piece::Name { path: path.clone(), shown: path.join("."), optional: true };
            let (range, line) = (node.range, node.line);
            let element = Node { pieces: std::mem::take(&mut node.pieces), range, line };
            node = Node { pieces: vec![name, Piece::Array(vec![element])], range, line };
        }
        for key in path.iter().skip(1).rev() {
            let (range, line) = (node.range, node.line);
            let inner = Fields::from_iter([(key.clone(), vec![node])]);
            node = Node { pieces: vec![Piece::Object(inner)], range, line };
        }
        if let Some(first) = path.first() {
            fields.entry(first.clone()).or_default().push(node);
        }
        Ok(())
    }

    /// `a.b."c.d"`
    fn path(&mut self) -> Result<Vec<String>, String> {
        let mut path = vec![String::new()];
        let mut has_text = false;
        loop {
            match self.peek() {
                Some('"') => {
                    let text = self.quoted()?;
                    if let Some(last) = path.last_mut() {
                        *last = last.trim_start().to_owned() + &text;
                    }
                    has_text = true;
                }
                Some('.') => {
                    self.at += 1;
                    if let Some(last) = path.last_mut() {
                        *last = last.trim().to_owned();
                    }
                    path.push(String::new());
                }
                Some(letter) if !is_reserved(letter) && letter != '\n' && !self.is_comment() => {
                    self.at += letter.len_utf8();
                    if let Some(last) = path.last_mut() {
                        last.push(letter);
                    }
                    has_text |= !letter.is_whitespace();
                }
                _ => break,
            }
        }
        if let Some(last) = path.last_mut() {
            last.truncate(last.trim_end().len());
        }
        if !has_text || path.iter().any(|part| part.is_empty() && !has_text) {
            let token = self.token();
            return self.fail(&format!("expecting a close brace or a field name here, got {token}"));
        }
        Ok(path)
    }

    /// Pieces up to the end of the line, a comma or a closing bracket.
    fn value(&mut self, depth: usize) -> Result<Node, String> {
        if depth > MAX_DEPTH {
            return self.fail("the data is nested too deeply");
        }
        let (start, line) = (self.at, self.line());
        let mut pieces: Vec<Piece> = Vec::new();
        let mut end = start;
        while let Some(letter) = self.peek() {
            if letter == '\n' || matches!(letter, ',' | '}' | ']') || self.is_comment() {
                break;
            }
            match letter {
                '"' => {
                    let text = self.quoted()?;
                    pieces.push(Piece::Quoted(text));
                }
                '{' => {
                    self.at += 1;
                    pieces.push(Piece::Object(self.fields(true, depth + 1)?));
                }
                '[' => {
                    self.at += 1;
                    pieces.push(Piece::Array(self.elements(depth + 1)?));
                }
                '$' => pieces.push(self.name()?),
                _ if letter.is_whitespace() => {
                    let from = self.at;
                    while self.peek().is_some_and(|next| next.is_whitespace() && next != '\n') {
                        self.at += self.peek().map_or(1, char::len_utf8);
                    }
                    let blank = self.text.get(from..self.at).unwrap_or("").to_owned();
                    if !pieces.is_empty() {
                        pieces.push(Piece::Space(blank));
                    }
                    continue;
                }
                _ if is_reserved(letter) => {
                    let message = format!("Expecting a value but got wrong token: '{letter}'");
                    return self.fail(&message);
                }
                _ => {
                    let from = self.at;
                    while self
                        .peek()
                        .is_some_and(|next| !is_reserved(next) && !next.is_whitespace() && !self.is_comment())
                    {
                        self.at += self.peek().map_or(1, char::len_utf8);
                    }
                    pieces.push(Piece::Plain(self.text.get(from..self.at).unwrap_or("").to_owned()));
                }
            }
            end = self.at;
        }
        while matches!(pieces.last(), Some(Piece::Space(_))) {
            pieces.pop();
        }
        if pieces.is_empty() {
            let token = self.token();
            return self.fail(&format!("Expecting a value but got wrong token: {token}"));
        }
        Ok(Node { range: Range::new(start, end), line, pieces })
    }

    fn elements(&mut self, depth: usize) -> Result<Vec<Node>, String> {
        let mut items = Vec::new();
        loop {
            self.space(true);
            if self.eat("]") {
                return Ok(items);
            }
            if matches!(self.peek(), Some(',') | None) {
                let token = self.token();
                return self.fail(&format!(
                    "List should have had new element after a comma, instead had token: {token} (if you want the comma or \
                     {token} to be part of a string value, then double-quote it)"
                ));
            }
            items.push(self.value(depth)?);
            let ended = self.space(true);
            if !self.eat(",") && !ended && self.peek() != Some(']') {
                let token = self.token();
                return self.fail(&format!(
                    "List should have ended with ] or had a comma, instead had token: {token} (if you want {token} to be part \
                     of a string value, then double-quote it)"
                ));
            }
        }
    }

    /// `${a.b}` or `${?a.b}`
    fn name(&mut self) -> Result<Piece, String> {
        if !self.eat("${") {
            return self.fail("Expecting a value but got wrong token: '$'");
        }
        let optional = self.eat("?");
        let start = self.at;
        let path = self.path()?;
        let shown = self.text.get(start..self.at).unwrap_or("").trim().to_owned();
        if !self.eat("}") {
            return self.fail("Substitution ${ was not closed with a }");
        }
        Ok(Piece::Name { path, shown, optional })
    }

    fn quoted(&mut self) -> Result<String, String> {
        if self.eat("\"\"\"") {
            let Some(mut end) = self.rest().find("\"\"\"") else {
                return self.fail("End of input but triple quote was still open");
            };
            // Further quotes belong to the text.
            while self.rest().get(end + 3..).is_some_and(|rest| rest.starts_with('"')) {
                end += 1;
            }
            let text = self.rest().get(..end).unwrap_or("").to_owned();
            self.at += end + 3;
            return Ok(text);
        }
        self.at += 1;
        let mut out = String::new();
        while let Some(letter) = self.peek() {
            self.at += letter.len_utf8();
            match letter {
                '"' => return Ok(out),
                '\n' => break,
                '\\' => out.push(self.escape()?),
                other => out.push(other),
            }
        }
        self.fail("End of input but string quote was still open")
    }

    fn escape(&mut self) -> Result<char, String> {
        let Some(letter) = self.peek() else { return self.fail("End of input after an escape") };
        self.at += letter.len_utf8();
        Ok(match letter {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let digits = self.rest().get(..4).unwrap_or("");
                let Ok(number) = u32::from_str_radix(digits, 16) else {
                    return self.fail("Malformed hex digits after \\u escape in string");
                };
                self.at += 4;
                char::from_u32(number).unwrap_or('\u{fffd}')
            }
            '"' | '\\' | '/' => letter,
            other => {
                let message = format!("backslash followed by '{other}', this is not a valid escape sequence");
                return self.fail(&message);
            }
        })
    }
}

/// Letters that texts without quotes cannot have.
fn is_reserved(letter: char) -> bool {
    "$\"{}[]:=,+#`^?!@*&\\".contains(letter)
}

/// Names are resolved from the root, each where it is needed.
struct Resolver<'n> {
    root: &'n Fields,
    /// What is being resolved: the path, and which of the values that it was given.
    open: Vec<(Vec<String>, *const Node)>,
    steps: usize,
}

impl<'n> Resolver<'n> {
    fn object(&mut self, fields: &'n Fields, at: &[String]) -> Result<Entries, String> {
        let mut entries = Entries::default();
        for (key, nodes) in fields {
            let path: Vec<String> = at.iter().chain([key]).cloned().collect();
            let nodes: Vec<&Node> = nodes.iter().collect();
            if let Some(item) = self.last_of(&nodes, &path)? {
                entries.insert(Key::from(key.as_str()), item);
            }
        }
        Ok(entries)
    }

    /// The last value counts; hashes take in what earlier hashes have.
    fn last_of(&mut self, nodes: &[&'n Node], path: &[String]) -> Result<Option<Item>, String> {
        let mut result: Option<Item> = None;
        for node in nodes.iter().rev() {
            let Some(item) = self.node(node, path)? else { continue };
            let is_hash = matches!(item.kind, Kind::Hash(_));
            result = Some(match result {
                None => item,
                Some(newer) => {
                    if !is_hash {
                        return Ok(Some(newer));
                    }
                    over(newer, item)
                }
            });
            if !is_hash {
                break;
            }
        }
        Ok(result)
    }

    fn node(&mut self, node: &'n Node, path: &[String]) -> Result<Option<Item>, String> {
        self.steps += 1;
        if self.steps > 1_000_000 || self.open.len() > MAX_DEPTH {
            return Err(format!("String: {}: names refer to each other too often", node.line));
        }
        self.open.push((path.to_vec(), std::ptr::from_ref(node)));
        let result = self.pieces(node, path);
        self.open.pop();
        result
    }

    fn pieces(&mut self, node: &'n Node, path: &[String]) -> Result<Option<Item>, String> {
        if let [Piece::Plain(text)] = node.pieces.as_slice() {
            return Ok(Some(Item { range: node.range, kind: Kind::Scalar(plain(text)) }));
        }
        let mut joined: Option<Item> = None;
        let mut blank = String::new();
        for piece in &node.pieces {
            let next = match piece {
                Piece::Space(text) => {
                    blank.clone_from(text);
                    continue;
                }
                Piece::Quoted(text) | Piece::Plain(text) => {
                    Some(Item { range: node.range, kind: Kind::Scalar(Value::from(text.as_str())) })
                }
                Piece::Array(items) => {
                    let mut all = Vec::new();
                    for item in items {
                        all.extend(self.node(item, path)?);
                    }
                    Some(Item { range: node.range, kind: Kind::Array(all) })
                }
                Piece::Object(fields) => {
                    let entries = self.object(fields, path)?;
                    Some(Item { range: node.range, kind: Kind::Hash(entries) })
                }
                Piece::Name { path: wanted, shown, optional } => self.name(wanted, shown, *optional, node)?,
            };
            let Some(next) = next else { continue };
            joined = Some(match joined {
                None => next,
                Some(before) => follow(before, &blank, next, node)?,
            });
            blank.clear();
        }
        Ok(joined)
    }

    fn name(
        &mut self,
        wanted: &[String],
        shown: &str,
        optional: bool,
        node: &Node,
    ) -> Result<Option<Item>, String> {
        let mut nodes = self.given(wanted);
        // A name that stands in its own value means what was there before.
        if let Some((_, open)) = self.open.iter().rev().find(|(path, _)| path == wanted) {
            let open = *open;
            let at = nodes.iter().position(|node| std::ptr::eq(*node, open)).unwrap_or(0);
            if at == 0 && !optional {
                return Err(format!(
                    "String: {}: Could not resolve substitution to a value: ${{{shown}}} was part of a cycle of substitutions",
                    node.line
                ));
            }
            nodes.truncate(at);
        }
        match self.last_of(&nodes, wanted)? {
            Some(found) => Ok(Some(found)),
            None if optional => Ok(None),
            None => {
                Err(format!("String: {}: Could not resolve substitution to a value: ${{{shown}}}", node.line))
            }
        }
    }

    /// Everything that a path is given, from the first to the last.
    fn given(&self, path: &[String]) -> Vec<&'n Node> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        let mut nodes: Vec<&Node> = self.root.get(first).into_iter().flatten().collect();
        for key in rest {
            let mut inner: Vec<&Node> = Vec::new();
            for node in nodes {
                let mut is_object = false;
                for piece in &node.pieces {
                    if let Piece::Object(fields) = piece {
                        is_object = true;
                        inner.extend(fields.get(key).into_iter().flatten());
                    }
                }
                if !is_object && !node.pieces.iter().any(|piece| matches!(piece, Piece::Name { .. })) {
                    inner.clear();
                }
            }
            nodes = inner;
        }
        nodes
    }
}

/// One value behind another: texts are joined, arrays too, hashes merged.
fn follow(before: Item, blank: &str, next: Item, node: &Node) -> Result<Item, String> {
    let range = node.range;
    let kind = match (before.kind, next.kind) {
        (Kind::Scalar(before), Kind::Scalar(next)) => {
            let text = |value: &Value| setpoint_puppet_values::ruby::text::to_s(value);
            Kind::Scalar(Value::from(format!("{}{blank}{}", text(&before), text(&next))))
        }
        (Kind::Array(mut before), Kind::Array(next)) => {
            before.extend(next);
            Kind::Array(before)
        }
        (Kind::Hash(before), Kind::Hash(next)) => {
            let older = Item { range, kind: Kind::Hash(before) };
            return Ok(over(Item { range, kind: Kind::Hash(next) }, older));
        }
        _ => {
            return Err(format!(
                "String: {}: Cannot concatenate object or list with a non-object-or-list",
                node.line
            ));
        }
    };
    Ok(Item { range, kind })
}

/// A newer hash over an older one: the keys of the newer come first.
fn over(newer: Item, older: Item) -> Item {
    let range = newer.range;
    match (newer.kind, older.kind) {
        (Kind::Hash(mut newer), Kind::Hash(older)) => {
            for (key, item) in older {
                match newer.get(&key) {
                    None => {
                        newer.insert(key, item);
                    }
                    Some(own) if matches!((&own.kind, &item.kind), (Kind::Hash(_), Kind::Hash(_))) => {
                        let merged = over(own.clone(), item);
                        newer.insert(key, merged);
                    }
                    Some(_) => {}
                }
            }
            Item { range, kind: Kind::Hash(newer) }
        }
        (kind, _) => Item { range, kind },
    }
}

/// A text without quotes that stands alone.
fn plain(text: &str) -> Value {
    match text {
        "true" => return true.into(),
        "false" => return false.into(),
        "null" => return Value::UNDEF,
        _ => {}
    }
    let numeric = text.starts_with(|first: char| first.is_ascii_digit() || first == '-')
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-eE.".contains(&byte));
    if numeric {
        if let Ok(number) = text.parse::<i64>() {
            return number.into();
        }
        if let Ok(number) = text.parse::<f64>() {
            // A number without a fraction is an integer, however it is written.
            if number.fract() == 0.0 && number.abs() < 9.0e15 {
                return (number as i64).into();
            }
            return number.into();
        }
    }
    text.into()
}
