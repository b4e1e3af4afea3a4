//! All states: counted, and searched for a run that never reaches a final state.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ground::{Ground, State};
use super::reduce::Dependence;
use super::run::Run;

/// What full search saw.
#[derive(Clone, Debug)]
pub struct Explored {
    pub states: usize,
    pub transitions: usize,
    /// States without an enabled step, in the order in which they were found, each with a shortest run to it.
    pub terminals: Vec<Run>,
    /// For each rule whether it was applied.
    pub fired: Vec<bool>,
    /// False if the limit cut the search off, or steps were left out.
    pub complete: bool,
    /// Steps were left out after which more messages would wait at one place than are counted.
    pub crowded: bool,
}

/// Breadth-first search of every reachable state, beyond final ones too. Stops early when `stop` says so of a
/// state; that state is then the last of the terminals.
pub fn explore(ground: &Ground<'_>, limit: usize, mut stop: impl FnMut(&[u8]) -> bool) -> Explored {
    let mut index: FxHashMap<State, u32> = FxHashMap::default();
    let mut order: Vec<State> = vec![ground.start.clone()];
    let mut parents: Vec<(u32, u32)> = vec![(0, 0)];
    index.insert(ground.start.clone(), 0);
    let mut out = Explored {
        states: 0,
        transitions: 0,
        terminals: Vec::new(),
        fired: vec![false; ground.model.rules.len()],
        complete: true,
        crowded: false,
    };
    let mut at = 0;
    while at < order.len() {
        let state = order[at].clone();
        let stopped = stop(&state);
        let enabled = if stopped { Vec::new() } else { ground.enabled_steps(&state) };
        if enabled.is_empty() {
            let steps = run_to(&parents, at);
            out.terminals.push(Run { steps, end: state.clone(), maximal: !stopped });
        }
        if stopped {
            out.complete = false;
            break;
        }
        for step in enabled {
            if Ground::overflows(&ground.steps[step], &state) {
                out.complete = false;
                out.crowded = true;
                continue;
            }
            out.transitions += 1;
            out.fired[ground.steps[step].rule] = true;
            let mut next = state.clone();
            Ground::apply(&ground.steps[step], &mut next);
            if !index.contains_key(&next) {
                if order.len() >= limit {
                    out.complete = false;
                    continue;
                }
                index.insert(next.clone(), order.len() as u32);
                order.push(next);
                parents.push((at as u32, step as u32));
            }
        }
        at += 1;
    }
    out.states = order.len();
    out
}

fn run_to(parents: &[(u32, u32)], mut at: usize) -> Vec<usize> {
    let mut steps = Vec::new();
    while at != 0 {
        let (parent, step) = parents[at];
        steps.push(step as usize);
        at = parent as usize;
    }
    steps.reverse();
    steps
}

/// Whether every run reaches a final state.
#[derive(Clone, Debug)]
pub enum LeadsTo {
    Holds {
        states: usize,
    },
    /// This run ends in a state that is not final, and passes none.
    Stuck {
        run: Run,
        states: usize,
    },
    /// After the first `prefix` steps the rest of the run leads back to the same state, for ever.
    Endless {
        run: Run,
        prefix: usize,
        states: usize,
    },
    /// More states than the limit; or, if `crowded`, more messages at one place than are counted.
    Unknown {
        states: usize,
        crowded: bool,
    },
}

#[derive(Clone, Copy, PartialEq)]
enum Colour {
    OnPath,
    Done,
}

struct Frame {
    state: State,
    /// The step that led here.
    by: usize,
    steps: Vec<usize>,
    next: usize,
}

/// Depth-first search with reduction, for a run that passes no final state and ends or goes on for ever.
pub fn leads_to(ground: &Ground<'_>, limit: usize) -> LeadsTo {
    if ground.is_final(&ground.start) {
        return LeadsTo::Holds { states: 1 };
    }
    let dependence = Dependence::new(ground);
    let mut colours: FxHashMap<State, Colour> = FxHashMap::default();
    let mut path: Vec<Frame> = Vec::new();
    let mut crowded = false;
    let mut entering = Some((ground.start.clone(), usize::MAX));
    loop {
        if let Some((state, by)) = entering.take() {
            let enabled = ground.enabled_steps(&state);
            if enabled.is_empty() {
                let mut steps: Vec<usize> = path.iter().skip(1).map(|frame| frame.by).collect();
                if by != usize::MAX {
                    steps.push(by);
                }
                let states = colours.len() + 1;
                let run = shortest_stuck(ground, limit).unwrap_or(Run { steps, end: state, maximal: true });
                return LeadsTo::Stuck { run, states };
            }
            if colours.len() >= limit {
                return LeadsTo::Unknown { states: colours.len(), crowded: false };
            }
            colours.insert(state.clone(), Colour::OnPath);
            let ample = dependence.ample(ground, &state, &enabled);
            // The cycle proviso: a step of a reduced set that leads back onto the path would let the others wait
            // for ever.
            let reduced = ample.len() < enabled.len();
            let closes = reduced
                && ample
                    .iter()
                    .any(|&step| colours.get(&after(ground, &state, step)) == Some(&Colour::OnPath));
            let steps = if closes { enabled } else { ample };
            path.push(Frame { state, by, steps, next: 0 });
        }
        let Some(frame) = path.last_mut() else {
            let states = colours.len();
            return if crowded { LeadsTo::Unknown { states, crowded } } else { LeadsTo::Holds { states } };
        };
        let Some(&step) = frame.steps.get(frame.next) else {
            if let Some(done) = path.pop() {
                colours.insert(done.state, Colour::Done);
            }
            continue;
        };
        frame.next += 1;
        if Ground::overflows(&ground.steps[step], &frame.state) {
            crowded = true;
            continue;
        }
        let next = after(ground, &frame.state, step);
        if ground.is_final(&next) {
            continue;
        }
        match colours.get(&next) {
            Some(Colour::Done) => {}
            Some(Colour::OnPath) => {
                let prefix = path.iter().position(|frame| frame.state == next).unwrap_or(0);
                let mut steps: Vec<usize> = path.iter().skip(1).map(|frame| frame.by).collect();
                steps.push(step);
                let run = Run { steps, end: next, maximal: false };
                return LeadsTo::Endless { run, prefix, states: colours.len() };
            }
            None => entering = Some((next, step)),
        }
    }
}

fn after(ground: &Ground<'_>, state: &State, step: usize) -> State {
    let mut next = state.clone();
    Ground::apply(&ground.steps[step], &mut next);
    next
}

/// The shortest run to a state that is stuck, passing no final state, if breadth-first search finds it in time.
fn shortest_stuck(ground: &Ground<'_>, limit: usize) -> Option<Run> {
    let mut index: FxHashSet<State> = FxHashSet::default();
    let mut order: Vec<State> = vec![ground.start.clone()];
    let mut parents: Vec<(u32, u32)> = vec![(0, 0)];
    index.insert(ground.start.clone());
    let mut at = 0;
    while at < order.len() && order.len() < limit.min(200_000) {
        let state = order[at].clone();
        let enabled = ground.enabled_steps(&state);
        if enabled.is_empty() {
            return Some(Run { steps: run_to(&parents, at), end: state, maximal: true });
        }
        for step in enabled {
            if Ground::overflows(&ground.steps[step], &state) {
                continue;
            }
            let next = after(ground, &state, step);
            if !ground.is_final(&next) && index.insert(next.clone()) {
                order.push(next);
                parents.push((at as u32, step as u32));
            }
        }
        at += 1;
    }
    None
}
