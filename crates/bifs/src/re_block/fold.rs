//! Repeated groups. PCRE 8 writes a group as often as it must match, and further optional copies
//! within each other: `(a){2,4}` is `(a)(a)(?:(a)(a)?)?`, where all copies have the same number.
//! The pattern can only have one of them, with a repeat.

use super::opcodes::{GroupKind, Ket, Mode};
use super::parse::{Bounds, PatternToken, PatternTokens, ONCE};

/// A group and how often it is repeated.
#[derive(Debug, PartialEq)]
pub struct Folded {
    /// The token that opens the group.
    pub group: usize,
    pub bounds: Bounds,
    /// The token behind the last copy.
    pub next: usize,
}

/// The group at a token, or behind a token that makes it optional.
pub fn fold(p: &mut PatternTokens<'_>, at: usize) -> Option<Folded> {
    match p.tokens.get(at)? {
        PatternToken::Optional(mode) => {
            let mode = *mode;
            optional(p, at, mode)
        }
        _ => required(p, at),
    }
}

fn ket(p: &PatternTokens<'_>, end: usize) -> Option<Ket> {
    match p.tokens.get(end)? {
        PatternToken::Close(k) => Some(*k),
        _ => None,
    }
}

fn required(p: &mut PatternTokens<'_>, group: usize) -> Option<Folded> {
    let (kind, mut end) = p.group(group)?;
    if kind.is_assertion() {
        return Some(Folded { group, bounds: ONCE, next: end + 1 });
    }
    let mut min = 1u16;
    while ket(p, end)? == Ket::Once {
        let copy = if same(p, group, end + 1) { end + 1 } else { end + 2 };
        if copy == end + 2 && !(is_wrapper(p, end + 1) && same(p, group, copy)) {
            break;
        }
        merge(p, group, copy);
        (_, end) = p.group(end + 1)?;
        min = min.checked_add(1)?;
    }
    let next = end + 1;
    let (bounds, next) = match ket(p, end)? {
        Ket::Unlimited(mode) => (Bounds { min, max: None, mode }, next),
        Ket::Once => match chain(p, group, next) {
            Some((more, mode, next)) => {
                (Bounds { min, max: Some(min.checked_add(more)?), mode }, next)
            }
            None => (Bounds { min, max: Some(min), ..ONCE }, next),
        },
    };
    Some(Folded { group, bounds, next })
}

fn optional(p: &mut PatternTokens<'_>, at: usize, mode: Option<Mode>) -> Option<Folded> {
    let group = at + 1;
    let (_, end) = p.group(group)?;
    let Some(mode) = mode else {
        return Some(Folded {
            group,
            bounds: Bounds { min: 0, max: Some(0), ..ONCE },
            next: end + 1,
        });
    };
    let max = match ket(p, end)? {
        Ket::Unlimited(_) => None,
        Ket::Once => {
            let inner = group + 1;
            if is_plain_once(p, group) && p.group(inner).is_some() {
                if let Some((max, _, next)) = chain(p, inner, at).filter(|(max, ..)| *max > 1) {
                    let bounds = Bounds { min: 0, max: Some(max), mode };
                    return Some(Folded { group: inner, bounds, next });
                }
            }
            Some(1)
        }
    };
    Some(Folded { group, bounds: Bounds { min: 0, max, mode }, next: end + 1 })
}

/// Whether a group only adds a possessive repeat to a conditional group within it.
fn is_wrapper(p: &PatternTokens<'_>, at: usize) -> bool {
    let inner = p.group(at + 1).filter(|(g, _)| *g == GroupKind::Conditional);
    p.group(at).is_some_and(|(g, end)| {
        let repeats = ket(p, end) == Some(Ket::Unlimited(Mode::Possessive));
        g == GroupKind::Plain && repeats && inner.is_some_and(|(_, e)| e + 1 == end)
    })
}

fn is_plain_once(p: &PatternTokens<'_>, at: usize) -> bool {
    p.group(at).is_some_and(|(g, end)| g == GroupKind::Plain && ket(p, end) == Some(Ket::Once))
}

/// Optional copies of a group within each other: how many, which repeat, and the token behind them.
fn chain(p: &mut PatternTokens<'_>, group: usize, from: usize) -> Option<(u16, Mode, usize)> {
    let Some(PatternToken::Optional(Some(mode))) = p.tokens.get(from) else { return None };
    let mode = *mode;
    let (mut at, mut copies, mut nested) = (from, Vec::new(), 0);
    while p.tokens.get(at) == Some(&PatternToken::Optional(Some(mode))) {
        let wrapped = is_plain_once(p, at + 1) && is_copy(p, group, at + 2);
        let copy = if wrapped { at + 2 } else { at + 1 };
        if !is_copy(p, group, copy) {
            return None;
        }
        copies.push(copy);
        at = p.group(copy)?.1 + 1;
        nested += wrapped as usize;
        if !wrapped {
            break;
        }
    }
    for _ in 0..nested {
        (ket(p, at)? == Ket::Once).then_some(())?;
        at += 1;
    }
    for copy in &copies {
        merge(p, group, *copy);
    }
    Some((copies.len().try_into().ok()?, mode, at))
}

fn is_copy(p: &PatternTokens<'_>, group: usize, copy: usize) -> bool {
    let once = p.group(copy).and_then(|(_, end)| ket(p, end)) == Some(Ket::Once);
    once && (group == copy || same(p, group, copy))
}

/// Whether a group is a copy of another, but for repeats that PCRE made possessive in one of them as
/// that made no difference there, and for how often it is repeated. The last copy of an atomic group
/// that is repeated possessively is not itself atomic.
fn same(p: &PatternTokens<'_>, group: usize, copy: usize) -> bool {
    let (Some((kind, end)), Some((copy_kind, copy_end))) = (p.group(group), p.group(copy)) else {
        return false;
    };
    let possessive = ket(p, copy_end) == Some(Ket::Unlimited(Mode::Possessive));
    let relaxed = (kind, copy_kind, possessive) == (GroupKind::Atomic, GroupKind::Plain, true);
    if end - group != copy_end - copy || p.tokens[group] != p.tokens[copy] && !relaxed {
        return false;
    }
    let pairs = p.tokens[group + 1..end].iter().zip(&p.tokens[copy + 1..copy_end]);
    pairs.into_iter().all(|pair| match pair {
        (PatternToken::Item(a, x), PatternToken::Item(b, y)) => {
            a == b && x.min == y.min && x.max == y.max && (x.mode == y.mode || differs(x, y))
        }
        (a, b) => a == b,
    })
}

/// Whether only one of two repeats is possessive, and the other greedy.
fn differs(x: &Bounds, y: &Bounds) -> bool {
    matches!((x.mode, y.mode), (Mode::Greedy, Mode::Possessive) | (Mode::Possessive, Mode::Greedy))
}

/// Makes greedy what is not possessive in each copy.
fn merge(p: &mut PatternTokens<'_>, group: usize, copy: usize) {
    let Some((_, end)) = p.group(group).filter(|_| group != copy) else { return };
    for i in 0..end - group {
        let mode = match p.tokens.get(copy + i) {
            Some(PatternToken::Item(_, b)) => b.mode,
            _ => continue,
        };
        if let Some(PatternToken::Item(_, bounds)) = p.tokens.get_mut(group + i) {
            if mode == Mode::Greedy && bounds.mode == Mode::Possessive {
                bounds.mode = mode;
            }
        }
    }
}
