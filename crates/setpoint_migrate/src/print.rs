//! A migration as text, as JSON and as a patch.

use indexmap::IndexMap;
use serde_json::{Value, json};
use setpoint_project::Session;

use crate::change::{Change, Effect, Standing};
use crate::{Migration, Outcome, slice};

impl Migration {
    /// Whether something is left that fails or changes silently in the new version, once the rewrites are applied.
    pub fn is_unfinished(&self) -> bool {
        let is_open = |change: &&Change| !change.is_applied() && change.effect > Effect::Advice;
        self.changes.iter().any(|change| is_open(&change))
            || !self.unread.is_empty()
            || self.nodes.iter().any(|node| matches!(node.outcome, Outcome::Differs(_) | Outcome::Fails(_)))
    }

    /// Whether there is anything to do: rewrites, or places that a person has to look at.
    pub fn has_work(&self) -> bool {
        self.is_unfinished() || !self.rewritten.is_empty()
    }

    /// A unified diff of all rewrites.
    pub fn patch(&self, session: &Session<'_>) -> String {
        let files = self.rewritten.values();
        files.map(|(file, text)| setpoint_report::patch(&session.sources.file(*file), text)).collect()
    }

    pub fn text(&self, session: &Session<'_>) -> String {
        let mut out = String::new();
        let titles = [
            (Effect::Silent, "Silent: the catalog would change without an error"),
            (Effect::Breaks, "Breaks: compilation would fail"),
            (Effect::Advice, "Advice: nothing fails yet"),
        ];
        for (effect, title) in titles {
            let of_effect: Vec<&Change> =
                self.changes.iter().filter(|change| change.effect == effect).collect();
            if of_effect.is_empty() {
                continue;
            }
            out.push_str(&format!("{title} ({})\n", counted(of_effect.len(), "place")));
            for change in of_effect {
                let place = session.sources.place(change.span);
                out.push_str(&format!("  {place} {}: {}\n", change.kind.name(), change.message));
                for edit in &change.edits {
                    let old = slice(session, edit.span);
                    if !old.contains('\n') && !edit.replacement.contains('\n') {
                        out.push_str(&format!(
                            "    {old} → {} ({})\n",
                            shown(&edit.replacement),
                            standing(change)
                        ));
                    } else {
                        out.push_str(&format!(
                            "    {} lines become {} ({})\n",
                            old.lines().count(),
                            edit.replacement.lines().count(),
                            standing(change)
                        ));
                    }
                }
            }
            out.push('\n');
        }
        for module in &self.modules {
            let version = module.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
            let places: Vec<String> = module
                .places
                .iter()
                .map(|(kind, count)| format!("{} in {}", kind.name(), counted(*count, "place")))
                .collect();
            out.push_str(&format!(
                "Module {}{version} needs a newer version: {}\n",
                module.name,
                places.join(", ")
            ));
        }
        for (path, reason) in &self.unread {
            out.push_str(&format!("Not looked at: {}: {reason}\n", path.display()));
        }
        for (told, names) in self.troubles() {
            let named = match names.as_slice() {
                [one] => format!("Node {one}"),
                [first, rest @ ..] => format!("Node {first} and {} more", rest.len()),
                [] => continue,
            };
            out.push_str(&format!("{named}: {told}\n"));
        }
        for advice in &self.advice {
            out.push_str(&format!("Note: {advice}\n"));
        }
        let applied = self.changes.iter().filter(|change| change.is_applied()).count();
        let proved =
            self.changes.iter().filter(|change| matches!(change.standing, Standing::Proved(_))).count();
        let same = self.nodes.iter().filter(|node| node.outcome == Outcome::Same).count();
        let open = self
            .changes
            .iter()
            .filter(|change| !change.is_applied() && change.effect > Effect::Advice)
            .count();
        out.push_str(&format!(
            "{} ({proved} proved), {open} left to you; {same} of {} equal under Puppet 7 and, rewritten, 8\n",
            counted(applied, "rewrite"),
            counted(self.nodes.len(), "catalog"),
        ));
        out
    }

    /// What keeps catalogs from being equal, with the nodes that have it.
    fn troubles(&self) -> IndexMap<String, Vec<&str>> {
        let mut troubles: IndexMap<String, Vec<&str>> = IndexMap::new();
        for node in &self.nodes {
            let told = match &node.outcome {
                Outcome::Same | Outcome::SameAsFarAsKnown => continue,
                Outcome::Differs(what) => format!("the catalog under Puppet 8 differs: {what}"),
                Outcome::Fails(why) => format!("still fails under Puppet 8: {why}"),
                Outcome::FailedBefore(why) => format!("does not compile under Puppet 7: {why}"),
            };
            troubles.entry(told).or_default().push(&node.name);
        }
        troubles
    }

    pub fn json(&self, session: &Session<'_>, version: &str) -> Value {
        let changes = self.changes.iter().map(|change| {
            let position = session.sources.position(change.span);
            let edits = change.edits.iter().map(|edit| {
                let at = session.sources.position(edit.span);
                json!({"line": at.line, "column": at.column, "old": slice(session, edit.span), "new": edit.replacement})
            });
            let nodes = match &change.standing {
                Standing::Proved(nodes) => nodes.clone(),
                _ => Vec::new(),
            };
            json!({
                "rule": change.kind.name(),
                "effect": change.effect.as_str(),
                "path": change.path.display().to_string(),
                "line": position.line,
                "column": position.column,
                "message": change.message,
                "standing": standing_name(change),
                "nodes": nodes,
                "applied": change.is_applied(),
                "edits": edits.collect::<Vec<_>>(),
            })
        });
        let modules = self.modules.iter().map(|module| {
            let places: serde_json::Map<String, Value> =
                module.places.iter().map(|(kind, count)| (kind.name().to_owned(), json!(count))).collect();
            json!({"name": module.name, "version": module.version, "places": places})
        });
        let nodes = self.nodes.iter().map(|node| {
            let (outcome, why) = match &node.outcome {
                Outcome::Same => ("same", None),
                Outcome::SameAsFarAsKnown => ("same-as-far-as-known", None),
                Outcome::Differs(why) => ("differs", Some(why)),
                Outcome::Fails(why) => ("fails", Some(why)),
                Outcome::FailedBefore(why) => ("failed-before", Some(why)),
            };
            json!({"node": node.name, "outcome": outcome, "why": why})
        });
        let unread =
            self.unread.iter().map(|(path, why)| json!({"path": path.display().to_string(), "why": why}));
        json!({
            "setpoint_migrate": 1,
            "version": version,
            "from": 7,
            "to": self.to,
            "changes": changes.collect::<Vec<_>>(),
            "modules": modules.collect::<Vec<_>>(),
            "nodes": nodes.collect::<Vec<_>>(),
            "unread": unread.collect::<Vec<_>>(),
            "advice": self.advice,
        })
    }
}

fn shown(text: &str) -> &str {
    if text.is_empty() { "nothing" } else { text }
}

fn standing(change: &Change) -> String {
    match &change.standing {
        Standing::Proved(nodes) => format!("proved on {}", counted(nodes.len(), "node")),
        Standing::Form => "same by its form, not reached".to_owned(),
        Standing::Proposal => "proposal".to_owned(),
    }
}

fn standing_name(change: &Change) -> &'static str {
    match &change.standing {
        Standing::Proved(_) => "proved",
        Standing::Form => "form",
        Standing::Proposal if change.edits.is_empty() => "report",
        Standing::Proposal => "proposal",
    }
}

fn counted(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
