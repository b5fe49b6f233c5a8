//! Which natives the running release calls.

use kvik_release::SocketNatives;

pub fn natives() -> SocketNatives {
    kvik_release::current().socket_natives()
}
