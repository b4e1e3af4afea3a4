//! HTML pages in tests: whether they are well formed, and what a reader sees of them.

/// Elements that do not begin a line of their own.
const INLINE: [&str; 6] = ["a", "code", "mark", "span", "strong", "tspan"];

/// A tag with its attributes, and the text after it.
fn tags(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let (head, rest) = page.split_once("<style>").unwrap_or((page, ""));
    let (_, body) = rest.split_once("</style>").unwrap_or_default();
    let pieces = head.split('<').skip(1).chain(body.split('<').skip(1));
    pieces.map(|piece| piece.split_once('>').unwrap_or((piece, "")))
}

fn name(tag: &str) -> &str {
    tag.trim_start_matches('/').split([' ', '/', '\n']).next().unwrap_or_default()
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split('"').next())
}

/// What is wrong with a page that is to stand alone: elements that do not end, names that stand twice, links that lead
/// nowhere, scripts, and whatever it would have to fetch.
pub fn problems(page: &str) -> Vec<String> {
    let mut out = Vec::new();
    let (mut open, mut ids): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for (tag, _) in tags(page) {
        if tag.starts_with('/') {
            if open.pop() != Some(name(tag)) {
                out.push(format!("<{tag}> ends another element"));
            }
        } else if !tag.starts_with('!') && !tag.ends_with('/') {
            open.push(name(tag));
        }
        let id = attribute(tag, "id");
        if let Some(id) = id.filter(|id| ids.contains(id)) {
            out.push(format!("`{id}` stands twice"));
        }
        ids.extend(id);
        if name(tag) == "script" || attribute(tag, "src").is_some() {
            out.push(format!("<{tag}> in a page that stands alone"));
        }
    }
    out.extend(open.iter().map(|name| format!("<{name}> does not end")));
    for (tag, _) in tags(page) {
        for link in ["href", "aria-labelledby"].iter().filter_map(|name| attribute(tag, name)) {
            if !ids.contains(&link.trim_start_matches('#')) {
                out.push(format!("`{link}` leads nowhere"));
            }
        }
    }
    if page.contains("@import") || page.contains("url(http") {
        out.push("the style needs the network".to_owned());
    }
    out
}

/// What a reader sees: a line for each block, cells of a table apart by ` | `; of a drawing what it is called.
pub fn text(page: &str) -> String {
    let mut out = String::new();
    let (mut is_drawing, mut is_code) = (false, false);
    for (tag, rest) in tags(page) {
        match tag.split([' ', '\n']).next().unwrap_or_default() {
            "svg" => {
                is_drawing = true;
                out.push_str(&format!("\n[{}]", attribute(tag, "aria-label").unwrap_or_default()));
            }
            "/svg" => is_drawing = false,
            "pre" => is_code = true,
            "/pre" => is_code = false,
            _ => {}
        }
        if is_drawing {
            continue;
        }
        match name(tag) {
            // The last character of a line of code is its end.
            _ if is_code && name(tag) != "pre" => out.push_str(rest),
            "th" | "td" if !tag.starts_with('/') => {
                out.push_str(if out.ends_with('\n') { "" } else { " | " });
                out.push_str(rest.trim());
            }
            "th" | "td" => {}
            "br" => {
                out.push(' ');
                out.push_str(rest);
            }
            inline if INLINE.contains(&inline) => out.push_str(&rest.replace('\n', " ")),
            _ => {
                out.push('\n');
                out.push_str(if is_code { rest } else { rest.trim_start() });
            }
        }
    }
    for (entity, letter) in [("&lt;", "<"), ("&gt;", ">"), ("&#39;", "'"), ("&quot;", "\""), ("&amp;", "&")] {
        out = out.replace(entity, letter);
    }
    let lines = out.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
    lines.collect::<Vec<_>>().join("\n") + "\n"
}
