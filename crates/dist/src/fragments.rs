//! Large messages: sent in fragments, interleaved with other signals, and reassembled.
//!
//! The sender leaves a copy of its message (off-heap binaries are shared) and is suspended until
//! the last fragment is queued. Fragments are encoded when there is room for them.

use std::collections::{BTreeMap, VecDeque};

use kvik_etf::{AtomRefs, Encoding};
use kvik_heap::{BinRef, Heap, SuspendedState, Writer};
use kvik_term::{Atom, Term};

use crate::packet::{Form, Packet, FRAGMENT_BYTES};
use crate::signal::encode_opts;

/// Encoding steps between two checks of the length.
const STEPS_PER_LENGTH_CHECK: usize = 256;

struct Encoded;
impl SuspendedState for Encoded {
    type In<'h> = Encoding<'h>;
}

/// A message some of whose fragments are not encoded yet.
pub struct LargeMessage {
    /// The sender: its later signals stay behind this message.
    from: Option<u32>,
    /// The process that is suspended until the last fragment is in the queue.
    waits: Option<u32>,
    number: u64,
    fragments_left: u64,
    /// Header of the first fragment, until that is encoded.
    head: Option<(Vec<Atom>, Vec<u8>)>,
    /// The copy, with its encoding pinned to it.
    heap: Heap,
    /// Signals that the sender has sent since.
    behind: VecDeque<OutgoingSignal>,
}

/// An encoded signal to send.
pub enum OutgoingSignal {
    Packet(Packet),
    Large(Box<LargeMessage>),
}

impl LargeMessage {
    /// `control`: the encoded operation, whose atoms are the first of `atoms`.
    pub fn new(
        from: Option<u32>,
        control: Vec<u8>,
        payload: Term<'_>,
        atoms: Option<AtomRefs>,
    ) -> LargeMessage {
        let heap = Heap::detached();
        let (fragments_left, names) = {
            let t = heap.copy(payload);
            let mut e = Encoding::measuring(t, encode_opts(), atoms);
            while !e.run(&mut { usize::MAX }) {}
            let fragments = e.len().div_ceil(FRAGMENT_BYTES).max(1) as u64;
            let (atoms, sizes) = e.into_parts();
            let names = atoms.as_ref().map_or(Vec::new(), |a| a.atoms().to_vec());
            heap.suspend_with::<Encoded>(Encoding::measured(t, encode_opts(), (atoms, sizes)));
            (fragments, names)
        };
        LargeMessage {
            from,
            waits: None,
            number: 0,
            fragments_left,
            head: Some((names, control)),
            heap,
            behind: VecDeque::new(),
        }
    }
    fn next_fragment(&mut self) -> Packet {
        let left = self.fragments_left;
        self.fragments_left -= 1;
        let mut body = Vec::new();
        if let Some(mut e) = self.heap.resume_with::<Encoded>() {
            let mut done = false;
            while !done && (e.bytes().len() < FRAGMENT_BYTES || left == 1) {
                done = e.run(&mut { STEPS_PER_LENGTH_CHECK });
            }
            body = e.take(if left == 1 { usize::MAX } else { FRAGMENT_BYTES });
            if left > 1 {
                self.heap.suspend_with::<Encoded>(e);
            }
        }
        match self.head.take() {
            Some((atoms, mut control)) => {
                control.extend_from_slice(&body);
                Packet { form: Form::FirstFragment(self.number, left), atoms, body: control }
            }
            None => {
                let form = Form::NextFragment(self.number, left);
                Packet { form, atoms: Vec::new(), body }
            }
        }
    }
}
impl Drop for LargeMessage {
    fn drop(&mut self) {
        self.heap.forget_suspended();
    }
}

/// All large messages of a connection.
#[derive(Default)]
pub struct LargeMessages {
    /// Served round-robin, one fragment each.
    all: VecDeque<Box<LargeMessage>>,
    last_number: u64,
}

impl LargeMessages {
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
    /// The signals queued behind a large message of that process, if it has one.
    fn before(&mut self, from: Option<u32>) -> Option<&mut VecDeque<OutgoingSignal>> {
        let from = Some(from?);
        self.all.iter_mut().find(|m| m.from == from).map(|m| &mut m.behind)
    }
    /// Returns the signal if it need not wait.
    pub fn hold_back(&mut self, from: Option<u32>, s: OutgoingSignal) -> Option<OutgoingSignal> {
        match self.before(from) {
            Some(behind) => {
                behind.push_back(s);
                None
            }
            None => Some(s),
        }
    }
    pub fn add(&mut self, mut m: Box<LargeMessage>) {
        self.last_number += 1;
        m.number = self.last_number;
        self.all.push_back(m);
    }
    /// Marks a process as suspended until its large message is queued; false if it has none.
    pub fn wait(&mut self, pid: u32) -> bool {
        let m = self.all.iter_mut().find(|m| m.from == Some(pid));
        m.map(|m| m.waits = Some(pid)).is_some()
    }
    /// Emits another fragment, and the signals behind a finished message; adds processes to resume
    /// to `resumed`.
    pub fn next(&mut self, out: &mut Vec<Packet>, resumed: &mut Vec<u32>) {
        let Some(mut m) = self.all.pop_front() else { return };
        out.push(m.next_fragment());
        if m.fragments_left > 0 {
            return self.all.push_back(m);
        }
        resumed.extend(m.waits);
        let mut behind = std::mem::take(&mut m.behind);
        while let Some(s) = behind.pop_front() {
            match s {
                OutgoingSignal::Packet(p) => out.push(p),
                OutgoingSignal::Large(mut next) => {
                    next.behind = behind;
                    return self.add(next);
                }
            }
        }
    }
    /// The suspended processes.
    pub fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        self.all.iter().filter_map(|m| m.waits)
    }
}

/// An incoming message with fragments missing.
struct Incoming {
    /// The number of the next fragment; numbers count down to 1.
    next: u64,
    atoms: Vec<Atom>,
    bytes: Writer,
}

/// Incoming messages of a connection, by the numbers the other node assigned.
#[derive(Default)]
pub struct IncomingMessages(BTreeMap<u64, Incoming>);

/// A complete signal with its message.
pub struct Whole {
    pub atoms: Vec<Atom>,
    pub bytes: BinRef,
}

impl IncomingMessages {
    /// Begins a message with the first of `left` fragments. `None`: the number is in use already.
    pub fn begin(&mut self, number: u64, left: u64, atoms: Vec<Atom>, body: &[u8]) -> Option<()> {
        if number == 0 || left == 0 || self.0.contains_key(&number) {
            return None;
        }
        let mut bytes = Writer::default();
        bytes.push(body);
        self.0.insert(number, Incoming { next: left, atoms, bytes });
        Some(())
    }
    /// Accounts for a fragment that was appended; returns the message after its last one. `Err`:
    /// the fragment is out of sequence.
    pub fn came(&mut self, number: u64, left: u64) -> Result<Option<Whole>, ()> {
        let m = self.0.get_mut(&number).filter(|m| m.next == left).ok_or(())?;
        m.next -= 1;
        if m.next > 0 {
            return Ok(None);
        }
        let m = self.0.remove(&number).ok_or(())?;
        Ok(Some(Whole { atoms: m.atoms, bytes: m.bytes.into_binary() }))
    }
    pub fn append(&mut self, number: u64, body: &[u8]) {
        if let Some(m) = self.0.get_mut(&number) {
            m.bytes.push(body);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvik_etf::{DecodeOpts, Decoding, ReceiveCache, SendCache};
    use kvik_term::{am, cmp};

    /// A placeholder for the operation before the message.
    const CONTROL: [u8; 3] = [7, 8, 9];

    fn message<'h>(h: &'h Heap, words: i64) -> Term<'h> {
        let list: Vec<Term> = (0..words).map(|i| h.integer(i * 77_777)).collect();
        h.tuple(&[am::ok.into(), h.list(&list), h.binary(&vec![words as u8; words as usize])])
    }
    fn large(from: u32, payload: Term<'_>) -> Box<LargeMessage> {
        let refs = Some(AtomRefs::default());
        Box::new(LargeMessage::new(Some(from), CONTROL.to_vec(), payload, refs))
    }
    fn small(n: u8) -> OutgoingSignal {
        OutgoingSignal::Packet(Packet { form: Form::Header, atoms: Vec::new(), body: vec![n] })
    }
    /// Simulates the receiver: packets with their headers, in the order of sending.
    fn receive(packets: &[Packet]) -> Vec<Whole> {
        let (mut send, mut receive) = (SendCache::default(), ReceiveCache::default());
        let (mut incoming, mut whole) = (IncomingMessages::default(), Vec::new());
        for p in packets {
            let header = p.header(&mut send);
            let (number, left) = match p.form {
                Form::FirstFragment(number, left) => {
                    let (atoms, at) = receive.read_header(&header[18..]).expect("a header");
                    assert_eq!(at, header.len() - 18);
                    incoming.begin(number, left, atoms, &p.body).expect("a new number");
                    (number, left)
                }
                Form::NextFragment(number, left) => {
                    incoming.append(number, &p.body);
                    (number, left)
                }
                _ => continue,
            };
            whole.extend(incoming.came(number, left).expect("the fragment that had to come"));
        }
        whole
    }

    #[test]
    fn fragments_of_several_messages_become_whole_again() {
        let h = Heap::new(1 << 16);
        let sizes = [1, 30_000, 60_000, 200_000];
        let mut all = LargeMessages::default();
        sizes.iter().zip(1..).for_each(|(n, pid)| all.add(large(pid, message(&h, *n))));
        let (mut packets, mut resumed) = (Vec::new(), Vec::new());
        while !all.is_empty() {
            all.next(&mut packets, &mut resumed);
        }
        assert!(resumed.is_empty(), "nobody waits");
        assert!(packets.iter().all(|p| p.body.len() <= FRAGMENT_BYTES + CONTROL.len()));
        let whole = receive(&packets);
        assert_eq!(whole.len(), sizes.len());
        // The shortest message completes first, as fragments are sent round-robin.
        for (w, n) in whole.iter().zip(sizes) {
            let bytes = w.bytes.bytes();
            assert_eq!(bytes[..3], CONTROL);
            let opts = DecodeOpts { atoms: &w.atoms, ..DecodeOpts::default() };
            let mut d = Decoding::bare(3, opts);
            let got = loop {
                if let Some((t, _)) = d.run(bytes, &h, &mut usize::MAX.clone()).expect("a term") {
                    break t;
                }
            };
            assert!(cmp::eq_exact(got, message(&h, n)));
        }
    }

    #[test]
    fn later_signals_wait_for_the_senders_large_message() {
        let h = Heap::new(1 << 16);
        let mut all = LargeMessages::default();
        all.add(large(1, message(&h, 60_000)));
        assert!(all.hold_back(Some(1), small(1)).is_none());
        assert!(all
            .hold_back(Some(1), OutgoingSignal::Large(large(1, message(&h, 40_000))))
            .is_none());
        assert!(all.hold_back(Some(1), small(2)).is_none());
        assert!(all.hold_back(Some(2), small(3)).is_some(), "another process's goes");
        assert!(all.wait(1) && !all.wait(2));
        let (mut packets, mut resumed) = (Vec::new(), Vec::new());
        while !all.is_empty() {
            all.next(&mut packets, &mut resumed);
        }
        let order: Vec<(u64, usize)> = packets
            .iter()
            .map(|p| match p.form {
                Form::FirstFragment(n, _) | Form::NextFragment(n, _) => (n, 0),
                _ => (0, p.body[0] as usize),
            })
            .collect();
        let mut parts = order.clone();
        parts.dedup();
        assert_eq!(parts, [(1, 0), (0, 1), (2, 0), (0, 2)]);
        assert_eq!(resumed, [1]);
        assert_eq!(receive(&packets).len(), 2);
    }

    #[test]
    fn fragments_out_of_their_order_are_refused() {
        let mut incoming = IncomingMessages::default();
        assert!(incoming.begin(0, 2, Vec::new(), &[]).is_none());
        assert!(incoming.begin(1, 0, Vec::new(), &[]).is_none());
        assert!(incoming.begin(1, 3, Vec::new(), &[]).is_some());
        assert!(incoming.begin(1, 3, Vec::new(), &[]).is_none(), "there is such a message");
        assert!(incoming.came(1, 3).is_ok());
        assert!(incoming.came(1, 1).is_err() && incoming.came(2, 1).is_err());
        assert!(incoming.came(1, 2).is_ok_and(|w| w.is_none()));
        assert!(incoming.came(1, 1).is_ok_and(|w| w.is_some()));
        assert!(incoming.came(1, 0).is_err());
    }
}
