//! Whole catalogs become plans: those of Rehearsal with its own verdicts, those of real modules, and large ones.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a corpus that cannot be read fails the test"
)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use setpoint_catalog::graph::{Graph, ShippedTypes};
use setpoint_catalog::ruby_types::ModuleTypes;
use setpoint_catalog::{Catalog, Resource, read};
use setpoint_config::Config;
use setpoint_packages::{Collection, Family, Index, Platform, read::listings};
use setpoint_resources::{Assumption, Base, Modelled, NoSources, World, plan};
use setpoint_source::{OsFileSystem, Symbol};
use setpoint_state::{CellKey, Runner, Semantics, State, Status, Value};
use setpoint_verify::{Answer, Options, verify};

fn model(catalog: &Catalog, packages: &Index, family: Family, semantics: Semantics) -> Modelled {
    let types = ModuleTypes::new(&OsFileSystem, vec![PathBuf::from("/usr/share/puppet/modules")]);
    let graph = Graph::new(catalog, &types).unwrap();
    let paper = semantics == Semantics::Paper;
    let world = World {
        base: &Base::new(family),
        packages,
        sources: &NoSources,
        config: &Config::default(),
        semantics,
        any_start: paper,
        packages_start_services: !paper && family == Family::Debian,
    };
    plan(catalog, &graph, &world)
}

fn catalog(path: &Path) -> Catalog {
    read::json(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn listed(folder: &Path) -> Index {
    let mut collection = Collection::new();
    listings(&mut collection, &OsFileSystem, folder).unwrap();
    Index::from_bytes(collection.to_bytes()).unwrap()
}

fn word<W, R>(answer: &Answer<W, R>) -> &'static str {
    match answer {
        Answer::Proved(_) => "yes",
        Answer::Refuted { .. } => "no",
        Answer::Unknown(_) => "unknown",
    }
}

/// The table of verdicts that Rehearsal's paper gives for its benchmarks, with its models of resources.
#[test]
fn the_papers_verdicts() {
    let Some(shared) = setpoint_testing::shared() else {
        return setpoint_testing::skip("the paper's verdicts", "the corpora are not beside the repository");
    };
    let folder = shared.join("corpus/puppet/rehearsal");
    let table = std::fs::read_to_string(folder.join("verdicts.tsv")).unwrap();
    let mut wrong = Vec::new();
    let mut decided = 0;
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [manifest, platform, deterministic, idempotent, note] = fields.as_slice() else { continue };
        let catalog = catalog(&folder.join("manifests").join(manifest.replace(".pp", ".catalog.json")));
        let packages = listed(&folder.join("packages").join(platform));
        let begun = Instant::now();
        let modelled = model(&catalog, &packages, Family::Debian, Semantics::Paper);
        if *deterministic == "-" && *idempotent == "-" {
            continue;
        }
        let options = Options {
            semantics: Semantics::Paper,
            any_start: true,
            work: Some(8 * setpoint_verify::WORK_A_SECOND),
            ..Options::default()
        };
        let verdicts = verify(&modelled.plan, &options);
        let (order, twice) = (word(&verdicts.order), word(&verdicts.idempotent));
        eprintln!("{manifest}: {order} {twice} in {:?}", begun.elapsed());
        // Which of the two it is depends on what is implied: decided by replay, elsewhere.
        let open = note.contains("decide by replay");
        // A manifest that fails in every order is the same in every order.
        let wanted = if *deterministic == "always-error" { "yes" } else { deterministic };
        if wanted != "-" && !open && order != wanted {
            wrong.push(format!("{manifest}: deterministic {wanted}, found {order}"));
        }
        if *idempotent != "-" && twice != *idempotent {
            wrong.push(format!("{manifest}: idempotent {idempotent}, found {twice}"));
        }
        decided += 1;
    }
    assert!(decided >= 26, "only {decided} manifests");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every catalog of the corpora becomes a plan that says what it does not know, once for each cause.
#[test]
fn catalogs_of_real_modules() {
    let Some(shared) = setpoint_testing::shared() else {
        return setpoint_testing::skip(
            "catalogs of real modules",
            "the corpora are not beside the repository",
        );
    };
    let debian = Index::builtin(Platform::parse("debian-12").unwrap());
    let mut count = 0;
    for folder in ["modules", "rehearsal"] {
        for path in setpoint_testing::files_below(&shared.join("corpus/puppet").join(folder)) {
            if !path.to_string_lossy().ends_with(".catalog.json") {
                continue;
            }
            let catalog = catalog(&path);
            let types = ModuleTypes::new(&OsFileSystem, vec![PathBuf::from("/usr/share/puppet/modules")]);
            if Graph::new(&catalog, &types).is_err() {
                continue;
            }
            let modelled = model(&catalog, &debian, Family::Debian, Semantics::Puppet);
            assert_eq!(modelled.plan.steps.len(), modelled.resources.len(), "{}", path.display());
            for (step, id) in modelled.plan.steps.iter().zip(&modelled.resources) {
                assert!(
                    step.name.starts_with(&catalog[*id].reference()),
                    "{} is {}",
                    step.name,
                    catalog[*id]
                );
            }
            let kinds: Vec<&Assumption> = modelled.assumptions.iter().map(|one| &one.assumption).collect();
            assert!(kinds.windows(2).all(|pair| pair[0] < pair[1]), "each once: {}", path.display());
            assert!(
                modelled
                    .assumptions
                    .iter()
                    .flat_map(|one| &one.resources)
                    .all(|id| catalog.get(*id).is_some()),
                "{}",
                path.display()
            );
            // A machine on which nothing is there but what always is runs without a hitch of the interpreter.
            let runner = Runner::new(&modelled.plan, Semantics::Puppet);
            let run = runner.run(&State::empty(&modelled.plan.space), &runner.puppet_order());
            assert!(run.statuses.iter().all(|status| *status != Status::None), "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 40, "the corpus has {count} catalogs");
}

fn file(path: &str, content: &str) -> Resource {
    let mut resource = Resource::new(Symbol::new("File"), path);
    resource.parameters.set(Symbol::new("ensure"), "file".into(), None);
    resource.parameters.set(Symbol::new("content"), content.into(), None);
    resource.parameters.set(Symbol::new("mode"), "0644".into(), None);
    resource
}

/// Ten thousand resources and fifty packages of thousands of files: only what is named becomes cells.
#[test]
fn large_catalogs_stay_small() {
    let mut collection = Collection::new();
    let mut catalog = Catalog::new("node1", "production");
    for package in 0..50 {
        let name = format!("package{package}");
        for number in 0..3_000 {
            collection.add_file(&name, &format!("/usr/share/{name}/{}/file{number}", number % 60));
        }
        collection.add_file(&name, &format!("/etc/{name}/main.conf"));
        let mut resource = Resource::new(Symbol::new("Package"), name.as_str());
        resource.parameters.set(Symbol::new("ensure"), "installed".into(), None);
        catalog.add(resource).unwrap();
    }
    for number in 0..9_950 {
        let path = format!("/etc/package{}/conf{number}", number % 50);
        catalog.add(file(&path, "x")).unwrap();
    }
    let index = Index::from_bytes(collection.to_bytes()).unwrap();
    let graph = Graph::new(&catalog, &ShippedTypes).unwrap();
    let world = World {
        base: &Base::new(Family::Debian),
        packages: &index,
        sources: &NoSources,
        config: &Config::default(),
        semantics: Semantics::Puppet,
        any_start: false,
        packages_start_services: true,
    };
    let begun = Instant::now();
    let modelled = plan(&catalog, &graph, &world);
    let took = begun.elapsed();
    eprintln!("10,000 resources: {took:?}, {} cells", modelled.plan.space.len());
    assert_eq!(modelled.plan.steps.len(), 10_000);
    // A path and a mode for each file; a directory and a state for each package.
    assert!(modelled.plan.space.len() < 21_000, "{} cells", modelled.plan.space.len());
    assert!(took < Duration::from_secs(8), "{took:?}");
}

#[test]
fn secrets_have_no_text() {
    let mut catalog = Catalog::new("node1", "production");
    let mut resource = file("/etc/key", "hunter2");
    resource.sensitive.push(Symbol::new("content"));
    catalog.add(resource).unwrap();
    let modelled = model(&catalog, &Index::empty(), Family::Debian, Semantics::Puppet);
    assert!(!format!("{:?}", modelled.plan).contains("hunter2"));
    let cell = modelled.plan.space.find(&CellKey::path("/etc/key")).unwrap();
    let runner = Runner::new(&modelled.plan, Semantics::Puppet);
    let run = runner.run(&State::empty(&modelled.plan.space), &runner.puppet_order());
    assert_eq!(*run.end.get(cell), Value::file("(secret 1)"));
}
