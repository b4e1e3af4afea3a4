//! The repository's own tasks. `cargo xtask bench …` measures Setpoint beside its peers.
fn main() {}
