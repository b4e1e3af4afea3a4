//! Checking TOSCA topologies: cost grows as the number of nodes does.

use std::fmt::Write;
use std::path::PathBuf;

use super::{Context, Row};
use crate::measure::measure;

pub(super) fn rows(context: &Context) -> Result<Vec<Row>, String> {
    let peer = if context.with_peer { Some(opera(context)?) } else { None };
    let mut rows: Vec<Row> = Vec::new();
    for (count, runs, peer_too) in [(1_000, 10, true), (10_000, 3, true), (100_000, 1, false)] {
        let path = context.scratch.join(format!("{count}.yaml"));
        std::fs::write(&path, topology(count)).map_err(|error| format!("{}: {error}", path.display()))?;
        let path = path.display().to_string();
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let ours = measure(runs, None, &words(&[&context.setpoint, "check", "--fail-on", "never", &path]))?;
        let parse =
            |program: &PathBuf| measure(1, None, &words(&[&program.display().to_string(), "parse", &path]));
        let peer = peer.as_ref().filter(|_| peer_too).map(parse).transpose()?;
        let remark = rows
            .last()
            .map(|before| format!("grows as n^{:.2}", (ours.cpu_ms / before.ours.cpu_ms.max(0.001)).log10()))
            .unwrap_or_default();
        rows.push(Row { name: format!("{count} nodes"), ours, peer, remark });
    }
    Ok(rows)
}

/// opera's parser in a virtual environment of its own, installed on first use.
fn opera(context: &Context) -> Result<PathBuf, String> {
    // Its own pin of PyYAML has no wheel for newer Pythons, and it needs `pkg_resources`.
    let packages: [&[&str]; 2] =
        [&["setuptools<80", "PyYAML", "shtab"], &["--no-deps", "opera-tosca-parser"]];
    context.install_peer("opera", "opera-tosca-parser", &packages)
}

/// Machines with a server and an application each, every application connected to one before it.
fn topology(count: usize) -> String {
    let mut text = String::from(
        "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  app:\n    derived_from: tosca.nodes.SoftwareComponent\n    capabilities: {api: {type: tosca.capabilities.Endpoint}}\n    requirements:\n      - peer: {capability: tosca.capabilities.Endpoint, relationship: tosca.relationships.ConnectsTo, occurrences: [0, 1]}\ntopology_template:\n  node_templates:\n",
    );
    for index in 0..count / 2 {
        let _ = writeln!(text, "    box{index}: {{type: tosca.nodes.Compute}}");
        let peer = match index {
            0 => String::new(),
            _ => format!(", {{peer: app{}}}", (index - 1) / 2),
        };
        let _ = writeln!(text, "    app{index}: {{type: app, requirements: [{{host: box{index}}}{peer}]}}");
    }
    text
}
