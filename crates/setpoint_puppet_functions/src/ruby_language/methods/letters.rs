//! Sets of letters, as `tr`, `delete`, `count` and `squeeze` take them.

/// `a-z`, `^a-z`, with `\` before what stands for itself.
pub(super) struct Letters {
    pub(super) list: Vec<char>,
    negated: bool,
}

impl Letters {
    pub(super) fn new(text: &str) -> Self {
        let letters: Vec<char> = text.chars().collect();
        let negated = letters.len() > 1 && letters[0] == '^';
        let mut list = Vec::new();
        let mut at = usize::from(negated);
        while at < letters.len() {
            if letters[at] == '\\' && at + 1 < letters.len() {
                list.push(letters[at + 1]);
                at += 2;
            } else if at + 2 < letters.len() && letters[at + 1] == '-' {
                list.extend(letters[at]..=letters[at + 2]);
                at += 3;
            } else {
                list.push(letters[at]);
                at += 1;
            }
        }
        Self { list, negated }
    }

    pub(super) fn contains(&self, letter: char) -> bool {
        self.list.contains(&letter) != self.negated
    }
}

/// All sets must have the letter.
pub(super) fn in_all(sets: &[Letters], letter: char) -> bool {
    sets.iter().all(|set| set.contains(letter))
}

pub(super) fn translated(text: &str, from: &str, to: &str, squeezes: bool) -> String {
    let from = Letters::new(from);
    let to = Letters::new(to).list;
    let mut out = String::new();
    let mut last = None;
    for letter in text.chars() {
        if !from.contains(letter) {
            out.push(letter);
            last = None;
            continue;
        }
        let new = if from.negated {
            to.last()
        } else {
            let at = from.list.iter().position(|known| *known == letter).unwrap_or(0);
            to.get(at).or(to.last())
        };
        let Some(new) = new else { continue };
        if squeezes && last == Some(*new) {
            continue;
        }
        out.push(*new);
        last = Some(*new);
    }
    out
}

pub(super) fn squeezed(text: &str, sets: &[Letters]) -> String {
    let mut last = None;
    text.chars().filter(|letter| last.replace(*letter) != Some(*letter) || !in_all(sets, *letter)).collect()
}

pub(super) fn padded(text: &str, width: usize, pad: &str, side: &str) -> String {
    let missing = width.saturating_sub(text.chars().count());
    let fill = |count: usize| -> String { pad.chars().cycle().take(count).collect() };
    match side {
        "ljust" => format!("{text}{}", fill(missing)),
        "rjust" => format!("{}{text}", fill(missing)),
        _ => format!("{}{text}{}", fill(missing / 2), fill(missing - missing / 2)),
    }
}
