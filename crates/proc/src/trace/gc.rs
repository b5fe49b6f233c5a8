//! Reporting of collections to tracers and monitors.

use kvik_heap::gc::GcStats;
use kvik_heap::Heap;
use kvik_term::{am, Term};

use super::{bit, on, Event, RECLAIMED};
use crate::{clock, sysmon, Proc};

/// A collection in progress, and when it began.
pub struct Collection {
    began: u64,
    traced: bool,
    /// The words on the heap, if the allocations of functions are counted.
    words: Option<usize>,
}

impl Proc {
    /// To be called before each collection: `None` if it is not reported.
    #[inline]
    pub fn gc_begins(&self, full: bool, need: usize) -> Option<Collection> {
        if on() {
            return self.gc_is_heard(full, need);
        }
        None
    }
    #[cold]
    fn gc_is_heard(&self, full: bool, need: usize) -> Option<Collection> {
        let traced = self.is_traced(bit::GC);
        if traced {
            let tag =
                if self.heap.would_be_minor(full) { "gc_minor_start" } else { "gc_major_start" };
            self.tell_gc(tag, need);
        }
        let words = (self.is_traced(bit::CALL) && RECLAIMED.get().is_some())
            .then(|| self.heap.sizes().terms());
        let reported = traced || sysmon::on() || words.is_some();
        reported.then(|| Collection { began: clock::now(), traced, words })
    }
    /// To be called after each collection, with what `gc_begins` returned.
    #[inline]
    pub fn gc_ended(&self, heard: Option<Collection>, stats: &GcStats) {
        self.allow_off_heap();
        if let Some(c) = heard {
            self.report_gc(c, stats);
        }
    }
    /// Collects for hibernation, of which no tracer hears.
    pub(crate) fn collect_to_fit(&mut self) {
        let stats = self.heap.collect_to_fit();
        self.gc_ended(None, &stats);
    }
    /// Collects the heap of an idle process, of which no tracer hears.
    pub(crate) fn collect_idle(&mut self) {
        if let Some(stats) = self.heap.collect_idle() {
            self.gc_ended(None, &stats);
        }
    }
    #[cold]
    fn report_gc(&self, c: Collection, stats: &GcStats) {
        if c.traced {
            self.tell_gc(if stats.full { "gc_major_end" } else { "gc_minor_end" }, stats.reclaimed);
        }
        if let (Some(before), Some(f)) = (c.words, RECLAIMED.get()) {
            f(self, before as i64 - self.heap.sizes().terms() as i64);
        }
        if sysmon::on() {
            self.monitor_collection(c.began);
        }
    }
    fn tell_gc(&self, tag: &str, words: usize) {
        self.trace(bit::GC, tag, |h| {
            let size = h.tuple(&[am::wordsize.into(), h.integer(words as i64)]);
            Event::of(h.cons(size, self.gc_info(h)))
        });
    }
    /// The sizes before or after a collection: `garbage_collection_info`.
    pub fn gc_info<'h>(&self, h: &'h Heap) -> Term<'h> {
        let (s, old) = (self.heap.sizes(), self.heap.old_off_heap());
        let pairs = [
            (am::old_heap_block_size, s.old_block),
            (am::heap_block_size, s.block),
            (am::mbuf_size, s.fragments),
            (am::recent_size, 0),
            (am::stack_size, s.stack),
            (am::old_heap_size, s.old_used),
            (am::heap_size, s.used),
            (am::bin_vheap_size, s.off_heap),
            (am::bin_vheap_block_size, s.off_heap_limit),
            (am::bin_old_vheap_size, old.words),
            (am::bin_old_vheap_block_size, old.limit),
        ];
        let all = pairs.map(|(k, n)| h.tuple(&[k.into(), h.integer(n as i64)]));
        h.list(&all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_collection_keeps_min_bin_vheap_size() {
        const WORDS: usize = 1_000_000;
        let mut p = Proc::new(1, 100);
        p.with_rare(|x| x.min_bin_vheap_size = WORDS);
        let usual = |p: &mut Proc| {
            let stats = p.heap.collect_parked(false);
            p.gc_ended(None, &stats);
        };
        let collections: [fn(&mut Proc); 3] = [Proc::collect_to_fit, Proc::collect_idle, usual];
        for collect in collections {
            p.heap.tuple(&[Term::NIL; 3]);
            collect(&mut p);
            assert_eq!(p.heap.sizes().off_heap_limit, WORDS);
        }
    }
}
