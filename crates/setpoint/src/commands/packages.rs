//! `setpoint packages`: makes the index of what packages install, and says what is known of one.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use setpoint_packages::{
    Collection, ConffileKnowledge, Coverage, Found, Index, IndexError, PLATFORMS, PackageFacts, Platform,
    ServiceKind, read,
};
use setpoint_project::{Session, UsageError};
use setpoint_source::FileSystem;

use crate::cli::{PackagesArgs, PackagesBuildArgs, PackagesCommand, PackagesListArgs, ResultFormat};
use crate::output;

/// Where apt and dpkg keep what they know of this machine.
const APT_LISTS: &str = "/var/lib/apt/lists";
const DPKG: &str = "/var/lib/dpkg";

pub(crate) fn run(session: &Session<'_>, args: &PackagesArgs) -> Result<ExitCode, UsageError> {
    match &args.command {
        PackagesCommand::Build(args) => build(session, args),
        PackagesCommand::List(args) => list(session, args),
    }
}

#[allow(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn failed(error: IndexError) -> UsageError {
    UsageError::new(error.to_string())
}

fn build(session: &Session<'_>, args: &PackagesBuildArgs) -> Result<ExitCode, UsageError> {
    let mut all = Collection::new();
    let mut rpm_versions = read::RpmVersions::default();
    let (mut contents, mut packages) = (args.contents.clone(), args.packages.clone());
    let mut dpkg = args.dpkg.clone();
    let mut apt = args.apt.clone();
    if args.is_of_machine() {
        if !session.files.is_dir(Path::new(APT_LISTS)) {
            let message = "there is nothing to build from: this machine has no apt; name --contents, --packages, --debs, \
                           --rpm, --listings or --dpkg";
            return Err(UsageError::new(message));
        }
        apt.push(PathBuf::from(APT_LISTS));
        dpkg.extend(session.files.is_dir(Path::new(DPKG)).then(|| PathBuf::from(DPKG)));
    }
    for folder in &apt {
        let lists = read::apt_lists(session.files, folder).map_err(failed)?;
        if lists.contents.is_empty() {
            output::note_line(&format!(
                "note: {} has no Contents index, so files are known only of what is installed; `apt-file update` fetches it",
                folder.display()
            ));
        }
        contents.extend(lists.contents);
        packages.extend(lists.packages);
    }
    for path in &contents {
        read::contents(
            &mut all,
            read::open(session.files, path).map_err(failed)?,
            &path.display().to_string(),
        )
        .map_err(failed)?;
    }
    for path in &packages {
        let origin = path.display().to_string();
        read::packages(&mut all, read::open(session.files, path).map_err(failed)?, &origin)
            .map_err(failed)?;
    }
    for path in rpm_files(session.files, &args.rpm)? {
        let origin = path.display().to_string();
        read::rpm(&mut all, &mut rpm_versions, read::open(session.files, &path).map_err(failed)?, &origin)
            .map_err(failed)?;
    }
    if !args.rpm.is_empty() {
        all.resolve_required_files();
    }
    for folder in &args.listings {
        read::listings(&mut all, session.files, folder).map_err(failed)?;
    }
    for folder in &dpkg {
        read::dpkg(&mut all, session.files, folder).map_err(failed)?;
    }
    for folder in &args.debs {
        read::debs(&mut all, session.files, folder).map_err(failed)?;
    }
    if all.is_empty() {
        return Err(UsageError::new("the sources have no package, so there is no index to write"));
    }
    let bytes = all.to_bytes();
    let size = bytes.len();
    setpoint_source::write_file(&args.output, &bytes)
        .map_err(|error| UsageError::new(format!("{}: {error}", args.output.display())))?;
    let summary = Index::from_bytes(bytes).map_err(failed)?.summary();
    output::note_line(&format!(
        "{}: {} packages, {} paths, {:.1} MB",
        args.output.display(),
        summary.packages,
        summary.paths,
        size as f64 / 1e6
    ));
    Ok(ExitCode::SUCCESS)
}

/// The files that were named, and the metadata in the folders that were named.
fn rpm_files(files: &dyn FileSystem, named: &[PathBuf]) -> Result<Vec<PathBuf>, UsageError> {
    let mut found = Vec::new();
    for path in named {
        if !files.is_dir(path) {
            found.push(path.clone());
            continue;
        }
        let folders = [path.clone(), path.join("repodata")];
        let mut inside: Vec<PathBuf> = folders
            .iter()
            .filter(|folder| files.is_dir(folder))
            .flat_map(|folder| files.list(folder).into_iter().map(|name| folder.join(name)))
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.contains("primary.xml") || name.contains("filelists.xml")
            })
            .collect();
        if inside.is_empty() {
            let message = format!(
                "{}: there is no `primary.xml` and no `filelists.xml` in it or in its folder `repodata`",
                path.display()
            );
            return Err(UsageError::new(message));
        }
        inside.sort();
        found.extend(inside);
    }
    Ok(found)
}

fn list(session: &Session<'_>, args: &PackagesListArgs) -> Result<ExitCode, UsageError> {
    let mut index = match &args.packages {
        Some(path) => Index::open(session.files, path).map_err(failed)?,
        None => Index::empty(),
    };
    let platform = match &args.platform {
        None if args.packages.is_some() => None,
        None => Platform::parse("debian-12"),
        Some(name) => Some(Platform::parse(name).ok_or_else(|| {
            let known: Vec<&str> = PLATFORMS.iter().map(|platform| platform.name()).collect();
            UsageError::new(format!("nothing is built in for `{name}`; there are {}", known.join(", ")))
        })?),
    };
    if let Some(platform) = platform {
        index = index.over(&Index::builtin(platform));
    }
    let mut found = Vec::new();
    let mut missing = false;
    for name in &args.names {
        match index.find(name).map_err(failed)? {
            Found::Package(facts) => found.push(facts),
            Found::Virtual(providers) => {
                missing = true;
                output::note_line(&format!(
                    "`{name}` is no package of its own; {} provide it",
                    providers.join(", ")
                ));
            }
            Found::Unknown => {
                missing = true;
                let place = match (&args.packages, platform) {
                    (Some(path), None) => path.display().to_string(),
                    (Some(path), Some(platform)) => {
                        format!("{} nor to the built-in index of {platform}", path.display())
                    }
                    (None, Some(platform)) => format!("the built-in index of {platform}"),
                    (None, None) => "any index".to_owned(),
                };
                let help = "`setpoint packages build` makes an index of all packages";
                output::note_line(&format!("`{name}` is not known to {place}; {help}"));
            }
        }
    }
    match args.format {
        ResultFormat::Text => {
            let texts: Result<Vec<String>, IndexError> =
                found.iter().map(|facts| describe(&index, facts)).collect();
            output::result(&texts.map_err(failed)?.join("\n"));
        }
        ResultFormat::Json => {
            let values: Result<Vec<serde_json::Value>, IndexError> =
                found.iter().map(|facts| as_json(&index, facts)).collect();
            output::result(&output::pretty(&json!({ "packages": values.map_err(failed)? })));
        }
    }
    Ok(ExitCode::from(u8::from(missing)))
}

fn describe(index: &Index, facts: &PackageFacts) -> Result<String, IndexError> {
    let needed = index.dependencies(&facts.name)?;
    let mut out = format!("package {}", facts.name);
    match facts.coverage {
        Coverage::Complete => {}
        Coverage::Trimmed => out.push_str(" (without libraries and documentation)"),
        Coverage::Partial => out.push_str(" (only its main files are known)"),
    }
    out.push('\n');
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = writeln!(out, "{title}");
            for line in lines {
                let _ = writeln!(out, "  {line}");
            }
        }
    };
    section("depends on", index.depends(&facts.name)?.iter().map(|clause| clause.join(" | ")).collect());
    if needed.packages.len() > 1 {
        section("comes with", vec![format!("{} packages in all", needed.packages.len() - 1)]);
    }
    section("provides", index.provides(&facts.name)?.iter().map(ToString::to_string).collect());
    section("conflicts with", index.excludes(&facts.name)?.iter().map(ToString::to_string).collect());
    section("replaces files of", index.replaces(&facts.name)?.iter().map(ToString::to_string).collect());
    section(
        "users",
        facts
            .users
            .iter()
            .map(|user| {
                let mut line = user.name.to_string();
                if let Some(group) = &user.group {
                    let _ = write!(line, ", group {group}");
                }
                if let Some(home) = &user.home {
                    let _ = write!(line, ", home {home}");
                }
                line
            })
            .collect(),
    );
    section("groups", facts.groups.iter().map(|group| group.name.to_string()).collect());
    section(
        "services",
        facts.services.iter().map(|service| format!("{} ({})", service.name, service.path)).collect(),
    );
    section(
        "created by its scripts",
        facts
            .generated_directories
            .iter()
            .map(|path| format!("{path}/"))
            .chain(facts.generated.iter().map(ToString::to_string))
            .collect(),
    );
    section("perhaps created by its scripts", facts.conditional.iter().map(ToString::to_string).collect());
    section("empty directories", facts.empty_directories().map(|path| format!("{path}/")).collect());
    let mark = match facts.conffile_knowledge {
        ConffileKnowledge::Recorded => "  (conffile)",
        _ => "  (conffile, presumed)",
    };
    section(
        "files",
        facts
            .files
            .iter()
            .map(|path| if facts.is_conffile(path) { format!("{path}{mark}") } else { path.to_string() })
            .collect(),
    );
    Ok(out)
}

fn as_json(index: &Index, facts: &PackageFacts) -> Result<serde_json::Value, IndexError> {
    let needed = index.dependencies(&facts.name)?;
    Ok(json!({
        "name": facts.name,
        "coverage": match facts.coverage {
            Coverage::Complete => "complete",
            Coverage::Trimmed => "trimmed",
            Coverage::Partial => "partial",
        },
        "depends": index.depends(&facts.name)?,
        "recommends": index.recommends(&facts.name)?,
        "provides": index.provides(&facts.name)?,
        "conflicts": index.excludes(&facts.name)?,
        "replaces": index.replaces(&facts.name)?,
        "installs": needed.packages,
        "unknown_dependencies": needed.unknown,
        "users": facts.users.iter().map(|user| json!({
            "name": user.name, "group": user.group, "home": user.home,
        })).collect::<Vec<_>>(),
        "groups": facts.groups.iter().map(|group| &group.name).collect::<Vec<_>>(),
        "services": facts.services.iter().map(|service| json!({
            "name": service.name,
            "kind": match service.kind { ServiceKind::Systemd => "systemd", ServiceKind::Init => "init" },
            "path": service.path,
        })).collect::<Vec<_>>(),
        "generated": facts.generated,
        "generated_directories": facts.generated_directories,
        "conditional": facts.conditional,
        "conffiles": facts.conffiles,
        "conffiles_known": match facts.conffile_knowledge {
            ConffileKnowledge::Recorded => "recorded",
            ConffileKnowledge::Presumed => "presumed",
            ConffileKnowledge::None => "none",
        },
        "directories": facts.directories,
        "lists_empty_directories": facts.lists_empty_directories,
        "files": facts.files,
    }))
}
