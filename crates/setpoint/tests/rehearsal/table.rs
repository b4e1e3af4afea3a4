//! The table of docs/rehearsal.md.

use std::path::Path;

use crate::confirm::Found;

/// The cells of a row: manifest, paper, verdict, why, confirmed, repair, confirmed.
type Row = Vec<String>;

pub(crate) struct Table {
    lines: Vec<Line>,
}

enum Line {
    Text(String),
    Row(Row),
}

const CELLS: usize = 7;

impl Table {
    pub(crate) fn read(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let lines = text.lines().map(|line| match row(line) {
            Some(row) => Line::Row(row),
            None => Line::Text(line.to_owned()),
        });
        Self { lines: lines.collect() }
    }

    fn row(&mut self, manifest: &str) -> Option<&mut Row> {
        let title = format!("`{manifest}`");
        self.lines.iter_mut().find_map(|line| match line {
            Line::Row(row) if row[0] == title => Some(row),
            _ => None,
        })
    }

    /// Whether the row says why Puppet is not asked.
    pub(crate) fn is_explained(&mut self, manifest: &str) -> bool {
        self.row(manifest).is_some_and(|row| row[4].starts_with("not run: "))
    }

    pub(crate) fn compare(&mut self, manifest: &str, found: &Found) -> Result<(), String> {
        let row = self.row(manifest).ok_or("docs/rehearsal.md has no row for it")?;
        for (at, have) in cells(found) {
            if row[at] != have {
                return Err(format!("docs/rehearsal.md says: {}\nnow it is: {have}", row[at]));
            }
        }
        Ok(())
    }

    pub(crate) fn set(&mut self, manifest: &str, found: &Found) {
        if self.row(manifest).is_none() {
            let mut row = vec![String::new(); CELLS];
            row[0] = format!("`{manifest}`");
            self.lines.push(Line::Row(row));
        }
        if let Some(row) = self.row(manifest) {
            for (at, have) in cells(found) {
                row[at] = have;
            }
        }
    }

    pub(crate) fn write(&self, file: &Path) {
        let lines: Vec<String> = self
            .lines
            .iter()
            .map(|line| match line {
                Line::Text(text) => text.clone(),
                Line::Row(row) => format!("| {} |", row.join(" | ")),
            })
            .collect();
        std::fs::write(file, lines.join("\n") + "\n").expect("docs/rehearsal.md can be written");
    }
}

/// The cells that are found out; the others are written by hand.
fn cells(found: &Found) -> [(usize, String); 4] {
    let or_dash = |text: &str| if text.is_empty() { "–".to_owned() } else { text.to_owned() };
    [
        (2, found.verdict.clone()),
        (4, or_dash(&found.confirmed)),
        (5, or_dash(&found.repair)),
        (6, or_dash(&found.repaired)),
    ]
}

fn row(line: &str) -> Option<Row> {
    let inner = line.strip_prefix("| `")?.strip_suffix(" |")?;
    let cells: Row = format!("`{inner}").split(" | ").map(str::to_owned).collect();
    (cells.len() == CELLS).then_some(cells)
}
