//! `setpoint completions` and `setpoint man`: made from the same definitions as the arguments themselves.

use std::process::ExitCode;

use clap::CommandFactory;
use setpoint_project::UsageError;

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::output;

pub(crate) fn completions(args: &CompletionsArgs) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "setpoint", &mut text);
    output::result(&String::from_utf8_lossy(&text));
    ExitCode::SUCCESS
}

pub(crate) fn man(args: &ManArgs) -> Result<ExitCode, UsageError> {
    let mut command = Cli::command();
    command.build();
    let Some(folder) = &args.output else {
        output::result(&String::from_utf8_lossy(&page(command)?));
        return Ok(ExitCode::SUCCESS);
    };
    let failed =
        |error: std::io::Error| UsageError::new(format!("cannot write below {}: {error}", folder.display()));
    let commands = command.get_subcommands().filter(|one| one.get_name() != "help" && !one.is_hide_set());
    let named = commands.map(|one| (format!("setpoint-{}.1", one.get_name()), one.clone()));
    for (name, command) in std::iter::once(("setpoint.1".to_owned(), command.clone())).chain(named) {
        setpoint_source::write_file(&folder.join(name), &page(command)?).map_err(failed)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the manual page of a command.
fn page(command: clap::Command) -> Result<Vec<u8>, UsageError> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut text)
        .map_err(|error| UsageError::new(format!("cannot write the manual page: {error}")))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_the_completions_and_has_a_page() {
        let mut text = Vec::new();
        clap_complete::generate(clap_complete::Shell::Bash, &mut Cli::command(), "setpoint", &mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        let mut command = Cli::command();
        command.build();
        for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
            assert!(text.contains(one.get_name()), "{}", one.get_name());
            let page = page(one.clone()).unwrap_or_default();
            assert!(String::from_utf8_lossy(&page).contains(".TH"), "{}", one.get_name());
        }
    }
}
