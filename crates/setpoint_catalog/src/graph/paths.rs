//! Paths of resources.

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
    fn parents_end_at_the_root() {
        assert_eq!(parents("/a/b/c").collect::<Vec<_>>(), ["/a/b", "/a", "/"]);
        assert_eq!(parents("/").count(), 0);
    }
}
