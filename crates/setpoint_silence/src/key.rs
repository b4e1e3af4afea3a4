//! The name by which a finding is recognised in another run.

use sha2::{Digest, Sha256};

use setpoint_source::{Diagnostic, Sources};

/// How many hexadecimal digits of the digest are kept.
const DIGITS: usize = 16;
/// Stands for the name of a node in a reference.
const NODE: &str = "%{node}";

/// What stays the same of a finding when code around it moves, and when it is told for another node.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FindingKey {
    pub rule: &'static str,
    /// The file of the primary place, below the root and with `/`; empty for a finding without a place.
    pub path: String,
    /// The first 16 hexadecimal digits of SHA-256 over rule, path, references and the text of the source line.
    pub digest: String,
}

/// Returns the key of a finding: the same in the baseline and on both sides of `setpoint diff`.
///
/// `node` is the node of the report that holds the finding; its name and those of `finding.nodes` do not count where they are
/// part of a reference, for a finding of many nodes is told for the first of them. `root` is the folder that paths are relative
/// to, as the user wrote it (`.` and the empty path are the same). No line number is part of the key.
pub fn finding_key(finding: &Diagnostic, node: Option<&str>, sources: &Sources, root: &str) -> FindingKey {
    key_by_name(finding.rule.name(), finding, node, sources, root)
}

/// The keys that a finding has, and that it had when its rule had another name.
pub(crate) fn all_keys(
    finding: &Diagnostic,
    node: Option<&str>,
    sources: &Sources,
    root: &str,
) -> Vec<FindingKey> {
    let names = std::iter::once(finding.rule.name()).chain(finding.rule.aliases().iter().copied());
    names.map(|name| key_by_name(name, finding, node, sources, root)).collect()
}

fn key_by_name(
    rule: &'static str,
    finding: &Diagnostic,
    node: Option<&str>,
    sources: &Sources,
    root: &str,
) -> FindingKey {
    let (path, line) = finding.span.map_or_else(Default::default, |span| {
        let file = sources.file(span.file);
        let line = file.line_text(file.line(span.range.start));
        (below(file.path(), root), line.split_whitespace().collect::<String>())
    });
    let mut names: Vec<&str> = finding.nodes.iter().map(String::as_str).chain(node).collect();
    // A name may be the beginning of another.
    names.sort_by_key(|name| (std::cmp::Reverse(name.len()), *name));
    names.dedup();
    let mut digest = Sha256::new();
    // Each part with its length, so that no two lists of parts give the same bytes.
    let mut add = |part: &str| {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part.as_bytes());
    };
    add(rule);
    add(&path);
    for reference in &finding.resources {
        add(&without_nodes(reference, &names));
    }
    add(&line);
    let digest: String =
        digest.finalize().iter().map(|byte| format!("{byte:02x}")).take(DIGITS / 2).collect();
    FindingKey { rule, path, digest }
}

/// Returns the path below the root, with `/` between its parts.
pub(crate) fn below(path: &str, root: &str) -> String {
    let clean = |path: &str| path.replace('\\', "/");
    let (path, root) = (clean(path), clean(root));
    let path = path.trim_start_matches("./");
    let root = root.trim_start_matches("./").trim_end_matches('/');
    if matches!(root, "" | ".") {
        return path.to_owned();
    }
    path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path).to_owned()
}

/// Replaces names of nodes where they stand as words of their own.
fn without_nodes(reference: &str, names: &[&str]) -> String {
    let is_part = |char: char| char.is_alphanumeric() || matches!(char, '-' | '_' | '.');
    let mut out = String::new();
    let mut rest = reference;
    'next: while let Some(char) = rest.chars().next() {
        if !out.chars().next_back().is_some_and(is_part) {
            for name in names {
                let after = (!name.is_empty()).then(|| rest.strip_prefix(name)).flatten();
                if let Some(after) = after
                    && !after.chars().next().is_some_and(is_part)
                {
                    out.push_str(NODE);
                    rest = after;
                    continue 'next;
                }
            }
        }
        out.push(char);
        rest = &rest[char.len_utf8()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use setpoint_source::{Range, Rule};

    use super::*;

    fn key(path: &str, text: &str, at: &str, reference: &str, nodes: &[&str]) -> FindingKey {
        let sources = Sources::new();
        let file = sources.add(path, text);
        let start = text.find(at).unwrap_or(0);
        let mut finding = Diagnostic::new(Rule::MissingOrder, "words do not count")
            .at(Range::new(start, start + at.len()).in_file(file))
            .with_resources([reference.to_owned()]);
        finding.nodes = nodes.iter().map(|&node| node.to_owned()).collect();
        finding_key(&finding, None, &sources, "site")
    }

    #[test]
    fn moved_code_and_other_nodes_keep_the_key() {
        let first = key(
            "site/a.pp",
            "file { '/a': }",
            "file",
            "File[/etc/web1.example.com/x]",
            &["web1.example.com"],
        );
        let moved = key(
            "./site/a.pp",
            "\n\n    file  { '/a':}\n",
            "file",
            "File[/etc/db.example.com/x]",
            &["db.example.com"],
        );
        assert_eq!(first, moved);
        assert_eq!(first.path, "a.pp");
        assert_eq!(first.digest.len(), DIGITS);
    }

    #[test]
    fn rule_path_line_and_references_count() {
        let base = key("site/a.pp", "file { '/a': }", "file", "File[/a]", &[]);
        assert_ne!(base, key("site/b.pp", "file { '/a': }", "file", "File[/a]", &[]));
        assert_ne!(base, key("site/a.pp", "file { '/b': }", "file", "File[/a]", &[]));
        assert_ne!(base, key("site/a.pp", "file { '/a': }", "file", "File[/b]", &[]));
    }

    #[test]
    fn a_name_inside_a_word_is_none() {
        assert_eq!(without_nodes("File[/etc/web10.conf]", &["web1"]), "File[/etc/web10.conf]");
        assert_eq!(without_nodes("Vhost[web1]", &["web1"]), "Vhost[%{node}]");
        assert_eq!(without_nodes("Vhost[web1.a.org]", &["web1.a.org", "web1"]), "Vhost[%{node}]");
    }
}
