"use strict";
// Asks the node once a second and draws what has changed. Counters come as they are since the node's
// start; what is shown is the difference to what was seen before.

const STATES = [
  ["run", "run", "processes run"],
  ["gc", "collect", "collections"],
  ["port", "ports", "ports and their programs"],
  ["poll", "poll", "asks the system for events"],
  ["timers", "timers", "timers, ends of processes, memory given back"],
  ["schedule", "schedule", "what lies between turns besides"],
  ["gap", "unaccounted", "the system gave the processor to others, or it is not known"],
  ["sleep", "sleep", "sleeps"],
];
const HISTOGRAMS = [
  ["schedule", "between two turns", "without sleep"],
  ["wait", "runnable, waits for its turn", ""],
  ["run", "a turn", ""],
  ["gc", "a collection", ""],
];
const SECONDS = 60;
const SAMPLED = 10, ENOUGH = 50; // seconds whose samples count together, and how many of them are enough
const SVG = "http://www.w3.org/2000/svg"; // a name, not an address
const FIRST = 2, LAST = 1e10; // of the histograms' axis, in ns
const $ = id => document.getElementById(id);
const seen = []; // what came, the newest last
let window_ = 10, list = "reductions", shown = null;

// Short numbers.
function count(n) {
  if (n == null) return "–";
  for (const [one, unit] of [[1e9, "G"], [1e6, "M"], [1e4, "k"]])
    if (n >= one) return short(n / (unit === "k" ? 1e3 : one)) + " " + unit;
  return Math.round(n).toLocaleString("en");
}
function short(x) { return x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2); }
function bytes(n) {
  for (const [one, unit] of [[2 ** 30, "GB"], [2 ** 20, "MB"], [2 ** 10, "kB"]])
    if (n >= one) return short(n / one) + " " + unit;
  return n + " B";
}
function time(ns) {
  for (const [one, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]])
    if (ns >= one) return short(ns / one) + " " + unit;
  return Math.round(ns) + " ns";
}
function since(ns) {
  const s = Math.floor(ns / 1e9), part = (n, unit) => n ? n + " " + unit + " " : "";
  return (part(Math.floor(s / 86400), "d") + part(Math.floor(s / 3600) % 24, "h")
    + part(Math.floor(s / 60) % 60, "min") + s % 60 + " s");
}
function percent(x) { return (100 * x).toFixed(x < 0.1 ? 1 : 0) + "%"; }

// What has so many children of that kind; `fill` is called with each.
function rows(parent, n, make, fill) {
  while (parent.children.length > n) parent.lastChild.remove();
  while (parent.children.length < n) parent.append(make());
  for (let i = 0; i < n; i++) fill(parent.children[i], i);
}
function make(tag, kind = "", ...inner) {
  const e = document.createElement(tag);
  if (kind) e.className = kind;
  e.append(...inner);
  return e;
}
function text(e, s) { if (e.textContent !== s) e.textContent = s; }

// Shares of a scheduler's time between two answers. Sleep, turns, what lies between them, and
// collections are measured; how much of that was ports, polling and timers is sampled, up to b and
// since `first`. Of one that sleeps nearly all the time there are too few samples to say.
function shares(a, b, first) {
  const d = k => Math.max(0, b[k] - a[k]), all = d("time");
  if (!all) return null;
  const n = {};
  for (const k in b.states) n[k] = b.states[k] - (first.states[k] || 0);
  const awake = Object.keys(n).reduce((s, k) => s + (k === "sleep" ? 0 : n[k]), 0);
  const sleep = Math.min(1, d("asleep") / all);
  let run = d("run") / all, schedule = d("schedule") / all, gc = d("gc") / all;
  const fit = Math.min(1, (1 - sleep) / (run + schedule || 1));
  run *= fit; schedule *= fit; gc = Math.min(gc * fit, run);
  const left = 1 - sleep - run - schedule;
  const part = k => awake >= ENOUGH ? (n[k] || 0) / awake * (1 - sleep) : 0;
  let rest = schedule;
  const take = x => { const t = Math.min(x, rest); rest -= t; return t; };
  const poll = take(part("check_io")), timers = take(part("aux")), port = take(part("port"));
  const inTurns = Math.min(part("port") - port, run - gc);
  return { run: run - gc - inTurns, gc, port: port + inTurns, poll, timers, schedule: rest, gap: left, sleep };
}

function drawBands() {
  const box = $("bands"), last = seen[seen.length - 1];
  const all = last.schedulers.map((_, i) => {
    const points = [];
    for (let j = Math.max(1, seen.length - SECONDS); j < seen.length; j++) {
      const [a, b] = [seen[j - 1], seen[j]];
      const first = seen[Math.max(0, j - SAMPLED)];
      const s = shares(a.schedulers[i], b.schedulers[i], first.schedulers[i]);
      if (s) points.push([(last.now - a.now) / 1e9, (last.now - b.now) / 1e9, s]);
    }
    return points;
  });
  box.className = all.length > 8 ? "many" : "";
  rows(box, all.length, () => {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${SECONDS} 1`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("role", "img");
    for (const [k] of STATES) {
      const p = document.createElementNS(svg.namespaceURI, "path");
      p.setAttribute("class", k);
      svg.append(p);
    }
    return make("div", "band", make("span"), svg, make("p"));
  }, (e, i) => {
    const [label, svg, line] = e.children, points = all[i];
    text(label, String(i + 1));
    const base = points.map(() => 0);
    STATES.forEach(([k], n) => {
      let d = "";
      points.forEach(([from, to, s], j) => {
        if (s[k] > 0.0005) {
          const x = SECONDS - from, y = 1 - base[j] - s[k];
          d += `M${x.toFixed(2)} ${y.toFixed(4)}h${(from - to + 0.05).toFixed(2)}v${s[k].toFixed(4)}h${(to - from - 0.05).toFixed(2)}z`;
        }
        base[j] += s[k];
      });
      svg.children[n].setAttribute("d", d);
    });
    const now = points.length ? points[points.length - 1][2] : null;
    const words = now ? STATES.filter(([k]) => now[k] >= 0.001).map(([k, name]) => `${name} ${percent(now[k])}`).join(" · ") : "…";
    const queue = last.schedulers[i].queue;
    text(line, words + (queue ? ` · ${count(queue)} wait` : ""));
    svg.setAttribute("aria-label", `scheduler ${i + 1}: ${words}`);
  });
}

// Buckets of the histogram since that answer, by the shortest time in them.
function buckets(k, before) {
  const h = seen[seen.length - 1].histograms[k], old = before && before.histograms[k];
  const m = new Map(h.buckets);
  if (old) for (const [least, n] of old.buckets) m.set(least, m.get(least) - n);
  let n = 0;
  for (const x of m.values()) n += x;
  return { m, n, sum: h.sum - (old ? old.sum : 0) };
}
function drawHistograms() {
  const last = seen[seen.length - 1];
  const before = window_ ? seen.find(s => s.now >= last.now - (window_ + 0.5) * 1e9) : null;
  const seconds = (last.now - (before ? before.now : 0)) / 1e9;
  rows($("histograms"), HISTOGRAMS.length, () => {
    const bars = make("div", "bars");
    for (let least = FIRST; least < LAST; least *= 2) bars.append(make("i"));
    const axis = make("div", "axis", ...[10, 1e3, 1e5, 1e7, 1e9].map(ns => {
      const at = make("span", "", `${ns < 1e3 ? ns : 10 ** (Math.log10(ns) % 3)} ${["ns", "µs", "ms", "s"][Math.floor(Math.log10(ns) / 3)]}`);
      at.style.left = 100 * Math.log2(ns / FIRST) / bars.children.length + "%";
      return at;
    }));
    return make("div", "histogram", make("h3", "", make("b"), " ", make("span")), make("p"), bars, axis);
  }, (e, i) => {
    const [k, name, more] = HISTOGRAMS[i], [head, line, bars] = e.children;
    const { m, n, sum } = buckets(k, before);
    text(head.children[0], name);
    text(head.children[1], more);
    const most = Math.max(1, ...m.values());
    let least = FIRST, below = 0, limit = 0;
    for (const bar of bars.children) {
      let here = m.get(least) || 0;
      if (least === FIRST) here += (m.get(0) || 0) + (m.get(1) || 0);
      bar.style.height = here > 0 ? `max(2px, ${100 * here / most}%)` : "0";
      bar.title = `${time(least)} to ${time(2 * least)}: ${Math.round(here).toLocaleString("en")}`;
      below += here;
      if (!limit && n && below >= 0.99 * n) limit = 2 * least;
      least *= 2;
    }
    text(line, n > 0 && seconds > 0
      ? `${count(n / seconds)}/s · mean ${time(sum / n)}` + (limit ? ` · 99% below ${time(limit)}` : "")
      : "none");
    e.dataset.count = n;
  });
}

function drawTiles() {
  const last = seen[seen.length - 1], before = seen[seen.length - 2];
  const sum = (s, k) => s.schedulers.reduce((n, x) => n + x[k], 0);
  const rate = k => before ? (sum(last, k) - sum(before, k)) / ((last.now - before.now) / 1e9) : null;
  const tiles = [
    [count(last.processes.count), `processes of ${count(last.processes.limit)}`],
    [count(sum(last, "queue")), "runnable, waiting"],
    [count(rate("switches")), "switches/s"],
    [count(rate("reductions")), "reductions/s"],
    [bytes(last.memory.total), "memory"],
    [count(last.ports.count), "ports"],
    [count(last.tables.count), "ETS tables"],
  ];
  rows($("tiles"), tiles.length, () => make("div", "", make("b"), make("span")), (e, i) => {
    text(e.children[0], tiles[i][0]);
    text(e.children[1], tiles[i][1]);
  });
}

// A name that shows details of a process when clicked.
function link() {
  const b = make("button");
  b.type = "button";
  b.addEventListener("click", () => open_(b.value));
  return b;
}
function drawProcesses() {
  const p = seen[seen.length - 1].processes, top = p.top[list];
  text($("asked"), p.asked >= p.count || !p.asked
    ? `All ${count(p.count)} are asked once a second.`
    : `Of ${count(p.count)}, a part is asked each second: once through in about ${count(Math.ceil(p.count / p.part))} s; who is shown is asked each time.`);
  rows($("processes").tBodies[0], top.length, () =>
    make("tr", "", make("td", "", link(), make("small")), make("td", "wide"), make("td", "n"), make("td", "n"), make("td", "n")),
  (e, i) => {
    const r = top[i], [who, status, rate, mailbox, memory] = e.children;
    e.className = r.status === "no answer" ? "silent" : "";
    who.children[0].value = r.id;
    text(who.children[0], `${r.name || r.initial || ""} ${r.pid}`.trim());
    text(who.children[1], r.current || "");
    text(status, r.status);
    text(rate, count(r.rate));
    text(mailbox, count(r.mailbox));
    text(memory, bytes(r.memory));
  });
}

const KINDS = [["processes", "run"], ["binary", "gc"], ["ets", "port"], ["code", "schedule"], ["atom", "timers"]];
function drawMemory() {
  const m = seen[seen.length - 1].memory;
  const named = KINDS.reduce((n, [k]) => n + m[k], 0);
  const all = [...KINDS.map(([k, c]) => [k, c, m[k]]), ["other", "sleep", Math.max(0, m.total - named)]];
  rows($("memory-bar"), all.length, () => make("i"), (e, i) => {
    e.className = all[i][1];
    e.style.width = 100 * all[i][2] / Math.max(1, m.total) + "%";
  });
  rows($("memory").tBodies[0], all.length + 1, () => make("tr", "", make("td", "", make("i"), make("span")), make("td", "n")), (e, i) => {
    const [k, c, n] = all[i] || ["total", "", m.total];
    e.children[0].children[0].className = c;
    text(e.children[0].children[1], k);
    text(e.children[1], bytes(n));
  });
}
function drawPorts() {
  const p = seen[seen.length - 1].ports;
  text($("port-count"), String(p.count));
  rows($("ports").tBodies[0], p.top.length, () =>
    make("tr", "", make("td", "", make("span"), make("small", "", link(), make("span"))), make("td", "n"), make("td", "n"), make("td", "n")),
  (e, i) => {
    const r = p.top[i], small = e.children[0].children[1];
    text(e.children[0].children[0], r.name);
    small.children[0].value = r.owner_id;
    text(small.children[0], r.registered || r.owner);
    text(small.children[1], ` ${r.port}${r.os_pid ? ` process ${r.os_pid}` : ""}`);
    [r.input, r.output, r.queue].forEach((n, k) => text(e.children[k + 1], bytes(n)));
  });
}
function drawTables() {
  const t = seen[seen.length - 1].tables;
  text($("table-count"), String(t.count));
  rows($("tables").tBodies[0], t.top.length, () =>
    make("tr", "", make("td", "", make("span"), make("small", "", link())), make("td", "wide"), make("td", "n"), make("td", "n")),
  (e, i) => {
    const r = t.top[i], small = e.children[0].children[1];
    text(e.children[0].children[0], r.name);
    small.children[0].value = r.owner_id;
    text(small.children[0], r.owner);
    text(e.children[1], r.type);
    text(e.children[2], count(r.rows));
    text(e.children[3], bytes(r.memory));
  });
}

// One process.
function open_(id) {
  shown = id;
  text($("details-title"), "…");
  $("details-rows").tBodies[0].replaceChildren();
  $("details-stack").replaceChildren();
  $("details").showModal();
  details();
}
async function details() {
  const id = shown;
  const d = await (await fetch("process/" + id)).json();
  if (id !== shown) return;
  if (d.gone) {
    text($("details-title"), $("details-title").textContent.replace(/ has ended$/, "") + " has ended");
    shown = null;
    return;
  }
  text($("details-title"), d.title + (d.name ? " " + d.name : ""));
  rows($("details-rows").tBodies[0], d.rows.length, () => make("tr", "", make("td"), make("td")), (e, i) => {
    text(e.children[0], d.rows[i][0]);
    text(e.children[1], d.rows[i][1]);
  });
  if (d.silent) return;
  rows($("details-stack"), d.stack.length, () => make("li", "", make("span"), " ", make("small")), (e, i) => {
    text(e.children[0], d.stack[i][0]);
    text(e.children[1], d.stack[i][1]);
  });
}
$("details").addEventListener("close", () => { shown = null; });
$("details").addEventListener("click", e => { if (e.target === $("details")) $("details").close(); });

function choose(attribute, set) {
  const all = document.querySelectorAll(`[data-${attribute}]`);
  for (const b of all) b.addEventListener("click", () => {
    for (const other of all) other.setAttribute("aria-pressed", String(other === b));
    set(b.dataset[attribute]);
    if (seen.length) draw();
  });
}
choose("window", w => { window_ = Number(w); });
choose("list", l => { list = l; });
for (const [k, name, title] of STATES) {
  const li = make("li", "", make("i", k), name);
  li.title = title;
  $("legend").append(li);
}

function draw() {
  const last = seen[seen.length - 1];
  text($("node"), last.node);
  text($("system"), `${last.system} · kvik ${last.version} · process ${last.os_pid} · up ${since(last.now)}`);
  document.title = "kvik " + last.node;
  drawTiles(); drawBands(); drawHistograms(); drawProcesses(); drawMemory(); drawPorts(); drawTables();
}
function tell(kind, words) {
  $("state").className = kind;
  text($("state"), words);
}
async function ask() {
  const began = performance.now();
  try {
    if (!document.hidden) {
      const answer = await fetch("data", { signal: AbortSignal.timeout(5000) });
      if (!answer.ok) throw new Error(answer.status);
      seen.push(await answer.json());
      if (seen.length > SECONDS + 1) seen.shift();
      draw();
      tell("live", "live");
      if (shown) await details();
    }
  } catch (e) {
    tell("lost", "the node does not answer");
  }
  setTimeout(ask, Math.max(100, 1000 - (performance.now() - began)));
}
ask();
