//! [`Term`]: a tagged word that borrows its heap.

use std::fmt;
use std::marker::PhantomData;

use crate::object::*;
use crate::record::NativeRecord;
use crate::word::*;
use crate::Atom;

/// A term that lives in a heap (or literal area) borrowed for `'h`.
#[derive(Copy, Clone)]
#[repr(transparent)]
pub struct Term<'h>(u64, PhantomData<&'h u64>);

/// The kinds of terms.
#[derive(Copy, Clone)]
pub enum View<'h> {
    Small(i64),
    Big(Big<'h>),
    Float(f64),
    Atom(Atom),
    Nil,
    Cons(Cons<'h>),
    Tuple(Tuple<'h>),
    Record(NativeRecord<'h>),
    Bits(Bits<'h>),
    Map(Map<'h>),
    Fun(Fun<'h>),
    Pid(PidTerm<'h>),
    Port(PortTerm<'h>),
    Ref(Ref<'h>),
}

impl<'h> Term<'h> {
    pub const NIL: Term<'static> = Term(NIL, PhantomData);

    /// # Safety
    /// `w` is a whole term, and all it points to stays where it is, unchanged, for `'h`.
    #[inline(always)]
    pub const unsafe fn from_word(w: u64) -> Term<'h> {
        Term(w, PhantomData)
    }
    #[inline(always)]
    pub const fn word(self) -> u64 {
        self.0
    }
    /// A small integer, if it fits in 60 bits. For any integer see `Heap::integer`.
    #[inline(always)]
    pub const fn small(i: i64) -> Option<Term<'static>> {
        if fits_small(i) {
            Some(Term(small(i), PhantomData))
        } else {
            None
        }
    }
    /// A small integer from a number that always fits.
    #[inline(always)]
    pub const fn int(i: i32) -> Term<'static> {
        Term(small(i as i64), PhantomData)
    }
    #[inline(always)]
    pub const fn atom(a: Atom) -> Term<'static> {
        Term(a.word(), PhantomData)
    }
    #[inline(always)]
    pub const fn bool(b: bool) -> Term<'static> {
        Term::atom(if b { crate::am::true_ } else { crate::am::false_ })
    }
    /// A local pid or port from its 28-bit number.
    pub const fn local_pid(data: u32) -> Term<'static> {
        Term((data as u64) << 4 | TAG_PID, PhantomData)
    }
    pub const fn local_port(data: u32) -> Term<'static> {
        Term::port_of_number(data as u64)
    }
    /// What text or bytes name: a number of up to 60 bits, though ports have one of 28.
    pub const fn port_of_number(number: u64) -> Term<'static> {
        Term(number << 4 | TAG_PORT, PhantomData)
    }

    #[inline(always)]
    pub const fn is_small(self) -> bool {
        is_small(self.0)
    }
    #[inline(always)]
    pub const fn is_nil(self) -> bool {
        self.0 == NIL
    }
    #[inline(always)]
    pub const fn is_immediate(self) -> bool {
        is_immediate(self.0)
    }
    /// Whether both are the same word: the same immediate or the very same object.
    #[inline(always)]
    pub const fn same(self, other: Term<'_>) -> bool {
        self.0 == other.0
    }
    #[inline(always)]
    pub fn is_atom(self, a: Atom) -> bool {
        self.0 == a.word()
    }

    /// The term without a heap lifetime, if it is immediate.
    pub const fn immediate(self) -> Option<Term<'static>> {
        if is_immediate(self.0) {
            Some(Term(self.0, PhantomData))
        } else {
            None
        }
    }

    #[inline(always)]
    pub const fn as_small(self) -> Option<i64> {
        if is_small(self.0) {
            Some(small_value(self.0))
        } else {
            None
        }
    }
    /// An integer that fits an `i64` (small, or a one-digit bignum).
    pub fn as_i64(self) -> Option<i64> {
        match self.view() {
            View::Small(i) => Some(i),
            View::Big(b) => b.as_i64(),
            _ => None,
        }
    }
    /// A non-negative integer that fits a `u64`.
    pub fn as_u64(self) -> Option<u64> {
        match self.view() {
            View::Small(i) => u64::try_from(i).ok(),
            View::Big(b) => b.as_u64(),
            _ => None,
        }
    }
    /// A non-negative small integer as an index.
    pub fn as_usize(self) -> Option<usize> {
        self.as_small().and_then(|i| usize::try_from(i).ok())
    }
    #[inline(always)]
    pub const fn as_atom(self) -> Option<Atom> {
        if self.0 & 15 == TAG_ATOM {
            Some(Atom((self.0 >> 4) as u32))
        } else {
            None
        }
    }
    pub fn as_bool(self) -> Option<bool> {
        match self.as_atom()? {
            crate::am::true_ => Some(true),
            crate::am::false_ => Some(false),
            _ => None,
        }
    }
    #[inline(always)]
    pub fn as_cons(self) -> Option<Cons<'h>> {
        if is_list(self.0) {
            // SAFETY: a list word points to a cell that lives for 'h.
            Some(unsafe { Cons::from_raw((self.0 - TAG_LIST) as *const u64) })
        } else {
            None
        }
    }
    /// The object's header and address.
    #[inline(always)]
    pub fn boxed(self) -> Option<(u64, *const u64)> {
        if is_boxed(self.0) {
            let p = (self.0 - TAG_BOXED) as *const u64;
            // SAFETY: a boxed word points to a header that lives for 'h.
            Some((unsafe { *p }, p))
        } else {
            None
        }
    }
    #[inline]
    fn of_subtag(self, subtag: u64) -> Option<*const u64> {
        self.boxed().filter(|(h, _)| header_subtag(*h) == subtag).map(|(_, p)| p)
    }
    #[inline]
    pub fn as_tuple(self) -> Option<Tuple<'h>> {
        // SAFETY: the subtag says it is a tuple.
        self.of_subtag(TUPLE).map(|p| unsafe { Tuple::from_raw(p) })
    }
    /// A tuple's elements, if it is a tuple of exactly that size.
    pub fn as_tuple_n<const N: usize>(self) -> Option<[Term<'h>; N]> {
        self.as_tuple().and_then(|t| t.elements().try_into().ok())
    }
    #[inline]
    pub fn as_float(self) -> Option<f64> {
        // SAFETY: a float's one word follows its header.
        self.of_subtag(FLOAT).map(|p| f64::from_bits(unsafe { *p.add(1) }))
    }
    /// An integer that is not small.
    #[inline(always)]
    pub fn as_big(self) -> Option<Big<'h>> {
        let (h, p) = self.boxed()?;
        // SAFETY: the subtag says it is a bignum.
        matches!(header_subtag(h), BIG_POS | BIG_NEG).then(|| unsafe { Big::from_raw(p) })
    }
    /// A binary or bit string (not a match context).
    #[inline]
    pub fn as_bits(self) -> Option<Bits<'h>> {
        let (h, p) = self.boxed()?;
        // SAFETY: the subtag says it is a binary.
        matches!(header_subtag(h), REFC_BIN | HEAP_BIN | SUB_BIN)
            .then(|| unsafe { Bits::from_raw(p) })
    }
    /// The bytes of a binary that starts and ends at whole bytes of its storage.
    /// A binary at an odd bit offset gives `None`: see `Bits::to_bytes`.
    pub fn as_bytes(self) -> Option<&'h [u8]> {
        self.as_bits().and_then(|b| b.as_bytes())
    }
    pub fn as_map(self) -> Option<Map<'h>> {
        let (h, p) = self.boxed()?;
        // SAFETY: the subtag says it is a map.
        matches!(header_subtag(h), FLAT_MAP | HAMT).then(|| unsafe { Map::from_raw(p) })
    }
    #[inline]
    pub fn as_record(self) -> Option<NativeRecord<'h>> {
        // SAFETY: the subtag says it is a native record.
        self.of_subtag(RECORD).map(|p| unsafe { NativeRecord::from_raw(p) })
    }
    pub fn as_fun(self) -> Option<Fun<'h>> {
        let (h, p) = self.boxed()?;
        // SAFETY: the subtag says it is a fun.
        matches!(header_subtag(h), FUN | EXPORT).then(|| unsafe { Fun::from_raw(p) })
    }
    pub fn as_pid(self) -> Option<PidTerm<'h>> {
        match self.view() {
            View::Pid(p) => Some(p),
            _ => None,
        }
    }
    /// The number of a local pid.
    #[inline(always)]
    pub const fn as_local_pid(self) -> Option<u32> {
        if self.0 & 15 == TAG_PID {
            Some((self.0 >> 4) as u32)
        } else {
            None
        }
    }
    /// A number that no port has, if this is one that no port can have.
    #[inline(always)]
    pub const fn as_local_port(self) -> Option<u32> {
        if self.0 & 15 == TAG_PORT {
            Some(if self.0 >> 36 == 0 { (self.0 >> 4) as u32 } else { u32::MAX })
        } else {
            None
        }
    }
    #[inline]
    pub fn as_ref(self) -> Option<Ref<'h>> {
        if let Some(r) = self.as_local_ref() {
            return Some(Ref::Local(r));
        }
        match self.view() {
            View::Ref(r) => Some(r),
            _ => None,
        }
    }
    #[inline]
    pub fn as_local_ref(self) -> Option<LocalRef<'h>> {
        let (h, p) = self.boxed()?;
        // SAFETY: the subtag says it is one.
        matches!(header_subtag(h), REF | MAGIC_REF).then(|| unsafe { LocalRef::from_raw(p) })
    }
    pub fn is_integer(self) -> bool {
        self.is_small()
            || matches!(self.boxed(), Some((h, _)) if matches!(header_subtag(h), BIG_POS | BIG_NEG))
    }
    pub fn is_list(self) -> bool {
        is_list(self.0) || self.0 == NIL
    }

    #[inline]
    pub fn view(self) -> View<'h> {
        match self.0 & 3 {
            0 => View::Small(small_value(self.0)),
            // SAFETY: a list word points to a cell that lives for 'h.
            1 => View::Cons(unsafe { Cons::from_raw((self.0 - TAG_LIST) as *const u64) }),
            2 => self.view_boxed(),
            _ => match self.0 & 15 {
                TAG_ATOM => View::Atom(Atom((self.0 >> 4) as u32)),
                TAG_PID => View::Pid(PidTerm::Local((self.0 >> 4) as u32)),
                TAG_PORT => View::Port(PortTerm::Local(self.0 >> 4)),
                _ => View::Nil,
            },
        }
    }

    fn view_boxed(self) -> View<'h> {
        let p = (self.0 - TAG_BOXED) as *const u64;
        // SAFETY: a boxed word points to a header that lives for 'h, and the subtag says what
        // follows it.
        unsafe {
            let h = *p;
            match header_subtag(h) {
                TUPLE => View::Tuple(Tuple::from_raw(p)),
                BIG_POS | BIG_NEG => View::Big(Big::from_raw(p)),
                FLOAT => View::Float(f64::from_bits(*p.add(1))),
                FUN | EXPORT => View::Fun(Fun::from_raw(p)),
                REF | MAGIC_REF => View::Ref(Ref::Local(LocalRef::from_raw(p))),
                EXT => {
                    let e = Ext::from_raw(p);
                    match e.kind() {
                        ExtKind::Pid => View::Pid(PidTerm::External(e)),
                        ExtKind::Port => View::Port(PortTerm::External(e)),
                        ExtKind::Ref => View::Ref(Ref::External(e)),
                    }
                }
                FLAT_MAP | HAMT => View::Map(Map::from_raw(p)),
                RECORD => View::Record(NativeRecord::from_raw(p)),
                _ => View::Bits(Bits::from_raw(p)),
            }
        }
    }

    /// Iterates over a list; the iterator's `rest` tells whether the list was proper.
    pub fn list(self) -> ListIter<'h> {
        ListIter { rest: self }
    }
    pub fn is_proper_list(self) -> bool {
        let mut it = self.list();
        it.by_ref().for_each(drop);
        it.rest.is_nil()
    }
    /// A proper list's elements.
    pub fn list_to_vec(self) -> Option<Vec<Term<'h>>> {
        let mut it = self.list();
        let v: Vec<_> = it.by_ref().collect();
        it.rest.is_nil().then_some(v)
    }
}

/// Iterates over a list; at the end `rest` is its tail: `[]` if the list was proper.
pub struct ListIter<'h> {
    pub rest: Term<'h>,
}
impl<'h> Iterator for ListIter<'h> {
    type Item = Term<'h>;
    #[inline]
    fn next(&mut self) -> Option<Term<'h>> {
        let c = self.rest.as_cons()?;
        self.rest = c.tail();
        Some(c.head())
    }
}

impl From<Atom> for Term<'_> {
    fn from(a: Atom) -> Self {
        Term::atom(a)
    }
}
impl From<bool> for Term<'_> {
    fn from(b: bool) -> Self {
        Term::bool(b)
    }
}
impl PartialEq<Atom> for Term<'_> {
    #[inline]
    fn eq(&self, a: &Atom) -> bool {
        self.0 == a.word()
    }
}
impl fmt::Debug for Term<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
