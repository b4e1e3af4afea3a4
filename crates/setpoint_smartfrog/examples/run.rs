#![allow(clippy::print_stdout, clippy::print_stderr)]
use setpoint_smartfrog::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let semantics = match args[2].as_str() {
        "forward" => Semantics::Forward,
        "production" => Semantics::Production,
        _ => Semantics::Core,
    };
    let sources = setpoint_source::Sources::new();
    let c = compile(
        std::path::Path::new(&args[1]),
        &setpoint_source::OsFileSystem,
        &sources,
        &Options { semantics, ..Options::default() },
    );
    for d in &c.diagnostics {
        eprintln!("{}", setpoint_source::print::diagnostic(d, &sources, false));
    }
    if let Some(s) = &c.store {
        match args.get(3).map(String::as_str) {
            Some("yaml") => print!("{}", output::yaml(s)),
            Some("sf") => print!("{}", output::sf(s)),
            Some("none") => {}
            _ => println!("{}", output::json(s)),
        }
    }
}
