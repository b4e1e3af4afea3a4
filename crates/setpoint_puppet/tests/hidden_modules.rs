//! Modules that another one of their name hides.

use setpoint_puppet::{Entry, Environment, Options, PuppetVersion, compile};
use setpoint_source::{MemoryFileSystem, Sources};

/// Puppet finds functions of the older interface in every folder of the module path; manifests and functions of the present
/// interface only in the first folder of a name.
#[test]
fn a_function_of_the_older_interface_is_found_in_a_hidden_module() {
    let function = |name: &str, value: &str| {
        format!("Puppet::Parser::Functions.newfunction(:{name}, :type => :rvalue) {{ |args| '{value}' }}\n")
    };
    let mut files = MemoryFileSystem::new();
    let older = "lib/puppet/parser/functions";
    files.add("a/m/manifests/init.pp", "class m { }\n".to_owned());
    files.add(format!("a/m/{older}/both.rb"), function("both", "first"));
    files.add(format!("b/m/{older}/both.rb"), function("both", "second"));
    files.add(format!("b/m/{older}/hidden.rb"), function("hidden", "found"));
    let present = "Puppet::Functions.create_function(:newer) do\n  def newer\n    'x'\n  end\nend\n";
    files.add("b/m/lib/puppet/functions/newer.rb", present.to_owned());
    let sources = Sources::new();
    let environment = Environment::new(&files, &sources).with_modulepath(vec!["a".into(), "b".into()]);
    let compile = |code: &str| {
        let entry = Entry::Code { name: "main.pp".to_owned(), text: code.to_owned() };
        compile(&environment, &entry, &Options { puppet: PuppetVersion::V7, ..Options::default() })
    };
    let compilation = compile("notify { [both(), hidden()]: }");
    let titles: Vec<String> = compilation
        .catalog
        .iter()
        .flat_map(setpoint_catalog::Catalog::resources)
        .map(setpoint_catalog::Resource::reference)
        .filter(|reference| reference.starts_with("Notify"))
        .collect();
    assert_eq!(titles, ["Notify[first]", "Notify[found]"]);
    assert!(compile("notice(newer())").catalog.is_none());
}
