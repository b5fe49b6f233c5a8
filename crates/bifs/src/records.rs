//! Module `records`: native records (since OTP 29), made and inspected by name.

use kvik_code::record_info;
use kvik_heap::records::FieldError;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::word::FLAT_MAP_LIMIT;
use kvik_term::{am, cmp, map, Atom, NativeRecord, RecordDef, Term};
use smallvec::SmallVec;

pub const BIFS: &[BifEntry] = &[
    bif!("records", "create", 4, create_4, since 29),
    bif!("records", "update", 4, update_4, since 29),
    bif!("records", "get", 2, get_2, since 29),
    bif!("records", "get_module", 1, get_module_1, since 29),
    bif!("records", "get_name", 1, get_name_1, since 29),
    bif!("records", "get_field_names", 1, get_field_names_1, since 29),
    bif!("records", "is_exported", 1, is_exported_1, since 29),
    bif!("records", "get_definition", 2, get_definition_2, since 29),
];

/// Fields of most records fit inline.
type Keys = SmallVec<[Atom; 8]>;
type Values<'h> = SmallVec<[Term<'h>; 8]>;

/// Fields that cost as much as one reduction.
const FIELDS_PER_REDUCTION: i64 = 8;

fn count_fields(p: &Proc, n: usize) {
    p.heap.bump_reductions(n as i64 / FIELDS_PER_REDUCTION);
}

fn bad_field<'h>(p: &'h Proc, tag: Atom, id: [Term<'h>; 2], key: Term<'h>) -> Raised {
    p.error_pair(tag, p.heap.tuple(&[p.heap.tuple(&id), key]))
}

fn create_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (Some(module), Some(name)) = (a[0].as_atom(), a[1].as_atom()) else {
        return Err(p.error_pair(am::badrecord, a[1]));
    };
    let options = a[3].as_map().ok_or_else(|| p.error_pair(am::badmap, a[3]))?;
    let exported = map::get(options, am::is_exported.into()).filter(|_| options.len() == 1);
    let exported = exported.and_then(Term::as_bool).ok_or_else(|| p.badarg())?;
    let fields = a[2].list_to_vec().ok_or_else(|| p.badarg())?;
    count_fields(p, fields.len());
    let mut keys = Keys::with_capacity(fields.len());
    let mut values = Values::with_capacity(fields.len());
    for field in &fields {
        let [key, value] = field.as_tuple_n().ok_or_else(|| p.badarg())?;
        keys.push(key.as_atom().ok_or_else(|| bad_field(p, am::badfield, [a[0], a[1]], key))?);
        values.push(value);
    }
    // A record that is like one of a loaded module refers to that definition.
    let loaded = record_info(&p.heap, module, name).map(|i| i.definition);
    let definition = match loaded.filter(|t| is_declared(*t, exported, &keys)) {
        Some(definition) => definition,
        None => {
            let new = p.heap.record_definition([module, name], exported, &keys);
            new.ok_or_else(|| p.badarg())?.term
        }
    };
    let mut sorted = Values::from_elem(Term::NIL, values.len());
    let d = RecordDef::of(definition).ok_or_else(|| p.badarg())?;
    for (at, value) in d.order().zip(values) {
        if let Some(to) = sorted.get_mut(at) {
            *to = value;
        }
    }
    p.heap.record(definition, &sorted).ok_or_else(|| p.badarg())
}
/// Whether a definition has these fields, as declared.
fn is_declared(definition: Term<'_>, exported: bool, declared: &[Atom]) -> bool {
    let Some(d) = RecordDef::of(definition) else { return false };
    let keys = d.order().map(|at| d.keys().get(at).and_then(|key| key.as_atom()));
    d.is_exported() == exported && keys.eq(declared.iter().map(|key| Some(*key)))
}

fn update_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let r = a[0].as_record().ok_or_else(|| p.error_pair(am::badrecord, a[0]))?;
    let d = r.definition();
    let named = a[1].is_atom(d.module()) && a[2].is_atom(d.name());
    if !named && !a[2].is_atom(am::underscore) {
        return Err(p.error_pair(am::badrecord, a[2]));
    }
    let updates = a[3].as_map().ok_or_else(|| p.error_pair(am::badmap, a[3]))?;
    if updates.len() == 0 {
        return Ok(a[0]);
    }
    count_fields(p, updates.len() + r.values().len());
    let mut given = SmallVec::<[[Term<'h>; 2]; 8]>::new();
    given.extend(map::iter(updates).map(|(k, v)| [k, v]));
    // The keys of a small map are in this order.
    if updates.len() > FLAT_MAP_LIMIT {
        given.sort_by(|x, y| cmp::key_order(x[0], y[0]));
    }
    let none_required = std::iter::empty();
    let made = p.heap.record_over(r.definition_term(), r.values(), none_required, &given);
    made.ok_or_else(|| p.badarg())?.map_err(|e| match e {
        FieldError::Unknown(key) | FieldError::NoValue(key) => {
            bad_field(p, am::badfield, [d.module().into(), d.name().into()], key)
        }
    })
}

fn get_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    a[1].as_record().and_then(|r| r.get(a[0])).ok_or_else(|| p.badarg())
}
fn get_module_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    a[0].as_record().map(|r| r.definition().module().into()).ok_or_else(|| p.badarg())
}
fn get_name_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    a[0].as_record().map(|r| r.definition().name().into()).ok_or_else(|| p.badarg())
}

fn record<'h>(p: &'h Proc, t: Term<'h>) -> Result<NativeRecord<'h>, Raised> {
    t.as_record().ok_or_else(|| p.error_pair(am::badrecord, t))
}
fn get_field_names_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let r = record(p, a[0])?;
    count_fields(p, r.values().len());
    Ok(p.heap.list(&r.fields().map(|(key, _)| key).collect::<Vec<_>>()))
}
fn is_exported_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(record(p, a[0])?.definition().is_exported()))
}

/// `{Options, Fields}`, where a field is a name, or `{Name, Default}`.
fn get_definition_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let names = a[0].as_atom().zip(a[1].as_atom());
    let info = names.and_then(|(module, name)| record_info(&p.heap, module, name));
    let info = info.ok_or_else(|| p.badarg())?;
    let d = RecordDef::of(info.definition).ok_or_else(|| p.badarg())?;
    let defaults = info.defaults();
    count_fields(p, defaults.len());
    let field = |i: usize| {
        let key = *d.keys().get(i)?;
        Some(match defaults.get(i).copied().flatten() {
            Some(value) => p.heap.tuple(&[key, value]),
            None => key,
        })
    };
    let fields: Vec<_> = d.order().filter_map(field).collect();
    let options = p.heap.map(&[(am::is_exported.into(), Term::bool(d.is_exported()))]);
    Ok(p.heap.tuple(&[options, p.heap.list(&fields)]))
}
