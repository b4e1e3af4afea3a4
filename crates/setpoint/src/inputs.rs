//! What a call may read: the inputs that it names, the projects that these are a part of, and what `--allow-read` adds.

use std::path::{Path, PathBuf};

use setpoint_source::{Bounds, FileSystem, MAX_FILE_BYTES, MemoryFileSystem, OverlayFileSystem};

use crate::cli::{Cli, Command, InputOptions, PackagesCommand};

/// The folder that a call is about that names none.
const HERE: &str = ".";
/// It is read without being named.
const BASELINE: &str = crate::known::BASELINE;

/// The name of standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

/// The files of the machine with standard input as a file of the name `-`; nothing if the command does not name it.
pub(crate) fn with_standard_input<'a>(
    command: &Command,
    base: &'a dyn FileSystem,
) -> Result<Option<OverlayFileSystem<'a>>, String> {
    use std::io::Read;
    let (inputs, ..) = parts(command);
    if !inputs.iter().any(|input| input.as_os_str() == STANDARD_INPUT) {
        return Ok(None);
    }
    let mut text = Vec::new();
    let limit = MAX_FILE_BYTES.get() as u64 + 1;
    let read = std::io::stdin().lock().take(limit).read_to_end(&mut text);
    read.map_err(|error| format!("cannot read standard input: {error}"))?;
    if text.len() as u64 >= limit {
        return Err(format!("standard input is longer than {MAX_FILE_BYTES} bytes"));
    }
    let mut over = MemoryFileSystem::new();
    over.add(STANDARD_INPUT, text);
    Ok(Some(OverlayFileSystem { over, base }))
}

/// The bounds of a call.
pub(crate) fn bounds(cli: &Cli) -> Bounds {
    let bounds = Bounds::nowhere();
    // In this order: a folder of modules that lies in a project is a part of it.
    let (inputs, options, others) = parts(&cli.command);
    for input in &inputs {
        bounds.allow_project_of(input);
    }
    for path in options.iter().flat_map(|options| projects_of(options)) {
        bounds.allow_project_of(path);
    }
    for path in
        others.iter().map(PathBuf::as_path).chain(options.iter().flat_map(|options| files_of(options)))
    {
        bounds.allow(path);
    }
    let modulepath = options.and_then(|options| options.puppet.modulepath.as_deref()).unwrap_or_default();
    let modules = modulepath.split(':').filter(|part| !part.is_empty()).map(Path::new);
    let old_modules = match &cli.command {
        Command::Diff(args) => args.old_modulepath.as_deref(),
        _ => None,
    };
    for folder in modules.chain(old_modules) {
        bounds.allow_modules(folder);
    }
    let classpath = options.and_then(|options| options.classpath.as_deref()).unwrap_or_default();
    for entry in classpath.split(':').filter(|part| !part.is_empty()) {
        bounds.allow(Path::new(entry));
    }
    for path in &cli.allow_read {
        bounds.allow_besides(path);
    }
    bounds
}

/// The inputs of a command, its options, and other files that it names.
fn parts(command: &Command) -> (Vec<PathBuf>, Option<&InputOptions>, Vec<PathBuf>) {
    let or_here = |input: &Option<PathBuf>, options: &InputOptions| match (input, &options.puppet.environment)
    {
        (Some(input), _) => vec![input.clone()],
        (None, Some(_)) => Vec::new(),
        (None, None) => vec![PathBuf::from(HERE)],
    };
    match command {
        Command::Check(args) => {
            let inputs = match args.inputs.as_slice() {
                [] => or_here(&None, &args.options),
                inputs => inputs.to_vec(),
            };
            let baseline = args.baseline.baseline.clone().unwrap_or_else(|| BASELINE.into());
            (inputs, Some(&args.options), vec![baseline])
        }
        Command::Report(args) => (args.inputs.clone(), Some(&args.options), vec![BASELINE.into()]),
        Command::Compile(args) => (or_here(&args.input, &args.options), Some(&args.options), Vec::new()),
        Command::Why(args) => (vec![args.input.clone()], Some(&args.options), Vec::new()),
        Command::Impact(args) => (vec![args.input()], Some(&args.options), Vec::new()),
        Command::Diff(args) => {
            let named: Vec<PathBuf> = args.new.iter().chain([&args.old]).map(PathBuf::from).collect();
            // What is no path is a revision of the repository around this folder.
            let are_paths = named.len() == 2 && named.iter().all(|path| path.exists());
            let here = (!are_paths).then(|| PathBuf::from(HERE));
            (
                named.into_iter().filter(|path| path.exists()).chain(here).collect(),
                Some(&args.options),
                Vec::new(),
            )
        }
        Command::Parity(args) => {
            let others = args.facts_dir.iter().chain([&args.catalogs]).cloned().collect();
            (or_here(&args.input, &args.options), Some(&args.options), others)
        }
        Command::Parse(args) => (args.inputs.clone(), Some(&args.options), Vec::new()),
        Command::Graph(args) => (vec![args.input.clone()], Some(&args.options), Vec::new()),
        Command::Fleet(args) => (vec![args.input.clone()], Some(&args.options), Vec::new()),
        Command::Simulate(args) => {
            (args.new.iter().chain([&args.input]).cloned().collect(), Some(&args.options), Vec::new())
        }
        Command::Prove(args) => (vec![args.input.clone()], Some(&args.options), Vec::new()),
        Command::Fmt(args) => (args.inputs.clone(), Some(&args.options), Vec::new()),
        Command::Fix(args) => (args.inputs.clone(), Some(&args.options), Vec::new()),
        Command::Migrate(args) => (or_here(&args.input, &args.options), Some(&args.options), Vec::new()),
        Command::Lookup(args) => (or_here(&None, &args.options), Some(&args.options), Vec::new()),
        // Both are told their inputs later.
        Command::Lsp(args) => (Vec::new(), Some(&args.options), Vec::new()),
        Command::Init(args) => (Vec::new(), None, vec![args.folder.clone()]),
        Command::Serve | Command::Explain(_) | Command::Completions(_) | Command::Man(_) => {
            (Vec::new(), None, Vec::new())
        }
        Command::Packages(args) => match &args.command {
            PackagesCommand::Build(args) => {
                // A folder `var/lib/dpkg` speaks of the files of the machine that it lies in.
                let machines = args.dpkg.iter().filter(|folder| folder.ends_with("var/lib/dpkg"));
                let machines = machines.filter_map(|folder| folder.ancestors().nth(3)).map(Path::to_owned);
                let folders = args.listings.iter().chain(&args.dpkg).chain(&args.debs);
                let files = args.contents.iter().chain(&args.packages).chain(&args.rpm).chain(&args.apt);
                let named = folders.chain(files).cloned().chain(machines);
                (
                    Vec::new(),
                    None,
                    named.chain(Some(PathBuf::from("/")).filter(|_| args.is_of_machine())).collect(),
                )
            }
            PackagesCommand::List(args) => (Vec::new(), None, args.packages.iter().cloned().collect()),
        },
    }
}

/// Files and folders whose surroundings belong to them.
fn projects_of(options: &InputOptions) -> impl Iterator<Item = &Path> {
    let puppet = &options.puppet;
    [&puppet.environment, &puppet.hiera, &options.config].into_iter().flatten().map(PathBuf::as_path)
}

/// Files and folders that stand for themselves.
fn files_of(options: &InputOptions) -> impl Iterator<Item = &Path> {
    let puppet = &options.puppet;
    let named = [&puppet.trusted, &puppet.enc, &puppet.nodes, &options.packages].into_iter().flatten();
    let parameters =
        options.parameters.iter().map(|named| named.split_once('=').map_or(named.as_str(), |(_, file)| file));
    named
        .chain(&puppet.facts)
        .chain(&options.template_root)
        .map(PathBuf::as_path)
        .chain(parameters.map(Path::new))
}
