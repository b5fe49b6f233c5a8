//! The mailbox alone: gaps, markers, the chain of newest messages.

use super::*;
use kvik_term::Term;

fn int(i: i32) -> OwnedTerm {
    OwnedTerm::immediate(Term::int(i))
}
fn next(m: &mut Mailbox) -> Option<i64> {
    m.current().and_then(|t| t.term().as_small())
}

#[test]
fn selective_receive_and_gaps() {
    let mut m = Mailbox::default();
    (0..200).for_each(|i| m.push(int(i)));
    for i in (1..200).step_by(2) {
        while next(&mut m) != Some(i) {
            m.skip();
        }
        assert_eq!(m.take().and_then(|t| t.message.term().as_small()), Some(i));
    }
    assert_eq!(m.len(), 100);
    let left: Vec<_> = m.iter().filter_map(|t| t.term().as_small()).collect();
    assert_eq!(left, (0..200).step_by(2).collect::<Vec<i64>>());
    assert_eq!(next(&mut m), Some(0));
}

fn chain(range: std::ops::Range<i32>) -> (Chain<Signal>, usize) {
    let inbox = kvik_sync::inbox::Inbox::default();
    let n = range.len();
    for i in range {
        inbox.push(kvik_sync::InboxNode::new(Signal::Message(int(i))));
    }
    (inbox.take(|_| ()), n)
}
/// Takes a message out of the middle, and restores the save pointer.
fn take_out(m: &mut Mailbox, value: i64) -> Option<OwnedTerm> {
    let save = m.save;
    while next(m)? != value {
        m.skip();
    }
    let taken = m.take();
    m.save = save;
    taken.map(|t| t.message)
}
fn append(m: &mut Mailbox, range: std::ops::Range<i32>) {
    let (c, n) = chain(range);
    m.append(c, n);
}

#[test]
fn fresh_messages_come_after_the_others() {
    let mut m = Mailbox::default();
    append(&mut m, 0..3);
    append(&mut m, 3..5);
    assert_eq!((m.len(), m.front_words()), (5, Some(0)));
    assert_eq!(m.take_front().and_then(|t| t.term().as_small()), Some(0));
    m.put_before(int(0));
    assert_eq!((m.len(), next(&mut m)), (5, Some(1)));
    m.skip();
    append(&mut m, 5..6);
    m.push(int(6));
    append(&mut m, 7..8);
    let all: Vec<_> = m.iter().filter_map(|t| t.term().as_small()).collect();
    assert_eq!(all, (0..8).collect::<Vec<_>>());
    assert_eq!(take_out(&mut m, 7).map(|m| m.words()), Some(0));
    for i in 2..7 {
        assert_eq!(next(&mut m), Some(i));
        m.skip();
    }
    assert!(m.at_end() && !m.has_next());
}

#[test]
fn a_marker_among_fresh_messages() {
    let mut m = Mailbox::default();
    append(&mut m, 0..3);
    for i in 0..2 {
        assert_eq!(next(&mut m), Some(i));
        m.skip();
    }
    assert_eq!(next(&mut m), Some(2));
    append(&mut m, 3..5);
    let (r, k) = (RefId([1, 2, 3]), m.reserve());
    m.bind(k, r);
    assert_eq!(m.take().and_then(|t| t.message.term().as_small()), Some(2));
    append(&mut m, 5..7);
    m.use_marker(r);
    assert_eq!(next(&mut m), Some(5));
    m.take();
    assert_eq!(m.len(), 5);
    m.use_marker(r);
    assert_eq!(next(&mut m), Some(6));
}

#[test]
fn a_receive_fetches_when_it_comes_to_what_it_does_not_know() {
    let mut m = Mailbox::default();
    append(&mut m, 0..2);
    append(&mut m, 2..4);
    m.note_unfetched(2, false);
    assert_eq!(take_out(&mut m, 1).map(|m| m.words()), Some(0));
    m.fetch_to_look();
    assert_eq!(m.unfetched(false), 2);
    m.skip();
    m.fetch_to_look();
    assert_eq!((next(&mut m), m.unfetched(false)), (Some(2), 0));
    // Messages that came after one on the heap are fetched once that is examined.
    append(&mut m, 4..5);
    m.note_unfetched(1, true);
    assert_eq!((m.unfetched(true), m.unfetched(false)), (1, 0));
}

#[test]
fn skipped_message_does_not_slow_receive() {
    let mut m = Mailbox::default();
    (0..20_000).for_each(|i| m.push(int(i)));
    let mut steps = 0;
    for i in 1..20_000 {
        while next(&mut m) != Some(i) {
            m.skip();
        }
        steps += m.save - m.base;
        assert_eq!(m.take().and_then(|t| t.message.term().as_small()), Some(i));
    }
    assert!(steps < 20_000 * 500 && m.len() == 1);
}

#[test]
fn markers_skip_what_came_before() {
    let mut m = Mailbox::default();
    (0..100).for_each(|i| m.push(int(i)));
    let r = RefId([1, 2, 3]);
    let k = m.reserve();
    m.bind(k, r);
    take_out(&mut m, 99);
    m.push(int(1000));
    m.use_marker(r);
    assert_eq!(next(&mut m), Some(1000));
    m.take();
    assert_eq!(next(&mut m), Some(0));
    m.unbind(r);
    m.use_marker(r);
    assert_eq!(next(&mut m), Some(0));
}

/// The messages in the order in which receives that take any message get them.
fn take_all(m: &mut Mailbox) -> Vec<i64> {
    std::iter::from_fn(|| {
        next(m)?;
        m.assert_invariants();
        m.take()?.message.term().as_small()
    })
    .collect()
}

#[test]
fn priority_messages_come_first_in_their_order() {
    let mut m = Mailbox::default();
    (0..3).for_each(|i| m.push(int(i)));
    append(&mut m, 3..5);
    (10..12).for_each(|i| m.push_priority(int(i), None));
    m.push(int(5));
    m.push_priority(int(12), None);
    m.assert_invariants();
    assert_eq!(m.len(), 9);
    assert_eq!(take_all(&mut m), [10, 11, 12, 0, 1, 2, 3, 4, 5]);
    assert!(m.is_empty() && m.priority == 0);
}

#[test]
fn a_receive_examines_a_new_priority_message_and_goes_on_where_it_was() {
    let mut m = Mailbox::default();
    (0..4).for_each(|i| m.push(int(i)));
    m.push_priority(int(10), None);
    let mut seen = Vec::new();
    for step in 0..8 {
        if step == 3 {
            (11..13).for_each(|i| m.push_priority(int(i), None));
        }
        m.assert_invariants();
        seen.extend(next(&mut m));
        m.skip();
    }
    assert_eq!(seen, [10, 0, 1, 11, 12, 2, 3]);
    assert!(m.at_end());
    // With everything examined, too.
    m.push_priority(int(13), None);
    assert_eq!(next(&mut m), Some(13));
    m.skip();
    assert!(m.at_end());
    m.restart();
    assert_eq!(take_all(&mut m), [10, 11, 12, 13, 0, 1, 2, 3]);
}

#[test]
fn gaps_among_priority_messages_are_passed() {
    let mut m = Mailbox::default();
    (0..100).for_each(|i| m.push(int(i)));
    (100..200).for_each(|i| m.push_priority(int(i), None));
    for i in (101..199).step_by(2).chain((1..99).step_by(2)) {
        assert!(take_out(&mut m, i).is_some());
        m.restart();
        m.assert_invariants();
    }
    let even = |range: std::ops::Range<i64>| range.filter(|i| i % 2 == 0 || [99, 199].contains(i));
    assert_eq!(take_all(&mut m), even(100..200).chain(even(0..100)).collect::<Vec<_>>());
}

#[test]
fn a_marker_skips_ordinary_messages_only() {
    let mut m = Mailbox::default();
    (0..5).for_each(|i| m.push(int(i)));
    m.push_priority(int(10), None);
    let (id, marker) = (RefId([1, 2, 3]), m.reserve());
    m.bind(marker, id);
    m.push(int(5));
    m.push_priority(int(11), None);
    m.use_marker(id);
    let mut seen = Vec::new();
    while let Some(n) = next(&mut m) {
        seen.push(n);
        m.assert_invariants();
        m.skip();
    }
    assert_eq!(seen, [10, 11, 5]);
}
