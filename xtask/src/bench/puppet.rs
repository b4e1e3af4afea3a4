//! Compiling Puppet: a trivial manifest, 200 classes, many files, real modules, and how the cost grows.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use setpoint_oracle::{Mode, Puppet, Request};

use super::{Context, Row};
use crate::measure::{Cost, measure};

pub(super) fn rows(context: &Context) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for (name, request, runs) in [
        ("a trivial manifest, cold", request("notify { 'hello': }\n".to_owned()), 50),
        ("200 classes that include each other, in files", classes(200), 20),
        ("1,000 files", request(files(1_000)), 20),
        ("10,000 files", request(files(10_000)), 15),
    ] {
        rows.push(beside_puppet(context, name, &request, runs)?);
    }
    rows.extend(super::puppet_modules::rows(context)?);
    rows.push(without_provenance(context)?);
    rows.extend(growth(context)?);
    Ok(rows)
}

/// Our cost and Puppet's for one request.
fn beside_puppet(context: &Context, name: &str, request: &Request, runs: u32) -> Result<Row, String> {
    let ours = ours(context, request, runs, &[])?;
    let peer = if context.with_peer { Some(puppets(context, request)?) } else { None };
    Ok(Row { name: name.to_owned(), ours, peer, remark: String::new() })
}

/// What it costs to record where every value comes from.
fn without_provenance(context: &Context) -> Result<Row, String> {
    let request = request(files(10_000));
    let with = ours(context, &request, 5, &[])?;
    let without = ours(context, &request, 5, &["--no-provenance"])?;
    let more = (with.cpu_ms / without.cpu_ms.max(0.001) - 1.0) * 100.0;
    Ok(Row {
        name: "10,000 files without provenance".to_owned(),
        ours: without,
        peer: None,
        remark: format!("recording it costs {more:.0} % more time, {:.0} MB", with.peak_mb - without.peak_mb),
    })
}

/// Ours from 1,000 to 100,000 resources. What matters is the cost of each resource: if it stays the same, growth is linear.
fn growth(context: &Context) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for (count, runs) in [(1_000, 20), (10_000, 15), (100_000, 3)] {
        let ours = ours(context, &request(files(count)), runs, &[])?;
        let each = ours.cpu_ms * 1000.0 / f64::from(count);
        rows.push(Row {
            name: format!("growth: {count} files"),
            ours,
            peer: None,
            remark: format!("{each:.1} us a resource"),
        });
    }
    Ok(rows)
}

fn ours(context: &Context, request: &Request, runs: u32, options: &[&str]) -> Result<Cost, String> {
    let folder = context.scratch.join("input");
    write(request, &folder)?;
    let path = |name: &str| folder.join(name).display().to_string();
    let mut command = vec![context.setpoint.clone(), "compile".to_owned(), path("main.pp")];
    for (option, value) in [
        ("--modulepath", path("modules")),
        ("--facts", path("facts.json")),
        ("--node", request.node.clone()),
        ("--puppet", "7".to_owned()),
    ] {
        command.extend([option.to_owned(), value]);
    }
    command.extend(options.iter().map(|option| (*option).to_owned()));
    measure(runs, None, &command)
}

/// Puppet is measured once: a run takes seconds, and varies by less than a tenth.
pub(super) fn puppets(context: &Context, request: &Request) -> Result<Cost, String> {
    let input = context.scratch.join("request.json");
    std::fs::write(&input, format!("{}\n", request.to_json())).map_err(|error| error.to_string())?;
    let script = Puppet::script().display().to_string();
    measure(1, Some(&input), &["ruby".to_owned(), "-W0".to_owned(), script, "--bare".to_owned()])
}

fn write(request: &Request, folder: &Path) -> Result<(), String> {
    let _ = std::fs::remove_dir_all(folder);
    let facts = serde_json::Value::Object(request.facts.clone()).to_string();
    let files = request.files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    for (name, text) in files.chain([("facts.json", facts.as_str()), ("modules/.keep", "")]) {
        let path: PathBuf = folder.join(name);
        let parent = path.parent().ok_or("a file without a folder")?;
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

fn request(manifest: String) -> Request {
    let mut request = Request::manifest("", Mode::Seven);
    request.files = vec![("main.pp".to_owned(), manifest)];
    request
}

/// Files as a configuration has them: each with its parameters, and an order for every tenth.
pub(super) fn files(count: u32) -> String {
    let mut text = String::from("$base = '/srv/data'\n");
    for index in 0..count {
        let _ = write!(
            text,
            "file {{ \"${{base}}/{index}\":\n  ensure  => file,\n  owner   => 'root',\n  mode    => '0644',\n  content => \"number {index}\\n\",\n"
        );
        if index % 10 == 9 {
            let _ = writeln!(text, "  require => File[\"${{base}}/{}\"],", index - 1);
        }
        text.push_str("}\n");
    }
    text
}

/// A module of many small classes. Each includes three others, as roles include profiles.
fn classes(count: u32) -> Request {
    let mut main = String::new();
    let mut files = Vec::new();
    for index in 0..count {
        let _ = writeln!(main, "include bench::c{index}");
        let includes: Vec<String> = (1..=3)
            .map(|step| index * 3 + step)
            .filter(|next| *next < count)
            .map(|next| format!("bench::c{next}"))
            .collect();
        let includes =
            if includes.is_empty() { String::new() } else { format!("  include {}\n", includes.join(", ")) };
        let text = format!(
            "class bench::c{index} (\n  String $owner = 'root',\n  Array[String] $names = ['a', 'b'],\n) {{\n{includes}  \
             package {{ 'p{index}': ensure => installed }}\n  $names.each |$name| {{\n    file {{ \"/etc/c{index}/${{name}}\":\n      ensure => file,\n      \
             owner  => $owner,\n      content => \"on ${{facts['kernel']}}\\n\",\n      require => Package['p{index}'],\n    }}\n  }}\n}}\n"
        );
        files.push((format!("modules/bench/manifests/c{index}.pp"), text));
    }
    let mut request = request(main);
    request.files.extend(files);
    request
}
