//! Puppet's parser as the oracle: the tree of each case, or its errors.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use setpoint_testing::{Case, Section, cases, repository};

pub(super) fn run(filter: Option<&str>) -> Result<(), String> {
    let tests = repository().join("crates/setpoint_puppet_syntax/tests");
    let scratch = repository().join("target/syntax-answers");
    std::fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let mut asked: Vec<(PathBuf, PathBuf, Case)> = Vec::new();
    for path in cases(&tests.join("cases")) {
        if filter.is_some_and(|filter| !path.display().to_string().contains(filter)) {
            continue;
        }
        let case = Case::parse(&read(&path)?);
        let input = case.inputs.first().ok_or_else(|| format!("{}: no input", path.display()))?;
        let copy = scratch.join(format!("{}-{}", asked.len(), input.name));
        std::fs::write(&copy, &input.text).map_err(|error| format!("{}: {error}", copy.display()))?;
        asked.push((path, copy, case));
    }
    let list = asked.iter().fold(String::new(), |mut list, (_, copy, _)| {
        let _ = writeln!(list, "{}", copy.display());
        list
    });
    let output = ask(&tests.join("oracle/dump.rb"), &list)?;
    let mut changed = 0;
    for (path, copy, mut case) in asked {
        let answer = answer_for(&output, &copy).ok_or_else(|| format!("no answer for {}", path.display()))?;
        case.answers = sections(answer);
        let text = case.render();
        if text != read(&path)? {
            std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
            changed += 1;
        }
    }
    println!("{changed} answers changed");
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn ask(script: &Path, list: &str) -> Result<String, String> {
    let mut ruby = setpoint_testing::ruby()
        .arg(script)
        .env("PLACES", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("ruby: {error}"))?;
    if let Some(mut stdin) = ruby.stdin.take() {
        stdin.write_all(list.as_bytes()).map_err(|error| format!("ruby: {error}"))?;
    }
    let output = ruby.wait_with_output().map_err(|error| format!("ruby: {error}"))?;
    String::from_utf8(output.stdout).map_err(|error| format!("ruby: {error}"))
}

fn answer_for<'a>(output: &'a str, copy: &Path) -> Option<&'a str> {
    let head = format!("### {}\n", copy.display());
    let start = output.find(&head)? + head.len();
    let rest = &output[start..];
    Some(rest.find("\n### ").map_or(rest, |end| &rest[..=end]))
        .map(|answer| if answer.starts_with("### ") { "" } else { answer })
}

/// What is wrong follows the tree.
fn sections(answer: &str) -> Vec<Section> {
    let is_diagnostic = |line: &str| line.starts_with("error ") || line.starts_with("warning ");
    let tree: usize =
        answer.split_inclusive('\n').take_while(|line| !is_diagnostic(line)).map(str::len).sum();
    let (tree, diagnostics) = answer.split_at(tree);
    [("tree", tree), ("diagnostics", diagnostics)]
        .into_iter()
        .filter(|(name, text)| !text.is_empty() || *name == "tree" && diagnostics.is_empty())
        .map(|(name, text)| Section { name: name.to_owned(), text: text.to_owned() })
        .collect()
}
