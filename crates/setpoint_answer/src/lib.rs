//! The one type for answers: proved, refuted or unknown, each with what it rests on.
//!
//! Every analysis ends in an [`Answer`]. A proof names its [`Basis`], a refutation carries its witness, and an answer that
//! could not be found carries at least one reason. There is no default: an answer that nobody gave does not exist. The crate
//! stands below all others; it knows no question, no input language and no printer.

use std::collections::BTreeSet;

/// The answer to one question. `W` shows that something does not hold, `R` says why something is not known.
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use]
pub enum Answer<W, R> {
    /// It holds for all that the question ranges over, given the basis.
    Proved(Basis),
    /// It does not hold: `witness` shows it, and so does each of `more`. `open` is what was not decided besides.
    Refuted { witness: W, more: Vec<W>, open: Vec<R> },
    /// It is not known whether it holds.
    Unknown(Reasons<R>),
}

/// Reasons for not knowing; at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reasons<R>(Vec<R>);

/// What a proof rests on besides the input: standing assumptions, alike for every input of a kind.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Basis(BTreeSet<Standing>);

/// An assumption that every proof of a kind makes. The list is closed: what holds for one input only is a reason for not
/// knowing, and never stands here.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Standing {
    BaseFolders,
    WholePackages,
    DeclaredKinds,
    PackageScripts,
    AloneOnTheMachine,
    ServiceFollowsRules,
    CreationSucceeds,
    TransformAccepts,
    PackagesAvailable,
    ServiceFiles,
    PaperModels,
}

impl Standing {
    /// The assumption as a sentence without a full stop.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::BaseFolders => "the base folders, files and accounts of the platform exist",
            Self::WholePackages => "an installed package has its files, users and dependencies",
            Self::DeclaredKinds => {
                "a managed path is absent or of its declared kind at the start, and no other path is a link"
            }
            Self::PackageScripts => "the scripts of packages do what the package index says",
            Self::AloneOnTheMachine => "nothing else changes the machine during a run",
            Self::ServiceFollowsRules => "the service follows the built-in rule set",
            Self::CreationSucceeds => "the creation of a single resource succeeds once it may begin",
            Self::TransformAccepts => {
                "AWS's serverless transform accepts the values of the properties that it expands"
            }
            Self::PackagesAvailable => "every package that is named can be installed at any time",
            Self::ServiceFiles => {
                "a service reads the files that notify it, are named after it or come with its package, and no others; no two services that run want the same port"
            }
            Self::PaperModels => "resources and packages do what the models and the index of the paper say",
        }
    }
}

impl<R> Reasons<R> {
    pub fn new(reason: R) -> Self {
        Self(vec![reason])
    }

    /// Returns the reasons, or nothing if there are none.
    pub fn from_vec(reasons: Vec<R>) -> Option<Self> {
        (!reasons.is_empty()).then_some(Self(reasons))
    }

    pub fn push(&mut self, reason: R) {
        self.0.push(reason);
    }

    pub fn as_slice(&self) -> &[R] {
        &self.0
    }

    pub fn as_mut_slice(&mut self) -> &mut [R] {
        &mut self.0
    }

    pub fn into_vec(self) -> Vec<R> {
        self.0
    }

    pub fn map<S>(self, convert: impl FnMut(R) -> S) -> Reasons<S> {
        Reasons(self.0.into_iter().map(convert).collect())
    }
}

impl<R> Extend<R> for Reasons<R> {
    fn extend<T: IntoIterator<Item = R>>(&mut self, more: T) {
        self.0.extend(more);
    }
}

impl Basis {
    /// Returns the basis of a proof about the input alone.
    pub fn nothing() -> Self {
        Self(BTreeSet::new())
    }

    pub fn of(standing: impl IntoIterator<Item = Standing>) -> Self {
        Self(standing.into_iter().collect())
    }

    pub fn standing(&self) -> impl Iterator<Item = Standing> {
        self.0.iter().copied()
    }

    /// Adds what another proof rests on.
    pub fn join(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }
}

impl<W, R> Answer<W, R> {
    /// Returns the answer that nothing is known, for one reason.
    pub fn unknown(reason: R) -> Self {
        Self::Unknown(Reasons::new(reason))
    }

    /// Returns the refutation by one witness.
    pub fn refuted(witness: W) -> Self {
        Self::Refuted { witness, more: Vec::new(), open: Vec::new() }
    }

    pub fn is_proved(&self) -> bool {
        matches!(self, Self::Proved(_))
    }

    pub fn is_refuted(&self) -> bool {
        matches!(self, Self::Refuted { .. })
    }

    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }

    /// Returns the witness that shows that it does not hold.
    pub fn witness(&self) -> Option<&W> {
        match self {
            Self::Refuted { witness, .. } => Some(witness),
            Self::Proved(_) | Self::Unknown(_) => None,
        }
    }

    /// Whether a witness is one of those that show that it does not hold.
    pub fn is_shown_by(&self, shown: &W) -> bool
    where
        W: PartialEq,
    {
        matches!(self, Self::Refuted { witness, more, .. } if witness == shown || more.contains(shown))
    }

    /// Returns every witness that shows that it does not hold.
    pub fn witnesses(&self) -> impl Iterator<Item = &W> {
        let (first, more) = match self {
            Self::Refuted { witness, more, .. } => (Some(witness), more.as_slice()),
            Self::Proved(_) | Self::Unknown(_) => (None, [].as_slice()),
        };
        first.into_iter().chain(more)
    }

    /// Returns what keeps the answer, or a part of it, open.
    pub fn reasons(&self) -> &[R] {
        match self {
            Self::Proved(_) => &[],
            Self::Refuted { open, .. } => open,
            Self::Unknown(reasons) => reasons.as_slice(),
        }
    }

    /// Takes a reason for doubt: a proof becomes unknown; a refutation stands, and notes what is open besides.
    pub fn doubt(self, reason: R) -> Self {
        match self {
            Self::Proved(_) => Self::unknown(reason),
            Self::Refuted { witness, more, mut open } => {
                open.push(reason);
                Self::Refuted { witness, more, open }
            }
            Self::Unknown(mut reasons) => {
                reasons.push(reason);
                Self::Unknown(reasons)
            }
        }
    }

    /// Returns the answer about both of two parts: refuted if either is, else unknown if either is, else proved.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Proved(mut one), Self::Proved(two)) => {
                one.join(&two);
                Self::Proved(one)
            }
            (
                Self::Refuted { witness, mut more, mut open },
                Self::Refuted { witness: other, more: others, open: left },
            ) => {
                more.push(other);
                more.extend(others);
                open.extend(left);
                Self::Refuted { witness, more, open }
            }
            (Self::Refuted { witness, more, mut open }, Self::Unknown(reasons))
            | (Self::Unknown(reasons), Self::Refuted { witness, more, mut open }) => {
                open.extend(reasons.into_vec());
                Self::Refuted { witness, more, open }
            }
            (refuted @ Self::Refuted { .. }, Self::Proved(_))
            | (Self::Proved(_), refuted @ Self::Refuted { .. }) => refuted,
            (Self::Unknown(mut one), Self::Unknown(two)) => {
                one.extend(two.into_vec());
                Self::Unknown(one)
            }
            (Self::Unknown(reasons), Self::Proved(_)) | (Self::Proved(_), Self::Unknown(reasons)) => {
                Self::Unknown(reasons)
            }
        }
    }

    /// Turns witnesses and reasons into those of another level.
    pub fn map<V, S>(self, mut witness: impl FnMut(W) -> V, reason: impl FnMut(R) -> S) -> Answer<V, S> {
        match self {
            Self::Proved(basis) => Answer::Proved(basis),
            Self::Refuted { witness: first, more, open } => Answer::Refuted {
                witness: witness(first),
                more: more.into_iter().map(witness).collect(),
                open: open.into_iter().map(reason).collect(),
            },
            Self::Unknown(reasons) => Answer::Unknown(reasons.map(reason)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Sample = Answer<&'static str, &'static str>;

    fn proved() -> Sample {
        Answer::Proved(Basis::nothing())
    }

    #[test]
    fn a_refutation_outweighs_doubt_and_doubt_a_proof() {
        assert!(proved().and(proved()).is_proved());
        assert!(proved().and(Answer::unknown("unread")).is_unknown());
        assert!(Answer::unknown("unread").and(Answer::refuted("run")).is_refuted());
        assert_eq!(Answer::refuted("run").and(Answer::unknown("unread")).reasons(), ["unread"]);
        assert_eq!(proved().doubt("unread"), Answer::unknown("unread"));
        assert!(Sample::refuted("run").doubt("unread").is_refuted());
    }

    #[test]
    fn a_basis_gathers_what_both_proofs_rest_on() {
        let one = Basis::of([Standing::BaseFolders]);
        let two = Basis::of([Standing::BaseFolders, Standing::PackageScripts]);
        let Sample::Proved(both) = Sample::Proved(one).and(Answer::Proved(two)) else { panic!("proved") };
        assert_eq!(both.standing().count(), 2);
    }
}
