//! Descriptors of any kind: flags, copies, waiting for one. Reading and writing them is in
//! [`crate::file`], [`crate::pipe`] and [`crate::socket`].

pub use kvik_sys::fd::{
    adopt, bytes_ready, close, duplicate, hung_up, is_open, limit, set_nonblocking, socket_pair,
    takes, wait_either, wait_ready,
};
