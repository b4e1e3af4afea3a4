//! What Puppet itself says about a verdict, and about its repair.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use setpoint_judge::{Judge, Trial};
use setpoint_oracle::{Mode, Puppet, Request, facts_of};
use setpoint_state::StepId;
use setpoint_testing::files_below;
use setpoint_verify::{Counterexample, OrderWitness};

use crate::notation::Start;
use crate::subject::{Places, Seen, Subject, differences};

/// Other orders than Puppet's own, for each start.
const DRAWN: u64 = 2;
/// Dependent pairs of one manifest that are tried; repairs are tried from the starts of all of them.
const MOST_PAIRS: usize = 2;

/// What there is to say about a manifest, as the cells of its row.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) verdict: String,
    pub(crate) confirmed: String,
    pub(crate) repair: String,
    pub(crate) repaired: String,
}

pub(crate) struct Witnesses {
    pub(crate) judge: Judge,
    pub(crate) puppet: Puppet,
}

pub(crate) fn examine(places: &Places, name: &str, witnesses: &mut Witnesses) -> Result<Found, String> {
    let manifest = places.corpus.join("manifests").join(name);
    let verdict = places.verdict(&manifest)?;
    let word = |name: &str| verdict[name].as_str().unwrap_or("–").to_owned();
    let mut found = Found::default();
    if verdict["catalog"] != "ok" {
        "cannot be applied".clone_into(&mut found.verdict);
        found.confirmed = refused(places, &manifest, witnesses)?;
        return Ok(found);
    }
    found.verdict = format!("{}, idempotent: {}", word("order"), word("idempotent"));
    let subject = Subject::new(places, &manifest)?;
    match word("order").as_str() {
        "independent" => {
            found.confirmed = alike(&subject, &mut witnesses.judge)?;
            if word("idempotent") == "no" {
                found.confirmed += &restless(&subject, &mut witnesses.judge)?;
            }
        }
        "dependent" | "fails" => {
            let verdicts = subject.verdicts();
            let examples: Vec<&Counterexample> =
                verdicts.order.witnesses().map(OrderWitness::counterexample).collect();
            found.confirmed = unlike(&subject, &examples, &mut witnesses.judge)?;
            (found.repair, found.repaired) = mended(places, &manifest, &subject, &examples, witnesses)?;
        }
        other => return Err(format!("the order is {other}")),
    }
    if !subject.left_out.is_empty() {
        found.confirmed +=
            &format!("; without {}, which asks for `rpm` and the network", subject.left_out.join(", "));
    }
    Ok(found)
}

/// Puppet does not compile the manifest, or ends before it applies anything.
fn refused(places: &Places, manifest: &Path, witnesses: &mut Witnesses) -> Result<String, String> {
    let compiled = witnesses.puppet.ask(&request(places, manifest)?)?;
    let Some(catalog) = compiled.catalog else { return Ok("Puppet does not compile it".to_owned()) };
    let outcome = witnesses.judge.apply(&Trial {
        catalog,
        earlier: Vec::new(),
        start: Vec::new(),
        then: Vec::new(),
        packages: Vec::new(),
        runs: 1,
    })?;
    match outcome.runs.first().and_then(|run| run.error.as_ref()) {
        Some(_) => Ok("Puppet ends before it applies anything".to_owned()),
        None => Err("Puppet applies it".to_owned()),
    }
}

/// The manifest with the modules of the corpus.
fn request(places: &Places, manifest: &Path) -> Result<Request, String> {
    let read =
        |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let mut request = Request::manifest(&read(manifest)?, Mode::Seven);
    let folder = places.corpus.join("modules");
    for path in files_below(&folder) {
        let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
        request.files.push((format!("modules/{name}"), read(&path)?));
    }
    request.facts = facts_of(&places.facts)?;
    // What a manifest of the corpus says about its node.
    for line in request.files[0].1.lines() {
        if let Some(name) = line.strip_prefix("# @UNFACT ") {
            request.facts.shift_remove(name.trim());
        } else if let Some((name, value)) =
            line.strip_prefix("# @FACT ").and_then(|rest| rest.split_once('='))
        {
            request.facts.insert(name.trim().to_owned(), Json::String(value.trim().to_owned()));
        }
    }
    request.modules.push("stdlib".to_owned());
    Ok(request)
}

fn fine(seen: &Seen) -> Result<(), String> {
    if seen.problems.is_empty() {
        Ok(())
    } else {
        Err(format!("Puppet does something else:\n{}", seen.problems))
    }
}

/// From a start all orders that are tried end alike.
fn same(
    subject: &Subject,
    judge: &mut Judge,
    start: &Start,
    earlier: Option<&Json>,
    orders: &[Vec<StepId>],
) -> Result<Vec<Seen>, String> {
    let mut all: Vec<Seen> = Vec::new();
    for (at, order) in orders.iter().enumerate() {
        // A second run, too, of the first order that is tried.
        let seen = subject.apply(judge, start, earlier.cloned(), order, if at == 0 { 2 } else { 1 })?;
        fine(&seen)?;
        if let Some(first) = all.first() {
            for (one, two) in first.runs.iter().zip(&seen.runs) {
                let differs = differences(one, two);
                if !differs.is_empty() {
                    return Err(format!("two orders end differently: {}", differs.join(", ")));
                }
            }
        }
        all.push(seen);
    }
    Ok(all)
}

fn orders(subject: &Subject) -> Vec<Vec<StepId>> {
    let mut orders = vec![subject.runner().puppet_order()];
    for seed in 1..=DRAWN {
        let drawn = subject.drawn(seed);
        if !orders.contains(&drawn) {
            orders.push(drawn);
        }
    }
    orders
}

/// An independent catalog: from a plain machine, and from one where an earlier run was interrupted.
fn alike(subject: &Subject, judge: &mut Judge) -> Result<String, String> {
    let start = subject.staged(&subject.plain()?);
    let orders = orders(subject);
    let half = subject.half(&orders[0]);
    let plain = same(subject, judge, &start, None, &orders)?;
    let resumed = same(subject, judge, &start, Some(&half), &orders[orders.len() - 1..])?;
    let failing =
        plain.iter().flat_map(|seen| &seen.runs).any(|run| run.resources.values().any(|one| one.failed));
    let runs: usize = plain.iter().chain(&resumed).map(|seen| seen.runs.len()).sum();
    let how = if failing { "all fail alike on a plain machine" } else { "all end alike" };
    Ok(match orders.len() {
        1 => format!("1 order, 2 starts, {runs} runs: {how}"),
        count => format!("{count} orders, 2 starts, {runs} runs: {how}"),
    })
}

/// From the start of the counterexample a second run does not end as the first.
fn restless(subject: &Subject, judge: &mut Judge) -> Result<String, String> {
    let verdicts = subject.verdicts();
    let twice = verdicts.idempotent.witness().ok_or("no start shows what a second run changes")?;
    let start = subject.staged(&twice.start);
    let seen = subject.apply(judge, &start, None, &subject.runner().puppet_order(), 2)?;
    fine(&seen)?;
    if differences(&seen.runs[0], &seen.runs[1]).is_empty() {
        return Err("the second run ends as the first".to_owned());
    }
    Ok("; from the start of the counterexample the second run ends unlike the first".to_owned())
}

/// Both orders of each counterexample end as foretold, and differently.
fn unlike(subject: &Subject, examples: &[&Counterexample], judge: &mut Judge) -> Result<String, String> {
    for example in examples.iter().take(MOST_PAIRS) {
        let start = subject.staged(&example.start);
        let one = subject.apply(judge, &start, None, &example.first, 1)?;
        let two = subject.apply(judge, &start, None, &example.second, 1)?;
        let unlike = subject.unlike(&example.start, &one.start);
        if !unlike.is_empty() {
            return Err(format!("the start is not the one of the counterexample: {}", unlike.join("; ")));
        }
        fine(&one)?;
        fine(&two)?;
        if differences(&one.runs[0], &two.runs[0]).is_empty() {
            return Err("the two orders end alike".to_owned());
        }
    }
    Ok(match examples.len() {
        1 => "both orders end as foretold, and differently".to_owned(),
        count => format!(
            "{} of {count} counterexamples: both orders end as foretold, and differently",
            count.min(MOST_PAIRS)
        ),
    })
}

/// `setpoint fix`, and what becomes of the counterexamples with it.
fn mended(
    places: &Places,
    manifest: &Path,
    subject: &Subject,
    examples: &[&Counterexample],
    witnesses: &mut Witnesses,
) -> Result<(String, String), String> {
    let copy: PathBuf = places.scratch.join(manifest.file_name().unwrap_or_default());
    std::fs::copy(manifest, &copy).map_err(|error| error.to_string())?;
    let done = places.ask("fix", &copy, &["--write"])?;
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| error.to_string());
    let (before, after) = (read(manifest)?, read(&copy)?);
    let mut old: Vec<&str> = before.lines().collect();
    let added: Vec<String> = after
        .lines()
        .filter(|line| old.iter().position(|one| one == line).map(|at| old.swap_remove(at)).is_none())
        .map(|line| line.trim().trim_end_matches(',').split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|line| ["require", "subscribe", "before", "notify"].iter().any(|one| line.starts_with(one)))
        .map(|line| format!("`{line}`"))
        .collect();
    if added.is_empty() {
        return Err(format!("no repair: {}", String::from_utf8_lossy(&done.stderr)));
    }
    let verdict = places.verdict(&copy)?;
    if verdict["order"] != "independent" {
        return Err(format!("after the repair ({}) the verdict is {verdict}", added.join(", ")));
    }
    let compiled = witnesses.puppet.ask(&request(places, &copy)?)?;
    if compiled.catalog.is_none() {
        let said: Vec<String> = compiled.errors.iter().map(setpoint_oracle::Message::render).collect();
        return Err(format!("Puppet does not compile the repaired manifest: {}", said.join("; ")));
    }
    let mended = Subject::new(places, &copy)?;
    let orders = orders(&mended);
    let mut runs = 0;
    for example in examples.iter().take(MOST_PAIRS) {
        let start = subject.staged(&example.start);
        for seen in same(&mended, &mut witnesses.judge, &start, None, &orders)? {
            let bad = |run: &setpoint_judge::Run| run.resources.values().any(|one| one.failed || one.skipped);
            if seen.runs.iter().any(bad) {
                return Err("something fails in the repaired manifest".to_owned());
            }
            runs += seen.runs.len();
        }
    }
    Ok((added.join(", "), format!("{} orders, {runs} runs: all succeed and end alike", orders.len())))
}
