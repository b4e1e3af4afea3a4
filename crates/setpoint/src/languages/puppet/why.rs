//! Where the values of a catalog came from, and what depends on a line.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;

use serde_json::{Value as Json, json};
use setpoint_project::{Project, Session, UsageError};
use setpoint_puppet::Compilation;
use setpoint_source::{Severity, Sources, Span};
use setpoint_why::{Absence, Answer, Impact, Query, ReasonKind, Target, Writer};

use crate::cli::{ImpactArgs, WhyArgs};
use crate::git;
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
        return Ok(failure(&compilation, &writer, args));
    };
    let Some(text) = &args.target else {
        return Err(UsageError::new("which value? write a reference such as `File[/etc/motd].content`"));
    };
    let catalog = compilation.catalog.as_ref();
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
    if let Target::Edge(from, to) = target
        && !query.has_edge(from, to)
    {
        return Err(UsageError::new(format!(
            "nothing in the catalog says that {}; an automatic order of types is in `setpoint graph`",
            query.shown(&target)
        )));
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
    let answer = nothing_secret(writer.compilation);
    Ok(match args.format.as_str() {
        "json" => pretty(&absence_json(&absence, writer, &answer)),
        _ => absence_text(&absence, writer, &answer),
    })
}

/// An answer that knows only which texts are secret.
fn nothing_secret(compilation: &Compilation) -> Answer {
    Answer {
        target: String::new(),
        value: None,
        secret: false,
        prov: setpoint_provenance::Prov::NONE,
        origin: None,
        steps: Vec::new(),
        resource: String::new(),
        reasons: Vec::new(),
        depends: Vec::new(),
        secrets: setpoint_why::secrets(compilation),
    }
}

fn absence_text(absence: &Absence, writer: &Writer<'_>, answer: &Answer) -> String {
    let mut out = String::new();
    if let Some(span) = absence.is_virtual {
        let place = writer.sources.place(span);
        let _ =
            writeln!(out, "{} is declared at {place}, but virtual: nothing has made it real", absence.target);
    } else if absence.nowhere {
        let _ = writeln!(
            out,
            "{} is not there, and no code that was read could have put it there",
            absence.target
        );
    } else {
        let _ = writeln!(out, "{} is not there", absence.target);
    }
    if !absence.undefined.is_empty() {
        out.push_str("\n  it is given as undef, which depends on\n");
        for leaf in &absence.undefined {
            let _ = writeln!(out, "    {}", writer.leaf_with_text(leaf, answer));
        }
    }
    for kept in &absence.kept_out {
        let place = writer.sources.place(kept.branch);
        let _ = writeln!(out, "\n  this did not run, at {place}: {}", writer.slice(kept.branch));
        let reason = setpoint_why::Reason { kind: ReasonKind::Condition, span: None, cause: kept.condition };
        writer.decided(&reason, answer, &mut out);
        writer.reasons(&kept.reasons, answer, &mut out);
    }
    for span in &absence.collectors {
        let place = writer.sources.place(*span);
        let _ = writeln!(out, "\n  a collector looked for others, at {place}: {}", writer.slice(*span));
    }
    out
}

fn absence_json(absence: &Absence, writer: &Writer<'_>, answer: &Answer) -> Json {
    let place = |span: Span| writer.place_of(span, answer);
    let kept: Vec<Json> = absence
        .kept_out
        .iter()
        .map(|kept| {
            let leaves = writer.compilation.arena.made_of(kept.condition);
            let from: Vec<Json> = leaves.iter().map(|(_, leaf)| writer.place(leaf, answer)).collect();
            json!({"branch": place(kept.branch), "condition": from})
        })
        .collect();
    json!({
        "target": absence.target,
        "present": false,
        "virtual": absence.is_virtual.map(place),
        "kept_out": kept,
        "undef": absence.undefined.iter().map(|leaf| writer.place(leaf, answer)).collect::<Vec<_>>(),
        "collectors": absence.collectors.iter().map(|span| place(*span)).collect::<Vec<_>>(),
    })
}

/// What led to the error that there is no catalog for.
fn failure(compilation: &Compilation, writer: &Writer<'_>, args: &WhyArgs) -> Outcome {
    let reasons =
        compilation.trace.failure.map(|prov| setpoint_why::reasons(compilation, prov)).unwrap_or_default();
    let answer = nothing_secret(compilation);
    let errors = compilation.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    if args.format == "json" {
        let errors: Vec<Json> = errors
            .map(|error| json!({"message": error.message, "place": error.span.map(|span| writer.place_of(span, &answer))}))
            .collect();
        let reasons: Vec<Json> = reasons
            .iter()
            .map(|reason| {
                let mut place = reason.span.map_or_else(|| json!({}), |span| writer.place_of(span, &answer));
                place["kind"] = reason.kind.as_str().into();
                place
            })
            .collect();
        let out = json!({"fails": errors, "because": reasons});
        return Outcome { result: Some(pretty(&out)), diagnostics: compilation.diagnostics.clone() };
    }
    let mut out = String::from("There is no catalog, and so no value to explain.\n");
    if !reasons.is_empty() {
        out.push_str("The evaluation came to the error because\n");
        writer.reasons(&reasons, &answer, &mut out);
    }
    Outcome { result: Some(out), diagnostics: compilation.diagnostics.clone() }
}

pub(super) fn impact(session: &Session<'_>, args: &ImpactArgs) -> Result<Outcome, UsageError> {
    let (path, line) = args
        .line
        .rsplit_once(':')
        .and_then(|(path, line)| Some((path, line.parse::<u32>().ok().filter(|line| *line > 0)?)))
        .ok_or_else(|| UsageError::new(format!("`{}` is not of the form FILE:LINE", args.line)))?;
    let options = args.options.for_project();
    let project = Project::open(session, &args.input, &options)?;
    let job = project.only_job()?;
    let home = project.home(&job.node).map_err(UsageError::new)?;
    let compilation = project.compile(&job);
    let Some(mut query) = Query::new(&compilation, &home.environment) else {
        return Ok(Outcome { result: None, diagnostics: compilation.diagnostics });
    };
    let sources = &session.sources;
    let wanted = Path::new(path);
    let matches = |known: &str| Path::new(known) == wanted || Path::new(known).ends_with(wanted);
    if !sources.paths().iter().any(|known| matches(known)) {
        return Err(UsageError::new(format!("{path} was not read for this catalog")));
    }
    let impact = query.impact(sources, matches, line);
    let result = match args.format.as_str() {
        "json" => pretty(&impact_json(&impact, &compilation, args)),
        _ => impact_text(&impact, &compilation, args),
    };
    Ok(Outcome { result: Some(result), diagnostics: Vec::new() })
}

fn impact_text(impact: &Impact, compilation: &Compilation, args: &ImpactArgs) -> String {
    let Some(catalog) = &compilation.catalog else { return String::new() };
    if impact.inputs == 0 {
        return format!("no value of the catalog is read from {}\n", args.line);
    }
    let mut out = String::new();
    for affected in &impact.resources {
        let direct = affected.existence || !affected.parameters.is_empty();
        if !direct && !args.all {
            continue;
        }
        let _ = writeln!(out, "{}", catalog[affected.resource].reference());
        if affected.existence {
            out.push_str("  is there because of it\n");
        }
        for name in &affected.parameters {
            let _ = writeln!(out, "  {name}");
        }
        for name in affected.possible.iter().filter(|_| args.all) {
            let _ = writeln!(out, "  {name}, if something else stood there");
        }
    }
    if out.is_empty() {
        let _ = writeln!(out, "no value of the catalog was made of {}", args.line);
    }
    if impact.possible > 0 && !args.all {
        let values =
            if impact.possible == 1 { "1 value".to_owned() } else { format!("{} values", impact.possible) };
        let _ = writeln!(out, "\nSomething else there could change {values} more; `--all` lists them.");
    }
    out
}

fn impact_json(impact: &Impact, compilation: &Compilation, args: &ImpactArgs) -> Json {
    let Some(catalog) = &compilation.catalog else { return Json::Null };
    let names = |names: &[setpoint_source::Symbol]| {
        names.iter().map(|name| name.as_str().into()).collect::<Vec<Json>>()
    };
    let resources: Vec<Json> = impact
        .resources
        .iter()
        .map(|affected| {
            json!({
                "resource": catalog[affected.resource].reference(),
                "existence": affected.existence,
                "parameters": names(&affected.parameters),
                "possible": names(&affected.possible),
            })
        })
        .collect();
    json!({"line": args.line, "inputs": impact.inputs, "resources": resources})
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
    match git::ask(folder, &["blame", "--porcelain", "--", name]) {
        Ok(answer) => setpoint_why::blame(&String::from_utf8_lossy(&answer)),
        Err(_) => BTreeMap::new(),
    }
}
