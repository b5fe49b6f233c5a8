//! Detects loops inside a function that cannot be preempted.
//!
//! A process yields at function entries, in receive loops and where it waits. A loop that passes
//! none of these would hold its scheduler for ever. No compiler makes one, but there are backward
//! jumps (to code that several paths share), so the whole control-flow graph must be searched. This
//! is done only for functions with backward jumps.

use std::ops::Range;

/// The edges of a function's control flow. Nodes are instruction indexes.
#[derive(Default)]
pub(crate) struct Loops {
    /// The function's first instruction.
    base: usize,
    /// Whether control falls through from an instruction to the next.
    falls: Vec<bool>,
    jumps: Vec<(usize, usize)>,
    /// The range that contains every loop, if there is one: from the first target of a backward
    /// jump to the last backward jump.
    around: Option<(usize, usize)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    /// On the path being followed.
    Open,
    Done,
}

impl Loops {
    /// Starts a function's walk.
    pub(crate) fn begin(&mut self, ops: &Range<usize>) {
        self.base = ops.start;
        self.falls.clear();
        self.falls.resize(ops.len(), false);
        self.jumps.clear();
        self.around = None;
    }

    #[inline]
    pub(crate) fn jump(&mut self, from: usize, to: usize) {
        self.jumps.push((from, to));
        if to <= from {
            let (low, high) = self.around.unwrap_or((to, from));
            self.around = Some((low.min(to), high.max(from)));
        }
    }

    /// Adds the edge to the next instruction.
    #[inline]
    pub(crate) fn step(&mut self, from: usize) {
        if let Some(falls) = self.falls.get_mut(from.wrapping_sub(self.base)) {
            *falls = true;
        }
    }

    /// An instruction on a loop, if there is one.
    pub(crate) fn find(&mut self) -> Option<usize> {
        let (low, last) = self.around?;
        self.jumps.retain(|(from, to)| (low..=last).contains(from) && (low..=last).contains(to));
        self.jumps.sort_unstable();
        let jumps = &self.jumps;
        let first = |at: usize| jumps.partition_point(|(from, _)| *from < at);
        let falls = |at: usize| at < last && self.falls.get(at - self.base) == Some(&true);
        let mut marks = vec![Mark::New; last - low + 1];
        // For each instruction on the path: its index, whether the next one has been tried, and the
        // next jump to try.
        let mut path = Vec::new();
        // Every loop contains the target of a backward jump, so the search starts there. Few other
        // instructions can be reached from these.
        for (_, start) in jumps.iter().filter(|(from, to)| to <= from) {
            if marks.get(start - low) == Some(&Mark::New) {
                path.push((*start, false, first(*start)));
            }
            while let Some((at, tried, jump)) = path.last_mut() {
                let to = if !*tried && falls(*at) {
                    Some(*at + 1)
                } else {
                    let next = jumps.get(*jump).filter(|(from, _)| from == at);
                    *jump += 1;
                    next.map(|(_, to)| *to)
                };
                *tried = true;
                let mark = if to.is_some() { Mark::Open } else { Mark::Done };
                if let Some(slot) = marks.get_mut(*at - low) {
                    *slot = mark;
                }
                let Some(to) = to else {
                    path.pop();
                    continue;
                };
                match marks.get(to - low) {
                    Some(Mark::Open) => return Some(*at),
                    Some(Mark::New) => path.push((to, false, first(to))),
                    _ => {}
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(edges: &[(usize, usize)]) -> Option<usize> {
        let mut loops = Loops::default();
        loops.begin(&(0..10));
        edges.iter().for_each(|(from, to)| match *to == from + 1 {
            true => loops.step(*from),
            false => loops.jump(*from, *to),
        });
        loops.find()
    }

    #[test]
    fn finds_ways_round() {
        assert_eq!(find(&[]), None);
        assert_eq!(find(&[(1, 2), (2, 5), (5, 3), (3, 4), (1, 4)]), None);
        assert_eq!(find(&[(1, 2), (2, 5), (5, 3), (3, 4), (4, 2)]), Some(4));
        assert_eq!(find(&[(7, 7)]), Some(7));
        assert_eq!(find(&[(0, 4), (4, 1), (1, 2), (2, 5), (5, 3), (3, 6)]), None);
        assert_eq!(find(&[(0, 4), (4, 1), (1, 2), (2, 3), (3, 4)]), Some(4));
    }
}
