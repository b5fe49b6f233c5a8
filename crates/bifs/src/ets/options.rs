//! The options of `ets:new/2`.

use kvik_ets::{Protection, TableKind, TableOptions};
use kvik_term::{am, Term};

pub(super) struct Parsed<'h> {
    pub options: TableOptions,
    pub protection: Protection,
    pub heir: Option<(u32, Option<Term<'h>>)>,
}

pub(super) fn parse(list: Term<'_>) -> Option<Parsed<'_>> {
    let mut o = Parsed {
        options: TableOptions {
            kind: TableKind::Set,
            keypos: 1,
            named: false,
            compressed: crate::system::config().ets_always_compress,
            read_concurrency: false,
            write_concurrency: am::false_,
            fixed_locks: None,
            decentralized_counters: false,
        },
        protection: Protection::Protected,
        heir: None,
    };
    let mut counters = None;
    let mut it = list.list();
    for t in it.by_ref() {
        match t.as_atom() {
            Some(a) => flag(&mut o, a)?,
            None => pair(&mut o, &mut counters, t.as_tuple()?.elements())?,
        }
    }
    if !it.rest.is_nil() {
        return None;
    }
    if o.options.fixed_locks.is_some() && o.options.kind == TableKind::OrderedSet {
        return None;
    }
    let fine = o.options.write_concurrency != am::false_ && o.protection != Protection::Private;
    if !fine {
        o.options.write_concurrency = am::false_;
    }
    o.options.decentralized_counters = fine && counters.unwrap_or(o.options.decentralized_counters);
    o.options.read_concurrency &= o.protection != Protection::Private;
    Some(o)
}

fn flag(o: &mut Parsed<'_>, a: kvik_term::Atom) -> Option<()> {
    match a {
        am::bag => o.options.kind = TableKind::Bag,
        am::duplicate_bag => o.options.kind = TableKind::DuplicateBag,
        am::ordered_set => {
            o.options.kind = TableKind::OrderedSet;
            o.options.decentralized_counters = true;
        }
        am::public => o.protection = Protection::Public,
        am::private => o.protection = Protection::Private,
        am::named_table => o.options.named = true,
        am::compressed => o.options.compressed = true,
        am::set | am::protected => {}
        _ => return None,
    }
    Some(())
}

/// The debug option that fixes the number of locks: a power of two, at least 64.
fn fixed_locks(v: Term<'_>) -> Option<usize> {
    let [k, n] = v.as_tuple_n::<2>()?;
    let n = n.as_usize().filter(|n| (1..=32_768).contains(n))?;
    let n = 1usize << n.ilog2();
    k.is_atom(am::debug_hash_fixed_number_of_locks).then_some(n.max(64))
}

/// `{heir, Pid, Gift}`, or `{heir, Pid}`.
pub(super) fn heir<'h>(t: &[Term<'h>]) -> Option<(u32, Option<Term<'h>>)> {
    match *t {
        [_, pid] if kvik_release::current().has_heirs_without_gift() => {
            Some((pid.as_local_pid()?, None))
        }
        [_, pid, gift] => Some((pid.as_local_pid()?, Some(gift))),
        _ => None,
    }
}

fn pair<'h>(o: &mut Parsed<'h>, counters: &mut Option<bool>, t: &[Term<'h>]) -> Option<()> {
    match *t {
        [k, v] => match k.as_atom()? {
            am::keypos => o.options.keypos = v.as_usize().filter(|n| *n > 0)?,
            am::write_concurrency => {
                o.options.fixed_locks = fixed_locks(v);
                if o.options.fixed_locks.is_some() {
                    o.options.write_concurrency = am::true_;
                    o.options.decentralized_counters = true;
                    return Some(());
                }
                let a = v.as_atom()?;
                match a {
                    am::auto => o.options.decentralized_counters = true,
                    am::true_ if o.options.kind != TableKind::OrderedSet => {
                        o.options.decentralized_counters = false
                    }
                    am::true_ | am::false_ => {}
                    _ => return None,
                }
                o.options.write_concurrency = a;
            }
            am::read_concurrency => o.options.read_concurrency = v.as_bool()?,
            am::heir if v.is_atom(am::none) => o.heir = None,
            am::heir => o.heir = Some(heir(t)?),
            am::decentralized_counters => *counters = Some(v.as_bool()?),
            _ => return None,
        },
        [k, ..] if k.is_atom(am::heir) => o.heir = Some(heir(t)?),
        _ => return None,
    }
    Some(())
}
