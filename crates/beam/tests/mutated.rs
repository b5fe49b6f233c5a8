//! Damaged files: reading and verifying terminates with a result, whatever the bytes.
//!
//! Real modules are mutated with a fixed seed: bits flipped, bytes replaced, the end cut off,
//! chunks exchanged, sizes forged, and (to reach the verifier) bytes of the code chunk alone
//! changed. A panic or an endless loop fails the test; refusal and acceptance don't.

mod common;

use kvik_beam::{verify, BeamError, Code, Container, Module};

const VARIANTS_EACH: usize = 400;
const MODULES: [&str; 8] = [
    "lists",
    "gen_server",
    "erl_scan",
    "maps",
    "application_master",
    "prim_eval",
    "base64",
    "timer",
];

/// xorshift: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize
    }

    fn below(&mut self, limit: usize) -> usize {
        self.next() % limit.max(1)
    }
}

fn load(bytes: &[u8]) -> Result<usize, BeamError> {
    let file = Container::parse(bytes)?;
    let module = Module::parse(&file)?;
    let code = Code::decode(&module)?;
    let proof = verify(&module, &code)?;
    Ok((0..code.ops.len()).filter(|at| proof.checked_needed(*at)).count())
}

/// Where the chunks are: start of the contents, and length.
fn chunks(bytes: &[u8]) -> Vec<([u8; 4], usize, usize)> {
    let mut found = Vec::new();
    let mut at = 12;
    while at + 8 <= bytes.len() {
        let id = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        let size = u32::from_be_bytes([bytes[at + 4], bytes[at + 5], bytes[at + 6], bytes[at + 7]]);
        found.push((id, at + 8, size as usize));
        at += 8 + (size as usize).next_multiple_of(4);
    }
    found
}

fn mutate(original: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = original.to_vec();
    let chunks = chunks(original);
    let (_, start, size) = chunks[random.below(chunks.len())];
    match random.below(8) {
        0 => bytes.truncate(random.below(original.len())),
        1 => {
            for _ in 0..1 + random.below(8) {
                let at = random.below(original.len());
                bytes[at] ^= 1 << random.below(8);
            }
        }
        2 => {
            let forged = [0, 1, 4, u32::MAX, u32::MAX / 2, size as u32 + 1][random.below(6)];
            bytes[start - 4..start].copy_from_slice(&forged.to_be_bytes());
        }
        3 => {
            let (_, other, other_size) = chunks[random.below(chunks.len())];
            let length = size.min(other_size);
            let moved = original[other..other + length].to_vec();
            bytes[start..start + length].copy_from_slice(&moved);
        }
        4 if size >= 4 => {
            let at = start + 4 * random.below(size / 4);
            let forged = [0, 1, 255, 256, u32::MAX, i32::MAX as u32][random.below(6)];
            bytes[at..at + 4].copy_from_slice(&forged.to_be_bytes());
        }
        // The code alone, past its header: bytes that pass the decoder reach the verifier.
        _ => {
            let code = chunks.iter().find(|(id, ..)| id == b"Code").expect("a code chunk");
            for _ in 0..1 + random.below(3) {
                let at = code.1 + 24 + random.below(code.2 - 24);
                bytes[at] = match random.below(3) {
                    0 => bytes[at] ^ 1 << random.below(8),
                    1 => bytes[at].wrapping_add(16),
                    _ => random.next() as u8,
                };
            }
        }
    }
    bytes
}

#[test]
fn damaged_files_are_answered_without_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut accepted, mut by_verifier, mut refused) = (0, 0, 0);
    for path in common::installed() {
        let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
        if !MODULES.contains(&stem) {
            continue;
        }
        let original = std::fs::read(&path).expect("readable file");
        load(&original).expect("an undamaged file");
        for _ in 0..VARIANTS_EACH {
            match load(&mutate(&original, &mut random)) {
                Ok(_) => accepted += 1,
                Err(BeamError::Unsafe(_)) => by_verifier += 1,
                Err(_) => refused += 1,
            }
        }
    }
    println!("accepted {accepted}, refused by the verifier {by_verifier}, before it {refused}");
}
