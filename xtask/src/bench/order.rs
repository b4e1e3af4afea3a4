//! Does the order matter? Figure 13 beside an encoding of all orders, families that grow, and catalogs of many resources.

use std::process::Command;

use setpoint_testing::{repository, shared};

use super::{Context, Row};
use crate::measure::{Cost, measure};

/// Family, semantics, sizes, and how often each is run.
static FAMILIES: &[(&str, &str, &[usize], u32)] = &[
    ("figure-13", "paper", &[2, 3, 4, 5, 6, 10, 20, 40], 3),
    ("figure-13-overwrite", "paper", &[2, 3, 4, 5, 6, 10, 20, 40], 3),
    ("writers", "puppet", &[5, 10, 20, 40], 3),
    ("writers-failing", "puppet", &[5, 10, 20], 1),
    ("chain", "puppet", &[10, 100, 1_000], 3),
    ("diamonds", "puppet", &[10, 20, 40], 3),
    ("catalog", "puppet", &[100, 1_000, 10_000], 1),
    ("catalog-bugs", "puppet", &[100, 1_000], 1),
];

/// The benchmarks of Rehearsal (its figures 11 and 12), and the platform of each.
static BENCHMARKS: &[(&str, &str)] = &[
    ("dhoppe-monit", "ubuntu-trusty"),
    ("thias-bind", "ubuntu-trusty"),
    ("puppet-hosting_deter", "ubuntu-trusty"),
    ("antonlindstrom-powerdns", "ubuntu-trusty"),
    ("nfisher-SpikyIRC", "centos-6"),
    ("ghoneycutt-xinetd", "ubuntu-trusty"),
    ("mjhas-amavis", "ubuntu-trusty"),
    ("mjhas-clamav", "ubuntu-trusty"),
    ("Nelmo-logstash", "ubuntu-trusty"),
    ("pdurbin-java-jpa-tutorial", "centos-6"),
    ("thias-ntp", "ubuntu-trusty"),
    ("xdrum-rsyslog", "ubuntu-trusty"),
    ("BenoitCattie-puppet-nginx", "ubuntu-trusty"),
];

pub(crate) fn rows(context: &Context) -> Result<Vec<Row>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--package", "setpoint_verify", "--example", "order"])
        .current_dir(repository())
        .status()
        .map_err(|error| error.to_string())?;
    if !built.success() {
        return Err("the example `order` does not build".to_owned());
    }
    let order = repository().join("target/release/examples/order").display().to_string();
    let baseline = context.with_peer.then(baseline).flatten();
    let mut rows = Vec::new();
    for &(family, semantics, sizes, runs) in FAMILIES {
        let mut last: Option<(usize, f64)> = None;
        for &size in sizes {
            let command = [order.clone(), family.to_owned(), size.to_string(), semantics.to_owned()];
            let ours = measure(runs, None, &command)?;
            let peer: Option<Cost> = match &baseline {
                Some(baseline) if family == "figure-13" && size <= 6 => {
                    let size = size.to_string();
                    let command: Vec<String> =
                        baseline.iter().cloned().chain(["pkgfile".to_owned(), size.clone(), size]).collect();
                    Some(measure(1, None, &command)?)
                }
                _ => None,
            };
            let answer =
                Command::new(&command[0]).args(&command[1..]).output().map_err(|error| error.to_string())?;
            let mut remark = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
            if let Some((before, cost)) = last {
                remark = format!(
                    "size x{:.1}, cost x{:.1}; {remark}",
                    size as f64 / before as f64,
                    ours.cpu_ms / cost.max(0.001)
                );
            }
            last = Some((size, ours.cpu_ms));
            rows.push(Row { name: format!("{family} {size}, {semantics}"), ours, peer, remark });
        }
    }
    rows.extend(benchmarks(context)?);
    Ok(rows)
}

/// The whole program on each benchmark of Rehearsal, from the catalog to the findings.
fn benchmarks(context: &Context) -> Result<Vec<Row>, String> {
    let Some(corpus) = shared().map(|shared| shared.join("corpus/puppet/rehearsal")) else {
        println!("without the benchmarks of Rehearsal: they are in ../shared/corpus");
        return Ok(Vec::new());
    };
    let own = |arguments: &[&str]| -> Vec<String> {
        std::iter::once(&*context.setpoint).chain(arguments.iter().copied()).map(str::to_owned).collect()
    };
    for platform in ["ubuntu-trusty", "centos-6"] {
        let listings = corpus.join("packages").join(platform).display().to_string();
        let index = context.scratch.join(platform).display().to_string();
        measure(1, None, &own(&["packages", "build", "--listings", &listings, "-o", &index]))?;
    }
    let mut rows = Vec::new();
    for (name, platform) in BENCHMARKS {
        let catalog = corpus.join("manifests").join(format!("{name}.catalog.json")).display().to_string();
        let index = context.scratch.join(platform).display().to_string();
        let command = own(&[
            "check",
            &catalog,
            "--semantics",
            "paper",
            "--packages",
            &index,
            "--format",
            "json",
            "--fail-on",
            "never",
        ]);
        let ours = measure(11, None, &command)?;
        let answer =
            Command::new(&command[0]).args(&command[1..]).output().map_err(|error| error.to_string())?;
        let report: serde_json::Value =
            serde_json::from_slice(&answer.stdout).map_err(|error| error.to_string())?;
        let verdict = &report["inputs"][0]["verdict"];
        let remark = format!(
            "{}, idempotent {}",
            verdict["order"].as_str().unwrap_or("?"),
            verdict["idempotent"].as_str().unwrap_or("?")
        );
        rows.push(Row { name: format!("{name}, paper"), ours, peer: None, remark });
    }
    Ok(rows)
}

/// The command that encodes all n! orders for z3, where it and z3 are there.
fn baseline() -> Option<Vec<String>> {
    let script = shared()?.join("oracle/fig13_baseline.py");
    let python = std::env::var("SETPOINT_Z3_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_z3 =
        Command::new(&python).args(["-c", "import z3"]).output().is_ok_and(|output| output.status.success());
    if !script.exists() || !has_z3 {
        println!(
            "without the encoding of all orders: it needs ../shared/oracle and a Python with z3-solver (SETPOINT_Z3_PYTHON names it)"
        );
        return None;
    }
    Some(vec![python, script.display().to_string()])
}
