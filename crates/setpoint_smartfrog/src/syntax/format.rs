//! The one layout of specifications. Only white space changes: the tokens and the comments stay as they are, and so does the
//! meaning.

use super::Dialect;
use super::lexer::{self, Kind, Token};

/// Returns the text in its layout: one statement a line, two spaces a level, comments where they were, at most one blank line.
/// None if the text is not well-formed.
pub fn format(text: &str, dialect: Dialect) -> Option<String> {
    let (tokens, errors) = lexer::tokens(text, dialect);
    if !errors.is_empty() {
        return None;
    }
    let layout = Layout::new(text, dialect).run(&tokens)?;
    // White space between tokens may never change what they are.
    let (after, errors) = lexer::tokens(&layout, dialect);
    let same = errors.is_empty()
        && tokens.len() == after.len()
        && tokens.iter().zip(&after).all(|(a, b)| a.kind == b.kind && slice(text, a) == slice(&layout, b));
    same.then_some(layout)
}

fn slice<'t>(text: &'t str, token: &Token) -> &'t str {
    text.get(token.range.start as usize..token.range.end as usize).unwrap_or("")
}

struct Layout<'t> {
    text: &'t str,
    nests: bool,
    out: String,
    /// The brackets that are open, innermost last.
    open: Vec<Kind>,
    line_is_empty: bool,
}

impl<'t> Layout<'t> {
    fn new(text: &'t str, dialect: Dialect) -> Self {
        let out = String::with_capacity(text.len());
        Self { text, nests: dialect == Dialect::Core, out, open: Vec::new(), line_is_empty: true }
    }

    fn run(mut self, tokens: &[Token]) -> Option<String> {
        let mut before: Option<Token> = None;
        let mut at = 0;
        for (index, token) in tokens.iter().enumerate() {
            let gap = self.text.get(at..token.range.start as usize)?;
            let gap = gap.strip_prefix('\u{feff}').unwrap_or(gap);
            let earlier = index.checked_sub(2).and_then(|index| tokens.get(index)).copied();
            self.gap(gap, earlier, before, *token);
            if token.kind == Kind::End {
                break;
            }
            if matches!(
                token.kind,
                Kind::RightBrace | Kind::RightBracket | Kind::RightParenthesis | Kind::LiteralVectorEnd
            ) {
                self.open.pop()?;
            }
            self.indent();
            self.out.push_str(slice(self.text, token));
            if matches!(
                token.kind,
                Kind::LeftBrace | Kind::LeftBracket | Kind::LeftParenthesis | Kind::LiteralVectorStart
            ) {
                self.open.push(token.kind);
            }
            at = token.range.end as usize;
            before = Some(*token);
        }
        let mut out = self.out.trim_end().to_owned();
        if !out.is_empty() {
            out.push('\n');
        }
        self.open.is_empty().then_some(out)
    }

    /// What stands between two tokens: comments, and the white space that the layout wants.
    fn gap(&mut self, gap: &str, earlier: Option<Token>, before: Option<Token>, next: Token) {
        let mut rest = gap;
        let mut commented = false;
        loop {
            let blank = rest.len() - rest.trim_start().len();
            let (space, after) = rest.split_at(blank);
            let lines = space.matches('\n').count();
            let Some(length) = self.comment_length(after) else {
                self.space(lines, earlier, before, next, commented);
                return;
            };
            let (comment, after) = after.split_at(length);
            let is_own_line = lines > 0 || before.is_none() && self.out.is_empty();
            if is_own_line {
                self.newline();
                if lines > 1 && !self.out.is_empty() && !self.opens() {
                    self.blank_line();
                }
            } else if !self.line_is_empty {
                self.out.push(' ');
            }
            self.indent();
            self.out.push_str(comment.trim_end());
            commented = true;
            if comment.starts_with("//") {
                self.newline();
                // The end of the line belongs to the comment.
                rest = after.strip_prefix('\n').or_else(|| after.strip_prefix("\r\n")).unwrap_or(after);
                if rest.trim_start_matches([' ', '\t']).starts_with(['\n', '\r']) && !self.opens() {
                    self.blank_line();
                }
            } else {
                rest = after;
            }
        }
    }

    /// White space before a token, after the last comment, if there is one.
    fn space(
        &mut self,
        lines: usize,
        earlier: Option<Token>,
        before: Option<Token>,
        next: Token,
        commented: bool,
    ) {
        let Some(before) = before else {
            if commented && lines > 0 {
                self.newline();
                if lines > 1 {
                    self.blank_line();
                }
            } else if commented && !self.line_is_empty && next.kind != Kind::End {
                self.out.push(' ');
            }
            return;
        };
        let breaks = breaks_line(earlier, before, next, lines > 0) || commented && lines > 0;
        if next.kind == Kind::End
            || breaks && !self.is_inside_brackets(next)
            || lines > 0 && self.is_inside_brackets(next)
        {
            self.newline();
            let closes = matches!(next.kind, Kind::RightBrace | Kind::End);
            if lines > 1 && !self.opens() && !closes {
                self.blank_line();
            }
        } else if !self.line_is_empty && (commented || wants_space(before, next)) {
            self.out.push(' ');
        }
    }

    /// Lines in vectors and operations are the user's; blocks in them are not.
    fn is_inside_brackets(&self, next: Token) -> bool {
        let innermost = self.open.last().copied();
        next.kind != Kind::End && innermost.is_some_and(|open| open != Kind::LeftBrace)
    }

    fn newline(&mut self) {
        if !self.line_is_empty {
            self.out.push('\n');
            self.line_is_empty = true;
        }
    }

    fn blank_line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.newline();
            self.out.push('\n');
        }
    }

    /// The last thing on the page opens a block.
    fn opens(&self) -> bool {
        self.out.trim_end().ends_with('{')
    }

    fn indent(&mut self) {
        if self.line_is_empty {
            self.out.extend(std::iter::repeat_n("  ", self.open.len()));
            self.line_is_empty = false;
        }
    }

    fn comment_length(&self, text: &str) -> Option<usize> {
        if text.starts_with("//") {
            return Some(text.find(['\n', '\r']).unwrap_or(text.len()));
        }
        if !text.starts_with("/*") {
            return None;
        }
        let nested = self.nests.then(|| lexer::nested_comment_end(text.as_bytes(), 2)).flatten();
        Some(nested.or_else(|| text.get(2..)?.find("*/").map(|at| at + 4)).unwrap_or(text.len()))
    }
}

/// Whether a new line begins between two tokens of a block.
fn breaks_line(earlier: Option<Token>, before: Token, next: Token, was_broken: bool) -> bool {
    match (before.kind, next.kind) {
        (Kind::LeftBrace, Kind::RightBrace) | (_, Kind::Semicolon | Kind::Comma | Kind::Colon) => false,
        (Kind::LeftBrace | Kind::Semicolon, _) | (_, Kind::RightBrace) => true,
        (Kind::RightBrace, Kind::RightParenthesis | Kind::RightBracket | Kind::LeftBrace) => false,
        (Kind::RightBrace, _) => true,
        (Kind::Comma | Kind::Colon, _) | (_, Kind::LeftBrace) => false,
        (Kind::String, _) if earlier.is_some_and(|token| is_include(token.kind)) => true,
        _ => was_broken,
    }
}

fn is_include(kind: Kind) -> bool {
    matches!(kind, Kind::Include | Kind::OptionalInclude)
}

fn wants_space(before: Token, next: Token) -> bool {
    let closes = matches!(
        next.kind,
        Kind::Semicolon
            | Kind::Comma
            | Kind::Colon
            | Kind::RightParenthesis
            | Kind::RightBracket
            | Kind::LiteralVectorEnd
    );
    let opens = matches!(
        before.kind,
        Kind::LeftParenthesis | Kind::LeftBracket | Kind::LiteralVectorStart | Kind::Colon | Kind::Not
    );
    let is_empty = before.kind == Kind::LeftBrace && next.kind == Kind::RightBrace;
    !(closes || opens || is_empty)
}

#[cfg(test)]
mod tests {
    use super::{Dialect, format};

    #[test]
    fn one_layout() {
        let text =
            "// a\na  extends B ,{x 1;y(a+b) ; /* c */ z [1,\n2];}  \n\n\n\nsfConfig extends { }c extends A;";
        let once = format(text, Dialect::Production).unwrap_or_default();
        assert_eq!(format(&once, Dialect::Production).as_deref(), Some(once.as_str()));
        assert!(once.starts_with("// a\na extends B, {\n  x 1;\n"), "{once}");
    }

    #[test]
    fn a_comment_before_all_keeps_its_distance() {
        assert_eq!(format("/* c */a 1;", Dialect::Production).as_deref(), Some("/* c */ a 1;\n"));
    }

    #[test]
    fn comments_nest_in_the_core_language_alone() {
        let text = "/* /* x */ y */ a  1;";
        assert_eq!(format(text, Dialect::Core).as_deref(), Some("/* /* x */ y */ a 1;\n"));
    }

    #[test]
    fn what_is_not_closed_has_no_layout() {
        assert_eq!(format("a extends {", Dialect::Production), None);
        assert_eq!(format("a \"x", Dialect::Production), None);
        assert_eq!(format("a ]", Dialect::Production), None);
    }
}
