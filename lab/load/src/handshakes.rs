//! TLS handshakes: a thread for each that is under way at a time. A request is a connection, a full
//! handshake, and its end.

use super::load::{LoadPhase, Probe};
use super::wire::Wire;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub struct Handshakes {
    pub port: u16,
    pub at_once: usize,
}

/// When handshakes are due, in seconds from the beginning: every so often, or as soon as one is free.
#[derive(Clone, Copy)]
struct Schedule {
    interval: Option<f64>,
    end: f64,
}

impl Handshakes {
    pub fn saturate(&self, [warm, time]: [Duration; 2], probe: Probe) -> Result<LoadPhase, String> {
        self.run(Schedule { interval: None, end: warm.as_secs_f64() })?;
        self.measured(Schedule { interval: None, end: time.as_secs_f64() }, probe)
    }

    pub fn at_rate(
        &self,
        rate: f64,
        [warm, time]: [Duration; 2],
        probe: Probe,
    ) -> Result<LoadPhase, String> {
        let interval = Some(1.0 / rate);
        self.run(Schedule { interval, end: warm.as_secs_f64() })?;
        self.measured(Schedule { interval, end: time.as_secs_f64() }, probe)
    }

    fn measured(&self, schedule: Schedule, probe: Probe) -> Result<LoadPhase, String> {
        let client = || kvik_sys::usage::cpu_time_ns() as f64 / 1e9;
        probe();
        let (begin, used) = (Instant::now(), client());
        let (mut latencies, mut lags) = self.run(schedule)?;
        let (seconds, client_seconds) = (begin.elapsed().as_secs_f64(), client() - used);
        probe();
        latencies.sort_unstable();
        lags.sort_unstable();
        Ok(LoadPhase { answers: latencies.len() as u64, seconds, client_seconds, latencies, lags })
    }

    /// Times from when each handshake was due, and how late a thread that was free began it.
    fn run(&self, schedule: Schedule) -> Result<(Vec<u64>, Vec<u64>), String> {
        let next = AtomicU64::new(1);
        let all = Mutex::new((Vec::new(), Vec::new()));
        let begin = Instant::now();
        let now = || begin.elapsed().as_secs_f64();
        let nanos = |seconds: f64| (seconds.max(0.0) * 1e9) as u64;
        let work = || {
            let (mut latencies, mut lags) = (Vec::new(), Vec::new());
            loop {
                let due = match schedule.interval {
                    None => now(),
                    Some(interval) => interval * next.fetch_add(1, Ordering::Relaxed) as f64,
                };
                if due >= schedule.end {
                    break;
                }
                let early = due - now();
                if early > 0.0 {
                    std::thread::sleep(Duration::from_secs_f64(early));
                    lags.push(nanos(now() - due));
                }
                Wire::connect_tls(self.port).map_err(|e| format!("handshake: {e}"))?;
                latencies.push(nanos(now() - due));
            }
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.0.append(&mut latencies);
            all.1.append(&mut lags);
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.at_once).map(|_| scope.spawn(work)).collect();
            let joined =
                threads.into_iter().map(|t| t.join().map_err(|_| "a thread".to_owned())?);
            joined.collect::<Result<(), String>>()
        })?;
        Ok(all.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}
