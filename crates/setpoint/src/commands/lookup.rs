//! `setpoint lookup`: the value of a key in the data of a node, or the search for it.

use std::process::ExitCode;

use setpoint_project::{Session, UsageError};
use setpoint_puppet::{LookupFormat, LookupOptions};
use setpoint_puppet_values::{Data, Value};

use crate::cli::LookupArgs;
use crate::languages::puppet;
use crate::output;
use crate::output::Outcome;

pub(crate) fn run(session: &Session<'_>, args: &LookupArgs) -> Result<ExitCode, UsageError> {
    let knobs = args.knock_out_prefix.is_some() || args.sort_merged_arrays || args.merge_hash_arrays;
    if knobs && args.merge.as_deref() != Some("deep") {
        return Err(UsageError::new(
            "--knock-out-prefix, --sort-merged-arrays and --merge-hash-arrays need `--merge deep`".to_owned(),
        ));
    }
    let wanted = LookupOptions {
        keys: args.keys.clone(),
        merge: args.merge.clone(),
        knockout_prefix: args.knock_out_prefix.clone(),
        sort_merged_arrays: args.sort_merged_arrays,
        merge_hash_arrays: args.merge_hash_arrays,
        of: args.of.clone(),
        default: args.default.clone(),
        explain: args.explain,
        explain_options: args.explain_options,
    };
    let looked = puppet::look_up(session, &args.options, &wanted)?;
    let mut diagnostics = puppet::logged(&looked.log);
    let format = if args.format == "json" { LookupFormat::Json } else { LookupFormat::Yaml };
    let result = match (looked.value, looked.explanation) {
        (_, Some(explanation)) => Some(explanation),
        // A warning says why it is not known.
        (Ok(Value { data: Data::Opaque(_), .. }), None) => None,
        (Ok(value), None) => Some(format.print(&value)),
        (Err(error), None) => {
            diagnostics.push(error);
            None
        }
    };
    Ok(output::outcome(&Outcome { result, diagnostics }, &session.sources))
}
