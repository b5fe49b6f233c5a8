//! A merge sort of a map's pairs by their keys that can stop at each comparison: compound keys are
//! compared by the caller, so that maps within the keys of maps need no recursion.

use std::cmp::Ordering;

use crate::Term;

type Pair<'a> = (Term<'a>, Term<'a>);

/// Stable and bottom-up: runs of `width` pairs are in order, and two at a time are merged.
pub(crate) struct MergeSort<'a> {
    pairs: Vec<Pair<'a>>,
    merged: Vec<Pair<'a>>,
    width: usize,
    /// The next pairs of the two runs.
    left: usize,
    right: usize,
}

impl<'a> MergeSort<'a> {
    pub fn new(pairs: Vec<Pair<'a>>) -> MergeSort<'a> {
        let merged = Vec::with_capacity(pairs.len());
        MergeSort { pairs, merged, width: 1, left: 0, right: 0 }
    }
    /// The pairs, in order once `run` requests no more comparisons.
    pub fn pairs(&self) -> &[Pair<'a>] {
        &self.pairs
    }
    /// Continues with the result of the comparison requested before, which it takes; makes those
    /// that `order` can decide. Returns the keys to be compared next; `None` at the end.
    pub fn run(
        &mut self,
        result: &mut Option<Ordering>,
        order: impl Fn(Term<'a>, Term<'a>) -> Option<Ordering>,
    ) -> Option<(Term<'a>, Term<'a>)> {
        let n = self.pairs.len();
        while self.width < n {
            while self.merged.len() < n {
                let start = self.merged.len() / (2 * self.width) * (2 * self.width);
                let (mid, end) = ((start + self.width).min(n), (start + 2 * self.width).min(n));
                if self.merged.len() == start {
                    (self.left, self.right) = (start, mid);
                }
                let from_left = self.left < mid
                    && (self.right == end || {
                        let (p, q) = (self.pairs[self.left].0, self.pairs[self.right].0);
                        match result.take().or_else(|| order(p, q)) {
                            Some(o) => o.is_le(),
                            None => return Some((p, q)),
                        }
                    });
                let from = if from_left { &mut self.left } else { &mut self.right };
                self.merged.push(self.pairs[*from]);
                *from += 1;
            }
            std::mem::swap(&mut self.pairs, &mut self.merged);
            self.merged.clear();
            self.width *= 2;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_whether_it_knows_the_order_or_asks() {
        for n in [0, 1, 2, 3, 7, 8, 33, 100] {
            for asks in [1, 2, i64::MAX] {
                let key = |i: i32| Term::int(i * 37 % 11);
                let mut s = MergeSort::new((0..n).map(|i| (key(i), Term::int(i))).collect());
                let known = |a: Term<'_>, b: Term<'_>| {
                    let (a, b) = (a.as_small()?, b.as_small()?);
                    ((a + b) % asks != 0).then(|| a.cmp(&b))
                };
                let mut result = None;
                while let Some((a, b)) = s.run(&mut result, known) {
                    result = Some(a.as_small().cmp(&b.as_small()));
                }
                let got = s.pairs().iter().map(|p| (p.0.as_small(), p.1.as_small()));
                assert!(got.is_sorted(), "{n} {asks}");
                assert_eq!(s.pairs().len(), n as usize);
            }
        }
    }
}
