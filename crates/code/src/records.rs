//! Native records as loaded modules define them.

use kvik_heap::Heap;
use kvik_term::{Atom, Term};

use crate::module;

/// A native record of a module: its name, and the literal that describes it.
#[derive(Copy, Clone, Debug)]
pub struct RecordLiteral {
    pub name: Atom,
    /// Index of the literal `{Prototype, Required}`: an instance with the default values (`[]` where
    /// there is none), and the indexes of the keys without one in ascending order.
    pub literal: usize,
}

/// A description of a native record: see [`RecordLiteral`].
#[derive(Copy, Clone)]
pub struct RecordInfo<'h> {
    pub definition: Term<'h>,
    /// An instance with the default values, which for keys without one are `[]`.
    pub prototype: Term<'h>,
    defaults: &'h [Term<'h>],
    required: Term<'h>,
}

impl<'h> RecordInfo<'h> {
    pub fn of(literal: Term<'h>) -> Option<RecordInfo<'h>> {
        let [prototype, required] = literal.as_tuple_n()?;
        let r = prototype.as_record()?;
        let (definition, defaults) = (r.definition_term(), r.values());
        Some(RecordInfo { definition, prototype, defaults, required })
    }
    /// The number of its keys.
    pub fn field_count(&self) -> usize {
        self.defaults.len()
    }
    /// The default values, with `[]` for keys without one, and the indexes of those.
    pub fn base(&self) -> (&'h [Term<'h>], impl Iterator<Item = usize> + 'h) {
        (self.defaults, self.required.list().filter_map(Term::as_usize))
    }
    /// The default value of each key that has one.
    pub fn defaults(&self) -> Vec<Option<Term<'h>>> {
        let mut all: Vec<_> = self.defaults.iter().copied().map(Some).collect();
        for i in self.required.list().filter_map(Term::as_usize) {
            if let Some(value) = all.get_mut(i) {
                *value = None;
            }
        }
        all
    }
}

/// The record of that name in the current version of a module, for the heap of a process.
pub fn record_info<'h>(h: &'h Heap, module: Atom, name: Atom) -> Option<RecordInfo<'h>> {
    let i = module::current(module)?;
    let literal = i.records.iter().find(|r| r.name == name)?.literal;
    // A copy shares literals, unless these are about to be freed.
    RecordInfo::of(h.copy(i.literals.get(literal)?))
}
/// Its definition alone.
pub fn record_definition<'h>(h: &'h Heap, module: Atom, name: Atom) -> Option<Term<'h>> {
    record_info(h, module, name).map(|i| i.definition)
}
