//! Threads on which deep input can be walked.

use std::thread::Builder;

use crate::Limit;

/// Limits of depth are chosen so that recursion within them fits this stack. Only what is touched of it takes memory.
const STACK_BYTES: Limit = Limit::new(512 * 1024 * 1024);

/// Returns a thread builder with the stack that evaluators and verifiers need within their limits of depth.
pub fn thread_builder() -> Builder {
    Builder::new().stack_size(STACK_BYTES.get())
}
