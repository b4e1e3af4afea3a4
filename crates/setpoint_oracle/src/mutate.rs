//! Manifests with mistakes that nobody would make: to see that every input ends in an answer.

use setpoint_testing::Random;

/// Pieces of the language that are put where they do not belong.
const PIECES: [&str; 40] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "=>",
    "->",
    "~>",
    "<|",
    "|>",
    "<<|",
    "|>>",
    "@@",
    "|",
    ":",
    ";",
    ",",
    "'",
    "\"",
    "${",
    "@(END)",
    "\nEND\n",
    "/*",
    "#",
    "\\",
    "$",
    "$x",
    " if ",
    " class ",
    " define ",
    " inherits ",
    " node ",
    "undef",
    "default",
    "/a",
    "%>",
    "\u{1F600}",
    "9999999999999999999",
    " * => ",
];

/// A text with one to three changes.
pub fn mutate(text: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(3) {
        change(&mut chars, random);
    }
    chars.into_iter().collect()
}

fn change(chars: &mut Vec<char>, random: &mut Random) {
    let at = random.below(chars.len() + 1);
    let end = (at + 1 + random.below(12)).min(chars.len());
    match random.below(7) {
        // Something is lost.
        0 if at < end => drop(chars.drain(at..end)),
        // The end is lost.
        1 if random.below(4) == 0 => chars.truncate(at),
        // Something comes twice.
        2 if at < end => {
            let copy: Vec<char> = chars[at..end].to_vec();
            drop(chars.splice(at..at, copy));
        }
        // Two places change.
        3 if !chars.is_empty() => {
            let other = random.below(chars.len());
            let at = at.min(chars.len() - 1);
            chars.swap(at, other);
        }
        // Something is deep.
        4 if random.below(8) == 0 => {
            let open = random.pick(&["[", "(", "{", "!", "-", "${\"", "f("]);
            let deep = open.repeat(1 + random.below(3000));
            drop(chars.splice(at..at, deep.chars()));
        }
        // A line is in another place.
        5 => {
            let line: String = {
                let text: String = chars.iter().collect();
                let lines: Vec<&str> = text.lines().collect();
                if lines.is_empty() { String::new() } else { format!("\n{}\n", random.pick(&lines)) }
            };
            drop(chars.splice(at..at, line.chars().collect::<Vec<_>>()));
        }
        _ => {
            let piece = random.pick(&PIECES);
            drop(chars.splice(at..at, piece.chars()));
        }
    }
}
