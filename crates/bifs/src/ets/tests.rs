//! Tables through their BIFs, in a process without a scheduler. The expected values were printed
//! by `erl`.

use kvik_heap::Heap;
use kvik_proc::{Bif, BifEntry, Proc};
use kvik_term::{am, Atom, Term};

fn bif(name: &str, arity: usize) -> Bif {
    let mut all = super::BIFS.iter().copied().chain([crate::match_spec::BIFS]).flatten();
    let found = all.find(|b: &&BifEntry| b.name == name && b.arity as usize == arity);
    found.unwrap().f
}
pub(super) fn call<'h>(p: &'h Proc, name: &str, args: &[Term<'h>]) -> Term<'h> {
    // Two time slices have to suffice: a portion of an ordered set ends the first.
    for _ in 0..2 {
        p.heap.set_reductions(4000);
        match bif(name, args.len())(p, args) {
            Ok(t) => return t,
            Err(_) => assert!(p.heap.is_suspended(), "ets:{name} failed"),
        }
    }
    panic!("ets:{name} goes on");
}
fn fails(p: &Proc, name: &str, args: &[Term<'_>]) -> Option<Atom> {
    let heap: &Heap = &p.heap;
    let args: Vec<_> = args.iter().map(|t| heap.copy(*t)).collect();
    assert!(bif(name, args.len())(p, &args).is_err());
    p.cause.get()
}
fn a<'h>(name: &str) -> Term<'h> {
    Atom::intern(name).unwrap().into()
}
/// Parses a term: atoms, integers, tuples, lists, strings and binaries only.
pub(super) fn t<'h>(p: &'h Proc, text: &str) -> Term<'h> {
    let mut s = text.trim_start();
    let r = term(&p.heap, &mut s);
    assert!(s.trim().is_empty(), "rest: {s}");
    r
}
fn term<'h>(h: &'h Heap, s: &mut &str) -> Term<'h> {
    *s = s.trim_start();
    let c = s.chars().next().unwrap();
    match c {
        '{' => h.tuple(&items(h, s, '}')),
        '[' => {
            let mut v = items(h, s, ']');
            if v.iter().any(|t| t.is_atom(Atom::intern("|").unwrap())) {
                let tail = v.pop().unwrap();
                v.pop();
                return h.list_with_tail(&v, tail);
            }
            h.list(&v)
        }
        '|' => {
            *s = &s[1..];
            a("|")
        }
        '#' => {
            *s = &s[1..];
            let kv = items(h, s, '}');
            let pairs: Vec<_> = kv.chunks(2).map(|c| (c[0], c[1])).collect();
            h.map(&pairs)
        }
        '"' => {
            let (text, rest) = s[1..].split_once('"').unwrap();
            *s = rest;
            h.string(text)
        }
        '<' => {
            let (text, rest) = s[3..].split_once("\">>").unwrap();
            *s = rest;
            h.binary(text.as_bytes())
        }
        '\'' => {
            let (text, rest) = s[1..].split_once('\'').unwrap();
            *s = rest;
            a(text)
        }
        _ => {
            let end = s.find(|c: char| !(c.is_alphanumeric() || "_-.@".contains(c)));
            let (word, rest) = s.split_at(end.unwrap_or(s.len()));
            *s = rest;
            match (word.parse::<i64>(), word.parse::<f64>()) {
                (Ok(i), _) => h.integer(i),
                (_, Ok(f)) => h.float(f),
                _ => a(word),
            }
        }
    }
}
fn items<'h>(h: &'h Heap, s: &mut &str, close: char) -> Vec<Term<'h>> {
    let mut v = Vec::new();
    *s = s[1..].trim_start();
    while !s.starts_with(close) {
        v.push(term(h, s));
        *s = s.trim_start().trim_start_matches([',', '=', '>']).trim_start();
    }
    *s = &s[1..];
    v
}
pub(super) fn same(p: &Proc, got: Term<'_>, want: &str) {
    let want = t(p, want);
    if !kvik_ets::order::same(got, want) {
        panic!("got {}, want {}", show(got), show(want));
    }
}
pub(super) fn show(t: Term<'_>) -> String {
    use kvik_term::View::*;
    let all = |ts: &[Term<'_>]| ts.iter().map(|t| show(*t)).collect::<Vec<_>>().join(",");
    match t.view() {
        Small(i) => i.to_string(),
        Atom(a) => a.name().into(),
        Nil => "[]".into(),
        Tuple(u) => format!("{{{}}}", all(u.elements())),
        Cons(_) => format!("[{}]", all(&t.list().collect::<Vec<_>>())),
        Bits(b) => format!("{:?}", b.to_bytes()),
        Float(f) => f.to_string(),
        _ => "?".into(),
    }
}
pub(super) fn new<'h>(p: &'h Proc, opts: &str) -> Term<'h> {
    call(p, "new", &[a("t"), t(p, opts)])
}
pub(super) fn all<'h>(p: &'h Proc, tab: Term<'h>) -> Term<'h> {
    call(p, "match_object", &[tab, a("_")])
}

#[test]
fn hash_tables_list_in_otps_order() {
    let p = Proc::new(1, 1000);
    let tab = new(&p, "[]");
    call(&p, "insert", &[tab, t(&p, "{a,1}")]);
    let list: Vec<_> = (1..=20).map(|i| t(&p, &format!("{{{i},{i}}}"))).collect();
    call(&p, "insert", &[tab, p.heap.list(&list)]);
    same(
        &p,
        all(&p, tab),
        "[{20,20},{5,5},{15,15},{19,19},{12,12},{11,11},{17,17},{18,18},{14,14},{6,6},{13,13},\
         {10,10},{a,1},{1,1},{9,9},{2,2},{8,8},{4,4},{7,7},{3,3},{16,16}]",
    );
    let tab = new(&p, "[]");
    for k in [
        "a",
        "b",
        "\"abc\"",
        "<<\"xyz\">>",
        "1.5",
        "foo",
        "bar",
        "{1,2}",
        "[1,2,3]",
        "\"hello world\"",
        "kernel",
        "stdlib",
        "{}",
    ] {
        call(&p, "insert", &[tab, t(&p, &format!("{{{k},1}}"))]);
    }
    same(
        &p,
        all(&p, tab),
        "[{{1,2},1},{<<\"xyz\">>,1},{stdlib,1},{\"hello world\",1},{[1,2,3],1},{kernel,1},\
         {bar,1},{{},1},{b,1},{a,1},{foo,1},{1.5,1},{\"abc\",1}]",
    );
}

#[test]
fn tables_grow_and_shrink() {
    let p = Proc::new(1, 1000);
    let tab = new(&p, "[]");
    for i in 0..20_000 {
        call(&p, "insert", &[tab, p.heap.tuple(&[Term::int(i), Term::int(i * 2)])]);
    }
    same(&p, call(&p, "info", &[tab, am::size.into()]), "20000");
    for i in 0..20_000 {
        let row = call(&p, "lookup", &[tab, Term::int(i)]);
        assert_eq!(
            row.list().next().unwrap().as_tuple().unwrap().get(1).unwrap().as_small(),
            Some(i as i64 * 2)
        );
    }
    let mut k = call(&p, "first", &[tab]);
    let mut n = 0;
    while !k.is_atom(am::dollar_end_of_table) {
        k = call(&p, "next", &[tab, k]);
        n += 1;
    }
    assert_eq!(n, 20_000);
    for i in 0..19_990 {
        call(&p, "delete", &[tab, Term::int(i)]);
    }
    assert_eq!(all(&p, tab).list().count(), 10);
}

#[test]
fn bags_keep_the_order_of_insertion() {
    let p = Proc::new(1, 1000);
    let b = new(&p, "[bag]");
    let d = new(&p, "[duplicate_bag]");
    for o in ["{x,1}", "{x,2}", "{x,1}", "{x,3}"] {
        call(&p, "insert", &[b, t(&p, o)]);
        call(&p, "insert", &[d, t(&p, o)]);
    }
    same(&p, call(&p, "lookup", &[b, a("x")]), "[{x,1},{x,2},{x,3}]");
    same(&p, call(&p, "lookup", &[d, a("x")]), "[{x,1},{x,2},{x,1},{x,3}]");
    call(&p, "delete_object", &[d, t(&p, "{x,1}")]);
    same(&p, call(&p, "lookup_element", &[d, a("x"), Term::int(2)]), "[2,3]");
    same(&p, call(&p, "insert_new", &[d, t(&p, "{x,9}")]), "false");
    same(&p, call(&p, "take", &[b, a("x")]), "[{x,1},{x,2},{x,3}]");
    same(&p, call(&p, "member", &[b, a("x")]), "false");
}

#[test]
fn ordered_sets_are_ordered() {
    let p = Proc::new(1, 1000);
    let tab = new(&p, "[ordered_set]");
    call(
        &p,
        "insert",
        &[tab, t(&p, "[{3,c},{1,a},{2,b},{b,x},{a,y},{{k,2},1},{{k,1},2},{{l,1},3}]")],
    );
    same(&p, all(&p, tab), "[{1,a},{2,b},{3,c},{a,y},{b,x},{{k,1},2},{{k,2},1},{{l,1},3}]");
    call(&p, "insert", &[tab, t(&p, "{2.0,z}")]);
    same(&p, call(&p, "lookup", &[tab, Term::int(2)]), "[{2.0,z}]");
    same(&p, call(&p, "next", &[tab, t(&p, "2.5")]), "3");
    same(&p, call(&p, "prev", &[tab, Term::int(1)]), "'$end_of_table'");
    same(&p, call(&p, "last", &[tab]), "{l,1}");
    let near = t(&p, "{{k,'$1'},'$2'}");
    same(&p, call(&p, "match", &[tab, near]), "[[1,2],[2,1]]");
    same(
        &p,
        call(&p, "select_reverse", &[tab, t(&p, "[{{'$1','_'},[{is_atom,'$1'}],['$1']}]")]),
        "[b,a]",
    );
    let spec = t(&p, "[{{'$1','_'},[{'<','$1',zz}],['$1']}]");
    let mut r = call(&p, "select", &[tab, spec, Term::int(2)]);
    let mut got = Vec::new();
    while let Some([l, c]) = r.as_tuple_n::<2>() {
        got.push(show(l));
        r = call(&p, "select", &[c]);
    }
    assert_eq!(got, ["[1,2]", "[3,a]", "[b]"]);
    same(&p, call(&p, "internal_select_delete", &[tab, t(&p, "[{{{k,'_'},'_'},[],[true]}]")]), "2");
    same(&p, call(&p, "slot", &[tab, Term::int(0)]), "[{1,a}]");
}

#[test]
fn portions_of_a_hash_table_cover_it() {
    let p = Proc::new(1, 1000);
    let tab = new(&p, "[]");
    for i in 0..1000 {
        call(&p, "insert", &[tab, p.heap.tuple(&[Term::int(i)])]);
    }
    let mut r = call(&p, "match_object", &[tab, a("_"), Term::int(7)]);
    let mut n = 0;
    while let Some([l, c]) = r.as_tuple_n::<2>() {
        let k = l.list().count();
        assert!(k <= 7);
        n += k;
        r = call(&p, "match_object", &[c]);
    }
    assert_eq!(n, 1000);
}

#[test]
fn match_specifications_work() {
    let p = Proc::new(1, 1000);
    let run = |subject: &str, spec: &str| {
        let r = call(&p, "match_spec_test", &[t(&p, subject), t(&p, spec), a("table")]);
        show(r.as_tuple().unwrap().get(1).unwrap())
    };
    let one = |guards: &str, body: &str| {
        run("{a,5,[1,2]}", &format!("[{{{{'$1','$2','$3'}},{guards},[{body}]}}]"))
    };
    assert_eq!(one("[]", "'$$'"), "[a,5,[1,2]]");
    assert_eq!(one("[]", "{{'$2','$1',x}}"), "{5,a,x}");
    assert_eq!(one("[{'>','$2',4},{is_atom,'$1'}]", "'$_'"), "{a,5,[1,2]}");
    assert_eq!(one("[{'>','$2',5}]", "'$_'"), "false");
    assert_eq!(one("[{'and',true,x}]", "ok"), "false");
    assert_eq!(one("[{'andalso',false,x}]", "ok"), "false");
    assert_eq!(one("[{'orelse',{'<','$2',0},{'==','$1',a}}]", "{'+','$2',1}"), "6");
    assert_eq!(one("[]", "[{hd,'$3'},{const,{x}},{{{{}}}}]"), "[1,{x},{{}}]");
    assert_eq!(one("[]", "{{x,{hd,'$1'}}}"), "{x,EXIT}");
    assert_eq!(one("[{element,1,{{true}}}]", "{element,2,'$_'}"), "5");
    assert_eq!(run("{a,a}", "[{{'$1','$1'},[],['$1']}]"), "a");
    assert_eq!(run("{a,b}", "[{{'$1','$1'},[],['$1']}]"), "false");
    assert_eq!(run("{a,b}", "[{{a,c},[],[1]},{{'_','$7'},[],['$7']}]"), "b");
    let r = call(
        &p,
        "match_spec_test",
        &[t(&p, "{}"), t(&p, "[{{a,b},[{foo,1},{is_atom,x,y}],[x,{z},'$5']}]"), a("table")],
    );
    let lint = r.as_tuple().unwrap().get(1).unwrap();
    let first = lint.list().next().unwrap().as_tuple().unwrap().get(1).unwrap();
    assert!(kvik_ets::order::same(first, p.heap.string("Function foo/1 does_not_exist.")));
    assert_eq!(lint.list().count(), 4);
}

#[test]
fn counters_and_elements() {
    let p = Proc::new(1, 1000);
    let tab = new(&p, "[]");
    call(&p, "insert", &[tab, t(&p, "{c,1,10,x}")]);
    let up = |op: &str| show(call(&p, "update_counter", &[tab, a("c"), t(&p, op)]));
    assert_eq!(up("5"), "6");
    assert_eq!(up("{3,-20,0,99}"), "99");
    assert_eq!(up("[{2,1},{2,1},{3,1,99,0}]"), "[7,8,0]");
    assert_eq!(fails(&p, "update_counter", &[tab, a("c"), t(&p, "{1,1}")]), Some(am::keypos));
    assert_eq!(fails(&p, "update_counter", &[tab, a("c"), t(&p, "{9,1}")]), Some(am::position));
    assert_eq!(fails(&p, "update_counter", &[tab, a("c"), t(&p, "{4,1}")]), None);
    assert_eq!(fails(&p, "update_counter", &[tab, a("d"), t(&p, "1")]), Some(am::badkey));
    same(&p, call(&p, "update_counter", &[tab, a("d"), Term::int(2), t(&p, "{q,40}")]), "42");
    same(&p, call(&p, "lookup", &[tab, a("d")]), "[{d,42}]");
    same(&p, call(&p, "update_element", &[tab, a("c"), t(&p, "[{4,y},{3,z}]")]), "true");
    same(&p, call(&p, "lookup", &[tab, a("c")]), "[{c,8,z,y}]");
}

#[test]
fn access_rights() {
    let p = Proc::new(77, 1000);
    let q = Proc::new(2, 1000);
    call(&p, "new", &[a("named"), t(&p, "[named_table]")]);
    assert_eq!(fails(&p, "new", &[a("named"), t(&p, "[named_table]")]), Some(am::already_exists));
    assert_eq!(fails(&q, "insert", &[a("named"), t(&q, "{a}")]), Some(am::access));
    assert_eq!(fails(&q, "lookup", &[a("no_such"), a("x")]), Some(am::id));
    assert_eq!(fails(&q, "lookup", &[Term::int(1), a("x")]), Some(am::type_));
    same(&q, call(&q, "lookup", &[a("named"), a("x")]), "[]");
    call(&p, "rename", &[a("named"), a("other")]);
    same(&p, call(&p, "info", &[a("named"), am::size.into()]), "undefined");
    call(&p, "safe_fixtable", &[a("other"), am::true_.into()]);
    call(&p, "insert", &[a("other"), t(&p, "[{1},{2},{3}]")]);
    let k = call(&p, "first", &[a("other")]);
    call(&p, "delete", &[a("other"), k]);
    assert_ne!(show(call(&p, "next", &[a("other"), k])), show(k));
    call(&p, "safe_fixtable", &[a("other"), am::false_.into()]);
    assert_eq!(fails(&p, "next", &[a("other"), k]), None);
    let tid = call(&p, "whereis", &[a("other")]);
    same(&p, call(&p, "info", &[tid, am::name.into()]), "other");
    assert!(kvik_ets::process_exits(77, &mut 10_000));
    assert_eq!(fails(&q, "lookup", &[tid, a("x")]), Some(am::id));
    same(&q, call(&q, "whereis", &[a("other")]), "undefined");
}

#[test]
fn replacing_keeps_keys() {
    let p = Proc::new(1, 1000);
    let tab = new(&p, "[]");
    call(&p, "insert", &[tab, t(&p, "[{a,1},{b,2}]")]);
    let spec = t(&p, "[{{'$1','$2'},[{'>','$2',1}],[{{'$1',{'*','$2',10}}}]}]");
    same(&p, call(&p, "select_replace", &[tab, spec]), "1");
    same(&p, call(&p, "lookup", &[tab, a("b")]), "[{b,20}]");
    assert_eq!(
        fails(&p, "select_replace", &[tab, t(&p, "[{{'$1','$2'},[],[{{'$2','$1'}}]}]")]),
        None
    );
    same(&p, call(&p, "select_count", &[tab, t(&p, "[{{'_','_'},[],[true]}]")]), "2");
}
