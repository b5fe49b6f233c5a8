//! Tables against a plain list of their objects: random operations on both, with the table free, held
//! by a walk that stopped, and fixed.

use kvik_ets::{Access, IterationHold, Protection, Store, Table, TableKind, TableOptions};
use kvik_heap::{Heap, OwnedTerm};
use kvik_term::{am, cmp, Term};

const OWNER: u32 = 1;

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

fn table(kind: TableKind) -> Table {
    let options = TableOptions {
        kind,
        keypos: 1,
        named: false,
        compressed: false,
        read_concurrency: false,
        write_concurrency: am::false_,
        fixed_locks: None,
        decentralized_counters: false,
    };
    Table::new(options, am::undefined, OWNER, Protection::Protected)
}

/// Few keys, so that they meet again: small integers, floats that are equal to them, pairs.
fn key<'h>(h: &'h Heap, n: &mut Numbers) -> Term<'h> {
    let i = n.below(40) as i64;
    match n.below(4) {
        0 => h.float(i as f64),
        1 => h.tuple(&[h.integer(i), h.binary(b"key")]),
        _ => h.integer(i),
    }
}
fn object<'h>(h: &'h Heap, n: &mut Numbers) -> Term<'h> {
    h.tuple(&[key(h, n), h.integer(n.below(3) as i64)])
}
fn key_of(o: Term<'_>) -> Term<'_> {
    o.as_tuple().expect("an object").elements()[0]
}

/// The objects in the order in which they came.
struct Model {
    kind: TableKind,
    objects: Vec<OwnedTerm>,
}

impl Model {
    fn same_key(&self, a: Term<'_>, b: Term<'_>) -> bool {
        match self.kind {
            TableKind::OrderedSet => cmp::compare(a, b).is_eq(),
            _ => cmp::eq_exact(a, b),
        }
    }
    fn get(&self, k: Term<'_>) -> Vec<Term<'_>> {
        let objects = self.objects.iter().map(OwnedTerm::term);
        objects.filter(|o| self.same_key(key_of(*o), k)).collect()
    }
    fn put(&mut self, o: Term<'_>, only_new: bool) -> bool {
        if only_new && !self.get(key_of(o)).is_empty() {
            return false;
        }
        match self.kind {
            TableKind::Set | TableKind::OrderedSet => self.erase(key_of(o)),
            TableKind::Bag if self.objects.iter().any(|p| cmp::eq_exact(p.term(), o)) => {
                return true
            }
            _ => {}
        }
        self.objects.push(OwnedTerm::new(o));
        true
    }
    fn erase(&mut self, k: Term<'_>) {
        let kind = self.kind;
        let same =
            |o: &OwnedTerm| Model { kind, objects: Vec::new() }.same_key(key_of(o.term()), k);
        self.objects.retain(|o| !same(o));
    }
    fn erase_object(&mut self, o: Term<'_>) {
        self.objects.retain(|p| !cmp::eq_exact(p.term(), o));
    }
}

fn equal(a: &[Term<'_>], b: &[Term<'_>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| cmp::eq_exact(*a, *b))
}

/// Every key once, as `first` and `next` give them.
fn keys(store: &Store) -> Vec<Term<'_>> {
    let mut all = Vec::new();
    let mut at = match store {
        Store::Hash(h) => h.first(false),
        Store::Tree(t) => t.first(),
    };
    while let Some(k) = at {
        all.push(k);
        at = match store {
            Store::Hash(h) => h.next(k, false).expect("a key that is there"),
            Store::Tree(t) => t.next(k),
        };
    }
    all
}

fn agree(store: &Store, model: &Model) {
    assert_eq!(store.len(), model.objects.len());
    let keys = keys(store);
    for o in &model.objects {
        let k = key_of(o.term());
        assert_eq!(keys.iter().filter(|other| model.same_key(**other, k)).count(), 1);
        assert!(store.contains(k));
    }
    if matches!(store, Store::Tree(_)) {
        assert!(keys.windows(2).all(|two| cmp::compare(two[0], two[1]).is_lt()));
    }
}

fn run(kind: TableKind, seed: u64) {
    let (t, mut n) = (table(kind), Numbers(seed));
    let mut model = Model { kind, objects: Vec::new() };
    for step in 0..3000 {
        let h = Heap::new(256);
        let mut s = t.write(OWNER, Access::Write).expect("the owner's table");
        let hold = t.hold();
        match n.below(8) {
            0..=2 => {
                let o = object(&h, &mut n);
                assert_eq!(s.store.put(o, false, hold).inserted, model.put(o, false));
            }
            3 => {
                let o = object(&h, &mut n);
                assert_eq!(s.store.put(o, true, hold).inserted, model.put(o, true));
            }
            4 => {
                let o = object(&h, &mut n);
                s.store.put_owned(OwnedTerm::new(o), hold);
                model.put(o, false);
            }
            5 => {
                let k = key(&h, &mut n);
                s.store.erase(k, hold);
                model.erase(k);
            }
            6 => {
                let o = object(&h, &mut n);
                s.store.erase_object(o, hold);
                model.erase_object(o);
            }
            _ => {
                let k = key(&h, &mut n);
                assert!(equal(&s.store.get(k), &model.get(k)), "{kind:?} {seed}, step {step}");
            }
        }
        if step % 100 == 99 {
            agree(&s.store, &model);
        }
        drop(s);
        // For some time the table is fixed, by one process and then by two.
        match step % 500 {
            200 => assert!(t.fix(7)),
            250 => assert!(t.fix(8)),
            300 => assert!(t.unfix(7, false)),
            350 => assert!(t.unfix(8, true)),
            _ => {}
        }
        assert_eq!(t.hold() == IterationHold::Objects, (200..350).contains(&(step % 500)));
    }
    let s = t.read(OWNER, Access::Read).expect("the owner's table");
    agree(&s.store, &model);
}

#[test]
fn tables_hold_what_a_list_would() {
    for kind in [TableKind::Set, TableKind::Bag, TableKind::DuplicateBag, TableKind::OrderedSet] {
        (1..=10).for_each(|seed| run(kind, 0x9E37_79B9 * seed));
    }
}

/// What was there when a walk began and stays is met once, whatever else comes and goes meanwhile.
#[test]
fn a_walk_through_a_fixed_table_meets_each_key_once() {
    for seed in 1..=20 {
        let (t, mut n) = (table(TableKind::Set), Numbers(0xA5A5_1234 * seed));
        let h = Heap::new(1 << 14);
        let put = |i: i64| {
            let mut s = t.write(OWNER, Access::Write).expect("the owner's table");
            s.store.put(h.tuple(&[h.integer(i)]), false, t.hold());
        };
        (0..500).for_each(put);
        t.fix(OWNER);
        let mut met = vec![0; 500];
        let first = |s: &Store| match s {
            Store::Hash(table) => table.first(false).map(|k| k.as_i64()),
            Store::Tree(_) => None,
        };
        let mut at = first(&t.read(OWNER, Access::Read).expect("a table").store).flatten();
        while let Some(i) = at {
            if let Some(count) = met.get_mut(i as usize) {
                *count += 1;
            }
            // Even keys stay; of the others some go, and new ones come.
            let victim = 1 + 2 * n.below(250) as i64;
            {
                let mut s = t.write(OWNER, Access::Write).expect("a table");
                s.store.erase(h.integer(victim), t.hold());
            }
            put(1000 + n.below(5000) as i64);
            let s = t.read(OWNER, Access::Read).expect("a table");
            let Store::Hash(table) = &s.store else { unreachable!("a set") };
            let next = table.next(h.integer(i), true).expect("a key that is kept");
            at = next.and_then(|k| k.as_i64());
        }
        assert!(met.iter().step_by(2).all(|count| *count == 1), "seed {seed}");
        assert!(met.iter().all(|count| *count <= 1), "seed {seed}");
        t.unfix(OWNER, true);
    }
}

#[test]
fn access_rights() {
    let all = [Protection::Public, Protection::Protected, Protection::Private];
    for (protection, stranger) in all.into_iter().zip([[true, true], [true, false], [false, false]])
    {
        let options = table(TableKind::Set).options;
        let t = Table::new(options, am::undefined, OWNER, protection);
        for access in [Access::Info, Access::Read, Access::Write] {
            assert!(t.write(OWNER, access).is_ok());
        }
        assert!(t.read(2, Access::Info).is_ok());
        assert_eq!(t.read(2, Access::Read).is_ok(), stranger[0]);
        assert_eq!(t.write(2, Access::Write).is_ok(), stranger[1]);
    }
}

/// `change` replaces an immediate where the object is, for keys of each kind.
#[test]
fn elements_change_in_place() {
    let h = Heap::new(4096);
    for kind in [TableKind::Set, TableKind::OrderedSet] {
        let t = table(kind);
        let mut s = t.write(OWNER, Access::Write).expect("the owner's table");
        let keys: Vec<Term<'_>> = (0..500)
            .map(|i| match i % 4 {
                0 => h.integer(i),
                1 => h.float(i as f64),
                2 => h.tuple(&[am::undefined.into(), h.integer(i)]),
                _ => h.binary(format!("key {i}").as_bytes()),
            })
            .collect();
        for k in &keys {
            s.store.put(h.tuple(&[*k, Term::int(0), h.float(0.5)]), false, IterationHold::None);
        }
        for round in 1..=3 {
            for k in &keys {
                let more = |old: Term<'static>| Term::small(old.as_small()? + 1);
                let new = s.store.change(*k, 1, more);
                assert_eq!(new.and_then(Term::as_small), Some(round));
                assert!(s.store.change(*k, 2, more).is_none(), "a float is no immediate");
                assert!(s.store.change(*k, 3, more).is_none(), "there is no such element");
            }
        }
        assert!(s.store.change(am::undefined.into(), 1, Some).is_none());
        for k in &keys {
            let expected = h.tuple(&[*k, Term::int(3), h.float(0.5)]);
            assert!(s.store.get_one(*k).is_some_and(|o| cmp::eq_exact(o, expected)));
        }
    }
}
