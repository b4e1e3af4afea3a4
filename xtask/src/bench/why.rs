//! What provenance costs, and how long an answer takes: compiling with it beside compiling without it.

use super::{Context, Row, puppet};
use crate::measure::{Cost, measure};

pub(super) fn rows(context: &Context) -> Result<Vec<Row>, String> {
    let files = context.scratch.join("files.pp");
    std::fs::write(&files, puppet::files(10_000)).map_err(|error| error.to_string())?;
    let files = files.display().to_string();
    let mut rows = vec![compile(context, "compile 10,000 files", &files, &[], 15)?];
    let modules = "/usr/share/puppet/modules";
    if std::path::Path::new(modules).join("apache").is_dir() {
        let apache = context.scratch.join("apache.pp");
        std::fs::write(&apache, "include apache\n").map_err(|error| error.to_string())?;
        let options = ["--modulepath", modules, "--platform", "debian-12", "--puppet", "7"];
        rows.push(compile(context, "compile `include apache`", &apache.display().to_string(), &options, 30)?);
    }
    rows.push(answer(
        context,
        "why: a parameter of one of 10,000 files",
        &files,
        "File[/srv/data/5000].content",
    )?);
    rows.push(answer(context, "why: the existence of one of 10,000 files", &files, "File[/srv/data/5000]")?);
    let mut impact = run(context, &["impact", &files, "files.pp:1"], 7)?;
    let base = run(context, &["compile", &files], 7)?;
    impact.cpu_ms -= base.cpu_ms;
    rows.push(Row {
        name: "impact of a line that all of 10,000 files read".to_owned(),
        ours: impact,
        peer: None,
        remark: "on top of compiling".to_owned(),
    });
    Ok(rows)
}

/// With provenance; the peer is the same without it.
fn compile(context: &Context, name: &str, path: &str, options: &[&str], runs: u32) -> Result<Row, String> {
    let with: Vec<&str> = ["compile", path].into_iter().chain(options.iter().copied()).collect();
    let without: Vec<&str> = with.iter().copied().chain(["--no-provenance"]).collect();
    let (ours, peer) = (run(context, &with, runs)?, run(context, &without, runs)?);
    let remark = format!(
        "{:.2} times the time, {:.2} times the memory",
        ours.cpu_ms / peer.cpu_ms.max(0.001),
        ours.peak_mb / peer.peak_mb.max(0.001)
    );
    Ok(Row { name: name.to_owned(), ours, peer: Some(peer), remark })
}

/// The time of an answer alone: that of the command without that of compiling and printing nothing.
fn answer(context: &Context, name: &str, path: &str, target: &str) -> Result<Row, String> {
    let ours = run(context, &["why", path, target], 7)?;
    // A target that is not there is refused as soon as the catalog is made.
    let base = run(context, &["impact", path, "files.pp:1000000"], 7)?;
    let alone = (ours.cpu_ms - base.cpu_ms).max(0.0);
    Ok(Row { name: name.to_owned(), ours, peer: None, remark: format!("{alone:.0} ms without compiling") })
}

fn run(context: &Context, arguments: &[&str], runs: u32) -> Result<Cost, String> {
    let mut command = vec![context.setpoint.clone()];
    command.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    measure(runs, None, &command)
}
