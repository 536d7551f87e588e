"use strict";
// A session: its numbers, charts and tables, from the JSON inside the page.
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
  return list.length && list.length === data.contexts.length
    ? Math.exp(list.reduce((sum, c) => sum + Math.log(c.floor_us), 0) / list.length)
    : null;
};

function head() {
  const terms = data.terms;
  $("title").textContent = terms.task + (terms.variant ? " (" + terms.variant + ")" : "");
  const badges = [
    badge(
      data.kind === "modelled"
        ? "MODELLED times, not measured"
        : data.kind === "measured"
          ? "measured times"
          : "no times",
      data.kind === "measured" ? "good" : "warn",
    ),
  ];
  badges.push(result.verified ? badge("verified by the closing re-grade", "good") : badge("not verified", "warn"));
  if (result.regrade && result.regrade.quarantine)
    badges.push(badge("quarantined: " + result.regrade.quarantine, "bad"));
  badges.push(badge(result.ended ? "ended: " + result.reason : "still running, or killed", result.ended ? "" : "warn"));
  if (terms.containment === "weak") badges.push(badge("weak containment", "bad"));
  $("badges").replaceChildren(...badges);
  $("lead").textContent =
    "Agent " +
    terms.agent +
    " on " +
    data.device.name +
    ", " +
    terms.started.replace("T", " ").replace(/\.\d+Z/, " UTC") +
    ", " +
    duration(data.totals.active_s) +
    " of " +
    duration(terms.wall_s) +
    (result.detail ? ". " + result.detail : "") +
    ". Run " +
    data.run +
    ".";
  $("foot").textContent = "Written by onelaunch " + terms.harness_version + " from the session's trace.";
}

function tiles() {
  const baseline = headline(),
    floor = floorOf(),
    us = result.best_us;
  const put = (name, value, small) =>
    $("tiles").append(
      make("div", {}, make("dt", {}, name), make("dd", {}, value, small ? make("small", {}, small) : null)),
    );
  put(
    "Best, µs a token",
    micros(us),
    result.best ? result.best + (data.kind === "modelled" ? ", modelled" : ", measured") : "none yet",
  );
  put("Tokens a second", us ? count(1e6 / us) : "–", "batch 1");
  if (baseline)
    put(
      "Over " + baseline.name,
      factor(us ? baseline.us / us : null),
      baseline.name + " takes " + micros(baseline.us) + " µs",
    );
  put(
    "Over the seed",
    factor(us && result.seed_us ? result.seed_us / us : null),
    "seed " + micros(result.seed_us) + " µs",
  );
  put(
    "Share of the floor",
    percent(us && floor ? floor / us : null),
    floor ? "floor " + micros(floor) + " µs" : "no floor for every context",
  );
  put("Decisions", count(data.totals.decisions), count(data.totals.kept) + " kept");
  put("Time to best", duration(result.best_t), "of " + duration(data.totals.active_s));
  put(
    "Spent on the model",
    has(data.totals.cost_usd) ? dollars(data.totals.cost_usd) : data.totals.turns ? "not told" : "nothing",
    count(data.totals.output_tokens) + " tokens out",
  );
}

let attemptTable,
  chosenId = null;
function attempts() {
  const verdicts = [...new Set(data.attempts.map((a) => a.verdict || "not judged"))].sort();
  $("attempt-verdict").append(
    make("option", {value: ""}, "all"),
    ...verdicts.map((v) => make("option", {value: v}, v)),
  );
  const tone = (a) =>
    a.verdict === "keep"
      ? "good"
      : a.verdict === "quarantine"
        ? "warn"
        : a.outcome && a.outcome !== "passed"
          ? "bad"
          : "";
  attemptTable = table($("attempts"), {
    caption: "Attempts in order of proposal",
    rows: data.attempts,
    high: true,
    page: 200,
    pick: (a) => choose(a, false),
    rowClass: (a) => (a.id === chosenId ? "chosen" : ""),
    columns: [
      {
        name: "At",
        n: true,
        of: (a) => (has(a.t) ? a.t : a.proposed),
        cell: (a) => duration(has(a.t) ? a.t : a.proposed),
      },
      {
        name: "Id",
        of: (a) => a.id,
        cell: (a) =>
          make(
            "button",
            {type: "button", class: "link", title: "Show its source", onclick: () => choose(a, true)},
            a.id,
          ),
      },
      {name: "From", of: (a) => a.parent, cell: (a) => a.parent || "–"},
      {name: "Decision", of: (a) => a.verdict, cell: (a) => make("span", {class: tone(a)}, a.verdict || "not judged")},
      {
        name: "Outcome",
        of: (a) => a.outcome,
        cell: (a) => make("span", {class: tone(a)}, (a.outcome || "–").replace("_", " ")),
      },
      {name: "µs/token", n: true, of: (a) => a.us, cell: (a) => micros(a.us)},
      {
        name: "× incumbent",
        n: true,
        down: true,
        of: (a) => a.ratio,
        cell: (a) => cell(factor(a.ratio), interval(a.low, a.high, factor)),
      },
      {name: "Predicted", n: true, of: (a) => a.prediction_us, cell: (a) => micros(a.prediction_us)},
      {
        name: "Registers",
        n: true,
        of: (a) => a.registers,
        cell: (a) =>
          has(a.registers) ? a.registers + (a.spill_bytes ? " +" + a.spill_bytes + " B spilled" : "") : "–",
      },
      {
        name: "Change and reason",
        wide: true,
        cell: (a) =>
          cell(
            a.changes,
            a.note && !a.seed ? make("small", {}, "why: " + a.note) : null,
            a.reason ? make("small", {}, a.reason) : null,
            a.failure ? make("small", {}, a.failure) : null,
          ),
      },
    ].filter((column) => column.name !== "Predicted" || data.attempts.some((a) => has(a.prediction_us))),
  });
  const apply = () => {
    const words = $("attempt-filter").value.toLowerCase().split(/\s+/).filter(Boolean),
      verdict = $("attempt-verdict").value;
    const fit = data.attempts.filter(
      (a) =>
        (!verdict || (a.verdict || "not judged") === verdict) &&
        words.every((w) =>
          [a.id, a.parent, a.changes, a.note, a.reason, a.failure, a.outcome].join(" ").toLowerCase().includes(w),
        ),
    );
    attemptTable.show(fit);
    $("attempt-count").textContent =
      fit.length === data.attempts.length ? "" : fit.length + " of " + data.attempts.length;
  };
  for (const id of ["attempt-filter", "attempt-verdict"]) $(id).addEventListener("input", apply);
}

function events() {
  const types = [...new Set(data.events.map((e) => e[2]))].sort();
  $("event-type").append(
    make("option", {value: ""}, "all"),
    ...types.map((t) => make("option", {value: t}, t.replace(/_/g, " "))),
  );
  const list = table($("events"), {
    caption:
      count(data.events.length) +
      " events" +
      (data.events_left_out
        ? ", " + count(data.events_left_out) + " more are left out (passed gates and single samples first)"
        : ""),
    rows: data.events,
    high: true,
    page: 200,
    columns: [
      {name: "No.", n: true, of: (e) => e[0], cell: (e) => e[0]},
      {name: "At", n: true, of: (e) => e[1], cell: (e) => duration(e[1])},
      {name: "Type", of: (e) => e[2], cell: (e) => e[2].replace(/_/g, " ")},
      {name: "About", of: (e) => e[3] || null, cell: (e) => e[3]},
      {name: "What", wide: true, cell: (e) => e[4]},
    ],
  });
  const apply = () => {
    const words = $("event-filter").value.toLowerCase().split(/\s+/).filter(Boolean),
      type = $("event-type").value;
    const fit = data.events.filter(
      (e) => (!type || e[2] === type) && words.every((w) => (e[3] + " " + e[4]).toLowerCase().includes(w)),
    );
    list.show(fit);
    $("event-count").textContent =
      fit.length === data.events.length ? "" : count(fit.length) + " of " + count(data.events.length);
  };
  for (const id of ["event-filter", "event-type"]) $(id).addEventListener("input", apply);
}

function terms() {
  const t = data.terms,
    d = data.device,
    list = make("dl", {class: "grid2"});
  const put = (name, value) =>
    has(value) && value !== "" && list.append(make("dt", {}, name), make("dd", {}, String(value)));
  put("Agent", t.agent);
  put("Rules", t.rules);
  put("Compiler's containment", t.containment);
  put("Target", t.target);
  put(
    "Device",
    [
      d.name,
      d.uuid,
      d.sms ? d.sms + " SMs" : "",
      d.driver_version ? "driver " + d.driver_version : "",
      d.nvrtc_version ? "NVRTC " + d.nvrtc_version : "",
    ]
      .filter(Boolean)
      .join(", "),
  );
  put(
    "Ceilings",
    d.stream_tb_s
      ? "stream " +
          terabytes(d.stream_tb_s) +
          " TB/s, grid barrier " +
          micros(d.grid_barrier_us) +
          " µs, launch " +
          micros(d.launch_us) +
          " µs" +
          (d.modelled ? ", from a device profile" : ", measured here")
      : null,
  );
  put("Cap", duration(t.wall_s) + ", of which " + duration(t.reserve_s) + " are kept for the closing re-grade");
  put("Least gain kept", percent(t.min_gain));
  put(
    "Budget",
    [has(t.budget_usd) ? dollars(t.budget_usd) : "", t.budget_tokens ? count(t.budget_tokens) + " tokens" : ""]
      .filter(Boolean)
      .join(", "),
  );
  if (data.noise && !d.modelled)
    put("A/A noise", "half-width " + percent(data.noise.half_width) + ", " + data.noise.n + " pairs");
  for (const b of data.baselines)
    put(
      "Baseline " + b.name,
      micros(b.us) +
        " µs, " +
        b.kind +
        ", " +
        b.launches +
        " launches a token" +
        (b.correct ? "" : ", NOT CORRECT") +
        (b.headline ? " (the one compared with)" : ""),
    );
  for (const c of data.controls)
    put("Control " + c.name, (c.ok ? "failed, as it must: " : "DID NOT FAIL: ") + c.outcome);
  if (data.totals.infra_errors) put("Infrastructure errors", data.totals.infra_errors);
  if (data.totals.legs > 1) put("Legs", data.totals.legs + " (resumed " + (data.totals.legs - 1) + " times)");
  if (data.torn_last_line) put("Trace", "its last line is torn; it is left out");
  $("terms").append(list);
}
showTheme();
session();
