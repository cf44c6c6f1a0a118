//! What the targets in `fuzz_targets` share.

/// Half of the inputs are changed as JSON, the other half as bytes.
#[macro_export]
macro_rules! json_mutator {
    () => {
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            if seed % 2 == 0
                && let Some(changed) = leafgp_hostile::changed(&data[..size], seed / 2)
                && changed.len() <= max_size
            {
                data[..changed.len()].copy_from_slice(&changed);
                return changed.len();
            }
            libfuzzer_sys::fuzzer_mutate(data, size, max_size)
        });
    };
}
