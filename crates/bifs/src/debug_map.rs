//! `erts_debug:map_info/1`: the tree shape of a large map.

use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::map::{child, MapChild, MapNode};
use kvik_term::{am, Term, View};

pub const BIFS: &[BifEntry] = &[bif!("erts_debug", "map_info", 1, map_info_1)];

/// The most children of a node, and the number of depths counted separately.
const WIDTH: usize = 16;

#[derive(Default)]
struct Info {
    depth: usize,
    /// Number of nodes by number of children, without a root that has all of them.
    nodes: [usize; WIDTH],
    /// Number of pairs by depth, the number of nodes above them.
    leafs: [usize; WIDTH],
}

impl Info {
    fn count(&mut self, node: MapNode<'_>, depth: usize) {
        self.depth = self.depth.max(depth);
        for c in node.children {
            match child(*c) {
                MapChild::Leaf(..) => self.leafs[depth.min(WIDTH - 1)] += 1,
                MapChild::Node(n) => {
                    self.nodes[n.children.len().clamp(1, WIDTH) - 1] += 1;
                    self.count(n, depth + 1);
                }
            }
        }
    }
}

fn map_info_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t] = *a else { return Err(p.badarg()) };
    let View::Map(m) = t.view() else { return Err(p.error_pair(am::badmap, t)) };
    let root = m.root().ok_or_else(|| p.badarg())?;
    let mut i = Info::default();
    i.count(root, 1);
    let full = root.children.len() == WIDTH;
    if !full {
        i.nodes[root.children.len().clamp(1, WIDTH) - 1] += 1;
    }
    let h = &p.heap;
    let int = |n: usize| h.integer(n as i64);
    let row = |name, all: &[usize; WIDTH]| {
        let by = h.tuple(&all.map(int));
        h.tuple(&[Term::atom(name), int(all.iter().sum()), by])
    };
    Ok(h.list(&[
        h.tuple(&[am::depth.into(), int(i.depth)]),
        h.tuple(&[am::arrays.into(), int(full as usize), Term::NIL]),
        row(am::bitmaps, &i.nodes),
        row(am::leafs, &i.leafs),
    ]))
}
