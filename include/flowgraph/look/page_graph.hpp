// The script of to_html's page that lays out and draws the graph. Scopes are boxes: a closed one is a node, an open one
// is laid out by itself, in layers, and then placed like a node in the scope around it.
#pragma once
#include <string_view>

namespace flowgraph::detail {

inline constexpr std::string_view page_script_graph = R"js('use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const byId = id => document.getElementById(id);
const svgNode = (name, attributes, parent) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  if (parent) parent.appendChild(e);
  return e;
};
const state = { tab: 'graph', colour: 'device', picked: -1, found: new Set(), step: data.steps.length - 1 };

// Scopes as a tree. Items are scopes and nodes; each knows the scope it is in, and the lowest node id in it: edges lead
// from lower to higher ids, so that ids say what comes first.
const root = { path: '', name: '', items: [], open: true, parent: null, first: 0, count: 0 };
const scopes = new Map([['', root]]);
function scopeOf(path) {
  if (scopes.has(path)) return scopes.get(path);
  const cut = path.lastIndexOf('/');
  const parent = scopeOf(cut < 0 ? '' : path.slice(0, cut));
  const s = { path, name: path.slice(cut + 1), items: [], open: false, parent, first: Infinity, count: 0 };
  scopes.set(path, s);
  parent.items.push(s);
  return s;
}
data.nodes.forEach((n, id) => {
  n.id = id;
  n.in = n.in || [];
  n.after = n.after || [];
  n.out = [];
  const cut = n.path.lastIndexOf('/');
  n.name = n.path.slice(cut + 1);
  n.first = id;
  n.parent = scopeOf(cut < 0 ? '' : n.path.slice(0, cut));
  for (let s = n.parent; s; s = s.parent) {
    s.first = Math.min(s.first, id);
    ++s.count;
  }
});
for (const n of data.nodes) {
  if (scopes.has(n.path) && n.path) n.parent = scopes.get(n.path);  // a node named like a scope stands in it
  n.parent.items.push(n);
}
for (const n of data.nodes) for (const i of new Set([...n.in, ...n.after])) data.nodes[i].out.push(n.id);
if (data.nodes.length <= 40) for (const s of scopes.values()) s.open = true;

// Times of nodes in the step that is shown.
const spansOf = new Map();
function readStep() {
  spansOf.clear();
  if (state.step >= 0)
    for (const s of data.steps[state.step].spans) {
      if (!spansOf.has(s.node)) spansOf.set(s.node, []);
      spansOf.get(s.node).push(s);
    }
}
readStep();
const timeOf = n => (spansOf.get(n.id) || []).reduce((sum, s) => sum + s.end - s.begin, 0);
const scopeTime = item => item.items ? item.items.reduce((sum, i) => sum + scopeTime(i), 0) : timeOf(item);

// Colours: as many as there are devices or kinds of ops, each a hue.
const hue = k => (205 + 137.5 * k) % 360;
const colour = k => `hsl(${hue(k)} var(--sat) var(--soft))`;
const opKinds = [...new Set(data.nodes.map(n => n.op))].sort();
function heat(time, most) { return `hsl(${50 - 50 * Math.sqrt(time / Math.max(most, 1))} 85% var(--soft))`; }
function colourOf(item, most) {
  if (state.colour === 'time') {
    const t = scopeTime(item);
    return t > 0 ? heat(t, most) : 'var(--panel)';
  }
  if (item.items) {
    const kinds = new Set();
    const collect = i => i.items ? i.items.forEach(collect) : kinds.add(kindOf(i));
    collect(item);
    kinds.delete(-1);
    return kinds.size === 1 ? colour([...kinds][0]) : 'var(--scope)';
  }
  const k = kindOf(item);
  return k < 0 ? 'var(--panel)' : colour(k);
}
const kindOf = n => state.colour === 'device' ? (n.device ?? -1) : opKinds.indexOf(n.op);

const widthOf = text => 7 * Math.min(text.length, 28) + 18;
const cut = (text, n = 28) => text.length > n ? text.slice(0, n - 1) + '…' : text;

// The item of scope s that a node is in; null: it is elsewhere.
function itemIn(s, n) {
  let item = n;
  while (item.parent && item.parent !== s) item = item.parent;
  return item.parent === s ? item : null;
}

// Sizes and places within the scope. Layers are rows; long ones are broken into several.
function layOut(s) {
  for (const item of s.items) {
    if (item.items && item.open) layOut(item);
    else {
      item.w = Math.max(widthOf(item.name), item.items ? 125 : item.type ? 6 * Math.min(item.type.length, 30) + 14 : 60);
      item.h = item.items ? 44 : item.source ? 32 : 36;
    }
    item.before = new Set();
    item.behind = new Set();
  }
  const pairs = [], reads = new Set();
  const visit = item => {
    if (item.items) return item.items.forEach(visit);
    for (const k of [...item.in, ...item.after]) {
      const from = itemIn(s, data.nodes[k]), to = itemIn(s, item);
      if (!from || !to || from === to) continue;
      pairs.push([from, to]);
      reads.add(to);
    }
  };
  visit(s);
  for (const [from, to] of pairs)
    if (from.first < to.first || !reads.has(from)) {
      to.before.add(from);
      from.behind.add(to);
    }
  const items = [...s.items].sort((a, b) => reads.has(a) - reads.has(b) || a.first - b.first);
  for (const i of items) i.layer = i.before.size ? 1 + Math.max(...[...i.before].map(b => b.layer)) : 0;
  for (const i of [...items].reverse())  // what waits for nothing stands near who reads it
    if (!i.before.size && i.behind.size) i.layer = Math.max(0, Math.min(...[...i.behind].map(b => b.layer)) - 1);
  const rows = [];
  for (const i of items) (rows[i.layer] ||= []).push(i);
  const placed = rows.filter(r => r);
  const place = row => row.forEach((i, k) => { i.rank = (k + 0.5) / row.length; });
  placed.forEach(place);
  const mean = (set, otherwise) => set.size ? [...set].reduce((sum, x) => sum + x.rank, 0) / set.size : otherwise;
  for (let turn = 0; turn < 6; ++turn) {
    const down = turn % 2 === 0;
    for (const row of down ? placed : [...placed].reverse()) {
      for (const i of row) i.wish = mean(down ? i.before : i.behind, i.rank);
      row.sort((a, b) => a.wish - b.wish || a.first - b.first);
      place(row);
    }
  }
  const gap = 20, most = 1400;
  const broken = [];
  for (const row of placed) {
    let line = [], width = 0;
    for (const i of row) {
      if (line.length && width + i.w > most) {
        broken.push(line);
        line = [];
        width = 0;
      }
      line.push(i);
      width += i.w + gap;
    }
    broken.push(line);
  }
  for (const row of broken) {
    let x = 0;
    for (const i of row) {
      i.x = x;
      x += i.w + gap;
    }
    for (const i of row) i.x -= (x - gap) / 2;
  }
  const centre = i => i.x + i.w / 2;
  for (let turn = 0; turn < 8; ++turn) {
    const down = turn % 2 === 0;
    for (const row of down ? broken : [...broken].reverse()) {
      const wishes = row.map(i => {
        const near = [...(down ? i.before : i.behind)];
        return near.length ? near.reduce((sum, n) => sum + centre(n), 0) / near.length - i.w / 2 : i.x;
      });
      let shift = 0;
      row.forEach((i, k) => {
        const x = k ? Math.max(wishes[k], row[k - 1].x + row[k - 1].w + gap) : wishes[k];
        shift += wishes[k] - x;
        i.x = x;
      });
      for (const i of row) i.x += shift / row.length;
    }
  }
  let y = s === root ? 0 : 30;
  for (const row of broken) {
    const h = Math.max(...row.map(i => i.h));
    for (const i of row) i.y = y + (h - i.h) / 2;
    y += h + 44;
  }
  const left = Math.min(0, ...items.map(i => i.x)), right = Math.max(0, ...items.map(i => i.x + i.w));
  for (const i of items) i.x += 16 - left;
  s.w = Math.max(right - left + 32, widthOf(s.name) + 30);
  s.h = y - 44 + 16;
}

// The outermost closed scope around a node, or the node.
function shown(n) {
  let item = n;
  for (let s = n.parent; s; s = s.parent) if (!s.open) item = s;
  return item;
}
function absolute(item) {
  let x = item.x, y = item.y;
  for (let s = item.parent; s && s !== root; s = s.parent) {
    x += s.x;
    y += s.y;
  }
  return { x, y, w: item.w, h: item.h };
}

let graphView = null;
function drawGraph() {
  layOut(root);
  const stage = byId('stage');
  const keep = graphView;
  stage.replaceChildren();
  const svg = svgNode('svg', { role: 'img', 'aria-label': 'graph' }, stage);
  const all = svgNode('g', {}, svg);
  const layers = { scopes: svgNode('g', {}, all), edges: svgNode('g', {}, all), words: svgNode('g', {}, all), boxes: svgNode('g', {}, all) };
  drawItems(root, layers, Math.max(1, ...root.items.map(scopeTime)));
  drawEdges(layers);
  graphView = panZoom(svg, all, keep, { w: root.w, h: root.h });
  drawLegend(stage);
}
function drawItems(s, layers, mostTime) {
  for (const item of s.items) {
    const p = absolute(item);
    const g = svgNode('g', { class: 'box' + (item.items ? ' scope' : '') }, item.items && item.open ? layers.scopes : layers.boxes);
    if (!item.items && item.id === state.picked) g.classList.add('picked');
    if (!item.items && state.found.has(item.id)) g.classList.add('found');
    if (item.items && !item.open && [...state.found].some(id => shown(data.nodes[id]) === item)) g.classList.add('found');
    const rect = svgNode('rect', { x: p.x, y: p.y, width: p.w, height: p.h, rx: item.source ? 14 : item.items ? 8 : 4 }, g);
    if (!item.items || !item.open) rect.style.fill = colourOf(item, mostTime);
    const text = (words, y, kind = '') => {
      svgNode('text', { x: p.x + p.w / 2, y: p.y + y, 'text-anchor': 'middle', class: kind }, g).textContent = words;
    };
    svgNode('title', {}, rect).textContent = item.items ? item.path : `${item.path}\n${item.op} ${item.type || ''}\n${item.where}`;
    if (item.items) {
      rect.addEventListener('click', () => {
        if (panned()) return;
        item.open = !item.open;
        drawGraph();
      });
      if (item.open) {
        svgNode('text', { x: p.x + 12, y: p.y + 19 }, g).textContent = `▾ ${cut(item.name)}`;
        drawItems(item, layers, mostTime);
      } else {
        text(`▸ ${cut(item.name, 26)}`, 19);
        text((item.count === 1 ? '1 node' : `${item.count} nodes`) + (scopeTime(item) ? `, ${nsText(scopeTime(item))}` : ''), 34, 'small');
      }
    } else {
      rect.addEventListener('click', () => { if (!panned()) pick(item.id); });
      text(cut(item.name), item.source ? 14 : 15);
      text(cut(timeOf(item) ? nsText(timeOf(item)) : item.type || 'operation', 30), item.source ? 26 : 29, 'small');
    }
  }
}
function drawEdges(layers) {
  const edges = new Map();
  for (const n of data.nodes)
    for (const [list, after] of [[n.in, false], [n.after, true]])
      for (const k of list) {
        const from = shown(data.nodes[k]), to = shown(n);
        if (from === to) continue;
        const key = `${from.path} ${from.items ? 's' : 'n'} ${to.path} ${to.items ? 's' : 'n'} ${after}`;
        if (!edges.has(key)) edges.set(key, { from, to, after, types: new Set(), count: 0, near: false });
        const e = edges.get(key);
        e.count++;
        if (!after && data.nodes[k].type) e.types.add(data.nodes[k].type);
        e.near ||= k === state.picked || n.id === state.picked;
      }
  for (const e of edges.values()) {
    const a = absolute(e.from), b = absolute(e.to);
    const down = a.y + a.h <= b.y;
    let path, x, y;
    if (down) {
      const [x1, y1, x2, y2] = [a.x + a.w / 2, a.y + a.h, b.x + b.w / 2, b.y], bend = Math.max(18, (y2 - y1) / 2.5);
      const aside = y2 - y1 > 110 ? Math.min(260, (y2 - y1) / 2.2) : 0;  // past what stands between
      path = `M${x1},${y1}C${x1 - aside},${y1 + bend} ${x2 - aside},${y2 - bend} ${x2},${y2}`;
      [x, y] = [(x1 + x2) / 2 - 0.75 * aside, (y1 + y2) / 2];
    } else {  // back to what stands above: around the right
      const [x1, y1, x2, y2] = [a.x + a.w, a.y + a.h / 2, b.x + b.w, b.y + b.h / 2], bend = 40 + Math.abs(y2 - y1) / 6;
      path = `M${x1},${y1}C${x1 + bend},${y1} ${x2 + bend},${y2} ${x2},${y2}`;
      [x, y] = [(x1 + x2) / 2 + 0.75 * bend, (y1 + y2) / 2];
    }
    const line = svgNode('path', { d: path, class: 'edge' + (e.after ? ' after' : '') + (e.near ? ' near' : ''),
      'stroke-width': 1 + Math.log2(e.count) * 0.6 }, layers.edges);
    svgNode('title', {}, line).textContent = `${e.from.path} → ${e.to.path}\n${[...e.types].join('\n')}`;
    if (!e.types.size) continue;
    const types = [...e.types];
    const t = svgNode('text', { x, y, 'text-anchor': 'middle', class: 'small halo' }, layers.words);
    t.textContent = cut(types.length === 1 ? types[0].replace(/^[a-z0-9]+(?=\[)/, '') : `${e.count} tensors`, 24);
  }
}
)js";

}  // namespace flowgraph::detail
