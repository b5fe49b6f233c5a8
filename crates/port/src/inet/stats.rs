//! A socket's counters (`inet:getstat`).

#[derive(Default)]
pub struct Stats {
    received: Side,
    sent: Side,
}
#[derive(Default)]
struct Side {
    bytes: u64,
    packets: u64,
    largest: u32,
    average: f64,
    deviation: f64,
}

impl Side {
    fn count(&mut self, n: usize) {
        self.bytes += n as u64;
        self.packets += 1;
        self.largest = self.largest.max(n.min(u32::MAX as usize) as u32);
        self.average += (n as f64 - self.average) / self.packets as f64;
        self.deviation += (n as f64 - self.average - self.deviation) / self.packets as f64;
    }
}

impl Stats {
    pub fn received(&mut self, n: usize) {
        self.received.count(n)
    }
    pub fn sent(&mut self, n: usize) {
        self.sent.count(n)
    }
    /// The requested values. `None`: one is unknown.
    pub fn get(&self, asked: &[u8], pending: usize) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let (r, s) = (&self.received, &self.sent);
        for a in asked {
            out.push(*a);
            let v = match a {
                1 => r.packets as u32,
                2 => r.largest,
                3 => r.average as u32,
                4 => r.deviation.abs() as u32,
                5 => s.packets as u32,
                6 => s.largest,
                7 => s.average as u32,
                8 => pending as u32,
                9 | 10 => {
                    let v = if *a == 9 { r.bytes } else { s.bytes };
                    out.extend(v.to_be_bytes());
                    continue;
                }
                _ => return None,
            };
            out.extend(v.to_be_bytes());
        }
        Some(out)
    }
}
