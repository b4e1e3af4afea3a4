//! Attacks on the prover: rule sets that are cut off, say nothing, or are drawn at random. None is proved that a search
//! through all small instances refutes.

use std::fmt::Write;

use crate::rule_sets::{rule_set_texts, search};
use crate::support::model;
use setpoint_orchestra::load_model_text;
use setpoint_orchestra::parametric::{Effort, prove};
use setpoint_source::Sources;
use setpoint_testing::Random;

/// A file that ends too early is no rule set, unless it ends behind its last item but for stated invariants.
#[test]
fn a_rule_set_that_is_cut_off_has_no_model() {
    for (name, text) in rule_set_texts("right") {
        let whole = text.find("\ninvariant").unwrap_or(text.len());
        let end = text[..whole].trim_end().len();
        for cut in (0..end).filter(|&at| text.is_char_boundary(at)) {
            let loaded = load_model_text(&Sources::new(), "cut.spm", &text[..cut]);
            assert!(loaded.model.is_none() && !loaded.diagnostics.is_empty(), "{name} cut at {cut}");
        }
    }
}

const WHOLE: &str = "
class lock { states free, taken }
class job { states new, held, done link of: lock }
rule take (j: job) { when j is new and j.of is free then j becomes held, j.of becomes taken }
rule give (j: job) { when j is held then j becomes done, j.of becomes free }
init { some j: job all j: job { j is new } all l: lock { l is free } }
final { all j: job { j is done } }
";

/// Each is a mistake in names, shapes or limits: there is no model.
#[test]
fn malformed_rule_sets_have_no_model() {
    let many: Vec<String> = (0..70).map(|number| format!(", s{number}")).collect();
    let many = many.concat();
    let deep = "not (".repeat(300) + "true" + &")".repeat(300);
    let attacks = [
        ("states free, taken", "states free, free"),
        ("states free, taken", "states"),
        ("states free, taken", "states free taken"),
        ("states free, taken", "states free, taken ordered ordered"),
        ("states free, taken", &format!("states free, taken{many}")),
        ("class lock", "class job"),
        ("class lock", "extend lock"),
        ("link of: lock", "link of: lok"),
        ("link of: lock", "link type: lock"),
        ("link of: lock", "link of: lock link of: lock"),
        ("link of: lock", "link of lock"),
        ("rule give", "rule take"),
        ("rule give (j: job)", "rule give (j: job, j: job)"),
        ("rule give (j: job)", "rule give ()"),
        ("rule give (j: job)", "rule give (j: jobs)"),
        ("when j is held then", "when j is held and then"),
        ("when j is held then", "when j is hold then"),
        ("when j is held then", "when k is held then"),
        ("when j is held then", "when j of held then"),
        ("when j is held then", "when j has held then"),
        ("when j is held then", "when j before j then"),
        ("when j is held then", "when j.of before j then"),
        ("when j is held then", "when j.of = j then"),
        ("when j is held then", "when j.type = j.type then"),
        ("when j is held then", "when all l: lock where j.of = l then"),
        ("when j is held then", &format!("when {deep} then")),
        ("then j becomes done, j.of becomes free", ""),
        ("then j becomes done, j.of becomes free", "then"),
        ("then j becomes done, j.of becomes free", "then j becomes done,"),
        ("then j becomes done, j.of becomes free", "then j becomes gone"),
        ("then j becomes done, j.of becomes free", "then j gets done"),
        ("then j becomes done, j.of becomes free", "then j.by becomes done"),
        ("init {", "require { all j: job { j is new } } init {"),
        ("init {", "init"),
        ("init {", "init { acyclic j -> j.of for j: job"),
        ("init {", "init { acyclic j.of -> j.of for j: jobs"),
        ("init {", "init { acyclic j.of -> j.of for j: job where j is new"),
        ("init {", "init { acyclic"),
        ("final {", "final { acyclic j.of -> j.of for j: job"),
        ("final { all j: job { j is done } }", ""),
        ("final { all j: job { j is done } }", "final { }"),
        ("final { all j: job { j is done } }", "final { all j: job { j is done }"),
        ("final { all j: job { j is done } }", "final { all j: job }"),
        ("final { all j: job { j is done } }", "final { all j: job { j is done } } }"),
        ("final {", "invariant a { true } invariant a { true } final {"),
        ("final {", "instance a { j: job } final {"),
        ("final {", "instance a { l: lock } instance a { l: lock } final {"),
        ("final {", "instance a { l: lock l: lock } final {"),
        ("final {", "instance a { l: lock is held } final {"),
        ("final {", "use \"setpoint:nothing\" final {"),
        ("final {", "use \"other.spm\" final {"),
        ("final {", "use final {"),
        ("final {", "extend lock { link next: lock } final {"),
        ("final {", "extend lock { ordered } final {"),
        ("final {", "extend nothing { types a } final {"),
        (
            "final {",
            "extend lock { types a } rule steal (j: job) { when j is new then j becomes done } final {",
        ),
        ("final {", "\u{0} final {"),
        ("final {", "\"final {"),
    ];
    assert!(load_model_text(&Sources::new(), "whole.spm", WHOLE).model.is_some());
    for (old, new) in attacks {
        assert!(WHOLE.contains(old), "{old}");
        let text = WHOLE.replacen(old, new, 1);
        let loaded = load_model_text(&Sources::new(), "attack.spm", &text);
        assert!(loaded.model.is_none() && !loaded.diagnostics.is_empty(), "{old} → {new}");
    }
}

/// Each can be read. Most are wrong, which a search decides; the others say nothing, and are never proved.
#[test]
fn wrong_and_empty_rule_sets_are_not_proved() {
    let doubtful = [
        ("when j is new and j.of is free then", "when j is new then"),
        ("when j is new and j.of is free then", "when j is new and j.of is taken then"),
        ("when j is new and j.of is free then", "when j is new and j.of is free and false then"),
        ("j becomes done, j.of becomes free", "j becomes done"),
        ("j becomes done, j.of becomes free", "j becomes new, j.of becomes free"),
        ("j becomes done, j.of becomes free", "j becomes done, j becomes new"),
        (
            "when j is held then",
            "when j is held and some k: job where k.of = j.of and k != j { k is held } then",
        ),
        ("when j is held then", "when j is held and all k: job where k.of = j.of { k is held } then"),
        ("all l: lock { l is free }", "all l: lock { l is taken }"),
        ("all l: lock { l is free }", ""),
        ("all j: job { j is new }", ""),
        ("all j: job { j is done }", "all j: job { j is done } all l: lock { l is taken }"),
        ("all j: job { j is done }", "all j: job { j is held }"),
        ("all j: job { j is done }", "false"),
        ("final {", "rule again (j: job) { when j is held then j becomes held } final {"),
        (
            "final {",
            "rule toggle (l: lock) { when l is free then l becomes taken } rule back (l: lock) { when l is taken then l becomes free } final {",
        ),
        ("final {", "rule forget (j: job) { when j is held then j becomes new } final {"),
        ("final {", "invariant never { all l: lock { l is free } } final {"),
        (
            "final {",
            "invariant alone { all j: job { all k: job { j is held and k is held implies j = k } } } final {",
        ),
        (
            "final {",
            "invariant held { all l: lock where l is taken { all j: job where j.of = l { j is held } } } final {",
        ),
        ("class lock { states free, taken }", "class lock { states free, taken messages key }"),
    ];
    let empty = [
        ("some j: job all", "some j: job { j is new and j is done } all"),
        ("some j: job all", "all j: job { false } all"),
        ("all j: job { j is done }", "true"),
        ("all j: job { j is done }", "all j: job { j is new|held|done }"),
        ("all j: job { j is done }", "some l: lock { l is free }"),
        ("final {", "rule never (j: job) { when j is new and j is done then j becomes held } final {"),
        ("init {", "require { all j: job { j.of != j.of } } init {"),
        (
            "final {",
            "class other { states a, b } rule end (o: other, p: other) { when o is a and o != p and p = o then o becomes b } final {",
        ),
        (
            "init {",
            "class chain { states a, b link next: chain } rule c (x: chain) { when x is a then x becomes b } require { acyclic x -> x.next for x: chain } init {",
        ),
    ];
    let all = doubtful.iter().map(|pair| (pair, false)).chain(empty.iter().map(|pair| (pair, true)));
    for (&(old, new), is_empty) in all {
        assert!(WHOLE.contains(old), "{old}");
        let mut text = WHOLE.replacen(old, new, 1);
        if new.contains("messages key") {
            text = text.replacen("when j is held then", "when j is held and j.of has key then", 1);
        }
        let model = model(&text);
        let effort = Effort { last_states: 20_000, ..Effort::default() };
        let proved = prove(&model, effort).answer.is_proved();
        assert!(!proved || (!is_empty && search(&model, 4).is_none()), "{old} → {new}");
    }
}

/// Rule sets that are drawn: two classes, two or three states each, one link or two, an order or none.
#[test]
fn no_rule_set_is_proved_that_a_search_refutes() {
    let count = std::env::var("SETPOINT_RULE_SETS").ok().and_then(|text| text.parse().ok()).unwrap_or(120);
    let mut random = Random::new(23);
    let (mut proved, mut refuted, mut open, mut larger) = (0, 0, 0, 0);
    for _ in 0..count {
        let text = drawn(&mut random);
        let model = model(&text);
        let effort = Effort { first_states: 3_000, last_states: 10_000, objects: 5, pairs: true };
        let proof = prove(&model, effort);
        let found = search(&model, 4);
        assert!(!proof.answer.is_proved() || found.is_none(), "{text}\n{found:?}");
        match (proof.answer.is_proved(), proof.answer.witness()) {
            (true, _) => proved += 1,
            (false, Some(witness)) => {
                refuted += 1;
                larger += usize::from(found.is_none());
                assert!(found.is_some() || witness.instance.objects.len() > 4, "{text}");
            }
            (false, None) => {
                open += 1;
                assert!(found.is_none(), "{text}\n{found:?}");
            }
        }
    }
    println!("{proved} proved, {refuted} refuted ({larger} by a larger instance), {open} open");
}

fn drawn(random: &mut Random) -> String {
    let ordered = random.below(2) == 0;
    let links = 1 + random.below(2);
    let mut out = String::new();
    let _ = writeln!(out, "class a {{ {} states s0, s1, s2 }}", if ordered { "ordered" } else { "" });
    let second = if links == 2 { " link m: a" } else { "" };
    let _ = writeln!(out, "class b {{ states t0, t1, t2 link l: a{second} }}");
    for number in 0..2 + random.below(3) {
        let from = random.below(2);
        let to = 1 + random.below(2);
        if random.below(2) == 0 {
            let guard = match random.below(5) {
                0 => " and all y: b where y.l = x { y is t1|t2 }".to_owned(),
                1 => format!(" and some y: b where y.l = x {{ y is t{} }}", random.below(3)),
                2 if ordered => " and all y: a where y before x { y is s2 }".to_owned(),
                3 => " and all y: b where y.l = x { y is not t1 }".to_owned(),
                _ => String::new(),
            };
            let _ =
                writeln!(out, "rule r{number} (x: a) {{ when x is s{from}{guard} then x becomes s{to} }}");
        } else {
            let guard = match random.below(4) {
                0 => format!(" and y.l is s{}", random.below(3)),
                1 => " and y.l is s0".to_owned(),
                2 if links == 2 => " and y.m is s1|s2".to_owned(),
                _ => String::new(),
            };
            let effect = match random.below(4) {
                0 => format!(", y.l becomes s{}", random.below(3)),
                1 => ", y.l becomes s0".to_owned(),
                2 if links == 2 => ", y.m becomes s1".to_owned(),
                _ => String::new(),
            };
            let _ = writeln!(
                out,
                "rule r{number} (y: b) {{ when y is t{from}{guard} then y becomes t{to}{effect} }}"
            );
        }
    }
    if links == 2 && ordered {
        let _ = writeln!(out, "require {{ all y: b {{ y.l before y.m }} }}");
    }
    let _ = writeln!(out, "init {{ some y: b all x: a {{ x is s0 }} all y: b {{ y is t0 }} }}");
    let ends = ["y is t1|t2", "y is t2", "y is t1|t2 and y.l is s0|s1", "y.l is not s1"];
    let _ = writeln!(out, "final {{ all y: b {{ {} }} }}", ends[random.below(ends.len())]);
    out
}
