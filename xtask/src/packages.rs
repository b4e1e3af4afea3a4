//! Makes the package indexes that are built in, from what the distributions publish.

use std::path::PathBuf;

use setpoint_packages::{Family, PLATFORMS, make_builtin};
use setpoint_source::OsFileSystem;
use setpoint_testing::repository;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A folder with a folder for each platform (`debian-12`, …), in it the Contents and Packages indexes of the release, and
    /// in `debs` the packages themselves
    folder: PathBuf,
    /// Write nothing; say whether the built-in indexes are what the folder gives
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let into = repository().join("crates/setpoint_packages/src/builtin");
    let mut total = 0;
    let mut differing = Vec::new();
    for platform in PLATFORMS.iter().filter(|platform| platform.family() == Family::Debian) {
        let from = arguments.folder.join(platform.name());
        let target = into.join(format!("{platform}.index"));
        if !from.is_dir() {
            println!("{platform}: {} is not there, so its index stays as it is", from.display());
            total += std::fs::metadata(&target).map_or(0, |about| about.len());
            continue;
        }
        let made = make_builtin(&OsFileSystem, &from).map_err(|error| error.to_string())?;
        let bytes = made.to_bytes();
        println!("{platform}: {} packages, {} paths, {} bytes", made.len(), made.paths(), bytes.len());
        total += bytes.len() as u64;
        if arguments.check {
            let known = std::fs::read(&target).map_err(|error| format!("{}: {error}", target.display()))?;
            if known != bytes {
                differing.push(platform.name());
            }
        } else {
            std::fs::write(&target, &bytes).map_err(|error| format!("{}: {error}", target.display()))?;
        }
    }
    println!("{total} bytes in all");
    if differing.is_empty() {
        Ok(())
    } else {
        Err(format!("these are not up to date: {}", differing.join(", ")))
    }
}
