//! The index of packages: how long it takes to make, how large it is, how fast a package is found.

use std::path::{Path, PathBuf};

use setpoint_packages::{Collection, read};
use setpoint_source::OsFileSystem;
use setpoint_testing::repository;

use super::{Context, Row};
use crate::measure::measure;

/// Names that are looked up in one call, beside a call that looks up one.
const MANY: usize = 1000;

pub(super) fn rows(context: &Context) -> Result<Vec<Row>, String> {
    let lists = sources()?;
    let index = context.scratch.join("packages.index").display().to_string();
    let mut build = vec![context.setpoint.clone(), "packages".to_owned(), "build".to_owned()];
    for (option, paths) in [("--contents", &lists.contents), ("--packages", &lists.packages)] {
        if !paths.is_empty() {
            build.push(option.to_owned());
            build.extend(paths.iter().map(|path| path.display().to_string()));
        }
    }
    build.extend(["--output".to_owned(), index.clone()]);
    let made = measure(1, None, &build)?;
    let size = std::fs::metadata(&index).map_err(|error| error.to_string())?.len();
    let about = setpoint_packages::Index::open(&OsFileSystem, Path::new(&index))
        .map_err(|error| error.to_string())?
        .summary();
    let remark = format!("{} packages, {} paths, {:.1} MB", about.packages, about.paths, size as f64 / 1e6);
    let mut rows = vec![Row { name: "make the index".to_owned(), ours: made, peer: None, remark }];

    let names = names(&lists.packages)?;
    let list = |names: &[String]| {
        let mut command = vec![context.setpoint.clone(), "packages".to_owned(), "list".to_owned()];
        command.extend(names.iter().cloned());
        command.extend(["--packages".to_owned(), index.clone()]);
        measure(5, None, &command)
    };
    let one = list(&names[..1])?;
    let peer = context
        .with_peer
        .then(|| measure(1, None, &["apt-file".to_owned(), "show".to_owned(), names[0].clone()]).ok())
        .flatten();
    rows.push(Row { name: "list one package".to_owned(), ours: one, peer, remark: names[0].clone() });
    let many = list(&names)?;
    let each = (many.cpu_ms - one.cpu_ms) / (names.len() - 1) as f64;
    let remark = format!("{each:.2} ms for each more, found, with its dependencies, and printed");
    rows.push(Row { name: format!("list {} packages", names.len()), ours: many, peer: None, remark });
    Ok(rows)
}

/// The indexes that apt has, or those of a platform in `target/packages`.
fn sources() -> Result<read::AptLists, String> {
    let own: Vec<PathBuf> =
        vec![PathBuf::from("/var/lib/apt/lists"), repository().join("target/packages/debian-12")];
    own.iter()
        .filter_map(|folder| read::apt_lists(&OsFileSystem, folder).ok())
        .find(|lists| !lists.contents.is_empty() && !lists.packages.is_empty())
        .ok_or_else(|| {
            "there is no Contents index; `apt-get install apt-file && apt-file update` fetches it".to_owned()
        })
}

/// Packages from all over the index.
fn names(packages: &[PathBuf]) -> Result<Vec<String>, String> {
    let mut all = Collection::new();
    for path in packages {
        let reader = read::open(&OsFileSystem, path).map_err(|error| error.to_string())?;
        read::packages(&mut all, reader, &path.display().to_string()).map_err(|error| error.to_string())?;
    }
    let step = (all.len() / MANY).max(1);
    let names: Vec<String> =
        all.names().iter().step_by(step).take(MANY).map(|name| (*name).to_owned()).collect();
    if names.len() < 2 { Err("the Packages indexes are empty".to_owned()) } else { Ok(names) }
}
