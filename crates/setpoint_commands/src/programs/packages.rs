//! Package managers.

use super::{Done, all, arguments, needs, only, texts};
use crate::infer::{Stream, literal};
use crate::lexer::Word;
use crate::step::{Condition, NotUnderstood, Step};

pub(super) fn apt(name: &str, words: &[Word]) -> Done {
    let found = arguments(
        name,
        words,
        &[
            ('y', "yes", false),
            ('q', "quiet", false),
            ('f', "fix-broken", false),
            ('o', "option", true),
            ('t', "target-release", true),
            ('m', "fix-missing", false),
            ('\u{1}', "no-install-recommends", false),
            ('\u{2}', "force-yes", false),
            ('\u{3}', "allow-unauthenticated", false),
            ('\u{4}', "purge", false),
            ('\u{5}', "assume-yes", false),
            ('\u{6}', "install-recommends", false),
            ('\u{7}', "allow-downgrades", false),
            ('u', "show-upgraded", false),
            ('\u{8}', "reinstall", false),
            ('c', "config-file", true),
            ('\u{b}', "allow-change-held-packages", false),
            ('R', "without-recommends", false),
            ('\u{c}', "auto-remove", false),
            ('\u{e}', "no-upgrade", false),
            ('\u{f}', "install-suggests", false),
            ('\u{10}', "no-install-suggests", false),
        ],
    )?;
    let operands = texts(&found.operands)?;
    let Some((verb, names)) = operands.split_first() else { return Err(needs(name, "what to do")) };
    match verb.as_str() {
        "update" => only(Step::UpdatePackageLists),
        "install" if !names.is_empty() => {
            let mut steps = Vec::new();
            for package in names {
                if package.contains('/') {
                    return Err(NotUnderstood::new(package, "what is in a package file is not known"));
                }
                // A minus at the end removes.
                steps.push(match package.strip_suffix('-') {
                    Some(package) => Step::RemovePackage { name: package.to_owned(), purge: false },
                    None => Step::InstallPackage(package.trim_end_matches('+').to_owned()),
                });
            }
            all(steps)
        }
        "remove" | "purge" if !names.is_empty() => {
            let purge = verb == "purge" || found.has('\u{4}');
            all(names.iter().map(|name| Step::RemovePackage { name: name.clone(), purge }).collect())
        }
        _ => Err(NotUnderstood::new(verb, format!("what `{name} {verb}` changes depends on the machine"))),
    }
}

pub(super) fn yum(name: &str, words: &[Word]) -> Done {
    let found = arguments(
        name,
        words,
        &[
            ('y', "assumeyes", false),
            ('q', "quiet", false),
            ('n', "non-interactive", false),
            ('d', "debuglevel", true),
            ('e', "errorlevel", true),
            ('\u{1}', "enablerepo", true),
            ('\u{2}', "disablerepo", true),
            ('\u{3}', "nogpgcheck", false),
            ('\u{4}', "setopt", true),
            ('\u{5}', "best", false),
            ('\u{6}', "no-recommends", false),
            ('\u{7}', "auto-agree-with-licenses", false),
            ('l', "", false),
            ('\u{8}', "disableplugin", true),
        ],
    )?;
    let operands = texts(&found.operands)?;
    let Some((verb, names)) = operands.split_first() else { return Err(needs(name, "what to do")) };
    match verb.as_str() {
        "makecache" | "check-update" | "clean" | "refresh" | "ref" => only(Step::UpdatePackageLists),
        "install" | "in" if !names.is_empty() => {
            if let Some(file) = names.iter().find(|name| name.contains('/') || name.starts_with('@')) {
                return Err(NotUnderstood::new(file, "what is in it is not known"));
            }
            all(names.iter().map(|name| Step::InstallPackage(name.clone())).collect())
        }
        "remove" | "erase" | "rm" if !names.is_empty() => {
            all(names.iter().map(|name| Step::RemovePackage { name: name.clone(), purge: false }).collect())
        }
        _ => Err(NotUnderstood::new(verb, format!("what `{name} {verb}` changes depends on the machine"))),
    }
}

pub(super) fn package_query(name: &str, words: &[Word]) -> Done {
    let texts: Vec<String> = words.iter().map(literal).collect::<Result<_, _>>()?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    match (name, &texts[..]) {
        ("dpkg", ["-s" | "--status" | "-L" | "-l", package])
        | ("dpkg-query", ["-W" | "--show" | "-s" | "--status" | "-l", package])
        | ("rpm", ["-q" | "--query", package] | ["-q", "--quiet", package] | ["--quiet", "-q", package])
        | ("rpmquery", [package]) => {
            Ok((Step::Guard(Condition::PackageInstalled((*package).to_owned())), Stream::Text(None)))
        }
        ("dpkg", ["-r" | "--remove", package]) | ("rpm", ["-e" | "--erase", package]) => {
            only(Step::RemovePackage { name: (*package).to_owned(), purge: false })
        }
        ("dpkg", ["-P" | "--purge", package]) => {
            only(Step::RemovePackage { name: (*package).to_owned(), purge: true })
        }
        (_, [first, ..]) => Err(NotUnderstood::new(*first, format!("what {name} does with it is not known"))),
        _ => Err(needs(name, "what to do")),
    }
}
