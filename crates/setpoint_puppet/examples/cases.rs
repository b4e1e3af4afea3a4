//! Runs the cases of the Puppet suite without the command line: `cases FOLDER [TEXT IN THE PATH]`.

#![allow(clippy::print_stdout)]

use std::path::PathBuf;

use setpoint_oracle::{BOTH, Mode, Request, agree, setpoint};
use setpoint_testing::{Case, cases};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_default());
    let wanted = arguments.next().unwrap_or_default();
    let (mut good, mut bad) = (0, 0);
    for path in cases(&folder) {
        if !path.to_string_lossy().contains(&wanted) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let case = Case::parse(&text);
        for section in &case.answers {
            let modes: &[Mode] = match section.name.as_str() {
                BOTH => &Mode::ALL,
                name if name == Mode::Seven.section() => &[Mode::Seven],
                _ => &[Mode::Eight],
            };
            for mode in modes {
                let problems = match Request::of(&case, *mode) {
                    Ok(request) => agree(&section.text, &setpoint(&request)),
                    Err(problem) => problem,
                };
                if problems.is_empty() {
                    good += 1;
                } else {
                    bad += 1;
                    println!("=== {} ({})\n{problems}", path.display(), mode.section());
                }
            }
        }
    }
    println!("good {good}, bad {bad}");
}
