//! Conversions between numbers, atoms and text.

use std::sync::atomic::{AtomicBool, Ordering};

use kvik_heap::arith::{integer_value, max_bits, operation_cost};
use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::atom::AtomError;
use kvik_term::{am, Atom, Term, View};
use num_bigint::{BigInt, BigUint, Sign};

use crate::blocking_pool::hand_off;
use crate::float_text::{self, Text};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "atom_to_list", 1, atom_to_list),
    bif!("erlang", "atom_to_binary", 2, atom_to_binary),
    bif!("erlang", "list_to_atom", 1, list_to_atom),
    bif!("erlang", "list_to_existing_atom", 1, list_to_existing_atom),
    bif!("erlang", "binary_to_atom", 2, binary_to_atom),
    bif!("erlang", "binary_to_existing_atom", 2, binary_to_existing_atom),
    bif!("erlang", "integer_to_list", 1, integer_to_list),
    bif!("erlang", "integer_to_list", 2, integer_to_list),
    bif!("erlang", "integer_to_binary", 1, integer_to_binary),
    bif!("erlang", "integer_to_binary", 2, integer_to_binary),
    bif!("erlang", "list_to_integer", 1, list_to_integer, until 27),
    bif!("erlang", "list_to_integer", 2, list_to_integer, until 27),
    bif!("erlang", "binary_to_integer", 1, binary_to_integer, until 27),
    bif!("erlang", "binary_to_integer", 2, binary_to_integer, until 27),
    bif!("erlang", "float_to_list", 1, float_to_list),
    bif!("erlang", "float_to_list", 2, float_to_list),
    bif!("erlang", "float_to_binary", 1, float_to_binary),
    bif!("erlang", "float_to_binary", 2, float_to_binary),
    bif!("erlang", "list_to_float", 1, list_to_float),
    bif!("erlang", "binary_to_float", 1, binary_to_float),
    bif!("erts_internal", "binary_to_integer", 2, binary_to_integer_or_reason, since 27),
    bif!("erts_internal", "list_to_integer", 2, list_to_integer_and_rest, since 27),
    bif!("string", "list_to_integer", 1, string_to_integer, until 27),
    bif!("string", "list_to_float", 1, string_to_float),
    bif!("io", "printable_range", 0, printable_range),
    bif!("net_kernel", "dflag_unicode_io", 1, dflag_unicode_io),
];

fn atom_to_list<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    a[0].as_atom().map(|a| p.heap.string(a.name())).ok_or_else(|| p.badarg())
}
fn atom_to_binary<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (Some(atom), Some(encoding)) = (a[0].as_atom(), a[1].as_atom()) else {
        return Err(p.badarg());
    };
    match encoding {
        am::utf8 | am::unicode => Ok(p.heap.binary(atom.name().as_bytes())),
        am::latin1 => {
            let bytes: Result<Vec<u8>, _> =
                atom.name().chars().map(|c| u8::try_from(c as u32)).collect();
            bytes.map(|b| p.heap.binary(&b)).map_err(|_| p.badarg())
        }
        _ => Err(p.badarg()),
    }
}

/// A list of characters as text.
fn text(t: Term<'_>) -> Option<String> {
    let chars = t.list_to_vec()?;
    chars.iter().map(|t| char::from_u32(u32::try_from(t.as_small()?).ok()?)).collect()
}
fn intern<'h>(p: &'h Proc, name: Option<String>) -> BifResult<'h> {
    match name.map(|n| Atom::intern(&n)) {
        Some(Ok(a)) => Ok(a.into()),
        Some(Err(AtomError::TooLong | AtomError::Full)) => Err(p.system_limit()),
        None => Err(p.badarg()),
    }
}
fn existing<'h>(p: &'h Proc, name: Option<String>) -> BifResult<'h> {
    name.and_then(|n| Atom::existing(&n)).map(Term::atom).ok_or_else(|| p.badarg())
}
fn list_to_atom<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    intern(p, text(a[0]))
}
fn list_to_existing_atom<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    existing(p, text(a[0]))
}
fn encoded(bin: Term<'_>, encoding: Term<'_>) -> Option<String> {
    let bits = bin.as_bits().filter(|b| b.is_binary())?;
    let bytes = bits.to_bytes();
    match encoding.as_atom()? {
        am::utf8 | am::unicode => String::from_utf8(bytes.into_owned()).ok(),
        am::latin1 => Some(bytes.iter().map(|b| *b as char).collect()),
        _ => None,
    }
}
fn binary_to_atom<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    intern(p, encoded(a[0], a[1]))
}
fn binary_to_existing_atom<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    existing(p, encoded(a[0], a[1]))
}

fn base(a: &[Term<'_>]) -> Option<u32> {
    match a.get(1) {
        None => Some(10),
        Some(t) => {
            t.as_small().and_then(|b| u32::try_from(b).ok()).filter(|b| (2..=36).contains(b))
        }
    }
}
fn integer_text(a: &[Term<'_>]) -> Option<Text> {
    match (a[0].as_small(), base(a)?) {
        (Some(i), 10) => Some(itoa::Buffer::new().format(i).as_bytes().into()),
        (_, base) => Some(text_of(&integer_value(a[0])?, base)),
    }
}
fn text_of(i: &BigInt, base: u32) -> Text {
    i.to_str_radix(base).to_uppercase().into_bytes().into()
}
/// Digits of a large integer that are written for a reduction, as in OTP.
const DIGITS_PER_REDUCTION: u64 = 16;

/// Digits from which on a conversion leaves the scheduler if the time slice does not pay for it. Fewer
/// take less time than handing them to another thread could save.
const DIGITS_HANDED_OFF: u64 = 16_000;

/// Charges the digits of a large integer, of which OTP takes two or three too many. True if the time
/// slice does not pay for so many that another thread writes them, as OTP's dirty schedulers do.
fn charge_digits(p: &Proc, a: &[Term<'_>]) -> bool {
    let (View::Big(b), Some(base)) = (a[0].view(), base(a)) else { return false };
    let bits =
        b.digits().len() as u64 * 64 - b.digits().last().map_or(0, |d| d.leading_zeros() as u64);
    let digits = (bits as f64 / f64::from(base).log2()) as u64 + 2 + b.is_negative() as u64;
    let cost = (digits / DIGITS_PER_REDUCTION) as i64;
    if digits >= DIGITS_HANDED_OFF && cost > p.heap.reductions_left() {
        return true;
    }
    p.heap.bump_reductions(cost);
    false
}
/// Writes an integer, on another thread if it is a very large one.
fn write_integer<'h>(
    p: &'h Proc,
    a: &[Term<'h>],
    build: impl for<'b> FnOnce(&'b Heap, Text) -> Term<'b> + Send + 'static,
) -> BifResult<'h> {
    if let (true, Some(i), Some(base)) = (charge_digits(p, a), integer_value(a[0]), base(a)) {
        return Err(hand_off(p, move || text_of(&i, base), build));
    }
    integer_text(a).map(|s| build(&p.heap, s)).ok_or_else(|| p.badarg())
}
fn integer_to_list<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    write_integer(p, a, |h, s| h.byte_list(&s))
}
fn integer_to_binary<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    write_integer(p, a, |h, s| h.binary(&s))
}

/// Why a text is no integer.
enum NoInteger {
    Syntax,
    TooLarge,
}

impl NoInteger {
    fn error(self, p: &Proc) -> Raised {
        match self {
            NoInteger::Syntax => p.badarg(),
            NoInteger::TooLarge => p.system_limit(),
        }
    }
    /// What `erts_internal` answers: after `big` the Erlang code of the release goes on.
    fn reason(self, syntax: Atom) -> Term<'static> {
        match self {
            NoInteger::Syntax => syntax.into(),
            NoInteger::TooLarge => am::big.into(),
        }
    }
}

/// Digits of that base that a small integer holds for sure.
fn digits_per_small(base: u32) -> usize {
    (59.0 / f64::from(base).log2()) as usize
}

/// Charges what OTP's Erlang code takes to read a large integer from 27 on: it reads as many digits as
/// a small integer holds at once, and combines pairs of those numbers until there is one.
fn charge_reading(p: &Proc, digits: usize, base: u32) {
    let at_once = digits_per_small(base);
    if !kvik_release::current().reads_large_integers_in_erlang() || digits <= at_once {
        return;
    }
    let bits = f64::from(base).log2() * at_once as f64;
    let mut numbers = digits.div_ceil(at_once);
    let mut cost = 12 + 4 * numbers as u64;
    // Small integers that a number is combined of.
    let mut parts = 1.0;
    while numbers > 1 {
        let words = (parts * bits / 64.0).ceil() as u64;
        let product = if parts == 1.0 { 0 } else { operation_cost(words * words) };
        let pairs = numbers as u64 / 2;
        (numbers, parts) = (numbers.div_ceil(2), parts * 2.0);
        // The square of the factor is the next one.
        cost += 3 + (pairs + (numbers > 1) as u64) * product;
    }
    p.heap.bump_reductions(cost as i64);
}
/// The same where the digits are those of a list, of which it first makes a binary.
fn charge_reading_list(p: &Proc, chars: usize, base: u32) {
    if kvik_release::current().reads_large_integers_in_erlang() && chars > digits_per_small(base) {
        p.heap.bump_reductions(2 * (chars as i64 / 8 + 1) + 1);
    }
}

/// A number's sign, true for a minus, and its digits without leading zeros. None if there is no digit, or
/// anything else.
fn sign_and_digits(s: &[u8], base: u32) -> Option<(bool, &[u8])> {
    let (negative, digits) = match s {
        [b'-', d @ ..] => (true, d),
        [b'+', d @ ..] => (false, d),
        d => (false, d),
    };
    if digits.is_empty() || !digits.iter().all(|c| (*c as char).is_digit(base)) {
        return None;
    }
    let zeros = digits.iter().take_while(|c| **c == b'0').count();
    Some((negative, &digits[zeros..]))
}

/// Parses an optional sign and at least one digit of the base.
fn parse_integer<'h>(p: &'h Proc, s: &[u8], base: u32) -> Result<Term<'h>, NoInteger> {
    let (negative, significant) = sign_and_digits(s, base).ok_or(NoInteger::Syntax)?;
    charge_reading(p, significant.len(), base);
    if let Some(i) = parse_i64(significant, base) {
        return Ok(p.heap.integer(if negative { -i } else { i }));
    }
    if significant.len() <= PARSED_AT_ONCE {
        let parsed = p.heap.parse_integer(negative, significant, base);
        return parsed.map_err(|_| NoInteger::TooLarge);
    }
    // Each digit behind the first adds so many bits at least.
    let least = significant.len() as u64 - 1;
    if least * u64::from(base.ilog2()) > max_bits() {
        return Err(NoInteger::TooLarge);
    }
    let i = BigInt::from(parse_natural(significant, base).ok_or(NoInteger::Syntax)?);
    if i.bits() > max_bits() {
        return Err(NoInteger::TooLarge);
    }
    Ok(p.heap.big_integer(&if negative { -i } else { i }))
}
/// Has another thread read an integer of very many digits, which OTP's Erlang code does in turns.
/// None if there are fewer, or more than an integer may have, or something else than digits.
fn read_elsewhere(
    p: &Proc,
    s: &[u8],
    base: u32,
    answer: impl for<'b> FnOnce(&'b Heap, BigInt) -> Term<'b> + Send + 'static,
) -> Option<Raised> {
    if s.len() < DIGITS_HANDED_OFF as usize {
        return None;
    }
    let (negative, digits) = sign_and_digits(s, base)?;
    let most_bits = (digits.len() as f64 * f64::from(base).log2()) as u64 + 1;
    if digits.len() < DIGITS_HANDED_OFF as usize || most_bits > max_bits() {
        return None;
    }
    charge_reading(p, digits.len(), base);
    let sign = if negative { Sign::Minus } else { Sign::Plus };
    let digits = digits.to_vec();
    let read = move || parse_natural(&digits, base).map(|i| BigInt::from_biguint(sign, i));
    Some(hand_off(p, read, |h, i| answer(h, i.unwrap_or_default())))
}
/// The value of digits without leading zeros, if it fits.
fn parse_i64(digits: &[u8], base: u32) -> Option<i64> {
    match (base, digits.len()) {
        (_, 0) => Some(0),
        (10, 20..) => None,
        _ => i64::from_str_radix(std::str::from_utf8(digits).ok()?, base).ok(),
    }
}
/// Digits up to which a quadratic method is the fastest.
const PARSED_AT_ONCE: usize = 2048;

/// The value of digits of that base: of halves, so that the multiplications are between long numbers
/// of equal length, for which there are fast methods.
fn parse_natural(digits: &[u8], base: u32) -> Option<BigUint> {
    if base.is_power_of_two() {
        return BigUint::parse_bytes(digits, base);
    }
    // What the digits in front count for: the base to the power of `PARSED_AT_ONCE`, and squares.
    let mut powers: Vec<BigUint> = Vec::new();
    while PARSED_AT_ONCE << powers.len() < digits.len() {
        powers.push(match powers.last() {
            Some(power) => power * power,
            None => BigUint::from(base).pow(PARSED_AT_ONCE as u32),
        });
    }
    parse_halves(digits, base, &powers)
}
fn parse_halves(digits: &[u8], base: u32, powers: &[BigUint]) -> Option<BigUint> {
    let Some((power, lower)) = powers.split_last() else {
        return BigUint::parse_bytes(digits, base);
    };
    match digits.len().checked_sub(PARSED_AT_ONCE << lower.len()) {
        Some(front @ 1..) => {
            let (high, low) = digits.split_at(front);
            Some(parse_halves(high, base, lower)? * power + parse_halves(low, base, lower)?)
        }
        _ => parse_halves(digits, base, lower),
    }
}

fn bytes_of_list(t: Term<'_>) -> Option<Text> {
    let (mut all, mut bytes) = (t.list(), Text::new());
    for t in all.by_ref() {
        bytes.push(u8::try_from(t.as_small()?).ok()?);
    }
    all.rest.is_nil().then_some(bytes)
}
/// A decimal with few enough digits to be a small integer.
fn short_decimal(t: Term<'_>) -> Option<Term<'static>> {
    const MOST: usize = 17;
    let mut all = t.list();
    let mut c = all.next()?.as_small()?;
    let negative = c == b'-' as i64;
    if negative || c == b'+' as i64 {
        c = all.next()?.as_small()?;
    }
    let (mut n, mut digits) = (0, 0);
    loop {
        let digit = Some(c - b'0' as i64).filter(|d| (0..10).contains(d))?;
        (n, digits) = (10 * n + digit, digits + 1);
        match all.next() {
            Some(_) if digits == MOST => return None,
            Some(next) => c = next.as_small()?,
            None => break,
        }
    }
    Term::small(if negative { -n } else { n }).filter(|_| all.rest.is_nil())
}
fn list_to_integer<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if let &[t] = a {
        if let Some(n) = short_decimal(t) {
            return Ok(n);
        }
    }
    let (s, base) = bytes_of_list(a[0]).zip(base(a)).ok_or_else(|| p.badarg())?;
    parse_integer(p, &s, base).map_err(|e| e.error(p))
}
fn binary_to_integer<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let bits = a[0].as_bits().filter(|b| b.is_binary());
    let (s, base) = bits.zip(base(a)).ok_or_else(|| p.badarg())?;
    parse_integer(p, &s.to_bytes(), base).map_err(|e| e.error(p))
}

fn float_string(a: &[Term<'_>]) -> Option<Text> {
    let f = a[0].as_float()?;
    match a.get(1) {
        None => Some(float_text::scientific(f, 20).into_bytes().into()),
        Some(options) => float_text::by_options(f, *options),
    }
}
fn float_to_list<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    float_string(a).map(|s| p.heap.byte_list(&s)).ok_or_else(|| p.badarg())
}
fn float_to_binary<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    float_string(a).map(|s| p.heap.binary(&s)).ok_or_else(|| p.badarg())
}
fn list_to_float<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let f = bytes_of_list(a[0]).and_then(|s| float_text::parse(&s));
    f.map(|f| p.heap.float(f)).ok_or_else(|| p.badarg())
}
fn binary_to_float<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let bits = a[0].as_bits().filter(|b| b.is_binary());
    let f = bits.and_then(|s| float_text::parse(&s.to_bytes()));
    f.map(|f| p.heap.float(f)).ok_or_else(|| p.badarg())
}

/// The bytes at the start of a string that make a number, and the rest. None if it is no list.
fn split_number<'h>(t: Term<'h>, length: impl Fn(&[u8]) -> usize) -> Option<(Vec<u8>, Term<'h>)> {
    let mut it = t.list();
    let mut head = Vec::new();
    let mut tails = vec![t];
    while let Some(c) = it.next().and_then(|t| t.as_small()).and_then(|c| u8::try_from(c).ok()) {
        head.push(c);
        tails.push(it.rest);
    }
    let n = length(&head);
    head.truncate(n);
    t.is_list().then(|| (head, tails[n]))
}
/// The number at the start of a string and the rest; `{error, Why}` without a number.
fn prefix<'h>(
    p: &'h Proc,
    t: Term<'h>,
    length: impl Fn(&[u8]) -> usize,
    value: impl Fn(&[u8]) -> Result<Term<'h>, Term<'h>>,
) -> BifResult<'h> {
    let found = split_number(t, length).ok_or(am::not_a_list.into());
    Ok(match found.and_then(|(number, rest)| Ok([value(&number)?, rest])) {
        Ok(answer) => p.heap.tuple(&answer),
        Err(why) => p.heap.tuple(&[am::error.into(), why]),
    })
}
fn integer<'h>(p: &'h Proc, s: &[u8], base: u32) -> Result<Term<'h>, Term<'h>> {
    parse_integer(p, s, base).map_err(|e| e.reason(am::no_integer))
}
/// The integer, or the atom `badarg` or `big`.
fn binary_to_integer_or_reason<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let bits = a[0].as_bits().filter(|b| b.is_binary());
    let Some((s, base)) = bits.zip(base(a)) else { return Ok(am::badarg.into()) };
    let s = s.to_bytes();
    if let Some(later) = read_elsewhere(p, &s, base, |h, i| h.big_integer(&i)) {
        return Err(later);
    }
    Ok(parse_integer(p, &s, base).unwrap_or_else(|e| e.reason(am::badarg)))
}
/// `{Integer, Rest}`, or an atom with the reason why there is no integer.
fn list_to_integer_and_rest<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if a[0].is_nil() {
        return Ok(am::no_integer.into());
    }
    if !a[0].is_list() {
        return Ok(am::not_a_list.into());
    }
    let Some(base) = base(a) else { return Ok(am::badarg.into()) };
    let length = |s: &[u8]| {
        let sign = matches!(s.first(), Some(b'-' | b'+')) as usize;
        sign + s[sign..].iter().take_while(|c| (**c as char).is_digit(base)).count()
    };
    let Some((number, rest)) = split_number(a[0], length) else { return Ok(am::not_a_list.into()) };
    charge_reading_list(p, number.len(), base);
    if number.len() >= DIGITS_HANDED_OFF as usize {
        let kept = OwnedTerm::new(rest);
        let later = read_elsewhere(p, &number, base, move |h, i| {
            h.tuple(&[h.big_integer(&i), h.copy_owned(&kept)])
        });
        if let Some(later) = later {
            return Err(later);
        }
    }
    Ok(match integer(p, &number, base) {
        Ok(i) => p.heap.tuple(&[i, rest]),
        Err(why) => why,
    })
}
fn string_to_integer<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let length = |s: &[u8]| {
        let sign = matches!(s.first(), Some(b'-' | b'+')) as usize;
        sign + s[sign..].iter().take_while(|c| c.is_ascii_digit()).count()
    };
    prefix(p, a[0], length, |s| integer(p, s, 10))
}
fn string_to_float<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    prefix(p, a[0], float_text::prefix_length, |s| {
        float_text::parse(s).map(|f| p.heap.float(f)).ok_or(am::no_float.into())
    })
}

kvik_state::vm_state! {
    static PRINTABLE_UNICODE: AtomicBool = AtomicBool::new(false);
}

/// Sets which characters count as printable (`+pc`).
pub fn set_printable_unicode(on: bool) {
    PRINTABLE_UNICODE.store(on, Ordering::Relaxed);
}
fn printable_range<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let unicode = PRINTABLE_UNICODE.load(Ordering::Relaxed);
    Ok(if unicode { am::unicode } else { am::latin1 }.into())
}
/// Whether the node of this pid accepts unicode I/O requests. This one does.
fn dflag_unicode_io<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    a[0].as_pid().map(|_| Term::bool(true)).ok_or_else(|| p.badarg())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_give_the_same_number() {
        for base in [3, 10, 36] {
            for n in [1, 2047, 2048, 2049, 4096, 4097, 6145, 9000, 20_000] {
                let digits: Vec<u8> = (0..n).map(|i| b"0012"[(i * i / 7 + i) % 4]).collect();
                assert_eq!(parse_natural(&digits, base), BigUint::parse_bytes(&digits, base));
            }
        }
    }
}
