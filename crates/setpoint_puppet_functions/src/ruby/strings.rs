//! Methods of Ruby's `String`.

/// White space to `strip`, which also takes null characters.
const BLANK: &[char] = &[' ', '\t', '\n', '\u{b}', '\u{c}', '\r', '\0'];

pub(crate) fn downcase(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

pub(crate) fn upcase(text: &str) -> String {
    text.chars().flat_map(char::to_uppercase).collect()
}

pub(crate) fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters.flat_map(char::to_lowercase)).collect(),
        None => String::new(),
    }
}

pub(crate) fn camelcase(text: &str) -> String {
    text.split('_').map(capitalize).collect()
}

pub(crate) fn chomp(text: &str) -> String {
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix(['\n', '\r'])).unwrap_or(text).to_owned()
}

pub(crate) fn chop(text: &str) -> String {
    let mut letters = text.chars();
    letters.next_back();
    text.strip_suffix("\r\n").unwrap_or(letters.as_str()).to_owned()
}

pub(crate) fn lstrip(text: &str) -> String {
    text.trim_start_matches(BLANK).to_owned()
}

pub(crate) fn rstrip(text: &str) -> String {
    text.trim_end_matches(BLANK).to_owned()
}

pub(crate) fn strip(text: &str) -> String {
    text.trim_matches(BLANK).to_owned()
}

pub(crate) fn swapcase(text: &str) -> String {
    text.chars()
        .flat_map(|letter| {
            let swapped: Vec<char> = if letter.is_uppercase() {
                letter.to_lowercase().collect()
            } else {
                letter.to_uppercase().collect()
            };
            swapped
        })
        .collect()
}

/// `String#succ`: the next text, as `az` is followed by `ba`.
pub(crate) fn succ(text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    if letters.is_empty() {
        return String::new();
    }
    let Some(mut at) = letters.iter().rposition(char::is_ascii_alphanumeric) else {
        // Nothing but other characters: the last one is followed by its neighbour.
        if let Some(last) = letters.last_mut() {
            *last = char::from_u32(u32::from(*last) + 1).unwrap_or(*last);
        }
        return letters.into_iter().collect();
    };
    loop {
        let (next, carried) = match letters[at] {
            '9' => ('0', Some('1')),
            'z' => ('a', Some('a')),
            'Z' => ('A', Some('A')),
            other => (char::from_u32(u32::from(other) + 1).unwrap_or(other), None),
        };
        letters[at] = next;
        let Some(carry) = carried else { break };
        if let Some(left) = letters[..at].iter().rposition(char::is_ascii_alphanumeric) {
            at = left;
        } else {
            letters.insert(at, carry);
            break;
        }
    }
    letters.into_iter().collect()
}

/// `(from..to).each` of texts: from one to the next until the end, or until they grow longer than it.
pub(crate) fn upto(from: &str, to: &str, exclusive: bool) -> impl Iterator<Item = String> {
    let to = to.to_owned();
    // Two single letters of ASCII go by their codes.
    let single = from.len() == 1 && to.len() == 1;
    let empty = from > to.as_str();
    let mut next = (!(empty || exclusive && from == to)).then(|| from.to_owned());
    std::iter::from_fn(move || {
        let here = next.take()?;
        if here != to {
            let after = if single {
                here.chars().next().and_then(|letter| char::from_u32(u32::from(letter) + 1)).map(String::from)
            } else {
                Some(succ(&here))
            };
            next = after
                .filter(|after| after.chars().count() <= to.chars().count() && !(exclusive && *after == to));
        }
        Some(here)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_follow_each_other_as_in_ruby() {
        for (text, next) in [
            ("a", "b"),
            ("az", "ba"),
            ("zz", "aaa"),
            ("a9", "b0"),
            ("Zz", "AAa"),
            ("host09", "host10"),
            ("1.9", "2.0"),
            ("-", "."),
        ] {
            assert_eq!(succ(text), next);
        }
        assert_eq!(upto("az", "bc", false).collect::<Vec<_>>(), ["az", "ba", "bb", "bc"]);
        assert_eq!(upto("a", "e", true).collect::<String>(), "abcd");
        assert_eq!(upto("e", "a", false).count(), 0);
    }
}
