//! Queued packets. Their headers are written when they leave, as they depend on the other node's
//! atom cache, and so on every earlier packet.

use kvik_etf::{tag, SendCache};
use kvik_term::Atom;

/// First byte of packets without a distribution header.
pub const PASS_THROUGH: u8 = 112;
/// Kind of header, follows the version byte.
pub const HEADER: u8 = 68;
pub const FIRST_FRAGMENT: u8 = 69;
pub const NEXT_FRAGMENT: u8 = 70;

/// Bytes of a message in one fragment, as in OTP.
pub const FRAGMENT_BYTES: usize = 64 * 1024;

/// The kind of header.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Form {
    PassThrough,
    Header,
    /// The message's number, and the count of fragments left, including this one.
    FirstFragment(u64, u64),
    NextFragment(u64, u64),
}

pub struct Packet {
    pub form: Form,
    /// The atoms that the body's references stand for.
    pub atoms: Vec<Atom>,
    pub body: Vec<u8>,
}

impl Packet {
    /// Size charged to the queue.
    pub fn len(&self) -> usize {
        self.body.len() + 16
    }
    /// Writes the header. Call in the order of sending.
    pub fn header(&self, cache: &mut SendCache) -> Vec<u8> {
        let mut out = Vec::with_capacity(32);
        let fragment = |out: &mut Vec<u8>, kind, message: u64, left: u64| {
            out.extend_from_slice(&[tag::VERSION, kind]);
            out.extend_from_slice(&message.to_be_bytes());
            out.extend_from_slice(&left.to_be_bytes());
        };
        match self.form {
            Form::PassThrough => out.push(PASS_THROUGH),
            Form::Header => out.extend_from_slice(&[tag::VERSION, HEADER]),
            Form::FirstFragment(message, left) => fragment(&mut out, FIRST_FRAGMENT, message, left),
            Form::NextFragment(message, left) => fragment(&mut out, NEXT_FRAGMENT, message, left),
        }
        if matches!(self.form, Form::Header | Form::FirstFragment(..)) {
            cache.write_header(&self.atoms, &mut out);
        }
        out
    }
}
