//! The one way in which files are written: whole, or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// Writes a file so that at every moment either its old or its new content is there: a full disk, a kill and a folder that cannot
/// be written leave the old one. The mode and the owner stay, and of a symbolic link the file behind it is written.
/// What is no regular file, such as `/dev/stdout`, is written as it is.
pub fn write_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let target = behind_links(path)?;
    let old = match std::fs::metadata(&target) {
        Ok(old) if !old.is_file() => return OpenOptions::new().write(true).open(&target)?.write_all(content),
        Ok(old) => {
            // A file that its owner protects is not replaced because its folder can be written.
            OpenOptions::new().write(true).open(&target)?;
            Some(old)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = temporary(folder, &target);
    let written = write_new(&beside, content, old.as_ref()).and_then(|()| std::fs::rename(&beside, &target));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
        return written;
    }
    // The new name is safe when its folder is; not every file system can say so.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

fn write_new(path: &Path, content: &[u8], old: Option<&std::fs::Metadata>) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    if let Some(old) = old {
        // Only root gives files away; the owner first, because it takes away some modes.
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            let _ = std::os::unix::fs::fchown(&file, Some(old.uid()), Some(old.gid()));
        }
        file.set_permissions(old.permissions())?;
    }
    file.write_all(content)?;
    file.sync_all()
}

/// A name that no other writer uses, in the folder of the target: a rename stays within a file system.
fn temporary(folder: &Path, target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    // The whole name may be no longer than 255 bytes.
    let name: String = name.chars().take(40).collect();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    folder.join(format!(".{name}.{}-{number}.tmp", std::process::id()))
}

/// The file that a path leads to, whether or not it is there.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_owned();
    for _ in 0..40 {
        match std::fs::read_link(&at) {
            Ok(target) => at = at.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(at),
        }
    }
    Err(io::Error::other("Too many levels of symbolic links"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn mode_and_link_stay_and_nothing_is_left() {
        let folder = std::env::temp_dir().join(format!("setpoint-write-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (real, link) = (folder.join("real"), folder.join("link"));
        std::fs::write(&real, "old").unwrap();
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
        symlink("real", &link).unwrap();
        symlink("made", folder.join("dangling")).unwrap();
        write_file(&link, b"new").unwrap();
        write_file(&folder.join("dangling"), b"made").unwrap();
        assert_eq!(std::fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read_to_string(folder.join("made")).unwrap(), "made");
        assert!(write_file(&folder.join("missing/a"), b"x").is_err());
        assert!(write_file(Path::new("/dev/full"), b"x").is_err());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 4);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
