"use strict";
(function () {
const root = document.documentElement;
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

/* ---- texts are not trusted: they become text nodes only, without characters that change other text ---- */

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
const clean = (text) => String(text).replace(UNSEEN, "?");

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const key in attributes || {}) {
    if (attributes[key] === true) element.setAttribute(key, "");
    else if (attributes[key] !== false && attributes[key] != null) element.setAttribute(key, clean(attributes[key]));
  }
  for (const child of children) {
    if (child == null || child === "") continue;
    element.append(child.nodeType ? child : document.createTextNode(clean(child)));
  }
  return element;
}

const say = (text) => { byId("status").textContent = clean(text); };

/* ---- theme ---- */

function setTheme(theme, isKept) {
  root.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
  if (isKept) { try { localStorage.setItem("monitorch-theme", theme); } catch (error) { /* fails in a private window */ } }
}
function firstTheme() {
  try { const kept = localStorage.getItem("monitorch-theme"); if (kept === "dark" || kept === "light") return kept; }
  catch (error) { /* fails in a private window */ }
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
const switchTheme = () => setTheme(root.dataset.theme === "dark" ? "light" : "dark", true);
byId("theme").addEventListener("click", switchTheme);
setTheme(firstTheme(), false);

/* ---- printing: the theme of paper ---- */

let screenTheme = "";
addEventListener("beforeprint", () => { screenTheme = root.dataset.theme; setTheme("light", false); });
addEventListener("afterprint", () => { if (screenTheme) setTheme(screenTheme, false); });

/* ---- the view of one trace of the file; `signal` removes its listeners ---- */

function view(part, signal) {

/* ---- the data, with indices ---- */

const data = JSON.parse(part.querySelector("script.data").textContent);
const T = data.texts;
const E = data.events;
const EVENT_COUNT = E.count;
const FIGURES = 1, NONFINITE = 2, READ = 4, REMARK = 8;
const CHANGES = ["", "new", "rebound", "in place", "alias", "same"];
const MARKS = ["", "= equal", "Inf by name", "→ passed on", "≠ inherited", "! first NaN", "+ only in B", "≠ differs here", "! made here"];
const MARK_CLASS = ["", "fine", "quiet", "inherited", "inherited", "bad", "only", "own", "bad"];
const PASSED = 3, INHERITED = 4, OWN = 7;
const EDGES = ["made from", "the same value", "written in place", "changed through shared memory", "its form alone"];

const fileName = (path) => path.replace(/^.*[\/\\]/, "");
const sites = [];
data.files.forEach((file, index) => {
  file.name = fileName(file.path);
  file.sites.forEach((site, i) => {
    sites[file.first_site + i] = { file: index, line: site[0], fn: site[1], kind: site[2], arm: site[3], count: site[4] };
  });
});
const seq = new Float64Array(EVENT_COUNT);
const figuresAt = new Int32Array(EVENT_COUNT).fill(-1);
const nonfiniteAt = new Int32Array(EVENT_COUNT).fill(-1);
const remarkAt = new Int32Array(EVENT_COUNT).fill(-1);
const eventsOfSeries = data.series.map(() => []);
for (let i = 0, sum = 0, figures = 0, bad = 0, remarks = 0; i < EVENT_COUNT; i++) {
  seq[i] = sum += E.seq[i];
  if (E.flags[i] & FIGURES) { figuresAt[i] = figures; figures += 4; }
  if (E.flags[i] & NONFINITE) { nonfiniteAt[i] = bad; bad += 3; }
  if (E.flags[i] & REMARK) remarkAt[i] = remarks++;
  eventsOfSeries[E.series[i]].push(i);
}
const changeOf = (event) => (E.flags[event] >> 4) & 7;
const markOf = (event) => (E.flags[event] >> 7) & 15;
const remarkOf = (event) => (remarkAt[event] < 0 ? "" : T[E.remarks[remarkAt[event]]]);

const sources = new Map(), targets = new Map();
(function readEdges() {
  const put = (map, key, item) => { const list = map.get(key); if (list) list.push(item); else map.set(key, [item]); };
  for (let i = 0, target = 0; i < data.edges.length; i += 3) {
    target += data.edges[i];
    const source = target - data.edges[i + 1], kind = data.edges[i + 2];
    put(sources, target, [source, kind & 7, kind >> 3]);
    put(targets, source, [target, kind & 7, kind >> 3]);
  }
})();

const lineKey = (file, line) => file * 4194304 + line;
const seriesOfLine = new Map(), sitesOfLine = new Map(), parameters = [];
data.series.forEach((series, index) => {
  if (series.site === null) { parameters.push(index); return; }
  const site = sites[series.site], key = lineKey(site.file, site.line);
  if (T[series.name] === "self") return; /* each method has it */
  if (!seriesOfLine.has(key)) seriesOfLine.set(key, []);
  seriesOfLine.get(key).push(index);
});
sites.forEach((site) => {
  const key = lineKey(site.file, site.line);
  if (!sitesOfLine.has(key)) sitesOfLine.set(key, []);
  sitesOfLine.get(key).push(site);
});
const C = data.calls;
const callByNumber = new Map(C.number.map((number, index) => [number, index]));
const moduleOf = (call) => data.modules[C.module[call] - 1];
const functionKey = (file, fn) => file + ":" + fn;
const callsOfFunction = new Map();
for (let call = 0; call < C.count; call++) {
  const module = moduleOf(call);
  if (!module) continue;
  const key = functionKey(module.file, module.function);
  if (!callsOfFunction.has(key)) callsOfFunction.set(key, []);
  callsOfFunction.get(key).push(call);
}
const keyOfCall = (call) => { const module = moduleOf(call); return module ? functionKey(module.file, module.function) : ""; };
const calledFunctions = new Map();
data.modules.forEach((module) => {
  const key = functionKey(module.file, module.function);
  calledFunctions.set(key, (calledFunctions.get(key) || 0) + module.count);
});
const placeOf = (event) => sites[data.series[E.series[event]].site];
const nameOf = (event) => T[data.series[E.series[event]].name];
const placeText = (site) => data.files[site.file].name + ":" + site.line;

/* The shown call of each function, and the shown turn of each loop. A turn counts within the chosen turn of the outer loop. */
const chosenCall = new Map(), chosenTurn = new Map();
callsOfFunction.forEach((calls, key) => chosenCall.set(key, calls[0]));
let chosen = -1;

/* The first event of each call. A call without events has that of the next call. */
const firstEvent = new Int32Array(C.count).fill(EVENT_COUNT);
for (let event = EVENT_COUNT - 1; event >= 0; event--) firstEvent[E.call[event]] = event;
for (let call = C.count - 2; call >= 0; call--) firstEvent[call] = Math.min(firstEvent[call], firstEvent[call + 1]);

/* The events of a series in one call, in order. */
const perCall = new Map();
function eventsInCall(series, call) {
  let map = perCall.get(series);
  if (!map) {
    map = new Map();
    for (const event of eventsOfSeries[series]) {
      const of = E.call[event];
      if (map.has(of)) map.get(of).push(event); else map.set(of, [event]);
    }
    perCall.set(series, map);
  }
  return map.get(call) || [];
}
/* The index of the first number in the list that is not below `number`. */
function placeIn(list, number) {
  let low = 0, high = list.length;
  while (low < high) { const middle = (low + high) >> 1; if (list[middle] < number) low = middle + 1; else high = middle; }
  return low;
}

/* Loops: {line, end, key, function, parent, series}. loopOfLine has the innermost loop of each line. */
const loopOfLine = new Map(), loopsOfFunction = new Map();

/* The events that start the loop's turns in a call: those of the loop's target. A loop without a target uses its line with the most events. */
function turnEvents(loop, call) {
  let most = [];
  for (let line = loop.line; line <= loop.end && !(line > loop.line && loop.hasTarget); line++) {
    if (loopOfLine.get(lineKey(loop.file, line)) !== loop) continue;
    for (const series of seriesOfLine.get(lineKey(loop.file, line)) || []) {
      const events = eventsInCall(series, call);
      if (!events.length || (E.flags[events[0]] & READ)) continue;
      if (events.length > most.length) most = events;
      if (line === loop.line) loop.hasTarget = true;
    }
  }
  return most;
}
/* The loop's turns within the chosen turns of the outer loops: the start of each, and the end of the last. */
function turnsOf(loop, call) {
  const around = rangeOf(loop.parent, call), all = turnEvents(loop, call);
  return { starts: all.slice(placeIn(all, around[0]), placeIn(all, around[1])), end: around[1], all };
}
/* The range of events of the loop's chosen turn: the first event, and the one after the last. */
function rangeOf(loop, call) {
  if (!loop) return [0, EVENT_COUNT];
  const { starts, end } = turnsOf(loop, call);
  if (!starts.length) return [0, 0];
  const turn = Math.min(chosenTurn.get(loop.key) || 0, starts.length - 1);
  return [starts[turn], turn + 1 < starts.length ? starts[turn + 1] : end];
}
/* Chooses the turns in which the line has that event, from the outermost loop inwards. */
function chooseTurns(key, call, event) {
  const loop = loopOfLine.get(key), outward = [];
  for (let at = loop; at; at = at.parent) outward.unshift(at);
  for (const at of outward) chosenTurn.set(at.key, Math.max(0, placeIn(turnsOf(at, call).starts, event + 1) - 1));
}

function shownEvent(series) {
  const site = sites[data.series[series].site], key = functionKey(site.file, site.fn);
  const call = chosenCall.get(key), all = eventsOfSeries[series];
  if (call === undefined) return all.length ? all[0] : -1;
  const events = eventsInCall(series, call), range = rangeOf(loopOfLine.get(lineKey(site.file, site.line)), call);
  if (chosen >= range[0] && chosen < range[1] && E.series[chosen] === series && E.call[chosen] === call) return chosen;
  const event = events[placeIn(events, range[0])];
  return event < range[1] ? event : -1;
}

/* ---- numbers and strips ---- */

const number = (value) => (value == null ? "–" : Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(value) < 1e-3)
  ? value.toExponential(3).replace(/\.?0+e/, "e") : String(+value.toPrecision(4)));
const count = (n, one, many) => n + " " + (n === 1 ? one : many || one + "s");

/* Whether the only non-finite elements are -Inf, which usually is a mask. */
const isMask = (event) => nonfiniteAt[event] >= 0 && !E.nonfinite[nonfiniteAt[event]] && !E.nonfinite[nonfiniteAt[event] + 1];

function nonfiniteText(event) {
  const at = nonfiniteAt[event];
  if (at < 0) return "";
  return ["NaN", "+Inf", "-Inf"].map((name, i) => (data.events.nonfinite[at + i] ? data.events.nonfinite[at + i] + " " + name : ""))
    .filter(Boolean).join(", ") || "not finite";
}

/* Draws the least and the greatest value of each bin over the visits. `bins` is in the form of the data. */
function drawStrip(bins, width, height, kind, label) {
  const last = bins.length / 3 - 1;
  let low = Infinity, high = -Infinity;
  for (let i = 0; i <= last; i++) if (!(bins[3 * i + 2] & 2)) { low = Math.min(low, bins[3 * i]); high = Math.max(high, bins[3 * i + 1]); }
  const element = (tag, attributes) => {
    const made = document.createElementNS(SVG, tag);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    return made;
  };
  const svg = element("svg", { class: "strip " + kind, viewBox: "0 0 " + width + " " + height, preserveAspectRatio: "none", role: "img",
    "aria-label": label + (low <= high ? ": " + number(low) + " to " + number(high) : "") });
  const y = (value) => (high > low ? height - 1.5 - (value - low) / (high - low) * (height - 3) : height / 2);
  const x = (i) => (last > 0 ? i / last * (width - 2) + 1 : width / 2);
  let run = [];
  for (let i = 0; i <= last + 1; i++) {
    if (i <= last && !(bins[3 * i + 2] & 2)) { run.push(i); continue; }
    if (!run.length) continue;
    const top = run.map((k) => x(k).toFixed(1) + " " + y(bins[3 * k + 1]).toFixed(1));
    const bottom = run.reverse().map((k) => x(k).toFixed(1) + " " + y(bins[3 * k]).toFixed(1));
    svg.append(element("path", { d: "M" + top.concat(bottom).join("L") + "Z" }));
    run = [];
  }
  for (let i = 0; i <= last; i++) {
    if (bins[3 * i + 2] & 1) svg.append(element("rect", { class: bins[3 * i + 2] & 4 ? "nan" : "mask", x: Math.max(0, x(i) - 1.5), y: 0, width: 3, height }));
  }
  return { svg, low, high };
}
const hasStrip = (bins) => bins && bins.length >= 6;
const isPlain = (bins) => bins.every((one, i) => i % 3 === 2 ? one === 0 : one === bins[0]);

function strip(series) {
  const s = data.series[series];
  if (!hasStrip(s.strip) || isPlain(s.strip)) return null;
  return drawStrip(s.strip, 64, 14, "", "least and greatest value over " + count(s.count, "visit")).svg;
}
function gradientStrip(series) {
  const s = data.series[series];
  if (!hasStrip(s.gradient_strip) || isPlain(s.gradient_strip)) return null;
  return drawStrip(s.gradient_strip, 64, 14, "gradient", "gradient: least and greatest over " + count(s.gradients, "backward")).svg;
}

/* A strip for the panel, with its bounds above it. */
function largeStrip(title, bins, kind) {
  if (!hasStrip(bins)) return null;
  const drawn = drawStrip(bins, 300, 60, "large " + kind, title);
  const bounds = drawn.low <= drawn.high ? ": " + [...new Set([number(drawn.low), number(drawn.high)])].join(" to ") : "";
  return make("figure", {}, make("figcaption", {}, title + bounds), drawn.svg);
}

/* ---- the source ---- */

const TOKEN = /([rbuftRBUFT]{0,2}(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?))|(#[^\n]*)|\b(False|None|True|and|as|assert|async|await|break|case|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|match|nonlocal|not|or|pass|raise|return|try|while|with|yield)\b|\b((?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*\.?[\d_]*(?:[eE][+-]?\d+)?)[jJ]?)\b/g;

/* Splits Python source into lines of spans. Strings and comments may span several lines. */
function colour(text) {
  const lines = [[]];
  const put = (part, kind) => part.split(/\r\n|\r|\n/).forEach((piece, i) => {
    if (i > 0) lines.push([]);
    if (piece) lines[lines.length - 1].push([piece, kind]);
  });
  let last = 0;
  for (const found of text.matchAll(TOKEN)) {
    put(text.slice(last, found.index), "");
    put(found[0], found[1] ? "string" : found[2] ? "comment" : found[3] ? "keyword" : "number");
    last = found.index + found[0].length;
  }
  put(text.slice(last), "");
  return lines;
}

const rows = new Map();     /* lineKey -> row */
const chipsOf = new Map();  /* lineKey -> box of its chips */
const folds = new Map();    /* lineKey -> {rows, isFolded, button} */
const bars = new Map();     /* functionKey -> bar with the slider of its calls */
const loopBars = new Map(); /* loop's key -> bar with the slider of its turns */
const linesOfFunction = new Map();

const indentOf = (line) => line.match(/^[ \t\f]*/)[0].replace(/\t/g, "        ").length;
const isBlank = (line) => /^\s*(#.*)?$/.test(line);

/* The last line of the block that begins at `line` (from 0). */
function blockEnd(lines, line) {
  const indent = indentOf(lines[line]);
  let depth = 0, end = line, isHeader = true;
  for (let i = line; i < lines.length; i++) {
    if (i > line && !isHeader && !isBlank(lines[i]) && indentOf(lines[i]) <= indent && depth <= 0) break;
    for (const letter of lines[i].replace(/(["'])(?:\\.|(?!\1).)*\1|#.*$/g, "")) {
      if ("([{".includes(letter)) depth++; else if (")]}".includes(letter)) depth--;
    }
    if (isHeader && depth <= 0) isHeader = false;
    if (!isBlank(lines[i])) end = i;
  }
  return end;
}

function marksOfLine(key) {
  const marks = [];
  const here = sitesOfLine.get(key) || [];
  const branches = here.filter((site) => site.kind === "branch");
  if (branches.length) {
    const taken = branches.reduce((sum, site) => sum + site.count, 0);
    marks.push(make("span", { class: "mark quiet" }, taken ? "taken " + taken + "×" : "not taken"));
  }
  return marks;
}

function seriesClass(series) {
  let worst = 0;
  for (const event of eventsOfSeries[series]) worst = Math.max(worst, markOf(event));
  if (worst === OWN) return "own";
  if (worst === INHERITED) return "inherited";
  return data.series[series].nan ? "bad" : "";
}

function chip(series) {
  const s = data.series[series], site = sites[s.site], event = site ? shownEvent(series) : -1;
  const button = make("button", { class: "chip" + (site && event < 0 ? " none" : ""), type: "button", "data-series": series },
    make("span", { class: "name" }, T[s.name]));
  if (!eventsOfSeries[series].length) {
    button.append(make("span", { class: "faint" }, s.gradients ? count(s.gradients, "gradient") : "not kept"));
  } else if (event < 0) {
    button.append(make("span", { class: "faint" }, eventsInCall(series, chosenCall.get(functionKey(site.file, site.fn))).length ? "in other turns" : "in other calls"));
  } else {
    button.append(make("span", {}, T[E.form[event]].replace(/ strides .*/, "")));
  }
  for (const figure of [strip(series), gradientStrip(series)]) if (figure) button.append(figure);
  if (s.bad_gradients) button.append(make("span", { class: "mark bad" }, "NaN or Inf in " + count(s.bad_gradients, "gradient")));
  if (event >= 0) {
    const bad = nonfiniteText(event), change = changeOf(event), mark = markOf(event);
    if (bad) button.append(make("span", { class: isMask(event) ? "mark quiet" : "mark bad" }, bad));
    if (change === 3) button.append(make("span", { class: "mark place" }, "in place"));
    if (change === 4) button.append(make("span", { class: "mark alias" }, "alias"));
    if (mark > 1) button.append(make("span", { class: "mark " + MARK_CLASS[mark] }, MARKS[mark]));
  }
  if (s.nan && (event < 0 || !nonfiniteText(event))) {
    button.append(make("span", { class: "mark bad" }, "NaN or Inf in " + s.nan + " of " + count(s.count, "visit")));
  }
  button.title = site ? placeText(site) + ", " + count(s.count, "visit") : T[s.name];
  button.addEventListener("click", () => {
    if (eventsOfSeries[series].length) choose(event >= 0 ? event : eventsOfSeries[series][0], true); else drawSeries(series);
  });
  return button;
}

/* Limit of the items of a container; a button shows the others. */
const CHIPS_MAX = 8;
const openChips = new Set();
function manyChips(key) {
  const all = (seriesOfLine.get(key) || []);
  const shown = openChips.has(key) || all.length <= CHIPS_MAX + 1 ? all : all.filter((series, i) => i < CHIPS_MAX || E.series[chosen] === series);
  const chips = shown.map(chip);
  if (shown.length < all.length) {
    const more = make("button", { class: "chip", type: "button" }, (all.length - shown.length) + " more");
    more.addEventListener("click", () => { openChips.add(key); drawChips(key); showChosen(); });
    chips.push(more);
  }
  return chips;
}

function drawChips(key) {
  const box = chipsOf.get(key);
  if (!box) return;
  box.replaceChildren(...manyChips(key), ...marksOfLine(key));
}

/* Adds a slider with a button on each side. `choose` receives the new position. */
function drawSlider(bar, kind, at, last, choose) {
  const step = (to) => choose(Math.max(0, Math.min(last, to)));
  const slider = make("input", { type: "range", min: 0, max: last, value: at, "aria-label": kind, "aria-valuetext": kind + " " + (at + 1) + " of " + (last + 1), "data-role": kind });
  const back = make("button", { type: "button", "aria-label": "previous " + kind, "data-role": "back" }, "‹");
  const next = make("button", { type: "button", "aria-label": "next " + kind, "data-role": "next" }, "›");
  slider.addEventListener("input", () => step(+slider.value));
  back.addEventListener("click", () => step(at - 1));
  next.addEventListener("click", () => step(at + 1));
  bar.append(make("span", { class: "slider" }, back, slider, next));
}
/* Redraws a bar, and restores the focus to the same part of it. */
function redraw(bar, draw) {
  const focused = bar.contains(document.activeElement) ? document.activeElement.dataset.role : "";
  bar.replaceChildren();
  draw();
  const again = focused && bar.querySelector("[data-role=" + focused + "]");
  if (again) again.focus();
}

function drawBar(key) {
  const bar = bars.get(key), calls = callsOfFunction.get(key);
  if (!bar || !calls) return;
  const call = chosenCall.get(key), at = calls.indexOf(call), module = moduleOf(call), all = calledFunctions.get(key) || calls.length;
  const words = ["call " + (at + 1) + " of " + calls.length + (all > calls.length ? " kept (" + all + " made)" : ""), "#" + C.number[call],
    T[module.path], C.line[call] ? "from line " + C.line[call] : ""];
  redraw(bar, () => {
    bar.append(make("span", {}, words.filter(Boolean).join(" · ")));
    if (calls.length > 1) drawSlider(bar, "call", at, calls.length - 1, (place) => chooseCall(calls[place]));
  });
}

function drawLoop(loop) {
  const bar = loopBars.get(loop.key), call = chosenCall.get(loop.function);
  if (!bar || call === undefined) return;
  const { starts, all } = turnsOf(loop, call), at = Math.min(chosenTurn.get(loop.key) || 0, starts.length - 1);
  redraw(bar, () => {
    if (all.length < 2) return;
    bar.append(make("span", {}, starts.length ? "turn " + (at + 1) + " of " + starts.length + (loop.parent ? " (" + all.length + " in the call)" : "") : "no turn here"));
    if (starts.length > 1) drawSlider(bar, "turn", at, starts.length - 1, (place) => chooseTurn(loop, place));
  });
}

function drawFunction(key) {
  drawBar(key);
  (loopsOfFunction.get(key) || []).forEach(drawLoop);
  (linesOfFunction.get(key) || []).forEach(drawChips);
  showChosen();
}

/* Chooses the first call inside `call` of each function that is called between the events `from` and `to` (excluded). `changed` has the functions that are chosen already. */
function chooseInside(call, from, to, changed) {
  const inside = new Uint8Array(C.count);
  inside[call] = 1;
  for (let i = call + 1; i < C.count; i++) {
    if (!(C.parent[i] > 0 && inside[C.parent[i] - 1]) || firstEvent[i] < from || firstEvent[i] >= to) continue;
    inside[i] = 1;
    const key = keyOfCall(i);
    if (!changed.has(key)) { chosenCall.set(key, i); changed.add(key); }
  }
}

/* Chooses the first calls in the chosen turns of the loops around the line, from the innermost loop outwards. */
function chooseAround(line, call, changed) {
  for (let loop = loopOfLine.get(line); loop; loop = loop.parent) chooseInside(call, ...rangeOf(loop, call), changed);
}

/* Chooses the call, its callers in the turns that made it, and the first calls inside it and in these turns. */
function chooseCall(call) {
  const changed = new Set([keyOfCall(call)]), callers = [];
  chosenCall.set(keyOfCall(call), call);
  for (let below = call, up = C.parent[call]; up > 0; below = up - 1, up = C.parent[up - 1]) {
    const key = keyOfCall(up - 1), module = moduleOf(up - 1);
    if (changed.has(key)) continue;
    chosenCall.set(key, up - 1);
    changed.add(key);
    if (!module) continue;
    chooseTurns(lineKey(module.file, C.line[below]), up - 1, firstEvent[below]);
    callers.push([lineKey(module.file, C.line[below]), up - 1]);
  }
  chooseInside(call, 0, EVENT_COUNT, changed);
  for (const [line, caller] of callers) chooseAround(line, caller, changed);
  changed.forEach(drawFunction);
}

/* Chooses the turn, the first calls in it, and the value of the same series in it. */
function chooseTurn(loop, turn) {
  const call = chosenCall.get(loop.function), changed = new Set([loop.function]);
  chosenTurn.set(loop.key, turn);
  chooseInside(call, ...rangeOf(loop, call), changed);
  const event = chosen >= 0 && functionKey(placeOf(chosen).file, placeOf(chosen).fn) === loop.function ? shownEvent(E.series[chosen]) : -1;
  changed.forEach(drawFunction);
  if (event >= 0 && event !== chosen) choose(event, false);
}

function setFold(key, isFolded) {
  const fold = folds.get(key);
  if (!fold || fold.isFolded === isFolded) return;
  fold.isFolded = isFolded;
  fold.button.textContent = isFolded ? "▸" : "▾";
  fold.button.setAttribute("aria-expanded", String(!isFolded));
  for (const other of fold.rows) {
    const row = rows.get(other);
    row.dataset.hidden = Math.max(0, (+row.dataset.hidden || 0) + (isFolded ? 1 : -1));
    row.classList.toggle("hidden", +row.dataset.hidden > 0);
  }
  (fold.bars || []).forEach((bar) => {
    bar.dataset.hidden = Math.max(0, (+bar.dataset.hidden || 0) + (isFolded ? 1 : -1));
    bar.classList.toggle("hidden", +bar.dataset.hidden > 0);
  });
}

/* Opens all folds around the line. */
function reveal(key) {
  folds.forEach((fold, at) => { if (fold.isFolded && fold.rows.includes(key)) setFold(at, false); });
}

/* Finds the loops of a file by their lines. A loop follows those around it. */
function findLoops(file, index, lines) {
  const loops = new Map();
  for (const [line, fn, kind] of file.sites) {
    if (kind !== "loop" || loops.has(line) || (file.source && !/^\s*(async\s+for|for|while)\b/.test(lines[line - 1] || ""))) continue;
    const end = file.source ? blockEnd(lines, line - 1) + 1 : Math.max(...file.sites.filter((site) => site[1] === fn).map((site) => site[0]));
    loops.set(line, { file: index, line, end, key: lineKey(index, line), function: functionKey(index, fn), parent: null });
  }
  for (const loop of [...loops.values()].sort((a, b) => a.line - b.line)) {
    const around = loopOfLine.get(loop.key);
    if (around && around.function === loop.function) loop.parent = around;
    for (let line = loop.line; line <= loop.end; line++) loopOfLine.set(lineKey(index, line), loop);
    if (!loopsOfFunction.has(loop.function)) loopsOfFunction.set(loop.function, []);
    loopsOfFunction.get(loop.function).push(loop);
  }
  return loops;
}

/* Replaces a source that the trace does not have: its functions and loops. */
function sourceOfSites(file) {
  const lines = [], put = (line, text) => { if (line <= 100000) lines[line - 1] = text || lines[line - 1] || ""; };
  file.sites.forEach(([line, , kind]) => put(line, kind === "loop" ? "    for …:" : ""));
  file.functions.forEach((fn, i) => { if (i > 0) put(fn.line, "def " + clean(fn.name).replace(/\s/g, " ") + "(…):"); });
  return Array.from(lines, (line) => line || "").join("\n");
}

function drawFile(file, index) {
  const section = make("section", { class: "file", "aria-label": file.path });
  section.append(make("h2", { title: file.path }, file.path));
  const code = make("div", { class: "code", tabindex: 0, role: "region", "aria-label": "source of " + file.name });
  section.append(code);
  if (!file.source) code.append(make("p", { class: "faint" }, "\u00a0\u00a0The trace does not hold this source: these are its lines with values."));
  const source = file.source || sourceOfSites(file), lines = source.split(/\r\n|\r|\n/);
  if (file.source && lines[lines.length - 1] === "") lines.pop();
  const coloured = colour(source);
  const functionAt = new Map();
  file.functions.forEach((fn, i) => { if (i > 0) functionAt.set(fn.line, i); });
  const blockAt = new Map();
  (file.sites || []).forEach((site) => { if (site[2] === "loop" || site[2] === "branch") blockAt.set(site[0], true); });
  const loops = findLoops(file, index, lines);
  const fragment = document.createDocumentFragment();
  lines.forEach((line, i) => {
    const key = lineKey(index, i + 1), here = sitesOfLine.get(key) || [];
    if (!file.source && !line && !here.length) return;
    const series = seriesOfLine.get(key);
    const isUnreached = here.length > 0 && here.every((site) => site.count === 0) && here.some((site) => site.kind !== "branch");
    let kind = "";
    for (const one of series || []) kind = kind || seriesClass(one);
    const row = make("div", { class: "ln" + (isUnreached ? " unreached" : "") + (kind ? " " + kind : ""), "data-line": i + 1 });
    row.append(make("a", { class: "no", href: "#" + encodeURIComponent(file.name) + ":" + (i + 1), "aria-label": "line " + (i + 1) }, i + 1));
    const isDef = functionAt.has(i + 1) && /^\s*(async\s+def|def|class|@)/.test(line);
    if (isDef || loops.has(i + 1) || (blockAt.has(i + 1) && /:\s*(#.*)?$/.test(line))) {
      const button = make("button", { class: "fold", type: "button", "aria-expanded": "true", "aria-label": "fold line " + (i + 1) }, "▾");
      button.addEventListener("click", () => setFold(key, !folds.get(key).isFolded));
      folds.set(key, { button, isFolded: false, rows: [], bars: [], start: i, end: blockEnd(lines, i), isDef });
      row.append(button);
    } else row.append(make("span", { class: "gap" }));
    const text = make("span", { class: "src" });
    for (const [piece, token] of coloured[i] || []) text.append(token ? make("span", { class: token }, piece) : document.createTextNode(clean(piece)));
    if (isUnreached) text.append(make("span", { class: "mark quiet" }, "  not reached"));
    row.append(text);
    if (series || here.some((site) => site.kind === "branch")) {
      row.classList.add("has");
      const box = make("span", { class: "chips" });
      chipsOf.set(key, box);
      row.append(box);
    }
    rows.set(key, row);
    fragment.append(row);
    const fn = functionAt.get(i + 1), loop = loops.get(i + 1);
    if (loop) { loopBars.set(key, make("div", { class: "call" })); fragment.append(loopBars.get(key)); }
    if (fn !== undefined && calledFunctions.has(functionKey(index, fn))) {
      const bar = make("div", { class: "call" });
      bars.set(functionKey(index, fn), bar);
      fragment.append(bar);
    }
    for (const site of here) {
      const of = functionKey(index, site.fn);
      if (!linesOfFunction.has(of)) linesOfFunction.set(of, []);
      const list = linesOfFunction.get(of);
      if (list[list.length - 1] !== key) list.push(key);
    }
  });
  code.append(fragment);
  /* The rows of each fold. Functions that were not called start folded. */
  folds.forEach((fold, key) => {
    if (Math.floor(key / 4194304) !== index) return;
    for (let i = fold.start + 1; i <= fold.end; i++) {
      if (!rows.has(lineKey(index, i + 1))) continue;
      fold.rows.push(lineKey(index, i + 1));
      const next = rows.get(lineKey(index, i + 1));
      if (next && next.nextSibling && next.nextSibling.className === "call") fold.bars.push(next.nextSibling);
    }
    const own = rows.get(key).nextSibling;
    if (own && own.className === "call") fold.bars.push(own);
  });
  functionAt.forEach((fn, line) => {
    const key = lineKey(index, line);
    if (folds.has(key) && !calledFunctions.has(functionKey(index, fn))) setFold(key, true);
  });
  return section;
}

/* ---- one value ---- */

function link(event, text) {
  const site = placeOf(event);
  const a = make("a", { href: "#" + hashOf(event) }, text || nameOf(event) + "  " + placeText(site));
  a.addEventListener("click", (click) => { click.preventDefault(); choose(event, true); });
  return a;
}

function list(title, pairs) {
  if (!pairs || !pairs.length) return null;
  const box = make("div", {}, make("strong", {}, title));
  const ul = make("ul", {});
  const sorted = pairs.slice().sort((a, b) => a[2] - b[2]);
  for (const [event, kind, isUnsure] of sorted.slice(0, 40)) {
    const bad = nonfiniteText(event);
    ul.append(make("li", {}, link(event), "  " + T[E.form[event]], bad ? make("span", { class: "mark bad" }, bad) : null,
      kind ? make("span", { class: "faint" }, "  " + EDGES[kind]) : null, isUnsure ? make("span", { class: "faint" }, "  perhaps") : null));
  }
  if (pairs.length > 40) ul.append(make("li", { class: "faint" }, "and " + (pairs.length - 40) + " more"));
  box.append(ul);
  return box;
}

/* ---- the elements of a value ---- */

const tableOf = new Map(data.tables.map((one) => [one.event, one]));
const otherOf = new Map(data.others.map((one) => [one.event, one]));
const cellNumber = (value) => (typeof value === "string" ? ({ NaN: NaN, Inf: Infinity, "-Inf": -Infinity })[value] : value);
const isFiniteCell = (value) => typeof value === "number";
const isSameCell = (a, b) => a === b;

/* The indices of the element at a place of the sample: `[0, 3]`. */
function indexText(table, place) {
  const parts = [];
  for (let i = table.indices.length - 1; i >= 0; i--) {
    const size = table.indices[i].length;
    parts.unshift(table.indices[i][place % size]);
    place = Math.floor(place / size);
  }
  return "[" + parts.join(", ") + "]";
}

function drawCell(table, other, place) {
  const value = table.values[place];
  const isOther = other && other.values && !isSameCell(value, other.values[place]);
  const cell = make("td", { class: (isFiniteCell(value) ? "" : value === "-Inf" ? "mask " : "odd ") + (isOther ? "differs" : "") },
    isFiniteCell(value) ? number(value) : value);
  cell.title = indexText(table, place) + (isOther ? "  A has " + other.values[place] : "");
  return cell;
}

/* Draws a table of the last two dimensions. Each index of the other dimensions has its own table. */
function drawMatrix(table, other, start, label) {
  const dims = table.indices, count = dims.length;
  const rowIndex = count > 1 ? dims[count - 2] : [""], columnIndex = count > 0 ? dims[count - 1] : [""];
  const isRagged = (list) => list.some((index, i) => index !== i);
  const body = make("table", { class: "cells" }, make("caption", {}, label));
  if (isRagged(columnIndex) || isRagged(rowIndex)) {
    body.append(make("tr", {}, make("td", {}), ...columnIndex.map((index) => make("th", { scope: "col" }, index))));
  }
  rowIndex.forEach((index, row) => {
    const line = make("tr", {}, make("th", { scope: "row" }, index));
    columnIndex.forEach((_, column) => line.append(drawCell(table, other, start + row * columnIndex.length + column)));
    body.append(line);
  });
  return body;
}
function drawCells(table, other, side) {
  const dims = table.indices, count = dims.length;
  const size = dims.slice(-2).reduce((product, list) => product * list.length, 1), tables = [];
  for (let start = 0; start < table.values.length; start += size) {
    const lead = count > 2 ? indexText({ indices: dims.slice(0, -2) }, start / size) : "";
    tables.push(drawMatrix(table, other, start, (side + " " + lead).trim()));
  }
  return make("div", { class: "matrices", tabindex: 0, role: "group", "aria-label": (side || "values") + " of the table" }, ...tables);
}

/* A histogram over equal steps from `low` to `high`: of all elements if the data has one, else of those in the table. */
function histogramOf(table, range) {
  if (!table) return null;
  if (table.bins && range && range[1] >= range[0]) return { bins: table.bins, low: range[0], high: range[1], isWhole: true };
  const values = (table.values || []).filter(isFiniteCell);
  if (values.length < 2) return null;
  const low = Math.min(...values), high = Math.max(...values), bins = new Array(20).fill(0);
  for (const value of values) bins[Math.min(19, Math.floor((high > low ? (value - low) / (high - low) : 0) * 20))]++;
  return { bins, low, high, isWhole: false };
}

function drawHistogram(own, other) {
  const sides = [own, other].filter(Boolean);
  if (!sides.length) return null;
  const low = Math.min(...sides.map((one) => one.low)), high = Math.max(...sides.map((one) => one.high));
  const width = 300, height = 70, svg = document.createElementNS(SVG, "svg");
  const x = (value) => (high > low ? (value - low) / (high - low) * (width - 2) + 1 : width / 2);
  const density = (one) => {
    const sum = one.bins.reduce((a, b) => a + b, 0) || 1, step = (one.high - one.low) / one.bins.length || 1;
    return one.bins.map((bin) => bin / sum / step);
  };
  const top = Math.max(...sides.flatMap(density)) || 1;
  const outline = (one) => {
    const parts = [], step = (one.high - one.low) / one.bins.length;
    density(one).forEach((bin, i) => {
      const y = (height - 1 - bin / top * (height - 4)).toFixed(1);
      parts.push(x(one.low + i * step).toFixed(1) + " " + y, (step > 0 ? x(one.low + (i + 1) * step) : x(one.low) + 3).toFixed(1) + " " + y);
    });
    return "M" + x(one.low).toFixed(1) + " " + (height - 1) + "L" + parts.join("L") + "L" + (step > 0 ? x(one.high) : x(one.low) + 3).toFixed(1) + " " + (height - 1);
  };
  svg.setAttribute("class", "strip large histogram");
  svg.setAttribute("viewBox", "0 0 " + width + " " + height);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  const whole = sides.every((one) => one.isWhole);
  const label = "histogram " + (whole ? "of all elements" : "of the elements in the table") + (other && own ? ", A as a line, B filled" : "") + ": " + number(low) + " to " + number(high);
  svg.setAttribute("aria-label", label);
  sides.forEach((one) => {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", outline(one) + (one === own ? "Z" : ""));
    path.setAttribute("class", one === own ? "own" : "other");
    svg.append(path);
  });
  return make("figure", {}, make("figcaption", {}, label), svg,
    whole ? null : make("figcaption", {}, "Of all elements: record with --record values=" + (nameOf(chosen).match(/^\w+/) || ["NAME"])[0]));
}

/* Text about the element with the largest difference and the first non-finite one. */
function worstText(table, other) {
  const found = [], values = table.values || [];
  const odd = values.findIndex((value) => !isFiniteCell(value) && value !== "-Inf");
  if (odd >= 0) found.push("first " + values[odd] + " of the table at " + indexText(table, odd));
  if (other && other.values && other.values.length === values.length) {
    let worst = -1, most = 0;
    values.forEach((value, i) => {
      const apart = isSameCell(value, other.values[i]) ? 0 : Math.abs(cellNumber(value) - cellNumber(other.values[i]));
      if (apart > most || (apart !== apart && most !== Infinity)) { worst = i; most = apart === apart ? apart : Infinity; }
    });
    if (worst >= 0) found.push("largest difference of the table at " + indexText(table, worst) + ": A " + other.values[worst] + ", B " + values[worst]);
  }
  return found.join("; ");
}

function drawElements(box, event, add) {
  const table = tableOf.get(event), other = otherOf.get(event), at = figuresAt[event];
  if (!/\[/.test(T[E.form[event]]) || (!table && /\[\]/.test(T[E.form[event]]))) return;
  if (!table) {
    box.push(make("p", { class: "faint" }, "The page has no table of this value: it has those of the first visit of each line, and those near the verdict."));
    return;
  }
  if (other) {
    add("value in A", other.form);
    if (other.figures) ["min", "max", "mean", "std"].forEach((name, i) => add(name + " in A", isFiniteCell(other.figures[i]) ? number(other.figures[i]) : other.figures[i]));
  }
  add("worst", worstText(table, other));
  const range = at >= 0 ? [E.figures[at], E.figures[at + 1]] : null;
  const histogram = drawHistogram(histogramOf(table, range), histogramOf(other, other && other.figures));
  if (histogram) box.push(histogram);
  if (!table.values) {
    box.push(make("p", { class: "faint" }, "Its elements were not recorded: record with --record sample=64."));
    return;
  }
  if (table.values.length === 1 && !other) return;
  box.push(make("strong", {}, "Elements"), drawCells(table, other, other ? "B" : ""));
  if (other && other.values) box.push(drawCells(other, null, "A"));
}

/* Copies through a selected field, because a page from http has no clipboard. */
function copyOld(text) {
  const field = make("textarea", { class: "skip", "aria-label": "text to copy" });
  field.value = text;
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  return isDone ? Promise.resolve() : Promise.reject(new Error("not allowed"));
}
function copyButton(text, label) {
  const button = make("button", { type: "button" }, label);
  const show = (words) => { button.textContent = words; say(words + " " + text); setTimeout(() => { button.textContent = label; }, 1500); };
  button.addEventListener("click", () => {
    (navigator.clipboard ? navigator.clipboard.writeText(text).catch(() => copyOld(text)) : copyOld(text)).then(() => show("Copied"), () => show("Not copied:"));
  });
  return button;
}

function callChain(call) {
  const chain = [];
  for (let at = call + 1; at > 0; at = C.parent[at - 1]) chain.push(at - 1);
  return chain.reverse();
}

/* Draws a series that has no value in the page: a parameter with gradients. */
function drawSeries(series) {
  const s = data.series[series], box = byId("details");
  box.replaceChildren(make("h2", {}, "Value"), make("p", {}, make("span", { class: "name" }, T[s.name]), "  ", s.site === null ? "parameter" : placeText(sites[s.site])),
    make("p", {}, count(s.gradients || 0, "gradient") + (s.bad_gradients ? ", " + s.bad_gradients + " with NaN or Inf" : "")));
  box.append(largeStrip("its gradient, over the backwards", s.gradient_strip, "gradient") || "");
}

function drawDetails() {
  const box = byId("details");
  box.replaceChildren(make("h2", {}, "Value"));
  if (chosen < 0) {
    box.append(make("p", { class: "faint" }, "Choose a value beside a line: its figures, what it was computed from, and what was computed from it."));
    return;
  }
  const series = E.series[chosen], s = data.series[series], site = placeOf(chosen), at = figuresAt[chosen];
  box.append(make("p", {}, make("span", { class: "name" }, nameOf(chosen)), "  ", placeText(site)));
  const table = make("table", {});
  const add = (name, value) => { if (value !== "" && value != null) table.append(make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value))); };
  add("value", T[E.form[chosen]]);
  if (at >= 0) ["min", "max", "mean", "std"].forEach((name, i) => add(name, number(E.figures[at + i])));
  add("not finite", nonfiniteText(chosen));
  add("change", CHANGES[changeOf(chosen)]);
  add("mark", MARKS[markOf(chosen)]);
  add("why", remarkOf(chosen));
  add("event", "#" + seq[chosen]);
  add("visits", count(s.count, "visit") + (s.nonfinite ? ", " + s.nonfinite + " with NaN or Inf" : ""));
  if (s.forms.length > 1) add("forms", s.forms.map(([form, times]) => T[form] + " × " + times).join("; "));
  const elements = [];
  drawElements(elements, chosen, add);
  box.append(table);
  if (s.gradients) add("gradients", count(s.gradients, "backward") + (s.bad_gradients ? ", " + s.bad_gradients + " with NaN or Inf" : ""));
  box.append(largeStrip("over the visits", s.strip, "") || "",
    largeStrip("its gradient, over the backwards", s.gradient_strip, "gradient") || "", ...elements);
  box.append(list("Made from", sources.get(chosen)) || "", list("Used by", targets.get(chosen)) || "");
  const chain = make("ul", {});
  for (const call of callChain(E.call[chosen])) {
    const module = moduleOf(call);
    if (!module) continue;
    chain.append(make("li", {}, data.files[module.file].functions[module.function].name + (T[module.path] ? " (" + T[module.path] + ")" : "") + "  #" + C.number[call]));
  }
  box.append(make("strong", {}, "In the call"), chain);
  const path = data.files[site.file].path + ":" + site.line;
  box.append(copyButton(path, "Copy FILE:LINE"), " ", copyButton(linkTo(chosen), "Copy link"), " ",
    copyButton("monitorch why " + data.traces[data.traces.length - 1] + " '#" + seq[chosen] + "'", "Copy why command"));
}

function hashOf(event) {
  const site = placeOf(event);
  return encodeURIComponent(data.files[site.file].name) + ":" + site.line + ":" + C.number[E.call[event]] + ":" + E.turn[event] +
    ":" + encodeURIComponent(nameOf(event)) + (parts.length > 1 ? "@" + place : "");
}

/* The link to an event: the web address of the page; for a local file only its name, because the receiver has it in another folder. */
function linkTo(event) {
  const page = /^https?:/.test(location.protocol) ? location.href.replace(/#.*/, "") :
    location.protocol === "file:" ? decodeURIComponent(fileName(location.pathname)) : "";
  return page + "#" + hashOf(event);
}

function drawArrows() {
  const old = byId("arrows");
  if (old) old.remove();
  if (chosen < 0) return;
  const site = placeOf(chosen), row = rows.get(lineKey(site.file, site.line));
  if (!row) return;
  const code = row.parentElement, top = code.getBoundingClientRect().top - code.scrollTop;
  const svg = document.createElementNS(SVG, "svg");
  svg.id = "arrows";
  svg.setAttribute("aria-hidden", "true");
  const x = row.querySelector(".no").offsetWidth - 32; /* left of the line's number */
  const yOf = (other) => { const place = other.getBoundingClientRect(); return place.top - top + 11; };
  const draw = (other, kind, isUnsure) => {
    const there = placeOf(other), from = rows.get(lineKey(there.file, there.line));
    if (there.file !== site.file || !from || from.classList.contains("hidden") || from === row) return;
    const a = yOf(from), b = yOf(row), reach = Math.min(x - 3, 6 + Math.abs(a - b) / 18);
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", "M" + x + " " + a + "C" + (x - reach) + " " + a + " " + (x - reach) + " " + b + " " + x + " " + b);
    path.setAttribute("class", kind + (isUnsure ? " unsure" : ""));
    svg.append(path);
  };
  (sources.get(chosen) || []).slice(0, 40).forEach(([event, , isUnsure]) => draw(event, "", isUnsure));
  (targets.get(chosen) || []).slice(0, 40).forEach(([event, , isUnsure]) => draw(event, "to", isUnsure));
  code.append(svg);
}

function showChosen() {
  document.querySelectorAll(".chip.chosen,.chip.from,.chip.to").forEach((other) => other.classList.remove("chosen", "from", "to"));
  document.querySelectorAll(".ln.at").forEach((row) => row.classList.remove("at"));
  if (chosen < 0) return;
  const mark = (event, kind) => {
    const site = placeOf(event), box = chipsOf.get(lineKey(site.file, site.line));
    const found = box && box.querySelector('[data-series="' + E.series[event] + '"]');
    if (found) found.classList.add(kind);
  };
  (sources.get(chosen) || []).forEach(([event]) => mark(event, "from"));
  (targets.get(chosen) || []).forEach(([event]) => mark(event, "to"));
  mark(chosen, "chosen");
  const site = placeOf(chosen), row = rows.get(lineKey(site.file, site.line));
  if (row) row.classList.add("at");
  drawArrows();
}

let isOurs = false;
function choose(event, isScrolled) {
  const old = chosen;
  chosen = event;
  const site = placeOf(event), key = functionKey(site.file, site.fn), call = E.call[event];
  const line = lineKey(site.file, site.line), changed = new Set([key]);
  const turns = () => (loopsOfFunction.get(key) || []).map((loop) => chosenTurn.get(loop.key) || 0).join();
  const before = turns(), isOther = chosenCall.get(key) !== call;
  if (isOther) chooseCall(call);
  chooseTurns(line, call, event);
  if (isOther || turns() !== before) {
    chooseAround(line, call, changed);
    changed.forEach(drawFunction);
  } else {
    if (old >= 0) drawChips(lineKey(placeOf(old).file, placeOf(old).line));
    drawChips(line);
  }
  showStep(event);
  reveal(line);
  drawDetails();
  showChosen();
  const row = rows.get(line);
  if (row && isScrolled) row.scrollIntoView({ block: "center" });
  const hash = "#" + hashOf(event);
  if (location.hash !== hash) { isOurs = true; location.hash = hash; }
  say(nameOf(event) + " at " + placeText(site));
}

function showLine(file, line) {
  const key = lineKey(file, line), row = rows.get(key);
  if (!row) return;
  reveal(key);
  document.querySelectorAll(".ln.at").forEach((other) => other.classList.remove("at"));
  row.classList.add("at");
  row.scrollIntoView({ block: "center" });
}

/* Follows `#file:line:call:turn:name`. A missing part means the first one. The turn is that of the line in the call. */
function followHash() {
  if (isOurs) { isOurs = false; return; }
  let parts;
  if (rankOfHash() !== place) { show(rankOfHash()); return; }
  try { parts = location.hash.slice(1).replace(/@\d+$/, "").split(":").map(decodeURIComponent); } catch (error) { return; }
  const file = data.files.findIndex((one) => one.name === parts[0]), line = +parts[1];
  if (file < 0 || !line) return;
  const call = callByNumber.get(+parts[2]), turn = +parts[3] || 0;
  const all = seriesOfLine.get(lineKey(file, line)) || [];
  const named = all.filter((series) => T[data.series[series].name] === parts[4]);
  for (const series of named.length ? named : all) {
    const events = call === undefined ? eventsOfSeries[series] : eventsInCall(series, call);
    const event = events.find((one) => E.turn[one] >= turn);
    if (events.length) { choose(event === undefined ? events[events.length - 1] : event, true); return; }
  }
  showLine(file, line);
}

/* ---- marks: n and p ---- */

const marked = (function findMarked() {
  const found = [];
  data.series.forEach((series, index) => {
    let isFirst = true;
    for (const event of eventsOfSeries[index]) {
      const mark = markOf(event);
      if (mark > PASSED || (nonfiniteAt[event] >= 0 && !isMask(event) && isFirst)) { found.push(event); isFirst = false; }
    }
  });
  return found.sort((a, b) => a - b);
})();
function chooseMarked(step) {
  if (!marked.length) { say("no NaN, Inf or difference"); return; }
  let at = step > 0 ? marked.findIndex((event) => event > chosen) : -1;
  if (step < 0) for (let i = marked.length - 1; i >= 0; i--) if (marked[i] < chosen) { at = i; break; }
  if (at < 0) at = step > 0 ? 0 : marked.length - 1;
  choose(marked[at], true);
  say("mark " + (at + 1) + " of " + marked.length + ": " + nameOf(marked[at]) + " at " + placeText(placeOf(marked[at])));
}

/* ---- the tree of modules ---- */

function showModule(module) {
  const call = callByNumber.get(module.call);
  if (call !== undefined) chooseCall(call);
  showLine(module.file, data.files[module.file].functions[module.function].line);
}

function buildTree() {
  const top = { children: new Map(), modules: [] };
  for (const module of data.modules) {
    const path = T[module.path], parts = path ? path.split(".") : [];
    let node = top;
    for (const part of parts) {
      if (!node.children.has(part)) node.children.set(part, { children: new Map(), modules: [], name: part });
      node = node.children.get(part);
    }
    node.modules.push(module);
  }
  return top;
}

function treeRow(label, modules, children) {
  const li = make("li", {});
  const row = make("div", { class: "row" });
  const module = modules[0];
  const inner = children && children.length ? make("ul", {}) : null;
  if (inner) {
    const button = make("button", { class: "fold", type: "button", "aria-expanded": "true", "aria-label": "fold " + label }, "▾");
    button.addEventListener("click", () => {
      const isFolded = inner.classList.toggle("hidden");
      button.textContent = isFolded ? "▸" : "▾";
      button.setAttribute("aria-expanded", String(!isFolded));
    });
    row.append(button);
    inner.append(...children);
  } else row.append(make("span", { class: "fold" }, ""));
  const open = make("button", { class: "open", type: "button" }, make("span", { class: "name" }, label));
  if (module) {
    const calls = modules.reduce((sum, one) => sum + one.count, 0), bad = modules.reduce((sum, one) => sum + one.nan, 0);
    open.append(make("span", { class: "class" }, (T[module.class] ? "  " + T[module.class].replace(/^.*\./, "") : "") + (calls > 1 ? "  ×\u00a0" + calls : "")));
    if (bad) open.append(make("span", { class: "mark bad" }, "NaN or Inf"));
    if (module.in || module.out) open.append(make("span", { class: "forms" }, (T[module.in] || "…") + " → " + (T[module.out] || "…")));
    open.addEventListener("click", () => showModule(module));
    row.append(open);
  } else row.append(make("span", { class: "name" }, label));
  li.append(row);
  if (inner) li.append(inner);
  return li;
}

function drawTree() {
  const functionName = (module) => data.files[module.file].functions[module.function].name;
  const draw = (node) => [...node.children.values()].map((child) => treeRow(child.name, child.modules, draw(child)));
  const top = buildTree(), models = make("ul", {}), functions = make("ul", {});
  for (const module of top.modules) {
    const isModel = T[module.class] && /\.forward$/.test(functionName(module));
    if (isModel) models.append(treeRow(functionName(module), [module], models.firstChild ? null : draw(top)));
    else functions.append(treeRow(functionName(module), [module], null));
  }
  if (!models.firstChild) models.append(...draw(top));
  byId("tree").replaceChildren();
  if (models.firstChild) byId("tree").append(models, make("h3", {}, "Other functions"));
  byId("tree").append(functions);
  if (parameters.length) byId("tree").append(make("h3", {}, "Gradients of parameters"), make("div", { class: "parameters" }, ...parameters.map(chip)));
}

byId("filter").addEventListener("input", () => {
  const wanted = byId("filter").value.toLowerCase();
  const visit = (li) => {
    let isFound = !wanted || li.firstElementChild.textContent.toLowerCase().includes(wanted);
    for (const child of li.querySelectorAll(":scope > ul > li")) isFound = visit(child) || isFound;
    li.classList.toggle("hidden", !isFound);
    return isFound;
  };
  document.querySelectorAll("#tree > ul > li").forEach(visit);
}, { signal });

/* ---- search ---- */

function find(text) {
  const wanted = text.toLowerCase(), found = [];
  const put = (label, go) => { if (found.length < 60) found.push({ label, go }); };
  if (!wanted) return found;
  data.series.forEach((series, index) => {
    const site = sites[series.site];
    if (!site) { if (T[series.name].toLowerCase().includes(wanted)) put(T[series.name] + "  parameter", () => drawSeries(index)); return; }
    if (eventsOfSeries[index].length && (T[series.name].toLowerCase().includes(wanted) || placeText(site).toLowerCase() === wanted)) {
      put(T[series.name] + "  " + placeText(site), () => choose(shownEvent(index) >= 0 ? shownEvent(index) : eventsOfSeries[index][0], true));
    }
  });
  data.modules.forEach((module) => {
    const label = (T[module.path] + " " + data.files[module.file].functions[module.function].name + " " + T[module.class]).trim();
    if (label.toLowerCase().includes(wanted)) put(label, () => showModule(module));
  });
  data.files.forEach((file, index) => {
    if (!file.source) return;
    file.source.split(/\r\n|\r|\n/).forEach((line, i) => {
      if (line.toLowerCase().includes(wanted)) put(file.name + ":" + (i + 1) + "  " + line.trim(), () => showLine(index, i + 1));
    });
  });
  return found;
}
const search = byId("search"), results = byId("results");
search.addEventListener("input", () => {
  const found = find(search.value.trim());
  results.replaceChildren(...found.map((one) => {
    const a = make("a", { href: "#" }, one.label);
    a.addEventListener("click", (event) => { event.preventDefault(); results.replaceChildren(); one.go(); });
    return make("li", {}, a);
  }));
  say(count(found.length, "result"));
}, { signal });
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") { const first = results.querySelector("a"); if (first) { first.click(); search.blur(); } }
  if (event.key === "ArrowDown") { const first = results.querySelector("a"); if (first) { event.preventDefault(); first.focus(); } }
  if (event.key === "Escape") { results.replaceChildren(); search.blur(); }
}, { signal });
results.addEventListener("keydown", (event) => {
  const items = [...results.querySelectorAll("a")], at = items.indexOf(document.activeElement);
  if (event.key === "ArrowDown" && items[at + 1]) { event.preventDefault(); items[at + 1].focus(); }
  if (event.key === "ArrowUp") { event.preventDefault(); (items[at - 1] || search).focus(); }
  if (event.key === "Escape") { results.replaceChildren(); search.focus(); }
}, { signal });

/* ---- lists under the verdict ---- */

const TITLES = { chain: "Where it comes from", own: "Differences of their own", inherited: "Inherited differences",
  only_a: "Only in A", only_b: "Only in B", checks: "Checks that failed" };

function eventBySeq(wanted) {
  let low = 0, high = EVENT_COUNT;
  while (low < high) { const middle = (low + high) >> 1; if (seq[middle] < wanted) low = middle + 1; else high = middle; }
  return low < EVENT_COUNT && seq[low] === wanted ? low : -1;
}

/* If the title starts with FILE:LINE, makes that a link with a copy button. Returns the list that contains only this place, and so is redundant. */
function linkTitle() {
  const h1 = part.querySelector("h1"), found = data.title.match(/^(.*?:\d+)(: .*)$/s), first = data.lists.find((one) => one.rows.length);
  const row = first && first.rows[0], event = row && row.event !== undefined ? eventBySeq(row.event) : -1;
  if (!found || event < 0 || found[1] !== row.file + ":" + row.line) return null;
  h1.replaceChildren(link(event, found[1]), found[2], " ", copyButton(found[1], "Copy FILE:LINE"));
  return first.kind === "chain" && first.rows.length === 1 ? first : null;
}

function drawLists() {
  const lists = part.querySelector(".lists"), said = linkTitle();
  lists.replaceChildren();
  for (const one of data.lists) {
    if (!one.rows.length || one === said) continue;
    const isOpen = one.kind === "chain" || one.kind === "own" || one.kind === "checks";
    const box = make("details", { open: isOpen }, make("summary", {}, TITLES[one.kind] + " (" + one.total + ")"));
    const ol = make("ol", { class: "rows" });
    for (const row of one.rows) {
      const file = data.files.findIndex((other) => other.path === row.file);
      const place = row.line ? fileName(row.file) + ":" + row.line : "unknown place";
      const event = row.event === undefined ? -1 : eventBySeq(row.event);
      const a = make(event >= 0 || file >= 0 ? "a" : "span", event >= 0 || file >= 0 ? { href: "#" + encodeURIComponent(fileName(row.file)) + ":" + row.line } : {}, place);
      if (event >= 0) a.addEventListener("click", (click) => { click.preventDefault(); choose(event, true); });
      ol.append(make("li", {}, a, "  ", row.name ? make("span", { class: "name" }, row.name) : null, row.words ? "  " + row.words : "",
        row.count > 1 ? make("span", { class: "faint" }, "  × " + row.count) : null,
        row.code ? make("div", {}, make("code", {}, row.code)) : null, row.in ? make("div", { class: "faint" }, "in " + row.in) : null));
    }
    box.append(ol);
    lists.append(box);
  }
}

function drawRun() {
  const table = make("table", {});
  const add = (name, value) => table.append(make("tr", {}, make("td", { class: "faint" }, name), make("td", {}, value)));
  data.traces.forEach((trace, i) => add(data.traces.length > 1 ? "trace " + "AB"[i] : "trace", trace));
  add("values", data.values + (EVENT_COUNT < data.values ? "; this page has " + EVENT_COUNT + " of them one by one, and all in strips and counts: a larger --max-size has more" : ""));
  if (data.unfinished) add("recording", "was not ended: the events so far");
  if (data.damaged) add("damage", "the trace is damaged: the readable part");
  data.settings.forEach(([name, value]) => add(name, value));
  if (data.command) add("made by", data.command);
  byId("run").replaceChildren(make("h2", {}, "The recording"), table);
}

/* ---- steps ---- */

let steps = []; /* the first event of each step */
function drawSteps() {
  byId("steps").replaceChildren();
  let best = null;
  data.modules.forEach((module) => {
    const calls = callsOfFunction.get(functionKey(module.file, module.function)) || [];
    const name = data.files[module.file].functions[module.function].name;
    if (T[module.class] && !T[module.path] && /\.forward$/.test(name) && calls.length > 1 && (!best || calls.length > best.length)) best = calls;
  });
  if (!best) return;
  const ofLine = new Map();
  for (const call of best) ofLine.set(C.line[call], (ofLine.get(C.line[call]) || 0) + 1);
  const line = [...ofLine].reduce((most, one) => (one[1] > most[1] ? one : most))[0];
  best = best.filter((call) => C.line[call] === line);
  if (best.length < 2) return;
  const slider = make("input", { type: "range", min: 0, max: best.length - 1, value: 0, "aria-label": "step" }), label = make("span", {});
  slider.addEventListener("input", () => { showStep(steps[+slider.value]); chooseCall(best[+slider.value]); });
  byId("steps").append(label, slider);
  steps = best.map((call, i) => startOfStep(call, i > 0 ? firstEvent[best[i - 1]] : -1));
  showStep(0);
}
/* The first event of the call's step: that of the turn of the outermost loop around it that started after the previous call. */
function startOfStep(call, before) {
  const caller = C.parent[call] - 1, module = caller >= 0 && moduleOf(caller);
  let start = firstEvent[call];
  for (let loop = module && loopOfLine.get(lineKey(module.file, C.line[call])); loop; loop = loop.parent) {
    const turns = turnEvents(loop, caller), first = turns[placeIn(turns, firstEvent[call] + 1) - 1];
    if (!(first > before)) break;
    start = first;
  }
  return start;
}
/* Shows the step that contains the event. */
function showStep(event) {
  if (!steps.length) return;
  const at = Math.max(0, placeIn(steps, event + 1) - 1), [label, slider] = byId("steps").children;
  slider.value = at;
  label.textContent = "step " + (at + 1) + " of " + steps.length;
}


/* ---- the picture ---- */

/* Shows the value of a box, by the name, line and file of its title. */
function showBox(name, fileText, line) {
  const isNamed = (series) => T[data.series[series].name] === name;
  const holdsName = (one, i) => (seriesOfLine.get(lineKey(i, line)) || []).some(isNamed);
  let index = data.files.findIndex((one, i) => (fileText ? one.name === fileText : holdsName(one, i)));
  if (index < 0) index = data.files.findIndex((one, i) => sitesOfLine.has(lineKey(i, line)));
  if (index < 0) return;
  const series = (seriesOfLine.get(lineKey(index, line)) || []).find(isNamed);
  if (series === undefined || !eventsOfSeries[series].length) { showLine(index, line); return; }
  choose(shownEvent(series) >= 0 ? shownEvent(series) : eventsOfSeries[series][0], true);
}

function listenToPicture() {
  /* A picture that is a little too wide is scaled down; a wider one scrolls. */
  part.querySelectorAll(".picture > svg").forEach((svg) => { svg.style.minWidth = Math.round(svg.viewBox.baseVal.width * 0.7) + "px"; });
  part.querySelectorAll(".picture .node").forEach((node) => {
    const title = node.querySelector("title");
    const found = title && title.textContent.match(/^(.*?) {2}(?:line |(\S+):)(\d+)/);
    if (!found) return;
    node.setAttribute("tabindex", "0");
    node.setAttribute("role", "button");
    node.ownerSVGElement.setAttribute("role", "group"); /* an image contains no buttons */
    const show = () => showBox(found[1], found[2], +found[3]);
    node.addEventListener("click", show, { signal });
    node.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); show(); } }, { signal });
  });
}

/* ---- keys ---- */

function stepCall(step) {
  if (chosen < 0) return;
  const site = placeOf(chosen), key = functionKey(site.file, site.fn), calls = callsOfFunction.get(key) || [];
  const at = calls.indexOf(chosenCall.get(key)) + step;
  if (at < 0 || at >= calls.length) return;
  const events = eventsInCall(E.series[chosen], calls[at]);
  if (events.length) choose(events[0], true); else chooseCall(calls[at]);
}
function stepTurn(step) {
  if (chosen < 0) return;
  const events = eventsInCall(E.series[chosen], E.call[chosen]), at = events.indexOf(chosen) + step;
  if (events[at] !== undefined) choose(events[at], true);
}
const KEYS = {
  "/": () => { search.focus(); search.select(); }, n: () => chooseMarked(1), p: () => chooseMarked(-1),
  "]": () => stepCall(1), "[": () => stepCall(-1), "}": () => stepTurn(1), "{": () => stepTurn(-1), t: switchTheme,
  "?": () => { byId("help").hidden = !byId("help").hidden; }, Escape: () => { byId("help").hidden = true; results.replaceChildren(); },
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "range") return;
  const act = KEYS[event.key];
  if (act) { event.preventDefault(); act(); }
}, { signal });
byId("keys").addEventListener("click", KEYS["?"], { signal });
byId("next").disabled = byId("previous").disabled = !marked.length;
byId("next").addEventListener("click", KEYS.n, { signal });
byId("previous").addEventListener("click", KEYS.p, { signal });
document.addEventListener("click", (event) => { if (!results.contains(event.target) && event.target !== search) results.replaceChildren(); }, { signal });

/* ---- the whole page ---- */

const isShown = (file) => file.sites.some((site) => site[4] > 0);
byId("files").replaceChildren();
results.replaceChildren();
data.files.forEach((file, index) => { if (isShown(file)) byId("files").append(drawFile(file, index)); });
chipsOf.forEach((box, key) => drawChips(key));
bars.forEach((bar, key) => drawBar(key));
loopsOfFunction.forEach((loops) => loops.forEach(drawLoop));
drawLists();
drawTree();
drawRun();
drawSteps();
drawDetails();
listenToPicture();
addEventListener("hashchange", followHash, { signal });
addEventListener("resize", drawArrows, { signal });
if (location.hash) followHash();
}

/* ---- the shown trace: one rank of several ---- */

const parts = [...document.querySelectorAll(".part")];
const isBad = (part) => part.querySelector(".verdict").classList.contains("bad");
let place = -1, listening = null;

/* The rank in `@N`. Without it, the shown trace; at first that is one with the cause, else a bad one, else the first. */
function rankOfHash() {
  const found = location.hash.match(/@(\d+)$/);
  if (found && +found[1] < parts.length) return +found[1];
  if (place >= 0) return place;
  const cause = parts.findIndex((part) => "cause" in part.dataset);
  return cause >= 0 ? cause : Math.max(0, parts.findIndex(isBad));
}
function drawRanks() {
  const nav = byId("ranks"), name = (part) => (part.dataset.name.match(/rank\d+/) || [part.dataset.name])[0];
  nav.hidden = parts.length < 2;
  if (nav.hidden) return;
  const slider = make("input", { type: "range", min: 0, max: parts.length - 1, value: place, "aria-label": "rank", "aria-valuetext": name(parts[place]) });
  slider.addEventListener("input", () => { chooseRank(+slider.value); byId("ranks").querySelector("input").focus(); });
  nav.replaceChildren(make("strong", {}, parts.length + " traces"), slider, ...parts.map((part, i) => {
    const title = part.querySelector("h1").textContent;
    const button = make("button", { type: "button", class: isBad(part) ? "bad" : "", "aria-pressed": String(i === place), title },
      name(part) + (isBad(part) ? " ✗ " + title.replace(/^.*?:\d+: /, "").split(":")[0] : " ✓"));
    button.addEventListener("click", () => chooseRank(i));
    return button;
  }));
}
function show(rank) {
  if (listening) listening.abort();
  listening = new AbortController();
  place = rank;
  parts.forEach((part, i) => { part.hidden = i !== rank; });
  drawRanks();
  view(parts[rank], listening.signal);
  say(parts.length > 1 ? parts[rank].dataset.name : "");
}
/* Shows another rank, at the same value if it has it. */
function chooseRank(rank) {
  if (rank < 0 || rank >= parts.length) return;
  history.replaceState(null, "", (location.hash.replace(/@\d+$/, "") || "#") + "@" + rank);
  show(rank);
}
if (parts.length > 1) document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "range") return;
  if (event.key === ".") chooseRank(place + 1);
  if (event.key === ",") chooseRank(place - 1);
});
show(rankOfHash());
root.dataset.ready = "yes";
})();
