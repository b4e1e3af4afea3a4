//! Catalogs that nobody wrote by hand, judged in the same way. A difference is told as the smallest catalog that still has one.
//!
//! `SETPOINT_SEEDS=1000` asks about the first thousand seeds, `SETPOINT_SEEDS=1000..2000` about the next; the tests are called
//! `generated/SEED`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use libtest_mimic::{Failed, Trial as Test};
use setpoint_judge::{Judge, Outcome};
use setpoint_testing::Case;

use crate::compare::{self, Compared};
use crate::generate::{Scenario, scenario};
use crate::{applied, catalog, notation};

/// How many seeds are asked about if nobody says otherwise.
const SEEDS: u64 = 45;
const ENVIRONMENT: &str = "SETPOINT_SEEDS";
/// A search for a smaller catalog ends after so many questions.
const PATIENCE: usize = 150;

/// What became of the seeds.
#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<BTreeMap<String, usize>>);

impl Tally {
    fn count(&self, what: &str) {
        if let Ok(mut counts) = self.0.lock() {
            *counts.entry(what.to_owned()).or_default() += 1;
        }
    }

    /// Tells who asked for more seeds how many were decided.
    #[allow(clippy::print_stderr, reason = "only who asks is told")]
    pub(crate) fn tell(&self) {
        if std::env::var_os(ENVIRONMENT).is_none() {
            return;
        }
        for (what, count) in self.0.lock().into_iter().flat_map(|counts| counts.clone()) {
            eprintln!("{count:6} {what}");
        }
    }
}

fn seeds() -> Range<u64> {
    let text = std::env::var(ENVIRONMENT).unwrap_or_default();
    let number = |text: &str| text.trim().parse::<u64>().ok();
    match text.split_once("..") {
        Some((first, end)) => number(first).unwrap_or(0)..number(end).unwrap_or(SEEDS),
        None => 0..number(&text).unwrap_or(SEEDS),
    }
}

pub(crate) fn tests(judges: &Arc<Vec<Mutex<Judge>>>, tally: &Arc<Tally>) -> Vec<Test> {
    seeds()
        .map(|seed| {
            let (judges, tally) = (Arc::clone(judges), Arc::clone(tally));
            Test::test(format!("generated/{seed}"), move || check(seed, &judges, &tally))
        })
        .collect()
}

/// How a scenario ends.
enum Verdict {
    Agreed {
        admissible: bool,
    },
    /// Puppet does not apply it at all.
    Refused,
    Unknown(String),
    /// The start is none that a plan speaks of.
    Outside(String),
    Differs(String),
}

fn check(seed: u64, judges: &[Mutex<Judge>], tally: &Tally) -> Result<(), Failed> {
    let scenario = scenario(seed);
    match verdict(&scenario, judges)? {
        Verdict::Agreed { admissible: true } => tally.count("agreed"),
        Verdict::Agreed { admissible: false } => tally.count("agreed, from another start than plans assume"),
        Verdict::Refused => tally.count("refused"),
        Verdict::Unknown(reason) => tally.count(&format!("unknown: {reason}")),
        Verdict::Outside(reason) => tally.count(&format!("outside: {reason}")),
        Verdict::Differs(found) => {
            tally.count("differed");
            let (scenario, found) = smallest(scenario, found, judges);
            return Err(Failed::from(format!("{}\n{found}", scenario.case())));
        }
    }
    Ok(())
}

/// Takes things away as long as there is a difference.
fn smallest(mut scenario: Scenario, mut found: String, judges: &[Mutex<Judge>]) -> (Scenario, String) {
    let (mut at, mut since) = (0, 0);
    for _ in 0..PATIENCE {
        let smaller = scenario.smaller();
        if since >= smaller.len() {
            break;
        }
        at %= smaller.len();
        let less = &smaller[at];
        // Another difference is another story.
        if let Ok(Verdict::Differs(still)) = verdict(less, judges)
            && still.lines().any(|line| line.starts_with("  run") && found.lines().any(|other| other == line))
        {
            (scenario, found) = (less.clone(), still);
            since = 0;
        } else {
            at += 1;
            since += 1;
        }
    }
    (scenario, found)
}

fn verdict(scenario: &Scenario, judges: &[Mutex<Judge>]) -> Result<Verdict, String> {
    let case = Case::parse(&scenario.case());
    let start = notation::read(&case)?;
    let Ok(catalog) = catalog(case.input("main.pp").unwrap_or_default()) else {
        return Ok(Verdict::Refused);
    };
    let outcome = applied(judges, &catalog, &start)?;
    if outcome.runs.iter().any(|run| run.error.is_some()) {
        return Ok(Verdict::Refused);
    }
    let mut compared = match compare::compared(&catalog, &start, &outcome, false) {
        Ok(compared) => compared,
        Err(problem) => return Ok(Verdict::Differs(format!("  {problem}, but Puppet applies it\n"))),
    };
    let is_admissible = compared.is_admissible && compared.broken.is_empty();
    if !is_admissible {
        if scenario.goes_through_stray_link() {
            return Ok(Verdict::Outside("the start has a link that nothing manages".to_owned()));
        }
        compared = compare::compared(&catalog, &start, &outcome, true)?;
    }
    Ok(match compared {
        Compared { broken, .. } if !broken.is_empty() => Verdict::Outside(broken),
        Compared { unknown: Some(reason), .. } => Verdict::Unknown(reason),
        Compared { differences, .. } if differences.is_empty() => {
            Verdict::Agreed { admissible: is_admissible }
        }
        Compared { differences, .. } => Verdict::Differs(differences + &said(&outcome)),
    })
}

fn said(outcome: &Outcome) -> String {
    let mut text = String::new();
    for line in outcome.runs.iter().flat_map(|run| &run.logs) {
        let _ = writeln!(text, "    Puppet: {}", line.lines().next().unwrap_or_default());
    }
    text
}
