//! What is logged of packets that no node sends. They end their connection.

use kvik_proc::exit::{log_error_without_leader, log_warning_without_leader};
use kvik_proc::node as this;
use kvik_term::print;
use kvik_term::{Atom, Term};

use crate::connect::From;

/// Subterms and characters of an invalid operation that are shown.
const PARTS_SHOWN: usize = 200;
/// Bytes of a packet that are shown. OTP shows all.
const BYTES_SHOWN: usize = 1 << 20;

fn quoted(a: Atom) -> Vec<u8> {
    print::display(a.into())
}

/// `A got a corrupted WHAT from B on distribution channel N`
fn corrupted(what: &str, from: &From<'_>) -> Vec<u8> {
    let mut text = quoted(this::name());
    text.extend_from_slice(format!(" got a corrupted {what} from ").as_bytes());
    text.extend(quoted(from.node.name));
    let channel = from.node.name.index();
    text.extend_from_slice(format!(" on distribution channel {channel}\n").as_bytes());
    text
}

/// `1,2,3>>` behind `begin`, which is left out if there are no bytes.
fn put_bytes(text: &mut Vec<u8>, begin: &str, bytes: &[u8]) {
    for (i, b) in bytes.iter().take(BYTES_SHOWN).enumerate() {
        let before = if i == 0 { begin } else { "," };
        text.extend_from_slice(format!("{before}{b}").as_bytes());
    }
    text.extend_from_slice(if bytes.len() > BYTES_SHOWN { b",...>>" } else { b">>" });
}

/// A packet without a version byte.
pub fn incompatible(from: &From<'_>) {
    let channel = from.node.name.index();
    let text = format!("** Got message from incompatible erlang on channel {channel}\n");
    log_error_without_leader(None, text.as_bytes());
}

/// A packet whose distribution header cannot be read.
pub fn header(from: &From<'_>, packet: &[u8]) {
    let mut text = corrupted("distribution header", from);
    put_bytes(&mut text, "<<", packet);
    log_warning_without_leader(None, &text);
}

/// An operation or payload that cannot be decoded. `atoms` are what its references stand for.
pub fn term(from: &From<'_>, bytes: &[u8], atoms: &[Atom], receiver: Option<u32>) {
    let mut text = corrupted("external term", from);
    put_bytes(&mut text, "<<...,", bytes);
    text.extend_from_slice(b"\nATOM_CACHE_REF translations: ");
    if atoms.is_empty() {
        text.extend_from_slice(b"none");
    }
    for (i, a) in atoms.iter().enumerate() {
        let before = if i == 0 { "" } else { ", " };
        text.extend_from_slice(format!("{before}{i}=").as_bytes());
        text.extend(quoted(*a));
    }
    log_warning_without_leader(receiver, &text);
}

/// A term that is no operation of the protocol.
pub fn operation(t: Term<'_>) {
    let mut text = b"Invalid distribution message: ".to_vec();
    text.extend(print::display_up_to(t, PARTS_SHOWN));
    log_error_without_leader(None, &text);
}
