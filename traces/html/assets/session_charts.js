"use strict";
// A session in charts, each with its numbers in words or in a table beside it.
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
const axis = (title, more = {}) =>
  Object.assign({title: {display: true, text: title}, grid: {color: color("line")}}, more);
const canvas = (id, label, size = "") =>
  make("div", {class: "chart " + size}, make("canvas", {id, role: "img", "aria-label": label}));

function progress() {
  const done = data.attempts.filter((a) => has(a.t));
  const line = [];
  let bestSoFar = null;
  for (const a of [...done].sort((x, y) => x.t - y.t))
    if (has(a.us) && a.verdict === "keep" && (bestSoFar === null || a.us < bestSoFar))
      line.push({x: a.t, y: (bestSoFar = a.us)});
  if (line.length) line.push({x: Math.max(data.totals.active_s, line[line.length - 1].x), y: bestSoFar});
  const timed = done.filter((a) => has(a.us));
  const failed = done.filter((a) => !has(a.us));
  const floor = floorOf();
  const top = Math.max(...timed.map((a) => a.us), result.seed_us || 0),
    low = Math.min(...timed.map((a) => a.us));
  const words =
    count(done.length) +
    " attempts judged: " +
    count(done.filter((a) => a.verdict === "keep").length) +
    " kept" +
    (failed.length
      ? ", " + count(failed.length) + " without a time (they failed, and stand at the upper edge)."
      : ".") +
    (line.length ? " The best went from " + micros(line[0].y) + " to " + micros(bestSoFar) + " µs a token." : "") +
    (floor ? " The floor is " + micros(floor) + " µs." : "") +
    " Choose a point to see its source.";
  $("progress-words").textContent = words;
  if (!done.length) {
    $("progress").parentElement.replaceChildren(make("p", {class: "note"}, "Nothing has been judged yet."));
    return;
  }
  const of = (list) => list.map((a) => ({x: a.t, y: has(a.us) ? a.us : (top || 1) * 1.04, attempt: a}));
  const unit =
    data.totals.active_s > 5400
      ? {div: 3600, name: "hours"}
      : data.totals.active_s > 180
        ? {div: 60, name: "minutes"}
        : {div: 1, name: "seconds"};
  // At most ten whole steps of the unit.
  const step = [1, 2, 5, 10, 15, 20, 30, 60].find((n) => data.totals.active_s / unit.div <= 10 * n) || 60;
  const log = top / low > 8;
  chart("progress", () => ({
    type: "scatter",
    data: {
      datasets: [
        {
          type: "line",
          label: "best so far",
          data: line,
          stepped: true,
          borderColor: color("c1"),
          backgroundColor: color("c1"),
          borderWidth: 2.5,
          pointRadius: 0,
          pointStyle: "line",
          order: 3,
        },
        {
          label: "kept",
          data: of(timed.filter((a) => a.verdict === "keep")),
          backgroundColor: color("c3"),
          borderColor: color("c3"),
          pointRadius: 6,
          pointStyle: "circle",
          order: 1,
        },
        {
          label: "reverted",
          data: of(timed.filter((a) => a.verdict === "revert")),
          backgroundColor: color("c6"),
          borderColor: color("c6"),
          pointRadius: 4,
          pointStyle: "rect",
          order: 2,
        },
        {
          label: "quarantined",
          data: of(timed.filter((a) => a.verdict === "quarantine")),
          backgroundColor: color("c7"),
          borderColor: color("c7"),
          pointRadius: 5,
          pointStyle: "triangle",
          order: 2,
        },
        {
          label: "failed, no time",
          data: of(failed),
          borderColor: color("bad"),
          backgroundColor: color("bad"),
          borderWidth: 2,
          pointRadius: 4,
          pointStyle: "crossRot",
          order: 2,
        },
      ].filter((set) => set.data.length),
    },
    options: {
      scales: {
        x: axis("active time, " + unit.name, {
          type: "linear",
          min: 0,
          ticks: {stepSize: step * unit.div, callback: (v) => +(v / unit.div).toFixed(2)},
        }),
        y: axis("µs a token", {type: log ? "logarithmic" : "linear"}),
      },
      plugins: {
        legend: {labels: {usePointStyle: true, boxHeight: 7}},
        tooltip: {
          callbacks: {
            label: (item) => {
              const a = item.raw.attempt;
              return a
                ? [
                    a.id + ": " + (has(a.us) ? micros(a.us) + " µs" : a.outcome) + ", " + a.verdict,
                    a.changes.slice(0, 80),
                    (a.reason || "").slice(0, 100),
                  ]
                : "best so far: " + micros(item.raw.y) + " µs";
            },
          },
        },
      },
      onClick: (event, points) => {
        const hit = points.find((p) => charts.progress.data.datasets[p.datasetIndex].data[p.index].attempt);
        if (hit) choose(charts.progress.data.datasets[hit.datasetIndex].data[hit.index].attempt, true);
      },
    },
  }));
}

const causes = {
  model: "c4",
  compile: "c2",
  gate: "c1",
  measure: "c3",
  lock_wait: "c7",
  provider_retry: "c5",
  tool: "c8",
  idle: "c6",
};
function timeSpent() {
  const parts = Object.entries(result.attribution_s || {})
    .filter(([, s]) => s > 0)
    .sort(([, a], [, b]) => b - a);
  const all = parts.reduce((sum, [, s]) => sum + s, 0);
  if (!all) {
    $("time").append(make("p", {class: "note"}, "The trace says it at the session's end, which it does not hold."));
    return;
  }
  const words = parts.map(([name, s]) => name.replace("_", " ") + " " + percent(s / all)).join(", ");
  $("time").append(canvas("time-chart", "Active time by cause: " + words, "thin"));
  chart("time-chart", () => ({
    type: "bar",
    data: {
      labels: [""],
      datasets: parts.map(([name, s]) => ({
        label: name.replace("_", " "),
        data: [s],
        backgroundColor: color(causes[name] || "c6"),
      })),
    },
    options: {
      indexAxis: "y",
      scales: {x: {stacked: true, display: false, max: all}, y: {stacked: true, display: false}},
      plugins: {
        legend: {display: false},
        tooltip: {callbacks: {label: (i) => i.dataset.label + ": " + duration(i.raw)}},
      },
    },
  }));
  const place = make("div");
  $("time").append(place);
  const swatch = (name) =>
    Object.assign(make("span", {"aria-hidden": "true"}), {
      style:
        "display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:7px;background:var(--" +
        (causes[name] || "c6") +
        ")",
    });
  table(place, {
    caption: duration(all) + " of active time",
    rows: parts,
    columns: [
      {name: "Cause", of: (r) => r[0], cell: (r) => cell(swatch(r[0]), r[0].replace("_", " "))},
      {name: "Time", n: true, of: (r) => r[1], cell: (r) => duration(r[1])},
      {name: "Share", n: true, of: (r) => r[1], cell: (r) => percent(r[1] / all)},
    ],
  });
}

function costs() {
  if (!data.spend.length) {
    $("cost").append(make("p", {class: "note"}, "No model was asked in this session; it cost no tokens."));
    return;
  }
  const priced = data.spend.some((s) => has(s[2])),
    last = data.spend[data.spend.length - 1];
  const words =
    count(data.totals.turns) +
    (data.totals.turns === 1 ? " turn, " : " turns, ") +
    count(data.totals.input_tokens) +
    " tokens in, " +
    count(last[1]) +
    " tokens out" +
    (priced ? ", " + dollars(last[2]) : "; what they cost was not told");
  $("cost").append(make("p", {class: "words"}, words + "."), canvas("cost-chart", "Spent over active time: " + words));
  chart("cost-chart", () => ({
    type: "line",
    data: {
      datasets: [
        {
          label: priced ? "US dollars so far" : "tokens out so far",
          data: [
            {x: 0, y: 0},
            ...data.spend.map((s) => ({x: s[0], y: priced ? s[2] : s[1]})),
            {x: data.totals.active_s, y: priced ? last[2] : last[1]},
          ],
          stepped: true,
          pointRadius: 0,
          borderColor: color("c4"),
          backgroundColor: color("c4"),
        },
      ],
    },
    options: {
      scales: {
        x: axis("active time, seconds", {type: "linear", min: 0}),
        y: axis(priced ? "US dollars" : "tokens out", {min: 0}),
      },
      plugins: {legend: {display: false}},
    },
  }));
}

function best() {
  const stream = data.device.stream_tb_s;
  if (!data.contexts.length) {
    $("best").append(make("p", {class: "note"}, "There is no time of a best kernel yet."));
    return;
  }
  const place = make("div"),
    baseline = headline();
  $("best").append(place);
  table(place, {
    caption: (result.best || "The best") + " by context" + (result.verified ? ", as re-graded at the close" : ""),
    rows: data.contexts,
    columns: [
      {name: "Context", n: true, of: (r) => r.context, cell: (r) => count(r.context)},
      {name: "µs/token", n: true, of: (r) => r.us, cell: (r) => cell(micros(r.us), interval(r.low, r.high, micros))},
      {name: "Floor, µs", n: true, of: (r) => r.floor_us, cell: (r) => micros(r.floor_us)},
      {
        name: "Of floor",
        n: true,
        down: true,
        of: (r) => r.floor_us / r.us,
        cell: (r) => share(r.floor_us ? r.floor_us / r.us : null),
      },
      {name: "MB a token", n: true, of: (r) => r.bytes, cell: (r) => (r.bytes ? (r.bytes / 1e6).toFixed(2) : "–")},
      {
        name: "TB/s of needed bytes",
        n: true,
        of: (r) => r.bytes / r.us,
        cell: (r) => (r.bytes ? terabytes(r.bytes / r.us / 1e6) + (stream ? " of " + terabytes(stream) : "") : "–"),
      },
      ...(baseline
        ? [
            {
              name: "× " + baseline.name,
              n: true,
              down: true,
              of: (r) => r.baseline_us / r.us,
              cell: (r) => factor(r.baseline_us ? r.baseline_us / r.us : null),
            },
          ]
        : []),
    ],
  });
}
