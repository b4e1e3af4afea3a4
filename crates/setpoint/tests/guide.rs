//! The architect's guide: every file in it is written, every command in it run, and the output compared.
//! `SETPOINT_BLESS=1` writes the outputs anew.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test stops where it is wrong")]

use std::path::Path;
use std::process::Command;

const GUIDES: [&str; 1] = ["types-with-rules.md"];

#[test]
fn every_command_of_the_guides_prints_what_they_say() {
    for name in GUIDES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        let folder = std::env::temp_dir().join(format!("setpoint-guide-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let written = run_guide(&text, &folder);
        std::fs::remove_dir_all(&folder).unwrap();
        if std::env::var_os("SETPOINT_BLESS").is_some() {
            std::fs::write(&path, &written).unwrap();
        } else {
            assert_eq!(text, written, "{name}: the outputs differ");
        }
    }
}

/// The text with the outputs of its commands.
fn run_guide(text: &str, folder: &Path) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some(kind) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if kind == "console" {
            let command = block[0].strip_prefix("$ ").expect("a command");
            out.push_str(&format!("{}\n{}", block[0], run(command, folder)));
        } else {
            let body = block.iter().flat_map(|line| [*line, "\n"]).collect::<String>();
            if let Some((_, name)) = kind.split_once(' ') {
                std::fs::write(folder.join(name), &body).unwrap();
            }
            out.push_str(&body);
        }
        out.push_str("```\n");
    }
    out
}

/// Standard output and error of `setpoint …`, the first lines only after `| head N`.
fn run(command: &str, folder: &Path) -> String {
    let (command, shown) = match command.split_once(" | head ") {
        Some((command, count)) => (command, count.parse().expect("a number of lines")),
        None => (command, usize::MAX),
    };
    let mut words = command.split(' ');
    assert_eq!(words.next(), Some("setpoint"));
    let output = Command::new(env!("CARGO_BIN_EXE_setpoint"))
        .args(words)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    text.lines().take(shown).flat_map(|line| [line.trim_end(), "\n"]).collect()
}
