//! Makes the table of the files of modules that do what functions known here do.
//!
//! The files of the installed modules are those that ours were compared with, call by call. A file of another version is the
//! same if nothing but comments and layout differs from one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use setpoint_puppet_functions::{candidate, digest, is_same_code, required_beside};
use setpoint_testing::repository;

/// The module that has a function, and the name of the function.
type Known = (String, String);

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Where the modules are that ours were compared with
    #[arg(long, default_value = "/usr/share/puppet/modules")]
    modules: PathBuf,
    /// A file of another version, as `MODULE/lib/puppet/…`, whose calls in the module's own examples ours answers alike
    #[arg(long)]
    reviewed: Vec<PathBuf>,
    /// Git repositories of modules, as `MODULE=FOLDER`: every version that they ever had
    histories: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let mut compared: BTreeMap<Known, Vec<String>> = BTreeMap::new();
    let mut digests = BTreeSet::new();
    for module in names_in(&arguments.modules)? {
        let lib = arguments.modules.join(&module).join("lib/puppet");
        for file in setpoint_testing::files_below(&lib) {
            add_file(&file, &mut compared, &mut digests)?;
        }
    }
    for file in &arguments.reviewed {
        add_file(file, &mut compared, &mut digests)?;
    }
    println!("{} functions, {} files of the installed modules", compared.len(), digests.len());
    for history in &arguments.histories {
        let (module, folder) = history.split_once('=').ok_or("a history is MODULE=FOLDER")?;
        let before = digests.len();
        let seen = add_history(module, Path::new(folder), &compared, &mut digests)?;
        println!("{module}: {seen} versions of files, {} of them the same", digests.len() - before);
    }
    write_table(&digests)
}

fn names_in(folder: &Path) -> Result<Vec<String>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// Adds the file of a function that is known here by its name.
fn add_file(
    file: &Path,
    compared: &mut BTreeMap<Known, Vec<String>>,
    digests: &mut BTreeSet<u64>,
) -> Result<(), String> {
    let folders = ["lib/puppet/functions", "lib/puppet/parser/functions"];
    let text = file.to_string_lossy();
    let found = folders.iter().find_map(|folder| text.rfind(folder).map(|at| (at, at + folder.len())));
    let Some((start, end)) = found else { return Ok(()) };
    let module = text[..start].trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    let Some(name) = function_name(file, Path::new(&text[..end])) else { return Ok(()) };
    if candidate(&module, &name).is_none() {
        return Ok(());
    }
    let texts = texts_of(file)?;
    digests.insert(digest(&name, &texts));
    compared.entry((module, name)).or_default().extend(texts.into_iter().next());
    Ok(())
}

/// `stdlib/extname.rb` defines `stdlib::extname`.
fn function_name(file: &Path, folder: &Path) -> Option<String> {
    let relative = file.strip_prefix(folder).ok()?.to_str()?;
    Some(relative.strip_suffix(".rb")?.replace('/', "::"))
}

fn texts_of(file: &Path) -> Result<Vec<String>, String> {
    let read =
        |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let text = read(file)?;
    let folder = file.parent().unwrap_or(file);
    let beside: Result<Vec<String>, String> =
        required_beside(&text).map(|name| read(&folder.join(name).with_extension("rb"))).collect();
    let mut texts = vec![text];
    texts.extend(beside?);
    Ok(texts)
}

/// Every content that a file of a known function had in the history of its module; how many there were.
fn add_history(
    module: &str,
    repository: &Path,
    compared: &BTreeMap<Known, Vec<String>>,
    digests: &mut BTreeSet<u64>,
) -> Result<usize, String> {
    let listed = git(repository, &["rev-list", "--objects", "--all", "--", "lib/puppet"])?;
    let mut seen = 0;
    for line in String::from_utf8_lossy(&listed).lines() {
        let Some((object, path)) = line.split_once(' ') else { continue };
        let folders = ["lib/puppet/functions", "lib/puppet/parser/functions"];
        let name = folders.iter().find_map(|folder| function_name(Path::new(path), Path::new(folder)));
        let Some(known) = name.and_then(|name| compared.get_key_value(&(module.to_owned(), name))) else {
            continue;
        };
        let ((_, name), same) = known;
        let Ok(text) = String::from_utf8(git(repository, &["cat-file", "blob", object])?) else { continue };
        seen += 1;
        // What a file requires beside it is another file, with a history of its own.
        if required_beside(&text).next().is_none() && same.iter().any(|other| is_same_code(&text, other)) {
            digests.insert(digest(name, &[text]));
        }
    }
    Ok(seen)
}

fn git(repository: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let output = Command::new("git").arg("-C").arg(repository).args(arguments).output();
    let output = output.map_err(|error| format!("git: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(format!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)))
}

fn write_table(digests: &BTreeSet<u64>) -> Result<(), String> {
    let mut text =
        "//! Made by `cargo xtask functions`.\n\n#[rustfmt::skip]\npub(super) static COMPARED: &[u64] = &[\n"
            .to_owned();
    for digest in digests {
        let digits = format!("{digest:016x}");
        let (high, low) = digits.split_at(8);
        let _ = writeln!(text, "    0x{}_{}_{}_{},", &high[..4], &high[4..], &low[..4], &low[4..]);
    }
    text.push_str("];\n");
    let path = repository().join("crates/setpoint_puppet_functions/src/installed/table.rs");
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}
