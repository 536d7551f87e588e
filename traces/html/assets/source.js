"use strict";
// A candidate's source, highlighted, and its diff to another. Each source is a script in sources/ that calls
// onelaunchSource(sha, text), so that a page opened from a file can load it when it is looked at.
const texts = new Map(),
  waiting = new Map();
window.onelaunchSource = (sha, text) => texts.set(sha, text);
function script(path) {
  if (!waiting.has(path))
    waiting.set(
      path,
      new Promise((resolve) => {
        document.head.append(make("script", {src: path, onload: () => resolve(true), onerror: () => resolve(false)}));
      }),
    );
  return waiting.get(path);
}
const highlighter = () => script("assets/highlight.js");

function sources() {
  const options = () =>
    data.attempts.map((a) =>
      make(
        "option",
        {value: a.id},
        a.id + (a.verdict ? ", " + a.verdict : "") + (has(a.us) ? ", " + micros(a.us) + " µs" : ""),
      ),
    );
  $("source-of").append(...options());
  $("source-against").append(make("option", {value: ""}, "nothing"), ...options());
  for (const id of ["source-of", "source-against"]) $(id).addEventListener("input", () => showSource());
  const start = data.attempts.find((a) => a.id === result.best) || data.attempts[0];
  if (!start) {
    $("source-section").hidden = true;
    return;
  }
  $("source-of").value = start.id;
  $("source").append(
    make(
      "p",
      {},
      "Choose an attempt, or ",
      make(
        "button",
        {type: "button", id: "source-open", onclick: () => choose(start, false)},
        "show " + start.id + " against its parent",
      ),
      ".",
    ),
  );
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
  if (jump) {
    $("source-section").scrollIntoView();
    $("source").focus({preventScroll: true});
  }
}

async function showSource() {
  const find = (id) => data.attempts.find((a) => a.id === id),
    a = find($("source-of").value),
    b = find($("source-against").value);
  const say = (text) => {
    $("source").replaceChildren(make("p", {}, text));
    $("source-count").textContent = "";
  };
  const load = async (attempt) => {
    if (!texts.has(attempt.source) && !data.missing_sources[attempt.source])
      await script("sources/" + attempt.source + ".js");
    return texts.get(attempt.source);
  };
  await highlighter();
  const now = await load(a),
    before = b ? await load(b) : null;
  if (!has(now) || (b && !has(before)))
    return say("The source is not here: " + (data.missing_sources[(has(now) ? b : a).source] || "its file is missing"));
  if (!b) {
    $("source-count").textContent = now.split("\n").length + " lines";
    return show(lines(now).map((html, i) => ["", i + 1, "", html]));
  }
  if (now === before) {
    $("source-count").textContent = a.id + " and " + b.id + " have the same source; they differ in: " + a.changes;
    return show(lines(now).map((html, i) => ["", i + 1, i + 1, html]));
  }
  const rows = merged(before, now);
  $("source-count").textContent =
    rows.filter((r) => r[0] === "add").length +
    " lines added, " +
    rows.filter((r) => r[0] === "del").length +
    " removed";
  show(folded(rows));
}

// The highlighted text line by line; a span that goes over a line's end is closed there and opened again.
function lines(text) {
  if (!window.hljs) return text.split("\n").map((line) => line.replace(/&/g, "&amp;").replace(/</g, "&lt;"));
  const open = [];
  return window.hljs
    .highlight("cpp", text, true)
    .value.split("\n")
    .map((line) => {
      const start = open.join("");
      for (const tag of line.match(/<span[^>]*>|<\/span>/g) || []) tag === "</span>" ? open.pop() : open.push(tag);
      return start + line + "</span>".repeat(open.length);
    });
}

function show(rows) {
  const sides = rows.some((r) => r[2] !== "");
  $("source").replaceChildren(
    make(
      "table",
      {},
      make(
        "tbody",
        {},
        ...rows.map(([kind, left, right, html]) => {
          const line = make("tr", {class: kind});
          if (kind === "skip") {
            line.append(make("td", {colspan: 4}, html));
            return line;
          }
          line.append(make("td", {class: "ln"}, String(left)));
          if (sides)
            line.append(
              make("td", {class: "ln"}, String(right)),
              make(
                "td",
                {class: "mark", "aria-label": kind === "add" ? "added" : kind === "del" ? "removed" : ""},
                kind === "add" ? "+" : kind === "del" ? "−" : " ",
              ),
            );
          const code = make("td");
          code.innerHTML = html || " "; // from the highlighter, which escapes the text
          line.append(code);
          return line;
        }),
      ),
    ),
  );
}

// Rows of both texts, by the greedy O(ND) shortest edit script; past its limit the rest counts as replaced.
function merged(before, now) {
  const a = before.split("\n"),
    b = now.split("\n"),
    ha = lines(before),
    hb = lines(now),
    rows = [];
  let start = 0,
    endA = a.length,
    endB = b.length;
  while (start < endA && start < endB && a[start] === b[start]) ++start;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) (--endA, --endB);
  for (let i = 0; i < start; ++i) rows.push(["", i + 1, i + 1, hb[i]]);
  for (const [kind, i, j] of edits(a.slice(start, endA), b.slice(start, endB)))
    rows.push(
      kind === "del"
        ? ["del", start + i + 1, "", ha[start + i]]
        : kind === "add"
          ? ["add", "", start + j + 1, hb[start + j]]
          : ["", start + i + 1, start + j + 1, hb[start + j]],
    );
  for (let i = endA; i < a.length; ++i) rows.push(["", i + 1, endB + i - endA + 1, ha[i]]);
  return rows;
}
function edits(a, b) {
  const n = a.length,
    m = b.length,
    limit = Math.min(n + m, 2000),
    trail = [];
  let v = new Map([[1, 0]]),
    found = -1;
  for (let d = 0; d <= limit && found < 0; ++d) {
    trail.push(new Map(v));
    for (let k = -d; k <= d; k += 2) {
      let x =
        k === -d || (k !== d && (v.get(k - 1) ?? -1) < (v.get(k + 1) ?? -1)) ? (v.get(k + 1) ?? 0) : v.get(k - 1) + 1;
      while (x < n && x - k < m && a[x] === b[x - k]) ++x;
      v.set(k, x);
      if (x >= n && x - k >= m) {
        found = d;
        break;
      }
    }
  }
  if (found < 0) return [...a.map((_, i) => ["del", i, 0]), ...b.map((_, j) => ["add", 0, j])];
  const out = [];
  let x = n,
    y = m;
  for (let d = found; d >= 0; --d) {
    const before = trail[d],
      k = x - y;
    const up = k === -d || (k !== d && (before.get(k - 1) ?? -1) < (before.get(k + 1) ?? -1)),
      from = up ? k + 1 : k - 1;
    const px = before.get(from) ?? 0,
      py = px - from;
    while (x > 0 && y > 0 && x > (d ? px + (up ? 0 : 1) : 0) && y > (d ? py + (up ? 1 : 0) : 0))
      out.push(["", --x, --y]);
    if (d > 0) up ? out.push(["add", 0, --y]) : out.push(["del", --x, 0]);
  }
  return out.reverse();
}
function folded(rows) {
  const near = new Array(rows.length).fill(false),
    around = 4;
  rows.forEach((row, i) => {
    if (row[0]) for (let j = Math.max(0, i - around); j <= Math.min(rows.length - 1, i + around); ++j) near[j] = true;
  });
  const out = [];
  for (let i = 0; i < rows.length;) {
    if (near[i]) {
      out.push(rows[i++]);
      continue;
    }
    let j = i;
    while (j < rows.length && !near[j]) ++j;
    out.push(["skip", "", " ", j - i + " equal lines"]);
    i = j;
  }
  return out;
}
