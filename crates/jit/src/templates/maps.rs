//! Maps.

use kvik_beam::{Arg, Op, Opcode};

use crate::asm::*;
use crate::compiler::{Compiler, Done};
use crate::rt::maps;

impl<'m> Compiler<'m> {
    pub(super) fn maps(&mut self, op: &Op) -> Done {
        match (op.opcode, self.args(op)) {
            (Opcode::GetMapElements, [Arg::Label(f), s, ..]) => {
                let fail = self.label(*f)?;
                self.get_elements(fail, *s, self.list(op))
            }
            (Opcode::HasMapFields, [Arg::Label(f), s, ..]) => {
                let fail = self.label(*f)?;
                for key in self.list(op) {
                    self.call_rt(maps::get, &[*s, *key], 0)?;
                    self.none_fails(Some(fail));
                }
                Ok(())
            }
            (o, [j, s, d, _live, ..]) => {
                let fail = self.fail(*j)?;
                let mut args = vec![*s];
                args.extend_from_slice(self.list(op));
                let f = if o == Opcode::PutMapExact { maps::put_exact } else { maps::put_assoc };
                self.call_rt(f, &args, args.len() as u64)?;
                self.none_fails(fail);
                self.store(*d, RAX)
            }
            _ => Err(self.refuse("map instruction")),
        }
    }

    /// The map stays on the thread's stack meanwhile: a destination may be its register.
    fn get_elements(&mut self, fail: Label, map: Arg, pairs: &[Arg]) -> Done {
        let missing = self.a.label();
        self.a.alu_ri(Alu::Sub, RSP, 16);
        let r = self.src(map, RAX)?;
        self.a.mov_mr(RSP, 0, r);
        for pair in pairs.chunks_exact(2) {
            let r = self.src(pair[0], RAX)?;
            self.a.mov_mr(RSP, 8, r);
            self.rt(maps::get);
            self.none_fails(Some(missing));
            self.store(pair[1], RAX)?;
        }
        self.a.alu_ri(Alu::Add, RSP, 16);
        self.later(move |c| {
            c.a.place(missing);
            c.a.alu_ri(Alu::Add, RSP, 16);
            c.a.jmp(fail);
            Ok(())
        });
        Ok(())
    }
}
