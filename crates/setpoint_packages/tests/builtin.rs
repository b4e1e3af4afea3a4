//! What is built in can be read to its last package, and says what it does not know.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use setpoint_packages::{
    BUILTIN_NAMES, ConffileKnowledge, Coverage, CuratedTable, Family, Index, PLATFORMS, Platform,
};

#[test]
fn every_platform_knows_what_modules_install() {
    for platform in PLATFORMS {
        let index = Index::builtin(*platform);
        let ssh = index
            .lookup("openssh-server")
            .unwrap()
            .unwrap_or_else(|| panic!("{platform} lacks openssh-server"));
        assert!(ssh.users.iter().any(|user| &*user.name == "sshd"), "{platform}");
        assert!(ssh.has_path("/usr/sbin/sshd"), "{platform}");
        assert!(ssh.has_path("/etc/ssh/sshd_config"), "{platform}");
        assert!(ssh.services.iter().any(|service| matches!(&*service.name, "ssh" | "sshd")), "{platform}");
        let partial = platform.family() != Family::Debian;
        assert_eq!(ssh.is_partial(), partial, "{platform}: what is curated is partial, and says so");
        assert!(!ssh.covers("/usr/lib/openssh/sftp-server"), "{platform}");
        assert_eq!(ssh.covers("/etc/ssh/other"), !partial, "{platform}");
        assert!(index.lookup("no-such-package").unwrap().is_none());
    }
}

#[test]
fn every_package_of_the_built_in_indexes_can_be_read() {
    for platform in PLATFORMS.iter().filter(|platform| platform.family() == Family::Debian) {
        let index = Index::builtin(*platform);
        let mut known = 0;
        let mut needed_by_any = std::collections::BTreeSet::new();
        for name in BUILTIN_NAMES.lines().filter(|line| !line.starts_with('#')) {
            let Some(facts) = index.lookup(name).unwrap() else { continue };
            known += 1;
            assert!(facts.files.is_sorted() && facts.directories.is_sorted(), "{platform} {name}");
            assert!(facts.conffiles.iter().all(|path| facts.files.contains(path)), "{platform} {name}");
            assert!(facts.files.iter().all(|path| path.starts_with('/')), "{platform} {name}");
            let needed = index.dependencies(name).unwrap();
            assert_eq!(needed.unknown, Vec::<Vec<Box<str>>>::new(), "{platform} {name}");
            needed_by_any.extend(needed.packages);
        }
        for dependency in needed_by_any {
            assert!(index.lookup(&dependency).unwrap().is_some(), "{platform}: {dependency}");
        }
        assert!(known > 500, "{platform}: {known}");
        assert!(index.summary().packages > 2000, "{platform}");
    }
}

#[test]
fn conffiles_and_users_come_from_the_packages_themselves() {
    let index = Index::builtin(Platform::parse("debian-12").unwrap());
    let mysql = index.lookup("mariadb-server").unwrap().unwrap();
    assert_eq!(mysql.conffile_knowledge, ConffileKnowledge::Recorded);
    assert_eq!(mysql.coverage, Coverage::Trimmed);
    assert!(mysql.is_conffile("/etc/mysql/mariadb.conf.d/50-server.cnf"));
    assert!(mysql.users.iter().any(|user| &*user.name == "mysql"));
    assert!(mysql.has_path("/var/lib/mysql"));
    let chrony = index.lookup("chrony").unwrap().unwrap();
    assert!(chrony.generated.contains(&"/etc/chrony/chrony.conf".into()), "ucf makes it; it is no conffile");
    assert!(!chrony.is_conffile("/etc/chrony/chrony.conf"));
    // The figure 3c of Rehearsal: the compiler of Go needs perl.
    let gone = index.dependants("perl").unwrap();
    assert!(gone.certain.iter().any(|name| &**name == "git"), "{:?}", gone.certain);
}

#[test]
fn a_package_that_only_stands_for_another_has_no_users_of_its_own() {
    let index = Index::builtin(Platform::parse("debian-12").unwrap());
    let ntp = index.lookup("ntp").unwrap().unwrap();
    assert_eq!(ntp.users, []);
    assert!(index.dependencies("ntp").unwrap().packages.contains(&"ntpsec".into()));
    assert!(index.lookup("ntpsec").unwrap().unwrap().users.iter().any(|user| &*user.name == "ntpsec"));
}

#[test]
fn curated_tables_have_no_line_that_says_nothing() {
    for (name, text) in [
        ("debian", include_str!("../src/curated/debian.txt")),
        ("redhat", include_str!("../src/curated/redhat.txt")),
        ("suse", include_str!("../src/curated/suse.txt")),
    ] {
        let (table, wrong) = CuratedTable::read(text, "/units");
        assert_eq!(wrong, Vec::<String>::new(), "{name}");
        assert!(table.names().count() > 50, "{name}");
    }
    let (_, wrong) = CuratedTable::read("user x\npackage p\n  dir relative\n  wonder 1\n  file\n", "/units");
    assert_eq!(
        wrong,
        [
            "line 1: no package is named yet",
            "line 3: `relative` is no absolute path",
            "line 4: `wonder` is no kind of fact",
            "line 5: `file` says nothing"
        ]
    );
}

#[test]
fn platforms_have_the_names_that_people_and_facts_use() {
    for (text, name) in [
        ("debian-12", Some("debian-12")),
        ("Debian 12", Some("debian-12")),
        ("ubuntu-22.04", Some("ubuntu-22.04")),
        ("centos-8", Some("rhel-8")),
        ("rocky-9", Some("rhel-9")),
        ("fedora-41", Some("fedora")),
        ("fedora", Some("fedora")),
        ("sles-15", Some("sles")),
        ("windows-2022", None),
        ("debian-99", None),
    ] {
        assert_eq!(Platform::parse(text).map(Platform::name), name, "{text}");
    }
    assert_eq!(Platform::of("RedHat", "8.9").map(Platform::name), Some("rhel-8"));
    assert_eq!(Platform::of("Debian", "12.5").map(Platform::name), Some("debian-12"));
}
