//! Writes the answers of an oracle into the cases. No answer is written by hand, and none by Setpoint.

mod repository;
mod syntax;

use std::path::{Path, PathBuf};

use setpoint_oracle::{Puppet, answers};
use setpoint_testing::{Case, cases, repository};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    oracle: Oracle,
    /// Only cases whose path contains this
    filter: Option<String>,
    /// Leave cases alone that have an answer
    #[arg(long)]
    new: bool,
    /// Print the answers of one manifest, as a case or as Puppet code; `-` is standard input
    #[arg(long, conflicts_with_all = ["filter", "new"])]
    show: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Oracle {
    /// Puppet, for crates/setpoint/tests/puppet
    Puppet,
    /// Puppet, for the nodes of examples/control-repo
    Repository,
    /// Puppet's parser, for crates/setpoint_puppet_syntax/tests/cases
    Syntax,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    if let Oracle::Syntax = arguments.oracle {
        return syntax::run(arguments.filter.as_deref());
    }
    if let Oracle::Repository = arguments.oracle {
        return repository::run();
    }
    let mut puppet = Puppet::start()?;
    if let Some(path) = &arguments.show {
        return show(path, &mut puppet);
    }
    let folder = repository().join("crates/setpoint/tests/puppet");
    let (mut asked, mut changed) = (0, 0);
    for path in cases(&folder) {
        if arguments.filter.as_ref().is_some_and(|filter| !path.display().to_string().contains(filter)) {
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut case = Case::parse(&text);
        if arguments.new && !case.answers.is_empty() {
            continue;
        }
        case.answers =
            answers(&case, &mut puppet).map_err(|problem| format!("{}: {problem}", path.display()))?;
        asked += 1;
        let answered = case.render();
        if answered != text {
            std::fs::write(&path, answered).map_err(|error| format!("{}: {error}", path.display()))?;
            changed += 1;
        }
    }
    println!("asked {asked} cases, {changed} answers changed");
    Ok(())
}

fn show(path: &Path, puppet: &mut Puppet) -> Result<(), String> {
    let text = if path.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
    let is_case = text.lines().any(|line| line.starts_with(">>> "));
    let mut case = Case::parse(&if is_case { text } else { format!(">>> main.pp\n{text}") });
    case.answers = answers(&case, puppet)?;
    print!("{}", case.render());
    Ok(())
}
