//! `setpoint report`: what `check` finds, as one HTML page.

use std::path::PathBuf;
use std::process::ExitCode;

use setpoint_project::{Session, UsageError};
use setpoint_report::About;

use super::check;
use crate::cli::{BaselineOptions, InputOptions, PuppetOptions, ReportArgs};
use crate::{known, output};

pub(crate) fn run(mut session: Session<'_>, args: &ReportArgs) -> Result<ExitCode, UsageError> {
    session.drawn = Some(setpoint_report::MAX_NODES);
    let taken = check::named(&session, &args.inputs, &args.options)?;
    let (mut report, is_usable) = check::checked(&mut session, &taken, &args.options, true)?;
    known::silence(&session, &mut report, &BaselineOptions::default(), known::Extent::All)?;
    let about = About {
        version: output::VERSION.to_owned(),
        inputs: taken.inputs.iter().map(|path| path.display().to_string()).collect(),
        options: given(&args.options),
        date: args.date.clone(),
    };
    let page = setpoint_report::html(&report, &session.sources, &about).map_err(UsageError::new)?;
    match &args.output {
        None => output::result(&page),
        Some(path) => setpoint_source::write_file(path, output::shown(&page, false).as_bytes())
            .map_err(|error| UsageError::new(format!("cannot write {}: {error}", path.display())))?,
    }
    let status = u8::from(args.fail_on.is_reached(&report));
    Ok(ExitCode::from(if is_usable { status } else { output::WRONG_CALL }))
}

/// The options that count for what was found, as they were given.
fn given(options: &InputOptions) -> Vec<(String, String)> {
    let InputOptions {
        kind,
        semantics,
        properties,
        env,
        classpath,
        profiles,
        parameters,
        template_root,
        packages,
        any_start,
        timeout,
        invariants,
        enabled,
        include_modules,
        config,
        puppet,
    } = options;
    let PuppetOptions {
        node,
        facts,
        platform,
        environment,
        modulepath,
        hiera,
        trusted,
        enc,
        nodes,
        case,
        strict_variables,
        puppet,
        // It changes no finding.
        no_provenance: _,
    } = puppet;
    let mut out: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        out.extend(value.map(|value| (format!("--{name}"), value)));
    };
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    add("kind", kind.clone());
    add("semantics", semantics.clone());
    for property in properties {
        // The value of a property may be a secret; its name is none.
        add("property", property.split('=').next().map(str::to_owned));
    }
    for folder in profiles {
        add("profile-path", Some(folder.display().to_string()));
    }
    for file in parameters {
        add("parameters", Some(file.clone()));
    }
    add("template-root", path(template_root));
    add("env", env.then(String::new));
    add("classpath", classpath.clone());
    add("packages", path(packages));
    add("any-start", any_start.then(String::new));
    add("timeout", timeout.map(|seconds| seconds.to_string()));
    for invariant in invariants {
        add("invariant", Some(invariant.clone()));
    }
    for rule in enabled {
        add("enable", Some(rule.clone()));
    }
    add("include-modules", include_modules.then(String::new));
    add("config", path(config));
    add("node", node.clone());
    for file in facts {
        add("facts", Some(file.display().to_string()));
    }
    add("platform", platform.clone());
    add("environment", path(environment));
    add("modulepath", modulepath.clone());
    add("hiera", path(hiera));
    add("trusted", path(trusted));
    add("enc", path(enc));
    add("nodes", path(nodes));
    add("case", case.clone());
    add("strict-variables", strict_variables.then(String::new));
    add("puppet", puppet.clone());
    out
}
