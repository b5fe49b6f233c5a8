//! The options of `ets:new/2`.

use kvik_ets::{Kind, Options, Protection};
use kvik_term::{am, Term};

pub(super) struct Parsed<'h> {
    pub options: Options,
    pub protection: Protection,
    pub heir: Option<(u32, Term<'h>)>,
}

pub(super) fn parse(list: Term<'_>) -> Option<Parsed<'_>> {
    let mut o = Parsed {
        options: Options {
            kind: Kind::Set,
            keypos: 1,
            named: false,
            compressed: false,
            read_concurrency: false,
            write_concurrency: am::false_,
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
        am::bag => o.options.kind = Kind::Bag,
        am::duplicate_bag => o.options.kind = Kind::DuplicateBag,
        am::ordered_set => {
            o.options.kind = Kind::OrderedSet;
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

fn pair<'h>(o: &mut Parsed<'h>, counters: &mut Option<bool>, t: &[Term<'h>]) -> Option<()> {
    match *t {
        [k, v] => match k.as_atom()? {
            am::keypos => o.options.keypos = v.as_usize().filter(|n| *n > 0)?,
            am::write_concurrency => {
                let a = v.as_atom()?;
                match a {
                    am::auto => o.options.decentralized_counters = true,
                    am::true_ if o.options.kind != Kind::OrderedSet => {
                        o.options.decentralized_counters = false
                    }
                    am::true_ | am::false_ => {}
                    _ => return None,
                }
                o.options.write_concurrency = a;
            }
            am::read_concurrency => o.options.read_concurrency = v.as_bool()?,
            am::heir if v.is_atom(am::none) => o.heir = None,
            am::decentralized_counters => *counters = Some(v.as_bool()?),
            _ => return None,
        },
        [k, pid, gift] if k.is_atom(am::heir) => o.heir = Some((pid.as_local_pid()?, gift)),
        _ => return None,
    }
    Some(())
}
