//! Environments, control repositories and modules as the program takes them, and what a node is. Where Puppet is
//! installed, it compiles the same environments.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "control_repo/folder.rs"]
mod folder;
#[path = "control_repo/missing.rs"]
mod missing;
#[path = "control_repo/modules.rs"]
mod modules;
#[path = "control_repo/nodes.rs"]
mod nodes;
#[path = "control_repo/oracle.rs"]
mod oracle;
#[path = "control_repo/repositories.rs"]
mod repositories;
