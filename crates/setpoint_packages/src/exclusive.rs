//! Packages that exclude each other: each conflicts with a name that all of them provide, so that a package manager takes the
//! one away to install the other.

use crate::Family;

/// The names, and the packages of Debian 11 to 13 that provide them and conflict with them.
const DEBIAN: &[(&str, &[&str])] = &[
    (
        "mail-transport-agent",
        &[
            "citadel-server",
            "courier-mta",
            "dma",
            "esmtp-run",
            "exim4",
            "exim4-daemon-heavy",
            "exim4-daemon-light",
            "lsb-invalid-mta",
            "msmtp-mta",
            "nullmailer",
            "opensmtpd",
            "postfix",
            "sendmail",
            "sendmail-bin",
            "ssmtp",
        ],
    ),
    ("time-daemon", &["chrony", "ntp", "ntpsec", "openntpd", "systemd-timesyncd"]),
    ("virtual-mysql-server", &["default-mysql-server", "mariadb-server", "mysql-server"]),
    ("ftp-server", &["proftpd", "proftpd-core", "pure-ftpd", "vsftpd"]),
    ("resolvconf", &["openresolv", "resolvconf", "systemd-resolved"]),
    ("logind", &["elogind", "libpam-systemd"]),
];

/// Metapackages of the table that only stand for another one of it.
const STANDS_FOR: &[(&str, &str)] = &[
    ("default-mysql-server", "mariadb-server"),
    ("exim4", "exim4-daemon-heavy"),
    ("exim4", "exim4-daemon-light"),
    ("proftpd", "proftpd-core"),
    ("sendmail", "sendmail-bin"),
];

/// Whether a package manager takes one package away to install the other.
pub fn exclude_each_other(family: Family, one: &str, other: &str) -> bool {
    let stands = |name: &str, for_it: &str| STANDS_FOR.contains(&(name, for_it));
    family == Family::Debian
        && one != other
        && !stands(one, other)
        && !stands(other, one)
        && DEBIAN.iter().any(|(_, members)| members.contains(&one) && members.contains(&other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_packages_of_one_name_exclude_each_other() {
        let debian = |one, other| exclude_each_other(Family::Debian, one, other);
        assert!(debian("postfix", "exim4-daemon-light"));
        assert!(debian("postfix", "exim4") && debian("sendmail", "exim4-daemon-light"));
        assert!(!debian("exim4", "exim4-daemon-light") && !debian("sendmail-bin", "sendmail"));
        assert!(debian("ntp", "chrony"));
        assert!(!debian("postfix", "postfix"));
        assert!(!debian("postfix", "chrony"));
        assert!(!debian("default-mysql-server", "mariadb-server"));
        assert!(!exclude_each_other(Family::RedHat, "postfix", "sendmail-bin"));
    }
}
