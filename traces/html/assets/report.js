"use strict";
// Draws the board or a session from the JSON inside the page. No network; a kernel's source is a script in sources/.
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);

const make = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
};
const has = (value) => value !== null && value !== undefined;
const micros = (us) => !has(us) ? "–" : us >= 1000 ? us.toFixed(1) : us >= 1 ? us.toFixed(2) : us.toFixed(3);
const factor = (x) => !has(x) ? "–" : (x >= 10 ? x.toFixed(1) : x.toFixed(3)) + "×";
const percent = (x) => !has(x) ? "–" : (100 * x).toFixed(1) + " %";
const count = (n) => !has(n) ? "–" : Math.round(n).toLocaleString("en-US");
const dollars = (x) => !has(x) ? "–" : "$" + x.toFixed(x < 10 ? 3 : 2);
const duration = (s) => {
  if (!has(s)) return "–";
  if (s < 90) return s.toFixed(1) + " s";
  const minutes = Math.floor(s / 60);
  return minutes < 60 ? minutes + " min " + Math.round(s % 60) + " s" : Math.floor(minutes / 60) + " h " + (minutes % 60) + " min";
};
const badge = (text, kind = "") => make("span", {class: "badge " + kind}, text);
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

// ---- theme: follows the system until the button is pressed
const redraws = [];
const dark = () => document.documentElement.dataset.theme
  ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const showTheme = () => { $("theme").textContent = dark() ? "Light colours" : "Dark colours"; redraws.forEach((redraw) => redraw()); };
$("theme").addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; showTheme(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);

// ---- tables. A column: {name, of(row) -> value to sort by, cell(row) -> text or node, n: right-aligned, wide}
function table(place, {columns, rows, caption, sort, high, page, pick, rowClass}) {
  let order = sort || null, shown = rows, limit = page || Infinity;
  const body = make("tbody"), more = make("button", {type: "button", onclick: () => { limit += page * 5; fill(); }}, "");
  const heads = columns.map((column, i) => {
    const head = make("th", {scope: "col", class: column.n ? "n" : ""});
    if (!column.of) { head.textContent = column.name; return head; }
    head.setAttribute("aria-sort", "none");
    head.append(make("button", {type: "button", title: column.title, onclick: () => {
      order = {column: i, down: order && order.column === i ? !order.down : !!column.down};
      fill();
    }}, column.name));
    return head;
  });
  const sorted = () => {
    if (!order) return shown;
    const of = columns[order.column].of, sign = order.down ? -1 : 1;
    return shown.map((row, i) => [of(row), i, row]).sort(([a, i], [b, j]) => {
      if (has(a) !== has(b)) return has(a) ? -1 : 1;                 // what is missing goes last, either way
      if (!has(a) || a === b) return i - j;
      return sign * (typeof a === "string" ? a.localeCompare(b, "en", {numeric: true}) : a - b);
    }).map(([, , row]) => row);
  };
  function fill() {
    heads.forEach((head, i) => columns[i].of &&
      head.setAttribute("aria-sort", order && order.column === i ? (order.down ? "descending" : "ascending") : "none"));
    const list = sorted();
    body.replaceChildren(...list.slice(0, limit).map((row) => {
      const line = make("tr", {class: (pick ? "pick " : "") + (rowClass ? rowClass(row) : "")});
      for (const column of columns) {
        const value = column.cell(row);
        line.append(make("td", {class: (column.n ? "n " : "") + (column.wide ? "wide " : "") + (column.name_ ? "name" : "")}, has(value) ? value : ""));
      }
      if (pick) line.addEventListener("click", (event) => { if (!event.target.closest("a,button")) pick(row); });
      return line;
    }));
    if (!list.length) body.append(make("tr", {}, make("td", {colspan: columns.length}, "Nothing fits the filter.")));
    more.hidden = list.length <= limit;
    more.textContent = "Show more (" + count(list.length - Math.min(limit, list.length)) + " left)";
  }
  place.replaceChildren(
    make("div", {class: "scroll" + (high ? " high" : ""), tabindex: "0", role: "region", "aria-label": caption},
      make("table", {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...heads)), body)), more);
  fill();
  return {show(rowsNow) { shown = rowsNow; limit = page || Infinity; fill(); }, refresh: fill};
}

const share = (value) => has(value)
  ? make("span", {}, make("span", {class: "share", "aria-hidden": "true"},
      Object.assign(make("i"), {style: "width:" + Math.min(100, 100 * value) + "%"})), percent(value))
  : "–";
const interval = (low, high, words) => has(low) && has(high) && high > low ? make("small", {}, words(low) + " to " + words(high)) : null;
const cell = (...parts) => { const box = make("span"); box.append(...parts.filter(has)); return box; };

// ---- the board
function board() {
  const rows = data.rows, sections = [];
  const groups = new Map();
  for (const row of rows) {
    const key = [row.task, row.variant, row.device_class, row.kind, row.rules].join("\u0001");
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  $("lead").textContent = rows.length + (rows.length === 1 ? " entry" : " entries") + " on " + groups.size + (groups.size === 1 ? " board." : " boards.");
  for (const list of groups.values()) sections.push(boardSection(list));
  if (!rows.length) $("boards").append(make("section", {}, make("p", {}, "No sessions were found. `onelaunch run TASK` makes one.")));
  if ((data.foreign || []).length) $("boards").append(foreignSection(data.foreign));
  if ((data.external || []).length) $("boards").append(externalSection(data.external));
  if ((data.skipped || []).length) $("boards").append(make("section", {}, make("h2", {}, "Left out"), make("ul", {}, ...data.skipped.map((s) => make("li", {}, s)))));
  const apply = () => {
    const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    let all = 0;
    for (const section of sections) {
      const fit = section.rows.filter((row) => (!$("kind").value || row.kind === $("kind").value) &&
        (!$("ranked").checked || row.rank) && words.every((word) => section.text(row).includes(word)));
      section.node.hidden = !fit.length;
      section.table.show(fit);
      all += fit.length;
    }
    $("count").textContent = all === rows.length ? "" : all + " of " + rows.length + " entries";
  };
  for (const id of ["filter", "kind", "ranked"]) $(id).addEventListener("input", apply);
}

function status(row) {
  const words = [row.finished ? (row.verified ? "verified" : "unverified") : "unfinished"];
  if (row.quarantine) words.push("quarantined");
  if (row.containment === "weak") words.push("weak containment");
  return make("span", {class: row.rank ? "good" : "warn"}, words.join(", "));
}

const tokensPerSecond = (row) => has(row.tokens_per_s) ? row.tokens_per_s : row.us > 0 ? 1e6 / row.us : null;
function boardColumns(list) {
  const baselines = [...new Set(list.flatMap((row) => Object.keys(row.over || {})))].sort();
  const contexts = [...new Set(list.flatMap((row) => Object.keys(row.us_by_context || {})))].sort((a, b) => a - b);
  const any = (field) => list.some((row) => has(row[field]));
  return [
    {name: "#", n: true, of: (r) => r.rank, cell: (r) => r.rank || "–"},
    {name: "Agent", name_: true, of: (r) => r.agent, cell: (r) => r.page ? make("a", {href: r.page}, r.agent) : r.agent},
    any("model") && {name: "Model", name_: true, of: (r) => r.model, cell: (r) => r.model || "–"},
    {name: "µs/token", n: true, of: (r) => r.us, cell: (r) => cell(micros(r.us), interval(r.us_low, r.us_high, micros))},
    {name: "tok/s", n: true, down: true, of: tokensPerSecond, cell: (r) => count(tokensPerSecond(r))},
    {name: "Of floor", n: true, down: true, of: (r) => r.floor_share, cell: (r) => share(r.floor_share)},
    ...baselines.map((name) => ({name: "× " + name, n: true, down: true, of: (r) => (r.over || {})[name], cell: (r) => factor((r.over || {})[name])})),
    {name: "× seed", n: true, down: true, of: (r) => r.over_seed, cell: (r) => factor(r.over_seed)},
    ...(contexts.length < 5 ? contexts.map((c) => ({name: "@" + c, title: "µs/token at context " + c, n: true, of: (r) => (r.us_by_context || {})[c], cell: (r) => micros((r.us_by_context || {})[c])})) : []),
    any("launches") && {name: "Launches", n: true, of: (r) => r.launches, cell: (r) => count(r.launches)},
    any("barriers") && {name: "Barriers", n: true, of: (r) => r.barriers, cell: (r) => count(r.barriers)},
    {name: "Kept", n: true, of: (r) => r.decisions, cell: (r) => r.kept + "/" + r.decisions},
    {name: "To best", n: true, of: (r) => r.time_to_best_s, cell: (r) => duration(r.time_to_best_s)},
    any("output_tokens") && {name: "Tokens out", n: true, of: (r) => r.output_tokens, cell: (r) => count(r.output_tokens)},
    any("cost_usd") && {name: "Cost", n: true, of: (r) => r.cost_usd, cell: (r) => dollars(r.cost_usd)},
    any("runs") && {name: "Runs", title: "verified of all", n: true, of: (r) => r.runs, cell: (r) => r.runs_verified + " of " + r.runs},
    {name: "Status", of: (r) => status(r).textContent, cell: status},
    {name: "Run", name_: true, of: (r) => r.run, cell: (r) => r.page ? make("a", {href: r.page}, base(r.run)) : base(r.run)},
  ].filter(Boolean);
}
const base = (path) => path.replace(/\/+$/, "").split("/").pop();

function boardSection(list) {
  const first = list[0], modelled = first.kind === "modelled";
  const title = first.task + (first.variant ? " (" + first.variant + ")" : "") + " on " + first.device_class;
  const place = make("div");
  const node = make("section", {}, make("h2", {}, title),
    make("p", {class: "badges"}, badge(modelled ? "MODELLED, not measured" : first.kind || "no times", modelled ? "warn" : "good"),
      first.rules ? badge("rules " + (first.rules.length > 80 ? first.rules.slice(0, 77) + "…" : first.rules)) : null), place);
  $("boards").append(node);
  const caption = title + ", " + (first.kind || "no") + " times";
  return {node, rows: list, table: table(place, {columns: boardColumns(list), rows: list, caption, rowClass: (r) => r.rank ? "" : "apart"}),
          text: (row) => [row.agent, row.model, row.run, title, row.kind].join(" ").toLowerCase()};
}

function externalSection(list) {
  const place = make("div"), node = make("section", {}, make("h2", {}, "Published elsewhere (not ranked)"),
    make("p", {class: "note"}, "Figures as their authors published them, on other devices and against other baselines."), place);
  table(place, {caption: "Published results, cited", rows: list, columns: [
    {name: "Agent", name_: true, of: (r) => r.agent, cell: (r) => r.agent},
    {name: "Task", name_: true, of: (r) => r.task, cell: (r) => r.task},
    {name: "Device", name_: true, of: (r) => r.device, cell: (r) => r.device},
    {name: "×", n: true, down: true, of: (r) => r.over, cell: (r) => factor(r.over)},
    {name: "Over", of: (r) => r.baseline, cell: (r) => r.baseline},
    {name: "By context", cell: (r) => Object.entries(r.over_by_context || {}).sort(([a], [b]) => a - b).map(([c, x]) => c + ": " + x + "×").join(", ")},
    {name: "Launches", n: true, of: (r) => r.launches, cell: (r) => count(r.launches)},
    {name: "Barriers", n: true, of: (r) => r.barriers, cell: (r) => count(r.barriers)},
    {name: "Time", n: true, of: (r) => r.active_s, cell: (r) => duration(r.active_s)},
    {name: "Tokens out", n: true, of: (r) => r.output_tokens, cell: (r) => count(r.output_tokens)},
    {name: "Source", wide: true, cell: (r) => r.url ? make("a", {href: r.url, rel: "noreferrer"}, r.citation) : r.citation}]});
  return node;
}

function foreignSection(list) {
  const place = make("div"), node = make("section", {}, make("h2", {}, "Other programs' transcripts (not ranked)"),
    make("p", {class: "note"}, "What these transcripts say of themselves; nothing of it was checked here."), place);
  table(place, {caption: "Transcripts", rows: list, columns: [
    {name: "Program", of: (r) => r.format, cell: (r) => r.page ? make("a", {href: r.page}, r.format) : r.format},
    {name: "Model", name_: true, of: (r) => r.model, cell: (r) => r.model},
    {name: "Tool calls", n: true, of: (r) => r.tool_calls, cell: (r) => count(r.tool_calls)},
    {name: "Tokens out", n: true, of: (r) => r.output_tokens, cell: (r) => count(r.output_tokens)},
    {name: "Cost", n: true, of: (r) => r.cost_usd, cell: (r) => dollars(r.cost_usd)},
    {name: "Time", n: true, of: (r) => r.active_s, cell: (r) => duration(r.active_s)},
    {name: "Figures", wide: true, cell: (r) => r.figures},
    {name: "Run", name_: true, of: (r) => r.run, cell: (r) => base(r.run)}]});
  return node;
}
// ---- charts
const charts = {};
function chart(id, build) {
  const draw = () => {
    if (charts[id]) charts[id].destroy();
    Chart.defaults.color = color("dim");
    Chart.defaults.borderColor = color("line");
    Chart.defaults.font.family = "system-ui, sans-serif";
    const config = build();
    config.options = Object.assign({responsive: true, maintainAspectRatio: false, animation: false}, config.options);
    charts[id] = new Chart($(id), config);
  };
  redraws.push(draw);
  draw();
}
const axis = (title, more = {}) => Object.assign({title: {display: true, text: title}, grid: {color: color("line")}}, more);
const canvas = (id, label, size = "") => make("div", {class: "chart " + size}, make("canvas", {id, role: "img", "aria-label": label}));

// ---- a session
function session() {
  head();
  tiles();
  progress();
  timeSpent();
  costs();
  best();
  phases();
  roofline();
  attempts();
  sources();
  events();
  terms();
}
const result = data.result || {};
const headline = () => (data.baselines || []).find((b) => b.headline && b.kind === data.kind && has(b.us));
const floorOf = () => {
  const list = (data.contexts || []).filter((c) => c.floor_us > 0);
  return list.length && list.length === data.contexts.length ? Math.exp(list.reduce((sum, c) => sum + Math.log(c.floor_us), 0) / list.length) : null;
};

function head() {
  const terms = data.terms;
  $("title").textContent = terms.task + (terms.variant ? " (" + terms.variant + ")" : "");
  const badges = [badge(data.kind === "modelled" ? "MODELLED times, not measured" : data.kind === "measured" ? "measured times" : "no times", data.kind === "measured" ? "good" : "warn")];
  badges.push(result.verified ? badge("verified by the closing re-grade", "good") : badge("not verified", "warn"));
  if (result.regrade && result.regrade.quarantine) badges.push(badge("quarantined: " + result.regrade.quarantine, "bad"));
  badges.push(badge(result.ended ? "ended: " + result.reason : "still running, or killed", result.ended ? "" : "warn"));
  if (terms.containment === "weak") badges.push(badge("weak containment", "bad"));
  $("badges").replaceChildren(...badges);
  $("lead").textContent = "Agent " + terms.agent + " on " + data.device.name + ", " + terms.started.replace("T", " ").replace(/\.\d+Z/, " UTC") + ", " +
    duration(data.totals.active_s) + " of " + duration(terms.wall_s) + (result.detail ? ". " + result.detail : "") + ". Run " + data.run + ".";
  $("foot").textContent = "Written by onelaunch " + terms.harness_version + " from the session's trace.";
}

function tiles() {
  const baseline = headline(), floor = floorOf(), us = result.best_us;
  const put = (name, value, small) => $("tiles").append(make("div", {}, make("dt", {}, name), make("dd", {}, value, small ? make("small", {}, small) : null)));
  put("Best, µs a token", micros(us), result.best ? result.best + (data.kind === "modelled" ? ", modelled" : ", measured") : "none yet");
  put("Tokens a second", us ? count(1e6 / us) : "–", "batch 1");
  if (baseline) put("Over " + baseline.name, factor(us ? baseline.us / us : null), baseline.name + " takes " + micros(baseline.us) + " µs");
  put("Over the seed", factor(us && result.seed_us ? result.seed_us / us : null), "seed " + micros(result.seed_us) + " µs");
  put("Share of the floor", percent(us && floor ? floor / us : null), floor ? "floor " + micros(floor) + " µs" : "no floor for every context");
  put("Decisions", count(data.totals.decisions), count(data.totals.kept) + " kept");
  put("Time to best", duration(result.best_t), "of " + duration(data.totals.active_s));
  put("Spent on the model", has(data.totals.cost_usd) ? dollars(data.totals.cost_usd) : data.totals.turns ? "not told" : "nothing", count(data.totals.output_tokens) + " tokens out");
}

function progress() {
  const done = data.attempts.filter((a) => has(a.t));
  const line = [];
  let bestSoFar = null;
  for (const a of [...done].sort((x, y) => x.t - y.t))
    if (has(a.us) && a.verdict === "keep" && (bestSoFar === null || a.us < bestSoFar)) line.push({x: a.t, y: bestSoFar = a.us});
  if (line.length) line.push({x: Math.max(data.totals.active_s, line[line.length - 1].x), y: bestSoFar});
  const timed = done.filter((a) => has(a.us));
  const failed = done.filter((a) => !has(a.us));
  const floor = floorOf();
  const top = Math.max(...timed.map((a) => a.us), result.seed_us || 0), low = Math.min(...timed.map((a) => a.us));
  const words = count(done.length) + " attempts judged: " + count(done.filter((a) => a.verdict === "keep").length) + " kept" +
    (failed.length ? ", " + count(failed.length) + " without a time (they failed, and stand at the upper edge)." : ".") + (line.length ? " The best went from " + micros(line[0].y) + " to " + micros(bestSoFar) + " µs a token." : "") +
    (floor ? " The floor is " + micros(floor) + " µs." : "") + " Choose a point to see its source.";
  $("progress-words").textContent = words;
  if (!done.length) { $("progress").parentElement.replaceChildren(make("p", {class: "note"}, "Nothing has been judged yet.")); return; }
  const of = (list) => list.map((a) => ({x: a.t, y: has(a.us) ? a.us : (top || 1) * 1.04, attempt: a}));
  const unit = data.totals.active_s > 5400 ? {div: 3600, name: "hours"} : data.totals.active_s > 180 ? {div: 60, name: "minutes"} : {div: 1, name: "seconds"};
  const log = top / low > 8;
  chart("progress", () => ({
    type: "scatter",
    data: {datasets: [
      {type: "line", label: "best so far", data: line, stepped: true, borderColor: color("c1"), backgroundColor: color("c1"), borderWidth: 2.5, pointRadius: 0, pointStyle: "line", order: 3},
      {label: "kept", data: of(timed.filter((a) => a.verdict === "keep")), backgroundColor: color("c3"), borderColor: color("c3"), pointRadius: 6, pointStyle: "circle", order: 1},
      {label: "reverted", data: of(timed.filter((a) => a.verdict === "revert")), backgroundColor: color("c6"), borderColor: color("c6"), pointRadius: 4, pointStyle: "rect", order: 2},
      {label: "quarantined", data: of(timed.filter((a) => a.verdict === "quarantine")), backgroundColor: color("c7"), borderColor: color("c7"), pointRadius: 5, pointStyle: "triangle", order: 2},
      {label: "failed, no time", data: of(failed), borderColor: color("bad"), backgroundColor: color("bad"), borderWidth: 2, pointRadius: 4, pointStyle: "crossRot", order: 2},
    ].filter((set) => set.data.length)},
    options: {
      scales: {x: axis("active time, " + unit.name, {type: "linear", min: 0, ticks: {callback: (v) => +(v / unit.div).toFixed(2)}}),
               y: axis("µs a token", {type: log ? "logarithmic" : "linear"})},
      plugins: {legend: {labels: {usePointStyle: true, boxHeight: 7}}, tooltip: {callbacks: {label: (item) => {
        const a = item.raw.attempt;
        return a ? [a.id + ": " + (has(a.us) ? micros(a.us) + " µs" : a.outcome) + ", " + a.verdict, a.changes.slice(0, 80), (a.reason || "").slice(0, 100)] : "best so far: " + micros(item.raw.y) + " µs";
      }}}},
      onClick: (event, points) => { const hit = points.find((p) => charts.progress.data.datasets[p.datasetIndex].data[p.index].attempt); if (hit) choose(charts.progress.data.datasets[hit.datasetIndex].data[hit.index].attempt, true); },
    },
  }));
}

const causes = {model: "c4", compile: "c2", gate: "c1", measure: "c3", lock_wait: "c7", provider_retry: "c5", tool: "c8", idle: "c6"};
function timeSpent() {
  const parts = Object.entries(result.attribution_s || {}).filter(([, s]) => s > 0).sort(([, a], [, b]) => b - a);
  const all = parts.reduce((sum, [, s]) => sum + s, 0);
  if (!all) { $("time").append(make("p", {class: "note"}, "The trace says it at the session's end, which it does not hold.")); return; }
  const words = parts.map(([name, s]) => name.replace("_", " ") + " " + percent(s / all)).join(", ");
  $("time").append(canvas("time-chart", "Active time by cause: " + words, "thin"));
  chart("time-chart", () => ({type: "bar", data: {labels: [""], datasets: parts.map(([name, s]) => ({label: name.replace("_", " "), data: [s], backgroundColor: color(causes[name] || "c6")}))},
    options: {indexAxis: "y", scales: {x: {stacked: true, display: false, max: all}, y: {stacked: true, display: false}}, plugins: {legend: {display: false}, tooltip: {callbacks: {label: (i) => i.dataset.label + ": " + duration(i.raw)}}}}}));
  const place = make("div");
  $("time").append(place);
  const swatch = (name) => Object.assign(make("span", {"aria-hidden": "true"}), {style: "display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:7px;background:var(--" + (causes[name] || "c6") + ")"});
  table(place, {caption: duration(all) + " of active time", rows: parts, columns: [
    {name: "Cause", of: (r) => r[0], cell: (r) => cell(swatch(r[0]), r[0].replace("_", " "))},
    {name: "Time", n: true, of: (r) => r[1], cell: (r) => duration(r[1])}, {name: "Share", n: true, of: (r) => r[1], cell: (r) => percent(r[1] / all)}]});
}

function costs() {
  if (!data.spend.length) { $("cost").append(make("p", {class: "note"}, "No model was asked in this session; it cost no tokens.")); return; }
  const priced = data.spend.some((s) => has(s[2])), last = data.spend[data.spend.length - 1];
  const words = count(data.totals.turns) + " turns, " + count(data.totals.input_tokens) + " tokens in, " + count(last[1]) + " tokens out" + (priced ? ", " + dollars(last[2]) : "; what they cost was not told");
  $("cost").append(make("p", {class: "words"}, words + "."), canvas("cost-chart", "Spent over active time: " + words));
  chart("cost-chart", () => ({type: "line", data: {datasets: [
      {label: priced ? "US dollars so far" : "tokens out so far", data: data.spend.map((s) => ({x: s[0], y: priced ? s[2] : s[1]})), stepped: true, pointRadius: 0, borderColor: color("c4"), backgroundColor: color("c4")}]},
    options: {scales: {x: axis("active time, seconds", {type: "linear", min: 0}), y: axis(priced ? "US dollars" : "tokens out", {min: 0})}, plugins: {legend: {display: false}}}}));
}

function best() {
  const stream = data.device.stream_tb_s;
  if (!data.contexts.length) { $("best").append(make("p", {class: "note"}, "There is no time of a best kernel yet.")); return; }
  const place = make("div"), baseline = headline();
  $("best").append(place);
  table(place, {caption: (result.best || "The best") + " by context" + (result.verified ? ", as re-graded at the close" : ""), rows: data.contexts, columns: [
    {name: "Context", n: true, of: (r) => r.context, cell: (r) => count(r.context)},
    {name: "µs/token", n: true, of: (r) => r.us, cell: (r) => cell(micros(r.us), interval(r.low, r.high, micros))},
    {name: "Floor, µs", n: true, of: (r) => r.floor_us, cell: (r) => micros(r.floor_us)},
    {name: "Of floor", n: true, down: true, of: (r) => r.floor_us / r.us, cell: (r) => share(r.floor_us ? r.floor_us / r.us : null)},
    {name: "MB a token", n: true, of: (r) => r.bytes, cell: (r) => r.bytes ? (r.bytes / 1e6).toFixed(2) : "–"},
    {name: "TB/s of needed bytes", n: true, of: (r) => r.bytes / r.us, cell: (r) => r.bytes ? (r.bytes / r.us / 1e6).toFixed(3) + (stream ? " of " + stream : "") : "–"},
    ...(baseline ? [{name: "× " + baseline.name, n: true, down: true, of: (r) => r.baseline_us / r.us, cell: (r) => factor(r.baseline_us ? r.baseline_us / r.us : null)}] : [])]});
}

const phaseFloor = (phase) => data.device.stream_tb_s ? phase.dram_mb / data.device.stream_tb_s : 0;  // MB over TB/s is us
function phases() {
  if (!data.phases.length) { $("phases").append(make("p", {class: "note"}, "No profile of the best kernel is in the trace.")); return; }
  const pick = make("select", {id: "phase-context"}, ...data.phases.map((p, i) => make("option", {value: i}, "context " + p.context)));
  pick.value = String(data.phases.length - 1);
  const words = make("p", {class: "words", role: "status"}), place = make("div");
  $("phases").append(make("form", {class: "filters"}, make("label", {}, "At ", pick)), words, canvas("phase-chart", "Time of each phase beside the least time for its bytes; the table below has the numbers"), make("details", {}, make("summary", {}, "Numbers"), place));
  const current = () => data.phases[+pick.value].phases;
  const columns = [{name: "Phase", of: (r) => r.name, cell: (r) => r.name}, {name: "µs", n: true, down: true, of: (r) => r.us, cell: (r) => micros(r.us)},
    {name: "Floor, µs", n: true, down: true, of: phaseFloor, cell: (r) => micros(phaseFloor(r))}, {name: "MB", n: true, down: true, of: (r) => r.dram_mb, cell: (r) => r.dram_mb.toFixed(3)},
    {name: "Warp instructions", n: true, down: true, of: (r) => r.warp_instructions, cell: (r) => count(r.warp_instructions)}, {name: "Bound by", of: (r) => r.bound, cell: (r) => r.bound}];
  const numbers = table(place, {caption: "Phases in order", rows: current(), columns, high: true});
  const say = () => {
    const list = current(), all = list.reduce((s, p) => s + p.us, 0), floor = list.reduce((s, p) => s + phaseFloor(p), 0);
    const bounds = {};
    for (const p of list) bounds[p.bound || "unknown"] = (bounds[p.bound || "unknown"] || 0) + p.us;
    words.textContent = list.length + " phases take " + micros(all) + " µs; their bytes alone would take " + micros(floor) + " µs. Bound by " +
      Object.entries(bounds).sort(([, a], [, b]) => b - a).map(([b, us]) => b + " " + percent(us / all)).join(", ") + ".";
    numbers.show(list);
  };
  pick.addEventListener("input", () => { say(); redraws.forEach((redraw) => redraw()); });
  say();
  chart("phase-chart", () => ({type: "bar", data: {labels: current().map((p) => p.name), datasets: [
      {label: "takes", data: current().map((p) => p.us), backgroundColor: color("c1")}, {label: "its bytes alone", data: current().map(phaseFloor), backgroundColor: color("c2")}]},
    options: {scales: {x: {grid: {display: false}, ticks: {maxRotation: 60, autoSkip: true}}, y: axis("µs")}, plugins: {tooltip: {callbacks: {label: (i) => i.dataset.label + ": " + micros(i.raw) + " µs", afterBody: (i) => "bound by " + (current()[i[0].dataIndex].bound || "unknown")}}}}}));
}

// Warp instructions a byte against warp instructions a second; without counts, the bandwidth at each context.
function roofline() {
  const chosen = data.phases[data.phases.length - 1], stream = data.device.stream_tb_s;
  const points = chosen ? chosen.phases.filter((p) => p.us > 0 && p.dram_mb > 0 && p.warp_instructions > 0) : [];
  if (!stream || !points.length) { bandwidth(stream); return; }
  const at = (p) => ({x: p.warp_instructions / (p.dram_mb * 1e6), y: p.warp_instructions / p.us / 1e3, phase: p});  // per byte, G/s
  const sum = points.reduce((s, p) => ({name: "whole kernel", us: s.us + p.us, dram_mb: s.dram_mb + p.dram_mb, warp_instructions: s.warp_instructions + p.warp_instructions}), {us: 0, dram_mb: 0, warp_instructions: 0});
  const dots = points.map(at), whole = at(sum), xs = dots.map((d) => d.x);
  const clock = chosen.sm_clock_mhz, issue = clock && data.device.sms ? data.device.sms * 4 * clock / 1e3 : null;  // 4 schedulers an SM
  const low = Math.min(...xs) / 2, high = Math.max(...xs) * 2, roof = (x) => Math.min(x * stream * 1e3, issue || Infinity);
  const knee = issue ? [issue / stream / 1e3] : [];
  const line = [low, ...knee.filter((x) => x > low && x < high), high].map((x) => ({x, y: roof(x)}));
  const words = "At context " + chosen.context + " the whole kernel issues " + whole.y.toFixed(1) + " G warp instructions a second at " + whole.x.toFixed(3) + " a byte: " +
    percent(whole.y / roof(whole.x)) + " of what " + (issue && whole.x > knee[0] ? "the schedulers can issue" : "memory allows") + "." + (issue ? "" : " The issue ceiling is not drawn: the trace holds no SM clock.");
  $("roof").append(make("p", {class: "words"}, words), canvas("roof-chart", words, "roof"));
  chart("roof-chart", () => ({type: "scatter", data: {datasets: [
      {type: "line", label: "ceiling", data: line, borderColor: color("c2"), backgroundColor: color("c2"), pointRadius: 0, pointStyle: "line", borderWidth: 2},
      {label: "phases", data: dots, backgroundColor: color("c1"), borderColor: color("c1"), pointRadius: 4},
      {label: "whole kernel", data: [whole], backgroundColor: color("c3"), borderColor: color("c3"), pointRadius: 7, pointStyle: "rectRot", order: -1}]},
    options: {scales: {x: axis("warp instructions a byte", {type: "logarithmic"}), y: axis("G warp instructions a second", {type: "logarithmic"})},
      plugins: {legend: {labels: {usePointStyle: true, boxHeight: 7}}, tooltip: {callbacks: {label: (i) => i.raw.phase ? i.raw.phase.name + ": " + i.raw.y.toFixed(1) + " G/s, " + percent(i.raw.y / roof(i.raw.x)) + " of the ceiling" : "ceiling"}}}}}));
}

function bandwidth(stream) {
  const list = data.contexts.filter((c) => c.bytes > 0);
  if (!stream || !list.length) { $("roof").append(make("p", {class: "note"}, "The trace holds neither counters of phases nor floors to draw one from.")); return; }
  const words = "Needed bytes over time, against the best stream of " + stream + " TB/s: " + list.map((c) => "context " + c.context + ": " + (c.bytes / c.us / 1e6).toFixed(2) + " TB/s").join(", ") + ".";
  $("roof").append(make("p", {class: "words"}, words), canvas("roof-chart", words));
  chart("roof-chart", () => ({type: "bar", data: {labels: list.map((c) => "context " + c.context), datasets: [
      {label: "this kernel, TB/s", data: list.map((c) => c.bytes / c.us / 1e6), backgroundColor: color("c1")}, {type: "line", label: "best stream", data: list.map(() => stream), borderColor: color("c2"), backgroundColor: color("c2"), pointRadius: 3}]},
    options: {scales: {y: axis("TB/s", {min: 0})}}}));
}

let attemptTable, chosenId = null;
function attempts() {
  const verdicts = [...new Set(data.attempts.map((a) => a.verdict || "not judged"))].sort();
  $("attempt-verdict").append(make("option", {value: ""}, "all"), ...verdicts.map((v) => make("option", {value: v}, v)));
  const tone = (a) => a.verdict === "keep" ? "good" : a.verdict === "quarantine" ? "warn" : a.outcome && a.outcome !== "passed" ? "bad" : "";
  attemptTable = table($("attempts"), {caption: "Attempts in order of proposal", rows: data.attempts, high: true, page: 200, pick: (a) => choose(a, false),
    rowClass: (a) => a.id === chosenId ? "chosen" : "", columns: [
    {name: "At", n: true, of: (a) => has(a.t) ? a.t : a.proposed, cell: (a) => duration(has(a.t) ? a.t : a.proposed)},
    {name: "Id", of: (a) => a.id, cell: (a) => make("button", {type: "button", class: "link", title: "Show its source", onclick: () => choose(a, true)}, a.id)},
    {name: "From", of: (a) => a.parent, cell: (a) => a.parent || "–"},
    {name: "Decision", of: (a) => a.verdict, cell: (a) => make("span", {class: tone(a)}, a.verdict || "not judged")},
    {name: "Outcome", of: (a) => a.outcome, cell: (a) => make("span", {class: tone(a)}, (a.outcome || "–").replace("_", " "))},
    {name: "µs/token", n: true, of: (a) => a.us, cell: (a) => micros(a.us)},
    {name: "× incumbent", n: true, down: true, of: (a) => a.ratio, cell: (a) => cell(factor(a.ratio), interval(a.low, a.high, factor))},
    {name: "Predicted", n: true, of: (a) => a.prediction_us, cell: (a) => micros(a.prediction_us)},
    {name: "Registers", n: true, of: (a) => a.registers, cell: (a) => has(a.registers) ? a.registers + (a.spill_bytes ? " +" + a.spill_bytes + " B spilled" : "") : "–"},
    {name: "Change and reason", wide: true, cell: (a) => cell(a.changes, a.note && !a.seed ? make("small", {}, "why: " + a.note) : null, a.reason ? make("small", {}, a.reason) : null, a.failure ? make("small", {}, a.failure) : null)}]
    .filter((column) => column.name !== "Predicted" || data.attempts.some((a) => has(a.prediction_us)))});
  const apply = () => {
    const words = $("attempt-filter").value.toLowerCase().split(/\s+/).filter(Boolean), verdict = $("attempt-verdict").value;
    const fit = data.attempts.filter((a) => (!verdict || (a.verdict || "not judged") === verdict) &&
      words.every((w) => [a.id, a.parent, a.changes, a.note, a.reason, a.failure, a.outcome].join(" ").toLowerCase().includes(w)));
    attemptTable.show(fit);
    $("attempt-count").textContent = fit.length === data.attempts.length ? "" : fit.length + " of " + data.attempts.length;
  };
  for (const id of ["attempt-filter", "attempt-verdict"]) $(id).addEventListener("input", apply);
}

// ---- sources: each is a script that calls onelaunchSource(sha, text)
const texts = new Map(), waiting = new Map();
window.onelaunchSource = (sha, text) => texts.set(sha, text);
function script(path) {
  if (!waiting.has(path)) waiting.set(path, new Promise((resolve) => {
    document.head.append(make("script", {src: path, onload: () => resolve(true), onerror: () => resolve(false)}));
  }));
  return waiting.get(path);
}
const highlighter = () => script("assets/highlight.js");

function sources() {
  const options = () => data.attempts.map((a) => make("option", {value: a.id}, a.id + (a.verdict ? ", " + a.verdict : "") + (has(a.us) ? ", " + micros(a.us) + " µs" : "")));
  $("source-of").append(...options());
  $("source-against").append(make("option", {value: ""}, "nothing"), ...options());
  for (const id of ["source-of", "source-against"]) $(id).addEventListener("input", () => showSource());
  const start = data.attempts.find((a) => a.id === result.best) || data.attempts[0];
  if (!start) { $("source-section").hidden = true; return; }
  $("source-of").value = start.id;
  $("source").append(make("p", {}, "Choose an attempt, or ", make("button", {type: "button", id: "source-open", onclick: () => choose(start, false)}, "show " + start.id + " against its parent"), "."));
  // The highlighter is large: it is loaded when the source comes into view, not when the page opens.
  if (!window.IntersectionObserver) return;
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    seen.disconnect();
    if (!chosenId) choose(start, false);
  });
  seen.observe($("source"));
}

function choose(attempt, jump) {
  chosenId = attempt.id;
  attemptTable.refresh();
  $("source-of").value = attempt.id;
  $("source-against").value = data.attempts.some((a) => a.id === attempt.parent) ? attempt.parent : "";
  showSource();
  if (jump) { $("source-section").scrollIntoView(); $("source").focus({preventScroll: true}); }
}

async function showSource() {
  const find = (id) => data.attempts.find((a) => a.id === id), a = find($("source-of").value), b = find($("source-against").value);
  const say = (text) => { $("source").replaceChildren(make("p", {}, text)); $("source-count").textContent = ""; };
  const load = async (attempt) => {
    if (!texts.has(attempt.source) && !data.missing_sources[attempt.source]) await script("sources/" + attempt.source + ".js");
    return texts.get(attempt.source);
  };
  await highlighter();
  const now = await load(a), before = b ? await load(b) : null;
  if (!has(now) || (b && !has(before))) return say("The source is not here: " + (data.missing_sources[(has(now) ? b : a).source] || "its file is missing"));
  if (!b) { $("source-count").textContent = now.split("\n").length + " lines"; return show(lines(now).map((html, i) => ["", i + 1, "", html])); }
  if (now === before) { $("source-count").textContent = a.id + " and " + b.id + " have the same source; they differ in: " + a.changes; return show(lines(now).map((html, i) => ["", i + 1, i + 1, html])); }
  const rows = merged(before, now);
  $("source-count").textContent = rows.filter((r) => r[0] === "add").length + " lines added, " + rows.filter((r) => r[0] === "del").length + " removed";
  show(folded(rows));
}

// The highlighted text line by line; a span that goes over a line's end is closed there and opened again.
function lines(text) {
  if (!window.hljs) return text.split("\n").map((line) => line.replace(/&/g, "&amp;").replace(/</g, "&lt;"));
  const open = [];
  return window.hljs.highlight("cpp", text, true).value.split("\n").map((line) => {
    const start = open.join("");
    for (const tag of line.match(/<span[^>]*>|<\/span>/g) || []) tag === "</span>" ? open.pop() : open.push(tag);
    return start + line + "</span>".repeat(open.length);
  });
}

function show(rows) {
  const sides = rows.some((r) => r[2] !== "");
  $("source").replaceChildren(make("table", {}, make("tbody", {}, ...rows.map(([kind, left, right, html]) => {
    const line = make("tr", {class: kind});
    if (kind === "skip") { line.append(make("td", {colspan: 4}, html)); return line; }
    line.append(make("td", {class: "ln"}, String(left)));
    if (sides) line.append(make("td", {class: "ln"}, String(right)), make("td", {class: "mark", "aria-label": kind === "add" ? "added" : kind === "del" ? "removed" : ""}, kind === "add" ? "+" : kind === "del" ? "−" : " "));
    const code = make("td");
    code.innerHTML = html || " ";  // from the highlighter, which escapes the text
    line.append(code);
    return line;
  }))));
}

// Rows of both texts, by the greedy O(ND) shortest edit script; past its limit the rest counts as replaced.
function merged(before, now) {
  const a = before.split("\n"), b = now.split("\n"), ha = lines(before), hb = lines(now), rows = [];
  let start = 0, endA = a.length, endB = b.length;
  while (start < endA && start < endB && a[start] === b[start]) ++start;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) --endA, --endB;
  for (let i = 0; i < start; ++i) rows.push(["", i + 1, i + 1, hb[i]]);
  for (const [kind, i, j] of edits(a.slice(start, endA), b.slice(start, endB)))
    rows.push(kind === "del" ? ["del", start + i + 1, "", ha[start + i]] : kind === "add" ? ["add", "", start + j + 1, hb[start + j]] : ["", start + i + 1, start + j + 1, hb[start + j]]);
  for (let i = endA; i < a.length; ++i) rows.push(["", i + 1, endB + i - endA + 1, ha[i]]);
  return rows;
}
function edits(a, b) {
  const n = a.length, m = b.length, limit = Math.min(n + m, 2000), trail = [];
  let v = new Map([[1, 0]]), found = -1;
  for (let d = 0; d <= limit && found < 0; ++d) {
    trail.push(new Map(v));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && (v.get(k - 1) ?? -1) < (v.get(k + 1) ?? -1)) ? v.get(k + 1) ?? 0 : v.get(k - 1) + 1;
      while (x < n && x - k < m && a[x] === b[x - k]) ++x;
      v.set(k, x);
      if (x >= n && x - k >= m) { found = d; break; }
    }
  }
  if (found < 0) return [...a.map((_, i) => ["del", i, 0]), ...b.map((_, j) => ["add", 0, j])];
  const out = [];
  let x = n, y = m;
  for (let d = found; d >= 0; --d) {
    const before = trail[d], k = x - y;
    const up = k === -d || (k !== d && (before.get(k - 1) ?? -1) < (before.get(k + 1) ?? -1)), from = up ? k + 1 : k - 1;
    const px = before.get(from) ?? 0, py = px - from;
    while (x > 0 && y > 0 && x > (d ? px + (up ? 0 : 1) : 0) && y > (d ? py + (up ? 1 : 0) : 0)) out.push(["", --x, --y]);
    if (d > 0) up ? out.push(["add", 0, --y]) : out.push(["del", --x, 0]);
  }
  return out.reverse();
}
function folded(rows) {
  const near = new Array(rows.length).fill(false), around = 4;
  rows.forEach((row, i) => { if (row[0]) for (let j = Math.max(0, i - around); j <= Math.min(rows.length - 1, i + around); ++j) near[j] = true; });
  const out = [];
  for (let i = 0; i < rows.length;) {
    if (near[i]) { out.push(rows[i++]); continue; }
    let j = i;
    while (j < rows.length && !near[j]) ++j;
    out.push(["skip", "", " ", (j - i) + " equal lines"]);
    i = j;
  }
  return out;
}

function events() {
  const types = [...new Set(data.events.map((e) => e[2]))].sort();
  $("event-type").append(make("option", {value: ""}, "all"), ...types.map((t) => make("option", {value: t}, t.replace(/_/g, " "))));
  const list = table($("events"), {caption: count(data.events.length) + " events" + (data.events_left_out ? ", " + count(data.events_left_out) + " more are left out (passed gates and single samples first)" : ""),
    rows: data.events, high: true, page: 200, columns: [
    {name: "No.", n: true, of: (e) => e[0], cell: (e) => e[0]}, {name: "At", n: true, of: (e) => e[1], cell: (e) => duration(e[1])},
    {name: "Type", of: (e) => e[2], cell: (e) => e[2].replace(/_/g, " ")}, {name: "About", of: (e) => e[3] || null, cell: (e) => e[3]}, {name: "What", wide: true, cell: (e) => e[4]}]});
  const apply = () => {
    const words = $("event-filter").value.toLowerCase().split(/\s+/).filter(Boolean), type = $("event-type").value;
    const fit = data.events.filter((e) => (!type || e[2] === type) && words.every((w) => (e[3] + " " + e[4]).toLowerCase().includes(w)));
    list.show(fit);
    $("event-count").textContent = fit.length === data.events.length ? "" : count(fit.length) + " of " + count(data.events.length);
  };
  for (const id of ["event-filter", "event-type"]) $(id).addEventListener("input", apply);
}

function terms() {
  const t = data.terms, d = data.device, list = make("dl", {class: "grid2"});
  const put = (name, value) => has(value) && value !== "" && list.append(make("dt", {}, name), make("dd", {}, String(value)));
  put("Agent", t.agent); put("Rules", t.rules); put("Compiler's containment", t.containment); put("Target", t.target);
  put("Device", [d.name, d.uuid, d.sms ? d.sms + " SMs" : "", d.driver_version ? "driver " + d.driver_version : "", d.nvrtc_version ? "NVRTC " + d.nvrtc_version : ""].filter(Boolean).join(", "));
  put("Ceilings", d.stream_tb_s ? "stream " + d.stream_tb_s + " TB/s, grid barrier " + micros(d.grid_barrier_us) + " µs, launch " + micros(d.launch_us) + " µs" + (d.modelled ? ", from a device profile" : ", measured here") : null);
  put("Cap", duration(t.wall_s) + ", of which " + duration(t.reserve_s) + " are kept for the closing re-grade");
  put("Least gain kept", percent(t.min_gain)); put("Budget", [has(t.budget_usd) ? dollars(t.budget_usd) : "", t.budget_tokens ? count(t.budget_tokens) + " tokens" : ""].filter(Boolean).join(", "));
  if (data.noise && !d.modelled) put("A/A noise", "half-width " + percent(data.noise.half_width) + ", " + data.noise.n + " pairs");
  for (const b of data.baselines) put("Baseline " + b.name, micros(b.us) + " µs, " + b.kind + ", " + b.launches + " launches a token" + (b.correct ? "" : ", NOT CORRECT") + (b.headline ? " (the one compared with)" : ""));
  for (const c of data.controls) put("Control " + c.name, (c.ok ? "failed, as it must: " : "DID NOT FAIL: ") + c.outcome);
  if (data.totals.infra_errors) put("Infrastructure errors", data.totals.infra_errors);
  if (data.totals.legs > 1) put("Legs", data.totals.legs + " (resumed " + (data.totals.legs - 1) + " times)");
  if (data.torn_last_line) put("Trace", "its last line is torn; it is left out");
  $("terms").append(list);
}
showTheme();
if (document.body.dataset.page === "board") board();
else session();
