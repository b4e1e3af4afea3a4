//! The table of modules.

use std::collections::BTreeMap;

use super::Entered;

#[derive(Default)]
struct Row {
    classes: usize,
    entered: usize,
    skipped: BTreeMap<String, usize>,
}

pub(super) fn table(entered: &[Entered], platform: &str) -> String {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for one in entered {
        let row = rows.entry(&one.class.module).or_default();
        row.classes += 1;
        match reason(one) {
            None => row.entered += 1,
            Some(reason) => {
                *row.skipped.entry(reason.clone()).or_default() += 1;
                *reasons.entry(reason).or_default() += 1;
            }
        }
    }
    let total: usize = rows.values().map(|row| row.classes).sum();
    let good: usize = rows.values().map(|row| row.entered).sum();
    let mut text = format!(
        "# Modules of Debian, entered class by class\n\n\
         Each class of Debian's Puppet modules is included alone, on {platform}, with no data. Of {total} classes {good} compile; \
         the others are skipped, with the reason. `cargo xtask modules --write` writes this file; with `--compare` it asks \
         Puppet about the same classes.\n\n| module | classes | enter | skipped because |\n|---|---|---|---|\n"
    );
    for (module, row) in &rows {
        let skipped: Vec<String> =
            row.skipped.iter().map(|(reason, count)| format!("{reason} ({count})")).collect();
        text += &format!("| {module} | {} | {} | {} |\n", row.classes, row.entered, skipped.join("; "));
    }
    let mut reasons: Vec<(String, usize)> = reasons.into_iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    text += "\n## Reasons\n\n| reason | classes |\n|---|---|\n";
    for (reason, count) in reasons {
        text += &format!("| {reason} | {count} |\n");
    }
    text
}

/// Why a class is not entered, in few words; nothing if it is.
fn reason(one: &Entered) -> Option<String> {
    let error = one.error.as_deref()?;
    let first = error.lines().next().unwrap_or_default();
    let has = |text: &str| error.contains(text);
    Some(if !one.class.required.is_empty() && has("expects a value for parameter") {
        "a parameter is required".to_owned()
    } else if has("expects a value for parameter") {
        "a class that it uses needs a parameter".to_owned()
    } else if has("Could not find class")
        || has("Unknown resource type")
        || has("Resource type not found")
        || has("Unknown function")
    {
        "a module that it uses is not installed".to_owned()
    } else if has("Duplicate declaration") {
        "two of its resources are the same".to_owned()
    } else if first.contains("must be") || first.contains("expects") || first.contains("parameter") {
        "a parameter has a value that does not fit".to_owned()
    } else {
        "its own check refuses, or it stands for another platform".to_owned()
    })
}
