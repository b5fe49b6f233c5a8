//! MD5 with a state that fits a binary between calls, as `erlang:md5_update/2` requires.

#[derive(Clone)]
pub struct Md5 {
    state: [u32; 4],
    /// Bytes hashed so far.
    count: u64,
    /// The bytes of the incomplete block.
    buffer: [u8; 64],
}

const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
/// Size of a serialized state in bytes.
const SIZE: usize = 16 + 8 + 64;

impl Md5 {
    pub fn new() -> Md5 {
        Md5 {
            state: [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476],
            count: 0,
            buffer: [0; 64],
        }
    }
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(SIZE);
        for w in self.state {
            out.extend_from_slice(&w.to_le_bytes());
        }
        out.extend_from_slice(&self.count.to_le_bytes());
        out.extend_from_slice(&self.buffer);
        out
    }
    pub fn from_bytes(b: &[u8]) -> Option<Md5> {
        if b.len() != SIZE {
            return None;
        }
        let mut m = Md5::new();
        for (w, c) in m.state.iter_mut().zip(b.chunks(4)) {
            *w = u32::from_le_bytes(c.try_into().ok()?);
        }
        m.count = u64::from_le_bytes(b[16..24].try_into().ok()?);
        m.buffer.copy_from_slice(&b[24..]);
        Some(m)
    }
    pub fn update(&mut self, mut bytes: &[u8]) {
        let at = (self.count % 64) as usize;
        self.count = self.count.wrapping_add(bytes.len() as u64);
        if at > 0 {
            let n = bytes.len().min(64 - at);
            self.buffer[at..at + n].copy_from_slice(&bytes[..n]);
            bytes = &bytes[n..];
            if at + n < 64 {
                return;
            }
            let block = self.buffer;
            self.block(&block);
        }
        let (blocks, rest) = bytes.as_chunks::<64>();
        for b in blocks {
            self.block(b);
        }
        self.buffer[..rest.len()].copy_from_slice(rest);
    }
    pub fn finish(mut self) -> [u8; 16] {
        let bits = self.count.wrapping_mul(8);
        let pad = 1 + (119 - self.count % 64) % 64;
        let mut tail = vec![0u8; pad as usize];
        tail[0] = 0x80;
        tail.extend_from_slice(&bits.to_le_bytes());
        self.update(&tail);
        let mut out = [0; 16];
        for (o, w) in out.chunks_mut(4).zip(self.state) {
            o.copy_from_slice(&w.to_le_bytes());
        }
        out
    }
    fn block(&mut self, block: &[u8; 64]) {
        let sines = sines();
        let mut m = [0u32; 16];
        for (w, c) in m.iter_mut().zip(block.as_chunks::<4>().0) {
            *w = u32::from_le_bytes(*c);
        }
        let [mut a, mut b, mut c, mut d] = self.state;
        for i in 0..64 {
            let (f, g) = match i / 16 {
                0 => (b & c | !b & d, i),
                1 => (d & b | !d & c, 5 * i + 1),
                2 => (b ^ c ^ d, 3 * i + 5),
                _ => (c ^ (b | !d), 7 * i),
            };
            let sum = a.wrapping_add(f).wrapping_add(sines[i]).wrapping_add(m[g % 16]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(SHIFTS[i / 16][i % 4]));
        }
        for (s, x) in self.state.iter_mut().zip([a, b, c, d]) {
            *s = s.wrapping_add(x);
        }
    }
}

/// The constants of the 64 steps: fractional parts of sines, in 32 bits.
fn sines() -> &'static [u32; 64] {
    static SINES: std::sync::OnceLock<[u32; 64]> = std::sync::OnceLock::new();
    SINES.get_or_init(|| {
        std::array::from_fn(|i| (((i + 1) as f64).sin().abs() * 4_294_967_296.0) as u32)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_digests() {
        let hex = |b: &[u8]| {
            let mut m = Md5::new();
            for c in b.chunks(7) {
                m.update(c);
                m = Md5::from_bytes(&m.to_bytes()).unwrap();
            }
            m.finish().iter().map(|b| format!("{b:02x}")).collect::<String>()
        };
        assert_eq!(hex(b""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex(b"abc"), "900150983cd24fb0d6963f7d28e17f72");
        let long =
            b"12345678901234567890123456789012345678901234567890123456789012345678901234567890";
        assert_eq!(hex(long), "57edf4a22be3c955ac49da2e2107b67a");
    }
}
