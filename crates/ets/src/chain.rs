//! Rows linked one behind the other: a bucket of a hash table.

use kvik_heap::StoredRow;

pub(crate) type Chain = Option<StoredRow>;

/// The rows in their order.
#[inline]
pub(crate) fn rows(chain: &Chain) -> impl Iterator<Item = &StoredRow> {
    std::iter::successors(chain.as_ref(), |r| r.next().as_ref())
}

/// The first rows, as long as `f` holds for them.
pub(crate) fn while_some<'c>(
    chain: &'c Chain,
    f: impl Fn(&StoredRow) -> bool + 'c,
) -> impl Iterator<Item = &'c StoredRow> {
    rows(chain).take_while(move |r| f(r))
}

/// The link to the first row for which `f` holds, or the one at the end.
#[inline]
pub(crate) fn find(mut at: &mut Chain, mut f: impl FnMut(&StoredRow) -> bool) -> &mut Chain {
    while at.as_ref().is_some_and(|r| !f(r)) {
        at = next(at);
    }
    at
}

/// The link to row `n`, or the one at the end.
pub(crate) fn nth(at: &mut Chain, mut n: usize) -> &mut Chain {
    find(at, |_| {
        let there = n == 0;
        n = n.saturating_sub(1);
        there
    })
}

/// The link behind a row; at the end, the same.
#[inline]
pub(crate) fn next(at: &mut Chain) -> &mut Chain {
    match at {
        Some(row) => row.link(),
        end => end,
    }
}

/// Puts a row in front of the one that is there.
pub(crate) fn insert(at: &mut Chain, mut row: StoredRow) {
    *row.link() = at.take();
    *at = Some(row);
}

/// Takes a row out.
pub(crate) fn take(at: &mut Chain) -> Option<StoredRow> {
    let mut row = at.take()?;
    *at = row.link().take();
    Some(row)
}

/// Puts a row in the place of another, which it returns.
pub(crate) fn exchange(old: &mut StoredRow, mut row: StoredRow) -> StoredRow {
    *row.link() = old.link().take();
    std::mem::replace(old, row)
}

/// The rows for which `f` does not hold, and those for which it does, both in their order.
pub(crate) fn split(mut rest: Chain, f: impl Fn(&StoredRow) -> bool) -> (Chain, Chain) {
    let (mut stay, mut go) = (None, None);
    let (mut stay_end, mut go_end) = (&mut stay, &mut go);
    while let Some(row) = take(&mut rest) {
        match f(&row) {
            true => go_end = go_end.insert(row).link(),
            false => stay_end = stay_end.insert(row).link(),
        }
    }
    (stay, go)
}
