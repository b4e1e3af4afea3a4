//! Files that the program writes are whole at every moment: when it is killed, when the disk is full, when two write at once.
//!
//! `SETPOINT_KILLS` says how often a writer is killed; 20 unless it is set.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A folder of a test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("setpoint-durability-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        std::fs::write(path.join("site.pp"), "notify { 'a': }\n").expect("a file");
        Self(path)
    }

    fn report(&self, page: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_setpoint"));
        command.args(["report", "site.pp", "-o", page]).current_dir(&self.0);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn is_whole(page: &str) -> bool {
    page.starts_with("<!") && page.trim_end().ends_with("</html>")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("the page is there")
}

#[test]
fn a_kill_leaves_the_old_or_the_new_content() {
    let folder = Folder::new("kill");
    let page = folder.0.join("page.html");
    std::fs::write(&page, "old").unwrap();
    std::fs::set_permissions(&page, std::fs::Permissions::from_mode(0o640)).unwrap();
    let start = Instant::now();
    assert!(folder.report("page.html").status().unwrap().success());
    let (whole, new) = (start.elapsed(), read(&page));
    assert!(is_whole(&new), "{new:.200}");
    let kills = std::env::var("SETPOINT_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_u32);
    let (mut old_left, mut new_left) = (0, 0);
    for at in 0..kills {
        std::fs::write(&page, "old").unwrap();
        let mut child = folder.report("page.html").spawn().unwrap();
        // From the start of the program until after its end.
        std::thread::sleep(whole * (at + 1) / kills + Duration::from_micros(u64::from(at % 7) * 100));
        let _ = child.kill();
        child.wait().unwrap();
        match read(&page).as_str() {
            "old" => old_left += 1,
            page if page == new => new_left += 1,
            other => panic!("after kill {at} the page has {} bytes: {other:.200}", other.len()),
        }
        assert_eq!(std::fs::metadata(&page).unwrap().mode() & 0o777, 0o640);
    }
    println!("{kills} kills: {old_left} left the old content, {new_left} the new one");
}

/// As a full disk does, a limit of file sizes ends a write in its midst.
#[test]
fn a_write_that_fails_leaves_the_old_content_and_nothing_else() {
    let folder = Folder::new("full");
    let page = folder.0.join("page.html");
    std::fs::write(&page, "old").unwrap();
    let script = "trap '' XFSZ; ulimit -f 2; exec \"$@\"";
    let status = Command::new("sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_setpoint"), "report", "site.pp", "-o", "page.html"])
        .current_dir(&folder.0)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
    assert_eq!(read(&page), "old");
    let names = std::fs::read_dir(&folder.0).unwrap().count();
    assert_eq!(names, 2, "a temporary file is left");
}

#[test]
fn two_writers_at_once_leave_a_whole_file() {
    let folder = Folder::new("two");
    for _ in 0..3 {
        let mut writers: Vec<_> = (0..4).map(|_| folder.report("page.html").spawn().unwrap()).collect();
        for writer in &mut writers {
            assert!(writer.wait().unwrap().success());
        }
        assert!(is_whole(&read(&folder.0.join("page.html"))));
    }
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 2);
}

/// A disk that is full at another moment each time: the folder is a file system of its own with so many bytes left.
#[test]
fn a_full_disk_leaves_the_old_content() {
    let rounds = std::env::var("SETPOINT_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12_u64);
    let folder = Folder::new("disk");
    let disk = folder.0.join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "none"]).arg(&disk).output();
    if !mount.is_ok_and(|done| done.status.success()) {
        setpoint_testing::skip("durability/full disk", "only root may mount a small file system");
        return;
    }
    let page = disk.join("page.html");
    let (mut old_left, mut new_left) = (0, 0);
    for round in 0..rounds {
        std::fs::write(&page, "old").unwrap();
        let filler = disk.join("filler");
        let left = round * 40_000 / rounds;
        // What is left of a megabyte, as far as the page needs it.
        std::fs::write(&filler, vec![0; (1_040_000_u64.saturating_sub(left)) as usize]).unwrap();
        let status = folder.report("disk/page.html").status().unwrap();
        let content = read(&page);
        if status.success() {
            assert!(is_whole(&content), "round {round}: {content:.200}");
            new_left += 1;
        } else {
            assert_eq!(content, "old", "round {round}");
            old_left += 1;
        }
        assert_eq!(std::fs::read_dir(&disk).unwrap().count(), 2, "round {round} leaves a temporary file");
        std::fs::remove_file(&filler).unwrap();
    }
    let ended = Command::new("umount").arg(&disk).status();
    assert!(ended.is_ok_and(|status| status.success()));
    println!("{rounds} full disks: {old_left} left the old content, {new_left} had room for the new one");
    assert!(old_left > 0 && new_left > 0);
}

#[test]
fn a_folder_without_the_right_to_write_keeps_its_content() {
    let folder = Folder::new("rights");
    let kept = folder.0.join("kept");
    std::fs::create_dir(&kept).unwrap();
    std::fs::write(kept.join("page.html"), "old").unwrap();
    std::fs::set_permissions(&kept, std::fs::Permissions::from_mode(0o555)).unwrap();
    // Root may write there nevertheless.
    let status = folder.report("kept/page.html").status().unwrap();
    let content = read(&kept.join("page.html"));
    assert!(if status.success() { is_whole(&content) } else { content == "old" });
    std::fs::set_permissions(&kept, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(std::fs::read_dir(&kept).unwrap().count(), 1);
}
