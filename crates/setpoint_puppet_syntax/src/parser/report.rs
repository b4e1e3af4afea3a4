//! What the parser says about errors, and the advice that it gives.

use setpoint_source::{Diagnostic, Range, Rule, Severity};

use crate::parser::{MAX_DEPTH, MAX_NESTING, Parser, Reported, text_of};
use crate::token::{Kind, Token};

/// A file with more errors is no manifest.
const MAX_ERRORS: usize = 100;

impl Parser<'_> {
    /// Reports the current token as one that does not fit.
    pub(super) fn unexpected(&mut self) -> Reported {
        let token = &self.token;
        // The lexer has told about these.
        if self.tainted || token.kind == Kind::Bad || token.kind == Kind::Eof && self.lexer.broken {
            return Reported;
        }
        if token.kind == Kind::Eof && self.end_is_explained() {
            return Reported;
        }
        let range = token.range;
        let message = match token.kind {
            Kind::Eof => "Syntax error at end of input".to_owned(),
            Kind::Regex => format!("Syntax error at '(?-mix:{})'", text_of(token)),
            Kind::Other | Kind::RenderExpr => "Syntax error at ''".to_owned(),
            Kind::Variable => format!("Syntax error at '{}'", self.slice(range).trim_start_matches('$')),
            _ => match &token.text {
                Some(text) => format!("Syntax error at '{}'", shortened(text)),
                None => format!("Syntax error at '{}'", self.slice(range)),
            },
        };
        self.error_at(range, message)
    }

    /// An error after the last brace that is open has led here, most likely.
    fn end_is_explained(&self) -> bool {
        let start = |range: Range| range.start;
        let last_error = self.errors.last().and_then(|error| error.span).map(|span| span.range.start);
        last_error.is_some_and(|error| self.open.last().copied().map(start).is_none_or(|brace| error > brace))
    }

    pub(super) fn error_at(&mut self, range: Range, message: impl Into<String>) -> Reported {
        let mut diagnostic = Diagnostic::new(Rule::SyntaxError, message).at(range.in_file(self.file));
        if let Some(help) = self.help_for(range) {
            diagnostic = diagnostic.with_help(help);
        }
        if self.at(Kind::Eof)
            && let Some(brace) = self.open.last()
        {
            diagnostic = diagnostic.with_label(brace.in_file(self.file), "this is not closed");
        }
        self.errors.push(diagnostic);
        if self.errors.len() == MAX_ERRORS {
            self.stop();
        }
        Reported
    }

    /// Reads no further.
    fn stop(&mut self) {
        self.lexer.stop();
        self.ahead.clear();
        let end = self.text.len();
        self.token = Token::new(Kind::Eof, end, end);
        if let Some(last) = self.errors.pop() {
            self.errors
                .push(last.with_note(format!("After {MAX_ERRORS} errors the rest of the file is not read.")));
        }
    }

    /// What is probably meant, for the slips that people make most.
    fn help_for(&self, range: Range) -> Option<&'static str> {
        let before = self.text.get(..range.start as usize)?;
        let trimmed = before.trim_end();
        if self.token.range != range {
            // The whole of what was read is wrong: an array before braces, for one.
            let is_array = before.len() > trimmed.len() && self.slice(range).starts_with('[');
            return is_array.then_some(NO_SPACE_BEFORE_INDEX);
        }
        Some(match self.token.kind {
            Kind::Eof if self.open.is_empty() => return None,
            Kind::Eof => "Close what is open before the end of the file.",
            Kind::Elsif => "Only `if` takes `elsif`; `unless` takes `else` alone.",
            Kind::If if trimmed.ends_with("else") => "Write `elsif` for a further condition.",
            Kind::ListStart if before.len() > trimmed.len() => NO_SPACE_BEFORE_INDEX,
            Kind::String if trimmed.ends_with([',', ':']) => {
                "Names of attributes are not quoted, and a second title follows a semicolon."
            }
            Kind::FArrow if trimmed.ends_with(['\'', '"']) => {
                "Names of attributes are not quoted, and a title is followed by `:`."
            }
            Kind::Equals => "`=` only assigns to variables; compare with `==`, and set attributes with `=>`.",
            kind if kind.is_attribute_name() && trimmed.ends_with(['\'', '"', ']', ')']) => {
                "A comma or a colon may be missing before this."
            }
            Kind::Other => "Names and operators consist of ASCII characters; quote other text.",
            _ => return None,
        })
    }

    pub(super) fn semantic_at(&mut self, range: Range, message: impl Into<String>) {
        self.semantic.push(Diagnostic::new(Rule::InvalidCode, message).at(range.in_file(self.file)));
    }

    pub(super) fn too_deep(&mut self) -> Reported {
        // One is enough: what encloses this place is as deep.
        if !self.told_depth {
            self.told_depth = true;
            let diagnostic = Diagnostic::new(Rule::NestedTooDeep, "The text is nested too deeply to be read")
                .at(self.token.range.in_file(self.file))
                .with_note(format!(
                    "Brackets, blocks and operands may nest {MAX_NESTING} levels, chains of operators {MAX_DEPTH} links."
                ));
            self.errors.push(diagnostic);
            self.stop();
        }
        Reported
    }

    /// The errors and the warnings of the lexer.
    pub(super) fn lexer_findings(&mut self) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
        let (mut errors, mut warnings) = (Vec::new(), Vec::new());
        for error in std::mem::take(&mut self.lexer.errors) {
            let (rule, list) = match error.severity {
                Severity::Error if error.said.is_limit => (Rule::NestedTooDeep, &mut errors),
                Severity::Error => (Rule::SyntaxError, &mut errors),
                _ => (Rule::UnknownEscape, &mut warnings),
            };
            let mut diagnostic = Diagnostic::new(rule, error.said.message).at(error.range.in_file(self.file));
            if let Some(help) = error.said.help {
                diagnostic = diagnostic.with_help(help);
            }
            list.push(diagnostic);
        }
        errors.truncate(MAX_ERRORS);
        (errors, warnings)
    }
}

const NO_SPACE_BEFORE_INDEX: &str =
    "An index or a reference takes no space before its `[`: write `File['a']`.";

/// A string of many lines makes no message.
fn shortened(text: &str) -> &str {
    text.char_indices().nth(200).map_or(text, |(end, _)| &text[..end])
}
