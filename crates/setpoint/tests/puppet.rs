//! The Puppet language, case by case, as Puppet itself answered it.
//!
//! `puppet/THEME/NAME.case` holds a manifest, modules if it needs any, and the answers: `<<< puppet 7`, `<<< puppet 8`, or
//! one for both. `cargo xtask answer puppet` writes the answers. Where Puppet is installed, it is asked again.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Failed, Trial};
use setpoint_oracle::{
    Mode, Puppet, Request, agree, answers, answers_that_agree, generate, mutate, setpoint,
};
use setpoint_testing::{Case, Random, cases, diff, puppet, repository, run_tests, skip, trials};

/// How many generated manifests are put to both. `cargo xtask compare puppet` puts as many as one likes.
const GENERATED: u64 = 150;

fn main() -> ExitCode {
    let folder = repository().join("crates/setpoint/tests/puppet");
    let mut all = trials(&folder, |case| {
        answers_that_agree(case, |mode| Request::of(case, mode).map(|request| setpoint(&request)))
    });
    let same = folder.clone();
    all.push(Trial::test("mutated manifests end in an answer", move || mutants_end(&same)));
    all.push(Trial::test("puppet still says so", move || puppet_still_says_so(&folder)));
    all.push(Trial::test("generated manifests agree", generated_manifests_agree));
    run_tests(all)
}

/// Manifests that nobody wrote, compiled by both.
fn generated_manifests_agree() -> Result<(), Failed> {
    if !puppet() {
        skip("generated Puppet manifests", "Puppet is not installed");
        return Ok(());
    }
    let mut oracle = Puppet::start()?;
    let mut problems = String::new();
    for seed in 0..GENERATED {
        let request =
            Request::manifest(&generate(seed), if seed % 2 == 0 { Mode::Seven } else { Mode::Eight });
        let difference = agree(&oracle.ask(&request)?.render(), &setpoint(&request));
        if !difference.is_empty() {
            let _ = write!(problems, "seed {seed}\n{difference}");
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

/// Whatever is wrong with a manifest, its compilation neither panics nor hangs nor overflows the stack.
fn mutants_end(folder: &Path) -> Result<(), Failed> {
    for (seed, path) in (0..).zip(cases(folder)) {
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut random = Random::new(seed);
        let mut case = Case::parse(&text);
        // Every other time it is the data that is broken, if there is some.
        let is_data = |name: &str| [".yaml", ".json", ".conf"].iter().any(|ending| name.ends_with(ending));
        let in_data = seed % 2 == 0 && case.inputs.iter().any(|input| input.name.starts_with("data/"));
        for input in &mut case.inputs {
            let name = input.name.as_str();
            let is_chosen = if in_data { is_data(name) && name.contains('/') } else { name.ends_with("pp") };
            if is_chosen {
                input.text = mutate(&input.text, &mut random);
            }
        }
        let outcome = setpoint(&Request::of(&case, Mode::Eight)?);
        if outcome.lookups.is_empty() && outcome.errors.is_empty() == outcome.catalog.is_none() {
            return Err(
                format!("{}: neither a catalog nor an error\n{}", path.display(), case.render()).into()
            );
        }
    }
    Ok(())
}

/// The stored answers are Puppet's: each case is put to it again.
fn puppet_still_says_so(folder: &Path) -> Result<(), Failed> {
    if !puppet() {
        skip("the answers of the Puppet suite", "Puppet is not installed");
        return Ok(());
    }
    let mut oracle = Puppet::start()?;
    let mut problems = String::new();
    for path in cases(folder) {
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut case = Case::parse(&text);
        if let Some(module) = missing_module(&case) {
            skip("cases with a module", &format!("{module} is not installed"));
            continue;
        }
        case.answers = answers(&case, &mut oracle)?;
        let again = case.render();
        if again != text {
            let _ = write!(problems, "{}\n{}", path.display(), diff(&text, &again));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

/// A module that the case needs and the Puppet installation lacks.
fn missing_module(case: &Case) -> Option<&str> {
    let modules = case.option("modules").unwrap_or_default();
    modules.split_whitespace().find(|name| !Path::new("/usr/share/puppet/modules").join(name).is_dir())
}
