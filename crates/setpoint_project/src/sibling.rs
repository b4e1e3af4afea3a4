//! Environments that lie side by side: a classifier may put a node into another one than that of the command line.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use setpoint_puppet::Compilation;
use setpoint_source::{Diagnostic, Gap, Reason, Rule};

use crate::jobs::{Job, Origin};
use crate::node::NodeData;
use crate::project::{Kind, Project};
use crate::volatile::open_volatile;

/// The environment in which a node is compiled.
#[derive(Debug)]
pub enum Home<'p, 's> {
    Here(&'p Project<'s>),
    There(Arc<Project<'s>>),
}

impl<'s> std::ops::Deref for Home<'_, 's> {
    type Target = Project<'s>;

    fn deref(&self) -> &Project<'s> {
        match self {
            Self::Here(project) => project,
            Self::There(project) => project,
        }
    }
}

impl<'s> Project<'s> {
    /// Where a node is compiled: here, unless a classifier names an environment beside this one; why nowhere, if that is not
    /// there. Only what lies in a folder `environments` has others beside it.
    pub fn home(&self, node: &NodeData) -> Result<Home<'_, 's>, String> {
        let named = node.environment.as_deref().filter(|_| node.is_classified);
        let (Some(name), Some(environments)) = (named, self.environments()) else {
            return Ok(Home::Here(self));
        };
        if name == self.environment.name {
            return Ok(Home::Here(self));
        }
        let mut siblings = self.siblings.lock().unwrap_or_else(PoisonError::into_inner);
        if !siblings.contains_key(name) {
            let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let folder = environments.join(name);
            let mut found = None;
            if is_name && self.session.files.is_dir(&folder) {
                let opened =
                    Self::open_in(self.session, self.manifests_or(&folder), self.options, Some(&folder));
                found = Some(Arc::new(opened.map_err(|error| error.0)?));
            }
            siblings.insert(name.to_owned(), found);
        }
        match siblings.get(name) {
            Some(Some(project)) => Ok(Home::There(Arc::clone(project))),
            _ => Err(format!(
                "Could not find a directory environment named '{name}' anywhere in the path: {}. Does the directory exist?",
                environments.display()
            )),
        }
    }

    /// A classifier may name an environment that only its server has: it is taken for this one.
    pub(crate) fn assumed_environment(&self, node: &NodeData) -> Option<Reason> {
        let name = node.environment.as_ref().filter(|_| node.is_classified)?;
        if *name == self.environment.name || self.environments().is_some() {
            return None;
        }
        let words = format!("the environment {name}, which the classifier names, is this one");
        let classifier = self.options.puppet.enc.as_ref()?;
        Some(Reason::new(Gap::Assumed, words).in_file(classifier.display().to_string()))
    }

    /// A manifest that the command line names is compiled in whatever environment.
    fn manifests_or<'a>(&'a self, folder: &'a Path) -> &'a Path {
        if let Kind::Manifests(path) = &self.kind { path } else { folder }
    }

    /// The folder that this environment shares with others.
    fn environments(&self) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?;
        let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
        let absolute = setpoint_source::normal(&absolute);
        let above =
            absolute.parent().filter(|above| above.file_name().is_some_and(|name| name == "environments"))?;
        // As the user wrote it, where that says it.
        let written = folder.parent().filter(|_| folder.file_name().is_some());
        let written = written.filter(|above| above.file_name().is_some_and(|name| name == "environments"));
        Some(written.unwrap_or(above).to_owned())
    }

    /// Compiles the catalog of any run: facts that are others in every run are unknown.
    pub fn compile_any_run(&self, job: &Job) -> Compilation {
        let mut opened = job.clone();
        opened.node.facts = open_volatile(&job.node.facts);
        self.compile(&opened)
    }

    /// The catalog of one job, in the environment that its node belongs to.
    pub fn compile(&self, job: &Job) -> Compilation {
        match self.home(&job.node) {
            Ok(Home::Here(project)) => project.compile_here(job, &job.entry),
            Ok(Home::There(project)) => match &project.kind {
                Kind::Repository { manifest, .. } if job.origin == Origin::Node => {
                    project.compile_here(job, &project.entry_of(manifest))
                }
                _ => project.compile_here(job, &job.entry),
            },
            Err(message) => Compilation::failed(Diagnostic::new(Rule::UnknownEnvironment, message)),
        }
    }
}
