//! `setpoint simulate` for every language whose input becomes an instance of a rule set.

use setpoint_orchestra::concrete::{Facts, Ground, Limits, check, explore, maximal_run, random_run};
use setpoint_orchestra::report;
use setpoint_orchestra::{Instance, Model};
use setpoint_project::UsageError;
use setpoint_source::Sources;

use crate::cli::{RunFormat, SimulateArgs};
use crate::output::{Outcome, pretty};

/// One run, a random run or all runs of an instance. A run that cannot reach a final state is explained. If the instance is
/// not the whole of the input, no end is that of the input.
pub(crate) fn simulate(
    model: &Model,
    instance: &Instance,
    facts: &Facts,
    args: &SimulateArgs,
    is_whole: bool,
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
            pretty(&told_part(report::explored_json(&ground, &explored, sources), is_whole))
        } else {
            let part = if is_whole { "" } else { "These are runs of what was read and has a model.\n" };
            report::explored_text(&ground, &explored) + part
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
            pretty(&told_part(report::run_json(&ground, &run, sources), is_whole))
        } else {
            report::run_text(&ground, &run, is_whole, sources)
        }
    };
    Ok(Outcome { result: Some(result), diagnostics })
}

/// Says in the JSON whether the run is that of the whole input.
fn told_part(mut json: serde_json::Value, is_whole: bool) -> serde_json::Value {
    json["whole"] = is_whole.into();
    json
}
