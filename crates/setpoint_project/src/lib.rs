//! Projects of Puppet code: what a folder or file is, which nodes and entries it has, their facts and modules; compiled and
//! judged through one pool, with one report of all.
//!
//! It stands between the compiler (`setpoint_puppet`) and the judge of catalogs (`setpoint_settle`) on one side, and the
//! command line, the editor and the comparison with a server on the other. [`Project::open`] finds out what an input is,
//! [`Project::plan`] which catalogs are compiled of it, [`Project::compile`] compiles one; [`check`], [`check_fleet`] and
//! [`diff`] do so for all. Options come as plain data, files through `FileSystem`, and progress goes to an observer: the crate
//! knows no terminal, no protocol and no other input language.
//!
//! Where to look: `project`, `jobs` and `node` say what is compiled; `environment_conf`, `puppetfile`, `module_files`,
//! `hierarchy`, `facts` and `custom_facts` read the files that describe it; `platforms` has what is assumed of nodes without facts; `run` has the pool and the reports, `judge` and `settle` the analyses.

mod collectors;
mod custom_facts;
mod diff;
mod entries;
mod environment_conf;
mod facts;
mod fleet;
mod flows;
mod hierarchy;
mod jobs;
mod judge;
mod module_files;
mod node;
mod options;
mod platforms;
mod progress;
mod project;
mod puppetfile;
mod run;
mod session;
mod settle;
mod sibling;
mod survey;
mod volatile;

pub use diff::{Older, diff};
pub use fleet::{Fleet, FleetNode, check_fleet};
pub use jobs::{Job, OwnFacts, Plan};
pub use judge::{Subject, assumed_by, check, check_catalog, module_types, read_catalog, with_subject};
pub use node::NodeData;
pub use options::{OPTIONAL_RULES, Options, PuppetOptions};
pub use progress::{Progress, Silent};
pub use project::{Kind as ProjectKind, Project, find_project_above, is_project, is_repository, parse_file};
pub use run::{parallel, run_in_order, threads};
pub use session::{Session, UsageError};
pub use setpoint_settle::NextRun;
pub use setpoint_verify::Stage;
pub use settle::{Surroundings, platform, system};
pub use sibling::Home;
pub use survey::is_data_file;
