//! Text: how wide it is, how long it may be, and how it is written into XML.

/// The longest name that is drawn; the whole one is in the tooltip.
const LONGEST: usize = 44;

/// The width of text in a font of 12 pixels. A drawing cannot ask for the real one, so the widest usual font counts.
pub(crate) fn width(text: &str) -> f64 {
    text.chars().map(|letter| letter_width(letter) * 12.0).sum()
}

fn letter_width(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.33,
        'f' | 't' | 'r' | '[' | ']' | '(' | ')' | '/' | '-' | ' ' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
        'A'..='Z' | '_' | '#' | '&' => 0.72,
        letter if letter.is_ascii() => 0.61,
        _ => 1.0,
    }
}

/// A name that fits; the middle is left out, for the ends of paths tell most.
pub(crate) fn shortened(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters: Vec<char> = one_line.chars().collect();
    if letters.len() <= LONGEST {
        return one_line;
    }
    let head: String = letters[..LONGEST / 2 - 1].iter().collect();
    let tail: String = letters[letters.len() - LONGEST / 2..].iter().collect();
    format!("{head}…{tail}")
}

/// Text for XML. Characters that XML does not allow are left out.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {}
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_their_ends() {
        let name = format!("/etc/{}/end.conf", "x".repeat(80));
        let short = shortened(&name);
        assert_eq!(short.chars().count(), LONGEST);
        assert!(short.starts_with("/etc/") && short.ends_with("end.conf"));
        assert_eq!(shortened("a\n b"), "a b");
    }

    #[test]
    fn xml_stays_well_formed() {
        assert_eq!(escaped("<a b=\"1\">&\u{1}"), "&lt;a b=&quot;1&quot;&gt;&amp;");
    }
}
