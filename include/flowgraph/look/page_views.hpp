// The script of to_html's page around the graph: moving, searching, details, the memory of the plan, steps over time.
#pragma once
#include <string_view>

namespace flowgraph::detail {

inline constexpr std::string_view page_script_views = R"js(
function nsText(ns) {
  return ns < 1e3 ? `${ns} ns` : ns < 1e6 ? `${(ns / 1e3).toFixed(1)} µs` : ns < 1e9 ? `${(ns / 1e6).toFixed(2)} ms` : `${(ns / 1e9).toFixed(2)} s`;
}
function bytesText(n) {
  return n < 1e4 ? `${Math.round(n)} B` : n < 1e7 ? `${(n / 1e3).toFixed(1)} kB` : n < 1e10 ? `${(n / 1e6).toFixed(1)} MB` : `${(n / 1e9).toFixed(1)} GB`;
}

// Drag and wheel move what is drawn. A click that was a drag is none.
let dragged = 0;
const panned = () => dragged > 4;
function panZoom(svg, g, keep, size) {
  const view = keep || { x: 0, y: 0, scale: 0 };
  const apply = () => g.setAttribute('transform', `translate(${view.x},${view.y}) scale(${view.scale})`);
  // At least: so large that words can be read, though only the top of a tall graph is seen then.
  view.fit = (least = 0) => {
    const box = svg.getBoundingClientRect();
    view.scale = Math.max(least, Math.min(1.4, (box.width - 40) / size.w, (box.height - 40) / size.h)) || 1;
    view.x = (box.width - size.w * view.scale) / 2;
    view.y = Math.max(20, (box.height - size.h * view.scale) / 2);
    apply();
  };
  view.centre = p => {
    const box = svg.getBoundingClientRect();
    view.scale = Math.max(view.scale, 0.8);
    view.x = box.width / 2 - (p.x + p.w / 2) * view.scale;
    view.y = box.height / 2 - (p.y + p.h / 2) * view.scale;
    apply();
  };
  svg.addEventListener('wheel', e => {
    e.preventDefault();
    const box = svg.getBoundingClientRect(), f = Math.exp(-e.deltaY * 0.0015), next = Math.min(8, Math.max(0.02, view.scale * f));
    const x = e.clientX - box.left, y = e.clientY - box.top;
    view.x = x - (x - view.x) * next / view.scale;
    view.y = y - (y - view.y) * next / view.scale;
    view.scale = next;
    apply();
  }, { passive: false });
  svg.addEventListener('pointerdown', e => {
    dragged = 0;
    let last = [e.clientX, e.clientY];
    const move = m => {
      dragged += Math.abs(m.clientX - last[0]) + Math.abs(m.clientY - last[1]);
      view.x += m.clientX - last[0];
      view.y += m.clientY - last[1];
      last = [m.clientX, m.clientY];
      apply();
    };
    const up = () => {
      window.removeEventListener('pointermove', move);
      window.removeEventListener('pointerup', up);
    };
    window.addEventListener('pointermove', move);
    window.addEventListener('pointerup', up);
  });
  if (keep) apply();
  else view.fit(0.6);
  return view;
}

function drawLegend(stage) {
  const legend = document.createElement('div');
  legend.id = 'legend';
  const entry = (fill, words) => {
    const s = document.createElement('span'), i = document.createElement('i');
    i.style.background = fill;
    s.append(i, words);
    legend.append(s);
  };
  if (state.colour === 'device') {
    data.devices.forEach((d, k) => entry(colour(k), d));
    if (data.nodes.some(n => n.device === undefined)) entry('var(--panel)', 'not in the plan');
  } else if (state.colour === 'op') {
    opKinds.slice(0, 14).forEach((o, k) => entry(colour(k), o));
    if (opKinds.length > 14) legend.append(`and ${opKinds.length - 14} more`);
  } else {
    entry(heat(1, 1), 'most of the step');
    entry(heat(0.02, 1), 'little of it');
  }
  stage.append(legend);
}

// A node, wherever it is shown.
function pick(id, reveal = false) {
  state.picked = id;
  const n = data.nodes[id];
  if (reveal && state.tab !== 'graph') state.tab = 'graph';
  if (reveal) for (let s = n.parent; s; s = s.parent) s.open = true;
  draw();
  if (reveal && state.tab === 'graph') graphView.centre(absolute(shown(n)));
  details(n);
}
function list(side, title, ids) {
  if (!ids.length) return;
  const h = document.createElement('h3'), ul = document.createElement('ul');
  h.textContent = `${title} (${ids.length})`;
  for (const id of ids.slice(0, 200)) {
    const li = document.createElement('li'), b = document.createElement('button');
    b.textContent = `${data.nodes[id].path}  ${data.nodes[id].type || ''}`;
    b.addEventListener('click', () => pick(id, true));
    li.append(b);
    ul.append(li);
  }
  side.append(h, ul);
}
function facts(side, rows) {
  const dl = document.createElement('dl');
  for (const [name, value] of rows) {
    if (value === undefined || value === '') continue;
    const dt = document.createElement('dt'), dd = document.createElement('dd');
    dt.textContent = name;
    dd.textContent = value;
    dl.append(dt, dd);
  }
  side.append(dl);
}
function heading(side, words, level = 'h2') {
  const h = document.createElement(level);
  h.textContent = words;
  side.append(h);
}
function details(n) {
  const side = byId('side');
  side.replaceChildren();
  heading(side, n.path);
  facts(side, [['op', n.op], ['value', n.type || 'none'], ['made at', n.where], ['device', data.devices[n.device]],
    ['asks for', n.asks], ['runs with', n.together !== undefined && n.together !== n.id ? data.nodes[n.together].path : ''],
    ['number', n.id]]);
  for (const s of spansOf.get(n.id) || []) {
    heading(side, `step ${data.steps[state.step].step}`, 'h3');
    facts(side, [['took', nsText(s.end - s.begin)], ['began', nsText(s.begin)], ['ops', s.op], ['shapes', s.shapes],
      ['thread', s.thread], ['device', s.device], ['kernel', s.provider], ['bytes', bytesText(s.bytes)],
      ['rate', `${(s.flops / Math.max(1, s.end - s.begin)).toFixed(2)} Gop/s, ${(s.bytes / Math.max(1, s.end - s.begin)).toFixed(2)} GB/s`]]);
  }
  for (const v of data.plan ? data.plan.values.filter(v => v.node === n.id) : []) {
    heading(side, 'memory', 'h3');
    facts(side, [['bytes', bytesText(v.bytes)], ['at', v.offset], ['from', `instruction ${v.from}`], ['to', `instruction ${v.to}`]]);
  }
  list(side, 'reads', n.in);
  list(side, 'runs after', n.after);
  list(side, 'read by', n.out);
}
function overview() {
  const side = byId('side');
  side.replaceChildren();
  heading(side, data.title);
  const rows = [['nodes', data.nodes.length], ['scopes', scopes.size - 1]];
  if (data.plan) {
    rows.push(['instructions', data.plan.instructions.length], ['memory', data.plan.totals.map(bytesText).join(', ')]);
    if (data.plan.assumed) rows.push(['with', data.plan.assumed]);
  }
  if (data.steps.length) rows.push(['steps', data.steps.length], ['this step', nsText(data.steps[state.step].ns)]);
  facts(side, rows);
  if (spansOf.size) {
    const longest = [...spansOf.keys()].sort((a, b) => timeOf(data.nodes[b]) - timeOf(data.nodes[a]));
    list(side, 'took longest', longest.slice(0, 15));
  }
  list(side, 'named', data.nodes.filter(n => !/_\d+$/.test(n.name)).map(n => n.id));
}

function search(words) {
  const w = words.trim().toLowerCase();
  state.found = new Set(w ? data.nodes.filter(n => `${n.path} ${n.op} ${n.where}`.toLowerCase().includes(w)).map(n => n.id) : []);
  draw();
  if (!w) return overview();
  const side = byId('side');
  side.replaceChildren();
  heading(side, `"${words}"`);
  list(side, 'found', [...state.found]);
  if (!state.found.size) side.append('nothing is called so');
}

// Values of the plan: instructions from left to right, the arena from bottom to top.
function drawMemory() {
  const stage = byId('stage');
  stage.replaceChildren();
  if (!data.plan || !data.plan.values.length) return empty('The plan keeps no values in memory.');
  const svg = svgNode('svg', { role: 'img', 'aria-label': 'memory over time' }, stage), all = svgNode('g', {}, svg);
  const n = data.plan.instructions.length, w = 1000, h = 360, gap = 60;
  data.plan.totals.forEach((total, device) => {
    const top = device * (h + gap) + 24, x = i => i / (n + 1) * w, y = b => top + h - b / Math.max(1, total) * h;
    svgNode('text', { x: 0, y: top - 8 }, all).textContent = `${data.devices[device] || ''}: ${bytesText(total)}, ${n} instructions` +
      (data.plan.assumed ? `, with ${data.plan.assumed}` : '');
    for (let k = 0; k <= 4; ++k) {
      svgNode('line', { class: 'axis', x1: 0, x2: w, y1: y(total * k / 4), y2: y(total * k / 4) }, all);
      svgNode('text', { class: 'small', x: -6, y: y(total * k / 4) + 3, 'text-anchor': 'end' }, all).textContent = bytesText(total * k / 4);
    }
    for (const v of data.plan.values) {
      if (v.device !== device) continue;
      const r = svgNode('rect', { class: 'span' + (v.node === state.picked ? ' picked' : ''), x: x(v.from), y: y(v.offset + v.bytes),
        width: Math.max(x(v.to + 1) - x(v.from), 0.5), height: Math.max(y(v.offset) - y(v.offset + v.bytes), 0.5) }, all);
      r.style.fill = colour(v.node);
      svgNode('title', {}, r).textContent = `${data.nodes[v.node].path}\n${bytesText(v.bytes)} at ${v.offset}\ninstructions ${v.from} to ${v.to}`;
      r.addEventListener('click', () => { if (!panned()) pick(v.node); });
    }
    const live = new Array(n + 1).fill(0);
    for (const v of data.plan.values) if (v.device === device) for (let i = v.from; i <= Math.min(v.to, n); ++i) live[i] += v.bytes;
    svgNode('polyline', { points: live.map((b, i) => `${x(i)},${y(b)} ${x(i + 1)},${y(b)}`).join(' '), fill: 'none', stroke: 'var(--mark)',
      'stroke-width': 1.5 }, all);
    svgNode('text', { class: 'small', x: w, y: top + h + 16, 'text-anchor': 'end' }, all).textContent =
      `line: bytes in use, at most ${bytesText(Math.max(...live))}`;
  });
  fitPlain(svg, all);
}

// Threads from top to bottom, time from left to right.
function drawTimeline() {
  const stage = byId('stage');
  stage.replaceChildren();
  if (!data.steps.length) return empty('No step was profiled: give to_html the profile() of a session that has .profile = 1 among its options.');
  const svg = svgNode('svg', { role: 'img', 'aria-label': 'timeline' }, stage), all = svgNode('g', {}, svg);
  const step = data.steps[state.step], rows = [...new Set(step.spans.map(s => `${s.device}\n${s.thread}`))].sort();
  const w = 1000, h = 34, x = t => t / Math.max(1, step.ns) * w;
  for (let k = 0; k <= 10; ++k) {
    svgNode('line', { class: 'axis', x1: k * w / 10, x2: k * w / 10, y1: 0, y2: rows.length * (h + 22) + 8 }, all);
    svgNode('text', { class: 'small', x: k * w / 10, y: -6, 'text-anchor': 'middle' }, all).textContent = nsText(Math.round(step.ns * k / 10));
  }
  const ops = [...new Set(data.steps.flatMap(s => s.spans.map(i => i.op)))].sort();
  rows.forEach((row, k) => {
    const [device, thread] = row.split('\n'), y = k * (h + 22) + 18;
    svgNode('text', { class: 'small', x: 0, y: y - 4 }, all).textContent = `${device} thread ${thread}`;
    for (const s of step.spans) {
      if (`${s.device}\n${s.thread}` !== row) continue;
      const wide = Math.max(x(s.end) - x(s.begin), 0.3);
      const r = svgNode('rect', { class: 'span' + (s.node === state.picked ? ' picked' : ''), x: x(s.begin), y, width: wide, height: h }, all);
      r.style.fill = colour(ops.indexOf(s.op));
      svgNode('title', {}, r).textContent = `${data.nodes[s.node].path}\n${s.op}\n${s.shapes}\n${nsText(s.end - s.begin)}`;
      r.addEventListener('click', () => { if (!panned()) pick(s.node); });
      if (wide > 30) svgNode('text', { class: 'in-span', x: x(s.begin) + 3, y: y + 20 }, all).textContent = cut(s.op, Math.floor(wide / 6));
    }
  });
  fitPlain(svg, all);
}
function fitPlain(svg, all) {
  const box = all.getBBox();
  const inner = svgNode('g', { transform: `translate(${-box.x},${-box.y})` });
  inner.append(...all.childNodes);
  all.append(inner);
  panZoom(svg, all, null, { w: box.width, h: box.height });
}
function empty(words) {
  const p = document.createElement('p');
  p.className = 'empty';
  p.textContent = words;
  byId('stage').append(p);
}

function drawTools() {
  const tools = byId('tools');
  tools.replaceChildren();
  const button = (words, act) => {
    const b = document.createElement('button');
    b.textContent = words;
    b.addEventListener('click', act);
    tools.append(b, ' ');
  };
  const choice = (label, entries, chosen, act) => {
    const s = document.createElement('select');
    s.setAttribute('aria-label', label);
    for (const [value, words] of entries) s.append(new Option(words, value, false, value === chosen));
    s.addEventListener('change', () => act(s.value));
    tools.append(s, ' ');
  };
  if (state.tab === 'graph') {
    button('open all', () => setAll(true));
    button('close all', () => setAll(false));
    button('fit', () => graphView.fit());
    choice('colours', [['device', 'colours: devices'], ['op', 'colours: ops'], ...(data.steps.length ? [['time', 'colours: time']] : [])],
      state.colour, value => { state.colour = value; draw(); });
  }
  if (data.steps.length > 1 && state.tab !== 'memory')
    choice('step', data.steps.map((s, k) => [String(k), `step ${s.step}, ${nsText(s.ns)}`]), String(state.step), value => {
      state.step = Number(value);
      readStep();
      draw();
    });
  for (const b of byId('tabs').children) b.setAttribute('aria-selected', b.dataset.tab === state.tab);
}
function setAll(open) {
  for (const s of scopes.values()) s.open = open || s === root;
  graphView = null;
  draw();
}
function draw() {
  drawTools();
  if (state.tab === 'memory') drawMemory();
  else if (state.tab === 'timeline') drawTimeline();
  else drawGraph();
}

function setTheme(theme) { document.documentElement.dataset.theme = theme; }
const dark = matchMedia('(prefers-color-scheme: dark)');
setTheme(dark.matches ? 'dark' : 'light');
dark.addEventListener('change', e => setTheme(e.matches ? 'dark' : 'light'));
byId('theme').addEventListener('click', () => setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
byId('title').textContent = document.title = data.title;
for (const b of byId('tabs').children)
  b.addEventListener('click', () => {
    state.tab = b.dataset.tab;
    draw();
  });
byId('search').addEventListener('input', e => search(e.target.value));
window.addEventListener('keydown', e => {
  if (e.key === '/' && document.activeElement !== byId('search')) {
    e.preventDefault();
    byId('search').focus();
  }
});

// A link can say what to show: #tab=memory&theme=dark&open=all&colours=op&pick=block1/w&search=relu
const asked = new URLSearchParams(location.hash.slice(1));
if (asked.get('theme')) setTheme(asked.get('theme'));
if (asked.get('open') === 'all') for (const s of scopes.values()) s.open = true;
for (const path of (asked.get('open') || '').split(',')) for (let s = scopes.get(path); s; s = s.parent) s.open = true;
if (asked.get('colours')) state.colour = asked.get('colours');
if (['graph', 'memory', 'timeline'].includes(asked.get('tab'))) state.tab = asked.get('tab');
draw();
overview();
if (asked.get('search')) search(byId('search').value = asked.get('search'));
const wanted = data.nodes.find(n => n.path === asked.get('pick'));
if (wanted) pick(wanted.id, state.tab === 'graph');
document.body.dataset.drawn = String(document.querySelectorAll('#stage .box, #stage .span').length);
)js";

}  // namespace flowgraph::detail
