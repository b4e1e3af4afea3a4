//! Text as HTML.

use minijinja::Value;

/// Text that may stand anywhere in HTML, also between quotes. Characters that HTML does not allow are left out.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {}
            letter => out.push(letter),
        }
    }
    out
}

/// A sentence, with `code` between backticks.
pub(crate) fn sentence(text: &str) -> Value {
    Value::from_safe_string(with_code(text))
}

fn with_code(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // A backtick without a second one is a letter as any other.
    if parts.len().is_multiple_of(2) {
        return escaped(text);
    }
    let mut out = String::new();
    for (at, part) in parts.into_iter().enumerate() {
        match at % 2 {
            0 => out.push_str(&escaped(part)),
            _ => out.push_str(&format!("<code>{}</code>", escaped(part))),
        }
    }
    out
}

/// What explanations of rules are written in: paragraphs, lists, code between fences or with four blanks before it.
pub(crate) fn explanation(text: &str) -> Value {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() {
            continue;
        }
        if line.starts_with("```") {
            let code: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            out.push_str(&block(&code.join("\n")));
        } else if line.starts_with("    ") {
            let mut code = vec![line];
            while let Some(next) = lines.next_if(|next| next.starts_with("    ") || next.trim().is_empty()) {
                code.push(next);
            }
            let code: Vec<&str> = code.into_iter().map(|line| line.get(4..).unwrap_or("")).collect();
            out.push_str(&block(code.join("\n").trim_end()));
        } else {
            let is_item = |line: &str| line.starts_with("- ");
            let mut parts = vec![line.to_owned()];
            while let Some(next) = lines.next_if(|next| !next.trim().is_empty() && !next.starts_with("```")) {
                match parts.last_mut() {
                    Some(last) if !is_item(next) => {
                        last.push(' ');
                        last.push_str(next.trim());
                    }
                    _ => parts.push(next.to_owned()),
                }
            }
            let (items, prose): (Vec<&String>, Vec<&String>) = parts.iter().partition(|part| is_item(part));
            for part in prose {
                out.push_str(&format!("<p>{}</p>\n", with_code(part)));
            }
            if !items.is_empty() {
                out.push_str("<ul>\n");
                for item in items {
                    out.push_str(&format!("<li>{}</li>\n", with_code(item.trim_start_matches("- "))));
                }
                out.push_str("</ul>\n");
            }
        }
    }
    Value::from_safe_string(out)
}

fn block(code: &str) -> String {
    format!("<pre class=\"code\" tabindex=\"0\"><code>{}</code></pre>\n", escaped(code))
}
