//! Results of natives, and arguments that several of them take.

use kvik_env::Errno;
use kvik_heap::Heap;
use kvik_proc::{BifResult, Proc, Raised};
use kvik_release::SocketNatives;
use kvik_term::{am, map, Atom, Term};

use crate::natives::natives;

/// An atom that has no constant in `am`.
pub fn atom(name: &str) -> Term<'static> {
    Atom::intern(name).map_or(am::undefined.into(), Term::atom)
}
/// Whether it is the atom of this name.
pub fn is(t: Term<'_>, name: &str) -> bool {
    t.as_atom().is_some_and(|a| a.name() == name)
}

pub fn ok<'h>(h: &'h Heap, value: Term<'h>) -> Term<'h> {
    h.tuple(&[am::ok.into(), value])
}
/// `{error, Reason}`
pub fn error<'h>(h: &'h Heap, reason: impl Into<Term<'h>>) -> Term<'h> {
    h.tuple(&[am::error.into(), reason.into()])
}
/// `{error, Posix}`
pub fn posix(h: &Heap, e: Errno) -> Term<'_> {
    error(h, atom(e.name()))
}
pub fn closed(h: &Heap) -> Term<'_> {
    error(h, am::closed)
}
/// `{invalid, What}`: an argument that the Erlang code names in full.
pub fn invalid<'h>(h: &'h Heap, what: Term<'h>) -> Term<'h> {
    h.tuple(&[atom("invalid"), what])
}
/// `{error, {invalid, What}}`
pub fn error_invalid<'h>(h: &'h Heap, what: &str) -> Term<'h> {
    error(h, invalid(h, atom(what)))
}
/// Raises `{invalid, What}`.
pub fn raise_invalid<'h>(p: &'h Proc, what: Term<'h>) -> Raised {
    p.error(invalid(&p.heap, what))
}
/// `ok` or `{error, Posix}`
pub fn done(h: &Heap, r: kvik_env::Result<()>) -> Term<'_> {
    match r {
        Ok(()) => am::ok.into(),
        Err(e) => posix(h, e),
    }
}

/// An argument is rejected: by an exception, or by a result.
pub enum Rejection<'h> {
    Raised(Raised),
    Answer(Term<'h>),
}
impl<'h> From<Raised> for Rejection<'h> {
    fn from(r: Raised) -> Self {
        Rejection::Raised(r)
    }
}
pub type ArgResult<'h, T> = Result<T, Rejection<'h>>;
pub fn settle<'h>(r: ArgResult<'h, Term<'h>>) -> BifResult<'h> {
    match r {
        Ok(t) | Err(Rejection::Answer(t)) => Ok(t),
        Err(Rejection::Raised(r)) => Err(r),
    }
}

/// An integer in the range of a C type. Raises `badarg` for no integer; returns
/// `{invalid, {integer_range, N}}`, in V2 `{error, _}` of it, for one out of range.
fn ranged<'h, T: TryFrom<i128>>(p: &'h Proc, t: Term<'h>) -> ArgResult<'h, T> {
    if !t.is_integer() {
        return Err(p.badarg().into());
    }
    let n = t.as_i64().map(i128::from).or(t.as_u64().map(i128::from));
    n.and_then(|n| T::try_from(n).ok()).ok_or_else(|| out_of_range(p, t))
}
pub fn out_of_range<'h>(p: &'h Proc, t: Term<'h>) -> Rejection<'h> {
    let h = &p.heap;
    let what = invalid(h, h.tuple(&[atom("integer_range"), t]));
    Rejection::Answer(match natives() {
        SocketNatives::V2 => error(h, what),
        SocketNatives::V1 | SocketNatives::V3 => what,
    })
}
pub fn int<'h>(p: &'h Proc, t: Term<'h>) -> ArgResult<'h, i32> {
    ranged(p, t)
}
/// Sizes that a call asks for. All arguments are checked to be integers before any is checked for
/// its range.
pub fn sizes<'h, const N: usize>(
    p: &'h Proc,
    sizes: [Term<'h>; N],
    flags: Term<'h>,
) -> ArgResult<'h, ([usize; N], i32)> {
    if !sizes.iter().chain([&flags]).all(|t| t.is_integer()) {
        return Err(p.badarg().into());
    }
    let mut all = [0; N];
    for (to, from) in all.iter_mut().zip(sizes) {
        let n = from.as_u64().filter(|n| i64::try_from(*n).is_ok());
        *to = n.ok_or_else(|| out_of_range(p, from))? as usize;
    }
    Ok((all, int(p, flags)?))
}

pub fn small_int(t: Term<'_>) -> Option<i32> {
    t.as_i64().and_then(|n| i32::try_from(n).ok())
}
pub fn unsigned(t: Term<'_>) -> Option<u32> {
    t.as_i64().and_then(|n| u32::try_from(n).ok())
}
/// A list of Latin-1 characters.
pub fn latin1(t: Term<'_>) -> Option<Vec<u8>> {
    let chars = t.list_to_vec()?;
    chars.into_iter().map(|c| c.as_i64().and_then(|c| u8::try_from(c).ok())).collect()
}
pub fn bytes<'h>(t: Term<'h>) -> Option<std::borrow::Cow<'h, [u8]>> {
    t.as_bits().filter(|b| b.is_binary()).map(|b| b.to_bytes())
}

/// The value of an atom key in a map.
pub fn field<'h>(t: Term<'h>, key: &str) -> Option<Term<'h>> {
    map::get(t.as_map()?, atom(key))
}
/// A map with atoms as keys.
pub fn record<'h>(h: &'h Heap, fields: &[(&str, Term<'h>)]) -> Term<'h> {
    let pairs: Vec<_> = fields.iter().map(|(k, v)| (atom(k), *v)).collect();
    h.map(&pairs)
}
/// The table's names of the set bits, and the remaining bits as a number.
pub fn flag_list<'h>(h: &'h Heap, table: &[(&str, i32)], mut flags: i32) -> Term<'h> {
    let mut all = Vec::new();
    for (name, bit) in table {
        if *bit != 0 && flags & bit == *bit {
            flags &= !bit;
            all.push(atom(name));
        }
    }
    if flags != 0 {
        all.push(h.integer(flags.into()));
    }
    h.list(&all)
}
