//! Which lines of the source changed.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::cause::Side;

/// Lines, counted from 1. `count` may be 0: the place before which something was added or removed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Lines {
    pub first: u32,
    pub count: u32,
}

impl Lines {
    pub fn contains(self, line: u32) -> bool {
        self.first <= line && line < self.first + self.count
    }

    /// Whether any of the lines from `first` to `last` is among them.
    fn touches(self, first: u32, last: u32) -> bool {
        // A file as a whole is touched by what was only removed from it or added to it, too.
        (first == 0 && last == u32::MAX) || (self.first <= last && first < self.first + self.count)
    }
}

/// A piece of a file that changed.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Hunk {
    /// As it is named in both versions.
    pub path: String,
    pub old: Lines,
    pub new: Lines,
    pub removed: Vec<String>,
    pub added: Vec<String>,
}

/// The name of a changed piece. Ordered by file, then as the pieces follow one another.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct HunkId {
    name: Arc<str>,
    is_inside: bool,
    at: usize,
}

/// The two texts of a file by its name in both versions, and whether it lies inside what is compared; a file that is missing
/// in one version is empty there.
pub type Texts<'t> = dyn Fn(&str, bool) -> (String, String) + Sync + 't;

/// The changed pieces of files, by name.
type ChangedFiles = BTreeMap<Arc<str>, Arc<[Hunk]>>;

/// The changed lines of files. A file is compared when a cause is first looked for in it: which files count is known only
/// when the last node is compiled, and by then the first ones are no longer in memory.
pub struct SourceChanges<'t> {
    texts: &'t Texts<'t>,
    /// Files outside of what is compared, and inside.
    files: Mutex<[ChangedFiles; 2]>,
}

impl std::fmt::Debug for SourceChanges<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SourceChanges").finish_non_exhaustive()
    }
}

/// The smallest difference of more lines than this takes too long to find: its cost grows as the square of what differs.
const MOST_LINES: usize = 20_000;

impl<'t> SourceChanges<'t> {
    pub fn new(texts: &'t Texts<'t>) -> Self {
        Self { texts, files: Mutex::default() }
    }

    /// The hunks that hold some of these lines.
    pub(crate) fn touched(&self, side: Side, file: (&str, bool), first: u32, last: u32) -> Vec<HunkId> {
        let (name, hunks) = self.of(file);
        let lines = |hunk: &Hunk| if side == Side::Old { hunk.old } else { hunk.new };
        let found = hunks.iter().enumerate().filter(|(_, hunk)| lines(hunk).touches(first, last));
        found.map(|(at, _)| HunkId { name: Arc::clone(&name), is_inside: file.1, at }).collect()
    }

    /// All hunks of a file that lies in one version.
    pub(crate) fn of_file(&self, side: Side, file: (&str, bool)) -> Vec<HunkId> {
        self.touched(side, file, 0, u32::MAX)
    }

    /// Whether a line of the new version was added or changed.
    pub fn is_changed(&self, name: &str, is_inside: bool, line: u32) -> bool {
        !self.touched(Side::New, (name, is_inside), line, line).is_empty()
    }

    /// The hunks that brought a line of the new version.
    pub fn hunks_at(&self, name: &str, is_inside: bool, line: u32) -> Vec<Hunk> {
        let ids = self.touched(Side::New, (name, is_inside), line, line);
        ids.iter().filter_map(|id| self.hunk(id)).collect()
    }

    pub(crate) fn hunk(&self, id: &HunkId) -> Option<Hunk> {
        self.of((&id.name, id.is_inside)).1.get(id.at).cloned()
    }

    fn of(&self, (name, is_inside): (&str, bool)) -> (Arc<str>, Arc<[Hunk]>) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let files = &mut files[usize::from(is_inside)];
        if let Some((name, hunks)) = files.get_key_value(name) {
            return (Arc::clone(name), Arc::clone(hunks));
        }
        let (old, new) = (self.texts)(name, is_inside);
        let (key, hunks): (Arc<str>, Arc<[Hunk]>) = (name.into(), compare_texts(name, &old, &new).into());
        files.insert(Arc::clone(&key), Arc::clone(&hunks));
        (key, hunks)
    }
}

/// The lines that differ between two texts, each with its sign.
pub fn changed_lines(old: &str, new: &str) -> Vec<String> {
    let hunks = compare_texts("", old, new);
    let removed = |hunk: &Hunk| hunk.removed.iter().map(|line| format!("- {line}")).collect::<Vec<_>>();
    let added = |hunk: &Hunk| hunk.added.iter().map(|line| format!("+ {line}")).collect::<Vec<_>>();
    hunks.iter().flat_map(|hunk| [removed(hunk), added(hunk)].concat()).collect()
}

/// A text of several lines as a sentence: an error lists what it expects on lines of their own.
pub fn as_sentence(text: &str) -> String {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let joined = lines.filter(|line| !line.is_empty()).reduce(|said, line| {
        let end = if said.ends_with([':', ';', '.']) { "" } else { ";" };
        format!("{said}{end} {line}")
    });
    joined.unwrap_or_default()
}

/// Removed and added lines as they are shown. Blanks and returns at their ends get signs where nothing else differs: without them
/// both would look the same.
pub(crate) fn with_visible_ends(removed: &[&str], added: &[&str]) -> (Vec<String>, Vec<String>) {
    let trimmed = |line: &&str| line.trim_end().to_owned();
    let differ_in_ends = removed.iter().map(trimmed).eq(added.iter().map(trimmed));
    let shown = |line: &&str| {
        if !differ_in_ends {
            return line.strip_suffix('\r').unwrap_or(line).to_owned();
        }
        let (text, end) = line.split_at(line.trim_end().len());
        let signs = end.chars().map(|blank| match blank {
            ' ' => '␠',
            '\t' => '␉',
            '\r' => '␍',
            other => other,
        });
        text.chars().chain(signs).collect()
    };
    (removed.iter().map(shown).collect(), added.iter().map(shown).collect())
}

/// Returns the ranges of lines that differ, in their order. Texts of many lines are first cut at the lines that stand once in each;
/// what lies between two of them and is still too much differs as a whole.
fn changed_pieces(before: &[&str], after: &[&str]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut out = Vec::new();
    let mut compare = |from: Range<usize>, to: Range<usize>| {
        let (old, new) = (&before[from.clone()], &after[to.clone()]);
        if from.len() + to.len() > MOST_LINES {
            out.push((from, to));
            return;
        }
        let operations = capture_diff_slices(Algorithm::Myers, old, new);
        for operation in operations.iter().filter(|one| !matches!(one, DiffOp::Equal { .. })) {
            let (inner, outer) = (operation.old_range(), operation.new_range());
            let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
            out.push((moved(inner, from.start), moved(outer, to.start)));
        }
    };
    if before.len() + after.len() <= MOST_LINES {
        compare(0..before.len(), 0..after.len());
        return out;
    }
    let (mut old_at, mut new_at) = (0, 0);
    for (old, new) in anchors(before, after) {
        if (old_at, new_at) != (old, new) {
            compare(old_at..old, new_at..new);
        }
        (old_at, new_at) = (old + 1, new + 1);
    }
    if (old_at, new_at) != (before.len(), after.len()) {
        compare(old_at..before.len(), new_at..after.len());
    }
    out
}

/// Returns the lines that two texts share for certain: the ends that are alike, and the longest row of lines that stand once in
/// each and in the same order in both.
fn anchors(before: &[&str], after: &[&str]) -> Vec<(usize, usize)> {
    let head = before.iter().zip(after).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&before[head..], &after[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let old_middle = &old_rest[..old_rest.len() - tail];
    let new_middle = &new_rest[..new_rest.len() - tail];
    let (in_old, in_new) = (single_places(old_middle), single_places(new_middle));
    let both = old_middle.iter().enumerate().filter_map(|(at, line)| {
        in_old.get(*line).copied().flatten()?;
        Some((at, in_new.get(*line).copied().flatten()?))
    });
    let mut out: Vec<(usize, usize)> = (0..head).map(|at| (at, at)).collect();
    let middle = longest_rising(&both.collect::<Vec<_>>());
    out.extend(middle.into_iter().map(|(old, new)| (old + head, new + head)));
    out.extend((0..tail).map(|at| (before.len() - tail + at, after.len() - tail + at)));
    out
}

/// Returns the place of each line that stands once, and nothing for one that stands twice.
fn single_places<'l>(lines: &[&'l str]) -> HashMap<&'l str, Option<usize>> {
    let mut places = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        places.entry(*line).and_modify(|place| *place = None).or_insert(Some(at));
    }
    places
}

/// Returns the longest row of pairs whose second parts rise as the first do, which already rise.
fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length the pair with the least end, and for each pair the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, new)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *new);
        previous.push(length.checked_sub(1).map(|before| ends[before]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut out = Vec::new();
    let mut next = ends.last().copied();
    while let Some(at) = next {
        out.push(pairs[at]);
        next = previous[at];
    }
    out.reverse();
    out
}

/// The changed pieces of a file, in their order.
fn compare_texts(path: &str, old: &str, new: &str) -> Vec<Hunk> {
    if old == new {
        return Vec::new();
    }
    // The ends of lines count: with another one, a file is another file.
    let before: Vec<&str> = old.split_terminator('\n').collect();
    let after: Vec<&str> = new.split_terminator('\n').collect();
    let mut hunks = Vec::new();
    for (from, to) in changed_pieces(&before, &after) {
        let (old, new) = (
            Lines { first: from.start as u32 + 1, count: from.len() as u32 },
            Lines { first: to.start as u32 + 1, count: to.len() as u32 },
        );
        let (removed, added) = (before.get(from).unwrap_or(&[]), after.get(to).unwrap_or(&[]));
        let (removed, added) = with_visible_ends(removed, added);
        hunks.push(Hunk { path: path.to_owned(), old, new, removed, added });
    }
    // Only the end of the last line differs.
    if let (true, Some(last)) = (hunks.is_empty(), after.last()) {
        let at = Lines { first: after.len() as u32, count: 1 };
        let shown = |text: &str| {
            let end = if text.ends_with('\n') { "" } else { " (no line end)" };
            vec![format!("{last}{end}")]
        };
        hunks.push(Hunk { path: path.to_owned(), old: at, new: at, removed: shown(old), added: shown(new) });
    }
    hunks
}

#[cfg(test)]
mod tests {
    use super::{Side, SourceChanges};

    #[test]
    fn a_long_text_is_compared_at_the_lines_that_stand_once() {
        let old: Vec<String> = (0..30_000).map(|number| format!("line {number}\n")).collect();
        let mut new = old.clone();
        new[5] = "five\n".to_owned();
        new.remove(20_000);
        new.insert(29_000, "more\n".to_owned());
        let hunks = super::compare_texts("a", &old.concat(), &new.concat());
        let found: Vec<_> = hunks.iter().map(|hunk| (hunk.removed.concat(), hunk.added.concat())).collect();
        let expected = [("line 5", "five"), ("line 20000", ""), ("", "more")];
        assert_eq!(found, expected.map(|(old, new)| (old.to_owned(), new.to_owned())));
    }

    #[test]
    fn a_long_text_of_alike_lines_differs_as_a_whole() {
        let (old, new) = ("a\n".repeat(100_000), "b\n".repeat(100_000));
        let hunks = super::compare_texts("a", &old, &new);
        assert_eq!(hunks.len(), 1);
    }

    #[test]
    fn each_changed_piece_is_found_by_its_lines() {
        let texts = |name: &str, _: bool| match name {
            "a.pp" => ("one\ntwo\nthree\n".to_owned(), "one\n2\nthree\nfour\n".to_owned()),
            _ => Default::default(),
        };
        let changes = SourceChanges::new(&texts);
        let at = |side, name, line| {
            let found = changes.touched(side, (name, true), line, line);
            found.iter().map(|id| id.at).collect::<Vec<_>>()
        };
        assert_eq!(at(Side::Old, "a.pp", 2), [0]);
        assert_eq!(at(Side::New, "a.pp", 4), [1]);
        assert!(at(Side::New, "a.pp", 1).is_empty());
        assert!(at(Side::New, "b.pp", 1).is_empty());
    }
}
