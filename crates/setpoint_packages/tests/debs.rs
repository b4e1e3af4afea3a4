//! Packages themselves are read: what they install, what their scripts make, what they exclude; and hostile ones are refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Write;
use std::path::Path;

use setpoint_packages::{Collection, ConffileKnowledge, Index, PackageFacts, read};
use setpoint_source::MemoryFileSystem;
use tar::EntryType;

/// A package under construction.
#[derive(Default)]
struct Deb {
    control: Vec<(String, EntryType, Vec<u8>)>,
    data: Vec<(String, EntryType, Vec<u8>)>,
}

impl Deb {
    fn new(fields: &str) -> Self {
        let mut deb = Self::default();
        deb.control.push(("./control".into(), EntryType::Regular, fields.into()));
        deb
    }

    fn script(mut self, name: &str, text: &str) -> Self {
        self.control.push((format!("./{name}"), EntryType::Regular, text.into()));
        self
    }

    fn file(mut self, path: &str, text: &str) -> Self {
        self.data.push((format!(".{path}"), EntryType::Regular, text.into()));
        self
    }

    fn directory(mut self, path: &str) -> Self {
        self.data.push((format!(".{path}/"), EntryType::Directory, Vec::new()));
        self
    }

    fn bytes(&self) -> Vec<u8> {
        archive(&[
            ("debian-binary", b"2.0\n".to_vec()),
            ("control.tar.gz", gzip(&tar_of(&self.control))),
            ("data.tar.xz", xz(&tar_of(&self.data))),
        ])
    }
}

fn tar_of(entries: &[(String, EntryType, Vec<u8>)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, kind, bytes) in entries {
        let mut header = tar::Header::new_gnu();
        // The crate refuses to write what a hostile archive has.
        header.as_old_mut().name[..path.len().min(100)]
            .copy_from_slice(&path.as_bytes()[..path.len().min(100)]);
        header.set_entry_type(*kind);
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append(&header, &bytes[..]).unwrap();
    }
    builder.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut writer = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn archive(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        writeln!(out, "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`", 0, 0, 0, 100_644, bytes.len()).unwrap();
        out.extend_from_slice(bytes);
        if bytes.len() % 2 == 1 {
            out.push(b'\n');
        }
    }
    out
}

fn index_of(debs: &[Vec<u8>]) -> Index {
    let mut packages = Collection::new();
    for bytes in debs {
        read::deb(&mut packages, &bytes[..], "some.deb").unwrap();
    }
    Index::from_bytes(packages.to_bytes()).unwrap()
}

fn facts(deb: &Deb, name: &str) -> PackageFacts {
    index_of(&[deb.bytes()]).lookup(name).unwrap().unwrap()
}

fn refused(bytes: &[u8]) -> String {
    let mut packages = Collection::new();
    let reason = read::deb(&mut packages, bytes, "bad.deb").expect_err("it must be refused").to_string();
    assert!(packages.is_empty(), "a package that is refused leaves nothing behind: {reason}");
    reason
}

fn texts(list: &[Box<str>]) -> Vec<&str> {
    list.iter().map(|text| &**text).collect()
}

const WEB: &str = "Package: web\nVersion: 1.0\nArchitecture: all\nDepends: libc6, web-common (= 1.0)\n";

#[test]
fn a_package_is_read_with_all_that_it_brings() {
    let deb = Deb::new(WEB)
        .script("conffiles", "/etc/web/web.conf\n")
        .script(
            "postinst",
            "#!/bin/sh\nset -e\ncase \"$1\" in\n configure)\n install -d -o web /var/cache/web\n ;;\nesac\n",
        )
        .directory("/etc/web/conf.d")
        .directory("/var/lib/web")
        .file("/etc/web/web.conf", "x")
        .file("/lib/systemd/system/web.service", "[Unit]")
        .file("/usr/lib/sysusers.d/web.conf", "u web - \"Web\" /var/lib/web\n")
        .file("/usr/lib/tmpfiles.d/web.conf", "d /run/web 0755 web web\nL /run/web/log - - - - /var/log\n");
    let web = facts(&deb, "web");
    assert!(web.lists_empty_directories);
    assert_eq!(web.empty_directories().collect::<Vec<_>>(), ["/etc/web/conf.d", "/var/lib/web"]);
    assert_eq!(texts(&web.conffiles), ["/etc/web/web.conf"]);
    assert_eq!(web.conffile_knowledge, ConffileKnowledge::Recorded);
    assert!(web.generated_directories.contains(&"/var/cache/web".into()));
    assert!(web.generated_directories.contains(&"/run/web".into()));
    assert_eq!(texts(&web.generated), ["/run/web/log"]);
    assert_eq!(&*web.users[0].name, "web");
    assert_eq!(&*web.services[0].name, "web");
    assert!(web.covers("/etc/web/other"));
}

/// Puts a script into a package and gives what it makes for certain, and what it makes perhaps.
fn made_by(script: &str) -> (Vec<String>, Vec<String>) {
    let made = facts(&Deb::new(WEB).script("postinst", script), "web");
    let tops = made.generated_directories.iter().filter(|path| {
        let below = format!("{path}/");
        !made.generated_directories.iter().chain(&made.generated).any(|other| other.starts_with(&below))
    });
    let mut certain: Vec<String> = tops.chain(&made.generated).map(ToString::to_string).collect();
    certain.sort();
    (certain, made.conditional.iter().map(ToString::to_string).collect())
}

#[test]
fn scripts_are_read_as_far_as_they_are_plain() {
    for (script, certain, perhaps) in [
        ("mkdir -p -m 750 /var/lib/a /srv/b", &["/srv/b", "/var/lib/a"][..], &[][..]),
        ("DIR=/var/lib/a\nmkdir $DIR \"${DIR}2\"", &["/var/lib/a", "/var/lib/a2"], &[]),
        ("[ -d /srv/a ] || mkdir /srv/a", &["/srv/a"], &[]),
        ("if [ ! -e /srv/a ]; then mkdir /srv/a; fi", &["/srv/a"], &[]),
        ("if ! getent passwd web > /dev/null; then mkdir /srv/a; fi", &["/srv/a"], &[]),
        ("if [ \"$1\" = configure ] && [ -z \"$2\" ]; then touch /etc/a; fi", &["/etc/a"], &[]),
        // Of an upgrade nothing is made at the first installation.
        ("if [ \"$1\" = configure ] && [ -n \"$2\" ]; then touch /etc/a; fi", &[], &[]),
        ("if [ -n \"$2\" ]; then touch /etc/a; else touch /etc/b; fi", &["/etc/b"], &[]),
        (
            "case $1 in\n abort-upgrade|abort-remove)\n mkdir /srv/a;;\n configure) mkdir /srv/b ;;\nesac",
            &["/srv/b"],
            &[],
        ),
        ("case \"$1\" in (configure | triggered) mkdir /srv/b ;; esac", &["/srv/b"], &[]),
        (
            "db_get web/own\nif [ \"$RET\" = true ]; then\n  mkdir /srv/a\nelif some-question; then mkdir /srv/b\nelse mkdir /srv/c\nfi\nmkdir /srv/d",
            &["/srv/d"],
            &["/srv/a", "/srv/b", "/srv/c"],
        ),
        ("for d in a b; do mkdir /srv/$d; mkdir /srv/c; done; mkdir /srv/e", &["/srv/e"], &["/srv/c"]),
        ("while read x; do mkdir /srv/c; done < /etc/x\nmkdir /srv/e", &["/srv/e"], &["/srv/c"]),
        ("make_it() {\n mkdir /srv/a\n}\nmkdir /srv/b", &["/srv/b"], &["/srv/a"]),
        ("make_it ()\n{\n mkdir /srv/a\n}\nmkdir /srv/b", &["/srv/b"], &["/srv/a"]),
        ("test -x /usr/bin/x && mkdir /srv/a\nmkdir /srv/b || true", &["/srv/b"], &["/srv/a"]),
        ("cat > /etc/x <<EOF\nmkdir /srv/a\nEOF\nmkdir /srv/b", &["/srv/b"], &[]),
        ("mkdir /srv/$(hostname) /srv/`id` /srv/* /tmp/x ../x", &[], &[]),
        ("install -m 644 -o root /usr/share/a /etc/a", &[], &["/etc/a"]),
        ("install -o root -g root -m 755 -d /srv/a", &["/srv/a"], &[]),
        ("ln -sf ../a /etc/rc.a", &["/etc/rc.a"], &[]),
        ("ucf --three-way --debconf-ok /usr/share/web/a /etc/a", &["/etc/a"], &[]),
        (
            "update-alternatives --install /usr/bin/editor editor /usr/bin/web 50 \\\n --slave /usr/share/man/e.1 e.1 /usr/share/x",
            &["/etc/alternatives/e.1", "/etc/alternatives/editor", "/usr/bin/editor", "/usr/share/man/e.1"],
            &[],
        ),
        ("adduser --system --home /var/lib/web --group web", &["/var/lib/web"], &[]),
        ("adduser --system --no-create-home --home /var/lib/web web", &[], &[]),
        ("echo \"two\nlines; mkdir /srv/a\"\nmkdir /srv/b", &["/srv/b"], &[]),
        ("echo 'never closed\nmkdir /srv/a", &[], &[]),
    ] {
        let (made, conditional) = made_by(script);
        assert_eq!(
            (&made[..], &conditional[..]),
            (&texts_of(certain)[..], &texts_of(perhaps)[..]),
            "{script}"
        );
    }
}

fn texts_of(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

#[test]
fn what_a_script_makes_perhaps_is_not_denied() {
    let deb = Deb::new(WEB).script("postinst", "if some-question; then mkdir /srv/web; fi");
    let web = facts(&deb, "web");
    assert!(!web.has_path("/srv/web") && !web.covers("/srv/web") && web.covers("/srv/other"));
}

#[test]
fn the_newest_version_counts_and_replaces_what_indexes_list() {
    let old = Deb::new("Package: web\nVersion: 1.0\n").file("/etc/old", "");
    let new = Deb::new("Package: web\nVersion: 1.1\nDepends: a\n").file("/etc/new", "");
    for order in [[&old, &new], [&new, &old]] {
        let index = index_of(&order.map(Deb::bytes));
        assert_eq!(texts(&index.lookup("web").unwrap().unwrap().files), ["/etc/new"]);
        assert_eq!(index.depends("web").unwrap().len(), 1);
    }
    let mut packages = Collection::new();
    read::contents(&mut packages, "etc/gone   web\n".as_bytes(), "Contents").unwrap();
    assert!(
        !Index::from_bytes(packages.to_bytes())
            .unwrap()
            .lookup("web")
            .unwrap()
            .unwrap()
            .lists_empty_directories
    );
    read::deb(&mut packages, &old.bytes()[..], "old").unwrap();
    let web = Index::from_bytes(packages.to_bytes()).unwrap().lookup("web").unwrap().unwrap();
    assert_eq!(texts(&web.files), ["/etc/old"]);
}

fn relations(text: &str) -> Index {
    let mut packages = Collection::new();
    read::packages(&mut packages, text.as_bytes(), "Packages").unwrap();
    Index::from_bytes(packages.to_bytes()).unwrap()
}

const MAIL: &str = "\
Package: postfix\nVersion: 3\nProvides: mail-transport-agent\nConflicts: mail-transport-agent, libnss-db (<< 2)\n
Package: exim4\nVersion: 4\nDepends: exim4-daemon-light | exim4-daemon-heavy\n
Package: exim4-daemon-light\nVersion: 4\nDepends: exim4-base\nProvides: mail-transport-agent, default-mta\nConflicts: mail-transport-agent\n
Package: exim4-daemon-heavy\nVersion: 4\nProvides: mail-transport-agent\nConflicts: mail-transport-agent\n
Package: exim4-base\nVersion: 4\nBreaks: exim4-old (<< 4), broken (<= 2)\n
Package: broken\nVersion: 2\n
Package: libnss-db\nVersion: 2\n
Package: mailutils\nVersion: 1\nDepends: default-mta | mail-transport-agent\n
Package: old-api\nVersion: 1\nConflicts: api (<< 3)\n
Package: two\nVersion: 9\nProvides: api (= 2)\n
Package: three\nVersion: 9\nProvides: api (= 3)\n
Package: unversioned\nVersion: 1\nProvides: api\n";

#[test]
fn packages_that_conflict_exclude_each_other_in_the_versions_of_the_release() {
    let index = relations(MAIL);
    let exclude = |one: &str, other: &str| !index.exclusions(&[one, other]).unwrap().is_empty();
    assert!(exclude("postfix", "exim4-daemon-light") && exclude("exim4-daemon-heavy", "postfix"));
    assert!(exclude("exim4", "postfix"), "each of the two that it needs one of conflicts");
    assert!(!exclude("exim4", "exim4-daemon-heavy") && !exclude("postfix", "mailutils"));
    assert!(!exclude("postfix", "postfix") && !exclude("postfix", "no-such-package"));
    assert!(!exclude("postfix", "libnss-db"), "only older versions conflict");
    assert!(exclude("broken", "exim4-daemon-light"), "what comes with it breaks the other one");
    assert!(exclude("old-api", "two") && !exclude("old-api", "three") && !exclude("old-api", "unversioned"));
    let all = ["postfix", "mailutils", "exim4", "exim4-daemon-light"];
    assert_eq!(index.exclusions(&all).unwrap(), [(0, 2), (0, 3)]);
}

#[test]
fn an_alternative_that_is_there_brings_no_other() {
    let index = relations(MAIL);
    let needed = index.dependencies("mailutils").unwrap();
    assert_eq!(texts(&needed.packages), ["exim4-base", "exim4-daemon-light", "mailutils"]);
    let chosen: Vec<(&str, Vec<&str>)> =
        needed.choices.iter().map(|choice| (&*choice.chosen, texts(&choice.instead))).collect();
    assert_eq!(chosen, [("exim4-daemon-light", vec!["exim4-daemon-heavy", "postfix"])]);
    assert_eq!(texts(&index.dependencies_beside("mailutils", "postfix").unwrap().packages), ["mailutils"]);
}

#[test]
fn a_package_that_is_cut_is_refused() {
    let deb = Deb::new(WEB)
        .script("postinst", "mkdir /srv/a")
        .directory("/etc/web")
        .file("/etc/web/a", "text")
        .bytes();
    for length in 0..deb.len() {
        let mut packages = Collection::new();
        let read = read::deb(&mut packages, &deb[..length], "cut.deb");
        assert!(read.is_err(), "{length} of {} bytes", deb.len());
        assert!(packages.is_empty(), "{length} of {} bytes", deb.len());
    }
    for at in 0..deb.len() {
        let mut changed = deb.clone();
        changed[at] ^= 0x55;
        // It may be another package now; it must not be the end of the program.
        let _ = read::deb(&mut Collection::new(), &changed[..], "changed.deb");
    }
}

#[test]
fn hostile_packages_are_refused() {
    assert!(refused(b"").contains("ends too early"));
    assert!(refused(b"PK\x03\x04 something else").contains("no Debian package"));
    assert!(refused(&archive(&[("debian-binary", b"3.0\n".to_vec())])).contains("`3.0`"));
    assert!(refused(&archive(&[("debian-binary", b"2.0\n".to_vec())])).contains("no `control.tar`"));
    let control = gzip(&tar_of(&Deb::new(WEB).control));
    let with_data = |data: Vec<u8>| {
        archive(&[
            ("debian-binary", b"2.0\n".to_vec()),
            ("control.tar.gz", control.clone()),
            ("data.tar.gz", data),
        ])
    };
    assert!(refused(&archive(&[("control.tar.gz", control.clone())])).contains("first member"));
    assert!(refused(&archive(&[("debian-binary", b"2.0\n".to_vec()), ("evil", vec![])])).contains("`evil`"));
    for path in ["./../etc/passwd", "/etc/../../x", ".."] {
        let data = gzip(&tar_of(&[(path.to_owned(), EntryType::Regular, vec![])]));
        assert!(refused(&with_data(data)).contains("leads out of the archive"), "{path}");
    }
    // Some kilobytes that become hundreds of megabytes.
    let bomb = gzip(&tar_of(&[("./big".to_owned(), EntryType::Regular, vec![0; 200 << 20])]));
    assert!(bomb.len() < 1 << 20);
    assert!(refused(&with_data(bomb)).contains("unpacks to more than"));
    let nameless = gzip(&tar_of(&Deb::new("Version: 1\n").control));
    let data = gzip(&tar_of(&[]));
    let bytes =
        archive(&[("debian-binary", b"2.0\n".to_vec()), ("control.tar.gz", nameless), ("data.tar.gz", data)]);
    assert!(refused(&bytes).contains("names no package"));
    // A size that no file has.
    let mut huge = archive(&[("debian-binary", b"2.0\n".to_vec()), ("control.tar", vec![0; 512])]);
    let at = huge.len() - 512 - 12;
    huge[at..at + 10].copy_from_slice(b"9999999999");
    assert!(refused(&huge).contains("ends too early") || refused(&huge).contains("no file `control`"));
}

#[test]
fn a_folder_is_read_by_name_and_must_have_packages() {
    let mut files = MemoryFileSystem::new();
    files.add("/debs/web_1.deb", Deb::new(WEB).file("/etc/a", "").bytes());
    files.add("/debs/README", "no package");
    files.add("/none/README", "no package");
    let mut packages = Collection::new();
    assert_eq!(read::debs(&mut packages, &files, Path::new("/debs")).unwrap(), 1);
    assert!(read::debs(&mut packages, &files, Path::new("/none")).is_err());
    assert!(read::debs(&mut packages, &files, Path::new("/nowhere")).is_err());
    files.add("/debs/broken.deb", "!<arch>\n");
    let error = read::debs(&mut packages, &files, Path::new("/debs")).unwrap_err();
    assert_eq!(error.origin, "/debs/broken.deb");
}
