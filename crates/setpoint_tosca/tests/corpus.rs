//! Topologies of other projects: each is answered, and none is falsely refused to start.

use setpoint_orchestra::models::TOSCA_SETUP;
use setpoint_source::{OsFileSystem, Sources};
use setpoint_testing::files_below;
use setpoint_tosca::{Service, Topology, can_start, instance};

#[test]
fn every_topology_is_answered() {
    let Some(shared) = setpoint_testing::shared() else {
        return setpoint_testing::skip("TOSCA corpus", "there is no ../shared");
    };
    let files = files_below(&shared.join("corpus/tosca"));
    assert!(files.len() >= 179, "only {} files", files.len());
    for path in &files {
        let text = std::fs::read_to_string(path).unwrap();
        let sources = Sources::new();
        let file = sources.add(path.display().to_string(), text);
        let service = Service::read(&OsFileSystem, &sources, file, path);
        let topology = Topology::new(&service);
        let model = TOSCA_SETUP.load(&sources).unwrap();
        let instance = instance(&service, &topology, &model).unwrap();
        let (answer, _) = can_start(&model, &instance, &TOSCA_SETUP.facts, &sources);
        assert!(answer.is_proved(), "{} can start", path.display());
    }
}
