#![allow(clippy::all, clippy::pedantic, clippy::print_stdout)]
use setpoint_state::Semantics;
use setpoint_verify::*;
use std::time::Instant;
fn go(name: &str, plan: setpoint_state::Plan, semantics: Semantics) {
    let t = Instant::now();
    let v = verify(&plan, &Options { semantics, ..Default::default() });
    println!("{name} {semantics:?} steps {} cells {}: {:?} {:?} idem {:?} quiet {:?} conv {:?} dep {} unproved {:?} effort {:?}", plan.steps.len(), plan.space.len(), t.elapsed(), v.order, v.idempotent, v.quiet, v.convergent, v.dependent.len(), &v.unproved[..v.unproved.len().min(2)], v.effort);
}
#[test]
fn time() {
    for s in [Semantics::Paper, Semantics::Puppet] {
        for n in [4, 10, 20, 40] { for o in [false, true] { go(&format!("fig13 {n} {o}"), family::figure_13(n, o), s); } }
        for n in [4, 8, 16] { for o in [false, true] { go(&format!("writers {n} {o}"), family::writers(n, o), s); } }
        for n in [10, 50] { go("chain", family::chain(n), s); go("diamonds", family::diamonds(n), s);}
    }
}
#[test]
fn big() {
    go("catalog", family::catalog(100, 5, 50, false), Semantics::Puppet);
    go("catalog", family::catalog(1000, 50, 200, false), Semantics::Puppet);
    go("catalog", family::catalog(1000, 50, 200, true), Semantics::Puppet);
}
