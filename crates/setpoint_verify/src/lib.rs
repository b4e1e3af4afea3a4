//! Does a plan settle? Whether its order matters, whether a second run changes anything, whether all starts end alike.
//!
//! [`verify`] takes a [`Plan`] of `setpoint_state` and returns [`Verdicts`] as data: an [`Answer`] to each question. A
//! refutation carries a counterexample: a start and orders that the concrete interpreter ran on the whole plan; what did not
//! replay is never reported. A question that could not be decided is unknown, with the steps and the reasons of its own.
//!
//! It stands after `setpoint_resources`, which makes plans of catalogs, and before the program, which tells its answers. It
//! knows no type of resource, no catalog and no source text, and it prints nothing.

pub mod exhaustive;
mod facts;
pub mod family;
mod prove;
mod reduce;
mod replay;
pub mod sample;
mod symbolic;

use std::cell::{Cell, OnceCell};
use std::sync::Arc;
use std::time::Instant;

use setpoint_answer::Standing;
use setpoint_state::{CellId, Plan, Run, Semantics, State, StepId, Test};

use facts::context::Context;

pub use prove::contradiction::{Contradiction, Lost, PairEnd};
pub use prove::repair;
pub use reduce::flow::Memory;
pub use setpoint_answer::{Answer, Basis, Reasons};
pub use setpoint_solver::Backend;

/// The work that a machine of today does in about a second. Limits that users state in seconds are multiples of it: a clock would decide more on an idle
/// machine than on a busy one.
pub const WORK_A_SECOND: u64 = 20_000_000;

/// What is asked, and how much work it may take.
#[derive(Clone, Default)]
pub struct Options {
    pub semantics: Semantics,
    /// Any machine that obeys the laws, not only an admissible one.
    pub any_start: bool,
    /// How much work the questions may take, in units that are the same on every machine; what is not decided by then is unknown.
    pub work: Option<u64>,
    /// A moment after which nothing more is decided, to end a program that takes too long.
    pub deadline: Option<Instant>,
    /// Answers that several plans share.
    pub memory: Arc<Memory>,
    /// How many threads; 0 and 1 mean one.
    pub jobs: usize,
    /// Stop looking for dependent pairs after so many; 0 means all.
    pub most: usize,
    /// What must hold at the end of every run without failure.
    pub invariants: Vec<Invariant>,
    /// Edges of which is asked whether anything changes without them, each by itself.
    pub maybe_redundant: Vec<(StepId, StepId)>,
    /// Steps that declare no end, such as commands: they contradict nothing.
    pub no_end: Vec<StepId>,
    /// Ask also whether a service misses its restart if something before it fails once.
    pub lost_refresh: bool,
    /// Told now and then how far it is.
    pub progress: Option<Progress>,
    /// Which solver is asked.
    pub solver: Backend,
}

impl Options {
    /// Gives a context the solver, the limits and the memory that were chosen.
    fn limit(&self, context: &mut Context<'_>) {
        context.solver = self.solver;
        context.most_work.set(self.work);
        context.deadline = self.deadline;
        context.memory = Arc::clone(&self.memory);
    }

    /// Returns what every proof rests on: the standing assumptions that these options imply.
    pub fn basis(&self) -> Basis {
        let mut standing = vec![Standing::AloneOnTheMachine];
        match self.semantics {
            Semantics::Paper => standing.push(Standing::PaperModels),
            Semantics::Puppet => {
                standing.extend([
                    Standing::PackageScripts,
                    Standing::PackagesAvailable,
                    Standing::ServiceFiles,
                ]);
                if !self.any_start {
                    standing.extend([
                        Standing::BaseFolders,
                        Standing::WholePackages,
                        Standing::DeclaredKinds,
                    ]);
                }
            }
        }
        Basis::of(standing)
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Options")
            .field("semantics", &self.semantics)
            .field("any_start", &self.any_start)
            .field("work", &self.work)
            .field("deadline", &self.deadline)
            .field("jobs", &self.jobs)
            .field("most", &self.most)
            .field("invariants", &self.invariants)
            .finish_non_exhaustive()
    }
}

/// Is told the stage, how many of its questions are done, and of how many.
pub type Progress = Arc<dyn Fn(Stage, usize, usize) + Send + Sync>;

/// What is being asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    Order,
    Twice,
    Invariants,
    Refresh,
    /// Whether edges are redundant.
    Edges,
}

/// Something that must hold at the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invariant {
    pub name: Arc<str>,
    pub test: Test,
}

/// The answers about a plan.
#[derive(Clone, Debug)]
pub struct Verdicts {
    /// Every order that the edges permit ends alike, from every start.
    pub order: Answer<OrderWitness, Unproved>,
    /// A second run leaves every cell as the first left it, and fails or skips nothing that the first did not.
    pub idempotent: Answer<Twice, Unproved>,
    /// A second run reports no change and no refresh.
    pub quiet: Answer<Twice, Unproved>,
    /// After every run without failure each managed cell is the same, whatever the start.
    pub convergent: Answer<TwoStarts, Unproved>,
    /// Each of [`Options::invariants`] holds after every run without failure, in every order.
    pub invariants: Vec<Answer<Broken, Unproved>>,
    /// What steps declare still holds after every run without failure.
    pub declared: Answer<Broken, Unproved>,
    /// After every run without failure services run with their files as they are then, also if one step failed once in the run
    /// before.
    pub refreshed: Answer<Stale, Unproved>,
    /// Steps that fail in Puppet's order on a plain machine.
    pub failures: Vec<Failure>,
    /// A fresh machine: an admissible start on which as little as may be is there. None if no start is admissible.
    pub fresh: Option<State>,
    /// Pairs of steps whose declared ends exclude each other, whatever the order.
    pub contradictions: Vec<Contradiction>,
    /// Of the edges that were asked about, those without which nothing changes.
    pub redundant: Vec<(StepId, StepId)>,
    /// The edges leave no two steps that do something unordered: whatever steps do, their order cannot matter.
    pub is_total_order: bool,
    /// The stages for which the time was not enough.
    pub unfinished: Vec<Unfinished>,
    pub effort: Effort,
}

impl Verdicts {
    /// Returns the pairs of steps whose order matters.
    pub fn dependences(&self) -> impl Iterator<Item = &Dependence> {
        self.order.witnesses().filter_map(|witness| match witness {
            OrderWitness::Dependent(dependence) => Some(dependence),
            OrderWitness::Fails(_) => None,
        })
    }

    /// Returns the failure of Puppet's own order, if another order would not fail.
    pub fn fails_today(&self) -> Option<&FailsToday> {
        match self.order.witness() {
            Some(OrderWitness::Fails(fails)) => Some(fails),
            _ => None,
        }
    }

    /// Returns the invariants, stated or declared by a step, that a clean run leaves broken.
    pub fn broken(&self) -> impl Iterator<Item = &Broken> {
        self.invariants.iter().chain([&self.declared]).flat_map(Answer::witnesses)
    }

    /// Returns the services that run with an old configuration after a clean run: nothing tells them.
    pub fn missing_notify(&self) -> impl Iterator<Item = &Stale> {
        self.refreshed.witnesses().filter(|stale| stale.failing.is_none())
    }

    /// Returns the services that run with an old configuration after one transient failure and a clean run.
    pub fn lost_refresh(&self) -> impl Iterator<Item = &Stale> {
        self.refreshed.witnesses().filter(|stale| stale.failing.is_some())
    }
}

/// Returns the answer to a question of which all was asked: the one place where a question is proved. `Proved` only if nothing
/// refutes it and nothing is open.
pub(crate) fn conclude<W>(witnesses: Vec<W>, open: Vec<Unproved>, basis: &Basis) -> Answer<W, Unproved> {
    let mut witnesses = witnesses.into_iter();
    match witnesses.next() {
        Some(witness) => Answer::Refuted { witness, more: witnesses.collect(), open },
        None => Reasons::from_vec(open).map_or_else(|| Answer::Proved(basis.clone()), Answer::Unknown),
    }
}

/// A stage that was broken off, or not begun, because the time was over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unfinished {
    pub stage: Stage,
    /// How many of its questions were decided, and of how many; `None` if it was not begun.
    pub decided: Option<(usize, usize)>,
}

/// What it took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effort {
    /// Unordered pairs that touch a common cell.
    pub candidates: usize,
    /// Pairs that do not commute and were looked at further.
    pub conflicts: usize,
    /// Questions about steps by themselves; the rest was remembered.
    pub local_questions: u64,
}

/// Why the order of a plan matters.
#[derive(Clone, Debug)]
pub enum OrderWitness {
    Fails(FailsToday),
    Dependent(Dependence),
}

impl OrderWitness {
    /// Returns the two orders that end differently.
    pub fn counterexample(&self) -> &Counterexample {
        match self {
            Self::Fails(found) => &found.counterexample,
            Self::Dependent(found) => &found.counterexample,
        }
    }
}

/// A step that fails in the order that Puppet takes, and not in another that the edges permit.
#[derive(Clone, Debug)]
pub struct FailsToday {
    pub step: StepId,
    /// Puppet's order first, one in which the step does not fail second.
    pub counterexample: Counterexample,
}

/// Two steps that no edge orders, and whose order matters.
#[derive(Clone, Debug)]
pub struct Dependence {
    /// The one that Puppet runs first.
    pub one: StepId,
    pub two: StepId,
    pub counterexample: Counterexample,
}

/// A start and two orders that end differently, as the interpreter ran them.
#[derive(Clone, Debug)]
pub struct Counterexample {
    pub start: State,
    /// The cells of the start that matter: with another value there, nothing would differ.
    pub matters: Vec<CellId>,
    pub first: Vec<StepId>,
    pub second: Vec<StepId>,
    pub first_run: Run,
    pub second_run: Run,
    pub differs: Differs,
}

/// In what two ends differ.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Differs {
    pub cells: Vec<CellId>,
    /// Steps that are ok, failed or skipped in one and not in the other.
    pub steps: Vec<StepId>,
}

/// A start, and two runs one after the other in Puppet's order.
#[derive(Clone, Debug)]
pub struct Twice {
    pub start: State,
    pub matters: Vec<CellId>,
    pub first_run: Run,
    pub second_run: Run,
    pub differs: Differs,
}

/// Two starts whose runs, without failure, end differently in a cell that the plan manages.
#[derive(Clone, Debug)]
pub struct TwoStarts {
    pub starts: [State; 2],
    pub runs: [Run; 2],
    pub cell: CellId,
}

/// A step that fails.
#[derive(Clone, Debug)]
pub struct Failure {
    pub step: StepId,
    /// A plain machine: as little as may be is there.
    pub start: State,
    pub run: Run,
    /// It fails from every admissible start; a witness is one from which it does not.
    pub always: Answer<State, Unproved>,
    /// That it fails so in every order is proved, too.
    pub every_order: bool,
}

/// An invariant that a clean run leaves broken.
#[derive(Clone, Debug)]
pub struct Broken {
    /// Its name; that of the step if the step declares it.
    pub name: Arc<str>,
    pub test: Test,
    /// The step that declares it.
    pub step: Option<StepId>,
    pub start: State,
    /// The cells of the start that matter: with a plain value there, it would hold.
    pub matters: Vec<CellId>,
    /// In Puppet's order, unless only another one shows it.
    pub run: Run,
    /// A step of unknown effect that may yet make it hold.
    pub unless: Option<StepId>,
}

/// A service that does not run with what its file says.
#[derive(Clone, Debug)]
pub struct Stale {
    pub loaded: CellId,
    pub file: CellId,
    pub services: Vec<StepId>,
    pub start: State,
    /// The step that fails once in the first run; no other run fails.
    pub failing: Option<StepId>,
    pub runs: Vec<Run>,
}

/// A question without an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unproved {
    /// The steps it is about; the one to blame first, if there is one.
    pub steps: Vec<StepId>,
    pub why: Why,
}

/// Why a question has no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// The effect of this step is not known.
    Step(StepId),
    /// It is proved, if this step of unknown effect does nothing beyond its program.
    BeyondProgram(StepId),
    /// No start is admissible, so that nothing could be shown.
    NoStart,
    /// No run without a failure is known, and the question is about such runs.
    NeverClean,
    /// The time was over.
    Time,
    /// The solver gave up.
    Hard,
    /// Too many steps take part.
    Large,
    /// A counterexample of the formulas did not replay; nothing is claimed.
    NotReplayed,
    /// Steps wait for a provider that others bring.
    Postponed,
    /// Whether Puppet's order fails where another would not.
    WhetherItFails,
    /// Whether an invariant holds.
    Invariant,
    /// Whether a service is always told.
    Refresh,
    /// So many dependent pairs had been found already; see [`Options::most`].
    Enough,
}

/// Asks everything about a plan.
pub fn verify(plan: &Plan, options: &Options) -> Verdicts {
    ask(plan, options, true)
}

/// How much of the work that is left the question of order may take, in percent, and then that of a second run.
const ORDER_SHARE: u64 = 60;
const TWICE_SHARE: u64 = 75;

/// Lets the next stage take a share of the work that is left. No stage takes all of it: what the next ones find out is wanted, too.
fn allow(context: &Context<'_>, work: Option<u64>, share: u64) {
    let spent = context.meter.read();
    context.most_work.set(work.map(|work| spent + work.saturating_sub(spent) / 100 * share));
}

/// Asks the four questions about a plan, and what must hold at the end if that is wanted too.
fn ask(plan: &Plan, options: &Options, ends: bool) -> Verdicts {
    let mut context = Context::of_ends(plan, options.semantics, options.any_start);
    options.limit(&mut context);
    context.jobs = options.jobs.max(1);
    allow(&context, options.work, ORDER_SHARE);
    context.trim();
    let mut prover = prove::pair::PairProver::new(&context);
    if options.most > 0 {
        prover.most = options.most;
    }
    let last = Cell::new((0, 0));
    let tell = |stage: Stage| {
        let (progress, last) = (options.progress.clone(), &last);
        move |done: usize, of: usize| {
            last.set((done, of));
            if let Some(progress) = &progress {
                progress(stage, done, of);
            }
        }
    };
    let mut unfinished = Vec::new();
    // Says of a stage that has ended whether the time was enough for it; the last question was under way.
    let ended = |stage: Stage, was_late: bool, unfinished: &mut Vec<Unfinished>| {
        if context.is_over() {
            let (done, of) = last.replace((0, 0));
            let decided = (!was_late && of > 0).then_some((done.saturating_sub(1), of));
            unfinished.push(Unfinished { stage, decided });
        }
    };
    let basis = options.basis();
    let orders = prove::order::decide(&mut prover, &tell(Stage::Order));
    let of = orders.candidates;
    let late = orders.unproved.iter().filter(|unproved| unproved.why == Why::Time).count();
    if late > 0 {
        let decided = Some((of.saturating_sub(late), of));
        unfinished.push(Unfinished { stage: Stage::Order, decided });
    }
    allow(&context, options.work, TWICE_SHARE);
    let was_late = context.is_over();
    // What is managed, and what fails, is told of every machine.
    let every_start: OnceCell<Context<'_>> = OnceCell::new();
    let every_start = || {
        context.narrowed.then(|| {
            let every = every_start.get_or_init(|| {
                let mut every = Context::new(plan, options.semantics, options.any_start);
                every.ask_as(&context);
                every.trim();
                every
            });
            every.most_work.set(context.most_work.get());
            every
        })
    };
    let twice = prove::twice::decide(&context, &prover.witness, every_start, &basis, &tell(Stage::Twice));
    if twice.idempotent.is_unknown() || twice.quiet.is_unknown() || twice.convergent.is_unknown() {
        ended(Stage::Twice, was_late, &mut unfinished);
    }
    context.most_work.set(options.work);
    let is_late = |open: &[Unproved]| open.iter().any(|unproved| unproved.why == Why::Time);
    let (mut failures, mut contradictions) = (Vec::new(), Vec::new());
    let (mut invariants, mut declared, mut refreshed) =
        (Vec::new(), conclude(Vec::new(), Vec::new(), &basis), conclude(Vec::new(), Vec::new(), &basis));
    if ends {
        let independent = orders.is_independent();
        failures = match every_start() {
            Some(every) => prove::ends::failures(&prove::pair::PairProver::new(every), independent, &basis),
            None => prove::ends::failures(&prover, independent, &basis),
        };
        contradictions = prove::contradiction::find(&context, &prover.witness, plan, &options.no_end);
        let was_late = context.is_over();
        let tell_invariants = tell(Stage::Invariants);
        (invariants, declared) =
            prove::ends::invariants(&prover, &options.invariants, independent, &basis, &tell_invariants);
        if invariants.iter().chain([&declared]).any(|answer| is_late(answer.reasons())) {
            ended(Stage::Invariants, was_late, &mut unfinished);
        }
        let was_late = context.is_over();
        refreshed = prove::ends::stale(&prover, &basis, options.lost_refresh, &tell(Stage::Refresh));
        if is_late(refreshed.reasons()) {
            ended(Stage::Refresh, was_late, &mut unfinished);
        }
    }
    let was_late = context.is_over();
    let (redundant, all) = prove::ends::redundant(&prover, &options.maybe_redundant, &tell(Stage::Edges));
    if !all {
        ended(Stage::Edges, was_late, &mut unfinished);
    }
    let effort = Effort {
        candidates: orders.candidates,
        conflicts: orders.conflicts,
        local_questions: prover.local.asked,
    };
    Verdicts {
        order: orders.into_answer(&basis),
        idempotent: twice.idempotent,
        quiet: twice.quiet,
        convergent: twice.convergent,
        invariants,
        declared,
        refreshed,
        failures,
        fresh: prover.witness.base().cloned(),
        contradictions,
        redundant,
        is_total_order: is_total_order(&context),
        unfinished,
        effort,
    }
}

/// Whether the edges leave no two steps that do something unordered. Then there is one order alone, and no gap in the models can
/// make it matter.
fn is_total_order(context: &Context<'_>) -> bool {
    let acting: Vec<StepId> =
        context.order.iter().copied().filter(|&step| !context.step(step).passes_on).collect();
    // In a total order each step comes before the next, and the rest follows.
    !acting.windows(2).any(|pair| context.unordered(pair[0], pair[1]))
}

/// An admissible start that is as plain as can be: nothing is there that need not be. None if no start is admissible.
pub fn plain_start(plan: &Plan, options: &Options) -> Option<State> {
    let context = Context::new(plan, options.semantics, options.any_start);
    replay::witness::Witness::new(&context).base().cloned()
}
