//! Names: which may have been meant, and how many are listed.

/// The known name nearest to a misspelt one, if one is near. Large and small letters are alike.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = (name.chars().count() / 3).max(1);
    known
        .map(|known| (distance(&name.to_lowercase(), &known.to_lowercase()), known))
        .filter(|(far, _)| *far <= most)
        .min()
        .map(|(_, known)| known)
}

/// The number of letters to insert, delete or replace, or to swap with their neighbour.
pub fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = above[j] + usize::from(a[i] != b[j]);
            let mut least = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

/// `a, b and c`; of more than so many, those and how many more there are.
pub fn few(names: &[&str], most: usize) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] if names.len() <= most => format!("{} and {last}", first.join(", ")),
        _ => {
            let shown = names.get(..most).unwrap_or(names);
            format!("{} and {} more", shown.join(", "), names.len() - shown.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{few, nearest};

    #[test]
    fn names_are_listed_up_to_a_number() {
        assert_eq!(few(&[], 2), "");
        assert_eq!(few(&["a"], 2), "a");
        assert_eq!(few(&["a", "b"], 2), "a and b");
        assert_eq!(few(&["a", "b", "c"], 3), "a, b and c");
        assert_eq!(few(&["a", "b", "c", "d"], 2), "a, b and 2 more");
    }

    #[test]
    fn a_misspelt_name_finds_its_neighbour() {
        assert_eq!(nearest("contents", ["content", "mode"].into_iter()), Some("content"));
        assert_eq!(nearest("npt", ["ntp", "nptx"].into_iter()), Some("nptx"));
        assert_eq!(nearest("npt", ["ntp", "other"].into_iter()), Some("ntp"));
        assert_eq!(nearest("myvpc", ["MyVPC", "Other"].into_iter()), Some("MyVPC"));
        assert_eq!(nearest("colour", ["content", "mode"].into_iter()), None);
    }
}
