//! What every machine of a platform has.

use std::collections::BTreeSet;

use setpoint_packages::Family;

use crate::mentions::is_below;

/// The directories, links, users and groups of a fresh installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    pub directories: BTreeSet<String>,
    /// From the link to its target; both are absolute.
    pub links: Vec<(String, String)>,
    /// The files that it has, programs among them.
    pub files: BTreeSet<String>,
    pub users: BTreeSet<String>,
    pub groups: BTreeSet<String>,
    pub family: Family,
    pub systemd: bool,
}

const DIRECTORIES: &[&str] = &[
    "/",
    "/boot",
    "/dev",
    "/dev/shm",
    "/etc",
    "/etc/alternatives",
    "/etc/cron.d",
    "/etc/cron.daily",
    "/etc/cron.hourly",
    "/etc/cron.monthly",
    "/etc/cron.weekly",
    "/etc/default",
    "/etc/init.d",
    "/etc/ld.so.conf.d",
    "/etc/logrotate.d",
    "/etc/modprobe.d",
    "/etc/modules-load.d",
    "/etc/network",
    "/etc/opt",
    "/etc/pam.d",
    "/etc/pki",
    "/etc/profile.d",
    "/etc/rc.d",
    "/etc/security",
    "/etc/security/limits.d",
    "/etc/selinux",
    "/etc/skel",
    "/etc/ssl",
    "/etc/ssl/certs",
    "/etc/ssl/private",
    "/etc/sudoers.d",
    "/etc/sysctl.d",
    "/etc/sysconfig",
    "/etc/systemd",
    "/etc/systemd/system",
    "/etc/systemd/network",
    "/etc/tmpfiles.d",
    "/etc/udev",
    "/etc/udev/rules.d",
    "/home",
    "/media",
    "/mnt",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/run/lock",
    "/srv",
    "/sys",
    "/tmp",
    "/usr",
    "/usr/bin",
    "/usr/games",
    "/usr/include",
    "/usr/lib",
    "/usr/lib/systemd",
    "/usr/lib/systemd/system",
    "/usr/lib/tmpfiles.d",
    "/usr/lib64",
    "/usr/local",
    "/usr/local/bin",
    "/usr/local/etc",
    "/usr/local/lib",
    "/usr/local/sbin",
    "/usr/local/share",
    "/usr/sbin",
    "/usr/share",
    "/usr/share/doc",
    "/usr/share/keyrings",
    "/usr/share/man",
    "/usr/src",
    "/var",
    "/var/backups",
    "/var/cache",
    "/var/lib",
    "/var/lib/dpkg",
    "/var/lib/systemd",
    "/var/local",
    "/var/log",
    "/var/mail",
    "/var/opt",
    "/var/spool",
    "/var/spool/cron",
    "/var/spool/mail",
    "/var/tmp",
];
/// Files that no package manager takes away.
const FILES: &[&str] = &[
    "/dev/null",
    "/etc/fstab",
    "/etc/group",
    "/etc/gshadow",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/ld.so.conf",
    "/etc/login.defs",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/profile",
    "/etc/resolv.conf",
    "/etc/shadow",
    "/etc/shells",
    "/usr/bin/awk",
    "/usr/bin/bash",
    "/usr/bin/cat",
    "/usr/bin/chmod",
    "/usr/bin/chown",
    "/usr/bin/cp",
    "/usr/bin/crontab",
    "/usr/bin/cut",
    "/usr/bin/date",
    "/usr/bin/echo",
    "/usr/bin/env",
    "/usr/bin/false",
    "/usr/bin/find",
    "/usr/bin/grep",
    "/usr/bin/gzip",
    "/usr/bin/head",
    "/usr/bin/id",
    "/usr/bin/install",
    "/usr/bin/ln",
    "/usr/bin/ls",
    "/usr/bin/mkdir",
    "/usr/bin/mount",
    "/usr/bin/mv",
    "/usr/bin/passwd",
    "/usr/bin/rm",
    "/usr/bin/sed",
    "/usr/bin/sh",
    "/usr/bin/sleep",
    "/usr/bin/sort",
    "/usr/bin/tail",
    "/usr/bin/tar",
    "/usr/bin/tee",
    "/usr/bin/test",
    "/usr/bin/touch",
    "/usr/bin/tr",
    "/usr/bin/true",
    "/usr/sbin/groupadd",
    "/usr/sbin/ldconfig",
    "/usr/sbin/nologin",
    "/usr/sbin/useradd",
    "/usr/sbin/userdel",
    "/usr/sbin/usermod",
];
/// Programs of packages that no installation lacks: of the shell, the accounts, systemd and the kernel's tools.
const PROGRAMS: &str = "[ agetty arch awk b2sum base32 base64 basename bash blkid blockdev bridge busctl cat chage chattr chcon \
    chfn chgrp chgpasswd chmod chown chpasswd chroot chsh cksum cmp comm cp csplit cut date dd depmod df diff diff3 dir dirname \
    dmesg dnsdomainname domainname du echo egrep env expand expr factor faillog fallocate false fgrep find findfs findmnt flock \
    fmt fold free fsck fsfreeze fstrim gawk getconf getent getopt getty gpasswd grep groupadd groupdel groupmems groupmod groups \
    grpck gunzip gzip halt hardlink head hostid hostname hostnamectl iconv id init insmod install ionice ip ipcrm ipcs join \
    journalctl kill last lastlog ldconfig ldd link ln locale localectl localedef logger login loginctl logname losetup ls lsattr \
    lsblk lscpu lsmod mawk mcookie md5sum mesg mkdir mkfifo mkfs mknod mkswap mktemp modinfo modprobe more mount mountpoint mv \
    namei networkctl newgrp newusers nice nl nohup nologin nproc nsenter numfmt od passwd paste perl pgrep pidof pivot_root pkill \
    pmap poweroff pr printenv printf prlimit ps ptx pwck pwconv pwd pwunconv readlink realpath reboot renice reset resolvectl rev \
    rm rmdir rmmod runcon runlevel runuser script sdiff sed seq setpriv setsid sg sh sha1sum sha224sum sha256sum sha384sum \
    sha512sum shred shuf shutdown sleep sort split ss stat stdbuf stty su sulogin sum swapoff swapon sync sysctl systemctl \
    systemd-analyze systemd-cat systemd-detect-virt systemd-escape systemd-run systemd-sysusers systemd-tmpfiles tabs tac tail tar \
    taskset tee telinit test timedatectl timeout top touch tput tr true truncate tset tsort tty udevadm umount uname uniq unlink \
    unshare uptime useradd userdel usermod users vdir vigr vipw vmstat w wall watch wc whereis which who whoami wipefs xargs yes \
    zcat zcmp zdiff zgrep";
const DEBIAN_PROGRAMS: &str = "add-shell addgroup adduser apt apt-cache apt-cdrom apt-config apt-get apt-key apt-mark dash \
    deb-systemd-helper debconf debconf-communicate debconf-set-selections debconf-show delgroup deluser dpkg dpkg-deb dpkg-divert \
    dpkg-preconfigure dpkg-query dpkg-reconfigure dpkg-split dpkg-statoverride dpkg-trigger e2fsck e2label fsck.ext4 gpgv \
    invoke-rc.d mke2fs mkfs.ext2 mkfs.ext3 mkfs.ext4 remove-shell resize2fs run-parts savelog service start-stop-daemon tempfile \
    tune2fs update-alternatives update-passwd update-rc.d";
const REDHAT_PROGRAMS: &str =
    "alternatives authselect chkconfig dnf microdnf restorecon rpm rpmkeys service yum";
const DEBIAN_FILES: &[&str] =
    &["/usr/bin/apt-get", "/usr/bin/dash", "/usr/bin/dpkg", "/usr/bin/debconf-set-selections"];
/// Files of Debian's base packages, as an installation leaves them: there, unless a resource says otherwise.
const DEBIAN_USUAL: &[&str] = &[
    "/etc/adduser.conf",
    "/etc/apt/sources.list",
    "/etc/bash.bashrc",
    "/etc/debian_version",
    "/etc/default/useradd",
    "/etc/deluser.conf",
    "/etc/host.conf",
    "/etc/issue",
    "/etc/issue.net",
    "/etc/machine-id",
    "/etc/motd",
    "/etc/pam.conf",
    "/etc/security/limits.conf",
    "/etc/skel/.bash_logout",
    "/etc/skel/.bashrc",
    "/etc/skel/.profile",
    "/etc/timezone",
    "/usr/share/zoneinfo/UTC",
];
const REDHAT_FILES: &[&str] = &["/usr/bin/rpm"];
/// Programs that are in /usr/sbin and nowhere else.
const ADMINISTRATION: &[&str] = &[
    "addgroup",
    "adduser",
    "chpasswd",
    "delgroup",
    "deluser",
    "groupadd",
    "groupdel",
    "groupmod",
    "invoke-rc.d",
    "iptables",
    "ldconfig",
    "modprobe",
    "service",
    "sysctl",
    "update-grub",
    "update-rc.d",
    "useradd",
    "userdel",
    "usermod",
    "visudo",
];
/// Words of a shell that are no programs anywhere.
const SHELL_WORDS: &[&str] = &[
    ".", ":", "[[", "break", "case", "continue", "declare", "eval", "exec", "exit", "export", "for",
    "function", "if", "let", "local", "popd", "pushd", "readonly", "return", "set", "shift", "shopt",
    "source", "times", "trap", "typeset", "unset", "until", "while", "{",
];
/// Words of a shell that Red Hat has as programs, too.
const SHELL_WORDS_AND_PROGRAMS: &[&str] = &[
    "alias", "bg", "cd", "command", "fc", "fg", "getopts", "hash", "jobs", "read", "type", "ulimit", "umask",
    "unalias", "wait",
];
const DEBIAN_DIRECTORIES: &[&str] = &[
    "/etc/apt",
    "/etc/apt/apt.conf.d",
    "/etc/apt/keyrings",
    "/etc/apt/preferences.d",
    "/etc/apt/sources.list.d",
    "/etc/apt/trusted.gpg.d",
    "/etc/dpkg",
    "/etc/dpkg/dpkg.cfg.d",
    "/etc/network/interfaces.d",
    "/etc/kernel",
    "/var/lib/apt",
    "/var/cache/apt",
    "/var/spool/cron/crontabs",
    "/var/lib/puppet",
];
const REDHAT_DIRECTORIES: &[&str] = &[
    "/etc/yum",
    "/etc/yum.repos.d",
    "/etc/pki/rpm-gpg",
    "/etc/pki/tls",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/private",
    "/etc/rc.d/init.d",
    "/etc/sysconfig/network-scripts",
    "/etc/dnf",
    "/etc/rpm",
    "/var/lib/rpm",
];
const USERS: &[&str] = &[
    "root",
    "daemon",
    "bin",
    "sys",
    "sync",
    "games",
    "man",
    "lp",
    "mail",
    "news",
    "uucp",
    "proxy",
    "www-data",
    "backup",
    "list",
    "irc",
    "gnats",
    "nobody",
    "_apt",
    "systemd-network",
    "systemd-resolve",
    "systemd-timesync",
    "messagebus",
];
const REDHAT_USERS: &[&str] = &[
    "root",
    "daemon",
    "bin",
    "adm",
    "lp",
    "sync",
    "shutdown",
    "halt",
    "mail",
    "operator",
    "games",
    "ftp",
    "nobody",
    "systemd-network",
    "dbus",
    "polkitd",
    "sshd",
];
const GROUPS: &[&str] = &[
    "root",
    "daemon",
    "bin",
    "sys",
    "adm",
    "tty",
    "disk",
    "lp",
    "mail",
    "news",
    "uucp",
    "man",
    "proxy",
    "kmem",
    "dialout",
    "fax",
    "voice",
    "cdrom",
    "floppy",
    "tape",
    "sudo",
    "audio",
    "dip",
    "www-data",
    "backup",
    "operator",
    "list",
    "irc",
    "src",
    "gnats",
    "shadow",
    "utmp",
    "video",
    "sasl",
    "plugdev",
    "staff",
    "games",
    "users",
    "nogroup",
    "systemd-journal",
    "systemd-network",
    "systemd-resolve",
    "messagebus",
    "crontab",
    "input",
    "render",
    "kvm",
];
const REDHAT_GROUPS: &[&str] = &[
    "root",
    "bin",
    "daemon",
    "sys",
    "adm",
    "tty",
    "disk",
    "lp",
    "mem",
    "kmem",
    "wheel",
    "cdrom",
    "mail",
    "man",
    "dialout",
    "floppy",
    "games",
    "tape",
    "video",
    "ftp",
    "lock",
    "audio",
    "users",
    "nobody",
    "utmp",
    "input",
    "kvm",
    "render",
    "systemd-journal",
    "systemd-network",
    "dbus",
    "polkitd",
    "sshd",
    "ssh_keys",
];

/// Directories of an installation that nothing but these packages of Debian has: a catalog that installs one of them need not find
/// the directory.
const BROUGHT: &[(&[&str], &[&str])] = &[
    (&["sudo", "sudo-ldap"], &["/etc/sudoers.d"]),
    (&["ca-certificates", "openssl", "ssl-cert"], &["/etc/ssl", "/etc/ssl/certs", "/etc/ssl/private"]),
];

impl Base {
    /// The directories that a package brings, although most installations have them.
    pub(crate) fn brought_by(&self, package: &str) -> &'static [&'static str] {
        let is_debian = self.family == Family::Debian;
        let mut lines = BROUGHT.iter().filter(|(packages, _)| is_debian && packages.contains(&package));
        lines.next().map_or(&[], |(_, directories)| *directories)
    }

    /// Whether an installation has a file that resources may take away.
    pub(crate) fn has_usually(&self, path: &str) -> bool {
        self.family == Family::Debian && DEBIAN_USUAL.contains(&path)
    }

    pub fn new(family: Family) -> Self {
        let (more, users, groups) = match family {
            Family::Debian => (DEBIAN_DIRECTORIES, USERS, GROUPS),
            Family::RedHat | Family::Suse => (REDHAT_DIRECTORIES, REDHAT_USERS, REDHAT_GROUPS),
        };
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let mut directories = set(DIRECTORIES);
        directories.extend(set(more));
        let mut files = set(FILES);
        files.extend(set(if family == Family::Debian { DEBIAN_FILES } else { REDHAT_FILES }));
        let links = [
            ("/bin", "/usr/bin"),
            ("/sbin", "/usr/sbin"),
            ("/lib", "/usr/lib"),
            ("/lib64", "/usr/lib64"),
            ("/var/run", "/run"),
            ("/var/lock", "/run/lock"),
        ];
        Self {
            directories,
            links: links.map(|(link, target)| (link.to_owned(), target.to_owned())).to_vec(),
            files,
            users: set(users),
            groups: set(groups),
            family,
            systemd: true,
        }
    }

    /// A machine that is known to have only these.
    pub fn bare(family: Family, directories: &[&str], users: &[&str], groups: &[&str]) -> Self {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self { directories: set(directories), users: set(users), groups: set(groups), ..Self::new(family) }
    }

    /// Whether every installation has a program at a path.
    pub(crate) fn has_program(&self, path: &str) -> bool {
        let more = if self.family == Family::Debian { DEBIAN_PROGRAMS } else { REDHAT_PROGRAMS };
        let is_known =
            |name| [PROGRAMS, more].iter().any(|all| all.split_whitespace().any(|one| one == name));
        match path.rsplit_once('/') {
            Some(("/usr/bin", name)) => !ADMINISTRATION.contains(&name) && is_known(name),
            Some(("/usr/sbin", name)) => is_known(name),
            _ => false,
        }
    }

    /// Whether a word is one that a shell understands and no program has.
    pub(crate) fn is_shell_word(&self, word: &str) -> bool {
        SHELL_WORDS.contains(&word)
            || (self.family == Family::Debian && SHELL_WORDS_AND_PROGRAMS.contains(&word))
    }

    /// Whether the folders of a search path, all of them the platform's own, lack a program of the platform.
    pub(crate) fn lacks_program(name: &str, folders: &[String]) -> bool {
        let plain = |folder: &String| ["/usr/bin", "/usr/games"].contains(&folder.as_str());
        ADMINISTRATION.contains(&name) && !folders.is_empty() && folders.iter().all(plain)
    }

    /// The folder of the files in which cron keeps the jobs of users.
    pub(crate) fn crontabs(&self) -> &'static str {
        match self.family {
            Family::Debian => "/var/spool/cron/crontabs",
            Family::Suse => "/var/spool/cron/tabs",
            Family::RedHat => "/var/spool/cron",
        }
    }

    /// The files that every new home gets.
    pub(crate) fn skeleton(&self) -> &'static [&'static str] {
        match self.family {
            Family::Debian => &[".bash_logout", ".bashrc", ".profile"],
            Family::RedHat | Family::Suse => &[".bash_logout", ".bash_profile", ".bashrc"],
        }
    }

    /// Whether a path is the kernel's: what is in it changes by itself, and is there whatever happens.
    pub(crate) fn is_of_the_kernel(path: &str) -> bool {
        ["/proc", "/sys", "/dev"].iter().any(|folder| is_below(path, folder)) && path != "/dev/null"
    }

    /// The path that the platform's own links lead to.
    pub(crate) fn follow(&self, path: String) -> String {
        for (link, target) in &self.links {
            if let Some(rest) = path.strip_prefix(link.as_str())
                && (rest.is_empty() || rest.starts_with('/'))
            {
                return format!("{target}{rest}");
            }
        }
        path
    }
}
