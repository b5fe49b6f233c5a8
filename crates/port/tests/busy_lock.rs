//! No event is lost while another thread holds a port's lock.

mod common;

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::Arc;

use kvik_port::driver::{Driver, Flow, Ready};
use kvik_port::port::Core;
use kvik_port::{Port, PortOptions};

/// A driver that notes at each event how much has come.
struct Watch {
    came: Arc<AtomicU32>,
    seen: Arc<AtomicU32>,
}
impl Driver for Watch {
    fn output(&mut self, _: &mut Core, _: &[u8]) -> Flow {
        std::hint::black_box((0..50).sum::<u64>());
        Ok(())
    }
    fn ready(&mut self, _: &mut Core, why: Ready, buffer: &mut [u8]) -> Flow {
        assert!(why == Ready::Input { hangup: true } && !buffer.is_empty());
        self.seen.store(self.came.load(SeqCst), SeqCst);
        Ok(())
    }
    fn stop(&mut self, _: &mut Core) {}
}

#[test]
fn lock_holder_serves_ready_descriptors() {
    common::mail();
    let (came, seen) = <(Arc<AtomicU32>, Arc<AtomicU32>)>::default();
    let driver = Box::new(Watch { came: came.clone(), seen: seen.clone() });
    let port = Port::with_driver(1, b"watch".to_vec(), &PortOptions::default(), driver, |_, _| ());
    let port = port.unwrap();
    for _ in 0..200 {
        std::thread::scope(|s| {
            s.spawn(|| {
                for _ in 0..500 {
                    port.command(1, b"x", false);
                }
            });
            s.spawn(|| {
                let mut buffer = [0; 16];
                for _ in 0..500 {
                    came.fetch_add(1, SeqCst);
                    port.ready(Ready::Input { hangup: true }, &mut buffer);
                }
            });
        });
        assert_eq!(seen.load(SeqCst), came.load(SeqCst));
    }
}
