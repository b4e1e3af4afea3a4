//! AWS's own templates: each is answered, none is falsely circular, and the known hazards are found.

use setpoint_cloudformation::analyse;
use setpoint_source::{Place, Rule, Sources};
use setpoint_testing::files_below;

/// Templates in which something does not wait for the attachment of its network's gateway.
const GATEWAY_HAZARDS: &[&str] = &[
    "ECS/EC2LaunchType/clusters/private-vpc",
    "ECS/EC2LaunchType/clusters/public-vpc",
    "EKS/template",
    "Solutions/Gitea/Gitea-pkg",
];

/// Policies of buckets and a profile that name a bucket or a role of the template as text, and do not wait for it.
const NAMES_AS_TEXT: &[&str] =
    &["S3/compliant-bucket", "Solutions/EC2DomainJoin/EC2-Domain-Join", "Solutions/WebApp/webapp"];

#[test]
fn every_template_is_answered() {
    let Some(shared) = setpoint_testing::shared() else {
        return setpoint_testing::skip("CloudFormation corpus", "there is no ../shared");
    };
    let root = shared.join("corpus/cloudformation");
    let files = files_below(&root);
    assert!(files.len() >= 153, "only {} templates", files.len());
    let (mut hazards, mut proved, mut conditionally) = (Vec::new(), 0, 0);
    for path in &files {
        let text = std::fs::read_to_string(path).unwrap();
        let sources = Sources::new();
        let analysis = analyse(sources.add(path.display().to_string(), text), &sources);
        proved += usize::from(analysis.reaches_final.is_proved());
        conditionally += usize::from(setpoint_source::conditional(&analysis.reaches_final).is_some());
        for reason in analysis.reaches_final.reasons() {
            assert!(matches!(reason.place, Place::At(_)), "{}: {reason:?}", path.display());
        }
        let has = |rule| analysis.findings.iter().any(|finding| finding.rule == rule);
        assert!(!has(Rule::DependencyCycle), "{} is not circular", path.display());
        assert!(!has(Rule::UnknownReference), "{} is complete", path.display());
        if has(Rule::MissingDependsOn) {
            assert!(!analysis.reaches_final.is_proved(), "{}", path.display());
            let relative = path.strip_prefix(&root).unwrap().with_extension("");
            hazards.push(relative.display().to_string());
        }
    }
    for known in GATEWAY_HAZARDS {
        assert!(hazards.iter().any(|found| found == known), "no hazard found in {known}");
    }
    for known in NAMES_AS_TEXT {
        assert!(hazards.iter().any(|found| found == known), "no hazard found in {known}");
    }
    // The script of one lost its line ends: all of it is a comment, and no signal is sent.
    // Others rest on the region, on parameters that choose a key of a mapping, on secrets and exports that must be there.
    assert!(proved >= 73, "only {proved} are proved");
    assert!(proved + conditionally >= 104, "only {proved} are proved, and {conditionally} under assumptions");
}
