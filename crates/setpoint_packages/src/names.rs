//! The names under which a package may be asked for.

/// Architectures that stand after a name: `libc6:amd64`, `glibc.x86_64`.
const ARCHITECTURES: [&str; 24] = [
    "aarch64", "all", "amd64", "any", "arm64", "armel", "armhf", "armv7hl", "i386", "i486", "i586", "i686",
    "ia64", "loong64", "mips64el", "mipsel", "native", "noarch", "ppc64", "ppc64el", "ppc64le", "riscv64",
    "s390x", "x86_64",
];

/// The name as it stands, then without version and architecture. The caller takes the first that is known, so that a
/// package whose name looks like a version (`python3.11`, `java-1.8.0-openjdk`) is found as itself.
pub(crate) fn candidates(name: &str) -> Vec<&str> {
    let name = name.trim();
    let mut found = vec![name];
    let mut add = |candidate| {
        if !found.contains(&candidate) {
            found.push(candidate);
        }
    };
    // apt's `name=version` and `name/release`.
    let mut plain = name;
    if let Some((before, _)) = plain.split_once('=') {
        plain = before.trim_end();
        add(plain);
    }
    if let Some((before, after)) = plain.split_once('/')
        && !before.is_empty()
        && !after.contains('/')
    {
        plain = before;
        add(plain);
    }
    if let Some((before, after)) = plain.rsplit_once([':', '.'])
        && ARCHITECTURES.contains(&after)
    {
        plain = before;
        add(plain);
    }
    // rpm's `name-version-release`, `name-version`.
    let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    if let Some((before, last)) = plain.rsplit_once('-') {
        if let Some((stem, version)) = before.rsplit_once('-')
            && digit(version)
            && digit(last)
        {
            // An epoch may stand before the version: `bind-32:9.16`.
            add(stem);
        }
        if digit(last) {
            add(before);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::candidates;

    #[test]
    fn names_are_tried_as_they_stand_first() {
        assert_eq!(candidates("nginx"), ["nginx"]);
        assert_eq!(candidates("libc6:amd64"), ["libc6:amd64", "libc6"]);
        assert_eq!(candidates("glibc.x86_64"), ["glibc.x86_64", "glibc"]);
        assert_eq!(candidates("nginx=1.22.1-9"), ["nginx=1.22.1-9", "nginx"]);
        assert_eq!(candidates("python3.11"), ["python3.11"]);
        assert_eq!(
            candidates("nginx-1.20.1-14.el9.x86_64"),
            ["nginx-1.20.1-14.el9.x86_64", "nginx-1.20.1-14.el9", "nginx", "nginx-1.20.1"]
        );
        assert_eq!(candidates("/tmp/own.deb"), ["/tmp/own.deb"]);
    }
}
