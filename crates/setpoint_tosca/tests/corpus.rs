//! Topologies of other projects: each is answered, and none is falsely refused to start.

use setpoint_orchestra::models::TOSCA_SETUP;
use setpoint_source::{OsFileSystem, Place, Sources, conditional};
use setpoint_testing::files_below;
use setpoint_tosca::{can_start, check, instance};

#[test]
fn every_topology_is_answered() {
    let Some(shared) = setpoint_testing::shared() else {
        return setpoint_testing::skip("TOSCA corpus", "there is no ../shared");
    };
    let files = files_below(&shared.join("corpus/tosca"));
    assert!(files.len() >= 179, "only {} files", files.len());
    let mut proved = 0;
    for path in &files {
        let text = std::fs::read_to_string(path).unwrap();
        let sources = Sources::new();
        let file = sources.add(path.display().to_string(), text);
        let checked = check(&OsFileSystem, &sources, file, path, &[]);
        // The scripts of these projects are not in the corpus.
        proved += usize::from(checked.answer.is_proved() || conditional(&checked.answer).is_some());
        for reason in checked.answer.reasons() {
            assert!(matches!(reason.place, Place::At(_)), "{}: {reason:?}", path.display());
        }
        if checked.topology.nodes.is_empty() {
            assert!(!checked.answer.is_proved(), "{} has no nodes", path.display());
            continue;
        }
        let model = TOSCA_SETUP.load(&sources).unwrap();
        let instance = instance(&checked.service, &checked.topology, &model).unwrap();
        let (answer, _) = can_start(&model, &instance, &TOSCA_SETUP.facts, &sources);
        assert!(answer.is_proved(), "the nodes of {} can start", path.display());
    }
    assert!(proved >= 43, "only {proved} are proved");
}
