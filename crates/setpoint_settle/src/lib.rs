//! Does a catalog settle? From a catalog to findings that a person can act on.
//!
//! It stands at the end of the Puppet line: the catalog becomes a plan (`setpoint_resources`), the plan is judged
//! (`setpoint_verify`), and here the answers become findings with their story, their severity and their repair as
//! code. It proves nothing itself and prints nothing.

mod edit;
mod rules;

pub use edit::relation_fix;
pub use rules::RULES;
