//! Ways round inside a function.
//!
//! A process yields at the entries of functions, in receive loops and where it waits. A path that
//! goes round without coming by one of these would keep its scheduler for ever. No compiler makes
//! such a path, but jumps back there are (to code that several paths share), so it takes a look at
//! the whole graph. That is done only for functions that jump back.

/// The edges of a function's control flow, as indexes of instructions.
#[derive(Default)]
pub(crate) struct Loops {
    jumps_back: bool,
    recording: bool,
    edges: Vec<(usize, usize)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    /// On the path being followed.
    Open,
    Done,
}

impl Loops {
    pub(crate) fn jump(&mut self, from: usize, to: usize) {
        self.jumps_back |= to <= from;
        if self.recording {
            self.edges.push((from, to));
        }
    }

    /// To the next instruction.
    #[inline]
    pub(crate) fn step(&mut self, from: usize) {
        if self.recording {
            self.edges.push((from, from + 1));
        }
    }

    pub(crate) fn possible(&self) -> bool {
        self.jumps_back
    }

    pub(crate) fn record(&mut self) {
        self.recording = true;
    }

    /// An instruction on a way round, if there is one.
    pub(crate) fn find(&mut self) -> Option<usize> {
        self.recording = false;
        let mut edges = std::mem::take(&mut self.edges);
        edges.sort_unstable();
        edges.dedup();
        let (first, last) = (edges.first()?.0, edges.iter().map(|(a, b)| *a.max(b)).max()?);
        let low = edges.iter().map(|(_, to)| *to).min()?.min(first);
        let mut marks = vec![Mark::New; last - low + 1];
        // Where the edges of each instruction begin.
        let mut firsts = vec![edges.len(); last - low + 1];
        for (edge, (at, _)) in edges.iter().enumerate().rev() {
            if let Some(first) = firsts.get_mut(at - low) {
                *first = edge;
            }
        }
        let from = |at: usize| firsts.get(at - low).copied().unwrap_or(edges.len());
        // Each instruction on the path, with the next of its edges to follow.
        let mut path = Vec::new();
        for start in low..=last {
            if marks.get(start - low) != Some(&Mark::New) {
                continue;
            }
            path.push((start, from(start)));
            while let Some((at, edge)) = path.last_mut() {
                if let Some(mark) = marks.get_mut(*at - low) {
                    *mark = Mark::Open;
                }
                let Some((_, to)) = edges.get(*edge).filter(|(a, _)| a == at) else {
                    if let Some(mark) = marks.get_mut(*at - low) {
                        *mark = Mark::Done;
                    }
                    path.pop();
                    continue;
                };
                *edge += 1;
                match marks.get(*to - low) {
                    Some(Mark::Open) => return Some(*at),
                    Some(Mark::New) => path.push((*to, from(*to))),
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
        loops.record();
        edges.iter().for_each(|(from, to)| loops.jump(*from, *to));
        loops.find()
    }

    #[test]
    fn finds_ways_round() {
        assert_eq!(find(&[]), None);
        assert_eq!(find(&[(1, 2), (2, 5), (5, 3), (3, 4), (1, 4)]), None);
        assert_eq!(find(&[(1, 2), (2, 5), (5, 3), (3, 4), (4, 2)]), Some(4));
        assert_eq!(find(&[(7, 7)]), Some(7));
    }
}
