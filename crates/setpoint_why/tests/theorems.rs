//! The three theorems of provenance, over generated manifests and over real ones.
//!
//! 1. What an output depends on are inputs.
//! 2. The expression of an output gives its value.
//! 3. If one input is changed, an output that is there in both runs and differs depends on that input in both; one that
//!    is there in one run only depends on it in its existence. A parameter that is missing is an output, too.
//!
//! The exceptions of the third are a run that fails to compile; the order of the catalog, file and line; values that are not
//! known; and limits of the evaluator.

#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used, reason = "a test may fail anywhere")]
#![allow(clippy::print_stderr, reason = "a count of what was compared")]

#[path = "theorems/compare.rs"]
mod compare;
#[path = "theorems/compose.rs"]
mod compose;
#[path = "theorems/generate.rs"]
mod generate;
#[path = "theorems/replay.rs"]
mod replay;
#[path = "theorems/world.rs"]
mod world;

use std::path::{Path, PathBuf};

use compare::{Count, changed, changed_literal, changed_word, compare, words};
use setpoint_provenance::Dependency;
use setpoint_puppet_values::Value;
use setpoint_source::{FileError, FileSystem, OsFileSystem, Sources, Symbol};
use setpoint_testing::{Random, files_below, shared, skip};
use setpoint_why::{Query, Target};
use world::{ENTRY, Input, Run, World, is_opaque, sites};

/// Changes a generated manifest some times.
fn mutate(seed: u64, input: &Input, times: usize, count: &mut Count) {
    let files = input.files();
    let sources = Sources::new();
    let old = World::new(&files, &sources, input.modulepath(), input);
    if old.compilation.catalog.is_none() {
        count.broken += 1;
        if std::env::var_os("SETPOINT_BROKEN").is_some() {
            eprintln!(
                "seed {seed}: {:?}\n{}",
                old.compilation.diagnostics.first().map(|found| &found.message),
                input.text
            );
        }
        return;
    }
    let all = sites(&input.text);
    let mut random = Random::new(seed ^ 0x5eed);
    for _ in 0..times {
        let (new_input, label) = changed(input, &all, &mut random);
        let new_sources = Sources::new();
        let new_files = new_input.files();
        let new = World::new(&new_files, &new_sources, new_input.modulepath(), &new_input);
        let known = count.violations.len();
        compare((&old, &sources), (&new, &new_sources), &label, ENTRY, count);
        if count.violations.len() > known && std::env::var_os("SETPOINT_SHOW").is_some() {
            let shown = count.violations[known..].join("\n  ");
            eprintln!(
                "seed {seed}: {label:?}\n  {shown}\n--- old\n{}\n{:?}\n--- new\n{}\n{:?}",
                input.text, input.data, new_input.text, new_input.data
            );
        }
    }
}

/// At least so many changes are compared.
const MUTATIONS: usize = 20_000;

fn number_from(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Changes programs until enough changes were compared. No output may differ without listing what was changed.
fn no_change_is_missing(make: impl Fn(u64) -> Input) {
    let from = number_from("SETPOINT_SEED").unwrap_or(0);
    let limit = number_from("SETPOINT_MUTATIONS").map_or(MUTATIONS, |limit| limit as usize);
    let mut count = Count::default();
    let mut seed = from;
    let mut seeds_that_fail = 0;
    while count.mutations < limit {
        let known = count.violations.len();
        mutate(seed, &make(seed), 12, &mut count);
        seeds_that_fail += usize::from(count.violations.len() > known);
        seed += 1;
        if std::env::var_os("SETPOINT_SHOW").is_some() && seeds_that_fail >= 3 {
            break;
        }
    }
    eprintln!(
        "{} changes of {} manifests ({} of them do not compile): {} runs failed, {} catalogs differed in {} outputs",
        count.mutations,
        seed - from,
        count.broken,
        count.failed,
        count.differing,
        count.outputs
    );
    assert!(
        count.violations.is_empty(),
        "{} of {} outputs, in {seeds_that_fail} manifests: {:#?}",
        count.violations.len(),
        count.outputs,
        &count.violations[..count.violations.len().min(5)]
    );
    assert!(count.differing * 8 > count.mutations, "too few changes change anything: {count:?}");
}

#[test]
fn a_change_is_listed_by_all_that_it_changes() {
    no_change_is_missing(Input::generated);
}

#[test]
fn a_change_is_listed_through_all_that_is_made_of_it() {
    no_change_is_missing(Input::composed);
}

/// How many inputs the values of some programs list, and how many of them change the value if they are changed.
#[derive(Default, Debug)]
struct Precision {
    data: (usize, usize),
    all: (usize, usize),
}

impl Precision {
    fn share((listed, able): (usize, usize)) -> usize {
        able * 100 / listed.max(1)
    }
}

/// Every literal and every word of the data is changed some times.
fn measure(seed: u64, times: usize, precision: &mut Precision) {
    let input = Input::composed(seed);
    let (files, sources) = (input.files(), Sources::new());
    let old = World::new(&files, &sources, input.modulepath(), &input);
    let Some(catalog) = &old.compilation.catalog else { return };
    let Some(mut query) = Query::new(&old.compilation, &old.environment) else { return };
    let message = Symbol::new("message");
    let outputs: Vec<(String, Option<Value>, Vec<Dependency>)> = catalog
        .iter()
        .filter(|(_, resource)| !resource.virtual_ && resource.type_name.as_str() == "Notify")
        .map(|(id, resource)| {
            let target = Target::Parameter { resource: id, name: message, path: Vec::new() };
            (resource.reference(), resource.parameters.get(message).cloned(), query.causes(&target))
        })
        .collect();
    let mut random = Random::new(seed);
    let literals = sites(&input.text);
    let words = words(&input.data);
    for at in 0..literals.len() + words.len() {
        let mut able = vec![false; outputs.len()];
        let mut listed = vec![false; outputs.len()];
        for _ in 0..times {
            let (changed, label) = match literals.get(at) {
                Some(site) => changed_literal(&input, site, &literals, &mut random),
                None => changed_word(&input, &words[at - literals.len()], &mut random),
            };
            for (listed, (_, _, causes)) in listed.iter_mut().zip(&outputs) {
                *listed = causes.iter().any(|cause| label.is(cause, Run::Old, ENTRY, &sources));
            }
            let (new_files, new_sources) = (changed.files(), Sources::new());
            let new = World::new(&new_files, &new_sources, changed.modulepath(), &changed);
            // A run that fails has another outcome, too.
            for (able, (name, value, _)) in able.iter_mut().zip(&outputs) {
                *able |= new.compilation.catalog.as_ref().is_none_or(|catalog| {
                    let found = catalog.resources().iter().find(|resource| resource.reference() == *name);
                    found.is_none_or(|resource| resource.parameters.get(message) != value.as_ref())
                });
            }
        }
        let is_data = at >= literals.len();
        if std::env::var_os("SETPOINT_SHOW").is_some() && is_data {
            for ((name, _, _), _) in
                outputs.iter().zip(listed.iter().zip(&able)).filter(|(_, (listed, able))| **listed && !**able)
            {
                eprintln!("seed {seed}: {name} lists {:?} without need", words[at - literals.len()]);
            }
        }
        for (listed, able) in listed.into_iter().zip(able).filter(|(listed, _)| *listed) {
            let counts = [Some(&mut precision.all), is_data.then_some(&mut precision.data)];
            for count in counts.into_iter().flatten() {
                count.0 += usize::from(listed);
                count.1 += usize::from(able);
            }
        }
    }
}

#[test]
fn most_of_what_is_listed_can_change_the_value() {
    let programs = number_from("SETPOINT_PROGRAMS").unwrap_or(25);
    let times = number_from("SETPOINT_TIMES").unwrap_or(6) as usize;
    let mut precision = Precision::default();
    (0..programs).for_each(|seed| measure(seed, times, &mut precision));
    let (data, all) = (Precision::share(precision.data), Precision::share(precision.all));
    eprintln!(
        "of what is listed, {data} % of the data and {all} % of all can change the value: {precision:?}"
    );
    assert!(all >= 60, "{data} % of the data, {all} % of all: {precision:?}");
}

/// Every output of a catalog.
fn targets(catalog: &setpoint_catalog::Catalog) -> Vec<Target> {
    let mut all = Vec::new();
    for (id, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
        all.push(Target::Resource(id));
        all.push(Target::Tags(id));
        for parameter in &resource.parameters {
            all.push(Target::Parameter { resource: id, name: parameter.name, path: Vec::new() });
        }
        all.push(Target::Parameter { resource: id, name: Symbol::new("loglevel"), path: Vec::new() });
    }
    all.extend(catalog.edges.iter().map(|(from, to)| Target::Edge(*from, *to)));
    all
}

#[test]
fn what_an_output_depends_on_are_inputs() {
    let mut outputs = 0;
    let mut leaves = 0;
    for seed in 0..150 {
        let input = Input::generated(seed);
        let (files, sources) = (input.files(), Sources::new());
        let world = World::new(&files, &sources, Vec::new(), &input);
        let Some(mut query) = Query::new(&world.compilation, &world.environment) else { continue };
        let literals = world::literals(&input.text);
        for target in targets(world.compilation.catalog.as_ref().expect("it compiled")) {
            outputs += 1;
            for dependency in query.answer(&target).depends {
                leaves += 1;
                let what = || format!("{} in seed {seed}: {dependency:?}", query_name(&target, &world));
                assert!(world::is_input(&dependency.leaf, &literals, &input, &sources), "{}", what());
            }
        }
    }
    assert!(outputs > 2_000 && leaves > 10_000, "{outputs} outputs, {leaves} leaves");
}

fn query_name(target: &Target, world: &World<'_>) -> String {
    Query::new(&world.compilation, &world.environment).map_or_else(String::new, |query| query.shown(target))
}

#[test]
fn the_expression_of_a_value_gives_the_value() {
    let (mut total, mut replayed) = (0, 0);
    for seed in 0..400 {
        let input = Input::generated(seed);
        let (files, sources) = (input.files(), Sources::new());
        let world = World::new(&files, &sources, Vec::new(), &input);
        let Some(catalog) = &world.compilation.catalog else { continue };
        let replay =
            replay::Replay { arena: &world.compilation.arena, sources: &sources, facts: &input.facts };
        let mut program = String::new();
        let mut expected: Vec<(String, &Value)> = Vec::new();
        for resource in catalog.resources() {
            for parameter in resource.parameters.iter().filter(|known| !is_opaque(&known.value)) {
                // References are text that no operation made.
                if matches!(parameter.name.as_str(), "before" | "notify" | "require" | "subscribe") {
                    continue;
                }
                total += 1;
                if let Some(code) = replay.value(&parameter.value) {
                    program += &format!("notify {{ 'r{}': message => {code} }}\n", expected.len());
                    expected.push((
                        format!("{}.{} = {code}", resource.reference(), parameter.name),
                        &parameter.value,
                    ));
                }
            }
        }
        let again_sources = Sources::new();
        let again =
            World::new(&files, &again_sources, Vec::new(), &Input { text: program.clone(), ..input.clone() });
        let Some(second) = &again.compilation.catalog else {
            panic!("seed {seed}: {:?}\n{program}", again.compilation.diagnostics)
        };
        for (number, (what, value)) in expected.iter().enumerate() {
            replayed += 1;
            let id = second.find("Notify".into(), &format!("r{number}")).expect("each was declared");
            assert_eq!(second[id].get("message"), Some(*value), "seed {seed}: {what}");
        }
    }
    assert!(replayed * 2 > total, "only {replayed} of {total} values could be replayed");
    eprintln!("{replayed} of {total} values replayed");
}

const MODULES: &str = "/usr/share/puppet/modules";

/// The files of this machine, one of them with another text.
#[derive(Debug)]
struct Changed {
    path: PathBuf,
    text: String,
}

impl FileSystem for Changed {
    fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        if path == self.path { Ok(self.text.clone().into_bytes()) } else { OsFileSystem.read(path) }
    }

    fn is_file(&self, path: &Path) -> bool {
        OsFileSystem.is_file(path)
    }

    fn is_dir(&self, path: &Path) -> bool {
        OsFileSystem.is_dir(path)
    }

    fn list(&self, path: &Path) -> Vec<String> {
        OsFileSystem.list(path)
    }
}

/// A manifest of a corpus, and the modules that it uses: some literals of both are changed.
fn mutate_real(path: &Path, number: u64, count: &mut Count) {
    let Ok(text) = std::fs::read_to_string(path) else { return };
    let platform = setpoint_platforms::find("debian-12").expect("a platform");
    let facts = setpoint_platforms::values(&platform.facts("node1.example.com", "7.23.0"));
    let data = (String::new(), String::new());
    let input = Input { text, facts, data, has_modules: false };
    let modulepath = vec![PathBuf::from(MODULES)];
    let sources = Sources::new();
    let old = World::new(&OsFileSystem, &sources, modulepath.clone(), &input);
    if old.compilation.catalog.is_none() {
        return;
    }
    let mut random = Random::new(number);
    let all = sites(&input.text);
    for _ in 0..all.len().min(6) {
        let (new_input, label) = changed(&input, &all, &mut random);
        let new_sources = Sources::new();
        let new = World::new(&OsFileSystem, &new_sources, modulepath.clone(), &new_input);
        compare((&old, &sources), (&new, &new_sources), &label, ENTRY, count);
    }
    let read: Vec<String> = sources
        .paths()
        .into_iter()
        .filter(|path| Path::new(path).extension().is_some_and(|end| end == "pp") && path != ENTRY)
        .collect();
    for _ in 0..read.len().min(4) {
        let path = random.pick(&read).clone();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let file = Input { text: text.clone(), ..input.clone() };
        let all = sites(&text);
        if all.is_empty() {
            continue;
        }
        let (file, label) = changed(&file, &all, &mut random);
        let files = Changed { path: PathBuf::from(&path), text: file.text };
        let new_sources = Sources::new();
        let new = World::new(&files, &new_sources, modulepath.clone(), &input);
        compare((&old, &sources), (&new, &new_sources), &label, &path, count);
    }
}

#[test]
fn a_change_of_a_real_manifest_is_listed_by_all_that_it_changes() {
    let Some(shared) = shared().filter(|_| Path::new(MODULES).join("apache").is_dir()) else {
        return skip("why: real manifests", "the corpora, or Debian's modules, are not on this machine");
    };
    let mut manifests = files_below(&shared.join("corpus/puppet"));
    manifests.retain(|path| path.extension().is_some_and(|extension| extension == "pp"));
    let mut count = Count::default();
    for (number, path) in manifests.iter().enumerate() {
        let known = count.violations.len();
        mutate_real(path, number as u64, &mut count);
        if count.violations.len() > known {
            let first = count.violations[known].clone();
            count.violations[known] = format!("{}: {first}", path.display());
        }
    }
    eprintln!(
        "{} changes of {} manifests: {} runs failed, {} catalogs differed in {} outputs",
        count.mutations,
        manifests.len(),
        count.failed,
        count.differing,
        count.outputs
    );
    assert!(
        count.violations.is_empty(),
        "{} of {}: {:#?}",
        count.violations.len(),
        count.outputs,
        &count.violations[..count.violations.len().min(12)]
    );
    assert!(count.differing > 100, "{count:?}");
}
