#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| leafgp_hostile::model(bytes));
