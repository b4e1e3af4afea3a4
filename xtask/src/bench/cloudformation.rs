//! Checking CloudFormation templates: many resources, and many conditions.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::{Context, Row};
use crate::measure::{Cost, measure};

pub(super) fn rows(context: &Context) -> Result<Vec<Row>, String> {
    let sizes = [(10, 20, true), (100, 20, true), (500, 10, true), (5_000, 3, false)];
    let mut rows = growing_rows(context, &sizes)?;
    let path = context.scratch.join("conditions.yaml");
    write(&path, &conditions(30))?;
    // cfn-lint may need minutes or hours here, so it is left out.
    rows.push(row(context, "30 conditions, 2^30 combinations", &path, 10, None)?);
    Ok(rows)
}

/// One row a size, beside the linter where it is asked.
pub(super) fn growing_rows(context: &Context, sizes: &[(usize, u32, bool)]) -> Result<Vec<Row>, String> {
    let linter = if context.with_peer { Some(linter(context)?) } else { None };
    let mut rows = Vec::new();
    for &(count, runs, peer_too) in sizes {
        let path = context.scratch.join(format!("{count}.yaml"));
        write(&path, &template(count))?;
        let peer = linter.as_ref().filter(|_| peer_too);
        rows.push(row(context, &format!("{count} resources"), &path, runs, peer)?);
    }
    Ok(rows)
}

fn row(
    context: &Context,
    name: &str,
    path: &Path,
    runs: u32,
    linter: Option<&PathBuf>,
) -> Result<Row, String> {
    let path = path.display().to_string();
    let check = [
        context.setpoint.clone(),
        "check".to_owned(),
        "--fail-on".to_owned(),
        "never".to_owned(),
        path.clone(),
    ];
    let ours = measure(runs, None, &check)?;
    let peer = linter.map(|linter| beside(linter, &path)).transpose()?;
    Ok(Row { name: name.to_owned(), ours, peer, remark: String::new() })
}

/// Only the rules on order count for the peer: circles, and `DependsOn`.
fn beside(linter: &Path, path: &str) -> Result<Cost, String> {
    let only = ["--ignore-checks", "E", "W", "I", "--mandatory-checks", "E3004", "E3005", "W3005"];
    let mut command = vec![linter.display().to_string(), path.to_owned()];
    command.extend(only.iter().map(|word| (*word).to_owned()));
    measure(1, None, &command)
}

/// cfn-lint in a virtual environment of its own, installed on first use.
fn linter(context: &Context) -> Result<PathBuf, String> {
    context.install_peer("cfn-lint", "cfn-lint", &[&["cfn-lint"]])
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// A network, and layers of resources that refer to each other.
fn template(count: usize) -> String {
    let mut text = String::from(
        "AWSTemplateFormatVersion: \"2010-09-09\"\nResources:\n  Vpc:\n    Type: AWS::EC2::VPC\n    Properties:\n      CidrBlock: 10.0.0.0/16\n",
    );
    for index in 1..count {
        let before = index / 2;
        let refer = if before == 0 { "Vpc.VpcId".to_owned() } else { format!("Topic{before}.TopicName") };
        let _ = write!(
            text,
            "  Topic{index}:\n    Type: AWS::SNS::Topic\n    Properties:\n      DisplayName: !Sub \"after ${{{refer}}} in ${{AWS::Region}}\"\n"
        );
        if index % 5 == 0 {
            let _ = writeln!(text, "    DependsOn: Topic{}", index - 1);
        }
    }
    text
}

/// Conditions of their own parameters, each guarding a resource and a reference.
fn conditions(count: usize) -> String {
    let mut text = String::from("AWSTemplateFormatVersion: \"2010-09-09\"\nParameters:\n");
    for index in 0..count {
        let _ = writeln!(text, "  P{index}: {{ Type: String, AllowedValues: [\"yes\", \"no\"] }}");
    }
    text.push_str("Conditions:\n");
    for index in 0..count {
        let _ = writeln!(text, "  C{index}: !Equals [!Ref P{index}, \"yes\"]");
    }
    text.push_str("Resources:\n");
    for index in 0..count {
        let next = (index + 1) % count;
        let _ = write!(
            text,
            "  T{index}:\n    Type: AWS::SNS::Topic\n    Condition: C{index}\n    Properties:\n      DisplayName: !If [C{next}, !GetAtt T{next}.TopicName, alone]\n"
        );
    }
    text
}
