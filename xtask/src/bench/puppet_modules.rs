//! Real modules and the example repository beside Puppet, and a fleet of 1,000 nodes in one process.

use std::fmt::Write;
use std::path::Path;

use setpoint_oracle::{Mode, Request, facts_of};
use setpoint_testing::repository;

use super::puppet::puppets;
use super::{Context, Row};
use crate::measure::measure;

const MODULES: &str = "/usr/share/puppet/modules";
const NODE: &str = "node1.example.com";
const FLEET: u32 = 1_000;

pub(super) fn rows(context: &Context) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for class in ["apache", "keystone"] {
        if Path::new(MODULES).join(class).is_dir() {
            rows.push(module(context, class)?);
        }
    }
    rows.push(example(context)?);
    rows.extend(fleet(context)?);
    Ok(rows)
}

fn module(context: &Context, class: &str) -> Result<Row, String> {
    let manifest = context.scratch.join(format!("{class}.pp"));
    let text = format!("include {class}\n");
    std::fs::write(&manifest, &text).map_err(|error| format!("{}: {error}", manifest.display()))?;
    let manifest = manifest.display().to_string();
    let options = ["--modulepath", MODULES, "--platform", "debian-12", "--node", NODE, "--puppet", "7"];
    let ours = measure(20, None, &command(context, &["compile", &manifest], &options))?;
    let mut request = Request::manifest(&text, Mode::Seven);
    let platform = setpoint_platforms::find("debian-12").map_err(|unknown| unknown.to_string())?;
    request.facts = platform.facts(NODE, "7.23.0");
    let entries = std::fs::read_dir(MODULES).map_err(|error| format!("{MODULES}: {error}"))?;
    request.modules =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let peer = if context.with_peer { Some(puppets(context, &request)?) } else { None };
    Ok(Row { name: format!("include {class}, cold"), ours, peer, remark: String::new() })
}

fn example(context: &Context) -> Result<Row, String> {
    let node = "web1.shop.example";
    let folder = repository().join("examples/control-repo");
    let input = folder.display().to_string();
    let ours = measure(30, None, &command(context, &["compile", &input], &["--node", node]))?;
    let facts = facts_of(&folder.join("facts").join(format!("{node}.yaml")))?;
    let request = Request::repository(&folder, node, facts)?;
    let peer = if context.with_peer { Some(puppets(context, &request)?) } else { None };
    Ok(Row { name: "a node of the example repository, cold".to_owned(), ours, peer, remark: String::new() })
}

/// Many nodes of the example in one process: what is parsed and read once serves all.
fn fleet(context: &Context) -> Result<Vec<Row>, String> {
    let example = repository().join("examples/control-repo");
    let folder = context.scratch.join("facts");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let read = |node: &str| {
        let path = example.join("facts").join(format!("{node}.shop.example.yaml"));
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let models = [read("web1")?, read("web3")?];
    let mut list = String::new();
    for number in 1..=FLEET {
        let name = format!("web{number}");
        let text = models[number as usize % models.len()].replace("web1", &name).replace("web3", &name);
        let path = folder.join(format!("{name}.shop.example.yaml"));
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        let _ = writeln!(list, "{name}.shop.example");
    }
    let nodes = context.scratch.join("nodes");
    std::fs::write(&nodes, list).map_err(|error| format!("{}: {error}", nodes.display()))?;
    let (input, nodes, facts) =
        (example.display().to_string(), nodes.display().to_string(), folder.display().to_string());
    let row = |name: &str, more: &[&str]| -> Result<Row, String> {
        let options = [&["--nodes", nodes.as_str(), "--facts", facts.as_str()], more].concat();
        let ours = measure(3, None, &command(context, &["fleet", &input], &options))?;
        let remark = format!("{:.2} ms a node", ours.cpu_ms / f64::from(FLEET));
        Ok(Row { name: name.to_owned(), ours, peer: None, remark })
    };
    Ok(vec![
        row("1,000 nodes of the example, compiled", &["--compile-only"])?,
        row("1,000 nodes of the example, compiled and proved", &[])?,
    ])
}

fn command(context: &Context, words: &[&str], options: &[&str]) -> Vec<String> {
    let program = context.setpoint.as_str();
    std::iter::once(program)
        .chain(words.iter().copied())
        .chain(options.iter().copied())
        .map(str::to_owned)
        .collect()
}
