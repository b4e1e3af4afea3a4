//! Paths as Ruby's `File.expand_path` makes them.

/// An absolute path without `.`, `..`, doubled slashes and slashes at its end; `None` for any other text.
pub fn canonical_path(path: &str) -> Option<String> {
    if !path.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    Some(format!("/{}", parts.join("/")))
}

/// The folders above a canonical path, the nearest first, the root last.
pub(super) fn parents(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = path;
    std::iter::from_fn(move || {
        if rest == "/" {
            return None;
        }
        let (above, _) = rest.rsplit_once('/')?;
        rest = if above.is_empty() { "/" } else { above };
        Some(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_canonical() {
        assert_eq!(canonical_path("/a//b/./c/../d/").as_deref(), Some("/a/b/d"));
        assert_eq!(canonical_path("/..").as_deref(), Some("/"));
        assert_eq!(canonical_path("a/b"), None);
        assert_eq!(parents("/a/b/c").collect::<Vec<_>>(), ["/a/b", "/a", "/"]);
        assert_eq!(parents("/").count(), 0);
    }
}
