//! Building terms. Nothing here moves a term; each call allocates exactly what it says.

use std::sync::atomic::{AtomicU64, Ordering};

use kvik_term::map::ROOT;
use kvik_term::word::*;
use kvik_term::{Atom, Export, ExtKind, FunEntry, LocalRef, Term};

use crate::big_build::FEW_WORDS;
use crate::binary::{BinRef, Gather, MagicResource};
use crate::bits::copy_bits;
use crate::Heap;

/// Bytes of an off-heap binary that a term refers to, and in total.
pub struct OffHeapInfo {
    pub size: usize,
    pub capacity: usize,
    /// Whether it can be appended to.
    pub writable: bool,
}

impl Heap {
    /// A boxed term from words that follow a header.
    fn boxed(&self, h: u64, words: &[u64]) -> Term<'_> {
        let p = self.alloc(1 + words.len());
        // SAFETY: `alloc` gave that many words.
        unsafe {
            *p = h;
            std::ptr::copy_nonoverlapping(words.as_ptr(), p.add(1), words.len());
            Term::from_word(p as u64 + TAG_BOXED)
        }
    }

    #[inline]
    pub fn cons<'h>(&'h self, head: Term<'h>, tail: Term<'h>) -> Term<'h> {
        let p = self.alloc(2);
        // SAFETY: `alloc` gave two words.
        unsafe {
            *p = head.word();
            *p.add(1) = tail.word();
            Term::from_word(p as u64 + TAG_LIST)
        }
    }
    /// A list of the items, in order, ending in `tail`.
    pub fn list_with_tail<'h>(&'h self, items: &[Term<'h>], tail: Term<'h>) -> Term<'h> {
        if items.is_empty() {
            return tail;
        }
        let p = self.alloc(2 * items.len());
        // SAFETY: `alloc` gave two words an item.
        unsafe {
            for (i, t) in items.iter().enumerate() {
                let c = p.add(2 * i);
                *c = t.word();
                *c.add(1) =
                    if i + 1 < items.len() { c.add(2) as u64 + TAG_LIST } else { tail.word() };
            }
            Term::from_word(p as u64 + TAG_LIST)
        }
    }
    /// A proper list with another tail, and its number of items; `None` if there are more than
    /// `most`, or if the list is improper. What does not fit into the block goes to a fragment.
    pub fn list_again<'h>(
        &'h self,
        list: Term<'h>,
        most: usize,
        tail: Term<'h>,
    ) -> Option<(Term<'h>, usize)> {
        const MOST: usize = 4096;
        let first = self.htop.get();
        let mut made = tail.word();
        // The word that will point to the rest of the copy.
        let mut hole: *mut u64 = &mut made;
        // SAFETY: there is room for the words of so many cells at the heap's top, and in what is
        // allocated; all cells are linked, the last one to the tail.
        unsafe {
            let (mut n, mut rest) = copy_cells(list, first, most.min(self.room() / 2));
            let top = first.add(2 * n);
            if n > 0 {
                *hole = first as u64 + TAG_LIST;
                hole = top.sub(1);
            }
            let mut several = 32;
            while rest.as_cons().is_some() && n < most {
                let p = self.alloc_in_fragment(2 * several);
                let (more, behind) = copy_cells(rest, p, several.min(most - n));
                self.give_back(2 * (several - more));
                *hole = p as u64 + TAG_LIST;
                hole = p.add(2 * more - 1);
                (n, rest) = (n + more, behind);
                several = (2 * several).min(MOST);
            }
            if !rest.is_nil() {
                return None;
            }
            *hole = tail.word();
            self.htop.set(top);
            Some((Term::from_word(made), n))
        }
    }
    pub fn list<'h>(&'h self, items: &[Term<'h>]) -> Term<'h> {
        self.list_with_tail(items, Term::NIL)
    }
    /// A list of small integers: bytes or code points.
    pub fn charlist(&self, chars: impl DoubleEndedIterator<Item = u32>) -> Term<'_> {
        chars.rev().fold(Term::NIL, |tail, c| self.cons(Term::int(c as i32), tail))
    }
    /// A list of bytes, in one allocation.
    pub fn byte_list(&self, bytes: &[u8]) -> Term<'_> {
        self.bytes_with_tail(bytes, Term::NIL)
    }
    pub fn bytes_with_tail<'h>(&'h self, bytes: &[u8], tail: Term<'h>) -> Term<'h> {
        if bytes.is_empty() {
            return tail;
        }
        let p = self.alloc(2 * bytes.len());
        // SAFETY: `alloc` gave two words an item.
        unsafe {
            for (i, b) in bytes.iter().enumerate() {
                let c = p.add(2 * i);
                *c = small(*b as i64);
                *c.add(1) = c.add(2) as u64 + TAG_LIST;
            }
            *p.add(2 * bytes.len() - 1) = tail.word();
            Term::from_word(p as u64 + TAG_LIST)
        }
    }
    /// A string as a list of code points.
    pub fn string(&self, s: &str) -> Term<'_> {
        match s.is_ascii() {
            true => self.byte_list(s.as_bytes()),
            false => self.charlist(s.chars().map(|c| c as u32)),
        }
    }
    #[inline]
    pub fn tuple<'h>(&'h self, elements: &[Term<'h>]) -> Term<'h> {
        let p = self.alloc(1 + elements.len());
        // SAFETY: `alloc` gave that many words; a term is one word.
        unsafe {
            *p = header(TUPLE, elements.len());
            std::ptr::copy_nonoverlapping(elements.as_ptr().cast(), p.add(1), elements.len());
            Term::from_word(p as u64 + TAG_BOXED)
        }
    }
    #[inline]
    pub fn float(&self, f: f64) -> Term<'_> {
        let p = self.alloc(FLOAT_WORDS);
        // SAFETY: `alloc` gave that many words.
        unsafe {
            *p = header(FLOAT, 1);
            *p.add(1) = f.to_bits();
            Term::from_word(p as u64 + TAG_BOXED)
        }
    }
    pub fn integer(&self, i: i64) -> Term<'_> {
        match Term::small(i) {
            Some(t) => t,
            None => self.big(i < 0, &[i.unsigned_abs()]),
        }
    }
    pub fn unsigned(&self, i: u64) -> Term<'_> {
        match i64::try_from(i) {
            Ok(i) => self.integer(i),
            Err(_) => self.big(false, &[i]),
        }
    }
    /// An integer from 64-bit digits, least significant first; becomes a small one if it fits.
    pub fn big(&self, negative: bool, digits: &[u64]) -> Term<'_> {
        let n = digits.iter().rposition(|d| *d != 0).map_or(0, |i| i + 1);
        let digits = &digits[..n];
        let magnitude = match digits {
            [] => return Term::int(0),
            [d] => *d,
            _ => u64::MAX,
        };
        if magnitude <= SMALL_MAX as u64 + negative as u64 {
            let i = if negative { -(magnitude as i64) } else { magnitude as i64 };
            if let Some(t) = Term::small(i) {
                return t;
            }
        }
        self.boxed(header(if negative { BIG_NEG } else { BIG_POS }, n), digits)
    }

    /// An integer of up to `len` digits, least significant first, that `fill` writes (it finds zeros);
    /// negative if `fill` says so.
    #[inline(always)]
    pub(crate) fn big_with(&self, len: usize, fill: impl FnOnce(&mut [u64]) -> bool) -> Term<'_> {
        if len <= FEW_WORDS {
            let mut digits = [0; FEW_WORDS];
            let negative = fill(&mut digits[..len]);
            return self.big_of_few(negative, &digits[..len]);
        }
        let p = self.alloc(1 + len);
        // SAFETY: `alloc` gave that many words.
        unsafe {
            std::ptr::write_bytes(p.add(1), 0, len);
            let digits = std::slice::from_raw_parts_mut(p.add(1), len);
            let negative = fill(digits);
            let n = digits.iter().rposition(|d| *d != 0).map_or(0, |i| i + 1);
            if n <= 1 {
                let magnitude = digits.first().map_or(0, |d| *d);
                if magnitude <= SMALL_MAX as u64 + negative as u64 {
                    self.free_last(p, 1 + len, 0);
                    let i = magnitude as i64;
                    return Term::from_word(small(if negative { -i } else { i }));
                }
            }
            self.free_last(p, 1 + len, 1 + n);
            *p = header(if negative { BIG_NEG } else { BIG_POS }, n);
            Term::from_word(p as u64 + TAG_BOXED)
        }
    }

    /// A binary of these bytes: on the heap up to 64 bytes, else outside it.
    pub fn binary(&self, bytes: &[u8]) -> Term<'_> {
        if bytes.len() > HEAP_BIN_LIMIT {
            return self.refc_binary(BinRef::from_bytes(bytes), bytes.len());
        }
        let words = 1 + bytes.len().div_ceil(8);
        let p = self.alloc(1 + words);
        // SAFETY: `alloc` gave that many words, the last of which the bytes may not fill.
        unsafe {
            *p = header(HEAP_BIN, words);
            *p.add(words) = 0;
            *p.add(1) = bytes.len() as u64;
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), p.add(2).cast(), bytes.len());
            Term::from_word(p as u64 + TAG_BOXED)
        }
    }
    /// A binary of `len` bytes that `fill` writes (it finds zeros).
    pub fn binary_with<R>(&self, len: usize, fill: impl FnOnce(&mut [u8]) -> R) -> (Term<'_>, R) {
        if len > HEAP_BIN_LIMIT {
            let (b, r) = BinRef::with(len, fill);
            return (self.refc_binary(b, len), r);
        }
        let words = 1 + len.div_ceil(8);
        let p = self.alloc(1 + words);
        // SAFETY: `alloc` gave that many words.
        unsafe {
            *p = header(HEAP_BIN, words);
            *p.add(1) = len as u64;
            std::ptr::write_bytes(p.add(2), 0, words - 1);
            let r = fill(std::slice::from_raw_parts_mut(p.add(2).cast(), len));
            (Term::from_word(p as u64 + TAG_BOXED), r)
        }
    }
    /// A binary of `len` bytes that `fill` assembles from pieces.
    pub fn gathered(&self, len: usize, fill: impl FnOnce(&mut Gather)) -> Term<'_> {
        if len > HEAP_BIN_LIMIT {
            return self.refc_binary(BinRef::gather(len, fill).0, len);
        }
        self.binary_with(len, |room| fill(&mut Gather::over(room))).0
    }
    /// All of an off-heap binary: shared, unless it is small enough to be copied.
    #[inline]
    pub fn whole_binary(&self, b: BinRef) -> Term<'_> {
        match b.bytes().len() {
            n if n > HEAP_BIN_LIMIT => self.refc_binary(b, n),
            _ => self.binary(b.bytes()),
        }
    }
    /// Bytes `from .. from + len` of an off-heap binary: shared, unless the part is small enough to
    /// be copied. Only the part counts as held. `None` if the binary has no such bytes.
    pub fn binary_part(&self, b: BinRef, from: usize, len: usize) -> Option<Term<'_>> {
        let part = b.bytes().get(from..from.checked_add(len)?)?;
        if len <= HEAP_BIN_LIMIT {
            return Some(self.binary(part));
        }
        let size = b.bytes().len();
        if len < size {
            self.count_off_heap(len);
            let whole = self.uncounted_binary(b, size);
            return self.sub_binary(whole, from * 8, len * 8);
        }
        Some(self.refc_binary(b, size))
    }
    /// The first `len` bytes of an off-heap binary.
    #[inline]
    pub fn refc_binary(&self, b: BinRef, len: usize) -> Term<'_> {
        let len = len.min(b.capacity());
        self.count_off_heap(len);
        self.uncounted_binary(b, len)
    }
    #[inline]
    fn uncounted_binary(&self, b: BinRef, len: usize) -> Term<'_> {
        let data = b.data() as u64;
        let p = self.alloc(REFC_BIN_WORDS);
        // SAFETY: `alloc` gave that many words; the object joins our chain with its count.
        unsafe {
            *p = header(REFC_BIN, REFC_BIN_WORDS - 1);
            *p.add(1) = len as u64;
            *p.add(2) = self.off_heap.get() as u64;
            *p.add(3) = b.into_raw() as u64;
            *p.add(4) = data;
            *p.add(5) = 0;
            self.off_heap.set(p);
            Term::from_word(p as u64 + TAG_BOXED)
        }
    }
    /// A bit string of bytes, the last of which holds only its high `last_bits` (1 to 8) bits.
    pub fn bitstring(&self, bytes: &[u8], bit_len: usize) -> Term<'_> {
        let b = self.binary(&bytes[..bit_len.div_ceil(8).min(bytes.len())]);
        if bit_len.is_multiple_of(8) {
            b
        } else {
            self.sub_binary(b, 0, bit_len).unwrap_or(b)
        }
    }
    /// Bits `off .. off + len` of a bit string, sharing its bytes unless they are
    /// few. `None` where out of range.
    pub fn sub_binary<'h>(&'h self, of: Term<'h>, off: usize, len: usize) -> Option<Term<'h>> {
        let bits = of.as_bits()?;
        if off.checked_add(len)? > bits.bit_len() {
            return None;
        }
        if off == 0 && len == bits.bit_len() {
            return Some(of);
        }
        if len.is_multiple_of(8) && len <= HEAP_BIN_LIMIT * 8 {
            // A small part is copied, so that it does not keep a large binary alive.
            let (from, at) = (bits.storage().as_ptr(), bits.bit_offset() as usize + off);
            let fill = |out: &mut [u8]| {
                // SAFETY: the storage has the bits up to `off + len`.
                unsafe { copy_bits(out.as_mut_ptr(), 0, from, at, len) }
            };
            return Some(self.binary_with(len / 8, fill).0);
        }
        let (h, p) = of.boxed()?;
        let (orig, base) = match header_subtag(h) {
            // SAFETY: the layout of SUB_BIN.
            SUB_BIN => unsafe { (*p.add(1), small_value(*p.add(2)) as usize) },
            _ => (of.word(), 0),
        };
        let words = [orig, small((base + off) as i64), small(len as i64), small(0)];
        Some(self.boxed(header(SUB_BIN, 4), &words))
    }
    /// Properties of the off-heap binary behind a bit string.
    pub fn off_heap_info(&self, t: Term<'_>) -> Option<OffHeapInfo> {
        let (h, mut p) = t.boxed()?;
        // SAFETY: the layouts of `word`.
        unsafe {
            if header_subtag(h) == SUB_BIN {
                p = (*p.add(1) - TAG_BOXED) as *const u64;
            }
            (header_subtag(*p) == REFC_BIN).then(|| {
                let b = std::mem::ManuallyDrop::new(BinRef::from_raw(
                    *p.add(3) as *mut crate::binary::Binary
                ));
                OffHeapInfo {
                    size: *p.add(1) as usize,
                    capacity: b.capacity(),
                    writable: *p.add(5) & crate::bits::WRITABLE != 0,
                }
            })
        }
    }
    /// The off-heap binary behind a binary term, with the term's offset and length there in bits.
    /// `None` if the binary is on the heap.
    pub fn off_heap_of<'h>(&'h self, t: Term<'h>) -> Option<(BinRef, usize, usize)> {
        let (h, p) = t.boxed()?;
        // SAFETY: the layouts of `word`.
        unsafe {
            match header_subtag(h) {
                REFC_BIN => {
                    let b = BinRef::retain(*p.add(3) as *mut crate::binary::Binary);
                    Some((b, 0, *p.add(1) as usize * 8))
                }
                SUB_BIN => {
                    let q = (*p.add(1) - TAG_BOXED) as *const u64;
                    (header_subtag(*q) == REFC_BIN).then(|| {
                        let b = BinRef::retain(*q.add(3) as *mut crate::binary::Binary);
                        (b, small_value(*p.add(2)) as usize, small_value(*p.add(3)) as usize)
                    })
                }
                _ => None,
            }
        }
    }

    /// A reference that is unique in this run of the node.
    pub fn make_ref(&self) -> Term<'_> {
        let [a, b] = ref_words(next_ref());
        self.boxed(header(REF, 2), &[a, b])
    }
    /// A reference from its three numbers, as `LocalRef::numbers` returns them.
    pub fn ref_of_numbers(&self, n: [u32; 3]) -> Term<'_> {
        let [a, b] = ref_words(n);
        self.boxed(header(REF, 2), &[a, b])
    }
    /// The same for a reference that carries its process (an alias).
    pub fn alias_ref_of_numbers(&self, n: [u32; 3], pid: u32) -> Term<'_> {
        let [a, b] = ref_words(n);
        self.boxed(header(REF, 3), &[a, b, Term::local_pid(pid).word()])
    }
    /// A new reference that stands for a resource and keeps it alive.
    pub fn magic_ref(&self, r: MagicResource) -> Term<'_> {
        self.magic_ref_of_numbers(next_ref_of(RefKind::Magic), r)
    }
    /// The same with given numbers: many equal references may stand for one resource.
    pub fn magic_ref_of_numbers(&self, n: [u32; 3], r: MagicResource) -> Term<'_> {
        let [a, b] = ref_words(n);
        let t = self.boxed(
            header(MAGIC_REF, 4),
            &[a, b, self.off_heap.get() as u64, Box::into_raw(Box::new(r)) as u64],
        );
        self.off_heap.set((t.word() - TAG_BOXED) as *mut u64);
        t
    }
    /// The resource a magic reference stands for, for as long as the reference is borrowed.
    #[inline]
    pub fn resource_ref(t: Term<'_>) -> Option<&MagicResource> {
        Heap::resource_of_ref(t.as_local_ref()?)
    }
    #[inline]
    pub(crate) fn resource_of_ref(r: LocalRef<'_>) -> Option<&MagicResource> {
        let r = r.resource()?;
        // SAFETY: a magic reference's word is a boxed Resource that lives as long as it.
        Some(unsafe { &*r.cast::<MagicResource>() })
    }
    /// The resource a magic reference stands for.
    pub fn resource_of(&self, t: Term<'_>) -> Option<MagicResource> {
        Heap::resource_ref(t).cloned()
    }
    /// A pid, port or reference of another node. `data` in the format of [`kvik_term::Ext`].
    pub fn external(
        &self,
        kind: ExtKind,
        node: Atom,
        creation: u32,
        data: &[u64],
        numbers: usize,
    ) -> Term<'_> {
        let own = match kind {
            ExtKind::Pid => 0,
            ExtKind::Port => 1,
            ExtKind::Ref => 2 | (numbers as u32) << 2,
        };
        let mut words = vec![node.word(), small(creation as i64)];
        words.extend_from_slice(data);
        self.boxed(header_with(EXT, words.len(), own), &words)
    }
    /// `fun M:F/A`.
    pub fn export_fun(&self, e: &'static Export) -> Term<'_> {
        self.boxed(header(EXPORT, 1), &[e as *const Export as u64])
    }
    pub fn fun<'h>(
        &'h self,
        e: &'static FunEntry,
        arity: usize,
        creator: Term<'h>,
        env: &[Term<'h>],
    ) -> Term<'h> {
        let p = self.alloc(4 + env.len());
        // SAFETY: `alloc` gave that many words.
        unsafe {
            *p = header(FUN, 3 + env.len());
            *p.add(1) = e as *const FunEntry as u64;
            *p.add(2) = small(arity as i64);
            *p.add(3) = creator.word();
            std::ptr::copy_nonoverlapping(env.as_ptr().cast(), p.add(4), env.len());
            Term::from_word(p as u64 + TAG_BOXED)
        }
    }
    /// A map of keys in their order (`cmp::key_order`; at most 32) and their values.
    pub(crate) fn flat_map_sorted<'h>(&'h self, keys: Term<'h>, values: &[Term<'h>]) -> Term<'h> {
        self.flat_map_of(keys, &[values])
    }
    /// The same, of values in several pieces.
    pub fn flat_map_of<'h>(&'h self, keys: Term<'h>, values: &[&[Term<'h>]]) -> Term<'h> {
        let n = values.iter().map(|v| v.len()).sum::<usize>();
        // SAFETY: a number, the keys and a value for each is what a flat map has.
        unsafe { self.object(header(FLAT_MAP, 2 + n), &[small(n as i64), keys.word()], values) }
    }
    /// A tuple of elements in several pieces.
    pub fn tuple_of<'h>(&'h self, elements: &[&[Term<'h>]]) -> Term<'h> {
        let n = elements.iter().map(|v| v.len()).sum();
        // SAFETY: a tuple has nothing but its elements.
        unsafe { self.object(header(TUPLE, n), &[], elements) }
    }
    /// A node of a hashed map: a bitmap of its children, and the children in several pieces; for a
    /// root also the map's number of keys.
    pub fn hamt_node<'h>(
        &'h self,
        bitmap: u32,
        root_of: Option<usize>,
        children: &[&[Term<'h>]],
    ) -> Term<'h> {
        let n = children.iter().map(|v| v.len()).sum::<usize>();
        // SAFETY: as `kvik_term::map` lays it out.
        unsafe {
            match root_of {
                None => self.object(header_with(HAMT, n, bitmap), &[], children),
                Some(keys) => {
                    let h = header_with(HAMT, 1 + n, bitmap | ROOT);
                    self.object(h, &[small(keys as i64)], children)
                }
            }
        }
    }
    /// Replaces a child of a node that was just made and that nothing else refers to.
    pub(crate) fn set_child(&self, node: Term<'_>, is_root: bool, place: usize, child: Term<'_>) {
        let Some((h, p)) = node.boxed() else { return };
        let at = 1 + is_root as usize + place;
        assert!(header_subtag(h) == HAMT && at <= header_words(h));
        // SAFETY: the node has that word, and nobody reads it meanwhile.
        unsafe { *p.cast_mut().add(at) = child.word() }
    }
    /// # Safety
    /// The header says what follows it, and how much.
    unsafe fn object(&self, header: u64, first: &[u64], parts: &[&[Term<'_>]]) -> Term<'_> {
        let p = self.alloc(1 + header_words(header));
        // SAFETY: `alloc` gave that many words.
        unsafe {
            *p = header;
            let mut to = p.add(1);
            for w in first {
                *to = *w;
                to = to.add(1);
            }
            for part in parts {
                for t in *part {
                    *to = t.word();
                    to = to.add(1);
                }
            }
            debug_assert!(to == p.add(1 + header_words(header)));
            Term::from_word(p as u64 + TAG_BOXED)
        }
    }
}

/// Copies up to `most` cells of a list, one behind the other, without the last one's tail. Returns
/// how many there were, and the rest of the list.
///
/// # Safety
/// There is room for them at `to`.
#[inline(always)]
unsafe fn copy_cells<'h>(list: Term<'h>, to: *mut u64, most: usize) -> (usize, Term<'h>) {
    let mut rest = list;
    let mut n = 0;
    while let Some(c) = rest.as_cons().filter(|_| n < most) {
        // SAFETY: as the caller says.
        unsafe {
            let p = to.add(2 * n);
            *p = c.head().word();
            *p.add(1) = p.add(2) as u64 + TAG_LIST;
        }
        rest = c.tail();
        n += 1;
    }
    (n, rest)
}

kvik_state::vm_state! {
    static REFS: AtomicU64 = AtomicU64::new(1 << 20);
}

/// Sets the number of the first reference. Every run of a node begins at another one: programs keep
/// references beyond the run, and take them for unique and for well spread when hashed.
pub fn begin_refs(first: u64) {
    REFS.store(first, Ordering::Relaxed);
}
/// What a reference stands for: nothing, a process, or a resource.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RefKind {
    Plain,
    Alias,
    Magic,
}
/// Three numbers that no other call returns: 18, 32 and 32 bits. The last two are those of a
/// counter, with the kind in bits 18 and 19; the first, the only one that is hashed, repeats the low
/// bits. So references are in the order in which they were made, but that some 262,144 of one kind
/// come before those of the next, as in OTP.
pub fn next_ref_of(kind: RefKind) -> [u32; 3] {
    let n = REFS.fetch_add(1, Ordering::Relaxed);
    let low = (n & 0x3_FFFF) as u32;
    [low, low | (kind as u32) << 18 | ((n >> 18) as u32) << 20, (n >> 30) as u32]
}
/// Whether these are the numbers of an alias.
pub fn is_alias([_, low, _]: [u32; 3]) -> bool {
    low >> 18 & 3 == RefKind::Alias as u32
}
/// Whether such numbers come from [`next_ref_of`].
pub fn is_made_here([hashed, low, _]: [u32; 3]) -> bool {
    hashed == low & 0x3_FFFF
}
/// A number that grows with each reference that is made, whatever its kind.
#[inline]
pub fn age_of_ref([_, low, high]: [u32; 3]) -> u64 {
    u64::from(low & 0x3_FFFF) | u64::from(low >> 20) << 18 | u64::from(high) << 30
}
/// The same for a reference that stands for nothing.
pub fn next_ref() -> [u32; 3] {
    next_ref_of(RefKind::Plain)
}
fn ref_words(n: [u32; 3]) -> [u64; 2] {
    [n[0] as u64 | (n[1] as u64) << 32, n[2] as u64]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deep<'h>(h: &'h Heap, n: i32) -> Term<'h> {
        (0..n).fold(Term::NIL, |l, i| {
            let b = h.binary(&vec![i as u8; 60 + (i % 10) as usize]);
            h.cons(h.tuple(&[Term::int(i), b, h.float(i as f64)]), l)
        })
    }
    fn check(t: Term<'_>, n: i32) {
        for (k, e) in t.list().enumerate() {
            let i = n - 1 - k as i32;
            let [a, b, f] = e.as_tuple_n().unwrap();
            assert_eq!(a.as_small(), Some(i as i64));
            assert_eq!(b.as_bytes().unwrap(), vec![i as u8; 60 + (i % 10) as usize]);
            assert_eq!(f.as_float(), Some(i as f64));
        }
    }

    #[test]
    fn terms_survive_collections() {
        let h = Heap::new(64);
        let mut x = [deep(&h, 300).word(), h.magic_ref(std::sync::Arc::new(7u32)).word()];
        for round in 0..6 {
            // SAFETY: `x` is the only way in.
            unsafe {
                h.collect(x.as_mut_ptr(), 2, 100, round == 4);
                check(Term::from_word(x[0]), 300);
                let r = h.resource_of(Term::from_word(x[1])).unwrap();
                assert_eq!(r.downcast_ref::<u32>(), Some(&7));
            }
            assert!(h.room() >= 100);
            let _garbage = deep(&h, 50);
        }
    }

    #[test]
    fn references_are_told_apart_by_their_last_two_numbers() {
        let all = [(); 1000].map(|_| next_ref());
        let counted = |r: &[u32; 3]| u64::from(r[1]) | u64::from(r[2]) << 32;
        assert!(all.windows(2).all(|w| counted(&w[0]) < counted(&w[1])));
        assert!(all.iter().all(|r| r[0] == r[1] & 0x3_FFFF));
        begin_refs(1 << 40);
        let later = [RefKind::Magic, RefKind::Alias, RefKind::Plain].map(next_ref_of);
        assert!(later.windows(2).all(|w| counted(&w[0]) > counted(&w[1])));
        assert!(later.iter().all(|r| counted(r) > counted(&all[999])));
        assert_eq!(later.map(|r| r[0]), [0, 1, 2]);
        assert_eq!(later.map(age_of_ref), [1 << 40, (1 << 40) + 1, (1 << 40) + 2]);
    }

    #[test]
    fn lists_with_another_tail() {
        let sizes = [(100, 0), (100, 1), (60, 40), (48, 200), (48, 9000), (4000, 1500)];
        for (room, n) in sizes.into_iter().filter(|s| !cfg!(miri) || s.1 <= 200) {
            let h = Heap::new(room);
            let items: Vec<_> = (0..n).map(Term::int).collect();
            let from = Heap::new(64);
            let (list, tail) = (from.list(&items), h.tuple(&[]));
            assert_eq!(h.list_again(list, n as usize, tail).map(|(_, n)| n), Some(n as usize));
            let (t, _) = h.list_again(list, 1 << 20, tail).unwrap();
            assert!(kvik_term::cmp::eq_exact(t, h.list_with_tail(&items, tail)));
            let (words, improper) = (h.sizes(), from.list_with_tail(&items, Term::int(1)));
            assert!(n == 0 || h.list_again(list, n as usize - 1, tail).is_none());
            assert!(h.list_again(improper, 1 << 20, tail).is_none());
            assert_eq!(h.sizes().used, words.used);
        }
    }

    #[test]
    fn messages_are_copied_and_adopted() {
        let h = Heap::new(64);
        let m = OwnedTerm::new(deep(&h, 40));
        let small = OwnedTerm::new(h.tuple(&[Term::int(1), h.string("abc")]));
        let g = Heap::new(64);
        check(m.clone().term(), 40);
        check(g.borrow_message(m), 40);
        g.keep_borrowed_message();
        let t = g.borrow_message(small).as_tuple().unwrap();
        assert_eq!(t.get(1).unwrap().list_to_vec().unwrap().len(), 3);
    }

    #[test]
    fn integers_normalise() {
        let h = Heap::new(64);
        assert_eq!(h.integer(SMALL_MAX).as_small(), Some(SMALL_MAX));
        assert!(h.integer(SMALL_MAX + 1).as_small().is_none());
        assert_eq!(h.integer(i64::MIN).as_i64(), Some(i64::MIN));
        assert_eq!(h.big(true, &[1 << 59, 0]).as_small(), Some(SMALL_MIN));
    }
    use crate::OwnedTerm;
}
