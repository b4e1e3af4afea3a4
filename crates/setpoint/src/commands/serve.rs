//! `setpoint serve`: catalogs on request, one object of JSON-RPC a line.

use std::process::ExitCode;

use setpoint_project::Session;

use crate::output;

pub(crate) fn run(session: &Session<'_>) -> ExitCode {
    let mut lines = std::io::stdin().lines().map_while(Result::ok);
    setpoint_serve::serve(session.files, output::VERSION, &mut lines, &mut |answer| output::verbatim(answer));
    ExitCode::SUCCESS
}
