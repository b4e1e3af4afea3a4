//! Puppet's syntax: text in, a tree and diagnostics out.
//!
//! First stage of the Puppet line. Parsing never fails: every text gives a [`ast::Program`], ill-formed parts as
//! [`ast::ExprKind::Error`], and a list of diagnostics. The crate knows nothing of values, scopes or catalogs.

pub mod ast;
