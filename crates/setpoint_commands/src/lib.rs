//! What plain commands do to a machine: the `command`, `unless` and `onlyif` of Puppet's `exec`.
//!
//! A command is read as a shell reads it (quotes, `&&`, `||`, `;`, pipes, redirections, groups); programs that are known
//! (touch, mkdir, rm, cp, mv, ln, tar, chmod, chown, package managers, systemctl, useradd, sed -i, echo, test, …) become
//! [`Step`]s. Anything else is not understood, with the word that stopped it: a guess would make verdicts wrong.
//!
//! It stands before the models of resources. It knows no state and no catalog, and it runs nothing.
//!
//! ```
//! use setpoint_commands::{Step, Surroundings, effects};
//!
//! let found = effects("/bin/mkdir -p /srv/app && touch /srv/app/ready", Surroundings::default());
//! assert!(found.understood);
//! assert!(matches!(&found.steps[..], [Step::And(both)] if both.len() == 2));
//! assert_eq!(effects("make install", Surroundings::default()).reason.unwrap().word, "make");
//! ```

mod edit;
mod expression;
mod infer;
mod lexer;
mod parser;
mod programs;
mod step;

pub use edit::Edit;
pub use expression::{Syntax, expression};
pub use infer::{Programs, Scripts, Surroundings, condition, effects, effects_of_words, needed_programs};
pub use step::{Condition, Effects, NotUnderstood, Step};
