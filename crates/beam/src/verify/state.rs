//! The state at one point of a function, and how two such states are joined.

use super::ty::Ty;
use super::What;

/// Whether there is a frame.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Frame {
    /// There is none.
    #[default]
    No,
    /// There is one, of as many y registers as the state has (perhaps none).
    Yes,
    /// Paths with different frames met. Such code may only raise an exception; `y` is what the
    /// paths have in common. No handler is open, all y registers are initialised.
    Unsure,
}

/// Words reserved on the heap and not yet used.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Heap {
    pub(crate) words: u32,
    pub(crate) floats: u32,
    pub(crate) funs: u32,
}

impl Heap {
    pub(crate) fn least(self, other: Heap) -> Heap {
        Heap {
            words: self.words.min(other.words),
            floats: self.floats.min(other.floats),
            funs: self.funs.min(other.funs),
        }
    }
}

/// The reason for which a function is verified again, with filled frames.
pub(crate) const RAW_Y: What = "a y register is not initialised";

/// The reasons for which it is verified again, with the targets of failing BIFs cleared.
pub(crate) const RAW_X: What = "reads a register that isn't initialised";
pub(crate) const RAW_LIVE: What = "a live x register is not initialised";

/// How a point was reached: by ordinary flow, by an exception, or by either.
pub(crate) const NORMAL: u8 = 1;
pub(crate) const EXCEPTION: u8 = 2;

/// The state before an instruction.
#[derive(Clone, Default)]
pub(crate) struct State {
    /// The x registers; those beyond the end are not initialised.
    pub(crate) x: Vec<Ty>,
    /// The y registers: as many as the frame has.
    pub(crate) y: Vec<Ty>,
    /// The float registers; those beyond the end hold no number.
    pub(crate) f: Vec<Ty>,
    pub(crate) frame: Frame,
    /// How many y registers are not initialised.
    pub(crate) raw_y: usize,
    /// How many y registers hold catch tags.
    pub(crate) tags: usize,
    /// How many y registers may hold parts of a message that isn't taken.
    pub(crate) borrowed_y: usize,
    /// Frames of different sizes met, and a y register outside their common part may hold a part of
    /// a message that isn't taken.
    pub(crate) borrowed_outside: bool,
    pub(crate) heap: Heap,
    pub(crate) how: u8,
}

impl State {
    #[inline]
    pub(crate) fn get_x(&self, reg: u16) -> Ty {
        self.x.get(usize::from(reg)).copied().unwrap_or(Ty::UNINIT)
    }

    #[inline]
    pub(crate) fn set_x(&mut self, reg: u16, ty: Ty) {
        let reg = usize::from(reg);
        if reg >= self.x.len() {
            self.x.resize(reg + 1, Ty::UNINIT);
        }
        if let Some(slot) = self.x.get_mut(reg) {
            *slot = ty;
        }
    }

    #[inline]
    pub(crate) fn get_y(&self, reg: u16) -> Result<Ty, What> {
        self.y.get(usize::from(reg)).copied().ok_or("a y register outside the frame")
    }

    /// A float register must hold a finite number.
    pub(crate) fn check_float(&self, reg: u16) -> Result<(), What> {
        match self.f.get(usize::from(reg)) {
            Some(ty) if ty.is(Ty::FLOAT) => Ok(()),
            _ => Err("reads a float register that isn't initialised"),
        }
    }

    pub(crate) fn set_float(&mut self, reg: u16, ty: Ty) {
        let reg = usize::from(reg);
        if reg >= self.f.len() {
            self.f.resize(reg + 1, Ty::UNINIT);
        }
        if let Some(slot) = self.f.get_mut(reg) {
            *slot = ty;
        }
    }

    /// Writes a y register, whatever it holds.
    #[inline]
    pub(crate) fn put_y(&mut self, reg: u16, ty: Ty) -> Result<(), What> {
        let slot = self.y.get_mut(usize::from(reg)).ok_or("a y register outside the frame")?;
        let old = std::mem::replace(slot, ty);
        self.raw_y =
            self.raw_y + usize::from(ty.has(Ty::UNINIT)) - usize::from(old.has(Ty::UNINIT));
        self.tags = self.tags + usize::from(ty.has(Ty::TAG)) - usize::from(old.has(Ty::TAG));
        self.borrowed_y =
            self.borrowed_y + usize::from(ty.is_borrowed()) - usize::from(old.is_borrowed());
        Ok(())
    }

    /// Makes a frame of that many y registers.
    pub(crate) fn enter(&mut self, size: usize, ty: Ty) {
        self.y.clear();
        self.y.resize(size, ty);
        self.frame = Frame::Yes;
        self.count();
    }

    pub(crate) fn leave(&mut self) {
        self.y.clear();
        self.borrowed_outside = false;
        self.frame = Frame::No;
        self.count();
    }

    /// Recomputes the counts of y registers.
    pub(crate) fn count(&mut self) {
        self.raw_y = self.y.iter().filter(|t| t.has(Ty::UNINIT)).count();
        self.tags = self.y.iter().filter(|t| t.has(Ty::TAG)).count();
        self.borrowed_y = self.y.iter().filter(|t| t.is_borrowed()).count();
    }

    /// The current message is taken: its parts are now ordinary terms.
    pub(crate) fn take_message(&mut self) {
        self.x.iter_mut().chain(&mut self.y).for_each(|t| *t = t.taken());
        self.borrowed_y = 0;
        self.borrowed_outside = false;
    }

    /// Whether any register may hold a part of a message that isn't taken.
    pub(crate) fn is_borrowed(&self) -> bool {
        self.borrowed_y > 0 || self.borrowed_outside || self.x.iter().any(|t| t.is_borrowed())
    }

    /// Checks that the collector may visit the first `live` x registers.
    #[inline]
    pub(crate) fn check_live(&self, live: usize) -> Result<(), What> {
        match self.x.get(..live) {
            Some(x) if x.iter().all(|t| !t.has(Ty::UNINIT)) => Ok(()),
            _ => Err(RAW_LIVE),
        }
    }

    /// Checks that the collector, or a search for a handler, may visit all y registers.
    #[inline]
    pub(crate) fn check_y(&self) -> Result<(), What> {
        if self.raw_y == 0 {
            Ok(())
        } else {
            Err(RAW_Y)
        }
    }

    /// The innermost catch tag: the one in the lowest y register.
    pub(crate) fn innermost(&self) -> Option<(usize, Ty)> {
        if self.tags == 0 {
            return None;
        }
        self.y.iter().copied().enumerate().find(|(_, t)| t.has(Ty::TAG))
    }
}

/// The state at a label, kept in a pool that all labels of a function share.
#[derive(Clone, Copy, Default)]
pub(crate) struct LabelState {
    /// The function that the rest belongs to, by the number of its visit; 0 for none.
    pub(crate) visit: u32,
    /// The code behind the label must be verified (again).
    pub(crate) dirty: bool,
    /// It has been verified before.
    pub(crate) done: bool,
    frame: Frame,
    borrowed_outside: bool,
    how: u8,
    x: (u32, u32),
    y: (u32, u32),
    f: (u32, u32),
    heap: Heap,
}

impl LabelState {
    /// Stores the first state that arrives.
    pub(crate) fn store(&mut self, pool: &mut Vec<Ty>, state: &State, visit: u32) {
        *self = LabelState {
            visit,
            dirty: true,
            done: false,
            frame: state.frame,
            borrowed_outside: state.borrowed_outside,
            how: state.how,
            x: keep(pool, if state.how == EXCEPTION { &[] } else { &state.x }),
            y: keep(pool, &state.y),
            f: keep(pool, if state.how == EXCEPTION { &[] } else { &state.f }),
            heap: state.heap,
        };
    }

    /// Joins another state into it; true if that changed anything.
    pub(crate) fn merge(&mut self, pool: &mut Vec<Ty>, state: &State) -> Result<bool, What> {
        let mut changed = self.merge_frame(pool, state)?;
        let heap = self.heap.least(state.heap);
        changed |= heap != self.heap || self.how | state.how != self.how;
        self.heap = heap;
        // On an exception edge x registers hold nothing that the code may read.
        if state.how & NORMAL != 0 {
            if self.how & NORMAL == 0 {
                self.x = keep(pool, &state.x);
                self.f = keep(pool, &state.f);
                changed = true;
            } else {
                changed |= join_prefix(pool, &mut self.x, &state.x, self.done);
                changed |= join_prefix(pool, &mut self.f, &state.f, self.done);
            }
        }
        self.how |= state.how;
        changed |= join(pool, self.y, &state.y, self.done);
        self.dirty |= changed;
        Ok(changed)
    }

    /// Frames of different sizes may meet where the code is about to raise. The registers outside
    /// the common part are dropped, so none may hold a catch tag or be uninitialised; whether one
    /// may hold a part of a message is still tracked.
    fn merge_frame(&mut self, pool: &[Ty], state: &State) -> Result<bool, What> {
        let borrowed = state.borrowed_outside && !self.borrowed_outside;
        self.borrowed_outside |= borrowed;
        let len = state.y.len() as u32;
        if self.frame == state.frame && self.y.1 == len {
            return Ok(borrowed);
        }
        let kept = part(pool, self.y);
        let common = kept.len().min(state.y.len());
        let settled = |y: &[Ty]| !y.iter().any(|t| t.has(Ty::TAG.or(Ty::UNINIT)));
        if !settled(&state.y) || !settled(kept) {
            return Err("frames of different sizes meet");
        }
        let outside = kept.iter().skip(common).chain(state.y.iter().skip(common));
        let before = (self.frame, self.borrowed_outside, self.y.1);
        self.borrowed_outside |= outside.into_iter().any(|t| t.is_borrowed());
        self.frame = Frame::Unsure;
        self.y.1 = common as u32;
        Ok(borrowed || before != (self.frame, self.borrowed_outside, self.y.1))
    }

    /// Makes it the current state.
    pub(crate) fn load(&mut self, pool: &[Ty], state: &mut State) {
        self.dirty = false;
        self.done = true;
        state.x.clear();
        state.x.extend_from_slice(part(pool, self.x));
        state.y.clear();
        state.y.extend_from_slice(part(pool, self.y));
        state.f.clear();
        state.f.extend_from_slice(part(pool, self.f));
        state.frame = self.frame;
        state.borrowed_outside = self.borrowed_outside;
        state.heap = self.heap;
        state.how = self.how;
        state.count();
    }
}

fn keep(pool: &mut Vec<Ty>, from: &[Ty]) -> (u32, u32) {
    let start = pool.len() as u32;
    pool.extend_from_slice(from);
    (start, from.len() as u32)
}

fn part(pool: &[Ty], (start, len): (u32, u32)) -> &[Ty] {
    pool.get(start as usize..start as usize + len as usize).unwrap_or_default()
}

/// Registers beyond the end of either are not initialised.
fn join_prefix(pool: &mut [Ty], kept: &mut (u32, u32), with: &[Ty], widen: bool) -> bool {
    let len = kept.1.min(with.len() as u32);
    let shorter = len != kept.1;
    kept.1 = len;
    join(pool, *kept, with, widen) || shorter
}

fn join(pool: &mut [Ty], (start, len): (u32, u32), with: &[Ty], widen: bool) -> bool {
    let kept = pool.get_mut(start as usize..start as usize + len as usize).unwrap_or_default();
    let mut changed = false;
    for (old, new) in kept.iter_mut().zip(with) {
        let joined = old.join(*new, widen);
        changed |= joined != *old;
        *old = joined;
    }
    changed
}
