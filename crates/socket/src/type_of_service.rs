//! The type-of-service byte of IPv4: names of services, in later natives also of precedences and
//! of code points (DSCP).

use kvik_heap::Heap;
use kvik_release::SocketNatives;
use kvik_term::Term;

use crate::answer::{atom, field, is, record, small_int, unsigned};

type Names = &'static [(&'static str, i32)];

/// Services, and the bits that hold them.
const SERVICES: Names =
    &[("lowdelay", 0x10), ("throughput", 0x08), ("reliability", 0x04), ("mincost", 0x02)];
const SERVICE_MASK: i32 = 0x1e;
const SERVICE_SHIFT: i32 = 1;

const PRECEDENCE_MASK: i32 = 0xe0;
const PRECEDENCE_SHIFT: i32 = 5;
/// OTP has the code points `cs0` to `cs7` here, which are eight times the precedences. Only the
/// low three bits are stored, so that all set `routine`, and only 0 is recognised.
const PRECEDENCES: Names = &[
    ("netcontrol", 56),
    ("internetcontrol", 48),
    ("critical_ecp", 40),
    ("flashoverride", 32),
    ("flash", 24),
    ("immediate", 16),
    ("priority", 8),
    ("routine", 0),
];

const CODE_POINT_MASK: i32 = 0xfc;
const CODE_POINT_SHIFT: i32 = 2;
#[rustfmt::skip]
const CODE_POINTS: Names = &[
    ("cs0", 0), ("cs1", 8), ("cs2", 16), ("cs3", 24), ("cs4", 32), ("cs5", 40), ("cs6", 48),
    ("cs7", 56), ("af11", 10), ("af12", 12), ("af13", 14), ("af21", 18), ("af22", 20),
    ("af23", 22), ("af31", 26), ("af32", 28), ("af33", 30), ("af41", 34), ("af42", 36),
    ("af43", 38), ("ef", 46), ("voice_admit", 44), ("le", 1), ("nqb", 45),
];

fn number_of(names: Names, t: Term<'_>) -> Option<i32> {
    names.iter().find(|(name, _)| is(t, name)).map(|(_, n)| *n)
}
fn name_of(names: Names, n: i32) -> Option<Term<'static>> {
    names.iter().find(|(_, number)| *number == n).map(|(name, _)| atom(name))
}

/// A number or a service's name; since V3 also a code point's, or `#{precedence, tos}`.
pub fn encode(t: Term<'_>, natives: SocketNatives) -> Option<i32> {
    if let Some(n) = small_int(t).or_else(|| number_of(SERVICES, t)) {
        return Some(n);
    }
    if natives < SocketNatives::V3 {
        return None;
    }
    if t.as_map().is_some() {
        return of_parts(field(t, "precedence")?, field(t, "tos")?);
    }
    number_of(CODE_POINTS, t).map(|n| n << CODE_POINT_SHIFT)
}
fn of_parts(precedence: Term<'_>, service: Term<'_>) -> Option<i32> {
    // A number is cut to a byte.
    let byte = |t| unsigned(t).map(|n| i32::from(n as u8));
    let precedence = byte(precedence).or_else(|| number_of(PRECEDENCES, precedence))?;
    let named = || match is(service, "default") {
        true => Some(0),
        false => number_of(SERVICES, service).map(|n| n >> SERVICE_SHIFT),
    };
    let service = byte(service).or_else(named)?;
    let precedence = (precedence << PRECEDENCE_SHIFT) & PRECEDENCE_MASK;
    Some(precedence | ((service << SERVICE_SHIFT) & SERVICE_MASK))
}

/// A service's name or the number; since V3 `#{native, tos := #{precedence, tos}, dscp}`.
pub fn decode(h: &Heap, n: i32, natives: SocketNatives) -> Term<'_> {
    let number = |n: i32| h.integer(n.into());
    let service = n & SERVICE_MASK;
    if natives < SocketNatives::V3 {
        return name_of(SERVICES, service).unwrap_or_else(|| number(n));
    }
    let named = match service {
        0 => atom("default"),
        n => name_of(SERVICES, n).unwrap_or_else(|| number(n >> SERVICE_SHIFT)),
    };
    let precedence = (n & PRECEDENCE_MASK) >> PRECEDENCE_SHIFT;
    let precedence = name_of(PRECEDENCES, precedence).unwrap_or_else(|| number(precedence));
    let code_point = (n & CODE_POINT_MASK) >> CODE_POINT_SHIFT;
    let code_point = name_of(CODE_POINTS, code_point).unwrap_or_else(|| number(code_point));
    let tos = record(h, &[("precedence", precedence), ("tos", named)]);
    record(h, &[("native", number(n)), ("tos", tos), ("dscp", code_point)])
}
