//! What is malformed, empty, unread or over a limit is never proved, and says where; what is whole stays proved.

use std::path::Path;

use setpoint_cloudformation::{Checked, Options, assembly, check, is_assembly, is_template_text};
use setpoint_source::{FileId, Gap, Judgement, MemoryFileSystem, Place, Sources, conditional};

/// A whole template. Each line of a section can be replaced.
const WHOLE: &[(&str, &str)] = &[
    ("AWSTemplateFormatVersion", "'2010-09-09'"),
    ("Description", "a queue and its policy"),
    ("Metadata", "{Team: a}"),
    ("Parameters", "{Stage: {Type: String, Default: test, AllowedValues: [test, prod]}}"),
    ("Mappings", "{Names: {test: {Queue: t}, prod: {Queue: p}}}"),
    ("Conditions", "{IsProd: !Equals [!Ref Stage, prod]}"),
    ("Rules", "{Known: {Assertions: [{Assert: !Contains [[test, prod], !Ref Stage]}]}}"),
    ("Transform", "AWS::LanguageExtensions"),
    (
        "Resources",
        "{Queue: {Type: AWS::SQS::Queue, Properties: {QueueName: !FindInMap [Names, !Ref Stage, Queue]}}}",
    ),
    ("Outputs", "{Stage: {Value: !Ref Stage}}"),
];

fn template(section: &str, text: Option<&str>) -> String {
    let lines = WHOLE.iter().filter_map(|(name, whole)| match text {
        _ if *name != section => Some(format!("{name}: {whole}\n")),
        Some(text) => Some(format!("{name}: {text}\n")),
        None => None,
    });
    lines.collect()
}

fn answers(files: &[(&str, &str)]) -> (Vec<Checked>, Sources) {
    let mut memory = MemoryFileSystem::new();
    for (name, text) in files {
        memory.add(*name, text.as_bytes());
    }
    let sources = Sources::new();
    let file = sources.add(files[0].0, files[0].1);
    (check(&memory, &sources, Path::new(files[0].0), file, &Options::default()), sources)
}

fn answer(text: &str) -> Judgement {
    answers(&[("t.yaml", text)]).0.remove(0).analysis.reaches_final
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

/// A template with one queue whose property is an expression.
fn with_value(value: &str) -> String {
    template(
        "Resources",
        Some(&format!(
            "{{A: {{Type: AWS::SQS::Queue}}, B: {{Type: AWS::SQS::Queue, Properties: {{QueueName: {value}}}}}}}"
        )),
    )
}

#[test]
fn every_section_of_another_shape_is_open() {
    assert_proved(&template("", None));
    for (section, _) in WHOLE {
        for wrong in ["", "5", "[]", "[a, b]", "!Ref Stage"] {
            let is_text = matches!(*section, "Description" | "Transform");
            // A number is a text, and a list names transforms.
            if !(is_text && matches!(wrong, "5" | "[]" | "[a, b]" | "!Ref Stage")) || wrong.is_empty() {
                assert_open(&template(section, Some(wrong)));
            }
        }
    }
    for optional in ["Description", "Metadata", "Rules", "Transform", "Outputs"] {
        assert_proved(&template(optional, None));
    }
    assert_open(&template("Resources", None));
    assert_open(&template("Resources", Some("{}")));
    assert_open(&template("Transform", Some("[{}]")));
    assert_open(&template("Description", Some("[a]")));
}

#[test]
fn every_entry_of_another_shape_is_open() {
    for (section, entries) in [
        ("Parameters", ["5", "[]", "{Default: a}", "{Type: [a]}", "{Type: String, AllowedValues: a}"]),
        (
            "Parameters",
            [
                "{Type: String, AllowedPattern: '['}",
                "{Type: String, AllowedPattern: [a]}",
                "{Type: String, MinLength: [1]}",
                "{Type: String, NoEcho: {a: b}}",
                "{Type: String, Description: [a]}",
            ],
        ),
        ("Mappings", ["5", "[]", "{a: b}", "{a: {b: {c: d}}}", "{a: {}}"]),
        ("Conditions", ["5", "[]", "{a: b}", "!Join ['', [a]]", "!Not [a]"]),
        ("Rules", ["5", "[]", "{}", "{Assertions: []}", "{Assertions: [{a: b}]}"]),
        ("Resources", ["5", "[]", "{}", "{Type: [a]}", "{Type: nothing}"]),
        ("Outputs", ["5", "[]", "{}", "{Value: }", "{Description: a}"]),
    ] {
        for entry in entries {
            let whole = WHOLE.iter().find(|(name, _)| *name == section).unwrap().1;
            let more = format!("{}, Extra: {entry}}}", whole.strip_suffix('}').unwrap());
            assert_open(&template(section, Some(&more)));
        }
    }
}

#[test]
fn every_malformed_or_unknown_function_is_open() {
    for whole in [
        "!Ref A",
        "!Sub 'a-${A}'",
        "!Sub ['a-${B}', {B: !Ref A}]",
        "!GetAtt A.QueueName",
        "!Join ['-', [a, !Ref A]]",
        "!If [IsProd, a, !Ref AWS::NoValue]",
        "!Select [0, !Split [',', 'a,b']]",
        "!FindInMap [Names, test, Queue]",
        "!Base64 a",
        "!Select [0, !Cidr [!Ref A, 2, 8]]",
        "!Select [0, !GetAZs '']",
    ] {
        assert_proved(&with_value(whole));
    }
    for wrong in [
        "!Ref [A]",
        "!Ref ''",
        "{Ref: {a: b}}",
        "!Sub [a]",
        "!Sub '${A'",
        "!Sub ['a', b]",
        "!GetAtt A",
        "!GetAtt [A]",
        "!Join a",
        "!Join [a]",
        "!If [IsProd, a]",
        "!If [[a], b, c]",
        "!Select [0]",
        "!Join [',', text]",
        "!Split [',']",
        "!FindInMap [Names, test]",
        "!Base64 [a]",
        "!Cidr [a]",
        "!ImportValue [a]",
        "!Equals [a]",
        "!And [a]",
        "{Fn::Join: ['-', [a]], other: b}",
        "!Unknown a",
        "{Fn::Unknown: a}",
        "!Transform {Name: AWS::Include}",
        "{'Fn::Transform': {Name: AWS::Include}, a: b}",
        "{[a]: b}",
    ] {
        assert_open(&with_value(wrong));
    }
}

#[test]
fn every_malformed_attribute_is_open() {
    let with = |attribute: &str| {
        template(
            "Resources",
            Some(&format!("{{A: {{Type: AWS::SQS::Queue}}, B: {{Type: AWS::SQS::Queue, {attribute}}}}}")),
        )
    };
    for whole in
        ["DependsOn: A", "DependsOn: [A]", "Condition: IsProd", "Properties: {}", "DeletionPolicy: Retain"]
    {
        assert_proved(&with(whole));
    }
    for wrong in [
        "DependsOn: ",
        "DependsOn: {A: b}",
        "DependsOn: [[A]]",
        "DependsOn: !Ref A",
        "Condition: [IsProd]",
        "Properties: 5",
        "Properties: ",
        "Properties: [a]",
        "Properties: {'Fn::If': [IsProd, {}, {}]}",
        "Properties: !If [IsProd, {}, {}]",
        "CreationPolicy: 5",
        "DependOn: A",
        "Metadata: []",
    ] {
        assert_open(&with(wrong));
    }
}

#[test]
fn what_is_added_elsewhere_is_open() {
    let queue = "Queue: {Type: AWS::SQS::Queue}";
    for text in [
        String::new(),
        "null\n".to_owned(),
        "5\n".to_owned(),
        "[a]\n".to_owned(),
        template("", None) + "---\nResources: {}\n",
        template("", None) + "Modules: {Content: {Source: a.yaml}}\n",
        template("", None) + "Resources: {Other: {Type: AWS::SQS::Queue}}\n",
        template("", None) + "Fn::Transform: {Name: AWS::Include}\n",
        template("", None) + "[a]: b\n",
        template("", None) + "Broken: [\n",
        template("Transform", Some("Count")),
        template("Transform", Some("[AWS::LanguageExtensions, Count]")),
        template("Resources", Some("{M: {Type: My::Own::Thing::MODULE}}")),
        template("Resources", Some("{M: {Type: !Rain::Module a.yaml}}")),
        template("Resources", Some("{F: {Type: AWS::Serverless::Function}}")),
        template("Resources", Some(&format!("{{{queue}, 'Fn::Transform': {{Name: AWS::Include}}}}"))),
        template("Conditions", Some("{IsProd: !Condition Other, Other: !Condition IsProd}")),
        template("", None) + "Globals: {Function: {Timeout: 3}}\n",
        template("Transform", Some("[AWS::LanguageExtensions, 5]")),
        template("Mappings", Some("{Names: &n {test: {Queue: t}, prod: {Queue: p}}, More: *n}")),
        template("Mappings", Some("{Names: {test: {<<: {Queue: t}}, prod: {Queue: p}}}")),
        template("Resources", Some(&format!("{{{queue}, B: {{Type: Custom::Thing}}}}"))),
        template(
            "Resources",
            Some(&format!("{{{queue}, B: {{Type: AWS::CloudFormation::CustomResource}}}}")),
        ),
        template("Resources", Some(&format!("{{{queue}, B: {{Type: AWS::CloudFormation::Stack}}}}"))),
        template(
            "Resources",
            Some(&format!("{{{queue}, B: {{Type: AWS::SQS::Queue, IgnoreGlobals: '*'}}}}")),
        ),
        template(
            "Resources",
            Some("{Queue: {Type: AWS::SQS::Queue, Properties: {QueueName: !!binary YQ==}}}"),
        ),
        format!("Resources: {}1{}\n", "[".repeat(600), "]".repeat(600)),
    ] {
        assert_open(&text);
    }
    let serverless = |resource: &str| {
        format!(
            "Transform: AWS::Serverless-2016-10-31\nResources: {{F: {{Type: AWS::Serverless::{resource}}}}}\n"
        )
    };
    let schedule = "{Type: Schedule, Properties: {Schedule: rate(1 day)}}";
    assert_proved(&serverless(&format!(
        "Function, Properties: {{InlineCode: a, Runtime: python3.12, Handler: a.b, Events: {{E: {schedule}}}}}"
    )));
    for right in [
        "Api, Properties: {StageName: a, Domain: {DomainName: a, CertificateArn: b}}",
        "Api, Properties: {StageName: a, Auth: {UsagePlan: {CreateUsagePlan: PER_API}}}",
    ] {
        assert_proved(&serverless(right));
    }
    for wrong in [
        "GraphQLApi",
        "Connector",
        "WebSocketApi",
        "Function",
        "Api, Properties: {StageName: a, Domain: {DomainName: a}}",
        "Api, Properties: {StageName: a, Auth: {UsagePlan: {CreateUsagePlan: OTHER}}}",
        "Function, Properties: {InlineCode: a, Runtime: python3.12, Handler: a.b, Events: {E: {Type: Schedule}}}",
        "Function, Properties: {InlineCode: a, Runtime: python3.12, Handler: a.b, Events: {E: {Type: Cognito}}}",
        "Function, Properties: {InlineCode: a, Runtime: python3.12, Handler: a.b, Events: {E: 5}}",
        "Function, Properties: {InlineCode: a, Runtime: python3.12, Handler: a.b, Events: [a]}",
        "Function, Properties: {InlineCode: a, Runtime: python3.12, Handler: a.b}, Connectors: {C: {Properties: {Destination: {Id: a}, Permissions: [Read]}}}",
        "StateMachine, Properties: {Events: {E: {Type: Api}}}",
    ] {
        assert_open(&serverless(wrong));
    }
}

/// One mistake is told once.
#[test]
fn files_of_other_kinds_are_no_templates() {
    for text in [
        "Resources: {Q: {Type: AWS::SQS::Queue}}",
        "Resources:\n  Q: [\n  Type: AWS::SQS::Queue",
        "{\"Resources\": {\"Fn::ForEach::L\": [\"N\", [\"A\"], {\"Q${N}\": {\"Type\": \"AWS::SQS::Queue\"}}]}}",
        "AWSTemplateFormatVersion: '2010-09-09'",
        "Transform: AWS::Serverless-2016-10-31\nGlobals: {}",
        "Resources:",
    ] {
        assert!(is_template_text(FileId(0), text), "{text}");
    }
    for text in [
        "service: a\nprovider: aws\nresources: {Resources: {Q: {Type: AWS::SQS::Queue}}}",
        "{\"fragment\": {\"AWSTemplateFormatVersion\": \"2010-09-09\", \"Resources\": {\"Q\": {\"Type\": \"AWS::SQS::Queue\"}}}}",
        "version: 0.0\nResources: [{TargetService: {Type: AWS::ECS::Service}}]",
        "Resources: {AWS::SQS::Queue: {Properties: {QueueName: String}}}",
        "about: queues",
    ] {
        assert!(!is_template_text(FileId(0), text), "{text}");
    }
}

#[test]
fn one_mistake_has_one_finding() {
    for text in [
        "Resources: {B: {Type: AWS::S3::Bucket, Properties: x}}\n",
        "Resources: {C: {Type: AWS::S3::Bucket}, B: {Type: AWS::S3::Bucket, Properties: {BucketName: !GetAtt C}}}\n",
        "Resources: {S: {Type: AWS::CloudFormation::Stack}}\n",
        "Resources: {B: &b {Type: AWS::S3::Bucket}, C: *b, D: {<<: *b}}\n",
    ] {
        let findings = &answers(&[("t.yaml", text)]).0[0].analysis.findings;
        assert_eq!(findings.len(), 1, "{text}\n{findings:?}");
    }
}

#[test]
fn every_loop_that_is_not_unrolled_is_open() {
    let with = |argument: &str| template("Resources", Some(&format!("{{Fn::ForEach::Q: {argument}}}")));
    let body = "{'Q${N}': {Type: AWS::SQS::Queue}}";
    assert_proved(&with(&format!("[N, [a, b], {body}]")));
    for wrong in [
        "5".to_owned(),
        "[]".to_owned(),
        format!("[N, {body}]"),
        format!("[N, 5, {body}]"),
        "[N, [a], 5]".to_owned(),
        format!("[[N], [a], {body}]"),
        format!("[N, !Ref Unknown, {body}]"),
        format!("[N, !Split [',', a], {body}]"),
        format!("[N, [a, !Ref Stage], {body}]"),
        format!("[N, [a, a], {body}]"),
        format!("[N, [], {body}]"),
    ] {
        assert_open(&with(&wrong));
    }
    let many: Vec<String> = (0..100_001).map(|at| at.to_string()).collect();
    let answer = answer(&with(&format!("[N, [{}], {body}]", many.join(","))));
    assert!(answer.is_unknown() && answer.reasons().iter().any(|reason| reason.gap == Gap::Limit));
    // The default of a parameter is one of many values.
    let assumed = self::answer(&with(&format!("[N, !Ref Stage, {body}]")));
    assert!(conditional(&assumed).is_some(), "{assumed:?}");
}

#[test]
fn names_that_nothing_defines_and_rules_that_nothing_satisfies_refute() {
    for text in [
        with_value("!Ref Nothing"),
        with_value("!Ref AWS::Nothing"),
        with_value("!GetAtt Stage.Value"),
        with_value("!If [Nothing, a, b]"),
        with_value("!FindInMap [Nothing, a, b]"),
        with_value("!FindInMap [Names, nothing, Queue]"),
        with_value("!FindInMap [Names, test, Nothing]"),
        template("Rules", Some("{Never: {Assertions: [{Assert: !Equals [!Ref Stage, other]}]}}")),
        template("Outputs", Some("{Arn: {Value: !GetAtt Nothing.Arn}}")),
        template("Outputs", Some("{Arn: {Condition: Nothing, Value: a}}")),
        template("Conditions", Some("{IsProd: !Equals [!Ref Nothing, prod]}")),
        template("Conditions", Some("{IsProd: !Not [!Condition Nothing]}")),
        template("Resources", Some("{Queue: {Type: AWS::SQS::Queue, Condition: Nothing}}")),
    ] {
        let answer = answer(&text);
        assert!(answer.is_refuted(), "{text}\n{answer:?}");
    }
}

/// A finding may not contradict the verdict beside it.
#[test]
fn a_documented_order_that_is_missing_refutes() {
    let text = "Resources:
  Vpc: {Type: AWS::EC2::VPC, Properties: {CidrBlock: 10.0.0.0/16}}
  Gateway: {Type: AWS::EC2::InternetGateway}
  Attachment:
    Type: AWS::EC2::VPCGatewayAttachment
    Properties: {VpcId: !Ref Vpc, InternetGatewayId: !Ref Gateway}
  Table: {Type: AWS::EC2::RouteTable, Properties: {VpcId: !Ref Vpc}}
  Route:
    Type: AWS::EC2::Route
    Properties: {RouteTableId: !Ref Table, GatewayId: !Ref Gateway, DestinationCidrBlock: 0.0.0.0/0}
";
    assert!(answer(text).is_refuted());
    assert_proved(
        &text
            .replace("    Type: AWS::EC2::Route\n", "    Type: AWS::EC2::Route\n    DependsOn: Attachment\n"),
    );
}

/// A cycle that a condition makes is found wherever it lies in a large component.
#[test]
fn a_cycle_beyond_the_first_members_is_found() {
    let mut text =
        String::from("Parameters: {P: {Type: String}}\nConditions: {C: !Equals [!Ref P, a]}\nResources:\n");
    let count = 300;
    for at in 0..count {
        let next = (at + 1) % count;
        let mut value = format!("!If [C, a, !Ref R{next}]");
        if at == count - 2 {
            value = format!("[{value}, !If [C, !Ref R{}, a]]", count - 1);
        } else if at == count - 1 {
            value = format!("[!If [C, !Ref R{}, a], {value}]", count - 2);
        }
        text.push_str(&format!("  R{at}: {{Type: AWS::SNS::Topic, Properties: {{Tags: {value}}}}}\n"));
    }
    assert!(answer(&text).is_refuted());
}

#[test]
fn nested_stacks_count() {
    let outer = |url: &str| {
        format!(
            "Resources: {{N: {{Type: AWS::CloudFormation::Stack, Properties: {{TemplateURL: {url}}}}}}}\n"
        )
    };
    let whole = "Resources: {Q: {Type: AWS::SQS::Queue}}\n";
    let first = |files: &[(&str, &str)]| answers(files).0.remove(0).analysis.reaches_final;
    assert!(first(&[("t.yaml", &outer("n.yaml")), ("n.yaml", whole)]).is_proved());
    for url in ["https://example.com/n.yaml", "!Sub '${AWS::Region}/n.yaml'", "missing.yaml", "''", "[a]"] {
        let answer = first(&[("t.yaml", &outer(url)), ("n.yaml", whole)]);
        assert!(answer.is_unknown(), "{url}");
        assert!(
            answer.reasons().iter().all(|reason| matches!(reason.place, Place::At(_))),
            "{url}: {answer:?}"
        );
    }
    for (inner, is_refuted) in [
        ("Resources: {Q: 5}\n", false),
        ("Resources:\n", false),
        ("5\n", false),
        ("Resources: {Q: {Type: AWS::SQS::Queue, DependsOn: Q}}\n", true),
        ("Parameters: {P: {Type: String}}\nResources: {Q: {Type: AWS::SQS::Queue}}\n", true),
    ] {
        let (all, _) = answers(&[("t.yaml", &outer("n.yaml")), ("n.yaml", inner)]);
        let answer = &all[0].analysis.reaches_final;
        assert_eq!(answer.is_refuted(), is_refuted, "{inner}\n{answer:?}");
        assert!(!answer.is_proved());
        assert_eq!(all.len(), 2, "the nested template has a verdict of its own");
    }
    // A stack in a stack in itself.
    let (all, _) = answers(&[("t.yaml", &outer("n.yaml")), ("n.yaml", &outer("t.yaml"))]);
    assert!(all.iter().all(|one| one.analysis.reaches_final.is_unknown()));
    // What is inside the inner one counts for the outermost.
    let (all, _) =
        answers(&[("t.yaml", &outer("n.yaml")), ("n.yaml", &outer("m.yaml")), ("m.yaml", "Resources: 5\n")]);
    assert!(all.iter().all(|one| one.analysis.reaches_final.is_unknown()));
    assert_eq!(all[0].analysis.coverage.sources.found, 3);
}

#[test]
fn coverage_counts_what_was_passed_over() {
    let (all, _) = answers(&[(
        "t.yaml",
        "Resources:\n  A: {Type: AWS::SQS::Queue}\n  B: {Type: AWS::SQS::Queue, DependOn: A}\n  C: 5\n",
    )]);
    let resources = all[0].analysis.coverage.resources;
    assert_eq!((resources.reached, resources.found), (1, 3));
}

/// Returns what the answer about a template rests on, as sentences; nothing if it is not a conditional yes.
fn assumed(files: &[(&str, &str)]) -> Vec<String> {
    let answer = answers(files).0.remove(0).analysis.reaches_final;
    conditional(&answer).into_iter().flatten().map(|reason| reason.words.clone()).collect()
}

#[test]
fn what_others_must_do_is_named() {
    let import = "Resources: {Q: {Type: AWS::SQS::Queue, Properties: {QueueName: !ImportValue other}}}";
    assert_eq!(assumed(&[("t.yaml", import)]), ["another stack exports `other`"]);
    let custom = "Resources: {C: {Type: Custom::Thing, Properties: {ServiceToken: arn:a}}}";
    assert_eq!(assumed(&[("t.yaml", custom)]), ["the provider of `C` (Custom::Thing) answers"]);
    let registry = "Resources: {C: {Type: Some::Service::Thing}}";
    assert_eq!(assumed(&[("t.yaml", registry)]), ["the provider of `C` (Some::Service::Thing) answers"]);
}

#[test]
fn code_that_is_not_there_is_named() {
    let function = "Transform: AWS::Serverless-2016-10-31\nResources: {F: {Type: AWS::Serverless::Function, \
                    Properties: {CodeUri: src/, Handler: a.b, Runtime: python3.12}}}";
    assert_eq!(assumed(&[("t.yaml", function)]), ["`src/`, which `F` deploys, is made before"]);
    let whole = answers(&[("t.yaml", function), ("src/a.py", "")]).0.remove(0);
    assert!(whole.analysis.reaches_final.is_proved(), "{:?}", whole.analysis.reaches_final);
}

#[test]
fn values_that_no_resource_takes_are_not_proved() {
    for properties in ["{QueueName: [a]}", "{RedrivePolicy: [1]}", "{Nope: 1}", "{DelaySeconds: soon}"] {
        assert_open(&format!("Resources: {{Q: {{Type: AWS::SQS::Queue, Properties: {properties}}}}}"));
    }
    assert_open("Resources: {F: {Type: AWS::SQS::Qeue}}");
    assert_open("Resources: {F: {Type: AWS::Lambda::Function, Properties: {Role: arn:a}}}");
    assert_open("Resources: {Q: {Type: AWS::SQS::Queue, DeletionPolicy: Sometimes}}");
    assert_open("Resources: {Q: {Type: AWS::SQS::Queue, UpdateReplacePolicy: RetainExceptOnCreate}}");
    assert_proved("Resources: {Q: {Type: AWS::SQS::Queue, DeletionPolicy: RetainExceptOnCreate}}");
    assert_proved("Resources: {Q: {Type: AWS::SQS::Queue, Properties: {DelaySeconds: '5', FifoQueue: yes}}}");
}

#[test]
fn parameters_that_contradict_themselves_are_not_proved() {
    for parameter in [
        "{Type: Strng}",
        "{Type: Number, Default: abc}",
        "{Type: Number, Default: 2, MinValue: 3}",
        "{Type: Number, Default: 2, MaxValue: high}",
        "{Type: String, Default: z, AllowedValues: [a, b]}",
        "{Type: String, Default: long, MaxLength: 3}",
        "{Type: CommaDelimitedList, Default: 'a,c', AllowedValues: [a, b]}",
    ] {
        assert_open(&template(
            "Parameters",
            Some(&format!(
                "{{Stage: {{Type: String, Default: test, AllowedValues: [test, prod]}}, P: {parameter}}}"
            )),
        ));
    }
    for parameter in
        ["{Type: Number, Default: '3', AllowedValues: [3, 4]}", "{Type: 'List<AWS::EC2::Subnet::Id>'}"]
    {
        assert_proved(&template(
            "Parameters",
            Some(&format!(
                "{{Stage: {{Type: String, Default: test, AllowedValues: [test, prod]}}, P: {parameter}}}"
            )),
        ));
    }
}

#[test]
fn a_nested_stack_of_the_cdk_is_read_by_its_asset() {
    let outer = "Resources: {N: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: !Sub \
                 'https://s3.${AWS::URLSuffix}/b/k.json'}, Metadata: {'aws:asset:path': n.json, 'aws:asset:property': \
                 TemplateURL}}}";
    let whole = "Resources: {Q: {Type: AWS::SQS::Queue}}";
    let (all, _) = answers(&[("t.yaml", outer), ("n.json", whole)]);
    assert_eq!(all.len(), 2);
    assert!(all[0].analysis.reaches_final.is_proved(), "{:?}", all[0].analysis.reaches_final);
    assert!(answers(&[("t.yaml", outer)]).0[0].analysis.reaches_final.is_unknown());
    let circular =
        "Resources: {A: {Type: AWS::SQS::Queue, DependsOn: B}, B: {Type: AWS::SQS::Queue, DependsOn: A}}";
    assert!(answers(&[("t.yaml", outer), ("n.json", circular)]).0[0].analysis.reaches_final.is_refuted());
}

/// Returns a template with one queue, more sections and a value for the name of the queue.
fn queue(sections: &str, value: &str) -> String {
    format!("{sections}\nResources: {{Q: {{Type: AWS::SQS::Queue, Properties: {{QueueName: {value}}}}}}}\n")
}

fn assert_refuted(text: &str) {
    let answer = answer(text);
    assert!(answer.is_refuted(), "{text}\n{answer:?}");
}

fn assert_conditional(text: &str) {
    let answer = answer(text);
    assert!(conditional(&answer).is_some(), "{text}\n{answer:?}");
}

#[test]
fn positions_that_a_list_does_not_have_refute() {
    for value in [
        "!Select [2, [a, b]]",
        "!Select [a, [a, b]]",
        "!Select [-1, [a, b]]",
        "!Select ['3', !Split [',', 'a,b']]",
        "!Select [4, !Cidr [10.0.0.0/16, 4, 8]]",
        "!Select [0, abc]",
        "!Join ['', !Cidr [10.0.0.0/16, 300, 8]]",
    ] {
        assert_refuted(&queue("", value));
    }
    let chosen = "Parameters: {N: {Type: Number, AllowedValues: [0, 1, 2]}}";
    assert_refuted(&queue(chosen, "!Select [!Ref N, [a, b]]"));
    let never = "Parameters: {P: {Type: String, AllowedValues: [a]}}\nConditions: {C: !Equals [!Ref P, b]}";
    assert_proved(&queue(never, "!If [C, !Select [2, [a]], x]"));
    for value in
        ["!Select [1, [a, b]]", "!Select [5, !Split [':', !GetAtt R.Arn]]", "!Select [1, !GetAZs '']"]
    {
        assert_proved(&format!(
            "{}  R: {{Type: AWS::SQS::Queue}}\n",
            queue("", value).replace("Resources: {Q: ", "Resources:\n  Q: ").replace("}}}\n", "}}\n")
        ));
    }
    let list = "Parameters: {L: {Type: CommaDelimitedList}}";
    assert_conditional(&queue(list, "!Select [1, !Ref L]"));
    assert_conditional(&queue("", "!Select [3, !GetAZs '']"));
}

#[test]
fn keys_that_a_mapping_lacks_refute() {
    let map = "Mappings: {M: {a: {x: '1'}, b: {x: '2'}, c: {y: '3'}}}";
    for parameter in [
        "{Type: String, AllowedValues: [a, d]}",
        "{Type: String, AllowedValues: [a, c]}",
        "{Type: String, Default: z}",
    ] {
        let text = queue(&format!("{map}\nParameters: {{P: {parameter}}}"), "!FindInMap [M, !Ref P, x]");
        assert_refuted(&text);
    }
    assert_proved(&queue(
        &format!("{map}\nParameters: {{P: {{Type: String, AllowedValues: [a, b]}}}}"),
        "!FindInMap [M, !Ref P, x]",
    ));
    let whole = "Mappings: {M: {a: {x: '1'}, b: {x: '2'}}}";
    assert_conditional(&queue(
        &format!("{whole}\nParameters: {{P: {{Type: String}}}}"),
        "!FindInMap [M, !Ref P, x]",
    ));
    assert_conditional(&queue(whole, "!FindInMap [M, !Ref AWS::Region, x]"));
    assert_conditional(&queue(
        &format!("{whole}\nParameters: {{P: {{Type: String, Default: a}}}}"),
        "!FindInMap [M, !Ref P, x]",
    ));
}

#[test]
fn attributes_that_a_type_lacks_are_open() {
    let with = |value: &str| {
        format!(
            "Resources: {{Q: {{Type: AWS::SQS::Queue}}, D: {{Type: AWS::SNS::Topic, Properties: {{DisplayName: {value}}}}}}}"
        )
    };
    assert_proved(&with("!GetAtt Q.Arn"));
    assert_proved(&with("!Sub '${Q.QueueName}'"));
    for value in ["!GetAtt Q.Arm", "!Sub '${Q.Nothing}'", "!GetAtt Q.Arn.More", "!GetAtt Q.Outputs.X"] {
        assert_open(&with(value));
    }
}

#[test]
fn functions_need_their_transform_and_their_section() {
    for value in [
        "!Length [a]",
        "!ToJsonString {a: b}",
        "!FindInMap [M, a, x, {DefaultValue: y}]",
        "!FindInMap [M, !Sub a, x]",
    ] {
        let map = "Mappings: {M: {a: {x: '1'}}}";
        assert_open(&queue(map, value));
        assert_proved(&queue(&format!("Transform: AWS::LanguageExtensions\n{map}"), value));
    }
    assert_open("Resources: {'Fn::ForEach::L': [N, [a, b], {'Q${N}': {Type: AWS::SQS::Queue}}]}");
    assert_open(
        "Resources: {Q: {Type: AWS::SQS::Queue, DeletionPolicy: !If [C, Retain, Delete]}}\nParameters: {P: {Type: String}}\nConditions: {C: !Equals [!Ref P, a]}",
    );
    assert_open(&queue("", "!Equals [a, b]"));
    assert_open(&template("Conditions", Some("{IsProd: !Equals [!ImportValue x, prod]}")));
}

#[test]
fn names_of_other_characters_are_open() {
    for text in [
        "Resources: {my-queue: {Type: AWS::SQS::Queue}}".to_owned(),
        "Resources: {my_queue: {Type: AWS::SQS::Queue}}".to_owned(),
        format!("Resources: {{{}: {{Type: AWS::SQS::Queue}}}}", "a".repeat(256)),
        queue("Parameters: {a-b: {Type: String}}", "a"),
        queue("Outputs: {a.b: {Value: c}}", "a"),
        queue("Outputs: {a: {Value: [c]}}", "a"),
        queue("Outputs: {a: {Value: c, Exprt: {Name: d}}}", "a"),
        queue("Mappings: {M: {a: {b-c: d}}}", "a"),
        queue("Hooks: {H: {Type: AWS::CodeDeploy::BlueGreen}}", "a"),
        queue("Parameters: {P: {Type: String, Alowed: a}}", "a"),
    ] {
        assert_open(&text);
    }
}

#[test]
fn a_list_of_texts_is_a_type_of_parameters() {
    assert_proved(&queue("Parameters: {P: {Type: 'List<String>'}}", "!Join ['', !Ref P]"));
    assert!(!answer(&queue("Parameters: {P: {Type: 'List<String>'}}", "!Ref P")).is_proved());
}

#[test]
fn exports_and_names_that_two_have_refute() {
    let exports = |names: [&str; 2]| {
        queue(
            &format!(
                "Outputs: {{A: {{Value: a, Export: {{Name: {}}}}}, B: {{Value: b, Export: {{Name: {}}}}}}}",
                names[0], names[1]
            ),
            "q",
        )
    };
    assert_refuted(&exports(["x", "x"]));
    assert_refuted(&exports(["!Sub '${AWS::StackName}-x'", "!Join ['-', [!Ref AWS::StackName, x]]"]));
    assert_proved(&exports(["x", "y"]));
    let two = |parameters: &str, one: &str, other: &str| {
        format!(
            "{parameters}\nResources: {{A: {{Type: AWS::SQS::Queue, Properties: {{QueueName: {one}}}}}, B: {{Type: AWS::SQS::Queue, Properties: {{QueueName: {other}}}}}}}"
        )
    };
    assert_refuted(&two("", "!Sub 'q-${AWS::Region}'", "!Join ['', ['q-', !Ref AWS::Region]]"));
    let listed = "Parameters: {P: {Type: String, AllowedValues: [a, b]}}";
    assert_refuted(&two(listed, "!Ref P", "a"));
    assert_refuted(&two(&format!("{listed}\nConditions: {{C: !Equals [!Ref P, a]}}"), "!If [C, x, y]", "x"));
    assert_proved(&two(listed, "!Ref P", "c"));
    assert_proved(&two("Parameters: {P: {Type: String}}", "!Sub '${P}-a'", "!Sub '${P}-b'"));
    assert_conditional(&two("Parameters: {P: {Type: String}, R: {Type: String}}", "!Ref P", "!Ref R"));
    assert_refuted(&two(
        "Parameters: {P: {Type: String, Default: x}, R: {Type: String, Default: x}}",
        "!Ref P",
        "!Ref R",
    ));
}

#[test]
fn values_that_are_not_in_the_template_are_assumed() {
    for value in [
        "'{{resolve:ssm:/a/b}}'",
        "!Sub '{{resolve:ssm:/a/${AWS::Region}}}'",
        "'{{resolve:secretsmanager:a:SecretString:b}}'",
    ] {
        assert_conditional(&queue("", value));
    }
    for value in ["'{{resolve:nothing:a}}'", "'{{resolve:ssm:}}'", "'{{resolve:ssm:a'"] {
        assert_refuted(&queue("", value));
    }
    assert_refuted(&queue("Outputs: {A: {Value: '{{resolve:secretsmanager:a}}'}}", "a"));
    assert_conditional(&queue(
        "Parameters: {P: {Type: 'AWS::SSM::Parameter::Value<String>', Default: /a}}",
        "a",
    ));
    assert_proved(&queue(
        "Parameters: {P: {Type: 'AWS::SSM::Parameter::Value<String>', Default: /aws/service/a}}",
        "a",
    ));
}

#[test]
fn required_properties_that_are_removed_refute() {
    let with = |value: &str| {
        format!(
            "Parameters: {{P: {{Type: String}}}}\nConditions: {{C: !Equals [!Ref P, a]}}\nResources: {{R: {{Type: AWS::EC2::RouteTable, Properties: {{VpcId: {value}}}}}}}"
        )
    };
    assert_proved(&with("vpc-1"));
    assert_refuted(&with("!Ref AWS::NoValue"));
    assert_refuted(&with("!If [C, vpc-1, !Ref AWS::NoValue]"));
    assert_proved(&with("!If [C, vpc-1, vpc-2]"));
}

#[test]
fn stack_sets_count() {
    let set = |more: &str| {
        format!(
            "Resources: {{S: {{Type: AWS::CloudFormation::StackSet, Properties: {{StackSetName: s, PermissionModel: SELF_MANAGED, {more}}}}}}}"
        )
    };
    assert_open(&set("TemplateURL: 'https://example.com/t.yaml'"));
    assert_proved(&set("TemplateBody: 'Resources: {Q: {Type: AWS::SQS::Queue}}'"));
    assert_refuted(&set("TemplateBody: 'Resources: {Q: {Type: AWS::SQS::Queue, DependsOn: Q}}'"));
    assert_open(&set("TemplateBody: 'Resources: 5'"));
}

#[test]
fn signals_to_another_resource_do_not_count() {
    let server = |script: &str| {
        format!(
            "Resources:\n  Server:\n    Type: AWS::EC2::Instance\n    CreationPolicy: {{ResourceSignal: {{Count: 1}}}}\n    Properties:\n      ImageId: ami-1\n      UserData: !Base64 |\n        #!/bin/sh\n        {script}\n"
        )
    };
    assert_proved(&server("cfn-signal --stack s --resource Server"));
    assert_proved(&server("cfn-signal --stack s --resource $NAME"));
    assert_open(&server("cfn-signal --stack s --resource Other"));
    assert_open(&server("echo done"));
    assert_open(&server("cfn-signal --stack s --resource Server").replace("Count: 1", "Count: 2"));
}

/// What of a folder of the CDK is missing or has another shape is told, each with its place.
#[test]
fn every_malformed_assembly_has_a_problem() {
    let stack = r#""A": {"type": "aws:cloudformation:stack", "properties": {"templateFile": "a.json"}}"#;
    let manifest = |artifacts: &str| format!(r#"{{"version": "36.0.0", "artifacts": {{{artifacts}}}}}"#);
    let problems = |manifest: Option<&str>, assets: &str| {
        let mut memory = MemoryFileSystem::new();
        memory.add("out/cdk.out", b"{}".as_slice());
        memory.add("out/a.json", b"{}".as_slice());
        memory.add("out/assets.json", assets.as_bytes());
        if let Some(text) = manifest {
            // `~` stands for a byte that is no UTF-8.
            let bytes: Vec<u8> = text.bytes().map(|byte| if byte == b'~' { 0xff } else { byte }).collect();
            memory.add("out/manifest.json", bytes);
        }
        assert!(is_assembly(&memory, Path::new("out")), "{manifest:?}");
        let found = assembly(&memory, &Sources::new(), Path::new("out"));
        assert!(found.problems.iter().all(|problem| problem.span.is_some()), "{found:?}");
        found.problems.len()
    };
    let images = r#""I": {"type": "cdk:asset-manifest", "properties": {"file": "assets.json"}}"#;
    let with_assets = manifest(&format!("{stack}, {images}"));
    let asset = |source: &str| format!(r#"{{"files": {{"x": {{"source": {source}}}}}}}"#);
    assert_eq!(problems(Some(&manifest(stack)), ""), 0);
    assert_eq!(problems(Some(&with_assets), &asset(r#"{"path": "a.json"}"#)), 0);
    assert_eq!(problems(Some(&with_assets), &asset(r#"{"executable": ["make"]}"#)), 0);
    assert_eq!(problems(None, ""), 1);
    for wrong in [
        String::new(),
        "5".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        "{\"version\": \"36.0.0\"".to_owned(),
        "~".to_owned() + &manifest(stack),
        manifest(stack) + "x",
        manifest(stack).replace("\"version\": \"36.0.0\", ", ""),
        r#"{"version": "36.0.0", "artifacts": []}"#.to_owned(),
        r#"{"version": "36.0.0", "artifacts": {}}"#.to_owned(),
        manifest(stack).replace("\"artifacts\"", "\"missing\": 5, \"artifacts\""),
        manifest(stack).replace("\"artifacts\"", "\"missing\": [{\"key\": \"zone\"}], \"artifacts\""),
        manifest(&format!(r#"{stack}, "B": 5"#)),
        manifest(&format!(r#"{stack}, "B": {{"type": "aws:cloudformation:stack"}}"#)),
        manifest(&format!(r#"{stack}, "B": {{"type": "other:thing", "properties": {{}}}}"#)),
        manifest(&stack.replace("a.json", "gone.json")),
        manifest(&stack.replace("\"properties\"", "\"metadata\": 5, \"properties\"")),
        manifest(&stack.replace("\"properties\"", "\"dependencies\": [\"B\"], \"properties\"")),
        manifest(&stack.replace("\"properties\"", "\"additionalMetadataFile\": \"gone\", \"properties\"")),
        manifest(&stack.replace("\"properties\"", "\"additionalMetadataFile\": [], \"properties\"")),
        manifest(r#""S": {"type": "cdk:cloud-assembly", "properties": {"directoryName": "gone"}}"#),
        manifest(r#""S": {"type": "cdk:cloud-assembly", "properties": {"directoryName": "."}}"#),
        manifest(&format!("{stack}, {}", images.replace("assets.json", "gone.json"))),
    ] {
        assert!(problems(Some(&wrong), "") > 0, "{wrong}");
    }
    for wrong in ["", "[]", r#"{"files": 5}"#, &asset("5"), &asset("{}"), &asset(r#"{"path": "gone"}"#)] {
        assert!(problems(Some(&with_assets), wrong) > 0, "{wrong}");
    }
}

/// Functions whose arguments AWS documents as none: a delimiter that is computed, names with spaces, a mapping for a text.
#[test]
fn what_functions_do_not_take_is_not_proved() {
    for value in [
        "!Join [',', [a, b]]",
        "!Select [0, !Split [',', 'a,b']]",
        "!Sub 'a-${AWS::Region}'",
        "!Sub '${!A}'",
        "!Select [0, !Cidr [10.0.0.0/16, 6, 8]]",
        "!Select [0, !Cidr [10.0.0.0/24, 16, 4]]",
        "!Join [',', !GetAZs us-gov-east-1]",
    ] {
        assert_proved(&with_value(value));
    }
    for value in [
        "!Ref 'A '",
        "!Sub '${ A }'",
        "!Sub '${}'",
        "!Sub '${A-B}'",
        "!Join [[a], [b]]",
        "!Join [!Ref A, [b]]",
        "!Join [',', [{a: b}]]",
        "!Select [0, !Split [!Ref A, x]]",
        "!Select [0, !Split [[a], x]]",
        "!Base64 {a: b}",
        "!Select [0, !Cidr [x, 1, 8]]",
        "!Select [0, !Cidr [10.0.0.0/16, 1, 99]]",
        "!Select [0, !Cidr [10.0.0.0/24, 17, 4]]",
        "!Join [',', !GetAZs nope]",
        "!Join [',', !GetAZs {Ref: A}]",
        "!Condition IsProd",
    ] {
        let text = with_value(value);
        assert!(!answer(&text).is_proved(), "{text}");
    }
}

#[test]
fn an_update_policy_that_aws_does_not_document_is_not_proved() {
    let with = |policy: &str| {
        template("Resources", Some(&format!("{{A: {{Type: AWS::SQS::Queue, UpdatePolicy: {policy}}}}}")))
    };
    assert_proved(&with("{UseOnlineResharding: true}"));
    assert!(!answer(&with("{Nope: 1}")).is_proved());
}
