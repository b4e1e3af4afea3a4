//! The reader of Ruby type files finds what Puppet finds when it runs them.

#![allow(clippy::unwrap_used, reason = "an oracle that cannot be run fails the test")]

use std::path::Path;

use serde_json::Value as Json;
use setpoint_catalog::{Role, is_metaparameter, ruby_types};

fn strings(json: &Json) -> Vec<&str> {
    json.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

#[test]
fn types_of_debians_modules_are_read() {
    let modules = Path::new("/usr/share/puppet/modules");
    if !setpoint_testing::puppet() || !modules.join("stdlib").is_dir() {
        setpoint_testing::skip("module types", "Puppet and Debian's modules are not installed");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("extract/module-types.rb");
    let run = setpoint_testing::ruby().arg(script).arg(modules).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let wanted: Json = serde_json::from_slice(&run.stdout).unwrap();
    let wanted = wanted.as_array().unwrap();
    assert!(wanted.len() > 200, "Puppet knows {} types", wanted.len());
    let (mut problems, mut open) = (Vec::new(), Vec::new());
    for want in wanted {
        let path = want["path"].as_str().unwrap();
        let Some(found) = ruby_types::read(&std::fs::read_to_string(path).unwrap()) else {
            problems.push(format!("{path}: not read"));
            continue;
        };
        let native = found.native;
        let mut check = |what: &str, wanted: &Json, found: &mut Vec<&str>| {
            found.sort_unstable();
            if strings(wanted) != *found {
                problems.push(format!("{path}: {what} {found:?}, want {wanted}"));
            }
        };
        if native.open {
            open.push(native.name);
            continue;
        }
        // A type without a provider takes no such parameter; that depends on other files.
        let mut names: Vec<&str> = native.attributes.iter().map(|attribute| attribute.name).collect();
        names.retain(|name| !is_metaparameter(name));
        if !strings(&want["attributes"]).contains(&"provider") {
            names.retain(|name| *name != "provider");
        }
        check("attributes", &want["attributes"], &mut names);
        check("namevars", &want["namevars"], &mut native.namevars.to_vec());
        let properties = native.attributes.iter().filter(|attribute| attribute.role == Role::Property);
        check("properties", &want["properties"], &mut properties.map(|attribute| attribute.name).collect());
        for (what, wanted, found) in [
            ("refreshes", &want["refreshes"], native.refreshes),
            ("isomorphic", &want["isomorphic"], native.isomorphic),
        ] {
            if wanted.as_bool() != Some(found) {
                problems.push(format!("{path}: {what} is {found}"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    // These take parameters from methods, of other files or their own.
    assert_eq!(
        open,
        ["keystone_domain_config", "keystone_puppet_config", "keystone_uwsgi_config", "wait_for"]
    );
}

#[test]
fn a_block_of_ensurable_has_the_usual_values_if_it_asks_for_them() {
    let ensure = |block: &str| {
        let text = format!("Puppet::Type.newtype(:thing) do\n  newparam(:name)\n  ensurable{block}\nend\n");
        let found = ruby_types::read(&text).unwrap().native;
        let ensure = found.attributes.iter().find(|attribute| attribute.name == "ensure").unwrap();
        ensure.values.iter().map(|(value, _)| (*value).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ensure(""), ["present", "absent"]);
    assert_eq!(ensure(" do\n    defaultvalues\n    newvalue(:unset)\n  end"), ["present", "absent", "unset"]);
    assert_eq!(ensure(" do\n    newvalue(:latest)\n  end"), ["latest"]);
}
