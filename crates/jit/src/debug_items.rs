//! What `code:get_debug_info/1` tells about a `debug_line`, as literals of its module.

use kvik_beam::{Arg, DebugCall, DebugFrame, DebugInfo, DebugItem};
use kvik_heap::Heap;
use kvik_term::{am, Atom, Term};

use crate::load::constant;

/// The tables that an item's operands refer to.
struct Source<'a, 'h> {
    h: &'h Heap,
    info: &'a DebugInfo,
    terms: &'a [Term<'h>],
    atoms: &'a [Atom],
}

/// A term `#{frame_size => _, vars => _, calls => _}` for each item; `None` if the information is
/// damaged. `terms`: the module's literals.
pub fn debug_items<'h>(
    h: &'h Heap,
    info: &DebugInfo,
    terms: &[Term<'h>],
    atoms: &[Atom],
) -> Option<Vec<Term<'h>>> {
    let source = Source { h, info, terms, atoms };
    info.items.iter().map(|item| source.item(item)).collect()
}

impl<'h> Source<'_, 'h> {
    fn item(&self, item: &DebugItem) -> Option<Term<'h>> {
        let frame = match item.frame {
            DebugFrame::None => am::none.into(),
            DebugFrame::Entry => am::entry.into(),
            DebugFrame::Size(n) => self.h.integer(n.into()),
        };
        let variables = item.variables.iter().map(|pair| self.variable(pair));
        let variables = variables.collect::<Option<Vec<_>>>()?;
        let calls = item.calls.iter().map(|call| self.call(call)).collect::<Option<Vec<_>>>()?;
        Some(self.h.map(&[
            (am::frame_size.into(), frame),
            (am::vars.into(), self.h.list(&variables)),
            (am::calls.into(), self.h.list(&calls)),
        ]))
    }

    /// `{Name, {x | y, Number}}` or `{Name, {value, Constant}}`.
    fn variable(&self, [name, value]: &[Arg; 2]) -> Option<Term<'h>> {
        let register = |n: u16| self.h.integer(n.into());
        let (tag, value) = match *value {
            Arg::X(n, _) => (am::x, register(n)),
            Arg::Y(n, _) => (am::y, register(n)),
            Arg::Big(i) => {
                let big = self.info.bigs.get(i as usize)?;
                (am::value, self.h.big(big.negative, &big.digits))
            }
            constant => (am::value, self.constant(constant)?),
        };
        Some(self.h.tuple(&[self.name(*name)?, self.h.tuple(&[tag.into(), value])]))
    }

    fn call(&self, call: &DebugCall) -> Option<Term<'h>> {
        let arity = |n: u8| Term::int(n.into());
        Some(match *call {
            DebugCall::Remote { module, function, arity: n } => {
                self.h.tuple(&[self.name(module)?, self.name(function)?, arity(n)])
            }
            DebugCall::Local { function, arity: n } => {
                self.h.tuple(&[self.name(function)?, arity(n)])
            }
            DebugCall::Fun(name) => self.name(name)?,
        })
    }

    /// An atom, a number, or a binary with a variable's name.
    fn name(&self, arg: Arg) -> Option<Term<'h>> {
        let is_binary = |t: &Term<'h>| t.as_bits().is_some_and(|b| b.is_binary());
        let name = self.constant(arg)?;
        Some(name).filter(|t| !matches!(arg, Arg::Literal(_)) || is_binary(t))
    }

    fn constant(&self, arg: Arg) -> Option<Term<'h>> {
        constant(self.h, arg, self.terms, self.atoms)
    }
}
