//! Maps. Lookups and updates of flat maps are native (`stubs::maps`); the runtime does the rest.

use kvik_beam::{Arg, Op, Opcode};
use kvik_term::word::{header, is_immediate, small, FLAT_MAP, HAMT, TAG_BOXED};
use kvik_term::{am, cmp, Export, Term};

use crate::compiler::{same_register, Compiler, EmitResult};
use crate::rt;
use crate::rt::maps;
use crate::x86_64::asm::*;
use crate::x86_64::operands::kind_byte;
use crate::x86_64::stubs::terms::NO_ROOM;
use crate::x86_64::HTOP;

impl<'m> Compiler<'m> {
    pub fn maps(&mut self, op: &Op) -> EmitResult {
        match (op.opcode, self.args(op)) {
            (Opcode::GetMapElements, [Arg::Label(f), s, ..]) => {
                let fail = self.label(*f)?;
                self.get_elements(fail, *s, self.list(op))
            }
            (Opcode::HasMapFields, [Arg::Label(f), s, ..]) => {
                let fail = self.label(*f)?;
                for key in self.list(op) {
                    self.load(*s, RSI)?;
                    self.find(*key)?;
                    self.none_fails(Some(fail));
                }
                Ok(())
            }
            (o, [j, s, d, Arg::U(live), ..]) => {
                let put = Put {
                    exact: o == Opcode::PutMapExact,
                    map: *s,
                    pairs: self.list(op),
                    live: *live,
                    fail: self.fail(*j)?,
                    to: *d,
                };
                match self.key_tuples.get(&self.at) {
                    Some(keys) if put.sources_live() => self.new_map(*keys, &put),
                    _ => self.put(put),
                }
            }
            _ => Err(self.refuse("map instruction")),
        }
    }

    /// The value of a key in the map in `rsi`, into `rax`; `NONE` if there is none.
    fn find(&mut self, key: Arg) -> EmitResult {
        self.load(key, RDX)?;
        let stub = match self.constant(key) {
            Some(w) => {
                // SAFETY: a constant is an immediate or one of the module's literals.
                let t: Term<'_> = unsafe { Term::from_word(w) };
                self.a.mov_word(RCX, CodeWord::hash(t));
                self.hashed_keys.push((self.a.pos(), w));
                if is_immediate(w) {
                    self.stubs.map_find_hashed
                } else {
                    self.stubs.map_find_deep
                }
            }
            None => self.stubs.map_find,
        };
        self.a.call_abs(stub);
        Ok(())
    }

    /// If a destination is the map's register, the map is kept on the thread's stack meanwhile.
    fn get_elements(&mut self, fail: Label, map: Arg, pairs: &[Arg]) -> EmitResult {
        let last = pairs.len().saturating_sub(2);
        let kept = pairs[..last].chunks_exact(2).any(|p| same_register(p[1], map));
        let missing = if kept { self.a.label() } else { fail };
        if kept {
            self.a.alu_ri(Alu::Sub, RSP, 16);
            let r = self.src(map, RAX)?;
            self.a.mov_mr(RSP, 0, r);
        }
        for pair in pairs.chunks_exact(2) {
            match kept {
                true => self.a.mov_rm(RSI, RSP, 0),
                false => self.load(map, RSI)?,
            }
            self.find(pair[0])?;
            self.none_fails(Some(missing));
            self.store(pair[1], RAX)?;
        }
        if kept {
            self.a.alu_ri(Alu::Add, RSP, 16);
            self.later(move |c| {
                c.a.place(missing);
                c.a.alu_ri(Alu::Add, RSP, 16);
                c.a.jmp(fail);
                Ok(())
            });
        }
        Ok(())
    }

    /// `map_get/2`: errors are left to the function.
    pub(super) fn map_get(
        &mut self,
        e: &'static Export,
        fail: Option<Label>,
        key: Arg,
        map: Arg,
        dst: Arg,
    ) -> EmitResult {
        let (slow, back) = (self.a.label(), self.a.label());
        self.load(map, RSI)?;
        self.find(key)?;
        match fail {
            Some(fail) => self.none_fails(Some(fail)),
            None => {
                self.none_fails(Some(slow));
                self.later(move |c| {
                    c.a.place(slow);
                    c.by_function(e, fail, &[key, map], dst)?;
                    c.a.jmp(back);
                    Ok(())
                });
            }
        }
        self.store(dst, RAX)?;
        self.a.place(back);
        Ok(())
    }

    /// `is_map_key/2`: a non-map is left to the function.
    pub(super) fn is_map_key(
        &mut self,
        e: &'static Export,
        fail: Option<Label>,
        key: Arg,
        map: Arg,
        dst: Arg,
    ) -> EmitResult {
        let (absent, no_map, back) = (self.a.label(), self.a.label(), self.a.label());
        self.load(map, RSI)?;
        self.find(key)?;
        self.none_fails(Some(absent));
        self.a.mov_ri(RAX, am::true_.word());
        self.a.place(back);
        self.store(dst, RAX)?;
        let over = self.a.here();
        self.later(move |c| {
            c.a.place(absent);
            let r = c.src(map, RDX)?;
            let is_map = c.a.label();
            c.boxed_kind(r, no_map);
            for kind in [FLAT_MAP, HAMT] {
                c.a.alu32_ri(Alu::Cmp, RAX, kind_byte(kind));
                c.a.jcc(Cc::E, is_map);
            }
            c.a.place(no_map);
            c.by_function(e, fail, &[key, map], dst)?;
            c.a.jmp(over);
            c.a.place(is_map);
            c.a.mov_ri(RAX, am::false_.word());
            c.a.jmp(back);
            Ok(())
        });
        Ok(())
    }

    /// A map of just these pairs, with the tuple of its keys among the literals.
    fn new_map(&mut self, keys: usize, put: &Put<'m>) -> EmitResult {
        let keys = self.literals.get(keys).ok_or_else(|| self.refuse("keys"))?;
        let sorted = keys.as_tuple().map_or(&[][..], |t| t.elements());
        let n = sorted.len();
        self.need(n + 3, put.live);
        self.a.mov_mi(HTOP, 0, header(FLAT_MAP, n + 2) as i32);
        self.a.mov_mi(HTOP, 8, small(n as i64) as i32);
        self.a.mov_word(RAX, CodeWord::constant(keys.word()));
        self.a.mov_mr(HTOP, 16, RAX);
        for pair in put.pairs.chunks_exact(2) {
            let place = self.constant(pair[0]).and_then(|key| {
                // SAFETY: a constant is an immediate or one of the module's literals.
                let key: Term<'_> = unsafe { Term::from_word(key) };
                sorted.iter().position(|k| cmp::eq_exact(*k, key))
            });
            let at = 24 + 8 * place.ok_or_else(|| self.refuse("key"))? as i32;
            self.put_word(at, pair[1])?;
        }
        let into = self.dst(put.to, RAX);
        self.a.lea(into, HTOP, TAG_BOXED as i32);
        self.a.alu_ri(Alu::Add, HTOP, 8 * (n as i32 + 3));
        self.store(put.to, into)
    }

    fn put(&mut self, put: Put<'m>) -> EmitResult {
        if put.pairs.len() > 32 || !put.pairs.chunks_exact(2).all(|p| self.may_be_immediate(p[0])) {
            return self.put_by_runtime(&put);
        }
        let (slow, no_copy, back, retry) =
            (self.a.label(), self.a.label(), self.a.label(), self.a.label());
        self.load(put.map, RSI)?;
        self.a.place(retry);
        self.a.call_abs(self.stubs.map_copy);
        self.a.test_rr(RAX, RAX);
        self.a.jcc(Cc::Ne, no_copy);
        self.a.mov_ri(RBP, 0);
        for pair in put.pairs.chunks_exact(2) {
            self.load(pair[0], RDX)?;
            self.load(pair[1], RCX)?;
            self.a.call_abs(self.stubs.map_set);
            self.none_fails(Some(slow));
        }
        self.a.call_abs(self.stubs.map_done);
        self.a.place(back);
        self.store(put.to, RAX)?;
        self.later(move |c| {
            c.a.place(no_copy);
            c.a.alu_ri(Alu::Cmp, RAX, NO_ROOM);
            if put.sources_live() {
                c.a.jcc(Cc::Ne, slow);
                c.room_for_copy(put.live)?;
                c.load(put.map, RSI)?;
                c.a.jmp(retry);
            }
            c.a.place(slow);
            c.put_slowly(&put)?;
            c.a.jmp(back);
            Ok(())
        });
        Ok(())
    }
    /// Collects to make room for a copy of the flat map in `rsi`.
    fn room_for_copy(&mut self, live: u64) -> EmitResult {
        self.a.mov32_rm(RCX, RSI, 8 - TAG_BOXED as i32);
        self.a.shl(RCX, 12);
        self.a.alu_ri(Alu::Add, RCX, (3 << 16 | live) as i32);
        self.rt(rt::stop::collect);
        self.none_fails(None);
        Ok(())
    }
    fn put_by_runtime(&mut self, put: &Put<'m>) -> EmitResult {
        self.put_slowly(put)?;
        self.store(put.to, RAX)
    }
    fn put_slowly(&mut self, put: &Put<'m>) -> EmitResult {
        let mut args = vec![put.map];
        args.extend_from_slice(put.pairs);
        let f = if put.exact { maps::put_exact } else { maps::put_assoc };
        self.call_rt(f, &args, args.len() as u64)?;
        self.none_fails(put.fail);
        Ok(())
    }
    fn may_be_immediate(&self, key: Arg) -> bool {
        self.constant(key).is_none_or(is_immediate)
    }
}

/// An update of a map.
struct Put<'m> {
    exact: bool,
    map: Arg,
    /// Keys and values in turn.
    pairs: &'m [Arg],
    live: u64,
    fail: Option<Label>,
    to: Arg,
}

impl Put<'_> {
    /// Whether a collection before the sources are read leaves them as they are. The verifier takes
    /// files whose sources are not among the live registers.
    fn sources_live(&self) -> bool {
        let lives = |arg: &Arg| !matches!(arg, Arg::X(x, _) if u64::from(*x) >= self.live);
        lives(&self.map) && self.pairs.iter().all(lives)
    }
}
