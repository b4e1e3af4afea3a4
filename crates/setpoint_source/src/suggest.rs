//! Names that may have been meant.

/// The known name nearest to a misspelt one, if one is near.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = (name.chars().count() / 3).max(1);
    known
        .map(|known| (distance(name, known), known))
        .filter(|(far, _)| *far <= most)
        .min()
        .map(|(_, known)| known)
}

/// The number of letters to insert, delete or replace.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_misspelt_name_finds_its_neighbour() {
        assert_eq!(nearest("contents", ["content", "mode"].into_iter()), Some("content"));
        assert_eq!(nearest("colour", ["content", "mode"].into_iter()), None);
    }
}
