//! Standard input and output while the world is stopped, for the menu that Ctrl-C opens.

use kvik_env::{fd, pipe, signal, Errno};

use crate::signals;

/// A key for the menu: the first character of a terminal's line. `None`: the input has ended.
pub fn key() -> Option<u8> {
    let mut line = [0; 64];
    loop {
        let (typed, signalled) = match signal::event_fd() {
            Ok(notes) => fd::wait_either(0, notes).ok()?,
            Err(_) => (true, false),
        };
        if signalled {
            signals::dispatch();
        }
        if !typed {
            continue;
        }
        match pipe::read_bytes(0, &mut line) {
            Ok(0) => return None,
            Ok(_) => return Some(line[0]),
            Err(Errno::AGAIN) => {}
            Err(_) => return None,
        }
    }
}

/// Writes all of `text` to standard output, which may be non-blocking.
pub fn say(text: &[u8]) {
    let mut rest = text;
    while !rest.is_empty() {
        match pipe::write(1, rest) {
            Ok(n) => rest = &rest[n..],
            Err(Errno::AGAIN) if fd::wait_ready(1, true, -1).is_ok() => {}
            Err(_) => return,
        }
    }
}
