//! Small catalogs that a seed decides: a few resources that share few paths, users and packages, so that they meet.
//!
//! A scenario is written as a case, the way that people write them: what is found here can be kept as one.

mod themes;

use std::collections::BTreeSet;
use std::fmt::Write;

use setpoint_testing::Random;
use themes::Theme;

/// One resource of a manifest. Values are text of the manifest.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    kind: &'static str,
    title: String,
    attributes: Vec<(&'static str, String)>,
    /// Whether it stands in the class.
    inside: bool,
}

impl Declaration {
    fn new(kind: &'static str, title: &str) -> Self {
        Self { kind, title: title.to_owned(), attributes: Vec::new(), inside: false }
    }

    /// An attribute whose value is a word or a string without anything to escape.
    fn with(mut self, name: &'static str, value: &str) -> Self {
        let bare = matches!(value, "true" | "false" | "present" | "absent")
            || (!value.is_empty() && value.bytes().all(|byte| byte.is_ascii_lowercase()));
        let text = if bare { value.to_owned() } else { quoted(value) };
        self.attributes.push((name, text));
        self
    }

    /// An attribute as the manifest has it.
    fn with_text(mut self, name: &'static str, text: String) -> Self {
        self.attributes.push((name, text));
        self
    }

    fn has(&self, name: &str) -> bool {
        self.attributes.iter().any(|(other, _)| *other == name)
    }

    fn reference(&self) -> String {
        let parts: Vec<String> =
            self.kind.split("::").map(|part| format!("{}{}", part[..1].to_uppercase(), &part[1..])).collect();
        format!("{}[{}]", parts.join("::"), quoted(&self.title))
    }
}

/// A string of the manifest.
fn quoted(text: &str) -> String {
    if text.contains(['\n', '\t', '\'']) {
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$");
        format!("\"{}\"", escaped.replace('\n', "\\n").replace('\t', "\\t"))
    } else {
        format!("'{text}'")
    }
}

/// Without these a resource is none that anybody would write.
const NEEDED: [&str; 17] = [
    "command",
    "provider",
    "path",
    "line",
    "ip",
    "user",
    "type",
    "key",
    "section",
    "setting",
    "subsetting",
    "value",
    "device",
    "fstype",
    "target",
    "source",
    "ensure",
];

/// What comes before what; `None` is the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Edge {
    from: Option<usize>,
    to: Option<usize>,
    notifies: bool,
    /// Whether the later one names the earlier.
    backwards: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Scenario {
    declarations: Vec<Declaration>,
    edges: Vec<Edge>,
    start: Vec<String>,
    /// What is placed after the packages of the start are there.
    then: Vec<String>,
    packages: Vec<&'static str>,
}

/// Makes the scenario of a seed.
pub(crate) fn scenario(seed: u64) -> Scenario {
    let mut random = Random::new(seed);
    let mut scenario = Scenario::default();
    let theme = Theme::pick(&mut random);
    let other = if random.once_in(3) { Theme::pick(&mut random) } else { Theme::Files };
    let mut pool = themes::Pool::new(&mut random);
    themes::start(theme, &mut random, &mut scenario);
    if other.place() != theme.place() {
        themes::start(other, &mut random, &mut scenario);
    }
    // Two themes may know the same path or user.
    let mut placed = BTreeSet::new();
    scenario.start.retain(|line| placed.insert(placed_name(line)));
    let mut taken = BTreeSet::new();
    let count = scenario.declarations.len() + 2 + random.below(5);
    for _ in 0..count * 3 {
        if scenario.declarations.len() >= count {
            break;
        }
        let from = if random.once_in(4) { other } else { theme };
        for declaration in themes::declare(from, &mut pool, &mut random) {
            if !is_of_this_machine(&declaration, &scenario) {
                continue;
            }
            if taken.insert(declaration.reference()) && is_free(&declaration, &mut taken) {
                scenario.declarations.push(declaration);
            }
        }
    }
    relate(&mut scenario, &mut random);
    scenario
}

/// Of a package that nobody has nothing is known, and a unit that a package brought is not looked for beside one that the
/// catalog makes.
fn is_of_this_machine(declaration: &Declaration, scenario: &Scenario) -> bool {
    let packaged = |name: &str| scenario.packages.iter().any(|block| block.starts_with(&format!("{name} ")));
    match declaration.kind {
        "package" => packaged(&declaration.title),
        "file" if declaration.title.ends_with("web.service") => declaration.has("ensure") || !packaged("web"),
        _ => true,
    }
}

/// The path, user or group that a line of the start is about.
fn placed_name(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let words = if line.starts_with('/') { &words[..1] } else { &words[..2.min(words.len())] };
    words.join(" ").trim_end_matches('/').to_owned()
}

/// A concat is a file of its path, and there is one of each.
fn is_free(declaration: &Declaration, taken: &mut BTreeSet<String>) -> bool {
    match declaration.kind {
        "concat" => taken.insert(format!("File['{}']", declaration.title)),
        _ => true,
    }
}

/// Edges along an order that nobody sees, so that they make no circle by themselves.
fn relate(scenario: &mut Scenario, random: &mut Random) {
    let count = scenario.declarations.len();
    if count < 2 {
        return;
    }
    let mut order: Vec<usize> = (0..count).collect();
    if random.once_in(2) {
        random.shuffle(&mut order);
    }
    for _ in 0..random.below(count + 1) {
        let (one, other) = (random.below(count), random.below(count));
        if one == other {
            continue;
        }
        let (first, second) = (order[one.min(other)], order[one.max(other)]);
        let edge = Edge {
            from: Some(first),
            to: Some(second),
            notifies: random.once_in(2),
            backwards: random.once_in(2),
        };
        let known = |known: &Edge| known.from == edge.from && known.to == edge.to;
        if !scenario.edges.iter().any(known) {
            scenario.edges.push(edge);
        }
    }
    if random.once_in(6) {
        // The first ones in the class; one of the rest comes before or after it.
        let inside = 1 + random.below(count - 1);
        for at in &order[..inside] {
            scenario.declarations[*at].inside = true;
        }
        let outside = order[inside];
        scenario.edges.push(Edge {
            from: None,
            to: Some(outside),
            notifies: random.once_in(2),
            backwards: true,
        });
    }
    for declaration in &mut scenario.declarations {
        // What would be done may fail in being found out.
        let finds_out = declaration.has("source") || declaration.kind == "file_line";
        if random.once_in(40) && !finds_out {
            declaration.attributes.push(("noop", "true".to_owned()));
        }
    }
}

impl Scenario {
    /// The scenario as a case.
    pub(crate) fn case(&self) -> String {
        let mut text = String::from(">>> main.pp\n");
        let inside: Vec<usize> =
            (0..self.declarations.len()).filter(|at| self.declarations[*at].inside).collect();
        if !inside.is_empty() {
            text += "class part {\n";
            for at in inside {
                let _ = writeln!(text, "  {}", self.declared(at));
            }
            text += "}\ninclude part\n";
        }
        for at in (0..self.declarations.len()).filter(|at| !self.declarations[*at].inside) {
            let _ = writeln!(text, "{}", self.declared(at));
        }
        let mut start = self.start.concat();
        if !self.then.is_empty() {
            let _ = write!(start, "after packages:\n{}", self.then.concat());
        }
        for (name, lines) in [("packages", self.packages.join("")), ("start", start)] {
            if !lines.is_empty() {
                let _ = write!(text, ">>> {name}\n{lines}");
            }
        }
        for (name, content) in themes::SERVED {
            if text.contains("puppet://") {
                let _ = write!(text, ">>> modules/m/files/{name}\n{content}");
            }
        }
        text
    }

    fn declared(&self, at: usize) -> String {
        let declaration = &self.declarations[at];
        let mut attributes: Vec<String> =
            declaration.attributes.iter().map(|(name, value)| format!("{name} => {value}")).collect();
        for (parameter, notifies, backwards) in [
            ("before", false, false),
            ("notify", true, false),
            ("require", false, true),
            ("subscribe", true, true),
        ] {
            let named: Vec<String> = self
                .edges
                .iter()
                .filter(|edge| edge.notifies == notifies && edge.backwards == backwards)
                .filter_map(|edge| {
                    let (own, other) = if backwards { (edge.to, edge.from) } else { (edge.from, edge.to) };
                    (own == Some(at)).then(|| self.named(other))
                })
                .collect();
            match named.as_slice() {
                [] => {}
                [one] => attributes.push(format!("{parameter} => {one}")),
                many => attributes.push(format!("{parameter} => [{}]", many.join(", "))),
            }
        }
        format!("{} {{ {}: {} }}", declaration.kind, quoted(&declaration.title), attributes.join(", "))
    }

    fn named(&self, at: Option<usize>) -> String {
        at.map_or_else(|| "Class['part']".to_owned(), |at| self.declarations[at].reference())
    }

    /// Whether the start has a link that something goes through: of such starts plans do not speak.
    pub(crate) fn goes_through_stray_link(&self) -> bool {
        let links = self.start.iter().filter_map(|line| line.split_once(" -> "));
        let mut paths = links.map(|(path, _)| path);
        paths.any(|path| {
            self.declarations.iter().any(|declaration| {
                let below = declaration.title.starts_with(&format!("{path}/"));
                let attributes = &declaration.attributes;
                let follows = attributes.iter().any(|(_, text)| text.contains(path) || text == "follow");
                follows || (below && declaration.kind == "file")
            })
        })
    }

    /// The scenarios that have one thing less, the largest things first.
    pub(crate) fn smaller(&self) -> Vec<Self> {
        let mut found = Vec::new();
        for at in 0..self.declarations.len() {
            found.push(self.without(at));
        }
        // A service without a unit is another story.
        let spare =
            |at: &usize| !self.start[*at].starts_with("service ") && self.start[*at] != "/opt/kept/\n";
        for at in (0..self.start.len()).filter(spare) {
            let mut less = self.clone();
            less.start.remove(at);
            found.push(less);
        }
        if !self.then.is_empty() {
            found.push(Self { then: Vec::new(), ..self.clone() });
        }
        for at in 0..self.edges.len() {
            let mut less = self.clone();
            less.edges.remove(at);
            found.push(less);
        }
        for at in 0..self.edges.len() {
            if self.edges[at].notifies {
                let mut less = self.clone();
                less.edges[at].notifies = false;
                found.push(less);
            }
        }
        for (at, declaration) in self.declarations.iter().enumerate() {
            if declaration.inside && !self.edges.iter().any(|edge| edge.from.is_none()) {
                let mut less = self.clone();
                less.declarations[at].inside = false;
                found.push(less);
            }
            let spare = |attribute: &usize| !NEEDED.contains(&declaration.attributes[*attribute].0);
            for attribute in (0..declaration.attributes.len()).filter(spare) {
                let mut less = self.clone();
                less.declarations[at].attributes.remove(attribute);
                found.push(less);
            }
        }
        found
    }

    fn without(&self, at: usize) -> Self {
        let mut less = self.clone();
        less.declarations.remove(at);
        let moved = |end: Option<usize>| match end {
            Some(other) if other > at => Some(other - 1),
            other => other,
        };
        less.edges.retain(|edge| edge.from != Some(at) && edge.to != Some(at));
        for edge in &mut less.edges {
            (edge.from, edge.to) = (moved(edge.from), moved(edge.to));
        }
        if !less.declarations.iter().any(|declaration| declaration.inside) {
            less.edges.retain(|edge| edge.from.is_some());
        }
        less
    }
}
