//! Generated manifests, put to an oracle and to Setpoint.

use setpoint_oracle::{Mode, Puppet, Request, agree, generate, setpoint};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    oracle: Oracle,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many seeds
    #[arg(long, default_value_t = 100)]
    count: u64,
    /// Print the manifests that differ
    #[arg(long)]
    show: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Oracle {
    Puppet,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let Oracle::Puppet = arguments.oracle;
    let mut puppet = Puppet::start()?;
    let (mut asked, mut different) = (0, 0);
    for seed in arguments.seed..arguments.seed.saturating_add(arguments.count) {
        let manifest = generate(seed);
        for mode in Mode::ALL {
            let request = Request::manifest(&manifest, mode);
            let theirs = puppet.ask(&request)?;
            let problems = agree(&theirs.render(), &setpoint(&request));
            asked += 1;
            if !problems.is_empty() {
                different += 1;
                println!("seed {seed}, {}:", mode.section());
                if arguments.show {
                    print!("{manifest}");
                }
                println!("{problems}");
            }
        }
    }
    println!("{asked} compilations, {different} differ from Puppet");
    if different == 0 { Ok(()) } else { Err("some differ".to_owned()) }
}
