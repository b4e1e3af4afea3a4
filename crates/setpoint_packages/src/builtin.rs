//! The indexes that are built in.

use crate::{Index, Platform};

pub(crate) fn index(_platform: Platform) -> Index {
    Index::empty()
}
