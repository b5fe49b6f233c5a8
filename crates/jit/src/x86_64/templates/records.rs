//! Native records. A record that the module itself defines is made, and its fields are read, by
//! native code; the runtime does the rest.

use kvik_beam::{Arg, Op, Opcode};
use kvik_code::RecordInfo;
use kvik_term::record::FIRST_KEY;
use kvik_term::word::{header, NONE, RECORD, TAG_BOXED};
use kvik_term::{am, cmp, Atom, RecordDef, Term};

use crate::compiler::{same_register, Compiler, EmitResult};
use crate::rt;
use crate::rt::records::{self, Making};
use crate::x86_64::asm::*;
use crate::x86_64::HTOP;

/// A record of more fields is made by the runtime.
const MOST_INLINE: usize = 64;

/// Offsets from a boxed pointer: the definition of a record, its first value; in a definition its
/// module, its name, and whether it is exported.
const DEFINITION: i32 = 8 - TAG_BOXED as i32;
const VALUES: i32 = 16 - TAG_BOXED as i32;
const MODULE: i32 = 8 * 3 - TAG_BOXED as i32;
const NAME: i32 = 8 * 4 - TAG_BOXED as i32;
const EXPORTED: i32 = 8 * FIRST_KEY as i32 - TAG_BOXED as i32;

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
                    (_, Arg::Nil) => self.put_record(records::create, *id, &put),
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
            self.load(s, RSI)?;
            self.load(*key, RDX)?;
            self.find_lean(records::find);
            self.none_fails(Some(fail));
            self.store(*to, RAX)?;
        }
        Ok(())
    }

    /// Calls a function that reads terms only: a record in `rsi`, more in `rdx` and `rcx`.
    fn find_lean(&mut self, f: rt::Lean) {
        self.a.mov_ri(RAX, f as usize as u64);
        self.a.call_abs(self.stubs.lean_alloc);
    }

    /// `get_record_field`: source, name and key.
    fn record_field(&mut self, fail: Option<Label>, args: [Arg; 3], to: Arg) -> EmitResult {
        let [s, id, key] = args;
        let by_runtime = move |c: &mut Compiler<'m>| {
            let (absent, found) = (c.a.label(), c.a.label());
            for (arg, r) in args.into_iter().zip([RSI, RDX, RCX]) {
                c.load(arg, r)?;
            }
            c.find_lean(records::readable);
            c.none_fails(Some(absent));
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
            return self.put_record(records::update, s, &put);
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
