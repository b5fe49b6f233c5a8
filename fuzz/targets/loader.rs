#![no_main]
#![forbid(unsafe_code)]

use kvik_fuzz::damage;

libfuzzer_sys::fuzz_target!(|file: &[u8]| kvik_fuzz::loader::run(file));

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    let damaged = damage::module(&data[..size], most, seed, &mut |bytes| {
        let len = bytes.len();
        bytes.resize(len + damage::GROWTH, 0);
        let len = libfuzzer_sys::fuzzer_mutate(bytes, len, len + damage::GROWTH);
        bytes.truncate(len);
    });
    data[..damaged.len()].copy_from_slice(&damaged);
    damaged.len()
});
