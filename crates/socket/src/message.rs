//! A received message: `#{iov, ctrl, flags, addr}`.

use kvik_env::socket::raw::Envelope;
use kvik_heap::Heap;
use kvik_release::SocketNatives;
use kvik_term::Term;

use crate::answer::{flag_list, record};
use crate::supports::MESSAGE_FLAGS;
use crate::{address, control};

pub fn encode<'h>(
    h: &'h Heap,
    data: Term<'h>,
    control: &[u8],
    e: &Envelope,
    natives: SocketNatives,
) -> Term<'h> {
    let mut fields = vec![
        ("iov", h.list(&[data])),
        ("ctrl", control::decode(h, control, false, natives)),
        ("flags", flag_list(h, MESSAGE_FLAGS, e.flags)),
    ];
    // A connected socket does not report where messages come from.
    if !e.from.bytes().is_empty() {
        fields.push(("addr", address::encode(h, e.from.bytes())));
    }
    record(h, &fields)
}
