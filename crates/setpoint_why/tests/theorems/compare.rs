//! One input is changed, and the catalogs before and after are compared.

use std::collections::BTreeSet;

use setpoint_puppet_values::{Data, Key, Value};
use setpoint_source::{Range, Sources, Symbol};
use setpoint_testing::Random;
use setpoint_why::{Query, Target};

use crate::world::{Input, Label, Outputs, Run, Site, SiteKind, World, comparable, is_opaque, lists};

/// The text that takes the place of a literal.
pub(crate) fn replacement(site: &Site, text: &str, all: &[Site], random: &mut Random) -> String {
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
pub(crate) fn changed(input: &Input, all: &[Site], random: &mut Random) -> (Input, Label) {
    let generated = !input.data.0.is_empty();
    if generated && (random.below(12) == 0 || all.is_empty()) {
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
        return (Input { facts, ..input.clone() }, Label::Fact(label.to_owned()));
    }
    if generated && random.below(if input.has_modules { 3 } else { 12 }) == 0 {
        let words = words(&input.data);
        if !words.is_empty() {
            return changed_word(input, random.pick(&words), random);
        }
    }
    changed_literal(input, random.pick(all), all, random)
}

/// The input with another literal in the manifest.
pub(crate) fn changed_literal(
    input: &Input,
    site: &Site,
    all: &[Site],
    random: &mut Random,
) -> (Input, Label) {
    let new = replacement(site, &input.text, all, random);
    let (start, end) = (site.text.start as usize, site.text.end as usize);
    let text = format!("{}{new}{}", &input.text[..start], &input.text[end..]);
    let literal = Range {
        start: site.literal.start,
        end: (site.literal.end as usize + new.len() - (end - start)) as u32,
    };
    (Input { text, ..input.clone() }, Label::Literal { old: site.literal, new: literal })
}

/// A word of a data file.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub(crate) file: &'static str,
    pub(crate) range: Range,
    pub(crate) is_key: bool,
}

/// The words of data files that can be changed: values, and keys below the first level.
pub(crate) fn words(data: &(String, String)) -> Vec<Word> {
    let mut found = Vec::new();
    for (file, text) in [("web.yaml", &data.0), ("common.yaml", &data.1)] {
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            if let Some(at) = line.find(": ") {
                words_of(&line[at + 2..], start + at + 2, file, &mut found);
            }
            start += line.len();
        }
    }
    found
}

fn words_of(text: &str, offset: usize, file: &'static str, found: &mut Vec<Word>) {
    let bytes = text.as_bytes();
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let (mut at, mut interpolates) = (0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'%' => interpolates = true,
            b'"' if interpolates => interpolates = false,
            byte if is_letter(byte) && !interpolates => {
                let end = (at..bytes.len()).find(|at| !is_letter(bytes[*at])).unwrap_or(bytes.len());
                let is_key = bytes.get(end) == Some(&b':') && bytes.get(end + 1) != Some(&b':');
                // Names of options and keys with their class are left alone.
                let is_name = bytes.get(end) == Some(&b':') && text.contains("merge")
                    || at > 0 && bytes[at - 1] == b':';
                if !is_name {
                    let range = Range::new(offset + at, offset + end);
                    found.push(Word { file, range, is_key });
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
}

/// The input with another word in a data file.
pub(crate) fn changed_word(input: &Input, word: &Word, random: &mut Random) -> (Input, Label) {
    let text = if word.file == "web.yaml" { &input.data.0 } else { &input.data.1 };
    let (start, end) = (word.range.start as usize, word.range.end as usize);
    let own = &text[start..end];
    let choices: &[&str] = match own {
        "unique" | "first" => &["unique", "first"],
        "deep" | "hash" => &["deep", "hash", "first"],
        "true" if input.has_modules => &["false"],
        _ if input.has_modules => &["a", "b", "web", "t1", "x", "zz"],
        _ => &["a", "b", "web", "t1", "1", "2", "true"],
    };
    let other: Vec<&&str> = choices.iter().filter(|choice| **choice != own).collect();
    let new = **random.pick(&other);
    let changed = format!("{}{new}{}", &text[..start], &text[end..]);
    let (first, second) = input.data.clone();
    let data = if word.file == "web.yaml" { (changed, second) } else { (first, changed) };
    let after = Range::new(start, start + new.len());
    let label = Label::Data { file: word.file, old: word.range, new: after, is_key: word.is_key };
    (Input { data, ..input.clone() }, label)
}

#[derive(Default, Debug)]
pub(crate) struct Count {
    /// Programs that do not compile.
    pub(crate) broken: usize,
    pub(crate) mutations: usize,
    /// One of the runs failed.
    pub(crate) failed: usize,
    /// The catalogs differed.
    pub(crate) differing: usize,
    pub(crate) outputs: usize,
    pub(crate) violations: Vec<String>,
}

/// Compares the catalogs of two runs, and asks where they differ whether the changed input is listed.
pub(crate) fn compare(
    old: (&World<'_>, &Sources),
    new: (&World<'_>, &Sources),
    label: &Label,
    entry: &str,
    count: &mut Count,
) {
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
        if !lists(query, target, label, run, entry, sources) {
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
