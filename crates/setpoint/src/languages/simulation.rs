//! `setpoint simulate` for every language whose input becomes an instance of a rule set.

use setpoint_orchestra::concrete::{Facts, Ground, Limits, check, explore, maximal_run, random_run};
use setpoint_orchestra::report;
use setpoint_orchestra::{Instance, Model};
use setpoint_project::UsageError;
use setpoint_source::Sources;

use crate::cli::{RunFormat, SimulateArgs};
use crate::output::{Outcome, pretty};

/// One run, a random run or all runs of an instance. A run that cannot reach a final state is explained.
pub(crate) fn simulate(
    model: &Model,
    instance: &Instance,
    facts: &Facts,
    args: &SimulateArgs,
    sources: &Sources,
) -> Result<Outcome, UsageError> {
    let ground =
        Ground::new(model, instance).map_err(|limit| UsageError::new(limit.finding(None).message))?;
    let limits = Limits { states: args.limit, ..Limits::default() };
    let json = args.format == RunFormat::Json;
    let mut diagnostics = ground.malformed.clone();
    let result = if args.all {
        let explored = explore(&ground, args.limit, |_| false);
        let outcome = check(&ground, facts, limits);
        (_, diagnostics) = report::judge_outcome(&ground, &outcome, sources);
        if json {
            pretty(&report::explored_json(&ground, &explored, sources))
        } else {
            report::explored_text(&ground, &explored)
        }
    } else {
        let run = match args.random {
            Some(seed) => random_run(&ground, seed, 1_000_000),
            None => maximal_run(&ground, 1_000_000),
        };
        if run.maximal && !ground.is_final(&run.end) {
            let explanation = setpoint_orchestra::concrete::explain(&ground, &run);
            diagnostics.push(report::deadlock_finding(&ground, &explanation, &run, sources));
        }
        if !run.maximal && ground.is_crowded(&run.end) {
            diagnostics.push(report::crowded_finding(&ground));
        }
        if json {
            pretty(&report::run_json(&ground, &run, sources))
        } else {
            report::run_text(&ground, &run, sources)
        }
    };
    Ok(Outcome { result: Some(result), diagnostics })
}
