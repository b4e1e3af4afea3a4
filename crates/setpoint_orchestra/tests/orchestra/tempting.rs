//! Rule sets made to tempt an unsound prover: each is answered rightly, and a wrong one with its smallest instance.

use crate::support::model;
use setpoint_orchestra::models;
use setpoint_orchestra::parametric::{Effort, Proof, Wrong, prove};

fn answer(text: &str) -> Proof {
    prove(&model(text), Effort::default())
}

fn objects(proof: &Proof) -> usize {
    proof.answer.witness().map_or(0, |found| found.instance.objects.len())
}

#[test]
fn a_self_link_is_a_circle() {
    let text = "
        class task { states waiting, done }
        class needs { link from: task link to: task }
        rule finish(t: task) {
          when t is waiting and all n: needs where n.from = t { n.to is done }
          then t becomes done
        }
        init { some t: task all t: task { t is waiting } }
        final { all t: task { t is done } }";
    let proof = answer(text);
    assert!(proof.answer.is_refuted());
    assert_eq!(objects(&proof), 2, "one task that needs itself");
    // Without self-links there is still a circle of two.
    let longer = text.replace("init {", "require { all n: needs { n.from != n.to } } init {");
    let proof = answer(&longer);
    assert!(proof.answer.is_refuted());
    assert_eq!(objects(&proof), 4);
    // Without circles it is proved.
    let acyclic = text.replace("init {", "init { acyclic n.from -> n.to for n: needs");
    assert!(answer(&acyclic).answer.is_proved());
    // The other direction is as good: a relation has a cycle if its converse has one.
    let converse = text.replace("init {", "init { acyclic n.to -> n.from for n: needs");
    assert!(answer(&converse).answer.is_proved());
}

/// A link that every object has cannot be acyclic in a finite instance: there is nothing to prove.
#[test]
fn a_start_that_cannot_be_is_not_proved_about() {
    let proof = answer(
        "
        class task { states waiting, done link after: task }
        rule finish(t: task) { when t is waiting and t.after is done then t becomes done }
        init { some t: task all t: task { t is waiting } acyclic t -> t.after for t: task }
        final { all t: task { t is done } }",
    );
    assert!(proof.answer.is_unknown());
    assert!(!proof.vacuity.inhabited);
}

#[test]
fn a_rule_that_never_applies_is_named() {
    let proof = answer(
        "
        class task { states waiting, busy, done }
        rule finish(t: task) { when t is waiting then t becomes done }
        rule never(t: task) { when t is busy then t becomes done }
        init { some t: task all t: task { t is waiting } }
        final { all t: task { t is done } }",
    );
    assert!(!proof.answer.is_proved());
    assert_eq!(proof.vacuity.dead, [1]);
}

/// The message waits at the node, not at the link: of two links between the same two nodes, one goes without.
const TWO_LINKS: &str = "
    class node { states initial, started messages up }
    class link { states waiting, ready link source: node link target: node }
    rule start(n: node) {
      when n is initial and all l: link where l.source = n { l is ready }
      then n becomes started, n gets up
    }
    rule hear(l: link) { when l is waiting then l becomes ready, l.target loses up }
    init {
      some n: node
      all n: node { n is initial }
      all l: link { l is waiting }
      acyclic l.source -> l.target for l: link
    }
    final { all n: node { n is started } }";

#[test]
fn two_links_between_the_same_two_nodes_share_a_message() {
    let proof = answer(TWO_LINKS);
    assert!(proof.answer.is_refuted());
    let found = proof.answer.witness().unwrap();
    assert!(matches!(found.wrong, Wrong::Deadlock(_)));
    let links = found.instance.objects.iter().filter(|object| !object.links.is_empty()).count();
    assert_eq!(links, 2);
    // If each node is the target of one link at most, it is proved.
    let one = TWO_LINKS.replace("link target: node", "link target: node one-to-one");
    assert!(answer(&one).answer.is_proved());
    // So it is if the message is read and left there.
    let read = TWO_LINKS.replace(
        "when l is waiting then l becomes ready, l.target loses up",
        "when l is waiting and l.target has up then l becomes ready",
    );
    let proof = answer(&read);
    assert!(proof.answer.is_proved());
    assert!(proof.persistence.holds());
}

#[test]
fn a_capability_that_is_required_twice_loses_its_message_to_one() {
    let shared =
        models::TOSCA_SETUP.text.replace("link cap: capability one-to-one onto", "link cap: capability onto");
    let proof = answer(&shared);
    assert!(proof.answer.is_refuted());
    assert!(!proof.persistence.holds(), "two requirements compete for one message");
    assert_eq!(objects(&proof), 7, "two nodes, one capability, two requirements and relationships");
}

/// A guard that asks for some link where all are needed: right for one link, wrong for two.
const SOME_LINK: &str = "
    class node { states initial, started }
    class link { states waiting, ready link source: node link target: node }
    rule root(n: node) {
      when n is initial and all l: link where l.source = n { false }
      then n becomes started
    }
    rule start(n: node) {
      when n is initial and some l: link where l.source = n { l is ready }
      then n becomes started
    }
    rule bind(l: link) {
      when l is waiting and l.target is started and l.source is initial
      then l becomes ready
    }
    init {
      some n: node
      all n: node { n is initial }
      all l: link { l is waiting }
      acyclic l.source -> l.target for l: link
    }
    final { all n: node { n is started } }";

#[test]
fn an_invariant_that_holds_for_one_link_only() {
    // Every node starts: some link is enough, and that is what is proved.
    assert!(answer(SOME_LINK).answer.is_proved());
    // But not every link of a started node is ready.
    let stated = format!(
        "{SOME_LINK}\ninvariant all-ready {{ all l: link where l.source is started {{ l is ready }} }}"
    );
    let proof = answer(&stated);
    assert!(proof.answer.is_refuted());
    assert!(proof.stated[0].answer.is_refuted());
    let found = proof.answer.witness().unwrap();
    assert_eq!(found.instance.objects.iter().filter(|object| !object.links.is_empty()).count(), 2);
    // If the final state asks for the links, the second one is stuck.
    let links_too = SOME_LINK.replace("final { all n", "final { all l: link { l is ready } all n");
    let proof = answer(&links_too);
    assert!(proof.answer.is_refuted());
    assert!(matches!(proof.answer.witness().unwrap().wrong, Wrong::Deadlock(_)));
}

/// Two relations that are acyclic apart, and a rule that waits along both at once.
#[test]
fn relations_that_are_acyclic_apart_are_not_merged() {
    let text = "
        class node { states initial, started }
        class link { types a, b link source: node link target: node }
        rule start(n: node) {
          when n is initial and all l: link where l.source = n { l.target is started }
          then n becomes started
        }
        init {
          some n: node
          all n: node { n is initial }
          acyclic l.source -> l.target for l: link where l of a
          acyclic l.source -> l.target for l: link where l of b
        }
        final { all n: node { n is started } }";
    let proof = answer(text);
    assert!(proof.answer.is_refuted());
    assert_eq!(objects(&proof), 4, "two nodes, a link of each type");
    let merged = text.replace(" where l of a\n", ", l.source -> l.target for l: link where l of b\n");
    let merged = merged.replace("          acyclic l.source -> l.target for l: link where l of b\n", "");
    assert!(answer(&merged).answer.is_proved());
}

#[test]
fn a_retry_without_a_count_is_endless() {
    let proof = answer(
        "
        class task { states waiting, failed, done }
        rule finish(t: task) { when t is waiting then t becomes done }
        rule fail(t: task) { when t is waiting then t becomes failed }
        rule retry(t: task) { when t is failed then t becomes waiting }
        init { some t: task all t: task { t is waiting } }
        final { all t: task { t is done } }",
    );
    assert!(proof.answer.is_refuted());
    assert!(matches!(proof.answer.witness().unwrap().wrong, Wrong::Endless { .. }));
    assert!(proof.measure.is_none());
}

/// Workers go round, jobs go forward. That a busy worker has a job in hand is no fact about single objects; it is
/// inferred, and can be stated.
#[test]
fn a_busy_worker_has_a_job_in_hand() {
    let text = "
        class worker { states idle, busy }
        class job { states new, taken, done link by: worker }
        rule take(j: job) {
          when j is new and j.by is idle
          then j becomes taken, j.by becomes busy
        }
        rule give(j: job) {
          when j is taken
          then j becomes done, j.by becomes idle
        }
        init { some j: job all j: job { j is new } all w: worker { w is idle } }
        final { all j: job { j is done } }";
    let proof = answer(text);
    assert!(proof.answer.is_proved());
    assert!(!proof.persistence.holds(), "two jobs compete for a worker");
    let stated = format!(
        "{text} invariant in-hand {{ all w: worker where w is busy {{ some j: job where j.by = w {{ j is taken }} }} }}"
    );
    let proof = answer(&stated);
    assert!(proof.answer.is_proved(), "{:?}", proof.conditions);
}

/// Parameters of one class may be the same object; a proof that takes them for different ones goes wrong.
#[test]
fn parameters_may_be_the_same_object() {
    let text = "
        class peer { states alone, paired }
        rule pair(a: peer, b: peer) {
          when a is alone and b is alone and a != b
          then a becomes paired, b becomes paired
        }
        init { some p: peer all p: peer { p is alone } }
        final { all p: peer { p is paired } }";
    let proof = answer(text);
    assert!(proof.answer.is_refuted(), "one peer is left over");
    assert_eq!(objects(&proof), 1);
    let same = text.replace(" and a != b", "");
    assert!(answer(&same).answer.is_proved(), "a peer pairs with itself");
}

/// Some wait for what they need, others for what needs them: each direction has no circle, both together may have one.
#[test]
fn what_waits_in_both_directions_is_not_put_together() {
    let text = "
        class task { types climber, faller states waiting, done }
        class needs { link from: task link to: task }
        rule up(t: task) {
          when t of climber and t is waiting and all n: needs where n.from = t { n.to is done }
          then t becomes done
        }
        rule down(t: task) {
          when t of faller and t is waiting and all n: needs where n.to = t { n.from is done }
          then t becomes done
        }
        require { acyclic n.from -> n.to for n: needs }
        init { some t: task all t: task { t is waiting } }
        final { all t: task { t is done } }";
    let proof = answer(text);
    assert!(proof.answer.is_refuted());
    assert_eq!(objects(&proof), 3, "a climber that needs a faller");
    let apart = text.replace("require {", "require { all n: needs { n.from.type = n.to.type }");
    assert!(answer(&apart).answer.is_proved());
}

/// The set of those that wait is given by the state of something else: the first of them may be anywhere.
#[test]
fn a_set_may_depend_on_what_a_link_leads_to() {
    let text = "
        class group { states shut, open }
        class task { states waiting, done link group: group }
        class needs { link from: task link to: task }
        rule run(t: task) {
          when t is waiting and t.group is open and all n: needs where n.from = t { n.to is done }
          then t becomes done
        }
        require { acyclic n.from -> n.to for n: needs }
        init { some t: task all t: task { t is waiting } }
        final { all t: task where t.group is open { t is done } }";
    let proof = answer(text);
    assert!(proof.answer.is_refuted(), "a task of an open group needs one of a shut group");
    assert_eq!(objects(&proof), 5);
    let apart = text.replace("require {", "require { all n: needs { n.from.group = n.to.group }");
    let proof = answer(&apart);
    assert!(proof.answer.is_proved());
    // Of all that wait the first may be shut in: the set has to say more than the state.
    assert_eq!(proof.minimal.len(), 1);
    let opens = apart
        .replace("rule run", "rule unlock(g: group) { when g is shut then g becomes open } rule run")
        .replace("where t.group is open { t is done } }", "{ t is done } }");
    assert!(answer(&opens).answer.is_proved());
}

/// More messages than are counted: nothing is claimed, and nothing is taken for a repetition.
#[test]
fn messages_beyond_the_count_are_no_answer() {
    use setpoint_orchestra::concrete::{Facts, Ground, Limits, Open, check, explore, maximal_run};
    let text = "
        class node { states waiting, done messages tick }
        rule send(n: node) { when n is waiting then n gets tick }
        rule never(n: node) { when n is done then n becomes waiting }
        init { some n: node all n: node { n is waiting } }
        final { all n: node { n is done } }
        instance one { a: node }";
    let (model, instances) = crate::support::model_with_instances(text);
    let ground = Ground::new(&model, &instances[0]).unwrap();
    let outcome = check(&ground, &Facts::default(), Limits::default());
    assert!(outcome.answer.is_unknown());
    assert_eq!(outcome.answer.reasons(), [Open::Messages]);
    let explored = explore(&ground, 10_000, |_| false);
    assert!(explored.crowded && !explored.complete);
    assert_eq!(explored.states, 256, "none to 255 messages");
    let run = maximal_run(&ground, 10_000);
    assert!(!run.maximal && ground.is_crowded(&run.end));
    assert!(prove(&model, Effort::default()).answer.is_unknown());
}
