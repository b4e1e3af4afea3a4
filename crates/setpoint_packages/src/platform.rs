//! The platforms for which something is built in.

use std::fmt;

/// How a platform installs packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// dpkg and apt: a changed conffile is kept.
    Debian,
    /// rpm with dnf or yum.
    RedHat,
    /// rpm with zypper.
    Suse,
}

/// A distribution and its release, for which an index is built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Platform {
    name: &'static str,
    family: Family,
}

/// Every platform that is built in. The first of a family is taken if a release is not known.
pub const PLATFORMS: &[Platform] = &[
    Platform { name: "debian-11", family: Family::Debian },
    Platform { name: "debian-12", family: Family::Debian },
    Platform { name: "debian-13", family: Family::Debian },
    Platform { name: "ubuntu-20.04", family: Family::Debian },
    Platform { name: "ubuntu-22.04", family: Family::Debian },
    Platform { name: "ubuntu-24.04", family: Family::Debian },
    Platform { name: "rhel-7", family: Family::RedHat },
    Platform { name: "rhel-8", family: Family::RedHat },
    Platform { name: "rhel-9", family: Family::RedHat },
    Platform { name: "fedora", family: Family::RedHat },
    Platform { name: "sles", family: Family::Suse },
];

/// Rebuilds of Red Hat Enterprise Linux: the same packages.
const LIKE_RHEL: [&str; 10] = [
    "redhat",
    "rhel",
    "centos",
    "centosstream",
    "rocky",
    "almalinux",
    "oraclelinux",
    "scientific",
    "eurolinux",
    "virtuozzolinux",
];

impl Platform {
    /// `debian-12`, `ubuntu-22.04`, `centos-9`, `fedora-41`: names as people write them.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        let (name, release) = text.rsplit_once(['-', ' ']).unwrap_or((&text, ""));
        match Self::of(name, release) {
            Some(platform) => Some(platform),
            // A name that has a dash itself, or stands without a release.
            None => Self::of(&text, ""),
        }
    }

    /// By the facts `os.name` and `os.release.full` (or `major`).
    pub fn of(name: &str, release: &str) -> Option<Self> {
        let name: String =
            name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
        let major = release.split('.').next().unwrap_or_default();
        let known = |wanted: String| PLATFORMS.iter().copied().find(|platform| platform.name == wanted);
        match name.as_str() {
            "debian" => known(format!("debian-{major}")),
            "ubuntu" => {
                let mut parts = release.split('.');
                let year = parts.next().unwrap_or_default();
                let month = parts.next().unwrap_or("04");
                known(format!("ubuntu-{year}.{month}"))
            }
            "fedora" => known("fedora".to_owned()),
            "sles" | "sled" | "opensuse" | "suse" | "opensuseleap" | "leap" | "opensusetumbleweed" => {
                known("sles".to_owned())
            }
            other if LIKE_RHEL.contains(&other) => known(format!("rhel-{major}")),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        self.name
    }

    pub fn family(self) -> Family {
        self.family
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
