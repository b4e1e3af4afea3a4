//! What the models take for granted, in words: as reasons for not knowing, and as findings.

use setpoint_resources::{Assumed, Assumption};
use setpoint_source::{Diagnostic, Gap, Plural, Reason, Rule};

use crate::findings::{FindingBuilder, listed};

/// What is assumed, as a clause that follows `if`.
pub(crate) fn words(assumption: &Assumption) -> String {
    match assumption {
        Assumption::UnknownPackage { package } => {
            format!("the package {package} installs only files named after it")
        }
        Assumption::VirtualPackage { package, .. } => {
            format!("whatever provides the package {package} installs only files named after it")
        }
        Assumption::PartialPackage { package } => {
            format!(
                "the package {package} installs nothing that matters beyond the files that Setpoint knows"
            )
        }
        Assumption::EmptyDirectories { package } => {
            format!(
                "the package {package} brings no empty directories and no users that matter; its .deb was not read"
            )
        }
        Assumption::Dependencies { package } => {
            format!("the dependencies of the package {package} install nothing that matters")
        }
        Assumption::KnownArchive { package } => {
            format!("the package {package} is available without the repositories of the catalog")
        }
        Assumption::Settings { path, resource } => {
            format!("what {path} says changes nothing of {resource}")
        }
        Assumption::NamedByConfiguration { what, service } => {
            format!("{service} starts as well without {what}, which its configuration names")
        }
        Assumption::ForeignPackage { package, provider } => {
            format!("the {provider} package {package} installs nothing that other resources touch")
        }
        Assumption::PackagedEntries { path } => {
            format!("the packaged {path} has none of the entries that resources manage in it")
        }
        Assumption::UnmodelledType { type_name } => {
            format!("{type_name} resources touch only what their parameters name")
        }
        Assumption::UnreadCheck { resource } => format!("the checks of {resource} read only what they name"),
        Assumption::DeclaredScript { path } => format!("no older version of {path} is there"),
        Assumption::Listening { path } => format!("something listens at {path}"),
        Assumption::ExistingDirectory { path } | Assumption::ExistingFile { path } => {
            format!("{path} exists")
        }
        Assumption::PlainFile { path } => format!("{path} is absent or a file"),
        Assumption::NoPermission { user, path } => format!("the user {user} may not write to {path}"),
        Assumption::ExistingUser { name } => format!("the user {name} exists"),
        Assumption::ExistingGroup { name } => format!("the group {name} exists"),
        Assumption::ExistingUnit { service } => format!("the service {service} has a unit or a script"),
        Assumption::UnreadSource { address } => {
            format!("{address}, which was not read, holds nothing that matters")
        }
        Assumption::MissingSource { address } => format!("nothing is at {address}"),
        Assumption::AcceptedContent { path } => format!("the validate_cmd of {path} accepts its content"),
        Assumption::ManyPaths { path, left_out } => {
            format!("{left_out} packaged paths below {path}, which Setpoint leaves out, do not matter")
        }
        Assumption::Checkout { path } => {
            format!("the repository in {path} brings none of the paths that the catalog names below it")
        }
        Assumption::Purged { type_name } => {
            format!("no resource depends on a {type_name} that is purged")
        }
        Assumption::GuessedFile { path } => format!("the file that is edited is {path}"),
        Assumption::LongLinks { path } => {
            format!("the links that begin at {path} lead on as Setpoint follows them")
        }
    }
}

/// What an assumption is about, and the words around a list of such things.
fn subject(assumption: &Assumption) -> Option<(&str, Plural)> {
    let plural = |before, after| Plural { before, after };
    Some(match assumption {
        Assumption::UnknownPackage { package } => {
            (package, plural("each of the packages ", " installs only files named after it"))
        }
        Assumption::PartialPackage { package } => (
            package,
            plural("the packages ", " install nothing that matters beyond the files that Setpoint knows"),
        ),
        Assumption::EmptyDirectories { package } => (
            package,
            plural(
                "the packages ",
                " bring no empty directories and no users that matter; their .deb files were not read",
            ),
        ),
        Assumption::Dependencies { package } => {
            (package, plural("the dependencies of the packages ", " install nothing that matters"))
        }
        Assumption::KnownArchive { package } => {
            (package, plural("the packages ", " are available without the repositories of the catalog"))
        }
        Assumption::ExistingDirectory { path } | Assumption::ExistingFile { path } => {
            (path, plural("", " exist"))
        }
        Assumption::PlainFile { path } => (path, plural("each of ", " is absent or a file")),
        Assumption::ExistingUser { name } => (name, plural("the users ", " exist")),
        Assumption::ExistingGroup { name } => (name, plural("the groups ", " exist")),
        Assumption::ExistingUnit { service } => {
            (service, plural("each of the services ", " has a unit or a script"))
        }
        Assumption::UnreadSource { address } => {
            (address, plural("", ", which were not read, hold nothing that matters"))
        }
        Assumption::UnmodelledType { type_name } => {
            (type_name, plural("resources of the types ", " touch only what their parameters name"))
        }
        _ => return None,
    })
}

impl FindingBuilder<'_> {
    /// Returns what is assumed about the catalog, as reasons for not knowing, and whether each is about the start alone.
    pub(crate) fn assumptions(&self) -> Vec<(Reason, bool)> {
        let all = self.modelled.assumptions.iter();
        let mut reasons: Vec<(Reason, bool)> =
            all.map(|one| (self.assumption(one), one.is_about_start)).collect();
        if self.is_platform_unknown {
            let words = "the platform has the folders and accounts of Debian";
            reasons.push((Reason::new(Gap::Assumed, words), false));
        }
        reasons
    }

    /// Returns one assumption as a reason for not knowing.
    pub(crate) fn assumption(&self, assumed: &Assumed) -> Reason {
        let place = assumed.resources.iter().find_map(|resource| self.catalog.get(*resource)?.span);
        let reason = Reason::new(Gap::Assumed, words(&assumed.assumption)).at(place);
        match subject(&assumed.assumption) {
            Some((subject, plural)) => reason.about(subject, plural),
            None => reason,
        }
    }

    /// Returns the findings that tell what the models take for granted: one for each kind. `untold` says whether a type without
    /// a model is not told already.
    pub(crate) fn tell_assumptions(
        &self,
        rests_on_start: bool,
        untold: impl Fn(&Assumed) -> bool,
    ) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let (mut unknown, mut partial, mut existing, mut plain, mut sources) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut others: Vec<&Assumed> = Vec::new();
        for one in &self.modelled.assumptions {
            let is_package = matches!(
                one.assumption,
                Assumption::UnknownPackage { .. } | Assumption::VirtualPackage { .. }
            );
            // An index would help, also where nothing rests on it today.
            if one.is_about_start && !rests_on_start && !is_package {
                continue;
            }
            match &one.assumption {
                Assumption::UnknownPackage { package } => unknown.push((package.as_str(), one)),
                Assumption::PartialPackage { package }
                | Assumption::EmptyDirectories { package }
                | Assumption::Dependencies { package } => {
                    if !partial.iter().any(|(known, _)| known == package) {
                        partial.push((package.as_str(), one));
                    }
                }
                Assumption::ExistingDirectory { path } | Assumption::ExistingFile { path } => {
                    existing.push((path.as_str(), one));
                }
                Assumption::PlainFile { path } => plain.push((path.as_str(), one)),
                Assumption::UnreadSource { address } => sources.push((address.as_str(), one)),
                Assumption::VirtualPackage { package, providers } => {
                    let message = format!(
                        "{package} is a virtual package: {} provide it, and which one is installed is not known",
                        providers.join(", ")
                    );
                    found.push(self.about(Rule::UnknownPackage, message, [one]));
                }
                Assumption::UnmodelledType { type_name } if untold(one) => {
                    let message = format!(
                        "the type {type_name} has no model; assumed to touch only what its parameters name and what is of its \
                         own type"
                    );
                    let help = "Say what it does in setpoint.toml (`setpoint explain unknown-effect`).";
                    found.push(self.about(Rule::UnknownEffect, message, [one]).with_help(help));
                }
                Assumption::UnmodelledType { .. } => {}
                Assumption::ManyPaths { .. } => {
                    let message = format!("assumed: {}", words(&one.assumption));
                    found.push(self.about(Rule::UnknownEffect, message, [one]));
                }
                _ => others.push(one),
            }
        }
        let names = |all: &[(&str, &Assumed)]| listed(&all.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        let packages = |all: &[(&str, &Assumed)]| {
            format!("the package{} {}", if all.len() == 1 { "" } else { "s" }, names(all))
        };
        let made =
            |all: &[(&'_ str, &'_ Assumed)]| all.iter().map(|(_, one)| (*one).clone()).collect::<Vec<_>>();
        if !unknown.is_empty() {
            let its = if unknown.len() == 1 { "it" } else { "them" };
            let message = format!(
                "no index lists {}: assumed to install only files named after {its}",
                packages(&unknown)
            );
            let help = "Make an index of all packages with `setpoint packages build`, and name it with `--packages`.";
            found.push(self.about(Rule::UnknownPackage, message, &made(&unknown)).with_help(help));
        }
        if !partial.is_empty() {
            let verb = if partial.len() == 1 { "installs" } else { "install" };
            let message = format!("Setpoint knows only some of the files that {} {verb}", packages(&partial));
            found.push(self.about(Rule::UnknownPackage, message, &made(&partial)));
        }
        if !existing.is_empty() {
            let message = format!("nothing in the catalog creates {}: assumed to exist", names(&existing));
            found.push(self.about(Rule::Assumption, message, &made(&existing)));
        }
        if !plain.is_empty() {
            let message = format!("nothing manages {}: assumed to be absent or a file", names(&plain));
            found.push(self.about(Rule::Assumption, message, &made(&plain)));
        }
        if !sources.is_empty() {
            let message = format!("not read: {}", names(&sources));
            found.push(self.about(Rule::Assumption, message, &made(&sources)));
        }
        for one in others {
            found.push(self.about(Rule::Assumption, format!("assumed: {}", words(&one.assumption)), [one]));
        }
        found
    }

    /// A finding at the first of the resources that assumptions are made for.
    fn about<'b>(
        &self,
        rule: Rule,
        message: String,
        assumed: impl IntoIterator<Item = &'b Assumed>,
    ) -> Diagnostic {
        let mut finding = Diagnostic::new(rule, message);
        for resource in assumed.into_iter().flat_map(|one| &one.resources) {
            let Some(resource) = self.catalog.get(*resource) else { continue };
            finding.resources.push(resource.reference());
            finding.span = finding.span.or(resource.span);
        }
        finding
    }
}
