//! Thirty stacks that the CDK synthesises from `tests/cdk/app.js`, twenty of them with a network: none has an error.
//!
//! The templates are kept beside the app. `NODE_PATH=…/node_modules node tests/cdk/app.js FOLDER` makes them anew, with the
//! package `aws-cdk-lib`.

use std::path::Path;

use setpoint_cloudformation::analyse;
use setpoint_source::{Severity, Sources, print};
use setpoint_testing::files_below;

#[test]
fn stacks_of_the_cdk_have_no_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cdk");
    let (mut stacks, mut networks) = (0, 0);
    for path in files_below(&folder) {
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let sources = Sources::new();
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let analysis = analyse(sources.add(name.as_str(), text), &sources);
        for finding in &analysis.findings {
            let words = print::diagnostic(finding, &sources, false);
            assert!(finding.severity != Severity::Error, "{name}\n{words}");
        }
        assert!(!analysis.reaches_final.is_refuted(), "{name}");
        stacks += 1;
        let has_network = analysis.template.resources.values().any(|one| &*one.kind == "AWS::EC2::VPC");
        networks += usize::from(has_network);
    }
    assert!(stacks >= 30 && networks >= 20, "{stacks} stacks, {networks} networks");
}
