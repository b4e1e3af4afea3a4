//! Where the values of a catalog came from, and what depends on a line.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;

use setpoint_catalog::Catalog;
use setpoint_catalog::graph::Graph;
use setpoint_project::{Project, Session, UsageError, parallel, threads};
use setpoint_source::{Diagnostic, Sources, Span, few};
use setpoint_why::{Query, Target, Writer};

use crate::cli::{ImpactArgs, WhyArgs};
use crate::output::{Outcome, pretty};

pub(super) fn why(session: &Session<'_>, args: &WhyArgs) -> Result<Outcome, UsageError> {
    if args.options.puppet.no_provenance {
        return Err(UsageError::new("`setpoint why` needs provenance; leave --no-provenance out"));
    }
    let options = args.options.for_project();
    let project = Project::open(session, &args.input, &options)?;
    let job = project.only_job()?;
    let home = project.home(&job.node).map_err(UsageError::new)?;
    let compilation = project.compile(&job);
    let environment = &home.environment;
    let blame = Blame::new(args.blame);
    let note = |span: Span| blame.of(span, &session.sources);
    let writer = Writer { compilation: &compilation, sources: &session.sources, notes: &note };
    let Some(mut query) = Query::new(&compilation, environment) else {
        let result = if args.format == "json" { pretty(&writer.failure_json()) } else { writer.failure() };
        return Ok(Outcome { result: Some(result), diagnostics: compilation.diagnostics.clone() });
    };
    let catalog = compilation.catalog.as_ref();
    let Some(text) = &args.target else {
        let is_asked = args.origin || args.expression || args.depends || args.why_not || args.format == "dot";
        if is_asked {
            let message = "which value? write a reference such as `File[/etc/motd].content`; without one, and without \
                           a form, the whole catalog is explained as lines of JSON";
            return Err(UsageError::new(message));
        }
        let result = catalog.map(|catalog| annotated(&mut query, &writer, catalog));
        return Ok(Outcome { result, diagnostics: Vec::new() });
    };
    let parsed = catalog.map(|catalog| setpoint_why::parse(catalog, text));
    let target = match parsed {
        Some(Ok(target)) => target,
        Some(Err(unknown)) => match unknown.absent {
            Some((type_name, title)) if args.why_not => Target::Absent { type_name, title },
            Some(_) => {
                let message = format!("{}\n`--why-not` says what kept it out", unknown.message);
                return Err(UsageError::new(message));
            }
            None => return Err(UsageError::new(unknown.message)),
        },
        None => return Ok(Outcome::default()),
    };
    if let (Target::Edge(from, to), Some(catalog)) = (&target, catalog)
        && (!query.has_edge(*from, *to) || !(args.origin || args.expression || args.depends))
        && args.format != "dot"
    {
        let graph = Graph::of_a_run(catalog, environment.module_types())
            .map_err(|error| UsageError::new(format!("the catalog has no order: {error}")))?;
        let order = setpoint_why::order(catalog, &graph, &compilation.arena, *from, *to);
        let mut result = writer.order(catalog, &order);
        // A type whose code is not understood may order resources by itself: "no" is not known.
        let not_read = environment.types_not_understood(catalog);
        let not_read = not_read.first().filter(|_| order.path.is_empty());
        if let Some(path) = not_read {
            let words =
                format!("Not known: {} declares a type in Ruby that is not understood", path.display());
            result = format!("{words}, and may order resources by itself\n\nWithout it: {result}");
        }
        let answer = query.has_edge(*from, *to).then(|| query.answer(&target));
        if args.format == "json" {
            let mut json = writer.order_json(catalog, &order);
            if not_read.is_some() {
                json["ordered"] = serde_json::Value::Null;
            }
            // What a statement says of the two is explained as any other value is.
            let whole = answer.map(|answer| writer.json(&answer)).unwrap_or_default();
            for (key, value) in whole.as_object().into_iter().flatten() {
                json[key] = value.clone();
            }
            result = pretty(&json);
        } else if let Some(answer) = answer {
            let _ = write!(result, "\n{}", writer.short(&answer));
        }
        return Ok(Outcome { result: Some(result), diagnostics: Vec::new() });
    }
    let result = if args.why_not {
        absent(&mut query, &writer, &target, args)?
    } else {
        let answer = query.answer(&target);
        match args.format.as_str() {
            "json" => pretty(&writer.json(&answer)),
            "dot" => setpoint_diagram::dot(&writer.diagram(&answer)),
            _ if args.origin => writer.origins(&answer),
            _ if args.expression => writer.expression(&answer),
            _ if args.depends => writer.depends(&answer),
            _ => writer.short(&answer),
        }
    };
    Ok(Outcome { result: Some(result), diagnostics: Vec::new() })
}

/// Every parameter of the catalog, a line of JSON each.
fn annotated(query: &mut Query<'_>, writer: &Writer<'_>, catalog: &Catalog) -> String {
    let mut out = String::new();
    for (id, resource) in catalog.iter().filter(|(_, resource)| !resource.virtual_) {
        let exists = query.answer(&Target::Resource(id));
        let _ = writeln!(out, "{}", writer.json(&exists));
        for parameter in &resource.parameters {
            let target = Target::Parameter { resource: id, name: parameter.name, path: Vec::new() };
            let answer = query.answer(&target);
            let _ = writeln!(out, "{}", writer.json(&answer));
        }
    }
    out
}

fn absent(
    query: &mut Query<'_>,
    writer: &Writer<'_>,
    target: &Target,
    args: &WhyArgs,
) -> Result<String, UsageError> {
    let is_there = match target {
        Target::Parameter { .. } => query.answer(target).value.is_some(),
        Target::Absent { .. } => false,
        _ => true,
    };
    if is_there {
        return Err(UsageError::new(format!("{} is there; ask without `--why-not`", query.shown(target))));
    }
    let absence = query.why_not(target);
    Ok(match args.format.as_str() {
        "json" => pretty(&writer.absence_json(&absence)),
        _ => writer.absence(&absence),
    })
}

pub(super) fn impact(session: &Session<'_>, args: &ImpactArgs) -> Result<Outcome, UsageError> {
    let asked = args.line();
    let (path, line) = asked
        .rsplit_once(':')
        .and_then(|(path, line)| Some((path, line.parse::<u32>().ok().filter(|line| *line > 0)?)))
        .ok_or_else(|| UsageError::new(format!("`{asked}` is not of the form FILE:LINE")))?;
    let options = args.options.for_project();
    let project = Project::open(session, &args.input(), &options)?;
    let plan = project.plan()?;
    let sources = &session.sources;
    let wanted = Path::new(path);
    let matches = |known: &str| Path::new(known) == wanted || Path::new(known).ends_with(wanted);
    let told = parallel(
        &plan.jobs,
        threads(session.jobs),
        |job| -> Result<Result<Reached, Vec<Diagnostic>>, String> {
            let home = project.home(&job.node)?;
            let compilation = project.compile(job);
            let Some(mut query) = Query::new(&compilation, &home.environment) else {
                return Ok(Err(compilation.diagnostics));
            };
            let impact = query.impact(sources, matches, line);
            let told = match args.format.as_str() {
                "json" => Told::Json(impact.json(&compilation, asked)),
                _ => Told::Text(impact.text(&compilation, asked, args.all)),
            };
            Ok(Ok(Reached { told, is_nothing: impact.resources.is_empty() }))
        },
    );
    let told = told.into_iter().collect::<Result<Vec<_>, _>>().map_err(UsageError::new)?;
    if !sources.paths().iter().any(|known| matches(known)) {
        return Err(UsageError::new(format!("{path} was not read for any catalog")));
    }
    let mut stories: Stories = Vec::new();
    let mut failed = Vec::new();
    for (job, reached) in plan.jobs.iter().zip(told) {
        match reached {
            Err(diagnostics) if plan.jobs.len() == 1 => return Ok(Outcome { result: None, diagnostics }),
            Err(_) => failed.push(job.label()),
            Ok(reached) => match stories.iter_mut().find(|(known, _)| *known == reached) {
                Some((_, nodes)) => nodes.push(job.label()),
                None => stories.push((reached, vec![job.label()])),
            },
        }
    }
    // What most nodes have comes first, and that it reaches nothing comes last.
    stories.sort_by_key(|(reached, nodes)| (reached.is_nothing, std::cmp::Reverse(nodes.len())));
    let result = match (args.format.as_str(), stories.first()) {
        (_, Some((only, _))) if plan.jobs.len() == 1 => only.shown(),
        ("json", _) => pretty(&stories_json(asked, &stories, &failed)),
        _ => stories_text(&stories, &failed),
    };
    Ok(Outcome { result: Some(result), diagnostics: Vec::new() })
}

/// What a line reaches on one node.
#[derive(Debug, PartialEq)]
struct Reached {
    told: Told,
    is_nothing: bool,
}

#[derive(Debug, PartialEq)]
enum Told {
    Text(String),
    Json(serde_json::Value),
}

/// What a line reaches, each with the nodes on which it does.
type Stories = Vec<(Reached, Vec<String>)>;

impl Reached {
    fn shown(&self) -> String {
        match &self.told {
            Told::Text(text) => text.clone(),
            Told::Json(json) => pretty(json),
        }
    }
}

/// Each story once, with the nodes that have it.
fn stories_text(stories: &Stories, failed: &[String]) -> String {
    let names = |nodes: &[String]| {
        let list: Vec<&str> = nodes.iter().map(String::as_str).collect();
        format!("{} node{}: {}", nodes.len(), if nodes.len() == 1 { "" } else { "s" }, few(&list, 10))
    };
    let mut out = String::new();
    for (reached, nodes) in stories {
        let _ = writeln!(out, "on {}\n{}", names(nodes), reached.shown());
    }
    if !failed.is_empty() {
        let _ = writeln!(out, "not known, since they do not compile: {}", names(failed));
    }
    out
}

fn stories_json(line: &str, stories: &Stories, failed: &[String]) -> serde_json::Value {
    let told = stories.iter().filter_map(|(reached, nodes)| match &reached.told {
        Told::Json(json) => Some(serde_json::json!({ "nodes": nodes, "impact": json })),
        Told::Text(_) => None,
    });
    serde_json::json!({ "line": line, "stories": told.collect::<Vec<_>>(), "failed": failed })
}

/// Who changed a line last. Git is asked once for each file.
#[derive(Debug)]
struct Blame {
    asked: bool,
    files: Mutex<BTreeMap<String, BTreeMap<u32, String>>>,
}

impl Blame {
    fn new(asked: bool) -> Self {
        Self { asked, files: Mutex::default() }
    }

    fn of(&self, span: Span, sources: &Sources) -> Option<String> {
        if !self.asked {
            return None;
        }
        let file = sources.file(span.file);
        let mut files = self.files.lock().ok()?;
        let known = files.entry(file.path().to_owned()).or_insert_with(|| lines_of(Path::new(file.path())));
        known.get(&file.line(span.range.start)).cloned()
    }
}

/// Each line of a file with its commit, author and date.
fn lines_of(path: &Path) -> BTreeMap<u32, String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return BTreeMap::new() };
    match setpoint_git::ask(folder, &["blame", "--porcelain", "--", name]) {
        Ok(answer) => setpoint_why::blame(&String::from_utf8_lossy(&answer)),
        Err(_) => BTreeMap::new(),
    }
}
