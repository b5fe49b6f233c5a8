//! Native records: what templates leave to the runtime.

use kvik_code::{ForeignRecord, RecordInfo, RecordSite};
use kvik_heap::records::FieldError;
use kvik_heap::Regs;
use kvik_proc::Proc;
use kvik_term::word::NONE;
use kvik_term::{am, Atom, NativeRecord, RecordDef, Term};

use super::Operands;
use crate::checked::check_roots;

/// The result of a function that has collected: its operands have moved, so that the template has
/// to start over.
pub const RETRY: u64 = 0;

/// What the functions that make a record get besides their operands, in one word.
#[derive(Copy, Clone)]
pub struct Making {
    /// Number of operands.
    pub operands: usize,
    /// Live x registers, if a collection is possible here.
    pub live: Option<u64>,
}

/// Bits of `operands`; those of the live registers, plus one, follow.
const OPERAND_BITS: u32 = 20;

impl Making {
    pub fn word(self) -> u64 {
        self.operands as u64 | self.live.map_or(0, |n| n + 1) << OPERAND_BITS
    }
    fn of(word: u64) -> Making {
        let operands = word as usize & ((1 << OPERAND_BITS) - 1);
        Making { operands, live: (word >> OPERAND_BITS).checked_sub(1) }
    }
    /// Makes room for a record of that many values. `None` if there was.
    fn collected(self, p: &Proc, regs: &Regs, values: usize) -> Option<u64> {
        let (words, live) = (2 + values, self.live? as usize);
        if p.heap.has_room(words) {
            return None;
        }
        check_roots(p, regs, live);
        // SAFETY: a safepoint: the live x registers, the stack and the roots hold all terms that
        // are used afterwards.
        match unsafe { super::stop::collect_now(p, regs.x_ptr(), live, words) } {
            true => Some(RETRY),
            false => Some(NONE),
        }
    }
    /// The operands behind the first one: sorted keys and their values.
    fn given<'h>(self, p: &'h Proc, args: Operands) -> &'h [[Term<'h>; 2]] {
        args.terms(p, self.operands).get(1..).map_or(&[], |pairs| pairs.as_chunks().0)
    }
}

/// A record of another module. Operands: the address of its entry (as a small integer), keys and
/// values.
pub extern "C" fn create(p: &Proc, regs: &Regs, args: Operands, extra: u64) -> u64 {
    let address = args.term(p, 0).as_small().unwrap_or(0);
    // SAFETY: the template's operand is the address of an entry, which is never freed.
    let e: &'static ForeignRecord = unsafe { &*(address as *const ForeignRecord) };
    // A literal of a current version is not freed before this process has reached a safepoint.
    let info = e.literal().and_then(|w| RecordInfo::of(term(p, w)));
    let exported = |i: &RecordInfo<'_>| definition(i).is_some_and(|d| d.is_exported());
    match info.filter(exported) {
        Some(info) => create_by(p, regs, info, args, Making::of(extra)),
        None => {
            p.error_pair(am::badrecord, p.heap.tuple(&[e.module.into(), e.name.into()]));
            NONE
        }
    }
}
/// Records the error that there is no such record. Operand: what should be its name.
pub extern "C" fn no_record(p: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    p.error_pair(am::badrecord, args.term(p, 0));
    NONE
}
/// A record of the module itself. Operands: the literal that describes it, keys and values.
pub extern "C" fn create_own(p: &Proc, regs: &Regs, args: Operands, extra: u64) -> u64 {
    match RecordInfo::of(args.term(p, 0)) {
        Some(info) => create_by(p, regs, info, args, Making::of(extra)),
        None => {
            p.error_pair(am::badrecord, Term::NIL);
            NONE
        }
    }
}
fn definition<'h>(info: &RecordInfo<'h>) -> Option<RecordDef<'h>> {
    RecordDef::of(info.definition)
}
fn create_by<'h>(
    p: &'h Proc,
    regs: &Regs,
    info: RecordInfo<'h>,
    args: Operands,
    making: Making,
) -> u64 {
    if let Some(result) = making.collected(p, regs, info.field_count()) {
        return result;
    }
    make_over(p, info.definition, info.base(), making.given(p, args))
}

/// A record with other values for some fields. Operands: the record, keys and values.
pub extern "C" fn update(p: &Proc, regs: &Regs, args: Operands, extra: u64) -> u64 {
    let (source, making) = (args.term(p, 0), Making::of(extra));
    let Some(r) = source.as_record() else {
        p.error_pair(am::badrecord, source);
        return NONE;
    };
    if let Some(result) = making.collected(p, regs, r.values().len()) {
        return result;
    }
    let base = (r.values(), std::iter::empty());
    make_over(p, r.definition_term(), base, making.given(p, args))
}

fn make_over<'h>(
    p: &'h Proc,
    definition: Term<'h>,
    (base, required): (&[Term<'h>], impl Iterator<Item = usize>),
    given: &[[Term<'h>; 2]],
) -> u64 {
    let made = p.heap.record_over(definition, base, required, given);
    let (Some(made), Some(d)) = (made, RecordDef::of(definition)) else { return NONE };
    match made {
        Ok(record) => record.word(),
        Err(FieldError::Unknown(key)) => field_error(p, am::badfield, d, key),
        Err(FieldError::NoValue(key)) => field_error(p, am::novalue, d, key),
    }
}
fn field_error<'h>(p: &'h Proc, tag: Atom, d: RecordDef<'h>, key: Term<'h>) -> u64 {
    let id = p.heap.tuple(&[d.module().into(), d.name().into()]);
    p.error_pair(tag, p.heap.tuple(&[id, key]));
    NONE
}
/// Records the error that a field is unknown or has no value. Operands: module, name, key. `extra`:
/// the error's tag.
pub extern "C" fn wrong_field(p: &Proc, _: &Regs, args: Operands, extra: u64) -> u64 {
    let id = p.heap.tuple(&[args.term(p, 0), args.term(p, 1)]);
    let tag = if extra == am::novalue.word() { am::novalue } else { am::badfield };
    p.error_pair(tag, p.heap.tuple(&[id, args.term(p, 2)]));
    NONE
}

fn term<'h>(_: &'h Proc, w: u64) -> Term<'h> {
    // SAFETY: templates pass live terms, and nothing is collected here.
    unsafe { Term::from_word(w) }
}
/// The value of a field, for a site whose cache has another definition; `NONE` if it is no record,
/// the site's name does not admit it, or it lacks the key.
pub extern "C" fn find(p: &Proc, record: u64, site: u64, _: u64) -> u64 {
    // SAFETY: the template gives the address of a site of its module.
    let site = unsafe { &*(site as *const RecordSite) };
    let Some(r) = term(p, record).as_record() else { return NONE };
    let d = r.definition();
    let at = Some(d).filter(|d| site.name.admits(*d)).and_then(|d| d.index_of(site.key.into()));
    let Some((at, value)) = at.and_then(|at| Some((at, r.values().get(at)?))) else { return NONE };
    site.note(r.definition_term(), at);
    value.word()
}

/// The value of a field, or an error. Operands: the record, its name (an atom in its own module,
/// `{Module, Name}` in others, `'_'` for any record), the key.
pub extern "C" fn field(p: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    let (source, id, key) = (args.term(p, 0), args.term(p, 1), args.term(p, 2));
    let Some(r) = source.as_record().filter(|r| is_readable(*r, id)) else {
        p.error_pair(am::badrecord, source);
        return NONE;
    };
    match r.get(key) {
        Some(value) => value.word(),
        None => field_error(p, am::badfield, r.definition(), key),
    }
}
fn is_readable(r: NativeRecord<'_>, id: Term<'_>) -> bool {
    let d = r.definition();
    match (id.as_atom(), id.as_tuple_n::<2>()) {
        (Some(name), _) => name == am::underscore || name == d.name(),
        (_, Some([module, name])) => {
            module.is_atom(d.module()) && name.is_atom(d.name()) && d.is_exported()
        }
        _ => false,
    }
}
