//! Unit files as the catalog writes them: what a service needs to start, and what it reads then.

/// What a unit file asks of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnitFile {
    /// Programs that it runs, and the folder that they run in.
    pub(crate) paths: Vec<String>,
    /// Those of them that are programs.
    pub(crate) programs: Vec<String>,
    /// Files without which it is not started at all.
    pub(crate) environments: Vec<String>,
    /// What it reads when it starts, if it is there: environments, and paths among the arguments.
    pub(crate) reads: Vec<String>,
    pub(crate) user: Option<String>,
    /// The groups that its programs run with.
    pub(crate) groups: Vec<String>,
    /// The units without which it is not started, and that are started before it.
    pub(crate) requires: Vec<String>,
    /// The units that it starts in its turn, as a timer or a socket does: without one of them it is not started.
    pub(crate) triggers: Vec<String>,
    /// A socket that has a service started for each connection.
    accepts: bool,
    /// Whether it is done once it was started, so that it does not run afterwards.
    pub(crate) ends: bool,
    /// Whether who starts it is told that its program could not be run.
    pub(crate) tells_failures: bool,
}

impl UnitFile {
    /// Reads a unit with what adds to it, in this order. What has a specifier is left out: its value is not known.
    pub(crate) fn read<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut unit = Self::default();
        let mut kind = "simple".to_owned();
        let mut remains = false;
        for text in texts {
            let mut section = String::new();
            for line in joined_lines(text) {
                let line = line.trim();
                if line.starts_with('[') {
                    line.clone_into(&mut section);
                    continue;
                }
                let Some((key, value)) = line.split_once('=') else { continue };
                let (key, value) = (key.trim(), value.trim());
                match (section.as_str(), key) {
                    ("[Service]", "Type") => value.clone_into(&mut kind),
                    ("[Service]", "RemainAfterExit") => remains = is_true(value),
                    ("[Service]", _) => unit.set(key, value),
                    // An empty value forgets nothing here: systemd keeps what other files require.
                    ("[Unit]", "Requires" | "BindsTo" | "Requisite") => {
                        let plain = value.split_whitespace().filter(|one| !one.contains('%'));
                        unit.requires.extend(plain.map(str::to_owned));
                    }
                    ("[Timer]" | "[Path]", "Unit") | ("[Socket]", "Service") if !value.contains('%') => {
                        unit.triggers = vec![value.to_owned()];
                    }
                    ("[Socket]", "Accept") => unit.accepts = is_true(value),
                    _ => {}
                }
            }
        }
        unit.ends = kind == "oneshot" && !remains;
        unit.tells_failures = kind != "simple" && kind != "idle";
        unit
    }

    /// Adds what a unit of this name triggers if it names nothing: the service of its name.
    pub(crate) fn complete(&mut self, name: &str) {
        let Some((stem, kind)) = name.rsplit_once('.') else { return };
        if !["timer", "path", "socket"].contains(&kind) {
            self.triggers.clear();
        } else if self.triggers.is_empty() {
            let at = if kind == "socket" && self.accepts { "@" } else { "" };
            self.triggers = vec![format!("{stem}{at}.service")];
        }
    }

    /// Adds what runs its programs, where they are scripts: `text` gives what is in them.
    pub(crate) fn add_interpreters<'a>(&mut self, text: impl Fn(&str) -> Option<&'a String>) {
        for program in &self.programs {
            let first = text(program).and_then(|text| text.lines().next()?.strip_prefix("#!"));
            let mut words = first.unwrap_or_default().split_whitespace();
            let Some(interpreter) = words.next().and_then(plain_path) else { continue };
            if interpreter.ends_with("/env") {
                let name = words.find(|word| !word.starts_with('-') && !word.contains('='));
                self.paths.extend(name.and_then(|name| plain_path(&format!("/usr/bin/{name}"))));
            }
            self.paths.push(interpreter);
        }
    }

    fn set(&mut self, key: &str, value: &str) {
        match key {
            // An empty value forgets what stood before.
            "ExecStart" | "ExecStartPre" if value.is_empty() => {
                let programs = std::mem::take(&mut self.programs);
                self.paths.retain(|path| !programs.contains(path));
            }
            "ExecStart" | "ExecStartPre" => {
                // Its failure does not matter.
                if value.starts_with('-') {
                    return;
                }
                let mut words = value.trim_start_matches(['@', ':', '+', '!']).split_whitespace();
                let program = words.next().and_then(plain_path);
                self.paths.extend(program.clone());
                self.programs.extend(program);
                // A path may stand alone, or after the name of an option.
                let after = words.filter_map(|word| plain_path(word.rsplit('=').next().unwrap_or(word)));
                self.reads.extend(after.filter(|path| !is_written_by_services(path)));
            }
            "EnvironmentFile" => {
                let (is_optional, path) = match value.strip_prefix('-') {
                    Some(path) => (true, path),
                    None => (false, value),
                };
                let path = plain_path(path);
                self.reads.extend(path.clone());
                if !is_optional {
                    self.environments.extend(path);
                }
            }
            // What may be missing has a dash before it.
            "WorkingDirectory" | "RootDirectory" => self.paths.extend(plain_path(value)),
            "ReadWritePaths"
            | "ReadOnlyPaths"
            | "InaccessiblePaths"
            | "ReadWriteDirectories"
            | "ReadOnlyDirectories"
            | "BindPaths"
            | "BindReadOnlyPaths" => {
                let sources = value.split_whitespace().map(|one| one.split(':').next().unwrap_or(one));
                self.paths.extend(sources.filter_map(plain_path));
            }
            "LoadCredential" => {
                self.paths.extend(value.split_once(':').and_then(|(_, path)| plain_path(path)));
            }
            "Group" | "SupplementaryGroups" => {
                let plain = value.split_whitespace().filter(|one| !one.contains('%'));
                self.groups.extend(plain.map(str::to_owned));
            }
            "User" => {
                let is_plain = !value.is_empty() && !value.contains('%');
                self.user = is_plain.then(|| value.to_owned());
            }
            _ => {}
        }
    }
}

fn is_true(value: &str) -> bool {
    ["yes", "true", "on", "1", "y", "t"].contains(&value.to_ascii_lowercase().as_str())
}

/// Whether a path lies where services write: logs, sockets, numbers of processes.
fn is_written_by_services(path: &str) -> bool {
    ["/run/", "/var/", "/tmp/"].iter().any(|folder| path.starts_with(folder))
}

/// An absolute path without specifiers, variables and patterns.
fn plain_path(word: &str) -> Option<String> {
    let word = word.trim_matches(['"', '\'']);
    let is_plain = word.starts_with('/') && !word.contains(['%', '$', '*', '?', '[']);
    is_plain.then(|| word.trim_end_matches('/').to_owned())
}

/// The lines of a text; a line that ends with a backslash goes on in the next.
fn joined_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines().filter(|line| !line.trim_start().starts_with(['#', ';'])) {
        let (part, more) = match line.strip_suffix('\\') {
            Some(part) => (part, true),
            None => (line, false),
        };
        match lines.last_mut().filter(|_| goes_on) {
            Some(last) => {
                last.push(' ');
                last.push_str(part);
            }
            None => lines.push(part.to_owned()),
        }
        goes_on = more;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_names_what_it_needs_and_reads() {
        let text = "[Unit]\nUser=no\n[Service]\nUser=acme\nEnvironmentFile=-/etc/default/acme\nEnvironmentFile=/etc/acme.env\n\
                    ExecStart=/opt/acme/bin/run --config=/etc/acme/a.conf \\\n  /srv/data --log /var/log/acme %i\nExecStartPre=-/bin/false\n\
                    WorkingDirectory=/opt/acme/\n";
        let unit = UnitFile::read([text]);
        assert_eq!(unit.paths, ["/opt/acme/bin/run", "/opt/acme"]);
        assert_eq!(unit.environments, ["/etc/acme.env"]);
        assert_eq!(unit.reads, ["/etc/default/acme", "/etc/acme.env", "/etc/acme/a.conf", "/srv/data"]);
        assert_eq!(unit.user.as_deref(), Some("acme"));
        assert!(!unit.tells_failures);
    }

    #[test]
    fn a_unit_names_the_groups_folders_and_units_that_it_needs() {
        let text = "[Unit]\nRequires=db.service cache.service\nWants=other.service\n[Service]\nGroup=media\n\
                    SupplementaryGroups=video audio\nReadWritePaths=/srv/a -/srv/b\nBindPaths=/srv/c:/c\n\
                    LoadCredential=key:/etc/acme.key\n";
        let unit = UnitFile::read([text]);
        assert_eq!(unit.requires, ["db.service", "cache.service"]);
        assert_eq!(unit.groups, ["media", "video", "audio"]);
        assert_eq!(unit.paths, ["/srv/a", "/srv/c", "/etc/acme.key"]);
    }

    #[test]
    fn what_runs_once_ends_unless_it_remains() {
        assert!(UnitFile::read(["[Service]\nType=oneshot\nExecStart=/bin/true\n"]).ends);
        assert!(!UnitFile::read(["[Service]\nType=oneshot\nRemainAfterExit=yes\n"]).ends);
        assert!(!UnitFile::read(["[Service]\nExecStart=/bin/true\n"]).ends);
    }

    #[test]
    fn timers_and_sockets_trigger_a_service() {
        let triggers = |name: &str, text: &str| {
            let mut unit = UnitFile::read([text]);
            unit.complete(name);
            unit.triggers
        };
        assert_eq!(triggers("job.timer", "[Timer]\nOnCalendar=daily\n"), ["job.service"]);
        assert_eq!(triggers("job.timer", "[Timer]\nUnit=other.service\n"), ["other.service"]);
        assert_eq!(triggers("in.socket", "[Socket]\nAccept=yes\n"), ["in@.service"]);
        assert!(triggers("job", "[Service]\nExecStart=/bin/true\n").is_empty());
    }

    #[test]
    fn what_adds_to_a_unit_comes_after_it() {
        let adds = "[Service]\nType=notify\nExecStart=\nExecStart=/usr/local/bin/other\n";
        let unit = UnitFile::read(["[Service]\nExecStart=/usr/bin/one\n", adds]);
        assert_eq!(unit.paths, ["/usr/local/bin/other"]);
        assert!(unit.tells_failures);
    }
}
