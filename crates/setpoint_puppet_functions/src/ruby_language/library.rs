//! Libraries of Ruby, and objects of Puppet, that are written in Ruby here. The walk runs them when their classes are first asked for.

const LIBRARIES: &[(&str, &[&str], &str)] = &[
    ("struct", &["Struct"], include_str!("library/struct.rb")),
    ("open_struct", &["OpenStruct"], include_str!("library/open_struct.rb")),
    ("pathname", &["Pathname"], include_str!("library/pathname.rb")),
    ("time", &["Time", "Date", "Calendar"], include_str!("library/time.rb")),
    ("opened_file", &["OpenedFile"], include_str!("library/opened_file.rb")),
    ("digest", &["DigestObject", "HmacObject"], include_str!("library/digest.rb")),
    (
        "puppet",
        &[
            "PuppetCompiler",
            "PuppetCatalog",
            "PuppetNode",
            "PuppetFacts",
            "PuppetEnvironment",
            "PuppetModule",
            "PuppetResource",
            "PuppetDefinition",
        ],
        include_str!("library/puppet.rb"),
    ),
];

/// The library that defines a class, by its name, with its code.
pub(super) fn written_in_ruby(class: &str) -> Option<(&'static str, &'static str)> {
    let found = LIBRARIES.iter().find(|(_, classes, _)| classes.contains(&class));
    found.map(|(name, _, code)| (*name, *code))
}
