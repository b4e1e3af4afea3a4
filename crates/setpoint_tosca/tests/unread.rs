//! What is malformed, empty, unread or not modelled is never proved, and says where; what is whole stays proved.

use std::io::Write;
use std::path::Path;

use setpoint_source::{Judgement, MemoryFileSystem, Place, Sources};
use setpoint_tosca::{BadArchive, check, is_archive, open_archive};

const VERSION: &str = "tosca_definitions_version: tosca_simple_yaml_1_3\n";

fn answer_with(files: &[(&str, &str)]) -> Judgement {
    let mut memory = MemoryFileSystem::new();
    for (name, text) in files {
        memory.add(*name, text.as_bytes());
    }
    let sources = Sources::new();
    let file = sources.add(files[0].0, files[0].1);
    check(&memory, &sources, file, Path::new(files[0].0), &[]).answer
}

fn answer(text: &str) -> Judgement {
    answer_with(&[("s.yaml", text)])
}

fn assert_proved(text: &str) {
    let answer = answer(text);
    assert!(answer.is_proved(), "{text}\n{answer:?}");
}

/// Asserts that the answer is open, and that each reason has a place.
fn assert_open(text: &str) {
    let answer = answer(text);
    assert!(answer.is_unknown(), "{text}\n{answer:?}");
    for reason in answer.reasons() {
        assert!(matches!(reason.place, Place::At(_)), "{text}\n{reason:?}");
    }
}

/// Asserts that the answer is not that it starts: it is refused, or open for reasons with places.
fn assert_not_proved(text: &str) {
    let answer = answer(text);
    assert!(!answer.is_proved(), "{text}\n{answer:?}");
    for reason in answer.reasons() {
        assert!(matches!(reason.place, Place::At(_)), "{text}\n{reason:?}");
    }
}

/// A topology with a machine and what runs on it, and more in the topology, in the node and in the file.
fn whole(section: &str, node: &str, file: &str) -> String {
    format!(
        "{VERSION}{file}topology_template:\n  node_templates:\n    box: {{type: tosca.nodes.Compute}}\n    app: {{type: tosca.nodes.SoftwareComponent, {node}}}\n{section}"
    )
}

const HOST: &str = "requirements: [host: box]";

#[test]
fn every_section_of_another_shape_is_open() {
    assert_proved(&whole("", HOST, ""));
    // The name of TOSCA 2.0.
    assert_not_proved(&format!(
        "{VERSION}service_template: {{node_templates: {{box: {{type: tosca.nodes.Compute}}}}}}\n"
    ));
    for wrong in ["", "5", "[]", "[a]"] {
        assert_not_proved(&format!("{VERSION}topology_template: {wrong}\n"));
        assert_not_proved(&format!("{VERSION}topology_template: {{node_templates: {wrong}}}\n"));
        for section in ["substitution_mappings", "nodes"] {
            assert_not_proved(&whole(&format!("  {section}: {wrong}\n"), HOST, ""));
        }
        assert_not_proved(&whole("", HOST, &format!("unknown_section: {wrong}\n")));
    }
    for wrong in ["5", "[5]", "[a]"] {
        for section in ["inputs", "outputs", "groups", "relationship_templates", "policies", "workflows"] {
            assert_not_proved(&whole(&format!("  {section}: {wrong}\n"), HOST, ""));
        }
        for section in ["node_types", "relationship_types", "capability_types", "data_types", "policy_types"]
        {
            assert_not_proved(&whole("", HOST, &format!("{section}: {wrong}\n")));
        }
    }
    for wrong in ["5", "a", "[a]"] {
        assert_open(&whole("", HOST, &format!("metadata: {wrong}\n")));
        assert_open(&whole("", &format!("{HOST}, metadata: {wrong}"), ""));
    }
    // A rule file that nothing uses may be the one that is meant.
    let rules =
        "node_types: {T: {derived_from: tosca.nodes.Root, metadata: {setpoint_rules: nowhere.spm}}}\n";
    assert_open(&whole("", HOST, rules));
    assert_open(&whole("    other: {type: T}\n", HOST, rules));
    assert_open(&whole("", HOST, "").replace(" tosca_simple_yaml_1_3", ""));
    // An empty section says nothing in the Simple Profile; TOSCA 2.0 has none.
    let empty = whole("  groups:\n", HOST, "");
    assert_proved(&empty);
    assert_open(&empty.replace("tosca_simple_yaml_1_3", "tosca_2_0"));
    for section in ["description: a", "inputs: {a: {type: string}}", "outputs: {a: {value: b}}", "groups: {}"]
    {
        assert_proved(&whole(&format!("  {section}\n"), HOST, ""));
    }
    for wrong in ["imports: 5\n", "imports: [[a]]\n", "imports: [{a: [b]}]\n"] {
        assert_not_proved(&whole("", HOST, wrong));
    }
}

#[test]
fn every_node_of_another_shape_is_open() {
    for wrong in [
        "5",
        "[]",
        "",
        "{}",
        "{type: }",
        "{type: [a]}",
        "{type: no.such.Type}",
        "{type: tosca.nodes.Compute, requirements: 5}",
        "{type: tosca.nodes.Compute, requirements: [a]}",
        "{type: tosca.nodes.Compute, capabilities: 5}",
        "{type: tosca.nodes.Compute, requirement: [host: a]}",
        "{type: tosca.nodes.Compute, directives: select}",
        "{type: tosca.nodes.Compute, directives: [select]}",
        "{type: tosca.nodes.Compute, directives: [substitute]}",
        "{type: tosca.nodes.Compute, copy: nothing}",
        "{type: tosca.nodes.Compute, copy: more}",
        "{type: tosca.nodes.Compute, count: 3}",
        "{type: tosca.nodes.Compute, node_filter: {}}",
        "{type: tosca.nodes.Compute, [a]: b}",
    ] {
        assert_not_proved(&format!("{}    more: {wrong}\n", whole("", HOST, "")));
    }
    for wrong in [
        "requirements: []",
        "requirements: [host: {node: {get_property: [SELF, a]}}]",
        "requirements: [host: {node: tosca.nodes.Database}]",
        "requirements: [host: {node: box, node_filter: {}}]",
        "requirements: [host: {node: box, relationship: [a]}]",
        "requirements: [host: {node: box, relationship: no.such.Type}]",
        "requirements: [host: box, other: box]",
        "requirements: [host: {node: box, nod: a}]",
        "requirements: [host: {node: box, count: 2}]",
    ] {
        assert_not_proved(&whole("", wrong, ""));
    }
    for whole_one in [
        HOST,
        "requirements: [host: {node: box}]",
        "requirements: {host: {node: box, capability: tosca.capabilities.Compute}}",
        "requirements: [host: {node: tosca.nodes.Compute}]",
        "requirements: [host: {}]",
        "requirements: [host: ]",
        "requirements: [host: box, dependency: box]",
        "copy: another}\n    another: {type: tosca.nodes.SoftwareComponent, requirements: [host: box]",
    ] {
        assert_proved(&whole("", whole_one, ""));
    }
}

#[test]
fn every_type_of_another_shape_is_open() {
    let with = |definition: &str| {
        whole(
            "",
            "requirements: [host: box]}\n    mine: {type: my.Type",
            &format!("node_types: {{my.Type: {definition}}}\n"),
        )
    };
    assert_proved(&with("{derived_from: tosca.nodes.Root}"));
    for wrong in [
        "5",
        "[]",
        "{derived_from: no.such.Type}",
        "{derived_from: my.Type}",
        "{derived_from: [a]}",
        "{derived_from: tosca.nodes.Root, requirements: 5}",
        "{derived_from: tosca.nodes.Root, requirements: [a]}",
        "{derived_from: tosca.nodes.Root, capabilities: 5}",
        "{derived_from: tosca.nodes.Root, requirements: [needs: {capability: tosca.capabilities.Node}]}",
    ] {
        assert_not_proved(&with(wrong));
    }
}

#[test]
fn what_is_elsewhere_or_not_modelled_is_open() {
    for text in [
        String::new(),
        "5\n".to_owned(),
        "[a]\n".to_owned(),
        VERSION.to_owned(),
        format!("{VERSION}node_types: {{}}\n"),
        whole("", HOST, "") + "---\na: b\n",
        whole("", HOST, "") + "broken: [\n",
        whole("", HOST, "imports: [missing.yaml]\n"),
        whole("", HOST, "imports: ['https://example.com/a.yaml']\n"),
        whole("", HOST, "imports: [{file: }]\n"),
        whole("", HOST, "").replace("tosca_simple_yaml_1_3", "tosca_simple_yaml_9_9"),
        whole("", HOST, "").replace("tosca_simple_yaml_1_3", "tosca_simple_profile_for_nfv_1_0_0"),
        whole("", HOST, "").replace("tosca_simple_yaml_1_3", ""),
        whole("  policies: [scale: {type: tosca.policies.Root}]\n", HOST, ""),
        whole("  workflows: {deploy: {steps: {}}}\n", HOST, ""),
        whole("  substitution_mappings: {node_type: tosca.nodes.Root, requirements: {r: 5}}\n", HOST, ""),
        whole("  substitution_mappings: {capabilities: {}}\n", HOST, ""),
        whole("  relationship_templates: {r: {}}\n", HOST, ""),
        format!("{VERSION}topology_template: {}1{}\n", "[".repeat(600), "]".repeat(600)),
    ] {
        assert_open(&text);
    }
    let importing = whole("", HOST, "imports: [other.yaml]\n");
    assert!(answer_with(&[("s.yaml", &importing), ("other.yaml", VERSION)]).is_proved());
    for other in ["", "5\n", "a: [\n", "imports: [missing.yaml]\n", "node_types: 5\n"] {
        let answer = answer_with(&[("s.yaml", &importing), ("other.yaml", other)]);
        assert!(answer.is_unknown(), "{other:?}\n{answer:?}");
        assert!(answer.reasons().iter().all(|reason| matches!(reason.place, Place::At(_))), "{other:?}");
    }
}

/// What is wrong in a topology that stands for a node is wrong outside as well.
#[test]
fn inner_topologies_count() {
    let inner = |nodes: &str| {
        format!(
            "{VERSION}topology_template:\n  substitution_mappings: {{node_type: my.Type}}\n  node_templates: {{{nodes}}}\n"
        )
    };
    let outer = format!(
        "{VERSION}imports: [inner.yaml]\nnode_types: {{my.Type: {{derived_from: tosca.nodes.Root}}}}\ntopology_template: {{node_templates: {{one: {{type: my.Type, directives: [substitute]}}}}}}\n"
    );
    let with = |nodes: &str| answer_with(&[("s.yaml", &outer), ("inner.yaml", &inner(nodes))]);
    assert!(with("a: {type: tosca.nodes.Compute}").is_proved());
    for wrong in [
        "a: 5",
        "a: {type: no.such.Type}",
        "a: {type: my.Type}",
        "a: {type: my.Type, directives: [substitute]}",
        "a: {type: tosca.nodes.SoftwareComponent}",
        "a: {type: tosca.nodes.SoftwareComponent, requirements: [host: no]}",
        "",
    ] {
        assert!(!with(wrong).is_proved(), "{wrong}");
    }
}

#[test]
fn errors_refute() {
    for wrong in ["requirements: [host: nothing]", "requirements: [host: box, dependency: app]"] {
        assert!(answer(&whole("", wrong, "")).is_refuted(), "{wrong}");
    }
}

#[test]
fn archives_that_cannot_be_read_have_a_reason() {
    let zip = |files: &[(&str, &str)]| {
        let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, text) in files {
            writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            writer.write_all(text.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    };
    // Archives of other tools may hold YAML, too.
    for (files, is_ours) in [
        (vec![("s.yaml", VERSION)], true),
        (vec![("TOSCA-Metadata/TOSCA.meta", "TOSCA-Meta-File-Version: 1.0")], true),
        (vec![("cron.yaml", "version: 1\ncron: []\n"), ("index.js", "")], false),
        (vec![("a.yaml", "a: b"), ("b.yaml", "b: c")], false),
        (vec![("code/index.js", "")], false),
    ] {
        assert_eq!(is_archive(&zip(&files)), is_ours, "{files:?}");
    }
    assert!(!is_archive(b"no archive with a .yaml"));
    assert!(open_archive(&zip(&[("s.yaml", VERSION)])).is_ok());
    let meta =
        "CSAR-Version: 1.1\nEntry-Definitions: d/a.yaml\nOther-Definitions: \"d/my b.yaml\",\n c.yaml\n";
    let several = zip(&[
        ("d/a.yaml", VERSION),
        ("d/my b.yaml", VERSION),
        ("c.yaml", VERSION),
        ("e.yaml", VERSION),
        ("script.yaml", "tasks: []\n"),
        ("TOSCA-Metadata/TOSCA.meta", meta),
    ]);
    let archive = open_archive(&several).unwrap();
    assert_eq!(archive.entry, Path::new("d/a.yaml"));
    assert_eq!(archive.others, ["d/my b.yaml", "c.yaml", "e.yaml"].map(std::path::PathBuf::from));
    for (bytes, wanted) in [
        (b"no archive".to_vec(), None),
        (Vec::new(), None),
        (zip(&[]), Some(BadArchive::NoTemplate)),
        (zip(&[("a.yaml", VERSION), ("b.yaml", VERSION)]), Some(BadArchive::SeveralTemplates)),
        (zip(&[("TOSCA-Metadata/TOSCA.meta", "a: b\n")]), Some(BadArchive::NoEntryDefinitions)),
        (
            zip(&[("TOSCA-Metadata/TOSCA.meta", "Entry-Definitions: a.yaml\n")]),
            Some(BadArchive::MissingEntry("a.yaml".to_owned())),
        ),
        (
            zip(&[
                ("a.yaml", VERSION),
                ("TOSCA.meta", "Entry-Definitions: a.yaml\nOther-Definitions: b.yaml\n"),
            ]),
            Some(BadArchive::MissingEntry("b.yaml".to_owned())),
        ),
        (
            zip(&[
                ("a.yaml", VERSION),
                ("b.yaml", VERSION),
                ("TOSCA.meta", "Entry-Definitions: a.yaml\nEntry-Definitions: b.yaml\n"),
            ]),
            Some(BadArchive::SeveralEntryDefinitions),
        ),
        (
            zip(&[("a.yaml", VERSION), ("TOSCA.meta", "Entry-Definitions: a.yaml\nwhat\n")]),
            Some(BadArchive::Metadata("what".to_owned())),
        ),
        (zip(&[("a.yaml", VERSION), ("x/../a.yaml", VERSION)]), Some(BadArchive::SamePath("a.yaml".into()))),
    ] {
        let bad = open_archive(&bytes).unwrap_err();
        assert!(wanted.is_none_or(|wanted| wanted == bad));
        let (answer, _) = bad.judge("a.csar", &setpoint_source::Sources::new());
        assert!(answer.is_unknown() && matches!(answer.reasons()[0].place, Place::At(_)));
    }
}

/// The members of an archive that are not text, and metadata of other versions, are told.
#[test]
fn members_that_cannot_be_read_have_a_reason() {
    let zip = |files: &[(&str, &[u8])]| {
        let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes) in files {
            writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    };
    let problems = |meta: &str, member: &[u8]| {
        let files: [(&str, &[u8]); 3] =
            [("a.yaml", VERSION.as_bytes()), ("TOSCA.meta", meta.as_bytes()), ("d/u.yaml", member)];
        let archive = open_archive(&zip(&files)).unwrap();
        let sources = setpoint_source::Sources::new();
        let judged = archive.problems.iter().map(|one| one.judge(&archive, Path::new("a.csar"), &sources));
        judged
            .map(|(reason, _)| reason)
            .inspect(|reason| assert!(matches!(reason.place, Place::At(_))))
            .count()
    };
    let old = "TOSCA-Meta-File-Version: 1.1\nCSAR-Version: 1.1\nEntry-Definitions: a.yaml\n";
    let new = "CSAR-Version: 2.0\nEntry-Definitions: a.yaml\n";
    assert_eq!(problems(old, b"tasks: []\n"), 0);
    assert_eq!(problems(new, b"tasks: []\n"), 0);
    assert_eq!(problems(old, b"tasks: \xff\n"), 1);
    assert_eq!(problems("Entry-Definitions: a.yaml\n", b""), 2);
    assert_eq!(problems("CSAR-Version: 1.1\nEntry-Definitions: a.yaml\n", b""), 1);
    assert_eq!(problems(&new.replace("2.0", "9.9"), b""), 2);
    assert_eq!(problems(&old.replace("Version: 1.1", "Version: 9.9"), b""), 2);
    let not_text = zip(&[("a.yaml", VERSION.as_bytes()), ("TOSCA.meta", b"\xffEntry-Definitions: a.yaml\n")]);
    assert!(matches!(open_archive(&not_text), Err(BadArchive::MetadataNotText(_))));
}

#[test]
fn an_import_from_elsewhere_names_its_address() {
    let far = "repositories: {far: {url: 'https://example.org/types/'}}\nimports: [{file: a.yaml, repository: far}]\n";
    let answer = answer(&whole("", HOST, far));
    let [reason] = answer.reasons() else { panic!("{answer:?}") };
    assert!(reason.words.contains("`https://example.org/types/a.yaml`"), "{reason:?}");
    assert_open(&whole("", HOST, "imports: [{file: a.yaml, repository: nowhere}]\n"));
    let near = whole("", HOST, "repositories: {near: types}\nimports: [{file: a.yaml, repository: near}]\n");
    assert!(answer_with(&[("s.yaml", &near), ("types/a.yaml", VERSION)]).is_proved());
}

#[test]
fn a_script_that_is_not_there_leaves_the_answer_open() {
    for interfaces in [
        "{Standard: {create: a.sh}}",
        "{Standard: {create: {implementation: a.sh}}}",
        "{Standard: {create: {implementation: {primary: a.sh}}}}",
        "{Standard: {operations: {create: {implementation: {primary: {file: a.sh}}}}}}",
        "{Standard: {create: {implementation: {dependencies: [a.sh]}}}}",
    ] {
        let text = whole("", &format!("{HOST}, interfaces: {interfaces}"), "");
        assert_open(&text);
        assert!(answer_with(&[("s.yaml", &text), ("a.sh", "")]).is_proved(), "{text}");
    }
    assert_open(&whole("", &format!("{HOST}, artifacts: {{a: {{file: a.tgz}}}}"), ""));
    assert_open(&whole("", &format!("{HOST}, artifacts: {{a: {{file: a.tgz, repository: far}}}}"), ""));
    let named = format!("{HOST}, artifacts: {{a: b.sh}}, interfaces: {{Standard: {{create: a}}}}");
    assert!(answer_with(&[("s.yaml", &whole("", &named, "")), ("b.sh", "")]).is_proved());
    let of_type =
        "node_types: {T: {derived_from: tosca.nodes.Root, interfaces: {Standard: {create: a.sh}}}}\n";
    assert_proved(&whole("", HOST, of_type));
    assert_open(&whole("    other: {type: T}\n", HOST, of_type));
}

#[test]
fn a_function_that_names_nothing_is_refuted() {
    for call in [
        "{get_input: nothing}",
        "{get_input: [nothing, 0]}",
        "{get_property: [nobody, p]}",
        "{get_attribute: [nobody, p]}",
        "{get_operation_output: [nobody, Standard, create, x]}",
        "{get_artifact: [SELF, nothing]}",
        "{concat: [a, {get_input: nothing}]}",
        "{$get_input: nothing}",
    ] {
        let answer = answer(&whole("", &format!("{HOST}, properties: {{component_version: {call}}}"), ""));
        assert!(answer.is_refuted(), "{call}\n{answer:?}");
    }
    for call in [
        "{get_input: a}",
        "{get_property: [SELF, admin_credential]}",
        "{get_attribute: [box, private_address]}",
    ] {
        let node = format!("{HOST}, properties: {{component_version: {call}}}");
        assert_proved(&whole("  inputs: {a: {type: string}}\n", &node, ""));
    }
}

/// A topology with relationships whose operations run a file.
#[test]
fn scripts_of_relationships_count() {
    let interfaces = "interfaces: {Configure: {pre_configure_source: a.sh}}";
    let connects = "derived_from: tosca.relationships.HostedOn";
    let inline = format!(
        "requirements: [host: {{node: box, relationship: {{type: tosca.relationships.HostedOn, {interfaces}}}}}]"
    );
    let named = "requirements: [host: {node: box, relationship: r}]";
    let templates =
        format!("  relationship_templates: {{r: {{type: tosca.relationships.HostedOn, {interfaces}}}}}\n");
    let types = format!("relationship_types: {{R: {{{connects}, {interfaces}}}}}\n");
    let by_type = "requirements: [host: {node: box, relationship: R}]";
    for text in [whole("", &inline, ""), whole(&templates, named, ""), whole("", by_type, &types)] {
        assert_open(&text);
        assert!(answer_with(&[("s.yaml", &text), ("a.sh", "")]).is_proved(), "{text}");
    }
    // Nothing uses them.
    assert_proved(&whole(&templates, HOST, ""));
    assert_proved(&whole("", HOST, &types));
}

#[test]
fn values_that_need_themselves_are_refuted() {
    let types = "node_types: {T: {derived_from: tosca.nodes.Root, properties: {a: {type: string, required: false}, b: {type: string, required: false}, m: {type: map, entry_schema: string, required: false}}, attributes: {a: {type: string}, c: {type: string}}}}\n";
    let with = |one: &str, two: &str| {
        let nodes = format!("    one: {{type: T, {one}}}\n    two: {{type: T, {two}}}\n");
        whole(&nodes, HOST, types)
    };
    for (one, two) in [
        ("properties: {a: {get_property: [SELF, a]}}", ""),
        ("properties: {a: {get_property: [one, b]}, b: {get_property: [SELF, a]}}", ""),
        (
            "properties: {a: {get_property: [two, a]}}",
            "properties: {a: {concat: [x, {get_property: [one, a]}]}}",
        ),
        ("attributes: {c: {get_attribute: [two, c]}}", "attributes: {c: {get_attribute: [one, c]}}"),
        ("properties: {m: {x: {get_property: [SELF, m, y]}, y: {get_property: [SELF, m, x]}}}", ""),
        (
            "requirements: [dependency: two], properties: {a: {get_property: [SELF, dependency, a]}}",
            "properties: {a: {get_property: [one, a]}}",
        ),
    ] {
        let answer = answer(&with(one, two));
        assert!(answer.is_refuted(), "{one} {two}\n{answer:?}");
    }
    for (one, two) in [
        ("properties: {a: {get_property: [two, a]}}", "properties: {a: x}"),
        ("properties: {a: x, b: {get_property: [SELF, a]}}", ""),
        ("properties: {m: {x: {get_property: [SELF, m, y]}, y: z}}", ""),
        ("attributes: {a: {get_property: [SELF, a]}}", ""),
    ] {
        assert_proved(&with(one, two));
    }
    let inputs = "  inputs: {a: {type: string, default: {get_input: b}}, b: {type: string, default: {get_input: a}}}\n";
    assert!(answer(&whole(inputs, HOST, "")).is_refuted());
}

/// An attribute has a value when its node runs: who needs it waits.
#[test]
fn an_attribute_is_there_when_its_node_runs() {
    let needs =
        "interfaces: {Standard: {configure: {inputs: {ip: {get_attribute: [other, private_address]}}}}}";
    let other = |more: &str| format!("    other: {{type: tosca.nodes.Compute{more}}}\n");
    assert_open(&whole(&other(""), &format!("{HOST}, {needs}"), ""));
    assert_open(&whole(&other(", requirements: [dependency: app]"), &format!("{HOST}, {needs}"), ""));
    assert_proved(&whole(&other(""), &format!("requirements: [host: box, dependency: other], {needs}"), ""));
    assert_proved(&whole(&other(", attributes: {private_address: x}"), &format!("{HOST}, {needs}"), ""));
    let later =
        needs.replace("Standard", "tosca.interfaces.node.lifecycle.Standard").replace("configure", "stop");
    assert_proved(&whole(&other(""), &format!("{HOST}, {later}"), ""));
}

#[test]
fn filters_policies_and_counts() {
    let filter = |clause: &str| {
        let node = format!(
            "requirements: [host: {{node: box, node_filter: {{capabilities: [host: {{properties: [num_cpus: {clause}]}}]}}}}]"
        );
        let nodes = "capabilities: {host: {properties: {num_cpus: 2}}}";
        whole("", &node, "")
            .replace("{type: tosca.nodes.Compute}", &format!("{{type: tosca.nodes.Compute, {nodes}}}"))
    };
    assert_proved(&filter("{in_range: [1, 4]}"));
    assert_proved(&filter("2"));
    assert!(answer(&filter("{greater_than: 2}")).is_refuted());
    assert_open(
        &filter("{greater_than: {get_input: n}}")
            .replace("  node_templates", "  inputs: {n: {type: integer}}\n  node_templates"),
    );
    let policy = |kind: &str, more: &str| {
        whole(&format!("  policies: [p: {{type: {kind}, targets: [app]{more}}}]\n"), HOST, "")
    };
    assert_proved(&policy("tosca.policies.Placement", ""));
    assert_open(&policy("tosca.policies.Root", ""));
    assert_open(&policy(
        "tosca.policies.Scaling",
        ", triggers: {t: {event: e, action: [set_state: started]}}",
    ));
    let counted = |count: &str| {
        format!(
            "tosca_definitions_version: tosca_2_0\nimports: [{{profile: 'org.oasis-open.simple:2.0'}}]\nservice_template: {{inputs: {{n: {{type: integer}}}}, node_templates: {{a: {{type: tosca.nodes.Compute, count: {count}}}}}}}\n"
        )
    };
    assert_proved(&counted("3"));
    assert_open(&counted("0"));
    assert_open(&counted("{$get_input: n}"));
}

#[test]
fn steps_that_never_run_or_never_end() {
    let flow = |steps: &str| whole(&format!("  workflows: {{w: {{steps: {{{steps}}}}}}}\n"), HOST, "");
    let step =
        |name: &str, more: &str| format!("{name}: {{target: app, activities: [set_state: started]{more}}}");
    assert_proved(&flow(&[step("a", ", on_success: [b]"), step("b", "")].join(", ")));
    assert_proved(&flow(&[step("a", ", on_failure: [b]"), step("b", "")].join(", ")));
    assert_open(&flow(&step("a", ", on_failure: [a]")));
    assert_open(&flow(&[step("a", ", on_success: [b]"), step("b", ", on_failure: [a]")].join(", ")));
    assert!(answer(&flow(&step("a", ", on_success: [a]"))).is_refuted());
    assert!(answer(&flow("a: {target: app, target_relationship: nothing, activities: []}")).is_refuted());
}

#[test]
fn calls_that_name_nothing_are_not_proved() {
    let with = |value: &str| {
        whole(
            "  inputs: {i: {type: string}}\n",
            &format!("{HOST}, properties: {{component_version: {value}}}"),
            "",
        )
    };
    for value in [
        "{get_input: i}",
        "{concat: [a, b]}",
        "{join: [[a, b]]}",
        "{token: [a.b, ., 1]}",
        "{get_nodes_of_type: tosca.nodes.Compute}",
    ] {
        assert_proved(&with(value));
    }
    for value in [
        "{get_input: []}",
        "{get_input: {x: y}}",
        "{get_property: []}",
        "{concat: a}",
        "{join: a}",
        "{token: [a.b, ., 2]}",
        "{token: [a.b, ., x]}",
        "{get_nodes_of_type: nope}",
        "{get_secret: x}",
    ] {
        assert_not_proved(&with(value));
    }
}
