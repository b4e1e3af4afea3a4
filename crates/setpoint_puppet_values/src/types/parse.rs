//! Types from text such as `Variant[Integer[1], Array[String]]`: literals and names, no expressions.

use std::sync::Arc;

use setpoint_source::Limit;

use super::{CallableType, IntRange, Signature, TupleType, Type, parameterise};
use crate::error::{Checks, Strictness, ValueError};
use crate::regex::Regex;
use crate::value::{Data, Hash, Key, Value};

/// How deep brackets may nest.
const MAX_DEPTH: Limit = Limit::new(200);

/// Finds a type by a name that is not built in.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<Type>;

impl Type {
    /// The type that a text means; `lookup` knows aliases and resource types.
    pub fn parse(text: &str, lookup: Lookup<'_>) -> Result<Self, ValueError> {
        let mut parser = Parser { text, at: 0, lookup };
        let value = parser.value(0)?;
        parser.blanks();
        match value.data {
            Data::Type(of) if parser.at == text.len() => Ok(of),
            _ => Err(parser.error()),
        }
    }
}

impl Signature {
    /// A signature from text: `Integer from, Optional[String] to?, Any *rest, Callable[1, 1] &block`. A `?` after a name
    /// makes the parameter optional, a `*` before it lets it repeat (from none), a `+` from one.
    pub fn parse(text: &str, lookup: Lookup<'_>) -> Result<Self, ValueError> {
        let mut parser = Parser { text, at: 0, lookup };
        let (mut types, mut names) = (Vec::new(), Vec::new());
        let (mut block, mut block_name) = (None, None);
        let (mut required, mut endless) = (0_i64, false);
        parser.blanks();
        while parser.at < text.len() {
            let value = parser.value(0)?;
            let Data::Type(of) = value.data else { return Err(parser.error()) };
            parser.blanks();
            let mark = ["&", "*", "+"].into_iter().find(|mark| parser.eat(mark)).unwrap_or("");
            let name: Arc<str> = parser.word().into();
            let optional = parser.eat("?");
            match (mark, optional) {
                ("&", true) => block = Some(Type::optional(of)),
                ("&", false) => block = Some(of),
                (mark, optional) => {
                    types.push(of);
                    names.push(Arc::clone(&name));
                    endless = !mark.is_empty();
                    required += i64::from(!optional && mark != "*");
                }
            }
            if mark == "&" {
                block_name = Some(name);
            }
            parser.blanks();
            if !parser.eat(",") {
                break;
            }
            parser.blanks();
        }
        parser.blanks();
        if parser.at != text.len() {
            return Err(parser.error());
        }
        let size = IntRange::new(Some(required), (!endless).then_some(types.len() as i64));
        let exact = size == IntRange::size(types.len()) && !types.is_empty();
        let parameters = Some(TupleType { types, size: (!exact).then_some(size) });
        Ok(Self {
            callable: CallableType { parameters, block, returns: None },
            parameter_names: names,
            block_name,
        })
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    lookup: Lookup<'a>,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn error(&self) -> ValueError {
        let text = self.text;
        ValueError::new(format!("The expression <{text}> is not a valid type specification."))
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest
            .find(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'))
            .unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn value(&mut self, depth: usize) -> Result<Value, ValueError> {
        if depth > MAX_DEPTH {
            return Err(self.error());
        }
        self.blanks();
        let mut value = match self.rest().chars().next() {
            Some('\'' | '"') => Value::string(self.quoted()?),
            Some('/') => Value::from(self.regex()?),
            Some('[') => {
                self.at += 1;
                Value::array(self.list("]", depth)?)
            }
            Some('{') => self.hash(depth)?,
            Some(first) if first.is_ascii_digit() || first == '-' => self.number()?,
            Some(first) if first.is_ascii_uppercase() || self.rest().starts_with("::") => {
                let name = self.word();
                let found = Type::builtin(name).or_else(|| (self.lookup)(name));
                Value::from(found.unwrap_or_else(|| Type::reference(name)))
            }
            Some(first) if first.is_ascii_lowercase() || first == '_' => match self.word() {
                "default" => Value::new(Data::Default),
                "undef" => Value::UNDEF,
                "true" => Value::from(true),
                "false" => Value::from(false),
                name => Value::string(name),
            },
            _ => return Err(self.error()),
        };
        while matches!(value.data, Data::Type(_)) {
            let before = self.at;
            self.blanks();
            if !self.eat("[") {
                self.at = before;
                break;
            }
            let keys = self.list("]", depth)?;
            if let Data::Type(of) = &value.data {
                value = parameterise(of, &keys, &mut Checks::new(Strictness::Off))?;
            }
        }
        Ok(value)
    }

    fn list(&mut self, end: &str, depth: usize) -> Result<Vec<Value>, ValueError> {
        let mut items = Vec::new();
        loop {
            self.blanks();
            if self.eat(end) {
                return Ok(items);
            }
            let item = self.value(depth + 1)?;
            self.blanks();
            if self.eat("=>") {
                // `Struct[a => Integer]`: entries without braces.
                let mut entries = Hash::default();
                let value = self.value(depth + 1)?;
                entries.insert(Key(item), value);
                self.blanks();
                while self.eat(",") {
                    let key = self.value(depth + 1)?;
                    self.blanks();
                    if !self.eat("=>") {
                        return Err(self.error());
                    }
                    let value = self.value(depth + 1)?;
                    entries.insert(Key(key), value);
                    self.blanks();
                }
                items.push(Value::hash(entries));
            } else {
                items.push(item);
            }
            self.blanks();
            if !self.eat(",") && !self.rest().starts_with(end) {
                return Err(self.error());
            }
        }
    }

    fn hash(&mut self, depth: usize) -> Result<Value, ValueError> {
        self.at += 1;
        let mut entries = Hash::default();
        loop {
            self.blanks();
            if self.eat("}") {
                return Ok(Value::hash(entries));
            }
            let key = self.value(depth + 1)?;
            self.blanks();
            if !self.eat("=>") {
                return Err(self.error());
            }
            let value = self.value(depth + 1)?;
            entries.insert(Key(key), value);
            self.blanks();
            if !self.eat(",") && !self.rest().starts_with('}') {
                return Err(self.error());
            }
        }
    }

    fn quoted(&mut self) -> Result<String, ValueError> {
        let mut letters = self.rest().char_indices();
        let quote = letters.next().map_or('\'', |(_, quote)| quote);
        let mut out = String::new();
        while let Some((index, letter)) = letters.next() {
            match letter {
                '\\' => match letters.next() {
                    Some((_, escaped)) if escaped == quote || escaped == '\\' => out.push(escaped),
                    Some((_, 'n')) if quote == '"' => out.push('\n'),
                    Some((_, 't')) if quote == '"' => out.push('\t'),
                    Some((_, other)) => {
                        out.push('\\');
                        out.push(other);
                    }
                    None => break,
                },
                letter if letter == quote => {
                    self.at += index + quote.len_utf8();
                    return Ok(out);
                }
                letter => out.push(letter),
            }
        }
        Err(self.error())
    }

    fn regex(&mut self) -> Result<Regex, ValueError> {
        let mut letters = self.rest().char_indices();
        letters.next();
        let mut source = String::new();
        while let Some((index, letter)) = letters.next() {
            match letter {
                '\\' => match letters.next() {
                    Some((_, '/')) => source.push('/'),
                    Some((_, other)) => {
                        source.push('\\');
                        source.push(other);
                    }
                    None => break,
                },
                '/' => {
                    self.at += index + 1;
                    return Regex::new(source);
                }
                letter => source.push(letter),
            }
        }
        Err(self.error())
    }

    fn number(&mut self) -> Result<Value, ValueError> {
        let rest = self.rest();
        let sign = usize::from(rest.starts_with('-'));
        let end = rest[sign..]
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '.'))
            .map_or(rest.len(), |end| end + sign);
        self.at += end;
        let number = crate::number::parse_number(&rest[..end]).and_then(crate::number::Number::value);
        number.ok_or_else(|| self.error())
    }
}
