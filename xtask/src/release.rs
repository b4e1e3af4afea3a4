//! `cargo xtask release`: what a release has (an archive with its checksum, a Debian package, a Python wheel), each made from one
//! binary and tried in a clean folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

/// Shells whose completions are shipped, and where Debian keeps them.
const COMPLETIONS: [(&str, &str, &str); 3] = [
    ("bash", "setpoint.bash", "usr/share/bash-completion/completions/setpoint"),
    ("zsh", "_setpoint", "usr/share/zsh/vendor-completions/_setpoint"),
    ("fish", "setpoint.fish", "usr/share/fish/vendor_completions.d/setpoint.fish"),
];
const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];
/// A manifest with a bug that the first call must find.
const FIRST_MANIFEST: &str = "file { '/srv/dump': ensure => directory, owner => 'mysql' }\npackage { 'mariadb-server': ensure => installed }\n";

#[derive(Args)]
pub(crate) struct Arguments {
    /// The folder to write to
    #[arg(short, long, value_name = "DIR", default_value = "target/dist")]
    output: PathBuf,
    /// The profile of the binary: `dev` is made already where tests run
    #[arg(long, default_value = "release", value_parser = ["release", "dev"])]
    profile: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let folder = &arguments.output;
    // What an earlier call made would be tried instead of what this one makes.
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    make_folder(folder)?;
    execute(Command::new("cargo").args([
        "build",
        "--quiet",
        "--bin",
        "setpoint",
        "--profile",
        &arguments.profile,
    ]))?;
    let built = if arguments.profile == "dev" { "debug" } else { "release" };
    let binary = Path::new("target").join(built).join("setpoint");
    let size = fs::metadata(&binary).map_err(|error| error.to_string())?.len();
    println!("binary: {:.1} MB", size as f64 / 1e6);
    let parts = Parts::make(&binary, &folder.join("parts"))?;
    let archive = archive(&parts, folder)?;
    let package = debian_package(&parts, folder)?;
    let wheel = wheel(folder, &arguments.profile)?;
    for made in [&archive, &package, &wheel] {
        println!("made {}", made.display());
    }
    try_archive(&archive)?;
    try_debian_package(&package)?;
    try_wheel(&wheel)?;
    println!("each was unpacked in a clean folder and found the bug of a first manifest");
    Ok(())
}

/// The files of a release.
struct Parts {
    binary: PathBuf,
    completions: PathBuf,
    manual: PathBuf,
}

impl Parts {
    fn make(binary: &Path, folder: &Path) -> Result<Self, String> {
        let (completions, manual) = (folder.join("completions"), folder.join("man"));
        make_folder(&completions)?;
        for (shell, name, _) in COMPLETIONS {
            let text = output_of(Command::new(binary).args(["completions", shell]))?;
            write(&completions.join(name), text.as_bytes())?;
        }
        make_folder(&manual)?;
        execute(Command::new(binary).args(["man", "--output"]).arg(&manual))?;
        Ok(Self { binary: binary.to_owned(), completions, manual })
    }
}

/// `setpoint-VERSION-TARGET.tar.gz` with all parts, and its SHA-256 beside it.
fn archive(parts: &Parts, folder: &Path) -> Result<PathBuf, String> {
    let name = format!("setpoint-{}-{}-linux", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let tree = folder.join("parts").join(&name);
    copy(&parts.binary, &tree.join("setpoint"))?;
    for text in TEXTS {
        copy(Path::new(text), &tree.join(text))?;
    }
    copy_folder(&parts.completions, &tree.join("completions"))?;
    copy_folder(&parts.manual, &tree.join("man"))?;
    let file = format!("{name}.tar.gz");
    // The same files make the same bytes.
    let tar = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
    execute(
        Command::new("tar")
            .args(tar)
            .arg("-czf")
            .arg(folder.join(&file))
            .arg("-C")
            .arg(folder.join("parts"))
            .arg(&name),
    )?;
    let sum = output_of(Command::new("sha256sum").arg(&file).current_dir(folder))?;
    write(&folder.join(format!("{file}.sha256")), sum.as_bytes())?;
    Ok(folder.join(file))
}

fn debian_package(parts: &Parts, folder: &Path) -> Result<PathBuf, String> {
    let architecture = output_of(Command::new("dpkg").arg("--print-architecture"))?;
    let architecture = architecture.trim();
    let tree = folder.join("parts/debian");
    copy(&parts.binary, &tree.join("usr/bin/setpoint"))?;
    for (_, name, place) in COMPLETIONS {
        copy(&parts.completions.join(name), &tree.join(place))?;
    }
    copy_folder(&parts.manual, &tree.join("usr/share/man/man1"))?;
    for page in fs::read_dir(tree.join("usr/share/man/man1")).map_err(|error| error.to_string())?.flatten() {
        execute(Command::new("gzip").args(["-9", "-n"]).arg(page.path()))?;
    }
    for text in TEXTS {
        copy(Path::new(text), &tree.join("usr/share/doc/setpoint").join(text))?;
    }
    let kilobytes = output_of(Command::new("du").args(["-sk"]).arg(&tree))?;
    let kilobytes = kilobytes.split_whitespace().next().unwrap_or("0").to_owned();
    let version = env!("CARGO_PKG_VERSION");
    let control = format!(
        "Package: setpoint\nVersion: {version}\nArchitecture: {architecture}\nInstalled-Size: {kilobytes}\n\
         Maintainer: Setpoint maintainers <setpoint@localhost>\nDepends: libc6\nRecommends: git\nSection: admin\nPriority: optional\n\
         Description: prove that infrastructure code reaches its set point\n \
         Reads Puppet, SmartFrog, CloudFormation and TOSCA; says whether the result\n \
         depends on the order or on the start, and where every value came from.\n"
    );
    write(&tree.join("DEBIAN/control"), control.as_bytes())?;
    let path = folder.join(format!("setpoint_{version}_{architecture}.deb"));
    execute(Command::new("dpkg-deb").args(["--root-owner-group", "--build"]).arg(&tree).arg(&path))?;
    Ok(path)
}

/// A wheel with the binary inside, by maturin, in a folder of its own if the machine has none.
fn wheel(folder: &Path, profile: &str) -> Result<PathBuf, String> {
    let tools = Path::new("target/maturin");
    if !tools.join("bin/maturin").exists() {
        execute(Command::new("python3").args(["-m", "venv"]).arg(tools))?;
        execute(Command::new(tools.join("bin/pip")).args(["install", "--quiet", "maturin==1.16.0"]))?;
    }
    execute(
        Command::new(tools.join("bin/maturin"))
            .args(["build", "--quiet", "--compatibility", "linux", "--profile", profile, "--out"])
            .arg(folder),
    )?;
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?.flatten();
    let mut wheels =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "whl"));
    wheels.next().ok_or_else(|| "maturin made no wheel".to_owned())
}

fn try_archive(archive: &Path) -> Result<(), String> {
    let folder = clean_folder("archive")?;
    let name = archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let parent = archive.parent().unwrap_or(Path::new("."));
    execute(
        Command::new("sha256sum").args(["--check", "--quiet", &format!("{name}.sha256")]).current_dir(parent),
    )?;
    execute(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&folder))?;
    finds_the_bug(&folder.join(name.trim_end_matches(".tar.gz")).join("setpoint"), &folder)
}

fn try_debian_package(package: &Path) -> Result<(), String> {
    let folder = clean_folder("deb")?;
    execute(Command::new("dpkg-deb").arg("-x").arg(package).arg(&folder))?;
    for expected in ["usr/share/man/man1/setpoint-check.1.gz", COMPLETIONS[0].2] {
        if !folder.join(expected).is_file() {
            return Err(format!("the package lacks {expected}"));
        }
    }
    finds_the_bug(&folder.join("usr/bin/setpoint"), &folder)
}

fn try_wheel(wheel: &Path) -> Result<(), String> {
    let folder = clean_folder("wheel")?;
    let python = folder.join("python");
    execute(Command::new("python3").args(["-m", "venv"]).arg(&python))?;
    execute(Command::new(python.join("bin/pip")).args(["install", "--quiet", "--no-index"]).arg(wheel))?;
    finds_the_bug(&python.join("bin/setpoint"), &folder)
}

/// The first minutes of a new user: the bug is found and explained, the printed cure is applied, and then nothing is found.
fn finds_the_bug(binary: &Path, folder: &Path) -> Result<(), String> {
    let binary = fs::canonicalize(binary).map_err(|error| format!("{}: {error}", binary.display()))?;
    write(&folder.join("site.pp"), FIRST_MANIFEST.as_bytes())?;
    let call = |words: &[&str]| {
        let done = Command::new(&binary)
            .args(words)
            .current_dir(folder)
            .output()
            .map_err(|error| error.to_string())?;
        Ok::<_, String>((done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned()))
    };
    let expect = |words: &[&str], status: i32, text: &str| match call(words)? {
        (Some(code), said) if code == status && said.contains(text) => Ok(()),
        (code, said) => Err(format!("{} {words:?}: {code:?}\n{said}", binary.display())),
    };
    expect(&["check", "site.pp", "--platform", "debian-12"], 1, "error[missing-order]")?;
    expect(&["explain", "missing-order"], 0, "missing-order")?;
    expect(&["fix", "site.pp", "--platform", "debian-12", "--write"], 0, "")?;
    expect(&["check", "site.pp", "--platform", "debian-12"], 0, "order independent")
}

fn clean_folder(name: &str) -> Result<PathBuf, String> {
    let folder = std::env::temp_dir().join(format!("setpoint-release-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    make_folder(&folder)?;
    Ok(folder)
}

fn make_folder(path: &Path) -> Result<(), String> {
    fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    make_folder(path.parent().unwrap_or(Path::new(".")))?;
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    make_folder(to.parent().unwrap_or(Path::new(".")))?;
    fs::copy(from, to).map(|_| ()).map_err(|error| format!("{}: {error}", from.display()))
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    let entries = fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    entries.flatten().try_for_each(|entry| copy(&entry.path(), &to.join(entry.file_name())))
}

fn execute(command: &mut Command) -> Result<(), String> {
    output_of(command).map(|_| ())
}

fn output_of(command: &mut Command) -> Result<String, String> {
    let done = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    Err(format!("{command:?}: {}\n{}", done.status, String::from_utf8_lossy(&done.stderr)))
}
