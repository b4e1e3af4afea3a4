//! The table of modules.

use std::collections::BTreeMap;

use super::Entered;
use super::compare::Compared;

#[derive(Default)]
struct Row {
    classes: usize,
    entered: usize,
    skipped: BTreeMap<&'static str, usize>,
}

pub(super) fn table(entered: &[Entered], platform: &str, compared: Option<&Compared>) -> String {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for one in entered {
        let row = rows.entry(&one.class.module).or_default();
        row.classes += 1;
        match reason(one) {
            None => row.entered += 1,
            Some(reason) => {
                *row.skipped.entry(reason).or_default() += 1;
                *reasons.entry(reason).or_default() += 1;
            }
        }
    }
    let total: usize = rows.values().map(|row| row.classes).sum();
    let good: usize = rows.values().map(|row| row.entered).sum();
    let mut text = format!(
        "# Modules of Debian, entered class by class\n\n\
         Each class of Debian's Puppet modules is included alone, on {platform}, with no data. Of {total} classes {good} compile; \
         the others are skipped, with the reason. `cargo xtask modules --compare --write` asks Puppet about the same classes and \
         writes this file.\n"
    );
    text += &compared.map(beside_puppet).unwrap_or_default();
    text += "\n| module | classes | enter | skipped because |\n|---|---|---|---|\n";
    for (module, row) in &rows {
        let skipped: Vec<String> =
            row.skipped.iter().map(|(reason, count)| format!("{reason} ({count})")).collect();
        text += &format!("| {module} | {} | {} | {} |\n", row.classes, row.entered, skipped.join("; "));
    }
    let mut reasons: Vec<(&str, usize)> = reasons.into_iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    text += "\n## Reasons\n\n| reason | classes |\n|---|---|\n";
    for (reason, count) in reasons {
        text += &format!("| {reason} | {count} |\n");
    }
    text
}

fn beside_puppet(compared: &Compared) -> String {
    let different: usize = compared.different.iter().map(|(_, classes)| classes.len()).sum();
    let mut text = format!(
        "\nPuppet 7.23 was asked about {} of them: {} compile to the same catalog, {} are refused by both for the same reason, \
         and {different} differ{}\n",
        compared.asked,
        compared.same,
        compared.refused,
        if different == 0 { "." } else { ":\n" }
    );
    for (cause, classes) in &compared.different {
        let names: Vec<String> =
            classes.iter().map(|class| format!("`{}`", class.lines().next().unwrap_or_default())).collect();
        text += &format!("- {}: {cause}\n", names.join(", "));
    }
    text
}

/// Why a class is not entered, in few words; nothing if it is.
fn reason(one: &Entered) -> Option<&'static str> {
    let error = one.error.as_deref()?;
    let has = |texts: &[&str]| texts.iter().any(|text| error.contains(text));
    let found = REASONS.iter().find(|(texts, _)| has(texts));
    Some(match found {
        Some((_, _)) if has(&[NO_VALUE]) && one.class.required.is_empty() => {
            "a class that it uses needs a parameter"
        }
        Some((_, reason)) => reason,
        None => "its own check refuses",
    })
}

const NO_VALUE: &str = "expects a value for parameter";

/// What errors say, and what that means; the first that fits counts.
const REASONS: &[(&[&str], &str)] = &[
    (&[NO_VALUE], "a parameter is required"),
    (&["is private", "private class"], "it is private to its module"),
    (
        &[
            "Could not find class",
            "Could not find declared class",
            "Unknown resource type",
            "Resource type not found",
            "Unknown function",
        ],
        "a module that it uses is not installed, or is of another version",
    ),
    (
        &[
            "Could not find resource",
            "base class before",
            "must include",
            "should be included before",
            "requires apache::",
        ],
        "another class must be declared with it",
    ),
    (
        &["Please set", "You must specify", "unset. Please", "No preferred version", "should be a"],
        "its own check asks for a parameter",
    ),
    (
        &["got Undef", "Undef Value", "resulted in undef", "nil is not"],
        "it reads a value that another class sets",
    ),
    (&["Duplicate declaration"], "two of its resources are the same"),
    (
        &["expects", "must be", "has no parameter", "no parameter named"],
        "a parameter has a value that does not fit",
    ),
];
