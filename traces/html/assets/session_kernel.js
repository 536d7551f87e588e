"use strict";
// The best kernel of a session in charts: its phases against the floor, where it stands on the roofline.
// MB over TB/s is us.
const phaseFloor = (phase) => (data.device.stream_tb_s ? phase.dram_mb / data.device.stream_tb_s : 0);
function phases() {
  if (!data.phases.length) {
    $("phases").append(make("p", {class: "note"}, "No profile of the best kernel is in the trace."));
    return;
  }
  const pick = make(
    "select",
    {id: "phase-context"},
    ...data.phases.map((p, i) => make("option", {value: i}, "context " + p.context)),
  );
  pick.value = String(data.phases.length - 1);
  const words = make("p", {class: "words", role: "status"}),
    place = make("div");
  $("phases").append(
    make("form", {class: "filters"}, make("label", {}, "At ", pick)),
    words,
    canvas("phase-chart", "Time of each phase beside the least time for its bytes; the table below has the numbers"),
    make("details", {}, make("summary", {}, "Numbers"), place),
  );
  const current = () => data.phases[+pick.value].phases;
  const columns = [
    {name: "Phase", of: (r) => r.name, cell: (r) => r.name},
    {name: "µs", n: true, down: true, of: (r) => r.us, cell: (r) => micros(r.us)},
    {name: "Floor, µs", n: true, down: true, of: phaseFloor, cell: (r) => micros(phaseFloor(r))},
    {name: "MB", n: true, down: true, of: (r) => r.dram_mb, cell: (r) => r.dram_mb.toFixed(3)},
    {
      name: "Warp instructions",
      n: true,
      down: true,
      of: (r) => r.warp_instructions,
      cell: (r) => count(r.warp_instructions),
    },
    {name: "Bound by", of: (r) => r.bound, cell: (r) => r.bound},
  ];
  const numbers = table(place, {caption: "Phases in order", rows: current(), columns, high: true});
  const say = () => {
    const list = current(),
      all = list.reduce((s, p) => s + p.us, 0),
      floor = list.reduce((s, p) => s + phaseFloor(p), 0);
    const bounds = {};
    for (const p of list) bounds[p.bound || "unknown"] = (bounds[p.bound || "unknown"] || 0) + p.us;
    words.textContent =
      list.length +
      " phases take " +
      micros(all) +
      " µs; their bytes alone would take " +
      micros(floor) +
      " µs. Bound by " +
      Object.entries(bounds)
        .sort(([, a], [, b]) => b - a)
        .map(([b, us]) => b + " " + percent(us / all))
        .join(", ") +
      ".";
    numbers.show(list);
  };
  pick.addEventListener("input", () => {
    say();
    redraws.forEach((redraw) => redraw());
  });
  say();
  chart("phase-chart", () => ({
    type: "bar",
    data: {
      labels: current().map((p) => p.name),
      datasets: [
        {label: "takes", data: current().map((p) => p.us), backgroundColor: color("c1")},
        {label: "its bytes alone", data: current().map(phaseFloor), backgroundColor: color("c2")},
      ],
    },
    options: {
      scales: {x: {grid: {display: false}, ticks: {maxRotation: 60, autoSkip: true}}, y: axis("µs")},
      plugins: {
        tooltip: {
          callbacks: {
            label: (i) => i.dataset.label + ": " + micros(i.raw) + " µs",
            afterBody: (i) => "bound by " + (current()[i[0].dataIndex].bound || "unknown"),
          },
        },
      },
    },
  }));
}

// Warp instructions a byte against warp instructions a second; without counts, the bandwidth at each context.
function roofline() {
  const chosen = data.phases[data.phases.length - 1],
    stream = data.device.stream_tb_s;
  const points = chosen ? chosen.phases.filter((p) => p.us > 0 && p.dram_mb > 0 && p.warp_instructions > 0) : [];
  if (!stream || !points.length) {
    bandwidth(stream);
    return;
  }
  // Per byte, and G a second.
  const at = (p) => ({x: p.warp_instructions / (p.dram_mb * 1e6), y: p.warp_instructions / p.us / 1e3, phase: p});
  const sum = points.reduce(
    (s, p) => ({
      name: "whole kernel",
      us: s.us + p.us,
      dram_mb: s.dram_mb + p.dram_mb,
      warp_instructions: s.warp_instructions + p.warp_instructions,
    }),
    {us: 0, dram_mb: 0, warp_instructions: 0},
  );
  const dots = points.map(at),
    whole = at(sum),
    xs = dots.map((d) => d.x);
  const clock = chosen.sm_clock_mhz,
    issue = clock && data.device.sms ? (data.device.sms * 4 * clock) / 1e3 : null; // 4 schedulers an SM
  const low = Math.min(...xs) / 2,
    high = Math.max(...xs) * 2,
    roof = (x) => Math.min(x * stream * 1e3, issue || Infinity);
  const knee = issue ? [issue / stream / 1e3] : [];
  const line = [low, ...knee.filter((x) => x > low && x < high), high].map((x) => ({x, y: roof(x)}));
  const words =
    "At context " +
    chosen.context +
    " the whole kernel issues " +
    whole.y.toFixed(1) +
    " G warp instructions a second at " +
    whole.x.toFixed(3) +
    " a byte: " +
    percent(whole.y / roof(whole.x)) +
    " of what " +
    (issue && whole.x > knee[0] ? "the schedulers can issue" : "memory allows") +
    "." +
    (issue ? "" : " The issue ceiling is not drawn: the trace holds no SM clock.");
  $("roof").append(make("p", {class: "words"}, words), canvas("roof-chart", words, "roof"));
  chart("roof-chart", () => ({
    type: "scatter",
    data: {
      datasets: [
        {
          type: "line",
          label: "ceiling",
          data: line,
          borderColor: color("c2"),
          backgroundColor: color("c2"),
          pointRadius: 0,
          pointStyle: "line",
          borderWidth: 2,
        },
        {label: "phases", data: dots, backgroundColor: color("c1"), borderColor: color("c1"), pointRadius: 4},
        {
          label: "whole kernel",
          data: [whole],
          backgroundColor: color("c3"),
          borderColor: color("c3"),
          pointRadius: 7,
          pointStyle: "rectRot",
          order: -1,
        },
      ],
    },
    options: {
      scales: {
        x: axis("warp instructions a byte", {type: "logarithmic"}),
        y: axis("G warp instructions a second", {type: "logarithmic"}),
      },
      plugins: {
        legend: {labels: {usePointStyle: true, boxHeight: 7}},
        tooltip: {
          callbacks: {
            label: (i) =>
              i.raw.phase
                ? i.raw.phase.name +
                  ": " +
                  i.raw.y.toFixed(1) +
                  " G/s, " +
                  percent(i.raw.y / roof(i.raw.x)) +
                  " of the ceiling"
                : "ceiling",
          },
        },
      },
    },
  }));
}

function bandwidth(stream) {
  const list = data.contexts.filter((c) => c.bytes > 0);
  if (!stream || !list.length) {
    $("roof").append(
      make("p", {class: "note"}, "The trace holds neither counters of phases nor floors to draw one from."),
    );
    return;
  }
  const words =
    "Needed bytes over time, against the best stream of " +
    terabytes(stream) +
    " TB/s: " +
    list.map((c) => "context " + c.context + ": " + terabytes(c.bytes / c.us / 1e6) + " TB/s").join(", ") +
    ".";
  $("roof").append(make("p", {class: "words"}, words), canvas("roof-chart", words));
  chart("roof-chart", () => ({
    type: "bar",
    data: {
      labels: list.map((c) => "context " + c.context),
      datasets: [
        {label: "this kernel, TB/s", data: list.map((c) => c.bytes / c.us / 1e6), backgroundColor: color("c1")},
        {
          type: "line",
          label: "best stream",
          data: list.map(() => stream),
          borderColor: color("c2"),
          backgroundColor: color("c2"),
          pointRadius: 3,
        },
      ],
    },
    options: {scales: {y: axis("TB/s", {min: 0})}},
  }));
}
