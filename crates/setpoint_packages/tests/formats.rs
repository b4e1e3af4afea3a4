//! The formats that an index is built from, each as its publishers write it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufReader, Cursor, Write};
use std::path::Path;

use setpoint_packages::{Collection, ConffileKnowledge, Found, Index, PackageFacts, read};
use setpoint_source::{MemoryFileSystem, OsFileSystem};

fn index(packages: &Collection) -> Index {
    Index::from_bytes(packages.to_bytes()).unwrap()
}

fn facts(packages: &Collection, name: &str) -> PackageFacts {
    index(packages).lookup(name).unwrap().unwrap_or_else(|| panic!("{name} is not known"))
}

fn texts(list: &[Box<str>]) -> Vec<&str> {
    list.iter().map(|text| &**text).collect()
}

const CONTENTS: &str = "\
bin/ed                                                  editors/ed
etc/with space/a file\t\tadmin/odd,non-free/admin/odd-too
usr/bin/vim.basic                                       editors/vim,universe/editors/vim-nox
usr/lib/x86_64-linux-gnu/libé.so                        libs/libe1
";

#[test]
fn contents_are_paths_and_the_packages_that_have_them() {
    let mut packages = Collection::new();
    read::contents(&mut packages, CONTENTS.as_bytes(), "Contents").unwrap();
    assert_eq!(packages.names(), ["ed", "libe1", "odd", "odd-too", "vim", "vim-nox"]);
    assert_eq!(texts(&facts(&packages, "odd-too").files), ["/etc/with space/a file"]);
    assert_eq!(texts(&facts(&packages, "vim-nox").files), ["/usr/bin/vim.basic"]);
    assert_eq!(texts(&facts(&packages, "libe1").files), ["/usr/lib/x86_64-linux-gnu/libé.so"]);
    assert!(!facts(&packages, "ed").is_partial());
}

#[test]
fn prose_before_older_contents_is_passed_over() {
    let text = format!(
        "This file maps each file available\nin the archive to a package.\n\nFILE      LOCATION\n{CONTENTS}"
    );
    let mut packages = Collection::new();
    read::contents(&mut packages, text.as_bytes(), "Contents").unwrap();
    assert_eq!(packages.names(), ["ed", "libe1", "odd", "odd-too", "vim", "vim-nox"]);
}

#[test]
fn another_kind_of_file_is_said_to_be_one() {
    let mut packages = Collection::new();
    let error = read::contents(&mut packages, "no-spaces-here\n".as_bytes(), "x").unwrap_err();
    assert_eq!(error.to_string(), "x: this is no Contents index: a line is a path, spaces, and packages");
    let error = read::packages(&mut packages, "nothing here\n".as_bytes(), "y").unwrap_err();
    assert_eq!(
        error.to_string(),
        "y: line 1: this is no Packages index: a line is a field, a colon and a value"
    );
    let error =
        read::rpm(&mut packages, &mut read::RpmVersions::default(), "<html/>".as_bytes(), "z").unwrap_err();
    assert_eq!(
        error.to_string(),
        "z: the first element is <html>; RPM's metadata opens with <metadata> or <filelists>"
    );
}

#[test]
fn every_compression_is_recognised_by_its_content() {
    let plain = CONTENTS.as_bytes();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(plain).unwrap();
    let mut bz2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    bz2.write_all(plain).unwrap();
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(6)).unwrap();
    xz.write_all(plain).unwrap();
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    lz4.write_all(plain).unwrap();
    let zst = ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest);
    for (name, bytes) in [
        ("plain", plain.to_vec()),
        ("gz", gz.finish().unwrap()),
        ("bz2", bz2.finish().unwrap()),
        ("xz", xz.finish().unwrap()),
        ("lz4", lz4.finish().unwrap()),
        ("zst", zst),
    ] {
        // Mirrors and apt put several pieces after one another.
        for times in [1, 2] {
            let mut packages = Collection::new();
            let stream = read::plain(Cursor::new(bytes.repeat(times)), name).unwrap();
            read::contents(&mut packages, stream, name)
                .unwrap_or_else(|error| panic!("{name} × {times}: {error}"));
            assert_eq!(packages.len(), 6, "{name} × {times}");
            assert_eq!(packages.paths(), 6 * times, "{name} × {times}");
        }
        if name != "plain" {
            let cut = bytes[..bytes.len() - 5].to_vec();
            let mut packages = Collection::new();
            let read = read::contents(&mut packages, read::plain(Cursor::new(cut), name).unwrap(), name);
            assert!(read.is_err(), "{name}: a cut file is an error");
        }
    }
}

#[test]
fn packages_have_alternatives_versions_and_provided_names() {
    let text = "\
Package: perl
Version: 5.36.0-7
Provides: libtext-perl (= 1.0), perl5,
 libdata-dumper-perl
Depends: perl-base (= 5.36.0-7), libperl5.36 (= 5.36.0-7)
Pre-Depends: dpkg (>= 1.17.17)
Description: Larry Wall's language
 Depends: not a field

Package: golang-go
Depends: golang-1.19-go | golang-go-any:any [amd64], perl:any
Recommends: g++ | clang, gcc

Package: perl
Version: 5.30.0-1
Depends: older
";
    let mut packages = Collection::new();
    read::packages(&mut packages, text.as_bytes(), "Packages").unwrap();
    let index = index(&packages);
    let depends =
        |name: &str| index.depends(name).unwrap().iter().map(|clause| clause.join("|")).collect::<Vec<_>>();
    assert_eq!(depends("perl"), ["dpkg", "perl-base", "libperl5.36"]);
    assert_eq!(depends("golang-go"), ["golang-1.19-go|golang-go-any", "perl"]);
    assert_eq!(index.recommends("golang-go").unwrap()[0].join("|"), "g++|clang");
    assert_eq!(texts(&index.provides("perl").unwrap()), ["libtext-perl", "perl5", "libdata-dumper-perl"]);
    assert_eq!(&*index.lookup("perl5").unwrap().unwrap().name, "perl");
    assert!(index.lookup("golang-go").unwrap().unwrap().is_partial(), "a Packages index lists no files");
}

const PRIMARY: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<metadata xmlns="http://linux.duke.edu/metadata/common" xmlns:rpm="http://linux.duke.edu/metadata/rpm" packages="3">
<package type="rpm"><name>httpd</name><arch>x86_64</arch><version epoch="0" ver="2.4.57" rel="5.el9"/>
  <format>
    <rpm:provides><rpm:entry name="webserver"/><rpm:entry name="httpd" flags="EQ"/><rpm:entry name="config(httpd)"/></rpm:provides>
    <rpm:requires><rpm:entry name="/bin/sh"/><rpm:entry name="httpd-core"/><rpm:entry name="rpmlib(CompressedFileNames)"/>
      <rpm:entry name="(mod_http2 or mod_h2 &gt;= 2)"/><rpm:entry name="(selinux-policy if kernel)"/>
      <rpm:entry name="libc.so.6()(64bit)"/></rpm:requires>
    <rpm:conflicts><rpm:entry name="lighttpd"/></rpm:conflicts>
    <file>/usr/sbin/httpd</file>
  </format>
</package>
<package type="rpm"><name>bash</name><arch>x86_64</arch><version epoch="0" ver="5.1" rel="1"/>
  <format><rpm:provides><rpm:entry name="bash"/></rpm:provides><file>/usr/bin/sh</file></format>
</package>
<package type="rpm"><name>glibc</name><arch>x86_64</arch><version epoch="0" ver="2.34" rel="1"/>
  <format><rpm:provides><rpm:entry name="libc.so.6()(64bit)"/><rpm:entry name="libm.so.6()(64bit)"/></rpm:provides></format>
</package>
</metadata>"#;

const FILELISTS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<filelists xmlns="http://linux.duke.edu/metadata/filelists" packages="3">
<package pkgid="1" name="httpd" arch="x86_64"><version epoch="0" ver="2.4.53" rel="1.el9"/><file>/usr/sbin/old</file></package>
<package pkgid="2" name="httpd" arch="x86_64"><version epoch="0" ver="2.4.57" rel="5.el9"/>
  <file>/etc/httpd/conf/httpd.conf</file><file type="dir">/var/www/html</file><file type="ghost">/run/httpd.pid</file>
  <file>/usr/share/a &amp; b</file><file>/usr/lib/systemd/system/httpd.service</file></package>
<package pkgid="3" name="httpd" arch="src"><version epoch="0" ver="9" rel="1"/><file>/httpd.spec</file></package>
</filelists>"#;

#[test]
fn rpm_metadata_gives_files_and_relations() {
    for sources in [[PRIMARY, FILELISTS], [FILELISTS, PRIMARY]] {
        let mut packages = Collection::new();
        let mut versions = read::RpmVersions::default();
        for source in sources {
            read::rpm(&mut packages, &mut versions, BufReader::new(source.as_bytes()), "repodata").unwrap();
        }
        packages.resolve_required_files();
        let httpd = facts(&packages, "httpd-2.4.57-5.el9.x86_64");
        let listed =
            ["/etc/httpd/conf/httpd.conf", "/usr/lib/systemd/system/httpd.service", "/usr/share/a & b"];
        assert_eq!(texts(&httpd.files), listed, "all files, of the newest version alone");
        assert!(httpd.directories.contains(&"/var/www/html".into()));
        assert_eq!(&*httpd.services[0].name, "httpd");
        assert!(!httpd.is_partial());
        let index = index(&packages);
        let mut depends: Vec<String> =
            index.depends("httpd").unwrap().iter().map(|clause| clause.join("|")).collect();
        depends.sort();
        assert_eq!(depends, ["bash", "httpd-core", "libc.so.6()(64bit)", "mod_http2|mod_h2"]);
        assert_eq!(texts(&index.dependencies("httpd").unwrap().packages), ["bash", "glibc", "httpd"]);
        assert_eq!(
            texts(&index.provides("glibc").unwrap()),
            ["libc.so.6()(64bit)"],
            "what nobody needs is dropped"
        );
        assert_eq!(&*index.lookup("webserver").unwrap().unwrap().name, "httpd");
    }
}

#[test]
fn a_folder_of_listings_is_read_with_or_without_folders_of_platforms() {
    let mut files = MemoryFileSystem::new();
    files.add("/lists/a/monit", "/etc/monit/monitrc\n/usr/bin/monit\n/var/lib/monit/\n");
    files.add("/lists/b/monit", "/etc/monit/monitrc\n/usr/bin/monit\n/var/lib/monit/\n");
    files.add("/lists/b/nginx", "/usr/share/doc/nginx/copyright");
    let mut packages = Collection::new();
    let found = read::listings(&mut packages, &files, Path::new("/lists")).unwrap();
    assert_eq!((found.packages, found.platforms), (2, vec!["a".to_owned(), "b".to_owned()]));
    let monit = facts(&packages, "monit");
    assert_eq!(texts(&monit.files), ["/etc/monit/monitrc", "/usr/bin/monit"]);
    assert!(monit.directories.contains(&"/var/lib/monit".into()));
    assert!(!monit.is_partial());

    files.add("/lists/b/monit", "/usr/bin/monit\n");
    let error = read::listings(&mut Collection::new(), &files, Path::new("/lists")).unwrap_err();
    assert!(error.to_string().contains("give the folder of one platform: --listings /lists/b"), "{error}");
    let mut packages = Collection::new();
    read::listings(&mut packages, &files, Path::new("/lists/b")).unwrap();
    assert_eq!(texts(&facts(&packages, "monit").files), ["/usr/bin/monit"]);
    let error = read::listings(&mut Collection::new(), &files, Path::new("/nowhere")).unwrap_err();
    assert_eq!(error.to_string(), "/nowhere: there is no such folder");
}

#[test]
fn dpkg_knows_conffiles_directories_and_who_is_created() {
    let mut files = MemoryFileSystem::new();
    let info = "/var/lib/dpkg/info";
    files.add(
        format!("{info}/ntp:amd64.list"),
        "/.\n/etc\n/etc/ntp.conf\n/usr\n/usr/sbin\n/usr/sbin/ntpd\n/usr/lib\n/usr/lib/sysusers.d\n/usr/lib/sysusers.d/ntp.conf\n",
    );
    files.add(format!("{info}/ntp:amd64.conffiles"), "/etc/ntp.conf\nremove-on-upgrade /etc/old\n");
    files.add(
        "/usr/lib/sysusers.d/ntp.conf",
        "# time\nu ntp - \"Network Time\" /var/lib/ntp\ng clock -\nu www-data 33\n",
    );
    files.add(format!("{info}/hello.list"), "/.\n/usr\n/usr/bin\n/usr/bin/hello\n");
    files.add(
        format!("{info}/hello.postinst"),
        "#!/bin/sh\nHELLO_USER=hello\n# adduser --system commented\nif ! id x; then\n  adduser --quiet --system --group --home /var/lib/hello \\\n    --no-create-home $HELLO_USER >/dev/null || true\nfi\naddgroup --system greeters; adduser hello greeters\nadduser --system --group www-data\n",
    );
    files.add(
        "/var/lib/dpkg/status",
        "Package: ntp\nStatus: install ok installed\nVersion: 1\nDepends: libc6\nConffiles:\n /etc/ntp.conf 0123\n /etc/gone 0123 obsolete\n\n\
         Package: removed\nStatus: deinstall ok config-files\nVersion: 1\n",
    );
    let mut packages = Collection::new();
    let count = read::dpkg(&mut packages, &files, Path::new("/var/lib/dpkg")).unwrap();
    assert_eq!(count, 2);
    let ntp = facts(&packages, "ntp");
    assert_eq!(texts(&ntp.files), ["/etc/ntp.conf", "/usr/lib/sysusers.d/ntp.conf", "/usr/sbin/ntpd"]);
    assert_eq!(texts(&ntp.conffiles), ["/etc/ntp.conf"]);
    assert_eq!(ntp.conffile_knowledge, ConffileKnowledge::Recorded);
    assert_eq!(ntp.users.len(), 1, "{:?}", ntp.users);
    assert_eq!(ntp.users[0].home.as_deref(), Some("/var/lib/ntp"));
    assert_eq!(ntp.groups.iter().map(|group| &*group.name).collect::<Vec<_>>(), ["clock", "ntp"]);
    let hello = facts(&packages, "hello");
    assert_eq!(hello.conffile_knowledge, ConffileKnowledge::Recorded);
    assert_eq!(hello.users.iter().map(|user| &*user.name).collect::<Vec<_>>(), ["hello"]);
    assert_eq!(hello.users[0].group.as_deref(), Some("hello"));
    assert_eq!(hello.groups.iter().map(|group| &*group.name).collect::<Vec<_>>(), ["greeters", "hello"]);
    assert_eq!(index(&packages).find("removed").unwrap(), Found::Unknown);
}

#[test]
fn apts_lists_are_found_by_name() {
    let folder = std::env::temp_dir().join(format!("setpoint-apt-lists-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("partial")).unwrap();
    for name in [
        "mirror_debian_dists_bookworm_InRelease",
        "mirror_debian_dists_bookworm_main_Contents-amd64.lz4",
        "mirror_debian_dists_bookworm_main_Contents-all.lz4",
        "mirror_debian_dists_bookworm_main_Contents-source.lz4",
        "mirror_debian_dists_bookworm_main_binary-amd64_Packages.lz4",
        "mirror_debian_dists_bookworm-updates_main_binary-amd64_Packages",
    ] {
        std::fs::write(folder.join(name), "").unwrap();
    }
    let lists = read::apt_lists(&OsFileSystem, &folder).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(lists.contents.len(), 2);
    assert_eq!(lists.packages.len(), 2);
}
