//! EPP templates: text between tags of code.

use memchr::memmem;

use super::Lexer;
use crate::token::{Kind, Token};

/// What the lexer of a template is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EppMode {
    Text,
    /// `<% … %>`
    Code,
    /// `<%= … %>`
    Expr,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new_epp(text: &'a str) -> Self {
        let mut lexer = Self::new(text);
        lexer.line_is_blank = false;
        lexer.epp = Some(EppMode::Text);
        lexer.epp_text(false);
        lexer
    }

    /// At `%>` or `-%>`: ends the tag, and reads the text up to the next.
    pub(super) fn epp_close(&mut self, length: usize) -> Option<Token> {
        let start = self.pos;
        self.pos += length;
        if self.epp == Some(EppMode::Expr) {
            self.queue.push_back(Token::new(Kind::EppEnd, start, self.pos));
        }
        self.epp_text(length == 3);
        self.queue.pop_front()
    }

    /// Reads text up to the next tag. Trims and escapes follow Puppet's scanner, also where it is odd: text after
    /// which the template ends with a comment or with `<%%` is lost.
    fn epp_text(&mut self, mut skip_leading: bool) {
        let start = self.pos;
        let mut out = String::new();
        self.epp = Some(EppMode::Text);
        while self.pos < self.bytes.len() {
            let found = memmem::find(&self.bytes[self.pos..], b"<%").map(|at| self.pos + at);
            let end = found.unwrap_or(self.bytes.len());
            let mut part = &self.text[self.pos..end];
            if std::mem::take(&mut skip_leading) {
                part = part.trim_start_matches([' ', '\t']);
                part = part.strip_prefix('\r').unwrap_or(part);
                part = part.strip_prefix('\n').unwrap_or(part);
            }
            out.push_str(&part.replace("%%>", "%>"));
            let Some(tag) = found else {
                self.pos = end;
                self.render_text(start, &out);
                return;
            };
            self.pos = tag + 2;
            match self.bytes.get(self.pos) {
                None => {
                    self.give_up(
                        tag + 2,
                        tag + 2,
                        "Unbalanced embedded expression - opening <% and reaching end of input",
                    );
                    return;
                }
                Some(b'-') => {
                    self.pos += 1;
                    out.truncate(out.trim_end_matches([' ', '\t']).len());
                    return self.open_tag(start, tag, &out, EppMode::Code);
                }
                Some(b'%') => {
                    self.pos += 1;
                    out.push_str("<%");
                }
                Some(b'=') => {
                    self.pos += 1;
                    return self.open_tag(start, tag, &out, EppMode::Expr);
                }
                Some(b'#') => {
                    let Some(comment_end) = self.comment_end() else {
                        self.give_up(tag + 2, tag + 3, "Reaching end after opening <%# without seeing %>");
                        return;
                    };
                    if self.peek(1) == b'-' {
                        out.truncate(out.trim_end_matches([' ', '\t']).len());
                    }
                    skip_leading = self.bytes[comment_end - 3] == b'-';
                    self.pos = comment_end;
                }
                Some(_) => return self.open_tag(start, tag, &out, EppMode::Code),
            }
        }
    }

    /// After the next `%>` that does not follow a `%`.
    fn comment_end(&self) -> Option<usize> {
        let rest = &self.bytes[self.pos..];
        memmem::find_iter(rest, b"%>").find(|&at| at > 0 && rest[at - 1] != b'%').map(|at| self.pos + at + 2)
    }

    fn render_text(&mut self, start: usize, text: &str) {
        self.queue.push_back(Token::with_text(Kind::RenderString, start, self.pos, text));
    }

    fn open_tag(&mut self, start: usize, tag: usize, text: &str, mode: EppMode) {
        if !text.is_empty() {
            self.queue.push_back(Token::with_text(Kind::RenderString, start, tag, text));
        }
        if mode == EppMode::Expr {
            self.queue.push_back(Token::new(Kind::RenderExpr, tag, self.pos));
        }
        self.epp = Some(mode);
    }
}
