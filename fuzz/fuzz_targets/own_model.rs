#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| leafgp_hostile::own_model(bytes));
leafgp_fuzz::json_mutator!();
