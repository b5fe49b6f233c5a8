//! Compares the order of results, and continuations, with those of `erl`.

use kvik_proc::Proc;
use kvik_term::{am, Term};

use super::tests::{all, call, new, same, show, t};

/// Objects in the order `erl` lists them in.
const KEYS: &str =
    "[{#{1=>2,3=>4},1},{[1000,4],1},{[1000|4],1},{[1000|3],1},{[1000,7],1},{{5,[2.5,5]},1},\
    {[4000],1},{[1000,5],1},{{2,[2.5,2]},1},{[5000],1},{#{},1},{[1000],1},{[1000,6],1},\
    {[3000],1},{[6000],1},{[1000,3],1},{[1000|2],1},{{1,[2.5,1]},1},{[1000|1],1},{[1000,\
    1],1},{{3,[2.5,3]},1},{[1000,8],1},{[8000],1},{[2000],1},{[7000],1},{#{1=>2},1},{{4,\
    [2.5,4]},1},{[1000,2],1}]";
const MAP_KEYS: &str =
    "[[6000],[31000],[33000],[18000],[23000],[34000],[24000],[9000],[29000],[1000],[12000],\
    [38000],[22000],[37000],[15000],[32000],[30000],[2000],[27000],[19000],[40000],\
    [10000],[16000],[35000],[7000],[25000],[4000],[20000],[14000],[28000],[3000],[26000],\
    [17000],[39000],[13000],[11000],[36000],[5000],[21000],[8000]]";
const SELECTED: &str =
    "[381,402,395,696,24,353,136,283,248,269,465,619,332,563,325,430,577,276,339,297,444,\
    213,171,451,549,129,423,654,640,675,493,437,143,633,416,360,192,199,17,626,311,157,\
    521,598,66,304,150,10,500,262,101,227,73,108,115,367,682,472,570,318,661,542,241,164,\
    206,31,3,52,220,647,388,591,255,178,409,122,605,612,689,94,185,514,479,87,458,346,374,\
    80,38,234,59,486,45,584,668,556,528,507,535,290]";
const PORTIONS: [(&str, &str); 3] = [
    ("[31,32,3,28,19,18,37,14,38,13]", "{285,10,0}"),
    ("[11,17,6,10,30,39,1,9,8,35]", "{412,10,0}"),
    ("[33,34,20,27,29,23,25,36,5,15]", "{512,10,0}"),
];
const FINE_LOCKS: &str =
    "[{6},{13},{20},{8},{24},{10},{30},{28},{15},{22},{4},{27},{19},{12},{29},{23},{11},\
    {7},{1},{3},{17},{18},{26},{9},{25},{14},{2},{21},{5},{16}]";
const LEFT: &str =
    "[{696,3},{694,1},{693,0},{699,6},{700,0},{695,2},{691,5},{697,4},{692,6},{698,5}]";

#[test]
fn keys_of_all_kinds_hash_as_in_otp() {
    let p = Proc::new(1, 1000);
    let tab = new(&p, "[]");
    let mut objects: Vec<_> = t(&p, KEYS).list().collect();
    // Maps were inserted last.
    objects.sort_by(|a, b| kvik_ets::order::order(*a, *b));
    objects
        .sort_by_key(|o| o.as_tuple().and_then(|t| t.get(0)).is_some_and(|k| k.as_map().is_some()));
    call(&p, "insert", &[tab, p.heap.list(&objects)]);
    same(&p, all(&p, tab), KEYS);
    let keys = t(&p, MAP_KEYS).list().map(|k| (k, k)).collect::<Vec<_>>();
    let map = p.heap.map(&keys).as_map().unwrap();
    // `maps:keys/1` lists them from the last to the first.
    let found: Vec<_> = kvik_ets::order::map_pairs(map).iter().rev().map(|kv| kv.0).collect();
    same(&p, p.heap.list(&found), MAP_KEYS);
}

#[test]
fn walks_and_portions_are_otps() {
    let p = Proc::new(1, 1000);
    let tab = new(&p, "[]");
    for i in 1..=700 {
        call(&p, "insert", &[tab, p.heap.tuple(&[Term::int(i), Term::int(i % 7)])]);
    }
    same(&p, call(&p, "select", &[tab, t(&p, "[{{'$1',3},[],['$1']}]")]), SELECTED);
    let spec = t(&p, "[{{'$1','_'},[{'<','$1',40}],['$1']}]");
    let mut r = call(&p, "select", &[tab, spec, Term::int(10)]);
    for (list, rest) in PORTIONS {
        let [l, c] = r.as_tuple_n::<2>().unwrap();
        same(&p, l, list);
        let c4 = c.as_tuple().unwrap().elements();
        same(&p, p.heap.tuple(&[c4[1], c4[2], c4[5]]), rest);
        r = call(&p, "select", &[c]);
    }
    assert_eq!(
        show(call(&p, "info", &[tab, am::stats.into()])),
        "{700,1,0.9754120111465454,0.9992854595184326,0,5,0,1}"
    );
    for i in 1..=690 {
        call(&p, "delete", &[tab, Term::int(i)]);
    }
    same(&p, all(&p, tab), LEFT);
    let tab = new(&p, "[public,{write_concurrency,true}]");
    for i in 1..=30 {
        call(&p, "insert", &[tab, p.heap.tuple(&[Term::int(i)])]);
    }
    same(&p, all(&p, tab), FINE_LOCKS);
}
