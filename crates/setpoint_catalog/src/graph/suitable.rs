//! Which providers can work on which platform.

use crate::Resource;

/// The families of operating systems on which a provider of packages has its tools, as far as it is bound to some.
const PACKAGE_PROVIDERS: [(&str, &[&str]); 26] = [
    ("aix", &["AIX"]),
    ("appdmg", &["Darwin"]),
    ("apple", &["Darwin"]),
    ("apt", &["Debian"]),
    ("aptitude", &["Debian"]),
    ("aptrpm", &["RedHat"]),
    ("dnf", &["RedHat"]),
    ("dnfmodule", &["RedHat"]),
    ("dpkg", &["Debian"]),
    ("freebsd", &["FreeBSD"]),
    ("hpux", &["HP-UX"]),
    ("nim", &["AIX"]),
    ("openbsd", &["OpenBSD"]),
    ("pacman", &["Archlinux"]),
    ("pkgdmg", &["Darwin"]),
    ("pkgng", &["FreeBSD", "DragonFly"]),
    ("portage", &["Gentoo"]),
    ("ports", &["FreeBSD"]),
    ("portupgrade", &["FreeBSD"]),
    ("rpm", &["RedHat", "Suse"]),
    ("sun", &["Solaris"]),
    ("tdnf", &["RedHat"]),
    ("urpmi", &["Mandrake", "Mandriva"]),
    ("windows", &["windows"]),
    ("yum", &["RedHat"]),
    ("zypper", &["Suse"]),
];

/// Whether the provider that a resource asks for can work on a family of operating systems (`Debian`, `RedHat`, …) from
/// the start. Providers that nothing is known about are taken to work.
pub fn is_suitable(resource: &Resource, os_family: &str) -> bool {
    if resource.type_name.as_str() != "Package" {
        return true;
    }
    let Some(provider) = resource.get("provider").and_then(|value| value.as_str()) else { return true };
    PACKAGE_PROVIDERS
        .iter()
        .find(|(name, _)| *name == provider)
        .is_none_or(|(_, families)| families.iter().any(|family| family.eq_ignore_ascii_case(os_family)))
}
