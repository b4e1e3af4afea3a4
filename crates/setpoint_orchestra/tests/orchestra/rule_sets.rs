//! Rule sets of our own: the right ones are proved without an invariant given, the wrong ones refuted by a shortest run.

use std::path::PathBuf;

use crate::support::model;
use setpoint_orchestra::Model;
use setpoint_orchestra::parametric::{Effort, prove};

fn rule_sets(folder: &str) -> Vec<(String, String)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/orchestra").join(folder);
    let mut out: Vec<(String, String)> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "spm"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    out.sort();
    out
}

#[test]
fn right_rule_sets_are_proved_without_help() {
    let only = std::env::var("ONLY").ok();
    for (name, text) in rule_sets("right") {
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) { continue }
        let model: Model = model(&text);
        let start = std::time::Instant::now();
        let proof = prove(&model, Effort::default());
        println!("{name}: {} {:.1?}", proof.answer.is_proved(), start.elapsed());
        if !proof.answer.is_proved() {
            println!("{}", setpoint_orchestra::report::proof_text(&model, &proof, &setpoint_source::Sources::new()));
            if let Some(w) = proof.answer.witness() { println!("{:?}", w.wrong); }
        }
    }
}
