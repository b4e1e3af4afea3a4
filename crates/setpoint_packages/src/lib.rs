//! What packages install: files, directories, conffiles, users, groups, services, and what they depend on.
//!
//! This crate stands beside the catalog. Whoever models a `package` resource asks an [`Index`] for the [`PackageFacts`] of
//! a name, for the packages that come with it ([`Index::dependencies`]) and for those that its removal takes away
//! ([`Index::dependants`]). An index has layers: an index file that the user built (`setpoint packages build`), over the one
//! that is built in for the [`Platform`], over the curated table of what maintainer scripts create.
//!
//! [`Collection`] gathers facts from the formats in which they are published ([`read`]): Debian's Contents and Packages,
//! dpkg's own files, packages themselves, RPM metadata, plain listings; [`Collection::to_bytes`] writes them as one compact file.
//!
//! It knows no catalog, no resource and no state. It runs no package manager and fetches nothing.
//!
//! ```
//! use setpoint_packages::{Collection, Index};
//!
//! let mut packages = Collection::new();
//! packages.add_file("hello", "/usr/bin/hello");
//! let index = Index::from_bytes(packages.to_bytes()).unwrap();
//! let hello = index.lookup("hello").unwrap().unwrap();
//! assert_eq!(&*hello.files[0], "/usr/bin/hello");
//! assert!(index.lookup("goodbye").unwrap().is_none());
//! ```

mod builtin;
mod collection;
mod curated;
mod error;
mod exclusive;
mod facts;
mod file;
mod index;
mod names;
mod platform;
pub mod read;
mod relations;

pub use builtin::{BUILTIN_NAMES, make_builtin};
pub use collection::Collection;
pub use curated::{Curated, CuratedTable};
pub use error::IndexError;
pub use facts::{
    Clause, ConffileKnowledge, Coverage, Group, PackageFacts, Service, ServiceKind, User, is_service_path,
    is_trimmed,
};
pub use index::{Choice, Dependants, Dependencies, Found, Index, Summary};
pub use platform::{Family, PLATFORMS, Platform};
