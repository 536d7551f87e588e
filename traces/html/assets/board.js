"use strict";
// The board: a table for each task, device, kind of time and rules, and one filter over them all.
function board() {
  const rows = data.rows,
    sections = [];
  const groups = new Map();
  for (const row of rows) {
    const key = [row.task, row.variant, row.device_class, row.kind, row.rules].join("\u0001");
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  $("lead").textContent =
    rows.length +
    (rows.length === 1 ? " entry" : " entries") +
    " on " +
    groups.size +
    (groups.size === 1 ? " board." : " boards.");
  for (const list of groups.values()) sections.push(boardSection(list));
  if (!rows.length)
    $("boards").append(make("section", {}, make("p", {}, "No sessions were found. `onelaunch run TASK` makes one.")));
  if ((data.foreign || []).length) $("boards").append(foreignSection(data.foreign));
  if ((data.external || []).length) $("boards").append(externalSection(data.external));
  if ((data.skipped || []).length)
    $("boards").append(
      make("section", {}, make("h2", {}, "Left out"), make("ul", {}, ...data.skipped.map((s) => make("li", {}, s)))),
    );
  const apply = () => {
    const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    let all = 0;
    for (const section of sections) {
      const fit = section.rows.filter(
        (row) =>
          (!$("kind").value || row.kind === $("kind").value) &&
          (!$("ranked").checked || row.rank) &&
          words.every((word) => section.text(row).includes(word)),
      );
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
  if (row.check) words.push("checked: " + row.check);
  return make("span", {class: row.rank ? "good" : "warn"}, words.join(", "));
}

const tokensPerSecond = (row) => (has(row.tokens_per_s) ? row.tokens_per_s : row.us > 0 ? 1e6 / row.us : null);
function boardColumns(list) {
  const baselines = [...new Set(list.flatMap((row) => Object.keys(row.over || {})))].sort();
  const contexts = [...new Set(list.flatMap((row) => Object.keys(row.us_by_context || {})))].sort((a, b) => a - b);
  const any = (field) => list.some((row) => has(row[field]));
  return [
    {name: "#", n: true, of: (r) => r.rank, cell: (r) => r.rank || "–"},
    {
      name: "Agent",
      name_: true,
      of: (r) => r.agent,
      cell: (r) => (r.page ? make("a", {href: r.page}, r.agent) : r.agent),
    },
    any("model") && {name: "Model", name_: true, of: (r) => r.model, cell: (r) => r.model || "–"},
    {
      name: "µs/token",
      n: true,
      of: (r) => r.us,
      cell: (r) => cell(micros(r.us), interval(r.us_low, r.us_high, micros)),
    },
    {name: "tok/s", n: true, down: true, of: tokensPerSecond, cell: (r) => count(tokensPerSecond(r))},
    {name: "Of floor", n: true, down: true, of: (r) => r.floor_share, cell: (r) => share(r.floor_share)},
    ...baselines.map((name) => ({
      name: "× " + name,
      n: true,
      down: true,
      of: (r) => (r.over || {})[name],
      cell: (r) => factor((r.over || {})[name]),
    })),
    {name: "× seed", n: true, down: true, of: (r) => r.over_seed, cell: (r) => factor(r.over_seed)},
    ...(contexts.length < 5
      ? contexts.map((c) => ({
          name: "@" + c,
          title: "µs/token at context " + c,
          n: true,
          of: (r) => (r.us_by_context || {})[c],
          cell: (r) => micros((r.us_by_context || {})[c]),
        }))
      : []),
    any("launches") && {name: "Launches", n: true, of: (r) => r.launches, cell: (r) => count(r.launches)},
    any("barriers") && {name: "Barriers", n: true, of: (r) => r.barriers, cell: (r) => count(r.barriers)},
    {name: "Kept", n: true, of: (r) => r.decisions, cell: (r) => r.kept + "/" + r.decisions},
    {name: "To best", n: true, of: (r) => r.time_to_best_s, cell: (r) => duration(r.time_to_best_s)},
    any("output_tokens") && {
      name: "Tokens out",
      n: true,
      of: (r) => r.output_tokens,
      cell: (r) => count(r.output_tokens),
    },
    any("cost_usd") && {name: "Cost", n: true, of: (r) => r.cost_usd, cell: (r) => dollars(r.cost_usd)},
    any("runs") && {
      name: "Runs",
      title: "verified of all",
      n: true,
      of: (r) => r.runs,
      cell: (r) => cell(r.runs_verified + " of " + r.runs,
        ...(r.other_pages || []).map((page, i) => make("small", {}, make("a", {href: page}, "run " + (i + 2))))),
    },
    {name: "Status", of: (r) => status(r).textContent, cell: status},
    {
      name: "Run",
      name_: true,
      of: (r) => r.run,
      cell: (r) => (r.page ? make("a", {href: r.page}, base(r.run)) : base(r.run)),
    },
  ].filter(Boolean);
}
const base = (path) => path.replace(/\/+$/, "").split("/").pop();

function boardSection(list) {
  const first = list[0],
    modelled = first.kind === "modelled";
  const title = first.task + (first.variant ? " (" + first.variant + ")" : "") + " on " + first.device_class;
  const place = make("div");
  const node = make(
    "section",
    {},
    make("h2", {}, title),
    make(
      "p",
      {class: "badges"},
      badge(modelled ? "MODELLED, not measured" : first.kind || "no times", modelled ? "warn" : "good"),
      first.rules ? badge("rules " + (first.rules.length > 80 ? first.rules.slice(0, 77) + "…" : first.rules)) : null,
    ),
    place,
  );
  $("boards").append(node);
  const caption = title + ", " + (first.kind || "no") + " times";
  return {
    node,
    rows: list,
    table: table(place, {columns: boardColumns(list), rows: list, caption, rowClass: (r) => (r.rank ? "" : "apart")}),
    text: (row) => [row.agent, row.model, row.run, title, row.kind].join(" ").toLowerCase(),
  };
}

function externalSection(list) {
  const place = make("div"),
    node = make(
      "section",
      {},
      make("h2", {}, "Published elsewhere (not ranked)"),
      make(
        "p",
        {class: "note"},
        "Figures as their authors published them, on other devices and against other baselines.",
      ),
      place,
    );
  table(place, {
    caption: "Published results, cited",
    rows: list,
    columns: [
      {name: "Agent", name_: true, of: (r) => r.agent, cell: (r) => r.agent},
      {name: "Task", name_: true, of: (r) => r.task, cell: (r) => r.task},
      {name: "Device", name_: true, of: (r) => r.device, cell: (r) => r.device},
      {name: "×", n: true, down: true, of: (r) => r.over, cell: (r) => factor(r.over)},
      {name: "Over", of: (r) => r.baseline, cell: (r) => r.baseline},
      {
        name: "By context",
        cell: (r) =>
          Object.entries(r.over_by_context || {})
            .sort(([a], [b]) => a - b)
            .map(([c, x]) => c + ": " + x + "×")
            .join(", "),
      },
      {name: "Launches", n: true, of: (r) => r.launches, cell: (r) => count(r.launches)},
      {name: "Barriers", n: true, of: (r) => r.barriers, cell: (r) => count(r.barriers)},
      {name: "Time", n: true, of: (r) => r.active_s, cell: (r) => duration(r.active_s)},
      {name: "Tokens out", n: true, of: (r) => r.output_tokens, cell: (r) => count(r.output_tokens)},
      {
        name: "Source",
        wide: true,
        cell: (r) => (r.url ? make("a", {href: r.url, rel: "noreferrer"}, r.citation) : r.citation),
      },
    ],
  });
  return node;
}

function foreignSection(list) {
  const place = make("div"),
    node = make(
      "section",
      {},
      make("h2", {}, "Other programs' transcripts (not ranked)"),
      make("p", {class: "note"}, "What these transcripts say of themselves; nothing of it was checked here."),
      place,
    );
  table(place, {
    caption: "Transcripts",
    rows: list,
    columns: [
      {name: "Program", of: (r) => r.format, cell: (r) => (r.page ? make("a", {href: r.page}, r.format) : r.format)},
      {name: "Model", name_: true, of: (r) => r.model, cell: (r) => r.model},
      {name: "Tool calls", n: true, of: (r) => r.tool_calls, cell: (r) => count(r.tool_calls)},
      {name: "Tokens out", n: true, of: (r) => r.output_tokens, cell: (r) => count(r.output_tokens)},
      {name: "Cost", n: true, of: (r) => r.cost_usd, cell: (r) => dollars(r.cost_usd)},
      {name: "Time", n: true, of: (r) => r.active_s, cell: (r) => duration(r.active_s)},
      {name: "Figures", wide: true, cell: (r) => r.figures},
      {name: "Run", name_: true, of: (r) => r.run, cell: (r) => base(r.run)},
    ],
  });
  return node;
}
showTheme();
board();
