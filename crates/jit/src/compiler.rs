//! What all templates use: operands, runtime calls, cold code, and the places stack traces know.

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;

use kvik_beam::{Arg, Code, Module, Op, Opcode, Proof};
use kvik_code::{NifCell, Place};
use kvik_heap::alloc::STACK_SLACK;
use kvik_heap::bits_build::Seg;
use kvik_heap::{LiteralArea, Regs};
use kvik_term::word::{self, NIL};
use kvik_term::{am, Atom, Export, FunEntry};

use crate::asm::*;
use crate::checked::{Checkpoints, LabelAddresses};
use crate::rt;
use crate::stubs::{self, align_continuation, Stubs, HTOP, REGS, STACK, XREGS};
use crate::LoadError;

type Cold<'m> = Box<dyn FnOnce(&mut Compiler<'m>) -> Result<(), LoadError> + 'm>;

pub struct Compiler<'m> {
    pub a: Asm,
    pub module: &'m Module<'m>,
    pub code: &'m Code,
    pub proof: &'m Proof,
    pub stubs: &'static Stubs,
    pub atoms: &'m [Atom],
    pub literals: &'m LiteralArea,
    /// Where the module's own big integers begin among the literals.
    pub first_big: usize,
    /// Where new maps of known keys are made: the literal with their keys, by instruction.
    pub key_tuples: &'m HashMap<usize, usize>,
    pub imports: &'m [&'static Export],
    pub lambdas: &'m [&'static FunEntry],
    /// The string table, at an address that stays.
    pub strings: &'m [u8],
    pub labels: Vec<Label>,
    pub lambda_labels: Vec<Label>,
    pub segments: Vec<Box<[Seg]>>,
    pub places: Vec<Place>,
    /// The location in force, an index of the module's lines.
    pub line: u32,
    /// Index of the instruction at hand.
    pub at: usize,
    /// Name and arity of the function at hand.
    pub function: Atom,
    pub arity: u32,
    /// May a NIF take over any function? So it is where the module loads some and names none.
    pub any_nif: bool,
    pub nifs: Vec<NifCell>,
    /// What the code checks while it runs; none unless [`CHECKED`](crate::checked::CHECKED).
    pub checkpoints: Checkpoints,
    pub label_addresses: LabelAddresses,
    cold: Vec<Cold<'m>>,
}

/// Memory that a compiler needs, for the next one to use again.
#[derive(Default)]
pub struct Scratch {
    pub a: Asm,
    pub places: Vec<Place>,
}

/// What a compiler leaves behind.
pub struct Output {
    pub a: Asm,
    pub segments: Vec<Box<[Seg]>>,
    pub places: Vec<Place>,
    pub labels: Vec<Label>,
    pub lambda_labels: Vec<Label>,
    pub nifs: Vec<NifCell>,
    pub checkpoints: Checkpoints,
    pub label_addresses: LabelAddresses,
}

pub type Done = Result<(), LoadError>;

fn any_nif(code: &Code, imports: &[&Export]) -> bool {
    let loads = |e: &&Export| (e.module, e.function, e.arity) == (am::erlang, am::load_nif, 2);
    imports.iter().any(loads) && !code.ops.iter().any(|op| op.opcode == Opcode::NifStart)
}

impl<'m> Compiler<'m> {
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        module: &'m Module<'m>,
        code: &'m Code,
        proof: &'m Proof,
        stubs: &'static Stubs,
        atoms: &'m [Atom],
        (literals, key_tuples): &'m (LiteralArea, HashMap<usize, usize>),
        imports: &'m [&'static Export],
        lambdas: &'m [&'static FunEntry],
        strings: &'m [u8],
        Scratch { mut a, mut places }: Scratch,
    ) -> Compiler<'m> {
        a.clear();
        places.clear();
        // Some 22 bytes for an instruction of some four. What is not used is never touched.
        a.buf.reserve(8 * module.code.bytes.len());
        let labels = code.labels.iter().map(|_| a.label()).collect();
        let lambda_labels = lambdas.iter().map(|_| a.label()).collect();
        Compiler {
            a,
            module,
            code,
            proof,
            stubs,
            atoms,
            literals,
            key_tuples,
            first_big: module.literals.len(),
            imports,
            lambdas,
            strings,
            labels,
            lambda_labels,
            segments: Vec::new(),
            places,
            line: 0,
            at: 0,
            function: am::undefined,
            arity: 0,
            any_nif: any_nif(code, imports),
            nifs: Vec::new(),
            checkpoints: Checkpoints::new(),
            label_addresses: LabelAddresses::default(),
            cold: Vec::new(),
        }
    }

    /// The code and what belongs to it, free of what it was made from.
    pub fn finish(self) -> Output {
        let Compiler { a, segments, places, labels, lambda_labels, nifs, .. } = self;
        let Compiler { checkpoints, label_addresses, .. } = self;
        Output { a, segments, places, labels, lambda_labels, nifs, checkpoints, label_addresses }
    }
    pub fn refuse(&self, what: &'static str) -> LoadError {
        LoadError::Unsupported(what)
    }
    pub fn label(&self, n: u32) -> Result<Label, LoadError> {
        self.labels.get(n as usize).copied().ok_or_else(|| self.refuse("no such label"))
    }
    /// The label of an operand; `None` for 0 (raise an exception).
    pub fn fail(&self, arg: Arg) -> Result<Option<Label>, LoadError> {
        match arg {
            Arg::Label(0) => Ok(None),
            Arg::Label(n) => self.label(n).map(Some),
            _ => Ok(None),
        }
    }

    /// The word of an operand that is known now.
    pub fn constant(&self, arg: Arg) -> Option<u64> {
        Some(match arg {
            Arg::Nil => NIL,
            Arg::Atom(i) => self.atoms.get(i as usize)?.word(),
            Arg::Int(i) if word::fits_small(i) => word::small(i),
            Arg::Int(i) => self.literal(self.big_index(i)?)?,
            Arg::Big(i) => self.literal(self.first_big + i as usize)?,
            Arg::Literal(i) => self.literal(i as usize)?,
            Arg::U(n) => word::small(n as i64),
            _ => return None,
        })
    }
    fn literal(&self, i: usize) -> Option<u64> {
        self.literals.get(i).map(|t| t.word())
    }
    /// One-digit integers beyond 60 bits follow the big ones among the literals.
    fn big_index(&self, i: i64) -> Option<usize> {
        let start = self.first_big + self.code.bigs.len();
        (start..self.literals.len())
            .find(|n| self.literals.get(*n).and_then(|t| t.as_i64()) == Some(i))
    }
    pub fn is_constant(&self, arg: Arg) -> bool {
        self.constant(arg).is_some()
    }

    fn x_offset(n: u16) -> i32 {
        (Regs::X + 8 * n as usize) as i32
    }
    /// Puts an operand's word into a register.
    pub fn load(&mut self, arg: Arg, r: R) -> Done {
        match arg {
            Arg::X(n, _) => match XREGS.get(n as usize) {
                Some(x) => self.a.mov_rr(r, *x),
                None => self.a.mov_rm(r, REGS, Self::x_offset(n)),
            },
            Arg::Y(n, _) => self.a.mov_rm(r, STACK, 8 * n as i32),
            _ => {
                let w = self.constant(arg).ok_or_else(|| self.refuse("operand"))?;
                self.a.mov_ri(r, w)
            }
        }
        Ok(())
    }
    /// The register an operand is in, or `scratch` after loading it there.
    pub fn src(&mut self, arg: Arg, scratch: R) -> Result<R, LoadError> {
        if let Arg::X(n, _) = arg {
            if let Some(x) = XREGS.get(n as usize) {
                return Ok(*x);
            }
        }
        self.load(arg, scratch)?;
        Ok(scratch)
    }
    pub fn store(&mut self, dst: Arg, r: R) -> Done {
        match dst {
            Arg::X(n, _) => match XREGS.get(n as usize) {
                Some(x) => self.a.mov_rr(*x, r),
                None => self.a.mov_mr(REGS, Self::x_offset(n), r),
            },
            Arg::Y(n, _) => self.a.mov_mr(STACK, 8 * n as i32, r),
            _ => return Err(self.refuse("destination")),
        }
        Ok(())
    }
    /// The machine register that a destination is, or `scratch`, to be stored afterwards.
    pub fn dst(&self, dst: Arg, scratch: R) -> R {
        match dst {
            Arg::X(n, _) => XREGS.get(n as usize).copied().unwrap_or(scratch),
            _ => scratch,
        }
    }
    /// `dst := src`
    pub fn copy(&mut self, src: Arg, dst: Arg) -> Done {
        let into = self.dst(dst, RAX);
        let from = if into == RAX { self.src(src, RAX)? } else { into };
        if from == into {
            self.load(src, into)?;
        }
        if into == RAX {
            self.store(dst, from)?;
        }
        Ok(())
    }
    /// Compares a register with an operand's word.
    pub fn cmp_arg(&mut self, r: R, arg: Arg) -> Done {
        match self.constant(arg) {
            Some(w) => self.cmp_word(r, w),
            None => {
                let s = self.src(arg, RCX)?;
                self.a.alu_rr(Alu::Cmp, r, s)
            }
        }
        Ok(())
    }
    pub fn cmp_word(&mut self, r: R, w: u64) {
        match i32::try_from(w as i64) {
            Ok(i) => self.a.alu_ri(Alu::Cmp, r, i),
            Err(_) => {
                self.a.mov_ri(RCX, w);
                self.a.alu_rr(Alu::Cmp, r, RCX)
            }
        }
    }

    /// Notes the present position as one that stack traces know.
    pub fn place(&mut self) {
        self.places.push(Place { offset: self.a.pos(), line: self.line });
    }
    /// Code that is rarely run goes behind the function.
    pub fn later(&mut self, f: impl FnOnce(&mut Compiler<'m>) -> Done + 'm) {
        let (line, at) = (self.line, self.at);
        self.cold.push(Box::new(move |c| {
            (c.line, c.at) = (line, at);
            f(c)
        }))
    }
    pub fn flush_cold(&mut self) -> Done {
        let line = self.line;
        while !self.cold.is_empty() {
            for f in std::mem::take(&mut self.cold) {
                f(self)?;
            }
        }
        self.line = line;
        Ok(())
    }

    /// A runtime call with operands; its answer is in `rax`. All registers but the scratch ones
    /// (`rax rcx rdx rsi rdi`) are as they were.
    pub fn call_rt(&mut self, f: rt::Fun, args: &[Arg], extra: u64) -> Done {
        let bytes = (args.len() + args.len() % 2) as i32 * 8;
        if bytes > 0 {
            self.a.alu_ri(Alu::Sub, RSP, bytes);
            for (i, arg) in args.iter().enumerate() {
                let r = self.src(*arg, RAX)?;
                self.a.mov_mr(RSP, 8 * i as i32, r);
            }
        }
        self.a.mov_ri(RCX, extra);
        self.rt(f);
        if bytes > 0 {
            self.a.alu_ri(Alu::Add, RSP, bytes);
        }
        Ok(())
    }
    /// A runtime call with one word in `rcx`.
    pub fn rt(&mut self, f: rt::Fun) {
        self.a.mov_ri(RAX, f as usize as u64);
        self.a.call_abs(self.stubs.runtime);
    }
    /// Raises what was noted, here.
    pub fn raise_here(&mut self) {
        self.a.call_abs(self.stubs.raise);
        self.place();
    }
    /// A runtime call that never comes back: it notes an exception.
    pub fn raise_by(&mut self, f: rt::Fun, args: &[Arg], extra: u64) -> Done {
        self.call_rt(f, args, extra)?;
        self.raise_here();
        Ok(())
    }
    /// Goes to the failure label, or raises, when `rax` holds no term.
    pub fn none_fails(&mut self, fail: Option<Label>) {
        self.a.alu_ri(Alu::Cmp, RAX, word::NONE as i32);
        match fail {
            Some(l) => self.a.jcc(Cc::E, l),
            None => {
                let l = self.a.label();
                self.a.jcc(Cc::E, l);
                self.later(move |c| {
                    c.a.place(l);
                    c.raise_here();
                    Ok(())
                });
            }
        }
    }

    /// Makes sure of heap and stack words; `live` x registers hold terms.
    pub fn need(&mut self, words: usize, live: u64) {
        if words == 0 {
            return;
        }
        let (slow, back) = (self.a.label(), self.a.label());
        self.a.lea(RAX, HTOP, ((words + STACK_SLACK) * 8) as i32);
        self.a.alu_rr(Alu::Cmp, RAX, STACK);
        self.a.jcc(Cc::A, slow);
        self.a.place(back);
        self.later(move |c| {
            c.a.place(slow);
            c.a.mov_ri(RCX, (words as u64) << 16 | live);
            c.rt(rt::stop::collect);
            let too_large = c.a.label();
            c.a.alu_ri(Alu::Cmp, RAX, word::NONE as i32);
            c.a.jcc(Cc::E, too_large);
            c.a.jmp(back);
            c.a.place(too_large);
            c.raise_here();
            Ok(())
        });
    }
    /// Heap words an operand asks for: an allocation list counts floats and funs too.
    pub fn heap_words(&self, arg: Arg) -> usize {
        match arg {
            Arg::U(n) => n as usize,
            Arg::Alloc(l) => l.words as usize + 2 * l.floats as usize + 4 * l.funs as usize,
            _ => 0,
        }
    }

    /// Pushes the address at which a call comes back; place it with `come_back`.
    pub fn push_continuation(&mut self) -> Label {
        let l = self.a.label();
        self.push_known(l);
        l
    }
    pub fn push_known(&mut self, l: Label) {
        self.a.lea_label(RCX, l);
        self.a.lea(STACK, STACK, -8);
        self.a.mov_mr(STACK, 0, RCX);
    }
    pub fn come_back(&mut self, l: Label) {
        align_continuation(&mut self.a);
        self.a.place(l);
        self.place();
    }
    /// Nothing comes here, the proof says, or some code relies on it.
    pub fn trap(&mut self) {
        self.a.call_abs(self.stubs.trap);
        self.place();
    }
    pub fn pop_frame(&mut self, words: u64) {
        if words > 0 {
            self.a.alu_ri(Alu::Add, STACK, 8 * words as i32);
        }
    }
    pub fn return_(&mut self) {
        self.a.mov_rm(RCX, STACK, 0);
        self.a.alu_ri(Alu::Add, STACK, 8);
        self.a.jmp_r(RCX);
    }
    /// Jumps through an export's cell; stubs behind it find the export in `rax`.
    pub fn jump_export(&mut self, e: &'static Export) {
        self.a.mov_ri(RAX, e as *const Export as u64);
        self.a.jmp_m(RAX, std::mem::offset_of!(Export, code) as i32);
    }

    /// Branches unless the word in `r` is boxed; the low byte of its header is then in `eax`.
    pub fn boxed_kind(&mut self, r: R, fail: Label) {
        self.a.mov32_rr(RAX, r);
        self.a.alu32_ri(Alu::And, RAX, 3);
        self.a.alu32_ri(Alu::Cmp, RAX, word::TAG_BOXED as i32);
        self.a.jcc(Cc::Ne, fail);
        self.a.movzx8_rm(RAX, r, -(word::TAG_BOXED as i32));
    }

    pub fn args(&self, op: &Op) -> &'m [Arg] {
        self.code.args(op)
    }
    pub fn list(&self, op: &Op) -> &'m [Arg] {
        self.code.list(op)
    }
}

pub fn same_register(a: Arg, b: Arg) -> bool {
    matches!((a, b), (Arg::X(n, _), Arg::X(m, _)) | (Arg::Y(n, _), Arg::Y(m, _)) if n == m)
}

/// The byte by which an object's kind shows in its header.
pub const fn kind_byte(subtag: u64) -> i32 {
    (subtag << 4 | word::TAG_HEADER) as i32
}

/// Fun entries are reached through their first word, the code.
pub const FUN_CODE: i32 = std::mem::offset_of!(FunEntry, code) as i32;
const _: () = assert!(FUN_CODE == 0 && size_of::<AtomicUsize>() == 8);
pub use stubs::none_to;
