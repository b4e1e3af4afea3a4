//! LLVM's fuzzer around the targets of `setpoint_fuzz`: which target runs, when a panic counts, and how inputs are changed.

use std::sync::OnceLock;

use setpoint_fuzz::{Random, Target, mutated};

/// Runs the target that `SETPOINT_FUZZ_TARGET` names.
pub fn run(targets: &[Target], data: &[u8]) {
    static CHOSEN: OnceLock<fn(&[u8])> = OnceLock::new();
    let chosen = CHOSEN.get_or_init(|| {
        fence_off_known_panics();
        let wanted = std::env::var("SETPOINT_FUZZ_TARGET").unwrap_or_default();
        let found = targets.iter().find(|(name, _)| *name == wanted);
        found.unwrap_or_else(|| panic!("SETPOINT_FUZZ_TARGET names no target: {wanted}")).1
    });
    chosen(data);
}

/// Every panic is a crash, those that the program catches included: but those of the port of libyaml, which are caught
/// where it is called.
fn fence_off_known_panics() {
    std::panic::set_hook(Box::new(|panic| {
        if panic.location().is_some_and(|place| place.file().contains("libyaml-safer")) {
            return;
        }
        eprintln!("{panic}\n{}", std::backtrace::Backtrace::force_capture());
        std::process::abort();
    }));
}

/// Half of the changes are those of the fuzzer, the others know the languages.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = Random::new(u64::from(seed));
    let text = if random.chance(50) { mutated(&data[..size], &mut random) } else { None };
    match text {
        Some(text) if !text.is_empty() && text.len() <= max_size.min(data.len()) => {
            data[..text.len()].copy_from_slice(&text);
            text.len()
        }
        _ => libfuzzer_sys::fuzzer_mutate(data, size, max_size),
    }
}

/// The target and the mutator of a program.
#[macro_export]
macro_rules! fuzzed {
    ($targets:expr) => {
        libfuzzer_sys::fuzz_target!(|data: &[u8]| $crate::run($targets, data));
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            $crate::mutate(data, size, max_size, seed)
        });
    };
}
