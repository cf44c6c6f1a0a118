#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| leafgp_hostile::instance(bytes));
leafgp_fuzz::json_mutator!();
