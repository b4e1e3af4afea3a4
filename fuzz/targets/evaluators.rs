#![no_main]

setpoint_libfuzzer::fuzzed!(setpoint_fuzz::evaluators::TARGETS);
