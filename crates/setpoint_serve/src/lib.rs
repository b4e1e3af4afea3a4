//! A resident compiler: requests for catalogs as JSON-RPC 2.0, one object a line.
//!
//! [`serve`] answers line by line. Parsed manifests are kept between requests; before each one every file that was
//! read is compared with its digest, and all is read anew if one changed. The crate knows no terminal.

mod watch;

use std::path::PathBuf;

use serde_json::{Map, Value as Json, json};
use setpoint_hiera::Levels;
use setpoint_puppet::{Compilation, CompileGapKind, Entry, Environment, LogEntry, Options, PuppetVersion};
use setpoint_puppet_values::Value;
use setpoint_source::{FileSystem, Severity, Sources};
use watch::WatchedFiles;

/// The version of the protocol.
const PROTOCOL: u64 = 1;

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const NO_SUCH_METHOD: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
/// Puppet would refuse the catalog.
const COMPILATION_FAILED: i64 = 1;

/// What `initialize` said.
#[derive(Debug, Clone, Default)]
struct Settings {
    environment: Option<PathBuf>,
    modulepath: Vec<PathBuf>,
    puppet: PuppetVersion,
}

/// What happens after a request.
enum Next {
    Go,
    /// The settings or the files changed: read everything anew.
    Renew(Settings),
    Stop,
}

/// Answers every line of the input until `shutdown` or its end. Nothing but answers is written.
pub fn serve(
    files: &dyn FileSystem,
    version: &str,
    lines: &mut dyn Iterator<Item = String>,
    write: &mut dyn FnMut(&str),
) {
    let mut settings = Settings::default();
    // The line that found changed files is answered once they are read anew.
    let mut pending: Option<String> = None;
    loop {
        if let Some(folder) = &settings.environment {
            files.allow_project_of(folder);
        }
        if let Some(bounds) = files.bounds() {
            for folder in &settings.modulepath {
                bounds.allow_modules(folder);
            }
        }
        let watched = WatchedFiles::new(files);
        let sources = Sources::new();
        let environment = open(&watched, &sources, &settings, None);
        loop {
            let Some(line) = pending.take().or_else(|| lines.next()) else { return };
            if line.trim().is_empty() {
                continue;
            }
            if !watched.is_unchanged() {
                pending = Some(line);
                break;
            }
            let server = Server {
                version,
                settings: &settings,
                watched: &watched,
                sources: &sources,
                environment: &environment,
            };
            let (answer, next) = server.answer(&line);
            if let Some(answer) = answer {
                write(&answer.to_string());
            }
            match next {
                Next::Go => {}
                Next::Stop => return,
                Next::Renew(new) => {
                    settings = new;
                    break;
                }
            }
        }
    }
}

fn open<'e>(
    files: &'e WatchedFiles<'_>,
    sources: &'e Sources,
    settings: &Settings,
    hiera: Option<PathBuf>,
) -> Environment<'e> {
    let levels = Levels { global: hiera, environment: settings.environment.clone(), ..Levels::default() };
    Environment::new(files, sources).with_modulepath(settings.modulepath.clone()).with_hiera(levels)
}

struct Server<'a> {
    version: &'a str,
    settings: &'a Settings,
    watched: &'a WatchedFiles<'a>,
    sources: &'a Sources,
    environment: &'a Environment<'a>,
}

impl Server<'_> {
    /// The answer to one line; none for a notification.
    fn answer(&self, line: &str) -> (Option<Json>, Next) {
        let Ok(request) = serde_json::from_str::<Json>(line) else {
            return (Some(error(&Json::Null, PARSE_ERROR, "this line is no JSON", Json::Null)), Next::Go);
        };
        let id = request.get("id").cloned();
        let reply =
            |result: Json| id.as_ref().map(|id| json!({"jsonrpc": "2.0", "id": id, "result": result}));
        let refuse = |code, message: &str| id.as_ref().map(|id| error(id, code, message, Json::Null));
        let Some(method) = request.get("method").and_then(Json::as_str) else {
            return (refuse(INVALID_REQUEST, "a request names a method"), Next::Go);
        };
        let nothing = Map::new();
        let params = request.get("params").and_then(Json::as_object).unwrap_or(&nothing);
        match method {
            "initialize" => {
                if params.get("protocol").and_then(Json::as_u64).unwrap_or(PROTOCOL) != PROTOCOL {
                    return (refuse(INVALID_PARAMS, "the only protocol is 1"), Next::Go);
                }
                let settings = settings(params);
                if let Some(folder) = &settings.environment {
                    self.watched.allow_project_of(folder);
                    if !self.watched.is_dir(folder) {
                        let message =
                            format!("there is no folder `{}` for the environment", folder.display());
                        return (refuse(INVALID_PARAMS, &message), Next::Go);
                    }
                }
                let methods = ["initialize", "catalog", "invalidate", "shutdown"];
                let result = json!({"protocol": PROTOCOL, "version": self.version, "capabilities": {"methods": methods}});
                (reply(result), Next::Renew(settings))
            }
            "catalog" => match self.catalog(params) {
                Ok(result) => (reply(result), Next::Go),
                Err((code, message, data)) => {
                    (id.as_ref().map(|id| error(id, code, &message, data)), Next::Go)
                }
            },
            "invalidate" => (reply(Json::Null), Next::Renew(self.settings.clone())),
            "shutdown" => (reply(Json::Null), Next::Stop),
            _ => (refuse(NO_SUCH_METHOD, &format!("there is no method `{method}`")), Next::Go),
        }
    }

    fn catalog(&self, params: &Map<String, Json>) -> Result<Json, (i64, String, Json)> {
        let Some(node) = params.get("node").and_then(Json::as_str) else {
            return Err((INVALID_PARAMS, "`node` is missing".to_owned(), Json::Null));
        };
        if let Some(words) = misfit(params) {
            return Err((INVALID_PARAMS, words, Json::Null));
        }
        let hash = |name: &str| params.get(name).and_then(Json::as_object).map(setpoint_platforms::values);
        let entry = match (params.get("code").and_then(Json::as_str), &self.settings.environment) {
            (Some(code), _) => Entry::Code { name: "manifest".to_owned(), text: code.to_owned() },
            (None, Some(folder)) => Entry::Files(vec![folder.join("manifests")]),
            (None, None) => return Err((INVALID_PARAMS, "`code` is missing".to_owned(), Json::Null)),
        };
        let options = Options {
            puppet: self.settings.puppet,
            strict_variables: params.get("strict_variables").and_then(Json::as_bool).unwrap_or(false),
            node: node.to_owned(),
            facts: hash("facts").unwrap_or_default(),
            trusted: hash("trusted").map(Value::hash),
            server_facts: hash("server_facts"),
            parameters: hash("node_parameters").unwrap_or_default(),
            provenance: false,
            ..Options::default()
        };
        let compilation = match params.get("hiera_config").and_then(Json::as_str) {
            // Another global hierarchy is another environment.
            Some(path) => {
                self.watched.allow_project_of(std::path::Path::new(path));
                let other = open(self.watched, self.sources, self.settings, Some(PathBuf::from(path)));
                setpoint_puppet::compile(&other, &entry, &options)
            }
            None => setpoint_puppet::compile(self.environment, &entry, &options),
        };
        match &compilation.catalog {
            Some(catalog) => {
                let json = setpoint_catalog::write::json(catalog);
                let json: Json = serde_json::from_str(&json).unwrap_or(Json::Null);
                let masked = |entry: &LogEntry| self.sources.secrets().mask(&entry.message).into_owned();
                let warnings: Vec<String> = compilation.log.iter().map(masked).collect();
                Ok(json!({"catalog": json, "warnings": warnings, "opaque": self.opaque(&compilation)}))
            }
            None => Err(self.failure(&compilation)),
        }
    }

    /// What is not known of the catalog, with the reason.
    fn opaque(&self, compilation: &Compilation) -> Vec<Json> {
        let gaps = compilation.gaps.iter();
        gaps.map(|gap| {
            let place = gap.span.map(|span| self.sources.place(span));
            let reason = match &gap.kind {
                CompileGapKind::NotComputed(why) => why.clone(),
                CompileGapKind::UnreadData(place) => format!("no data was read from {place}"),
                CompileGapKind::AbsentFact(words) => format!("it is assumed that {words}"),
                CompileGapKind::OtherNodes => "resources of other nodes are not collected".to_owned(),
            };
            json!({"place": place, "reason": reason})
        })
        .collect()
    }

    fn failure(&self, compilation: &Compilation) -> (i64, String, Json) {
        let found = compilation.diagnostics.iter().find(|found| found.severity == Severity::Error);
        let Some(found) = found else {
            return (COMPILATION_FAILED, "the catalog was not compiled".to_owned(), Json::Null);
        };
        let place = found.span.map(|span| (self.sources.file(span.file), self.sources.position(span)));
        let (file, line) = place.map(|(file, at)| (file.path().to_owned(), at.line)).unzip();
        let is_limit = compilation.failures.iter().any(|failure| failure.kind.is_limit_of_setpoint());
        let message = self.sources.secrets().mask(&found.message).into_owned();
        let data = json!({"puppet_message": message, "file": file, "line": line, "class": found.rule.name(), "limit": is_limit});
        (COMPILATION_FAILED, message, data)
    }
}

fn settings(params: &Map<String, Json>) -> Settings {
    let text = |name: &str| params.get(name).and_then(Json::as_str);
    let modulepath = match params.get("modulepath") {
        Some(Json::Array(folders)) => folders.iter().filter_map(Json::as_str).map(PathBuf::from).collect(),
        Some(Json::String(folders)) => folders.split(':').map(PathBuf::from).collect(),
        _ => Vec::new(),
    };
    let puppet = text("puppet").and_then(PuppetVersion::parse).unwrap_or_default();
    Settings { environment: text("environment").map(PathBuf::from), modulepath, puppet }
}

/// Returns what is wrong with the kinds of the parameters of `catalog`: what is not taken as it was meant would be passed over.
fn misfit(params: &Map<String, Json>) -> Option<String> {
    let wanted = [
        ("node", "a text"),
        ("code", "a text"),
        ("hiera_config", "a text"),
        ("facts", "a mapping"),
        ("trusted", "a mapping"),
        ("server_facts", "a mapping"),
        ("node_parameters", "a mapping"),
    ];
    wanted.iter().find_map(|(name, kind)| {
        let given = params.get(*name).filter(|given| !given.is_null())?;
        let fits = if *kind == "a text" { given.is_string() } else { given.is_object() };
        (!fits).then(|| format!("`{name}` is {kind}"))
    })
}

fn error(id: &Json, code: i64, message: &str, data: Json) -> Json {
    let mut error = json!({"code": code, "message": message});
    if !data.is_null() {
        error["data"] = data;
    }
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}
