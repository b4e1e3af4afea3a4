//! Packages themselves: a `.deb` is an archive of `ar` with two archives of `tar`, one with what the package says of itself and one with
//! what it installs.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use setpoint_source::FileSystem;

use super::packages::{relations, stanzas};
use super::{Script, plain, script, sysusers, tmpfiles};
use crate::file::side_by_side;
use crate::{Collection, IndexError};

const MAGIC: &[u8; 8] = b"!<arch>\n";
const HEADER: usize = 60;
/// No package has more: a hostile one shall not fill the memory or run for ever.
const MAX_CONTROL: u64 = 64 << 20;
const MAX_TEXT: u64 = 4 << 20;
const MAX_ENTRIES: usize = 2_000_000;
const MAX_PATH: usize = 4096;
/// Real packages unpack to some thirty times their size, small ones to more.
const MAX_RATIO: u64 = 500;

/// Reads the packages in a folder. Returns how many there are.
pub fn debs(into: &mut Collection, files: &dyn FileSystem, folder: &Path) -> Result<usize, IndexError> {
    let origin = folder.display().to_string();
    if !files.is_dir(folder) {
        return Err(IndexError::new(origin, "there is no such folder"));
    }
    let mut names = files.list(folder);
    names.retain(|name| has_ending(name, "deb"));
    if names.is_empty() {
        return Err(IndexError::new(origin, "there is no file in it whose name ends with `.deb`"));
    }
    let read = side_by_side(names.len(), |at| {
        let path = folder.join(&names[at]);
        let origin = path.display().to_string();
        let file = files.open(&path).map_err(|error| IndexError::new(origin.clone(), error.reason))?;
        let mut alone = Collection::new();
        deb(&mut alone, BufReader::with_capacity(1 << 16, file), &origin)?;
        Ok(alone)
    });
    for alone in read {
        into.take_over(alone?);
    }
    Ok(names.len())
}

/// Reads one package: relations, files, directories, conffiles, and what its scripts make. Of several versions the newest
/// counts.
pub fn deb(into: &mut Collection, mut reader: impl BufRead, origin: &str) -> Result<(), IndexError> {
    let failed = |reason: String| IndexError::new(origin, reason);
    let mut magic = [0; MAGIC.len()];
    read_all(&mut reader, &mut magic, origin)?;
    if &magic != MAGIC {
        return Err(failed("this is no Debian package: it does not start as an archive".to_owned()));
    }
    let mut control: Option<Control> = None;
    let mut has_version = false;
    loop {
        let Some(member) = next_member(&mut reader, origin)? else {
            let missing = if control.is_none() { "control.tar" } else { "data.tar" };
            return Err(failed(format!(
                "the package has no `{missing}`: it is damaged or was not fully copied"
            )));
        };
        let mut inner = (&mut reader).take(member.size);
        if member.name == "debian-binary" {
            let text = read_text(&mut inner, 64, origin)?;
            if !text.starts_with("2.") {
                return Err(failed(format!(
                    "its format is `{}`, and `2.0` is the one that is read",
                    text.trim()
                )));
            }
            has_version = true;
        } else if !has_version {
            return Err(failed(
                "this is no Debian package: its first member is not `debian-binary`".to_owned(),
            ));
        } else if member.name.starts_with("control.tar") && control.is_none() {
            control = Some(read_control(&mut inner, member.size, origin)?);
        } else if member.name.starts_with("data.tar") {
            let Some(control) = control else {
                return Err(failed("`data.tar` stands before `control.tar`".to_owned()));
            };
            into.take_over(read_data(&control, &mut inner, member.size, origin)?);
            return Ok(());
        } else if !member.name.starts_with('_') {
            // Names that start with an underscore may be passed over, by the format itself.
            return Err(failed(format!("it has a member `{}` that no package has", printable(&member.name))));
        }
        skip_rest(&mut inner, origin)?;
        if member.size % 2 == 1 {
            let mut padding = [0; 1];
            read_all(&mut reader, &mut padding, origin)?;
        }
    }
}

/// What a package says of itself.
#[derive(Default)]
struct Control {
    fields: String,
    conffiles: String,
    scripts: Vec<(Script, String)>,
}

fn read_control(reader: impl Read, size: u64, origin: &str) -> Result<Control, IndexError> {
    let mut found = Control::default();
    let mut has_control = false;
    entries(reader, limit(size).min(MAX_CONTROL), origin, |path, _, entry| {
        match path {
            "/control" => {
                has_control = true;
                found.fields = read_text(entry, MAX_TEXT, origin)?;
            }
            "/conffiles" => found.conffiles = read_text(entry, MAX_TEXT, origin)?,
            "/preinst" => found.scripts.push((Script::Preinst, read_text(entry, MAX_TEXT, origin)?)),
            "/postinst" => found.scripts.push((Script::Postinst, read_text(entry, MAX_TEXT, origin)?)),
            _ => {}
        }
        Ok(())
    })?;
    if has_control {
        Ok(found)
    } else {
        Err(IndexError::new(origin, "its `control.tar` has no file `control`"))
    }
}

/// The package as a collection of its own.
fn read_data(
    control: &Control,
    data: &mut io::Take<impl Read>,
    size: u64,
    origin: &str,
) -> Result<Collection, IndexError> {
    let mut alone = Collection::new();
    let mut identity = None;
    stanzas(control.fields.as_bytes(), origin, |stanza| {
        let field = |name| stanza.get(name).filter(|value| !value.is_empty()).map(str::to_owned);
        if let (Some(name), Some(version)) = (field("package"), field("version")) {
            identity.get_or_insert((name, version));
        }
    })?;
    let Some((name, _)) = identity else {
        return Err(IndexError::new(origin, "its file `control` names no package and version"));
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    if !name.chars().all(is_name) {
        return Err(IndexError::new(origin, format!("`{}` is no name of a package", printable(&name))));
    }
    stanzas(control.fields.as_bytes(), origin, |stanza| relations(&mut alone, stanza))?;
    entries(&mut *data, limit(size), origin, |path, is_directory, entry| {
        if is_directory {
            alone.add_directory(&name, path);
            return Ok(());
        }
        alone.add_file(&name, path);
        let is_setting = has_ending(path, "conf");
        if is_setting && path.starts_with("/usr/lib/sysusers.d/") {
            sysusers(&mut alone, &name, &read_text(entry, MAX_TEXT, origin)?);
        } else if is_setting && path.starts_with("/usr/lib/tmpfiles.d/") {
            tmpfiles(&mut alone, &name, &read_text(entry, MAX_TEXT, origin)?);
        }
        Ok(())
    })?;
    skip_rest(data, origin)?;
    let conffiles = control.conffiles.lines().map(str::trim);
    alone.set_conffiles(&name, conffiles.filter(|path| path.starts_with('/')));
    for (kind, text) in &control.scripts {
        script(&mut alone, &name, *kind, text);
    }
    alone.set_listed(&name);
    Ok(alone)
}

struct Member {
    name: String,
    size: u64,
}

/// The next header; none at the end of the file.
fn next_member(reader: &mut impl BufRead, origin: &str) -> Result<Option<Member>, IndexError> {
    let is_end = reader.fill_buf().map_err(|error| IndexError::new(origin, error.to_string()))?.is_empty();
    if is_end {
        return Ok(None);
    }
    let mut header = [0; HEADER];
    read_all(reader, &mut header, origin)?;
    let broken = || IndexError::new(origin, "a header of the archive is damaged");
    if &header[58..] != b"`\n" {
        return Err(broken());
    }
    let text = |range: std::ops::Range<usize>| std::str::from_utf8(&header[range]).map_err(|_| broken());
    let name = text(0..16)?.trim_end().trim_end_matches('/').to_owned();
    let size = text(48..58)?.trim_end().parse().map_err(|_| broken())?;
    Ok(Some(Member { name, size }))
}

/// How much a compressed archive may unpack to.
fn limit(size: u64) -> u64 {
    (16 << 20) + size.saturating_mul(MAX_RATIO)
}

/// Calls a function with each path of an archive, absolute, whether it is a directory, and its bytes.
fn entries(
    reader: impl Read,
    limit: u64,
    origin: &str,
    mut each: impl FnMut(&str, bool, &mut dyn Read) -> Result<(), IndexError>,
) -> Result<(), IndexError> {
    let failed = |error: &io::Error| {
        IndexError::new(origin, format!("an archive in it cannot be read, it is damaged: {error}"))
    };
    let mut unpacked = plain(reader, origin)?.take(limit);
    let mut archive = tar::Archive::new(&mut unpacked);
    let mut count = 0;
    let read = (|| {
        for entry in archive.entries().map_err(|error| failed(&error))? {
            let mut entry = entry.map_err(|error| failed(&error))?;
            count += 1;
            if count > MAX_ENTRIES {
                return Err(IndexError::new(origin, format!("it has more than {MAX_ENTRIES} entries")));
            }
            let kind = entry.header().entry_type();
            if kind.is_pax_global_extensions() {
                continue;
            }
            let path = absolute(&entry.path_bytes(), origin)?;
            each(&path, kind.is_dir(), &mut entry)?;
        }
        Ok(())
    })();
    // To the end, where checksums are.
    let read = read
        .and_then(|()| io::copy(&mut unpacked, &mut io::sink()).map(|_| ()).map_err(|error| failed(&error)));
    if unpacked.limit() == 0 {
        let reason = format!("an archive in it unpacks to more than {} MB, as no package does", limit >> 20);
        return Err(IndexError::new(origin, reason));
    }
    read
}

/// Reads a member to its end, which must be there.
fn skip_rest(member: &mut io::Take<impl Read>, origin: &str) -> Result<(), IndexError> {
    io::copy(member, &mut io::sink()).map_err(|error| IndexError::new(origin, error.to_string()))?;
    if member.limit() > 0 { Err(cut(origin)) } else { Ok(()) }
}

/// A path of an archive from `/`.
fn absolute(path: &[u8], origin: &str) -> Result<String, IndexError> {
    let text = String::from_utf8_lossy(path);
    if text.len() > MAX_PATH {
        return Err(IndexError::new(origin, "a path in it is longer than any system allows"));
    }
    let mut found = String::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                let reason = format!("the path `{}` in it leads out of the archive", printable(&text));
                return Err(IndexError::new(origin, reason));
            }
            part => {
                found.push('/');
                found.push_str(part);
            }
        }
    }
    Ok(if found.is_empty() { "/".to_owned() } else { found })
}

fn read_text(reader: &mut (impl Read + ?Sized), most: u64, origin: &str) -> Result<String, IndexError> {
    let mut bytes = Vec::new();
    reader
        .take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| IndexError::new(origin, format!("a file in it cannot be read: {error}")))?;
    if bytes.len() as u64 > most {
        return Err(IndexError::new(origin, format!("a text in it has more than {most} bytes")));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn read_all(reader: &mut impl Read, buffer: &mut [u8], origin: &str) -> Result<(), IndexError> {
    reader.read_exact(buffer).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => cut(origin),
        _ => IndexError::new(origin, error.to_string()),
    })
}

fn cut(origin: &str) -> IndexError {
    IndexError::new(origin, "the file ends too early: it is damaged or was not fully copied")
}

/// Whether a name has an ending, spelled as the tools of Debian spell it.
fn has_ending(name: &str, ending: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, found)| found == ending)
}

/// Text of a hostile file for a message.
fn printable(text: &str) -> String {
    text.chars().take(80).flat_map(char::escape_default).collect()
}
