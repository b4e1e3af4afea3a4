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

#[path = "theorems/generate.rs"]
mod generate;
#[path = "theorems/replay.rs"]
mod replay;
#[path = "theorems/world.rs"]
mod world;

use std::collections::BTreeSet;

use setpoint_oracle::Random;
use setpoint_puppet_values::{Data, Key, Value};
use setpoint_source::{Range, Sources, Symbol};
use setpoint_why::{Query, Target};
use world::{ENTRY, Input, Label, Outputs, Run, Site, SiteKind, World, comparable, is_opaque, lists, sites};

/// The text that takes the place of a literal.
fn replacement(site: &Site, text: &str, all: &[Site], random: &mut Random) -> String {
    let slice = |range: Range| &text[range.start as usize..range.end as usize];
    let own = slice(site.text);
    match site.kind {
        SiteKind::Bool => if own == "true" { "false" } else { "true" }.to_owned(),
        SiteKind::Part => "z".to_owned(),
        kind => {
            // Another literal of the manifest: that is what titles, names and conditions meet.
            let others: Vec<&str> = all
                .iter()
                .filter(|other| other.kind == kind && slice(other.text) != own)
                .map(|other| slice(other.text))
                .collect();
            if !others.is_empty() && random.below(5) > 0 {
                return (*random.pick(&others)).to_owned();
            }
            match kind {
                SiteKind::Integer => format!("{own}1"),
                SiteKind::String => format!("{}z'", &own[..own.len() - 1]),
                _ => format!("{own}z"),
            }
        }
    }
}

/// The input with one thing changed.
fn changed(input: &Input, all: &[Site], random: &mut Random) -> (Input, Label) {
    if random.below(12) == 0 || all.is_empty() {
        let mut facts = input.facts.clone();
        let label = match random.below(4) {
            0 => {
                facts.insert(Key::from("role"), Value::from(*random.pick(&["a", "t1", "db"])));
                "role"
            }
            1 => {
                facts.insert(Key::from("num"), Value::from(1 + random.below(3) as i64));
                "num"
            }
            2 => {
                facts.insert(Key::from("v4"), Value::from(*random.pick(&["a", "t1"])));
                "v4"
            }
            _ => {
                if let Some(Value { data: Data::Hash(os), .. }) = facts.get(&Key::from("os")) {
                    let mut os = os.as_ref().clone();
                    os.insert(Key::from("family"), Value::from(*random.pick(&["a", "web"])));
                    facts.insert(Key::from("os"), Value::hash(os));
                }
                "os.family"
            }
        };
        return (Input { text: input.text.clone(), facts }, Label::Fact(label.to_owned()));
    }
    let site = random.pick(all);
    let new = replacement(site, &input.text, all, random);
    let (start, end) = (site.text.start as usize, site.text.end as usize);
    let text = format!("{}{new}{}", &input.text[..start], &input.text[end..]);
    let literal = Range {
        start: site.literal.start,
        end: (site.literal.end as usize + new.len() - (end - start)) as u32,
    };
    (Input { text, facts: input.facts.clone() }, Label::Literal { old: site.literal, new: literal })
}

#[derive(Default, Debug)]
struct Count {
    mutations: usize,
    /// One of the runs failed.
    failed: usize,
    /// The catalogs differed.
    differing: usize,
    outputs: usize,
    violations: Vec<String>,
}

/// Compares the catalogs of two runs, and asks where they differ whether the changed input is listed.
fn compare(old: (&World<'_>, &Sources), new: (&World<'_>, &Sources), label: &Label, count: &mut Count) {
    count.mutations += 1;
    let (Some(before), Some(after)) = (&old.0.compilation.catalog, &new.0.compilation.catalog) else {
        count.failed += 1;
        return;
    };
    let (before, after) = (Outputs::of(before), Outputs::of(after));
    let mut queries: [Option<Query<'_>>; 2] = [None, None];
    let mut differs = false;
    let mut expect = |run: Run, target: &Target, what: &str, count: &mut Count| {
        let (at, world, sources) = if run == Run::Old { (0, old.0, old.1) } else { (1, new.0, new.1) };
        let query = queries[at]
            .get_or_insert_with(|| Query::new(&world.compilation, &world.environment).expect("it compiled"));
        count.outputs += 1;
        if !lists(query, target, label, run, ENTRY, sources) {
            count.violations.push(format!("{what} in the {run:?} run"));
        }
    };
    let names: BTreeSet<&String> = before.resources.keys().chain(after.resources.keys()).collect();
    for name in names {
        match (before.resources.get(name), after.resources.get(name)) {
            (Some(id), None) => {
                differs = true;
                expect(Run::Old, &Target::Resource(*id), &format!("{name} exists"), count);
            }
            (None, Some(id)) => {
                differs = true;
                expect(Run::New, &Target::Resource(*id), &format!("{name} exists"), count);
            }
            (Some(first), Some(second)) => {
                let (left, right) = (&before.catalog[*first], &after.catalog[*second]);
                let parameters: BTreeSet<&str> = left
                    .parameters
                    .iter()
                    .chain(right.parameters.iter())
                    .map(|known| known.name.as_str())
                    .collect();
                for parameter in parameters {
                    let parameter = Symbol::new(parameter);
                    let values = [left.parameters.get(parameter), right.parameters.get(parameter)];
                    if values.iter().flatten().any(|value| is_opaque(value)) {
                        continue;
                    }
                    if comparable(parameter, values[0]) != comparable(parameter, values[1]) {
                        differs = true;
                        for (run, resource) in [(Run::Old, *first), (Run::New, *second)] {
                            let target = Target::Parameter { resource, name: parameter, path: Vec::new() };
                            expect(run, &target, &format!("{name}.{parameter}"), count);
                        }
                    }
                }
                let tags = |resource: &setpoint_catalog::Resource| {
                    resource.tags.iter().map(Symbol::as_str).collect::<BTreeSet<_>>()
                };
                if tags(left) != tags(right) {
                    differs = true;
                    expect(Run::Old, &Target::Tags(*first), &format!("tags of {name}"), count);
                    expect(Run::New, &Target::Tags(*second), &format!("tags of {name}"), count);
                }
            }
            (None, None) => {}
        }
    }
    for (run, own, other) in [(Run::Old, &before, &after), (Run::New, &after, &before)] {
        for ((from, to), (container, member)) in &own.edges {
            let both = other.resources.contains_key(from) && other.resources.contains_key(to);
            if both && !other.edges.contains_key(&(from.clone(), to.clone())) {
                differs = true;
                expect(run, &Target::Edge(*container, *member), &format!("{from} contains {to}"), count);
            }
        }
    }
    count.differing += usize::from(differs);
}

/// Changes a generated manifest some times.
fn mutate(seed: u64, times: usize, count: &mut Count) {
    let input = Input { text: generate::manifest(seed), facts: world::facts() };
    let files = world::in_memory("");
    let sources = Sources::new();
    let old = World::new(&files, &sources, Vec::new(), &input);
    if old.compilation.catalog.is_none() {
        return;
    }
    let all = sites(&input.text);
    let mut random = Random::new(seed ^ 0x5eed);
    for _ in 0..times {
        let (new_input, label) = changed(&input, &all, &mut random);
        let new_sources = Sources::new();
        let new = World::new(&files, &new_sources, Vec::new(), &new_input);
        let known = count.violations.len();
        compare((&old, &sources), (&new, &new_sources), &label, count);
        if count.violations.len() > known && std::env::var_os("SETPOINT_SHOW").is_some() {
            let shown = count.violations[known..].join("\n  ");
            eprintln!(
                "seed {seed}: {label:?}\n  {shown}\n--- old\n{}\n--- new\n{}",
                input.text, new_input.text
            );
        }
    }
}

/// At least so many changes are compared.
const MUTATIONS: usize = 20_000;

#[test]
fn a_change_is_listed_by_all_that_it_changes() {
    let from: u64 = std::env::var("SETPOINT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let limit =
        std::env::var("SETPOINT_MUTATIONS").ok().and_then(|limit| limit.parse().ok()).unwrap_or(MUTATIONS);
    let mut count = Count::default();
    let mut seed = from;
    let mut seeds_that_fail = 0;
    while count.mutations < limit {
        let known = count.violations.len();
        mutate(seed, 12, &mut count);
        seeds_that_fail += usize::from(count.violations.len() > known);
        seed += 1;
        if std::env::var_os("SETPOINT_SHOW").is_some() && seeds_that_fail >= 3 {
            break;
        }
    }
    eprintln!(
        "{} changes of {} manifests: {} runs failed, {} catalogs differed in {} outputs",
        count.mutations,
        seed - from,
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
    assert!(count.differing * 4 > count.mutations, "too few changes change anything: {count:?}");
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
        let input = Input { text: generate::manifest(seed), facts: world::facts() };
        let (files, sources) = (world::in_memory(""), Sources::new());
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
        let input = Input { text: generate::manifest(seed), facts: world::facts() };
        let (files, sources) = (world::in_memory(""), Sources::new());
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
        let again = World::new(
            &files,
            &again_sources,
            Vec::new(),
            &Input { text: program.clone(), facts: input.facts.clone() },
        );
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
