//! The indexes that are built in: the packages that Puppet modules install most, and what they depend on.
//!
//! `cargo xtask packages` makes them of what the distributions publish, for the names in `builtin/names.txt`. To stay small they
//! leave out files that no manifest manages ([`crate::is_trimmed`]); RPM platforms have the curated table alone.

use std::collections::BTreeSet;
use std::path::Path;

use setpoint_source::FileSystem;

use crate::exclusive::exclusions;
use crate::index::Closure;
use crate::relations::{self, Relation, Relations};
use crate::{Collection, Index, IndexError, Platform, read};

/// The packages of the built-in indexes; `#` starts a comment.
pub const BUILTIN_NAMES: &str = include_str!("builtin/names.txt");

pub(crate) fn index(platform: Platform) -> Index {
    let bytes: &'static [u8] = match platform.name() {
        "debian-11" => include_bytes!("builtin/debian-11.index"),
        "debian-12" => include_bytes!("builtin/debian-12.index"),
        "debian-13" => include_bytes!("builtin/debian-13.index"),
        "ubuntu-20.04" => include_bytes!("builtin/ubuntu-20.04.index"),
        "ubuntu-22.04" => include_bytes!("builtin/ubuntu-22.04.index"),
        "ubuntu-24.04" => include_bytes!("builtin/ubuntu-24.04.index"),
        _ => return Index::empty(),
    };
    // A test reads every package of every index that is built in.
    Index::from_bytes(bytes).unwrap_or_default()
}

/// Folders below `/usr/share` whose files the built-in indexes leave out, by how their names start.
const LEFT_OUT_SHARE: [&str; 58] = [
    "GeoIP",
    "X11",
    "alsa",
    "apport",
    "applications",
    "bash-completion",
    "bug",
    "cups",
    "dbus-1",
    "doc",
    "emacs",
    "fonts",
    "gir",
    "glib-2.0",
    "go",
    "gtk-doc",
    "help",
    "i18n",
    "icinga",
    "icons",
    "info",
    "java",
    "javascript",
    "jruby",
    "lintian",
    "locale",
    "m17n",
    "man",
    "maven-repo",
    "menu",
    "metainfo",
    "mime",
    "nmap",
    "nodejs",
    "openstack-dashboard",
    "osinfo",
    "perl",
    "php",
    "pixmaps",
    "polkit-1",
    "pyshared",
    "python",
    "qemu",
    "reportbug",
    "ruby",
    "rubygems",
    "sgml",
    "sounds",
    "squid-langpack",
    "tcltk",
    "texmf",
    "themes",
    "vim",
    "xml",
    "zabbix",
    "zoneinfo",
    "zsh",
    "phpmyadmin",
];
/// The same elsewhere.
const LEFT_OUT: [&str; 15] = [
    "/usr/include/",
    "/usr/src/",
    "/usr/lib/modules/",
    "/lib/modules/",
    "/usr/lib/python",
    "/usr/lib/ruby/",
    "/usr/lib/jvm/",
    "/usr/lib/gcc",
    "/usr/lib/x86_64-linux-gnu/",
    "/lib/x86_64-linux-gnu/",
    "/usr/lib/go",
    "/usr/lib/erlang/",
    "/usr/lib/debug/",
    "/usr/lib/firmware/",
    "/lib/firmware/",
];

fn left_out(path: &str) -> bool {
    match path.strip_prefix("/usr/share/") {
        Some(inner) => LEFT_OUT_SHARE.iter().any(|start| inner.starts_with(start)),
        None => LEFT_OUT.iter().any(|start| path.starts_with(start)),
    }
}

/// Makes the built-in index of one platform from a folder with its Contents and Packages indexes, and in `debs` the packages
/// themselves. Of a package that is not there, empty directories, conffiles and the work of scripts are not known.
pub fn make_builtin(files: &dyn FileSystem, folder: &Path) -> Result<Collection, IndexError> {
    let lists = read::apt_lists(files, folder)?;
    let mut all = Collection::new();
    for path in &lists.packages {
        read::packages(&mut all, read::open(files, path)?, &path.display().to_string())?;
    }
    let relations = Relations::from_bytes(&relations::to_bytes(&all.sorted()))
        .map_err(|reason| IndexError::new(folder.display().to_string(), reason))?;
    let named: BTreeSet<&str> = BUILTIN_NAMES
        .lines()
        .map(str::trim)
        .filter(|name| !name.is_empty() && !name.starts_with('#') && all.contains(name))
        .collect();
    let mut closure = Closure::new(&relations);
    for number in named.iter().filter_map(|name| relations.number(name)) {
        closure.add(number);
    }
    closure.run(false);
    let wanted: BTreeSet<&str> = closure.order.iter().map(|number| relations.name(*number)).collect();
    all.retain(|name| wanted.contains(name));
    for path in &lists.contents {
        let is_wanted = |name: &str| wanted.contains(name);
        read::contents_of(&mut all, read::open(files, path)?, &path.display().to_string(), is_wanted)?;
    }
    let debs = folder.join("debs");
    if files.is_dir(&debs) {
        read::debs(&mut all, files, &debs)?;
        all.retain(|name| wanted.contains(name));
    }
    // Of alternatives that the index leaves out nothing follows any more, so that it is derived here.
    let members: Vec<u32> = wanted.iter().filter_map(|name| relations.number(name)).collect();
    for (one, other) in exclusions(&relations, &members) {
        let [one, other] = [one, other].map(|at| relations.name(members[at]));
        all.add_excludes(one, Relation { name: other.into(), version: None });
    }
    for name in &wanted {
        let is_named = named.contains(name);
        all.trim(name, |path| is_named && !left_out(path));
    }
    Ok(all)
}
