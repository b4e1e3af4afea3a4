//! Words and operators of shell scripts.

/// A piece of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// A word without its quotes.
    Word(String),
    /// `;` (also the end of a line), `;;`, `&&`, `||`, `|` or `&`.
    Operator(&'static str),
}

/// The pieces of a script. Comments and here-documents are left out.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let joined = text.replace("\\\n", " ");
    let mut found = Vec::new();
    let mut lines = joined.lines();
    while let Some(line) = lines.next() {
        let mut line = line.to_owned();
        // A quoted text may go over lines.
        while let Err(Unclosed) = split(&line) {
            let Some(next) = lines.next() else { break };
            line.push('\n');
            line.push_str(next);
        }
        let pieces = split(&line).unwrap_or_default();
        let document = pieces.iter().enumerate().find_map(|(at, piece)| match piece {
            Piece::Word(word) => {
                let (_, end) = word.split_once("<<").filter(|(_, end)| !end.starts_with('<'))?;
                let end = end.trim_start_matches('-');
                let next = pieces.get(at + 1);
                match (end, next) {
                    ("", Some(Piece::Word(next))) => Some(next.clone()),
                    ("", _) => None,
                    _ => Some(end.to_owned()),
                }
            }
            Piece::Operator(_) => None,
        });
        found.extend(pieces);
        found.push(Piece::Operator(";"));
        if let Some(end) = document {
            for inner in lines.by_ref() {
                if inner.trim_start_matches('\t') == end {
                    break;
                }
            }
        }
    }
    found
}

/// The words of one line, up to a comment.
pub(super) fn words(line: &str) -> Vec<String> {
    let pieces = split(line).unwrap_or_default();
    pieces
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Word(word) => Some(word),
            Piece::Operator(_) => None,
        })
        .collect()
}

/// A quote is not closed.
#[derive(Debug)]
struct Unclosed;

fn split(line: &str) -> Result<Vec<Piece>, Unclosed> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut inside = false;
    let mut quote: Option<char> = None;
    let mut chars = line.chars().peekable();
    let end = |word: &mut String, inside: &mut bool, found: &mut Vec<Piece>| {
        if std::mem::replace(inside, false) {
            found.push(Piece::Word(std::mem::take(word)));
        }
    };
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => word.push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                inside = true;
            }
            (None, '#') if !inside => break,
            // `2>&1` and `&>file` are redirections.
            (None, '&') if word.ends_with(['>', '<']) || chars.peek() == Some(&'>') => {
                word.push(c);
                inside = true;
            }
            // The alternatives of a pattern stand close: `configure|reconfigure)`.
            (None, '|') if inside && is_pattern(&chars) => word.push(c),
            (None, ';' | '&' | '|') => {
                end(&mut word, &mut inside, &mut found);
                let double = chars.peek() == Some(&c);
                if double {
                    chars.next();
                }
                found.push(Piece::Operator(match (c, double) {
                    (';', false) => ";",
                    (';', true) => ";;",
                    ('&', false) => "&",
                    ('&', true) => "&&",
                    (_, false) => "|",
                    (_, true) => "||",
                }));
            }
            (None, _) if c.is_whitespace() => end(&mut word, &mut inside, &mut found),
            (None, _) => {
                word.push(c);
                inside = true;
            }
        }
    }
    if quote.is_some() {
        return Err(Unclosed);
    }
    end(&mut word, &mut inside, &mut found);
    Ok(found)
}

/// Whether names, bars and the parenthesis of a branch follow.
fn is_pattern(rest: &std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    let mut rest = rest.clone();
    let stop = rest.find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '|' | '*')));
    stop == Some(')')
}
