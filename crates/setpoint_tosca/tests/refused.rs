//! Files against the grammar and their types: each right one is accepted, and each wrong one beside it is refused with a place.

use std::path::Path;

use setpoint_source::{MemoryFileSystem, Severity, Sources};
use setpoint_tosca::check;

/// The errors of a file, imports beside it.
fn errors(files: &[(&str, &str)]) -> Vec<String> {
    let mut memory = MemoryFileSystem::new();
    for (name, text) in files {
        memory.add(*name, text.as_bytes());
    }
    let sources = Sources::new();
    let file = sources.add(files[0].0, files[0].1);
    let found = check(&memory, &sources, file, Path::new(files[0].0), &[]).findings;
    let errors = found.iter().filter(|one| one.severity == Severity::Error);
    errors
        .map(|one| {
            assert!(one.span.is_some(), "{} has no place", one.message);
            format!("{}: {}", one.rule.name(), one.message)
        })
        .collect()
}

/// Asserts that a file is accepted as it is, and refused by a rule with each replacement.
fn assert_refused(text: &str, part: &str, wrong: &[(&str, &str)]) {
    assert!(text.contains(part), "{text} has no {part}");
    assert_eq!(errors(&[("s.yaml", text)]), Vec::<String>::new(), "{text}");
    for (replacement, rule) in wrong {
        let text = text.replacen(part, replacement, 1);
        let errors = errors(&[("s.yaml", &text)]);
        assert!(errors.iter().any(|error| error.starts_with(rule)), "{text}\nwants {rule}\n{errors:?}");
    }
}

const OLD: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
data_types:
  my.Address:
    properties:
      street: {type: string}
      number: {type: integer, required: false}
policy_types:
  my.Policy: {derived_from: tosca.policies.Root, properties: {limit: {type: integer}}}
node_types:
  my.Server:
    derived_from: tosca.nodes.SoftwareComponent
    properties:
      port: {type: integer, constraints: [in_range: [1, 99]]}
      name: {type: string, required: false, constraints: [{pattern: '^[a-z]+$'}, {max_length: 5}]}
      at: {type: my.Address, required: false}
      memory: {type: scalar-unit.size, required: false, constraints: [greater_than: 1 MB]}
      colours: {type: list, required: false, entry_schema: {type: string, constraints: [valid_values: [red, blue]]}}
    attributes:
      address: {type: string}
topology_template:
  inputs:
    cpus: {type: integer, default: 2}
  node_templates:
    box: {type: tosca.nodes.Compute, capabilities: {host: {properties: {num_cpus: {get_input: cpus}}}}}
    app:
      type: my.Server
      properties: {port: 80}
      requirements: [host: box]
      interfaces: {Standard: {create: {inputs: {a: b}}}}
  groups:
    all: {type: tosca.groups.Root, members: [app, box]}
  policies:
    - limits: {type: my.Policy, properties: {limit: 1}, targets: [all]}
  outputs:
    where: {value: {get_attribute: [app, address]}}
  workflows:
    backup:
      steps:
        one: {target: app, activities: [call_operation: Standard.stop], on_success: two}
        two: {target: app, activities: [inline: other]}
    other:
      steps:
        one: {target: box, activities: [set_state: started]}
";

#[test]
fn the_simple_profile() {
    let (grammar, value, name, kind) =
        ("malformed-template", "invalid-value", "unknown-reference", "unknown-type");
    for (part, wrong) in [
        ("tosca_simple_yaml_1_3", &[("tosca_simple_yaml_9", grammar)][..]),
        ("topology_template:", &[("topology_templates:", grammar)]),
        ("node_types:\n", &[("node_typs:\n", grammar)]),
        ("type: my.Server\n", &[("typ: my.Server\n", grammar), ("type: my.Serverr\n", kind)]),
        (
            "properties: {port: 80}",
            &[
                ("properties: {}", value),
                ("properties: {port: many}", value),
                ("properties: {port: 100}", value),
                ("properties: {port: 80, prt: 1}", name),
                ("properties: {port: 80, name: A1}", value),
                ("properties: {port: 80, name: abcdef}", value),
                ("properties: {port: 80, name: 5}", value),
                ("properties: {port: 80, at: {street: a, number: b}}", value),
                ("properties: {port: 80, at: {number: 1}}", value),
                ("properties: {port: 80, at: [a]}", value),
                ("properties: {port: 80, memory: 5}", value),
                ("properties: {port: 80, memory: 5 kB}", value),
                ("properties: {port: 80, memory: 5 XB}", value),
                ("properties: {port: 80, colours: [green]}", value),
                ("properties: {port: 80, colours: red}", value),
                ("properties: [port: 80]", grammar),
            ],
        ),
        ("num_cpus: {get_input: cpus}", &[("num_cpus: 0", value), ("num_cpu: 1", name)]),
        ("default: 2", &[("default: two", value)]),
        ("requirements: [host: box]", &[("requirements: [hst: box]", name)]),
        ("{Standard: {create", &[("{Standard: {creat", name), ("{Standrd: {create", name)]),
        ("members: [app, box]", &[("members: [app, bx]", name)]),
        ("properties: {limit: 1}, targets", &[("targets", value)]),
        ("targets: [all]", &[("targets: [al]", name)]),
        ("tosca.groups.Root", &[("tosca.groups.Roots", kind)]),
        ("{type: my.Policy", &[("{type: my.Polic", kind)]),
        ("[app, address]", &[("[app, addres]", name)]),
        ("type: my.Address, required", &[("type: my.Addres, required", kind)]),
        ("tosca.nodes.SoftwareComponent", &[("my.Server", grammar), ("my.Nothing", kind)]),
        ("Standard.stop", &[("Standard.stopp", name), ("Standrd.stop", name)]),
        ("on_success: two", &[("on_success: three", name), ("on_success: one", "endless-run")]),
        (
            "inline: other",
            &[("inline: others", name), ("inline: backup", "endless-run"), ("inlne: other", grammar)],
        ),
        ("{target: box", &[("{target: bx", name)]),
        ("{get_attribute: [app, address]}", &[("{concat: []}", value), ("{token: [a, b]}", value)]),
    ] {
        assert_refused(OLD, part, wrong);
    }
}

const NEW: &str = "\
tosca_definitions_version: tosca_2_0
description: all
data_types:
  Rate: {derived_from: scalar, data_type: integer, units: {bps: 1, kbps: 1000}}
  Small: {derived_from: integer, validation: {$less_than: [$value, 10]}}
capability_types:
  Endpoint: {properties: {protocol: {type: string, value: tcp}, port: {type: Small, default: 1}}}
node_types:
  Server:
    properties:
      rate: {type: Rate, validation: {$greater_or_equal: [$value, 1 kbps]}}
      ready: {type: boolean, default: true}
      since: {type: timestamp, required: false}
      ids: {type: map, key_schema: string, entry_schema: integer, required: false}
    capabilities:
      api: {type: Endpoint}
    requirements:
      - peer: {capability: Endpoint, count_range: [0, 1]}
service_template:
  node_templates:
    a: {type: Server, properties: {rate: 2 kbps}}
    b: {type: Server, properties: {rate: 1000 bps}, requirements: [peer: a]}
";

#[test]
fn tosca_two() {
    let (grammar, value, name, kind) =
        ("malformed-template", "invalid-value", "unknown-reference", "unknown-type");
    for (part, wrong) in [
        (
            "description: all",
            &[("description: [a]", grammar), ("description:", grammar), ("groups: {}", grammar)][..],
        ),
        (
            "units: {bps: 1, kbps: 1000}",
            &[("units: {kbps: 1000}", value), ("units: {bps: one}", value), ("version: 1.0", value)],
        ),
        ("$less_than", &[("$lesss_than", name)]),
        ("derived_from: scalar", &[("derived_from: string", value)]),
        (
            "properties: {rate: 2 kbps}",
            &[
                ("properties: {rate: 2}", value),
                ("properties: {rate: 2.5 kbps}", value),
                ("properties: {rate: 2 bps}", value),
                ("properties: {rate: 2 kbps, ready: yes}", value),
                ("properties: {rate: 2 kbps, ready: null}", value),
                ("properties: {rate: 2 kbps, since: yesterday}", value),
                ("properties: {rate: 2 kbps, ids: {a: b}}", value),
                ("properties: {rate: 2 kbps, ids: {1: 1}}", value),
                ("properties: {rate: 2 kbps}, capabilities: {api: {properties: {protocol: udp}}}", value),
                ("properties: {rate: 2 kbps}, capabilities: {api: {properties: {port: 11}}}", value),
                ("properties: {rate: 2 kbps}, capabilities: {apis: {}}", name),
            ],
        ),
        ("[0, 1]", &[("[1, 0]", grammar), ("[0.5, 1]", grammar), ("[2, 3]", "unsatisfied-requirement")]),
        ("[peer: a]", &[("[peer: a, peer: a]", "topology-structure"), ("{peer: a}", grammar)]),
        ("{type: Endpoint}", &[("{type: Endpint}", kind)]),
        ("default: true", &[("default: maybe", value)]),
    ] {
        assert_refused(NEW, part, wrong);
    }
}

#[test]
fn namespaces_keep_types_of_one_name_apart() {
    let inner =
        "tosca_definitions_version: tosca_2_0\nnode_types: {Server: {properties: {size: {type: integer}}}}\n";
    let outer = |size: &str| {
        format!(
            "tosca_definitions_version: tosca_2_0\nimports: [{{url: inner.yaml, namespace: in}}]\n\
             node_types: {{Server: {{derived_from: 'in:Server'}}}}\n\
             service_template: {{node_templates: {{a: {{type: Server, properties: {{size: {size}}}}}}}}}\n"
        )
    };
    assert_eq!(errors(&[("s.yaml", &outer("1")), ("inner.yaml", inner)]), Vec::<String>::new());
    assert!(!errors(&[("s.yaml", &outer("big")), ("inner.yaml", inner)]).is_empty());
}

#[test]
fn profiles_are_found_by_their_names() {
    let profile =
        "tosca_definitions_version: tosca_2_0\nprofile: org.example.cloud:1.0\nnode_types: {Server: {}}\n";
    let text = "tosca_definitions_version: tosca_2_0\nimports: [{profile: 'org.example.cloud:1.0', namespace: c}]\n\
                service_template: {node_templates: {a: {type: 'c:Server'}}}\n";
    for (path, folders, is_found) in [
        ("cloud.yaml", vec![], true),
        ("p/org/example/cloud/1.0/profile.yaml", vec!["p".into()], true),
        ("p/org/example/cloud/1.0/profile.yaml", vec![], false),
    ] {
        let mut memory = MemoryFileSystem::new();
        memory.add("s.yaml", text.as_bytes());
        memory.add(path, profile.as_bytes());
        let sources = Sources::new();
        let file = sources.add("s.yaml", text);
        let answer = check(&memory, &sources, file, Path::new("s.yaml"), &folders).answer;
        assert_eq!(answer.is_proved(), is_found, "{path} {answer:?}");
    }
}
