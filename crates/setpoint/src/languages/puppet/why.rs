//! Where the values of a catalog came from, and what depends on a line.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use setpoint_project::{Project, Session, UsageError};
use setpoint_source::{Sources, Span};
use setpoint_why::{Query, Target, Writer};

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
        let result = if args.format == "json" { pretty(&writer.failure_json()) } else { writer.failure() };
        return Ok(Outcome { result: Some(result), diagnostics: compilation.diagnostics.clone() });
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
    Ok(match args.format.as_str() {
        "json" => pretty(&writer.absence_json(&absence)),
        _ => writer.absence(&absence),
    })
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
        "json" => pretty(&impact.json(&compilation, &args.line)),
        _ => impact.text(&compilation, &args.line, args.all),
    };
    Ok(Outcome { result: Some(result), diagnostics: Vec::new() })
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
