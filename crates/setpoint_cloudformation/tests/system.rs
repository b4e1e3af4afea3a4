//! Several templates as one system, values of parameters from a file, and templates in a bucket.

use std::path::{Path, PathBuf};

use setpoint_cloudformation::{Checked, Given, Options, check_together};
use setpoint_source::{Judgement, MemoryFileSystem, Rule, Sources, conditional};

/// Checks the first `count` files together; the others are beside them.
fn together(files: &[(&str, &str)], count: usize, options: &Options) -> Vec<Vec<Checked>> {
    let mut memory = MemoryFileSystem::new();
    for (name, text) in files {
        memory.add(*name, text.as_bytes());
    }
    let sources = Sources::new();
    let inputs: Vec<_> = files[..count]
        .iter()
        .map(|(name, text)| (PathBuf::from(name), sources.add(*name, *text), options.clone()))
        .collect();
    check_together(&memory, &sources, &inputs)
}

fn answer(all: &[Vec<Checked>], at: usize) -> &Judgement {
    &all[at][0].analysis.reaches_final
}

fn stack(imports: &[&str], exports: &[&str]) -> String {
    let mut text = String::from("Resources:\n  Q: {Type: AWS::SQS::Queue}\n");
    for (at, name) in imports.iter().enumerate() {
        text.push_str(&format!(
            "  I{at}: {{Type: AWS::SNS::Topic, Properties: {{DisplayName: !ImportValue '{name}'}}}}\n"
        ));
    }
    if !exports.is_empty() {
        text.push_str("Outputs:\n");
    }
    for (at, name) in exports.iter().enumerate() {
        text.push_str(&format!("  E{at}: {{Value: !Ref Q, Export: {{Name: '{name}'}}}}\n"));
    }
    text
}

#[test]
fn an_import_is_answered_by_the_stack_that_exports_it() {
    let (exporter, importer) = (stack(&[], &["a"]), stack(&["a"], &[]));
    let all = together(&[("i.yaml", &importer), ("e.yaml", &exporter)], 2, &Options::default());
    assert!(answer(&all, 0).is_proved() && answer(&all, 1).is_proved());
    let alone = together(&[("i.yaml", &importer)], 1, &Options::default());
    assert!(conditional(answer(&alone, 0)).is_some());
    let broken = exporter.replace("Q: {Type: AWS::SQS::Queue}", "Q: {Type: AWS::SQS::Queue, DependsOn: Q}");
    let all = together(&[("i.yaml", &importer), ("e.yaml", &broken)], 2, &Options::default());
    assert!(answer(&all, 0).is_refuted(), "what is imported is never exported");
}

#[test]
fn stacks_that_import_from_each_other_are_a_circle() {
    let files = [
        ("a.yaml", stack(&["b"], &["a"])),
        ("b.yaml", stack(&["c"], &["b"])),
        ("c.yaml", stack(&["a"], &["c"])),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let all = together(&files, 3, &Options::default());
    for at in 0..3 {
        assert!(answer(&all, at).is_refuted());
        assert!(all[at][0].analysis.findings.iter().any(|one| one.rule == Rule::DependencyCycle));
    }
    let all = together(&files[..2], 2, &Options::default());
    assert!((0..2).all(|at| conditional(answer(&all, at)).is_some()), "{:?}", answer(&all, 0));
}

#[test]
fn two_stacks_that_export_one_name_are_in_two_regions() {
    let text = stack(&[], &["a"]);
    let all = together(&[("a.yaml", &text), ("b.yaml", &text)], 2, &Options::default());
    assert!(answer(&all, 0).is_proved() && conditional(answer(&all, 1)).is_some());
}

#[test]
fn two_templates_that_give_one_name_are_never_there_together() {
    let bucket = |name: &str| {
        format!("Resources: {{B: {{Type: AWS::S3::Bucket, Properties: {{BucketName: {name}}}}}}}")
    };
    let (one, other) = (bucket("shared"), bucket("another"));
    let all = together(&[("a.yaml", &one), ("b.yaml", &one)], 2, &Options::default());
    assert!(answer(&all, 0).is_proved() && conditional(answer(&all, 1)).is_some(), "{:?}", answer(&all, 1));
    let all = together(&[("a.yaml", &one), ("b.yaml", &other)], 2, &Options::default());
    assert!(answer(&all, 0).is_proved() && answer(&all, 1).is_proved());
    // A nested stack that is given by itself, too, is one template.
    let outer = "Resources: {S: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: a.yaml}}}";
    let all = together(&[("o.yaml", outer), ("a.yaml", &one)], 2, &Options::default());
    assert!(answer(&all, 0).is_proved() && answer(&all, 1).is_proved(), "{:?}", answer(&all, 1));
}

fn given(text: &str) -> (Given, Sources) {
    let sources = Sources::new();
    let file = sources.add("parameters.json", text);
    (Given::read(file, &sources), sources)
}

#[test]
fn values_of_parameters_decide() {
    let text = "Parameters: {P: {Type: String, AllowedValues: [a, b]}, L: {Type: CommaDelimitedList}}\n\
                Mappings: {M: {a: {x: '1'}}}\n\
                Resources: {Q: {Type: AWS::SQS::Queue, Properties: {QueueName: !Join ['', [!FindInMap [M, !Ref P, x], \
                !Select [1, !Ref L]]]}}}";
    let check = |values: &str| {
        let (given, _) = given(values);
        assert!(given.problems.is_empty(), "{values}: {:?}", given.problems);
        let options = Options { given, template_root: None };
        let mut all = together(&[("t.yaml", text)], 1, &options);
        all.remove(0).remove(0).analysis.reaches_final
    };
    for right in [
        r#"[{"ParameterKey": "P", "ParameterValue": "a"}, {"ParameterKey": "L", "ParameterValue": "u,v"}]"#,
        r#"{"Parameters": {"P": "a", "L": "u,v"}, "Tags": {"a": "b"}}"#,
        r#"["P=a", "L=u,v"]"#,
    ] {
        assert!(check(right).is_proved(), "{right}: {:?}", check(right));
    }
    for wrong in [
        r#"["P=b", "L=u,v"]"#,
        r#"["P=c", "L=u,v"]"#,
        r#"["P=a", "L=u"]"#,
        r#"["P=a"]"#,
        r#"["P=a", "L=u,v", "N=1"]"#,
    ] {
        assert!(check(wrong).is_refuted(), "{wrong}: {:?}", check(wrong));
    }
    let previous = r#"[{"ParameterKey": "P", "UsePreviousValue": true}, {"ParameterKey": "L", "ParameterValue": "u,v"}]"#;
    assert!(!check(previous).is_proved());
    for unread in ["5", "{}", r#"[{"ParameterKey": "P"}]"#, r#"["P"]"#, "[", r#"["P=a", "P=b"]"#] {
        assert!(!given(unread).0.problems.is_empty(), "{unread}");
    }
}

#[test]
fn templates_in_a_bucket_are_read_from_their_folder() {
    let outer = |url: &str| {
        format!(
            "Parameters: {{B: {{Type: String}}}}\nResources: {{N: {{Type: AWS::CloudFormation::Stack, Properties: {{TemplateURL: {url}}}}}}}\n"
        )
    };
    let options = Options { template_root: Some(Path::new("up").to_owned()), ..Options::default() };
    for url in [
        "'https://bucket.s3.eu-west-1.amazonaws.com/nested/n.yaml'",
        "'https://s3.amazonaws.com/bucket/nested/n.yaml'",
        "'s3://bucket/nested/n.yaml'",
        "!Sub 'https://${B}.s3.${AWS::URLSuffix}/nested/n.yaml'",
        "!Join ['', ['https://', !Ref B, '.s3.amazonaws.com/nested/n.yaml']]",
    ] {
        let whole = together(
            &[("t.yaml", &outer(url)), ("up/nested/n.yaml", "Resources: {Q: {Type: AWS::SQS::Queue}}")],
            1,
            &options,
        );
        assert!(answer(&whole, 0).is_proved(), "{url}: {:?}", answer(&whole, 0));
        assert_eq!(whole[0].len(), 2);
        assert!(answer(&together(&[("t.yaml", &outer(url))], 1, &options), 0).is_unknown(), "{url}");
        assert!(
            answer(&together(&[("t.yaml", &outer(url))], 1, &Options::default()), 0).is_unknown(),
            "{url}"
        );
    }
    let outside = outer("'https://bucket.s3.amazonaws.com/../n.yaml'");
    let all =
        together(&[("t.yaml", &outside), ("n.yaml", "Resources: {Q: {Type: AWS::SQS::Queue}}")], 1, &options);
    assert!(answer(&all, 0).is_unknown());
}

#[test]
fn an_export_under_a_condition_answers_only_where_it_is_there() {
    let exporter = "Parameters: {Stage: {Type: String, Default: test, AllowedValues: [test, live]}}\nConditions: {Live: !Equals [!Ref Stage, live]}\nResources: {Q: {Type: AWS::SQS::Queue}}\nOutputs: {O: {Condition: Live, Value: !Ref Q, Export: {Name: a}}}\n";
    let importer = stack(&["a"], &[]);
    let all = together(&[("i.yaml", &importer), ("e.yaml", exporter)], 2, &Options::default());
    assert!(!answer(&all, 0).is_proved(), "only a live stack exports it");
    assert!(conditional(answer(&all, 0)).is_some());
    let always = exporter.replace("Condition: Live, ", "");
    let all = together(&[("i.yaml", &importer), ("e.yaml", &always)], 2, &Options::default());
    assert!(answer(&all, 0).is_proved());
}

#[test]
fn what_the_serverless_transform_refuses_or_does_not_make_is_told() {
    let check = |properties: &str, outputs: &str| {
        let text = format!(
            "Transform: AWS::Serverless-2016-10-31\nResources:\n  B: {{Type: AWS::S3::Bucket}}\n  F:\n    Type: AWS::Serverless::Function\n    Properties: {{Handler: a.b, Runtime: python3.12, InlineCode: x, {properties}}}\n{outputs}"
        );
        let all = together(&[("t.yaml", &text)], 1, &Options::default());
        answer(&all, 0).clone()
    };
    let alias = "Outputs: {A: {Value: !Ref F.Alias}, V: {Value: !Ref F.Version}}";
    assert!(check("AutoPublishAlias: live", alias).is_proved());
    assert!(check("", alias).is_refuted(), "there is no alias");
    assert!(check("", "Outputs: {A: {Value: !Ref F.Other}}").is_refuted());
    let event = |name: &str, rest: &str| format!("{name}: {{Type: Api, Properties: {{Path: /a, {rest}}}}}");
    let two = |second: &str| format!("Events: {{{}, {}}}", event("One", "Method: get"), event("Two", second));
    assert!(check(&two("Method: post"), "").is_proved());
    assert!(check(&two("Method: GET"), "").is_unknown(), "the same route twice");
    let bucket = |bucket: &str| {
        format!("Events: {{E: {{Type: S3, Properties: {{Bucket: {bucket}, Events: 's3:ObjectCreated:*'}}}}}}")
    };
    assert!(check(&bucket("!Ref B"), "").is_proved());
    assert!(check(&bucket("photos"), "").is_unknown(), "the bucket is not in the template");
}

/// A nested template whose output and one of whose resources depend on a parameter.
const INNER: &str = "Parameters: {Stage: {Type: String, Default: test, AllowedValues: [test, live]}}\nConditions: {Live: !Equals [!Ref Stage, live]}\nResources:\n  Q: {Type: AWS::SQS::Queue, Condition: Live}\n  T: {Type: AWS::SNS::Topic}\nOutputs: {Arn: {Condition: Live, Value: !GetAtt Q.Arn}}\n";

fn nested(parameters: &str, more: &str) -> String {
    format!(
        "Parameters: {{Given: {{Type: String}}}}\nConditions: {{Any: !Equals [!Ref Given, a]}}\nResources:\n  N: {{Type: AWS::CloudFormation::Stack, Properties: {{TemplateURL: inner.yaml, {parameters}}}}}\n{more}"
    )
}

#[test]
fn a_nested_stack_has_the_values_that_its_outer_one_gives() {
    let uses = "  P: {Type: AWS::SSM::Parameter, Properties: {Type: String, Value: !GetAtt N.Outputs.Arn}}\n";
    let check = |parameters: &str, more: &str, inner: &str| {
        let outer = nested(parameters, more);
        let all = together(&[("outer.yaml", &outer), ("inner.yaml", inner)], 1, &Options::default());
        answer(&all, 0).clone()
    };
    assert!(check("Parameters: {Stage: live}", uses, INNER).is_proved());
    assert!(check("Parameters: {Stage: test}", uses, INNER).is_refuted(), "there is no such output");
    assert!(check("", uses, INNER).is_refuted(), "what is not given has its default");
    let open = check("Parameters: {Stage: !Ref Given}", uses, INNER);
    assert!(open.is_unknown() && conditional(&open).is_some(), "{open:?}");
    let chosen = check("Parameters: !If [Any, {Stage: live}, {Stage: test}]", "", INNER);
    assert!(!chosen.is_refuted(), "which values are given is not known: {chosen:?}");
    assert!(check("Parameters: {Stage: elsewhere}", "", INNER).is_refuted(), "the value is not allowed");
    // A mistake that only live stacks have.
    let wrong = INNER.replace("T: {Type: AWS::SNS::Topic}", "T: {Type: AWS::SNS::Topic, Properties: {DisplayName: !If [Live, !Ref R, a]}}\n  R: {Type: AWS::SNS::Topic, Condition: Never}").replace("Conditions: {", "Conditions: {Never: !Equals [a, b], ");
    assert!(check("Parameters: {Stage: live}", "", &wrong).is_refuted());
    assert!(check("Parameters: {Stage: test}", "", &wrong).is_proved());
}

#[test]
fn two_nested_stacks_cannot_give_one_name_twice() {
    let inner = "Parameters: {Name: {Type: String}}\nResources:\n  Q: {Type: AWS::SQS::Queue, Properties: {QueueName: !Sub 'jobs-${Name}'}}\n";
    let check = |first: &str, second: &str| {
        let more = format!(
            "  M: {{Type: AWS::CloudFormation::Stack, Properties: {{TemplateURL: inner.yaml, Parameters: {{Name: {second}}}}}}}\n"
        );
        let outer = nested(&format!("Parameters: {{Name: {first}}}"), &more);
        let all = together(&[("outer.yaml", &outer), ("inner.yaml", inner)], 1, &Options::default());
        answer(&all, 0).clone()
    };
    assert!(check("a", "a").is_refuted());
    assert!(check("a", "b").is_proved());
    let open = check("a", "!Ref Given");
    assert!(open.is_unknown() && conditional(&open).is_some(), "the names may differ: {open:?}");
}

#[test]
fn a_value_that_no_template_takes_is_told() {
    let sources = Sources::new();
    let values = sources.add("values.json", r#"["Stage=live", "Stge=live"]"#);
    let mut given = Given::read(values, &sources);
    given.is_shared = true;
    let text = "Parameters: {Stage: {Type: String}}\nResources: {Q: {Type: AWS::SQS::Queue}}\n";
    let inputs: Vec<_> = ["a.yaml", "b.yaml"]
        .into_iter()
        .map(|name| {
            let options = Options { given: given.clone(), ..Options::default() };
            (PathBuf::from(name), sources.add(name, text), options)
        })
        .collect();
    let all = check_together(&MemoryFileSystem::new(), &sources, &inputs);
    let told: Vec<&str> = all[0][0].analysis.findings.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(told, ["no template has a parameter `Stge`"]);
}

#[test]
fn a_name_is_a_parameter_or_a_resource() {
    let text = "Parameters: {Q: {Type: String}}\nResources: {Q: {Type: AWS::SQS::Queue}}\n";
    let all = together(&[("t.yaml", text)], 1, &Options::default());
    assert!(answer(&all, 0).is_unknown());
    assert!(all[0][0].analysis.findings.iter().any(|one| one.rule == Rule::MalformedTemplate));
}
