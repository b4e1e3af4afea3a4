//! Rule sets and instances that say nothing are not proved, and say why and where.

use std::path::Path;

use setpoint_orchestra::concrete::{Facts, Ground, Limits, Open, check};
use setpoint_orchestra::parametric::{Effort, Unproved, prove};
use setpoint_orchestra::{load_model, report};
use setpoint_source::{MemoryFileSystem, Place, Rule, Sources};

const WHOLE: &str = "
class task { states waiting, done }
rule finish(t: task) { when t is waiting then t becomes done }
init { some t: task all t: task { t is waiting } }
final { all t: task { t is done } }
";

#[test]
fn a_rule_set_that_says_nothing_is_not_proved() {
    assert!(prove(&crate::support::model(WHOLE), Effort::default()).answer.is_proved());
    let without_rules = WHOLE.replace("rule finish(t: task) { when t is waiting then t becomes done }\n", "");
    let at_the_end = without_rules.replace("t is waiting", "t is done");
    let never = WHOLE.replace(
        "init {",
        "rule never(t: task) { when t is waiting and t is done then t becomes done }\ninit {",
    );
    let nowhere =
        WHOLE.replace("all t: task { t is waiting } }", "all t: task { t is waiting and t is done } }");
    for (text, wanted) in [
        (at_the_end.as_str(), Unproved::Empty),
        (never.as_str(), Unproved::Unused(1)),
        (nowhere.as_str(), Unproved::Uninhabited),
    ] {
        let sources = Sources::new();
        let model = crate::support::model(text);
        let proof = prove(&model, Effort::default());
        assert!(!proof.answer.is_proved(), "{text}");
        assert!(proof.answer.reasons().contains(&wanted), "{text}\n{:?}", proof.answer.reasons());
        let (answer, findings) = report::judge_proof(&model, &proof, &sources);
        assert!(
            answer.reasons().iter().all(|reason| matches!(reason.place, Place::At(_))),
            "{text}\n{answer:?}"
        );
        assert!(findings.iter().any(|finding| finding.rule == Rule::VacuousModel), "{text}");
    }
}

#[test]
fn an_instance_that_says_nothing_is_not_proved() {
    for (instance, wanted) in [
        ("instance good { a: task }", None),
        ("instance none { }", Some(Open::Empty)),
        ("instance late { a: task is done }", Some(Open::Malformed)),
    ] {
        let text = format!("{WHOLE}{instance}\n");
        let sources = Sources::new();
        let (model, instances) = crate::support::model_with_instances(&text);
        let ground = Ground::new(&model, &instances[0]).unwrap();
        for facts in [Facts::default(), Facts { confluent: true, terminating: true }] {
            let outcome = check(&ground, &facts, Limits::default());
            assert_eq!(outcome.answer.is_proved(), wanted.is_none(), "{instance}");
            assert!(wanted.is_none_or(|wanted| outcome.answer.reasons().contains(&wanted)), "{instance}");
            let (answer, findings) = report::judge_outcome(&ground, &outcome, &sources);
            assert!(answer.reasons().iter().all(|reason| matches!(reason.place, Place::At(_))), "{answer:?}");
            assert_eq!(findings.is_empty(), wanted.is_none(), "{findings:?}");
        }
        // A search that may look at nothing has no answer.
        let none = check(&ground, &Facts::default(), Limits { states: 0, steps: 0 });
        assert!(!none.answer.is_proved(), "{instance}");
    }
}

#[test]
fn a_rule_file_that_cannot_be_used_has_no_model() {
    let files_of = |text: &str| {
        let mut files = MemoryFileSystem::new();
        files.add("a.spm", text.as_bytes());
        files.add("broken.spm", b"class {".as_slice());
        files.add("self.spm", b"use \"self.spm\"\n".as_slice());
        files
    };
    let load = |text: &str| load_model(&files_of(text), &Sources::new(), Path::new("a.spm"));
    assert!(load(WHOLE).model.is_some());
    for (text, unread) in [
        (format!("use \"missing.spm\"\n{WHOLE}"), 1),
        (format!("use \"broken.spm\"\n{WHOLE}"), 0),
        (format!("use \"self.spm\"\n{WHOLE}"), 0),
        (String::new(), 0),
        ("5".to_owned(), 0),
        (WHOLE.replace("class task", "class"), 0),
        (WHOLE.replace("becomes done", "becomes nothing"), 0),
        (WHOLE.replace("final", "finally"), 0),
        (format!("{WHOLE}instance a {{ x: nothing }}"), 0),
        (format!("{WHOLE}instance a {{ x: task x: task }}"), 0),
    ] {
        let loaded = load(&text);
        assert!(loaded.model.is_none(), "{text}");
        assert!(!loaded.diagnostics.is_empty(), "{text}");
        assert_eq!(loaded.files.found - loaded.files.read, unread, "{text}");
    }
}
