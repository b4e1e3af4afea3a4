//! What differs between platforms.

/// An operating system in one release. Facts about it come from [`Platform::facts`].
#[derive(Debug, Clone, Copy)]
pub struct Platform {
    /// As `--platform` names it.
    pub name: &'static str,
    /// `$facts['os']['name']`
    pub os: &'static str,
    /// `$facts['os']['family']`
    pub family: &'static str,
    /// `$facts['os']['release']['full']`
    pub release: &'static str,
    pub(crate) shape: ReleaseShape,
    /// The distributor's id, codename and description; Linux only.
    pub(crate) distro: Option<(&'static str, &'static str, &'static str)>,
    pub(crate) kernel: &'static str,
    pub(crate) kernel_release: &'static str,
    pub(crate) architecture: &'static str,
    pub(crate) hardware: &'static str,
    pub(crate) isa: &'static str,
    pub(crate) interface: &'static str,
    pub(crate) loopback: &'static str,
    pub(crate) group: &'static str,
    pub(crate) root_home: &'static str,
    pub(crate) root_device: &'static str,
    pub(crate) root_filesystem: &'static str,
    pub(crate) filesystems: &'static str,
    pub(crate) service_provider: &'static str,
    pub(crate) package_provider: &'static str,
    /// The version of systemd, where it is the init.
    pub(crate) systemd: Option<&'static str>,
    /// The version of SELinux's policy, where it is on.
    pub(crate) selinux: Option<&'static str>,
    pub(crate) ruby: (&'static str, &'static str, &'static str),
    pub(crate) path: &'static str,
    pub(crate) vardir: &'static str,
    pub(crate) iptables: Option<&'static str>,
}

/// How Facter takes a release apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReleaseShape {
    /// `12.5` is 12 and 5.
    Dotted,
    /// `22.04` is one number.
    Whole,
    /// `14.2-RELEASE-p1` has a branch and a patch level, too.
    FreeBsd,
}

const UNIX_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const AIO_VARDIR: &str = "/opt/puppetlabs/puppet/cache";
const AIO_RUBY: (&str, &str, &str) =
    ("x86_64-linux", "/opt/puppetlabs/puppet/lib/ruby/site_ruby/3.2.0", "3.2.5");

const LINUX: Platform = Platform {
    name: "linux",
    os: "Linux",
    family: "Linux",
    release: "",
    shape: ReleaseShape::Dotted,
    distro: None,
    kernel: "Linux",
    kernel_release: "6.1.0",
    architecture: "x86_64",
    hardware: "x86_64",
    isa: "x86_64",
    interface: "eth0",
    loopback: "lo",
    group: "root",
    root_home: "/root",
    root_device: "/dev/sda1",
    root_filesystem: "ext4",
    filesystems: "ext2,ext3,ext4,vfat,xfs",
    service_provider: "systemd",
    package_provider: "",
    systemd: None,
    selinux: None,
    ruby: AIO_RUBY,
    path: UNIX_PATH,
    vardir: AIO_VARDIR,
    iptables: Some("1.8.9"),
};

const DEBIAN: Platform = Platform {
    os: "Debian",
    family: "Debian",
    architecture: "amd64",
    isa: "unknown",
    filesystems: "btrfs,ext2,ext3,ext4,xfs",
    package_provider: "apt",
    ruby: ("x86_64-linux-gnu", "/usr/local/lib/site_ruby/3.1.0", "3.1.2"),
    vardir: "/var/cache/puppet",
    ..LINUX
};

const UBUNTU: Platform = Platform {
    os: "Ubuntu",
    shape: ReleaseShape::Whole,
    isa: "x86_64",
    filesystems: "btrfs,ext2,ext3,ext4,squashfs,vfat,xfs",
    ruby: AIO_RUBY,
    vardir: AIO_VARDIR,
    ..DEBIAN
};

const RED_HAT: Platform = Platform {
    os: "RedHat",
    family: "RedHat",
    root_filesystem: "xfs",
    filesystems: "xfs",
    package_provider: "dnf",
    selinux: Some("33"),
    path: "/sbin:/bin:/usr/sbin:/usr/bin",
    ..LINUX
};

const SUSE: Platform = Platform {
    family: "Suse",
    root_filesystem: "btrfs",
    filesystems: "btrfs,ext4,xfs",
    package_provider: "zypper",
    path: "/sbin:/usr/sbin:/usr/local/sbin:/root/bin:/usr/local/bin:/usr/bin:/bin",
    ..LINUX
};

const FREEBSD: Platform = Platform {
    os: "FreeBSD",
    family: "FreeBSD",
    shape: ReleaseShape::FreeBsd,
    kernel: "FreeBSD",
    architecture: "amd64",
    hardware: "amd64",
    isa: "amd64",
    interface: "em0",
    loopback: "lo0",
    group: "wheel",
    root_device: "zroot/ROOT/default",
    root_filesystem: "zfs",
    filesystems: "zfs,ufs",
    service_provider: "freebsd",
    package_provider: "pkgng",
    vardir: "/var/puppet",
    path: "/sbin:/bin:/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin",
    iptables: None,
    ..LINUX
};

const WINDOWS: Platform = Platform {
    os: "windows",
    family: "windows",
    shape: ReleaseShape::Whole,
    kernel: "windows",
    architecture: "x64",
    isa: "x64",
    interface: "Ethernet",
    group: "Administrators",
    root_home: "C:\\Users\\Administrator",
    service_provider: "windows",
    package_provider: "windows",
    ruby: ("x64-mingw-ucrt", "C:/Program Files/Puppet Labs/Puppet/puppet/lib/ruby/site_ruby/3.2.0", "3.2.5"),
    path: "C:\\Program Files\\Puppet Labs\\Puppet\\puppet\\bin;C:\\Program Files\\Puppet \
           Labs\\Puppet\\bin;C:\\Windows\\system32;C:\\Windows;C:\\Windows\\System32\\Wbem;C:\\Windows\\System32\\\
           WindowsPowerShell\\v1.0\\",
    vardir: "C:/ProgramData/PuppetLabs/puppet/cache",
    iptables: None,
    ..LINUX
};

pub(crate) static PLATFORMS: &[Platform] = &[
    Platform {
        name: "debian-12",
        release: "12.5",
        distro: Some(("Debian", "bookworm", "Debian GNU/Linux 12 (bookworm)")),
        kernel_release: "6.1.0-18-amd64",
        systemd: Some("252"),
        ..DEBIAN
    },
    Platform {
        name: "debian-11",
        release: "11.9",
        distro: Some(("Debian", "bullseye", "Debian GNU/Linux 11 (bullseye)")),
        kernel_release: "5.10.0-28-amd64",
        systemd: Some("247"),
        ruby: ("x86_64-linux-gnu", "/usr/local/lib/site_ruby/2.7.0", "2.7.4"),
        iptables: Some("1.8.7"),
        ..DEBIAN
    },
    Platform {
        name: "debian-13",
        release: "13.1",
        distro: Some(("Debian", "trixie", "Debian GNU/Linux 13 (trixie)")),
        kernel_release: "6.12.41-amd64",
        systemd: Some("257"),
        ruby: ("x86_64-linux-gnu", "/usr/local/lib/site_ruby/3.3.0", "3.3.8"),
        iptables: Some("1.8.11"),
        ..DEBIAN
    },
    Platform {
        name: "ubuntu-24.04",
        release: "24.04",
        distro: Some(("Ubuntu", "noble", "Ubuntu 24.04.1 LTS")),
        kernel_release: "6.8.0-45-generic",
        systemd: Some("255"),
        iptables: Some("1.8.10"),
        ..UBUNTU
    },
    Platform {
        name: "ubuntu-22.04",
        release: "22.04",
        distro: Some(("Ubuntu", "jammy", "Ubuntu 22.04.5 LTS")),
        kernel_release: "5.15.0-122-generic",
        systemd: Some("249"),
        iptables: Some("1.8.7"),
        ..UBUNTU
    },
    Platform {
        name: "ubuntu-20.04",
        release: "20.04",
        distro: Some(("Ubuntu", "focal", "Ubuntu 20.04.6 LTS")),
        kernel_release: "5.4.0-196-generic",
        systemd: Some("245"),
        iptables: Some("1.8.4"),
        ..UBUNTU
    },
    Platform {
        name: "rhel-8",
        release: "8.10",
        distro: Some(("RedHatEnterprise", "Ootpa", "Red Hat Enterprise Linux release 8.10 (Ootpa)")),
        kernel_release: "4.18.0-553.el8_10.x86_64",
        systemd: Some("239"),
        iptables: Some("1.8.5"),
        ..RED_HAT
    },
    Platform {
        name: "rhel-9",
        release: "9.4",
        distro: Some(("RedHatEnterprise", "Plow", "Red Hat Enterprise Linux release 9.4 (Plow)")),
        kernel_release: "5.14.0-427.13.1.el9_4.x86_64",
        systemd: Some("252"),
        iptables: Some("1.8.10"),
        ..RED_HAT
    },
    Platform {
        name: "centos-stream-9",
        os: "CentOS",
        release: "9",
        distro: Some(("CentOSStream", "n/a", "CentOS Stream release 9")),
        kernel_release: "5.14.0-508.el9.x86_64",
        systemd: Some("252"),
        iptables: Some("1.8.10"),
        ..RED_HAT
    },
    Platform {
        name: "rocky-8",
        os: "Rocky",
        release: "8.10",
        distro: Some(("Rocky", "Green Obsidian", "Rocky Linux release 8.10 (Green Obsidian)")),
        kernel_release: "4.18.0-553.el8_10.x86_64",
        systemd: Some("239"),
        iptables: Some("1.8.5"),
        ..RED_HAT
    },
    Platform {
        name: "rocky-9",
        os: "Rocky",
        release: "9.4",
        distro: Some(("Rocky", "Blue Onyx", "Rocky Linux release 9.4 (Blue Onyx)")),
        kernel_release: "5.14.0-427.13.1.el9_4.x86_64",
        systemd: Some("252"),
        iptables: Some("1.8.10"),
        ..RED_HAT
    },
    Platform {
        name: "almalinux-8",
        os: "AlmaLinux",
        release: "8.10",
        distro: Some(("AlmaLinux", "Cerulean Leopard", "AlmaLinux release 8.10 (Cerulean Leopard)")),
        kernel_release: "4.18.0-553.el8_10.x86_64",
        systemd: Some("239"),
        iptables: Some("1.8.5"),
        ..RED_HAT
    },
    Platform {
        name: "almalinux-9",
        os: "AlmaLinux",
        release: "9.4",
        distro: Some(("AlmaLinux", "Seafoam Ocelot", "AlmaLinux release 9.4 (Seafoam Ocelot)")),
        kernel_release: "5.14.0-427.13.1.el9_4.x86_64",
        systemd: Some("252"),
        iptables: Some("1.8.10"),
        ..RED_HAT
    },
    Platform {
        name: "oraclelinux-9",
        os: "OracleLinux",
        release: "9.4",
        distro: Some(("OracleServer", "n/a", "Oracle Linux Server release 9.4")),
        kernel_release: "5.15.0-206.153.7.el9uek.x86_64",
        systemd: Some("252"),
        iptables: Some("1.8.10"),
        ..RED_HAT
    },
    Platform {
        name: "fedora",
        os: "Fedora",
        release: "41",
        distro: Some(("Fedora", "Forty One", "Fedora release 41 (Forty One)")),
        kernel_release: "6.11.4-301.fc41.x86_64",
        root_filesystem: "btrfs",
        filesystems: "btrfs,ext2,ext3,ext4,vfat",
        systemd: Some("256"),
        iptables: Some("1.8.10"),
        ..RED_HAT
    },
    Platform {
        name: "amazon-2023",
        os: "Amazon",
        release: "2023",
        distro: Some(("Amazon", "Amazon Linux", "Amazon Linux release 2023 (Amazon Linux)")),
        kernel_release: "6.1.109-118.189.amzn2023.x86_64",
        systemd: Some("252"),
        iptables: Some("1.8.8"),
        ..RED_HAT
    },
    Platform {
        name: "sles-15",
        os: "SLES",
        release: "15.6",
        distro: Some(("SUSE", "n/a", "SUSE Linux Enterprise Server 15 SP6")),
        kernel_release: "6.4.0-150600.21-default",
        systemd: Some("254"),
        iptables: Some("1.8.7"),
        ..SUSE
    },
    Platform {
        name: "opensuse",
        os: "openSUSE",
        release: "15.6",
        distro: Some(("openSUSE", "n/a", "openSUSE Leap 15.6")),
        kernel_release: "6.4.0-150600.21-default",
        systemd: Some("254"),
        iptables: Some("1.8.7"),
        ..SUSE
    },
    Platform {
        name: "archlinux",
        os: "Archlinux",
        family: "Archlinux",
        release: "6.11.1-arch1-1",
        distro: Some(("Arch", "n/a", "Arch Linux")),
        kernel_release: "6.11.1-arch1-1",
        package_provider: "pacman",
        systemd: Some("256"),
        ruby: ("x86_64-linux", "/usr/lib/ruby/site_ruby/3.2.0", "3.2.5"),
        vardir: "/var/lib/puppet",
        iptables: Some("1.8.10"),
        ..LINUX
    },
    Platform {
        name: "gentoo",
        os: "Gentoo",
        family: "Gentoo",
        release: "2.15",
        distro: Some(("Gentoo", "n/a", "Gentoo Base System release 2.15")),
        kernel_release: "6.6.51-gentoo-x86_64",
        architecture: "amd64",
        service_provider: "openrc",
        package_provider: "portage",
        ruby: ("x86_64-linux", "/usr/lib64/ruby/site_ruby/3.2.0", "3.2.5"),
        vardir: "/var/lib/puppet",
        iptables: Some("1.8.10"),
        ..LINUX
    },
    Platform {
        name: "alpine",
        os: "Alpine",
        family: "Linux",
        release: "3.20.3",
        distro: Some(("Alpine", "n/a", "Alpine Linux v3.20")),
        kernel_release: "6.6.53-0-virt",
        service_provider: "openrc",
        package_provider: "apk",
        ruby: ("x86_64-linux-musl", "/usr/local/lib/site_ruby/3.3.0", "3.3.3"),
        vardir: "/var/lib/puppet",
        iptables: Some("1.8.10"),
        ..LINUX
    },
    Platform {
        name: "freebsd-13",
        release: "13.4-RELEASE",
        kernel_release: "13.4-RELEASE",
        ruby: ("amd64-freebsd13", "/usr/local/lib/ruby/site_ruby/3.2", "3.2.5"),
        ..FREEBSD
    },
    Platform {
        name: "freebsd-14",
        release: "14.1-RELEASE",
        kernel_release: "14.1-RELEASE",
        ruby: ("amd64-freebsd14", "/usr/local/lib/ruby/site_ruby/3.2", "3.2.5"),
        ..FREEBSD
    },
    Platform {
        name: "openbsd-7",
        os: "OpenBSD",
        family: "OpenBSD",
        release: "7.5",
        shape: ReleaseShape::Dotted,
        kernel: "OpenBSD",
        kernel_release: "7.5",
        interface: "vio0",
        root_device: "/dev/sd0a",
        root_filesystem: "ffs",
        filesystems: "ffs",
        service_provider: "openbsd",
        package_provider: "openbsd",
        ruby: ("x86_64-openbsd", "/usr/local/lib/ruby/site_ruby/3.2", "3.2.5"),
        ..FREEBSD
    },
    Platform {
        name: "darwin",
        os: "Darwin",
        family: "Darwin",
        release: "23.6.0",
        shape: ReleaseShape::Dotted,
        kernel: "Darwin",
        kernel_release: "23.6.0",
        architecture: "x86_64",
        hardware: "x86_64",
        isa: "i386",
        interface: "en0",
        root_home: "/var/root",
        root_device: "/dev/disk1s1",
        root_filesystem: "apfs",
        filesystems: "apfs,autofs,devfs",
        service_provider: "launchd",
        package_provider: "pkgdmg",
        ruby: ("x86_64-darwin23", "/opt/puppetlabs/puppet/lib/ruby/site_ruby/3.2.0", "3.2.5"),
        vardir: AIO_VARDIR,
        path: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        ..FREEBSD
    },
    Platform {
        name: "solaris-11",
        os: "Solaris",
        family: "Solaris",
        release: "11.4",
        shape: ReleaseShape::Dotted,
        kernel: "SunOS",
        kernel_release: "5.11",
        architecture: "i86pc",
        hardware: "i86pc",
        isa: "i386",
        interface: "net0",
        group: "root",
        root_device: "rpool/ROOT/solaris",
        filesystems: "ufs,zfs",
        service_provider: "smf",
        package_provider: "pkg",
        ruby: ("i386-solaris2.11", "/opt/puppetlabs/puppet/lib/ruby/site_ruby/3.2.0", "3.2.5"),
        vardir: AIO_VARDIR,
        path: "/usr/sbin:/usr/bin",
        ..FREEBSD
    },
    Platform { name: "windows-2019", release: "2019", kernel_release: "10.0.17763", ..WINDOWS },
    Platform { name: "windows-2022", release: "2022", kernel_release: "10.0.20348", ..WINDOWS },
];
