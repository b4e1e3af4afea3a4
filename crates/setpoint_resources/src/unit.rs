//! The names of services. A unit has several: with and without `.service`, and those of its `Alias=` lines. Cells bear the one
//! that [`Unit`] gives, so that two names of one unit never have cells of their own.

use setpoint_packages::Family;

/// A service under the one name that all of its names lead to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unit {
    name: String,
    /// All of its names, this one among them, where there are several.
    names: &'static [&'static str],
}

/// Units that have several names wherever the family has them, by the `Alias=` lines of their packages. Where it depends on
/// the release or on the package (`ntp` and `ntpsec`, `mysql` and `mariadb`, `bind9` and `named`), they are not told to be one.
const DEBIAN: &[&[&str]] = &[
    &["ssh", "sshd"],
    &["rsyslog", "syslog"],
    &["redis-server", "redis"],
    &["chrony", "chronyd"],
    &["nfs-kernel-server", "nfs-server"],
];
const REDHAT: &[&[&str]] = &[&["rsyslog", "syslog"], &["dbus", "dbus-broker"]];

/// The endings of units that are no services.
const OTHER_KINDS: [&str; 7] = ["socket", "timer", "path", "target", "mount", "slice", "swap"];

impl Unit {
    /// Returns the unit that systemd finds under a name.
    pub fn named(name: &str, family: Family) -> Self {
        let plain = name.strip_suffix(".service").filter(|plain| !plain.is_empty()).unwrap_or(name);
        let aliases = match family {
            Family::Debian => DEBIAN,
            Family::RedHat | Family::Suse => REDHAT,
        };
        let names = aliases.iter().copied().find(|names| names.contains(&plain)).unwrap_or_default();
        let name = names.first().copied().unwrap_or(plain).to_owned();
        Self { name, names }
    }

    /// The name that its cells bear.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// All names that lead to it.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let others = self.names.iter().copied().filter(|other| *other != self.name);
        std::iter::once(self.name.as_str()).chain(others)
    }

    /// The names of its files.
    pub(crate) fn files(&self) -> impl Iterator<Item = String> {
        let is_other =
            |name: &str| name.rsplit_once('.').is_some_and(|(_, kind)| OTHER_KINDS.contains(&kind));
        self.names().map(move |name| if is_other(name) { name.to_owned() } else { format!("{name}.service") })
    }

    /// Where a unit or a script of it may be.
    pub(crate) fn paths(&self) -> Vec<String> {
        let places = ["/etc/systemd/system", "/usr/lib/systemd/system"];
        let mut files: Vec<String> = self.files().collect();
        // An instance has the file of its template, if it has none of its own.
        let template = |file: &String| {
            let (name, rest) = file.split_once('@')?;
            let (instance, kind) = rest.rsplit_once('.')?;
            (!instance.is_empty()).then(|| format!("{name}@.{kind}"))
        };
        let templates: Vec<String> = files.iter().filter_map(template).collect();
        files.extend(templates);
        let units = places.iter().flat_map(|place| files.iter().map(move |file| format!("{place}/{file}")));
        units.chain(self.names().map(|name| format!("/etc/init.d/{name}"))).collect()
    }
}

impl std::fmt::Display for Unit {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_of_a_unit_are_one() {
        let debian = |name| Unit::named(name, Family::Debian);
        assert_eq!(debian("cron"), debian("cron.service"));
        assert_eq!(debian("getty@tty1"), debian("getty@tty1.service"));
        assert_eq!(debian("ssh"), debian("sshd.service"));
        assert_ne!(debian("apt-daily.timer"), debian("apt-daily"));
        assert_ne!(Unit::named("ssh", Family::RedHat), Unit::named("sshd", Family::RedHat));
        assert!(debian("w@1").paths().contains(&"/etc/systemd/system/w@.service".to_owned()));
        assert_eq!(debian("apt-daily.timer").paths()[0], "/etc/systemd/system/apt-daily.timer");
    }
}
