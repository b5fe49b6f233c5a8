//! Native records. A record that the module itself defines is made, and its fields are read, by
//! native code; the runtime does the rest.

use kvik_beam::{Arg, Op, Opcode};
use kvik_code::{record_entry, ForeignRecord, RecordInfo, RecordName, RecordSite};
use kvik_term::record::FIRST_KEY;
use kvik_term::word::{fits_small, header, NONE, RECORD, TAG_BOXED};
use kvik_term::{am, cmp, Atom, RecordDef, Term};

use std::sync::Arc;

use crate::compiler::{same_register, Compiler, EmitResult};
use crate::rt;
use crate::rt::records::{self, Making};
use crate::x86_64::asm::*;
use crate::x86_64::HTOP;

/// A record of more fields is made by the runtime.
const MOST_INLINE: usize = 64;
/// The same for one of another module, whose number of fields is not known.
const MOST_CACHED: usize = 16;

/// Offsets from a boxed pointer: the definition of a record, its first value; in a definition its
/// module, its name, and whether it is exported.
const DEFINITION: i32 = 8 - TAG_BOXED as i32;
const VALUES: i32 = 16 - TAG_BOXED as i32;
const MODULE: i32 = 8 * 3 - TAG_BOXED as i32;
const NAME: i32 = 8 * 4 - TAG_BOXED as i32;
const EXPORTED: i32 = 8 * FIRST_KEY as i32 - TAG_BOXED as i32;

/// Where a header has the number of words behind it.
const HEADER_WORDS: u8 = 8;
const _: () = assert!(header(0, 1) >> HEADER_WORDS == 1);

/// A field of an instruction: its key, the operand with the key, the other operand.
type Field = (Atom, Arg, Arg);

/// A `put_record`.
struct Put<'m> {
    /// Sorted by key.
    fields: Vec<Field>,
    list: &'m [Arg],
    live: u64,
    to: Arg,
}

impl Put<'_> {
    /// Whether a collection before the operands are read leaves them as they are.
    fn sources_live(&self, source: Arg) -> bool {
        let lives = |arg: &Arg| !matches!(arg, Arg::X(x, _) if u64::from(*x) >= self.live);
        lives(&source) && self.list.iter().all(lives)
    }
}

impl<'m> Compiler<'m> {
    pub fn records(&mut self, op: &Op) -> EmitResult {
        self.is_private = true;
        match (op.opcode, self.args(op)) {
            (Opcode::GetRecordElements, [Arg::Label(f), s, ..]) => {
                let fail = self.label(*f)?;
                self.record_values(fail, *s, self.list(op))
            }
            (Opcode::PutRecord, [_, id, s, to, Arg::U(live), ..]) => {
                let list = self.list(op);
                let put = Put { fields: self.fields(list)?, list, live: *live, to: *to };
                match (id, s) {
                    (Arg::Atom(_), Arg::Nil) => self.own_record(*id, put),
                    (_, Arg::Nil) => self.foreign_record(*id, put),
                    _ => self.changed_record(*id, *s, put),
                }
            }
            (Opcode::IsRecordAccessible, [Arg::Label(f), s, scope]) => {
                let fail = self.label(*f)?;
                self.is_accessible(fail, *s, *scope)
            }
            (Opcode::GetRecordField, [j, s, id, key, to]) => {
                let fail = self.fail(*j)?;
                self.record_field(fail, [*s, *id, *key], *to)
            }
            _ => Err(self.refuse("record instruction")),
        }
    }

    fn atom_of(&self, arg: Arg) -> Option<Atom> {
        match arg {
            Arg::Atom(i) => self.atoms.get(i as usize).copied(),
            _ => None,
        }
    }
    /// The fields of a list, sorted by key.
    fn fields(&self, list: &[Arg]) -> Result<Vec<Field>, crate::LoadError> {
        let field = |pair: &[Arg]| Some((self.atom_of(pair[0])?, pair[0], pair[1]));
        let fields = list.chunks_exact(2).map(field).collect::<Option<Vec<_>>>();
        let mut fields = fields.ok_or_else(|| self.refuse("field"))?;
        fields.sort_by(|a, b| cmp::key_order(a.0.into(), b.0.into()));
        Ok(fields)
    }
    /// The record of the module at that index.
    fn record_at(&self, i: usize) -> Option<RecordInfo<'m>> {
        RecordInfo::of(self.literals.get(self.records.get(i)?.literal)?)
    }
    /// The record of the module that an instruction names: by an atom, or by `{Module, Name}`.
    fn named_record(&self, id: Arg) -> Option<usize> {
        let name = match id {
            Arg::Literal(i) => {
                let [module, name] = self.literals.get(i as usize)?.as_tuple_n()?;
                module.as_atom().filter(|m| self.atoms.get(1) == Some(m))?;
                name.as_atom()?
            }
            _ => self.atom_of(id)?,
        };
        self.records.iter().position(|r| r.name == name)
    }
    /// The same as what an instruction that reads a field admits.
    fn record_name(&self, id: Arg) -> Option<RecordName> {
        if let Arg::Literal(i) = id {
            let [module, name] = self.literals.get(i as usize)?.as_tuple_n()?;
            return Some(RecordName::Of(module.as_atom()?, name.as_atom()?));
        }
        Some(match self.atom_of(id)? {
            am::underscore => RecordName::Any,
            name => RecordName::Own(name),
        })
    }
    /// The indexes in a record's values of these keys, if it has all.
    fn indexes(&self, record: usize, keys: &[Arg]) -> Option<(Term<'m>, Vec<i32>)> {
        let definition = self.record_at(record)?.definition;
        let d = RecordDef::of(definition)?;
        let index = |key: &Arg| d.index_of(self.atom_of(*key)?.into()).map(|i| i as i32);
        Some((definition, keys.iter().map(index).collect::<Option<_>>()?))
    }
    /// The definition in this module of what is probably such a record, and the indexes of the
    /// keys: what was tested for last, or the first one that has all these keys.
    fn probable(&self, keys: &[Arg]) -> Option<(Term<'m>, Vec<i32>)> {
        let all = self.tested_record.into_iter().chain(0..self.records.len());
        all.into_iter().find_map(|i| self.indexes(i, keys))
    }

    /// Notes which record of the module is tested for.
    pub(super) fn note_record(&mut self, module: Atom, name: Atom) {
        let own = self.atoms.get(1) == Some(&module);
        let at = self.records.iter().position(|r| r.name == name);
        self.tested_record = at.filter(|_| own);
    }

    /// Jumps to `fail` unless the register holds a record, if that is not proved.
    fn surely_record(&mut self, r: R, fail: Label) {
        if self.proof.checked_needed(self.at) {
            self.one_of(r, &[RECORD], fail);
        }
    }

    /// `is_native_record`
    pub(super) fn is_record_of(&mut self, r: R, id: [Arg; 2], fail: Label) -> EmitResult {
        let [Some(module), Some(name)] = id.map(|a| self.atom_of(a)) else {
            return Err(self.refuse("record"));
        };
        self.note_record(module, name);
        self.surely_record(r, fail);
        self.a.mov_rm(RAX, r, DEFINITION);
        for (at, atom) in [(MODULE, module), (NAME, name)] {
            self.a.mov_rm(RDX, RAX, at);
            self.cmp_word(RDX, atom.word());
            self.a.jcc(Cc::Ne, fail);
        }
        Ok(())
    }

    fn is_accessible(&mut self, fail: Label, s: Arg, scope: Arg) -> EmitResult {
        let r = self.src(s, RDX)?;
        self.surely_record(r, fail);
        self.a.mov_rm(RAX, r, DEFINITION);
        self.a.mov_rm(RDX, RAX, EXPORTED);
        self.cmp_word(RDX, am::true_.word());
        if self.atom_of(scope) == Some(am::external) {
            self.a.jcc(Cc::Ne, fail);
            return Ok(());
        }
        let accessible = self.a.label();
        self.a.jcc(Cc::E, accessible);
        self.a.mov_rm(RDX, RAX, MODULE);
        let own = self.atoms.get(1).copied().ok_or_else(|| self.refuse("name"))?;
        self.cmp_word(RDX, own.word());
        self.a.jcc(Cc::Ne, fail);
        self.a.place(accessible);
        Ok(())
    }

    /// `get_record_elements`
    fn record_values(&mut self, fail: Label, s: Arg, list: &[Arg]) -> EmitResult {
        let mut pairs: Vec<[Arg; 2]> = list.chunks_exact(2).map(|p| [p[0], p[1]]).collect();
        // The runtime reads the record again for each value.
        pairs.sort_by_key(|[_, to]| same_register(*to, s));
        let keys: Vec<Arg> = pairs.iter().map(|p| p[0]).collect();
        self.load(s, RDI)?;
        self.surely_record(RDI, fail);
        let Some((definition, indexes)) = self.probable(&keys) else {
            return self.find_values(fail, s, &pairs);
        };
        let (other, back) = (self.a.label(), self.a.label());
        self.a.mov_ri(RAX, definition.word());
        self.a.alu_rm(Alu::Cmp, RAX, RDI, DEFINITION);
        self.a.jcc(Cc::Ne, other);
        for ([_, to], i) in pairs.iter().zip(indexes) {
            let into = self.dst(*to, RAX);
            self.a.mov_rm(into, RDI, VALUES + 8 * i);
            self.store(*to, into)?;
        }
        self.a.place(back);
        self.later(move |c| {
            c.a.place(other);
            c.find_values(fail, s, &pairs)?;
            c.a.jmp(back);
            Ok(())
        });
        Ok(())
    }
    fn find_values(&mut self, fail: Label, s: Arg, pairs: &[[Arg; 2]]) -> EmitResult {
        for [key, to] in pairs {
            let key = self.atom_of(*key).ok_or_else(|| self.refuse("field"))?;
            self.load(s, RSI)?;
            let found = self.cached_value(RecordName::Any, key, move |c| {
                c.none_fails(Some(fail));
                Ok(())
            });
            self.a.place(found);
            self.store(*to, RAX)?;
        }
        Ok(())
    }

    /// Loads the value of a field of the record in `rsi` to `rax`, by an inline cache; where that
    /// has another definition the runtime finds it, and `found` may end with the jump to the
    /// returned label if there is a value.
    fn cached_value(
        &mut self,
        name: RecordName,
        key: Atom,
        found: impl FnOnce(&mut Compiler<'m>) -> EmitResult + 'm,
    ) -> Label {
        let site = self.record_site(name, key);
        let (other, back) = (self.a.label(), self.a.label());
        self.cached_index(site, RSI, DEFINITION, other);
        self.a.mov_r_idx(RAX, RSI, RAX, 3, VALUES);
        self.later(move |c| {
            c.a.place(other);
            c.find_lean();
            found(c)?;
            c.a.jmp(back);
            Ok(())
        });
        back
    }

    /// `get_record_field`: source, name and key.
    fn record_field(&mut self, fail: Option<Label>, args: [Arg; 3], to: Arg) -> EmitResult {
        let [s, id, key] = args;
        let Some(name) = self.record_name(id) else {
            self.call_rt(records::field, &args, 0)?;
            self.none_fails(fail);
            return self.store(to, RAX);
        };
        let atom = self.atom_of(key).ok_or_else(|| self.refuse("field"))?;
        let by_runtime = move |c: &mut Compiler<'m>| {
            let (absent, found) = (c.a.label(), c.a.label());
            c.load(s, RSI)?;
            c.one_of(RSI, &[RECORD], absent);
            let cached = c.cached_value(name, atom, move |c| {
                c.none_fails(Some(absent));
                Ok(())
            });
            c.a.place(cached);
            c.a.place(found);
            c.store(to, RAX)?;
            c.later(move |c| {
                c.a.place(absent);
                c.call_rt(records::field, &args, 0)?;
                c.none_fails(fail);
                c.a.jmp(found);
                Ok(())
            });
            Ok(())
        };
        let known = match self.atom_of(id) {
            Some(am::underscore) => self.probable(&[key]),
            _ => self.named_record(id).and_then(|i| self.indexes(i, &[key])),
        };
        // By `{Module, Name}` only an exported record may be read.
        let exported = |t: Term<'_>| RecordDef::of(t).is_some_and(|d| d.is_exported());
        let known = known.filter(|(d, _)| !matches!(id, Arg::Literal(_)) || exported(*d));
        let (Some((definition, indexes)), Arg::X(..) | Arg::Y(..)) = (known, s) else {
            return by_runtime(self);
        };
        let (other, back) = (self.a.label(), self.a.label());
        self.load(s, RDI)?;
        self.one_of(RDI, &[RECORD], other);
        self.a.mov_ri(RAX, definition.word());
        self.a.alu_rm(Alu::Cmp, RAX, RDI, DEFINITION);
        self.a.jcc(Cc::Ne, other);
        let into = self.dst(to, RAX);
        self.a.mov_rm(into, RDI, VALUES + 8 * indexes.first().copied().unwrap_or(0));
        self.store(to, into)?;
        self.a.place(back);
        self.later(move |c| {
            c.a.place(other);
            by_runtime(c)?;
            c.a.jmp(back);
            Ok(())
        });
        Ok(())
    }

    /// A new record of another module, by `{Module, Name}`.
    fn foreign_record(&mut self, id: Arg, put: Put<'m>) -> EmitResult {
        let Some(RecordName::Of(module, name)) = self.record_name(id) else {
            return self.raise_by(records::no_record, &[id], 0);
        };
        let address = std::ptr::from_ref(record_entry(module, name)) as i64;
        debug_assert!(fits_small(address));
        self.cached_record(records::create, Arg::Int(address), put, move |c, other| {
            c.a.mov_ri(RSI, address as u64);
            c.a.mov_rm(RSI, RSI, ForeignRecord::PROTOTYPE as i32);
            c.a.test_rr(RSI, RSI);
            c.a.jcc(Cc::E, other);
            Ok(())
        })
    }
    /// A record like the one that `source` loads to `rsi`, but for the fields of `put`, whose
    /// indexes are cached. The runtime makes one that the caches don't know, and fills them from
    /// it: so a definition in the cache of a new record is one of which it has all required fields.
    fn cached_record(
        &mut self,
        f: rt::Fun,
        first: Arg,
        put: Put<'m>,
        source: impl FnOnce(&mut Compiler<'m>, Label) -> EmitResult,
    ) -> EmitResult {
        if put.fields.is_empty() || !put.sources_live(first) {
            return self.put_record(f, first, &put);
        }
        let (other, back) = (self.a.label(), self.a.label());
        self.need(MOST_CACHED + 2, put.live);
        source(self, other)?;
        self.a.mov_rm(RDX, RSI, -(TAG_BOXED as i32));
        self.a.shr(RDX, HEADER_WORDS);
        self.a.alu_ri(Alu::Cmp, RDX, MOST_CACHED as i32 + 1);
        self.a.jcc(Cc::A, other);
        let copy = self.a.here();
        self.a.mov_r_idx(RAX, RSI, RDX, 3, -(TAG_BOXED as i32));
        self.a.mov_idx_r(HTOP, RDX, 3, 0, RAX);
        self.a.alu_ri(Alu::Sub, RDX, 1);
        self.a.jcc(Cc::Ns, copy);
        let mut sites = Vec::with_capacity(put.fields.len());
        for (key, _, value) in &put.fields {
            let site = self.record_site(RecordName::Any, *key);
            self.cached_index(site, HTOP, 8, other);
            let value = self.src(*value, RDX)?;
            self.a.mov_idx_r(HTOP, RAX, 3, 16, value);
            sites.push(site);
        }
        self.a.mov_rm(RDX, HTOP, 0);
        self.a.shr(RDX, HEADER_WORDS);
        let into = self.dst(put.to, RAX);
        self.a.lea(into, HTOP, TAG_BOXED as i32);
        self.a.lea_idx(HTOP, HTOP, RDX, 3, 8);
        self.store(put.to, into)?;
        self.a.place(back);
        self.later(move |c| {
            c.a.place(other);
            c.put_record(f, first, &put)?;
            for site in sites {
                let filled = c.a.label();
                c.a.mov_ri(RDX, site);
                let (misses, most) = (RecordSite::MISSES as i32, RecordSite::MOST_MISSES as i32);
                c.a.alu32_mi(Alu::Cmp, RDX, misses, most);
                c.a.jcc(Cc::Ae, filled);
                c.load(put.to, RSI)?;
                c.find_lean();
                c.a.place(filled);
            }
            c.a.jmp(back);
            Ok(())
        });
        Ok(())
    }
    /// The address of a new inline cache.
    fn record_site(&mut self, name: RecordName, key: Atom) -> u64 {
        let site = RecordSite::new(name, key);
        let address = Arc::as_ptr(&site) as u64;
        self.record_sites.push(site);
        address
    }
    /// Loads the index of the site's key to `rax`, and the site's address to `rdx`, if the cache has
    /// the definition at an address; else jumps to `other`.
    fn cached_index(&mut self, site: u64, base: R, at: i32, other: Label) {
        self.a.mov_ri(RDX, site);
        self.a.mov_rm(RAX, RDX, RecordSite::CELL as i32);
        self.a.mov_rr(RCX, RAX);
        self.a.shr(RCX, RecordSite::INDEX_BITS as u8);
        self.a.alu_rm(Alu::Cmp, RCX, base, at);
        self.a.jcc(Cc::Ne, other);
        self.a.alu32_ri(Alu::And, RAX, (1 << RecordSite::INDEX_BITS) - 1);
    }
    /// Looks up a field of the record in `rsi` for the site in `rdx`, which may note where it is.
    fn find_lean(&mut self) {
        self.a.mov_ri(RAX, records::find as rt::Lean as usize as u64);
        self.a.call_abs(self.stubs.lean_alloc);
    }
    /// A new record of the module itself.
    fn own_record(&mut self, id: Arg, put: Put<'m>) -> EmitResult {
        let at = self.records.iter().position(|r| Some(r.name) == self.atom_of(id));
        let at = at.ok_or_else(|| self.refuse("record"))?;
        let info = self.record_at(at).ok_or_else(|| self.refuse("record"))?;
        let definition = RecordDef::of(info.definition).ok_or_else(|| self.refuse("record"))?;
        let (keys, defaults) = (definition.keys(), info.defaults());
        let unknown = |f: &&Field| definition.index_of(f.0.into()).is_none();
        if let Some((_, key, _)) = put.fields.iter().find(unknown).copied() {
            return self.wrong_field(id, key, am::badfield);
        }
        let given = |key: Term<'_>| put.fields.iter().find(|f| key.is_atom(f.0)).map(|f| f.2);
        let missing = keys.iter().zip(&defaults).find(|(k, d)| d.is_none() && given(**k).is_none());
        if let Some((key, _)) = missing {
            let declared = self.code.records.get(at).map_or(&[][..], |r| &r.fields);
            let arg = |(i, _): &(u32, _)| {
                Some(Arg::Atom(*i)).filter(|a| self.atom_of(*a).is_some_and(|a| key.is_atom(a)))
            };
            let key = declared.iter().find_map(arg).ok_or_else(|| self.refuse("field"))?;
            return self.wrong_field(id, key, am::novalue);
        }
        if keys.len() > MOST_INLINE || !put.sources_live(Arg::Nil) {
            let literal = Arg::Literal(self.records.get(at).map_or(0, |r| r.literal as u32));
            return self.put_record(records::create_own, literal, &put);
        }
        self.need(keys.len() + 2, put.live);
        self.a.mov_mi(HTOP, 0, header(RECORD, 1 + keys.len()) as i32);
        self.a.mov_ri(RAX, info.definition.word());
        self.a.mov_mr(HTOP, 8, RAX);
        for (i, (key, default)) in keys.iter().zip(&defaults).enumerate() {
            let at = 16 + 8 * i as i32;
            match (given(*key), default) {
                (Some(value), _) => self.put_word(at, value)?,
                (None, Some(value)) => self.put_constant(at, value.word()),
                (None, None) => {}
            }
        }
        self.finish_record(keys.len(), put.to)
    }
    /// A record with new values for some fields, probably one of the module's own.
    fn changed_record(&mut self, id: Arg, s: Arg, put: Put<'m>) -> EmitResult {
        let keys: Vec<Arg> = put.fields.iter().map(|f| f.1).collect();
        let known = match self.atom_of(id) {
            Some(am::underscore) => self.probable(&keys),
            _ => self.named_record(id).and_then(|i| self.indexes(i, &keys)),
        };
        let count = |t: Term<'_>| RecordDef::of(t).map_or(0, |d| d.keys().len());
        let inline = known.filter(|(d, _)| count(*d) <= MOST_INLINE && put.sources_live(s));
        let Some((definition, indexes)) = inline else {
            return self.cached_record(records::update, s, put, move |c, other| {
                c.load(s, RSI)?;
                c.one_of(RSI, &[RECORD], other);
                Ok(())
            });
        };
        let (n, other, back) = (count(definition), self.a.label(), self.a.label());
        self.need(n + 2, put.live);
        self.load(s, RDI)?;
        self.one_of(RDI, &[RECORD], other);
        self.a.mov_ri(RAX, definition.word());
        self.a.alu_rm(Alu::Cmp, RAX, RDI, DEFINITION);
        self.a.jcc(Cc::Ne, other);
        self.a.mov_mi(HTOP, 0, header(RECORD, 1 + n) as i32);
        self.a.mov_mr(HTOP, 8, RAX);
        for i in 0..n as i32 {
            match indexes.iter().position(|at| *at == i) {
                Some(field) => self.put_word(16 + 8 * i, put.fields[field].2)?,
                None => {
                    self.a.mov_rm(RAX, RDI, VALUES + 8 * i);
                    self.a.mov_mr(HTOP, 16 + 8 * i, RAX);
                }
            }
        }
        self.finish_record(n, put.to)?;
        self.a.place(back);
        self.later(move |c| {
            c.a.place(other);
            c.put_record(records::update, s, &put)?;
            c.a.jmp(back);
            Ok(())
        });
        Ok(())
    }
    /// The object of so many values at the heap's top is complete.
    fn finish_record(&mut self, values: usize, to: Arg) -> EmitResult {
        let into = self.dst(to, RAX);
        self.a.lea(into, HTOP, TAG_BOXED as i32);
        self.a.alu_ri(Alu::Add, HTOP, 8 * (values as i32 + 2));
        self.store(to, into)
    }
    fn put_constant(&mut self, at: i32, w: u64) {
        match i32::try_from(w as i64) {
            Ok(w) => self.a.mov_mi(HTOP, at, w),
            Err(_) => {
                self.a.mov_ri(RAX, w);
                self.a.mov_mr(HTOP, at, RAX)
            }
        }
    }
    fn wrong_field(&mut self, id: Arg, key: Arg, tag: Atom) -> EmitResult {
        self.raise_by(records::wrong_field, &[Arg::Atom(1), id, key], tag.word())
    }

    /// A record that the runtime makes: it may collect, and then is called again.
    fn put_record(&mut self, f: rt::Fun, first: Arg, put: &Put<'m>) -> EmitResult {
        let mut args = vec![first];
        args.extend(put.fields.iter().flat_map(|(_, key, value)| [*key, *value]));
        let live = Some(put.live).filter(|_| put.sources_live(first));
        let making = Making { operands: args.len(), live };
        let again = self.a.here();
        self.call_rt(f, &args, making.word())?;
        if live.is_some() {
            self.a.test_rr(RAX, RAX);
            self.a.jcc(Cc::E, again);
        }
        self.none_fails(None);
        self.store(put.to, RAX)
    }
}

const _: () = assert!(records::RETRY == 0 && NONE != 0);
