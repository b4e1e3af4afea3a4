//! The arguments of every command.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use setpoint_project::{OPTIONAL_RULES, Options};
use setpoint_source::print::Detail;
use setpoint_source::{InputReport, MAX_TIMES, Report, Severity};

use crate::paths;

/// Proves that infrastructure code reaches its set point, and says where every value came from.
#[derive(Debug, Parser)]
#[command(name = "setpoint", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// A file or folder that inputs may read though it lies outside of them; may be given several times
    #[arg(long, global = true, value_name = "DIR", value_parser = paths::present, help_heading = "Input")]
    pub(crate) allow_read: Vec<PathBuf>,
    /// Multiply every limit of size, depth and work by this number, at most 16
    #[arg(long, global = true, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_TIMES)), default_value_t = 1, hide_default_value = true, help_heading = "Input")]
    pub(crate) raise_limits: u32,
    /// When to colour: on a terminal, `always` or `never`
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto, help_heading = "Output")]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compile the inputs and run every analysis that fits them
    Check(CheckArgs),
    /// Check, and write what was found as one HTML page that needs nothing else
    Report(ReportArgs),
    /// Print the compiled result: a Puppet catalog, a SmartFrog tree
    Compile(CompileArgs),
    /// Say where a value came from, or why a resource is there
    Why(WhyArgs),
    /// Say what depends on a line
    Impact(ImpactArgs),
    /// Compare two inputs as they are compiled
    Diff(DiffArgs),
    /// Compile every node of which a Puppet server's catalog is given, and say where the two differ and why
    Parity(ParityArgs),
    /// Only parse, and report
    Parse(ParseArgs),
    /// Print the resource or dependency graph
    Graph(GraphArgs),
    /// Compile and check many nodes at once
    Fleet(FleetArgs),
    /// Run an orchestration, step by step
    Simulate(SimulateArgs),
    /// Prove a rule set for any number of objects
    Prove(ProveArgs),
    /// Print files in the one layout of their language
    Fmt(FmtArgs),
    /// Print the smallest change that mends what was found, as a patch
    Fix(FixArgs),
    /// Say what Puppet 8 or 9 changes, and rewrite what has the same meaning there
    Migrate(MigrateArgs),
    /// What packages install: make an index, or look a package up
    Packages(PackagesArgs),
    /// Find a key in the Hiera data of a node, and show the search
    Lookup(LookupArgs),
    /// Serve an editor, by the language server protocol on standard input and output
    Lsp(LspArgs),
    /// Compile catalogs on request, by JSON-RPC on standard input and output
    Serve,
    /// Say what a rule means
    Explain(ExplainArgs),
    /// Write a setpoint.toml to begin with: every setting, commented out
    Init(InitArgs),
    /// Print a shell's completions
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for each command
    Man(ManArgs),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The folder of the new file
    #[arg(value_name = "DIR", default_value = ".", value_parser = paths::folder)]
    pub(crate) folder: PathBuf,
    /// Write it anew if it is there
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// `bash`, `elvish`, `fish`, `powershell` or `zsh`
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// A folder for the pages of all commands
    #[arg(short, long, value_name = "DIR", value_parser = paths::folder)]
    pub(crate) output: Option<PathBuf>,
}

/// What an input is, and what its compilation needs.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct InputOptions {
    /// Take the input for this kind, whatever its name
    #[arg(long, value_name = "KIND", help_heading = "Input")]
    pub(crate) kind: Option<String>,
    /// Which semantics to use: `puppet` or `paper` (one error ends a run) for catalogs; `core`, `forward` or `production`
    /// for SmartFrog (`production` is the default with `--classpath`), and `all` to compile it in each and compare
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub(crate) semantics: Option<String>,
    /// A property that the input may read (SmartFrog)
    #[arg(long = "property", value_name = "KEY=VALUE", help_heading = "Input")]
    pub(crate) properties: Vec<String>,
    /// Let the input read environment variables (SmartFrog)
    #[arg(long, help_heading = "Input")]
    pub(crate) env: bool,
    /// Folders, jar and zip archives, separated by `:`, below which every `#include` is looked for (SmartFrog)
    #[arg(long, value_name = "DIR[:DIR]", help_heading = "Input", value_parser = paths::classpath)]
    pub(crate) classpath: Option<String>,
    /// A folder with profiles that files import by name; may be given several times (TOSCA)
    #[arg(long = "profile-path", value_name = "FOLDER", help_heading = "Input", value_parser = paths::folder)]
    pub(crate) profiles: Vec<PathBuf>,
    /// Values of the parameters, as the AWS command line or CodePipeline take them; `TEMPLATE=FILE` is for one of several
    /// templates (CloudFormation)
    #[arg(long, value_name = "[TEMPLATE=]FILE", help_heading = "Input")]
    pub(crate) parameters: Vec<String>,
    /// The folder that is uploaded to a bucket: nested stacks that name an address in the bucket are read from it
    /// (CloudFormation)
    #[arg(long, value_name = "FOLDER", help_heading = "Input", value_parser = paths::folder)]
    pub(crate) template_root: Option<PathBuf>,
    /// What packages install, as `setpoint packages build` writes it; it comes before what is built in
    #[arg(long, value_name = "FILE", help_heading = "Input", value_parser = paths::file)]
    pub(crate) packages: Option<PathBuf>,
    /// Assume nothing of a machine at the start but that its files form a tree (Puppet)
    #[arg(long, help_heading = "Input")]
    pub(crate) any_start: bool,
    /// What is not decided about a catalog after the work of so many seconds is `unknown`; no clock is read (Puppet)
    #[arg(long, value_name = "SECONDS", default_value = "60", help_heading = "Input")]
    pub(crate) timeout: Option<u64>,
    /// What must hold after every run without failure, as `service('nginx').running`; docs/configuration.md has the language
    /// (Puppet)
    #[arg(long = "invariant", value_name = "SENTENCE", help_heading = "Input")]
    pub(crate) invariants: Vec<String>,
    /// Look also for what is off unless asked for (Puppet)
    #[arg(long = "enable", value_name = "RULE", help_heading = "Input", value_parser = OPTIONAL_RULES)]
    pub(crate) enabled: Vec<String>,
    /// List also what lies in installed modules (Puppet)
    #[arg(long, help_heading = "Input")]
    pub(crate) include_modules: bool,
    /// The configuration, instead of the nearest setpoint.toml at or above the input
    #[arg(long, value_name = "FILE", help_heading = "Input", value_parser = paths::file)]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) puppet: PuppetOptions,
}

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Puppet")]
pub(crate) struct PuppetOptions {
    /// The name of the node to compile for
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) node: Option<String>,
    /// Facts, as `facter --json` or `puppet facts` print them, JSON or YAML, laid over those of `--platform`; of several
    /// files the last counts; a folder has one file a node
    #[arg(long, value_name = "FILE", value_parser = paths::file_or_folder_of_files)]
    pub(crate) facts: Vec<PathBuf>,
    /// The facts of a platform, such as debian-12, ubuntu-24.04, rhel-9 or windows-2022
    #[arg(long, value_name = "NAME")]
    pub(crate) platform: Option<String>,
    /// The environment: its environment.conf, manifests, modules, hiera.yaml and data
    #[arg(long, value_name = "DIR", value_parser = paths::folder)]
    pub(crate) environment: Option<PathBuf>,
    /// Folders of modules, separated by `:`; in an environment they come after its own, or stand for `$basemodulepath`
    #[arg(long, value_name = "A:B", value_parser = paths::folders)]
    pub(crate) modulepath: Option<String>,
    /// The global `hiera.yaml`, above the data of the environment and of modules
    #[arg(long, value_name = "FILE", value_parser = paths::file)]
    pub(crate) hiera: Option<PathBuf>,
    /// Trusted facts, or the extensions of the certificate, such as `pp_role: web`; a folder has one file a node
    #[arg(long, value_name = "FILE", value_parser = paths::file_or_folder_of_files)]
    pub(crate) trusted: Option<PathBuf>,
    /// What an external node classifier printed: classes, parameters, environment; a folder has one file a node. Another
    /// environment is looked for beside the one that is checked
    #[arg(long, value_name = "FILE", value_parser = paths::file_or_folder_of_files)]
    pub(crate) enc: Option<PathBuf>,
    /// The nodes to compile for: a name a line, and a platform after it if wanted; or YAML or JSON
    #[arg(long, value_name = "FILE", conflicts_with = "node", value_parser = paths::file)]
    pub(crate) nodes: Option<PathBuf>,
    /// Only this case of setpoint.toml, example or class of a module
    #[arg(long, value_name = "NAME")]
    pub(crate) case: Option<String>,
    /// Unknown variables are errors
    #[arg(long)]
    pub(crate) strict_variables: bool,
    /// The version whose rules count: 7, 8, which is the default, or 9
    #[arg(long, value_name = "VERSION", value_parser = ["7", "8", "9"])]
    pub(crate) puppet: Option<String>,
    /// Do not record where values come from: a little faster, and `why` has no answer
    #[arg(long)]
    pub(crate) no_provenance: bool,
}

impl InputOptions {
    /// The options of a Puppet project.
    pub(crate) fn for_project(&self) -> Options {
        let puppet = self.puppet.clone();
        Options {
            semantics: self.semantics.clone(),
            packages: self.packages.clone(),
            any_start: self.any_start,
            timeout: self.timeout,
            invariants: self.invariants.clone(),
            enabled: self.enabled.clone(),
            include_modules: self.include_modules,
            config: self.config.clone(),
            puppet: setpoint_project::PuppetOptions {
                node: puppet.node,
                facts: puppet.facts,
                platform: puppet.platform,
                environment: puppet.environment,
                modulepath: puppet.modulepath,
                hiera: puppet.hiera,
                trusted: puppet.trusted,
                enc: puppet.enc,
                nodes: puppet.nodes,
                case: puppet.case,
                strict_variables: puppet.strict_variables,
                puppet: puppet.puppet,
                no_provenance: puppet.no_provenance,
                record_reads: false,
            },
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Files or folders, `-` for standard input; without any, the folder of `--environment`, else the repository or module
    /// around this folder
    #[arg(value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// How many threads work at once; without it, as many as the machine can run
    #[arg(short = 'j', long = "jobs", value_name = "NUMBER")]
    pub(crate) jobs: Option<usize>,
    #[command(flatten)]
    pub(crate) options: InputOptions,
    #[command(flatten)]
    pub(crate) baseline: BaselineOptions,
    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

/// Which findings are known.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct BaselineOptions {
    /// The findings that are known, and not reported; without it, `setpoint-baseline.json` of the current folder
    #[arg(long, value_name = "FILE", help_heading = "Baseline")]
    pub(crate) baseline: Option<PathBuf>,
    /// Remove from the baseline what no longer occurs
    #[arg(long, help_heading = "Baseline")]
    pub(crate) write_baseline: bool,
    /// With `--write-baseline`: add what is reported, too
    #[arg(long, requires = "write_baseline", help_heading = "Baseline")]
    pub(crate) add: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Files or folders; without any, the folder of `--environment`
    #[arg(required_unless_present = "environment", value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// The file to write; without it, the page goes to standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// A date to print on the page, in any words; without it there is none, and the same input makes the same page
    #[arg(long, value_name = "TEXT")]
    pub(crate) date: Option<String>,
    /// How many threads work at once; without it, as many as the machine can run
    #[arg(short = 'j', long = "jobs", value_name = "NUMBER")]
    pub(crate) jobs: Option<usize>,
    /// Exit with 1 if there is a finding at or above this severity
    #[arg(long, value_enum, default_value_t = FailOn::Error)]
    pub(crate) fail_on: FailOn,
    #[command(flatten)]
    pub(crate) options: InputOptions,
}

#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    /// A control repository, a module or a manifest; without it, the folder of `--environment`, else the current folder
    #[arg(value_name = "INPUT")]
    pub(crate) input: Option<PathBuf>,
    /// The version of Puppet to move to
    #[arg(long, value_name = "VERSION", value_parser = ["8", "9"], default_value = "8")]
    pub(crate) to: String,
    /// Apply the rewrites that are proved, or the same by their form
    #[arg(long)]
    pub(crate) write: bool,
    /// Look also at `hiera`, `hiera_array`, `hiera_hash` and `hiera_include`, which still work
    #[arg(long)]
    pub(crate) hiera_functions: bool,
    /// `text`, `json` or `patch`
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = ["text", "json", "patch"])]
    pub(crate) format: String,
    /// How many threads work at once; without it, as many as the machine can run
    #[arg(short = 'j', long = "jobs", value_name = "NUMBER")]
    pub(crate) jobs: Option<usize>,
    #[command(flatten)]
    pub(crate) options: InputOptions,
}

#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    /// A control repository, or a manifest with `--nodes`
    #[arg(value_name = "DIR")]
    pub(crate) input: PathBuf,
    /// How many threads work at once; without it, as many as the machine can run
    #[arg(short = 'j', long = "jobs", value_name = "NUMBER")]
    pub(crate) jobs: Option<usize>,
    /// Only one part of the nodes: `2/5` is the second of five
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// Only compile the nodes, and prove nothing about them
    #[arg(long)]
    pub(crate) compile_only: bool,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = ResultFormat::Text)]
    pub(crate) format: ResultFormat,
    /// Exit with 1 if there is a finding at or above this severity
    #[arg(long, value_enum, default_value_t = FailOn::Error)]
    pub(crate) fail_on: FailOn,
    #[command(flatten)]
    pub(crate) options: InputOptions,
}

/// How findings are printed and when they fail the call.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReportOptions {
    /// How findings are printed
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    /// Exit with 1 if there is a finding at or above this severity
    #[arg(long, value_enum, default_value_t = FailOn::Error)]
    pub(crate) fail_on: FailOn,
    /// Print errors and warnings alone
    #[arg(short, long, conflicts_with = "verbose", help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Print every node, reason and finding in full
    #[arg(short, long, help_heading = "Output")]
    pub(crate) verbose: bool,
    /// Print how often each rule is broken, instead of the findings
    #[arg(long, help_heading = "Output")]
    pub(crate) statistics: bool,
}

impl ReportOptions {
    /// How much is told.
    pub(crate) fn detail(&self) -> Detail {
        match (self.quiet, self.verbose) {
            (true, _) => Detail::Quiet,
            (false, true) => Detail::Full,
            (false, false) => Detail::Plain,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Text,
    /// A line a finding
    Concise,
    Json,
    Sarif,
    /// Annotations of GitHub
    Github,
    /// GitLab's code quality report
    Gitlab,
    Junit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Error,
    Warning,
    Note,
    /// An error, or a question without an answer
    Unknown,
    Never,
}

impl FailOn {
    /// Whether what was found fails the call.
    pub(crate) fn is_reached(self, report: &Report) -> bool {
        let least = match self {
            Self::Error | Self::Unknown => Severity::Error,
            Self::Warning => Severity::Warning,
            Self::Note => Severity::Note,
            Self::Never => return false,
        };
        let is_open = |input: &InputReport| input.verdict().iter().any(|(_, answer)| answer.is_unknown());
        report.findings().any(|finding| finding.severity >= least)
            || (self == Self::Unknown && report.inputs.iter().any(is_open))
    }
}

#[derive(Debug, Args)]
pub(crate) struct CompileArgs {
    /// A file or folder; without it, the folder of `--environment`
    #[arg(required_unless_present = "environment", value_name = "INPUT")]
    pub(crate) input: Option<PathBuf>,
    /// `json`, the default, `pp`, or `functions`, how functions of modules were run, for Puppet; `json`, `yaml` or `sf` for
    /// SmartFrog; `text`, `json` or `html` for a trace
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Print every step of the evaluation, with the rule or definition that it follows and what it changes
    #[arg(long)]
    pub(crate) trace: bool,
    /// Put asterisks for secrets
    #[arg(long)]
    pub(crate) redact: bool,
    #[command(flatten)]
    pub(crate) options: InputOptions,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    #[arg(value_name = "INPUT")]
    pub(crate) input: PathBuf,
    /// The value: `File[/etc/motd].content`, `Class[Ntp].servers[0]`, `Service[ntp]`, `Package[a] -> File[b]`, or
    /// `s2:web:running` for SmartFrog
    #[arg(value_name = "VALUE")]
    pub(crate) target: Option<String>,
    /// Only the place that the value was copied from
    #[arg(long = "where", group = "form")]
    pub(crate) origin: bool,
    /// The operations that made the value
    #[arg(long, group = "form")]
    pub(crate) expression: bool,
    /// Every input that could change the value
    #[arg(long, group = "form")]
    pub(crate) depends: bool,
    /// What kept a resource or a value out that is not there
    #[arg(long, group = "form")]
    pub(crate) why_not: bool,
    /// Name the commit that changed each line last, as `git blame` knows it
    #[arg(long)]
    pub(crate) blame: bool,
    /// `text`, `json` or `dot`
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = ["text", "json", "dot"])]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) options: InputOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ImpactArgs {
    /// A line of a manifest, a template or a data file; before it, the input, which is the current folder if none is named
    #[arg(value_name = "[INPUT] FILE:LINE", required = true, num_args = 1..=2)]
    named: Vec<String>,
    /// List also what the line could have reached, had something else stood there
    #[arg(long)]
    pub(crate) all: bool,
    /// `text` or `json`
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = ["text", "json"])]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) options: InputOptions,
}

fn is_specification(file: &str) -> bool {
    std::path::Path::new(file).extension().is_some_and(|ending| ending == "sf")
}

impl ImpactArgs {
    pub(crate) fn input(&self) -> PathBuf {
        match self.named.as_slice() {
            [input, _] => PathBuf::from(input),
            // A specification is an input of its own.
            [line] if line.rsplit_once(':').is_some_and(|(file, _)| is_specification(file)) => {
                PathBuf::from(line.rsplit_once(':').map_or("", |(file, _)| file))
            }
            _ => PathBuf::from("."),
        }
    }

    pub(crate) fn line(&self) -> &str {
        self.named.last().map_or("", String::as_str)
    }
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// A file or folder, or a git revision, whose merge base with what is checked out counts: `origin/main`, `v1.2:site.pp`; or
    /// `A...B`
    #[arg(value_name = "OLD")]
    pub(crate) old: String,
    /// Likewise; without it, what is checked out is compared with the revision OLD
    #[arg(value_name = "NEW")]
    pub(crate) new: Option<String>,
    /// Compare with OLD itself, and not with its merge base
    #[arg(long)]
    pub(crate) direct: bool,
    /// The modules of the old version that git does not keep, one folder a module
    #[arg(long, value_name = "DIR", value_parser = paths::folder)]
    pub(crate) old_modulepath: Option<PathBuf>,
    /// How the result is printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = DiffFormat::Text)]
    pub(crate) format: DiffFormat,
    /// Write the result also in another format: `markdown=comment.md`
    #[arg(short, long, value_name = "FORMAT=FILE", value_parser = parse_output)]
    pub(crate) output: Vec<(DiffFormat, PathBuf)>,
    /// Tell what the next run does on every node that changes; `full` tells it step by step
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "short")]
    pub(crate) next_run: Option<NextRunHow>,
    /// Exit with 1 if the change does this
    #[arg(long, value_enum, value_delimiter = ',', default_value = "error")]
    pub(crate) fail_on: Vec<DiffFailOn>,
    /// Exit with 2 if something changes and nothing fails, and with 64 for a wrong call
    #[arg(long)]
    pub(crate) detailed_exitcodes: bool,
    /// The name in the first line of a comment, by which it is found again; without it, that of the repository
    #[arg(long, value_name = "NAME")]
    pub(crate) marker: Option<String>,
    /// Where the whole report is, for a link at the end of a comment
    #[arg(long, value_name = "URL")]
    pub(crate) report_url: Option<String>,
    /// How many threads work at once; without it, as many as the machine can run
    #[arg(short = 'j', long = "jobs", value_name = "NUMBER")]
    pub(crate) jobs: Option<usize>,
    #[command(flatten)]
    pub(crate) options: InputOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    Text,
    /// A comment on a pull request of GitHub, and its step summary
    Markdown,
    Json,
    /// Annotations of GitHub, ten at most
    Github,
    /// A note on a merge request of GitLab
    Gitlab,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFailOn {
    /// A new error, or a node that no longer works; it counts unless `never` is said
    Error,
    /// A new finding of any severity
    Finding,
    /// A catalog or the contents of a file change
    Change,
    /// The next run restarts or reloads a service
    Restart,
    /// A node or a module that was not compared
    Unknown,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NextRunHow {
    Short,
    Full,
}

fn parse_output(text: &str) -> Result<(DiffFormat, PathBuf), String> {
    let (format, path) = text.split_once('=').ok_or("write FORMAT=FILE")?;
    Ok((DiffFormat::from_str(format, false)?, PathBuf::from(path)))
}

#[derive(Debug, Args)]
pub(crate) struct ParityArgs {
    /// A control repository, or a manifest; without it, the current folder
    #[arg(value_name = "INPUT")]
    pub(crate) input: Option<PathBuf>,
    /// The server's catalogs: its answers, the agents' caches, or what PuppetDB exports; facts may lie beside them
    #[arg(long, value_name = "DIR")]
    pub(crate) catalogs: PathBuf,
    /// Facts of the nodes, one file a node; else they are looked for beside the catalogs, then in the repository
    #[arg(long, value_name = "DIR")]
    pub(crate) facts_dir: Option<PathBuf>,
    /// How many threads work at once; without it, as many as the machine can run
    #[arg(short = 'j', long = "jobs", value_name = "NUMBER")]
    pub(crate) jobs: Option<usize>,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = ResultFormat::Text)]
    pub(crate) format: ResultFormat,
    #[command(flatten)]
    pub(crate) options: InputOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ParseArgs {
    #[arg(required = true, value_name = "FILE")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) options: InputOptions,
    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    #[arg(value_name = "INPUT")]
    pub(crate) input: PathBuf,
    /// `dot`, `svg` or `json`
    #[arg(long, value_name = "FORMAT", default_value = "dot", value_parser = ["dot", "svg", "json"])]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) options: InputOptions,
}

#[derive(Debug, Args)]
pub(crate) struct FixArgs {
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Change the files instead of printing a patch
    #[arg(long)]
    pub(crate) write: bool,
    #[command(flatten)]
    pub(crate) options: InputOptions,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    #[arg(value_name = "INPUT")]
    pub(crate) input: PathBuf,
    /// A newer version of the input: what the next run does on a machine that the first has been applied to (Puppet)
    #[arg(value_name = "NEW", conflicts_with_all = ["all", "random", "instance"])]
    pub(crate) new: Option<PathBuf>,
    /// Every run instead of one: how many states there are, and where they end
    #[arg(long, conflicts_with = "random")]
    pub(crate) all: bool,
    /// Draw each step from the enabled ones; the same seed gives the same run
    #[arg(long, value_name = "SEED")]
    pub(crate) random: Option<u64>,
    /// The instance of a rule file, if it has several
    #[arg(long, value_name = "NAME")]
    pub(crate) instance: Option<String>,
    /// The rules that a topology runs by: a rule file, or a built-in set such as `setpoint:tosca-undeploy`
    #[arg(long, value_name = "RULES", conflicts_with = "new")]
    pub(crate) rules: Option<PathBuf>,
    /// States that `--all` visits at most
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000_000)]
    pub(crate) limit: usize,
    /// How the run is printed; `markdown` is for two versions
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    pub(crate) format: RunFormat,
    #[command(flatten)]
    pub(crate) options: InputOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ProveArgs {
    /// A rule file, or a topology: the rules that its types bring, all together
    #[arg(value_name = "MODEL")]
    pub(crate) input: PathBuf,
    /// Write the obligations of the proof as SMT-LIB, for any solver to confirm
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,
    /// How the proof is printed
    #[arg(long, value_enum, default_value_t = ResultFormat::Text)]
    pub(crate) format: ResultFormat,
    #[command(flatten)]
    pub(crate) options: InputOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunFormat {
    Text,
    Json,
    Markdown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultFormat {
    Text,
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct FmtArgs {
    #[arg(required = true, value_name = "FILE")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Write the files instead of printing them
    #[arg(long, conflicts_with = "check")]
    pub(crate) write: bool,
    /// Print nothing; exit with 1 if a file has another layout
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) options: InputOptions,
}

#[derive(Debug, Args)]
pub(crate) struct PackagesArgs {
    #[command(subcommand)]
    pub(crate) command: PackagesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PackagesCommand {
    /// Make one compact index for `check --packages`; from apt's and dpkg's own files if nothing is named
    Build(PackagesBuildArgs),
    /// Print what is known of a package
    List(PackagesListArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PackagesBuildArgs {
    /// A folder of plain listings: a file is named as its package and has a path a line
    #[arg(long, value_name = "DIR")]
    pub(crate) listings: Vec<PathBuf>,
    /// Contents indexes of Debian or Ubuntu, compressed or not
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) contents: Vec<PathBuf>,
    /// Packages indexes of Debian or Ubuntu, compressed or not
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) packages: Vec<PathBuf>,
    /// RPM metadata: `primary.xml` and `filelists.xml`, or a folder that has them
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(crate) rpm: Vec<PathBuf>,
    /// A folder of apt's lists, such as `/var/lib/apt/lists`
    #[arg(long, value_name = "DIR")]
    pub(crate) apt: Vec<PathBuf>,
    /// A folder of dpkg, such as `/var/lib/dpkg`: what is installed there, with conffiles
    #[arg(long, value_name = "DIR")]
    pub(crate) dpkg: Vec<PathBuf>,
    /// A folder of Debian packages (`.deb`): all that they install, what their scripts make, what they exclude
    #[arg(long, value_name = "DIR")]
    pub(crate) debs: Vec<PathBuf>,
    /// The index file to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

impl PackagesBuildArgs {
    /// Whether nothing is named, so that the index is made from what this machine has.
    pub(crate) fn is_of_machine(&self) -> bool {
        let Self { listings, contents, packages, debs, rpm, apt, dpkg, output: _ } = self;
        [listings, contents, packages, debs, rpm, apt, dpkg].into_iter().all(Vec::is_empty)
    }
}

#[derive(Debug, Args)]
pub(crate) struct PackagesListArgs {
    /// Names of packages
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// An index file; without one, what is built in
    #[arg(long, value_name = "FILE")]
    pub(crate) packages: Option<PathBuf>,
    /// Ask what is built in for this platform too, such as `ubuntu-24.04`
    #[arg(long, value_name = "NAME")]
    pub(crate) platform: Option<String>,
    /// How the package is printed
    #[arg(long, value_enum, default_value_t = ResultFormat::Text)]
    pub(crate) format: ResultFormat,
}

#[derive(Debug, Args)]
pub(crate) struct LookupArgs {
    /// Tried in order, until one is found
    #[arg(value_name = "KEY", required_unless_present = "explain_options")]
    pub(crate) keys: Vec<String>,
    /// Show each step of the search
    #[arg(long)]
    pub(crate) explain: bool,
    /// Show where `lookup_options` come from
    #[arg(long)]
    pub(crate) explain_options: bool,
    /// How values of several levels become one, whatever `lookup_options` say
    #[arg(long, value_name = "STRATEGY", value_parser = ["first", "unique", "hash", "deep"])]
    pub(crate) merge: Option<String>,
    /// With `--merge deep`: what begins with this is taken away
    #[arg(long, value_name = "PREFIX", allow_hyphen_values = true)]
    pub(crate) knock_out_prefix: Option<String>,
    /// With `--merge deep`: merged arrays are sorted
    #[arg(long)]
    pub(crate) sort_merged_arrays: bool,
    /// With `--merge deep`: hashes in arrays are merged by position
    #[arg(long)]
    pub(crate) merge_hash_arrays: bool,
    /// The type that the value must have
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) of: Option<String>,
    /// The value of a key that no level has
    #[arg(long, value_name = "VALUE")]
    pub(crate) default: Option<String>,
    /// How the value is printed
    #[arg(long, value_name = "FORMAT", default_value = "yaml", value_parser = ["yaml", "json"])]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) options: InputOptions,
}

#[derive(Debug, Args)]
pub(crate) struct LspArgs {
    /// What is not decided so many seconds after a check began is left open
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) limit: u64,
    /// Some editors name the way of speaking; standard input and output is the only one
    #[arg(long, hide = true)]
    pub(crate) stdio: bool,
    #[command(flatten)]
    pub(crate) options: InputOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The name of a rule; without one, all rules are listed
    pub(crate) rule: Option<String>,
}
