// The page of to_html, apart from what moves in it: its frame and its looks.
#pragma once
#include <string_view>

namespace flowgraph::detail {

inline constexpr std::string_view page_head = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>flowgraph</title>
)html";

inline constexpr std::string_view page_style = R"html(<style>
:root { --back:#f7f7f5; --panel:#ffffff; --ink:#1d2126; --faint:#6b7280; --line:#d6d8dc; --edge:#9aa1ab; --mark:#d9480f;
  --scope:#eceef2; --soft:76%; --sat:62%; color-scheme:light; }
:root[data-theme=dark] { --back:#15181c; --panel:#1d2126; --ink:#e6e8eb; --faint:#9aa1ab; --line:#343a42; --edge:#5d6672;
  --mark:#ff922b; --scope:#22272e; --soft:32%; --sat:38%; color-scheme:dark; }
* { box-sizing:border-box; }
html, body { height:100%; margin:0; }
body { background:var(--back); color:var(--ink); font:13px/1.45 system-ui, sans-serif; display:flex; flex-direction:column; }
header { display:flex; flex-wrap:wrap; gap:8px; align-items:center; padding:8px 12px; background:var(--panel);
  border-bottom:1px solid var(--line); }
header h1 { font-size:15px; margin:0 8px 0 0; }
header .space { flex:1; }
button, select, input { font:inherit; color:inherit; background:var(--back); border:1px solid var(--line); border-radius:5px;
  padding:3px 9px; }
button { cursor:pointer; }
button:hover, button:focus-visible { border-color:var(--mark); }
button[aria-pressed=true], button[aria-selected=true] { background:var(--ink); color:var(--panel); border-color:var(--ink); }
main { flex:1; display:flex; min-height:0; }
#stage { flex:1; min-width:0; position:relative; }
#stage > svg { width:100%; height:100%; display:block; cursor:grab; touch-action:none; }
#stage > svg:active { cursor:grabbing; }
#legend { position:absolute; left:12px; bottom:10px; background:var(--panel); border:1px solid var(--line); border-radius:6px;
  padding:5px 9px; font-size:12px; max-width:60%; }
#legend i { display:inline-block; width:11px; height:11px; border-radius:3px; margin:0 5px 0 0; vertical-align:-1px;
  border:1px solid var(--edge); }
#legend span { margin-right:12px; white-space:nowrap; }
aside { width:320px; overflow:auto; background:var(--panel); border-left:1px solid var(--line); padding:12px; }
aside h2 { font-size:14px; margin:0 0 6px; overflow-wrap:anywhere; }
aside h3 { font-size:12px; margin:12px 0 3px; color:var(--faint); font-weight:600; }
aside dl { display:grid; grid-template-columns:auto 1fr; gap:2px 10px; margin:0; }
aside dt { color:var(--faint); }
aside dd { margin:0; overflow-wrap:anywhere; font-family:ui-monospace, monospace; font-size:12px; }
aside ul { list-style:none; margin:0; padding:0; }
aside li button { width:100%; text-align:left; border:0; background:none; padding:2px 4px; font-family:ui-monospace, monospace;
  font-size:12px; overflow-wrap:anywhere; }
aside li button:hover { background:var(--scope); }
svg text { fill:var(--ink); font:12px system-ui, sans-serif; pointer-events:none; }
svg text.small { font-size:10px; fill:var(--faint); }
svg text.in-span { font-size:10px; }
svg text.halo { paint-order:stroke; stroke:var(--back); stroke-width:3px; }
.box rect { stroke:var(--edge); stroke-width:1; cursor:pointer; }
.scope > rect { fill:var(--scope); stroke:var(--line); }
.picked > rect { stroke:var(--mark); stroke-width:2.5; }
.found > rect { stroke:var(--mark); stroke-dasharray:4 2; stroke-width:2; }
.edge { fill:none; stroke:var(--edge); opacity:.75; }
.edge.after { stroke-dasharray:3 3; }
.edge.near { stroke:var(--mark); opacity:1; }
.span { stroke:var(--panel); stroke-width:.5; cursor:pointer; vector-effect:non-scaling-stroke; }
.span.picked { stroke:var(--mark); stroke-width:2; }
.axis { stroke:var(--line); vector-effect:non-scaling-stroke; }
.empty { padding:40px; color:var(--faint); }
@media (max-width:800px) { aside { width:220px; } }
</style>
</head>
)html";

inline constexpr std::string_view page_body = R"html(<body>
<header>
<h1 id="title"></h1>
<div role="tablist" id="tabs">
<button role="tab" data-tab="graph">Graph</button>
<button role="tab" data-tab="memory">Memory</button>
<button role="tab" data-tab="timeline">Timeline</button>
</div>
<span id="tools"></span>
<span class="space"></span>
<input id="search" type="search" placeholder="search: name, op or line  ( / )" size="28" aria-label="search">
<button id="theme" aria-label="light or dark">◐</button>
</header>
<main>
<div id="stage"></div>
<aside id="side"></aside>
</main>
)html";

}  // namespace flowgraph::detail
