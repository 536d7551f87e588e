"use strict";
// What every page needs: small words for numbers, the theme, tables that sort. No network.
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
const micros = (us) => (!has(us) ? "–" : us >= 1000 ? us.toFixed(1) : us >= 1 ? us.toFixed(2) : us.toFixed(3));
const factor = (x) => (!has(x) ? "–" : (x >= 10 ? x.toFixed(1) : x.toFixed(3)) + "×");
const percent = (x) => (!has(x) ? "–" : (100 * x).toFixed(1) + " %");
const terabytes = (x) => (!has(x) ? "–" : x.toFixed(2));
const count = (n) => (!has(n) ? "–" : Math.round(n).toLocaleString("en-US"));
const dollars = (x) => (!has(x) ? "–" : "$" + x.toFixed(x < 10 ? 3 : 2));
const duration = (s) => {
  if (!has(s)) return "–";
  if (s < 90) return s.toFixed(1) + " s";
  const minutes = Math.floor(s / 60);
  return minutes < 60
    ? minutes + " min " + Math.round(s % 60) + " s"
    : Math.floor(minutes / 60) + " h " + (minutes % 60) + " min";
};
const badge = (text, kind = "") => make("span", {class: "badge " + kind}, text);
const color = (name) =>
  getComputedStyle(document.documentElement)
    .getPropertyValue("--" + name)
    .trim();

// ---- theme: follows the system until the button is pressed
const redraws = [];
const dark = () =>
  document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
const showTheme = () => {
  $("theme").textContent = dark() ? "Light colours" : "Dark colours";
  redraws.forEach((redraw) => redraw());
};
$("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = dark() ? "light" : "dark";
  showTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);

// ---- tables. A column: {name, of(row) -> value to sort by, cell(row) -> text or node, n: right-aligned, wide}
function table(place, {columns, rows, caption, sort, high, page, pick, rowClass}) {
  let order = sort || null,
    shown = rows,
    limit = page || Infinity;
  const body = make("tbody"),
    more = make(
      "button",
      {
        type: "button",
        onclick: () => {
          limit += page * 5;
          fill();
        },
      },
      "",
    );
  const heads = columns.map((column, i) => {
    const head = make("th", {scope: "col", class: column.n ? "n" : ""});
    if (!column.of) {
      head.textContent = column.name;
      return head;
    }
    head.setAttribute("aria-sort", "none");
    head.append(
      make(
        "button",
        {
          type: "button",
          title: column.title,
          onclick: () => {
            order = {column: i, down: order && order.column === i ? !order.down : !!column.down};
            fill();
          },
        },
        column.name,
      ),
    );
    return head;
  });
  const sorted = () => {
    if (!order) return shown;
    const of = columns[order.column].of,
      sign = order.down ? -1 : 1;
    return shown
      .map((row, i) => [of(row), i, row])
      .sort(([a, i], [b, j]) => {
        if (has(a) !== has(b)) return has(a) ? -1 : 1; // what is missing goes last, either way
        if (!has(a) || a === b) return i - j;
        return sign * (typeof a === "string" ? a.localeCompare(b, "en", {numeric: true}) : a - b);
      })
      .map(([, , row]) => row);
  };
  function fill() {
    heads.forEach(
      (head, i) =>
        columns[i].of &&
        head.setAttribute(
          "aria-sort",
          order && order.column === i ? (order.down ? "descending" : "ascending") : "none",
        ),
    );
    const list = sorted();
    body.replaceChildren(
      ...list.slice(0, limit).map((row) => {
        const line = make("tr", {class: (pick ? "pick " : "") + (rowClass ? rowClass(row) : "")});
        for (const column of columns) {
          const value = column.cell(row);
          line.append(
            make(
              "td",
              {class: (column.n ? "n " : "") + (column.wide ? "wide " : "") + (column.name_ ? "name" : "")},
              has(value) ? value : "",
            ),
          );
        }
        if (pick)
          line.addEventListener("click", (event) => {
            if (!event.target.closest("a,button")) pick(row);
          });
        return line;
      }),
    );
    if (!list.length) body.append(make("tr", {}, make("td", {colspan: columns.length}, "Nothing fits the filter.")));
    more.hidden = list.length <= limit;
    more.textContent = "Show more (" + count(list.length - Math.min(limit, list.length)) + " left)";
  }
  place.replaceChildren(
    make(
      "div",
      {class: "scroll" + (high ? " high" : ""), tabindex: "0", role: "region", "aria-label": caption},
      make("table", {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...heads)), body),
    ),
    more,
  );
  fill();
  return {
    show(rowsNow) {
      shown = rowsNow;
      limit = page || Infinity;
      fill();
    },
    refresh: fill,
  };
}

const share = (value) =>
  has(value)
    ? make(
        "span",
        {},
        make(
          "span",
          {class: "share", "aria-hidden": "true"},
          Object.assign(make("i"), {style: "width:" + Math.min(100, 100 * value) + "%"}),
        ),
        percent(value),
      )
    : "–";
const interval = (low, high, words) =>
  has(low) && has(high) && high > low ? make("small", {}, words(low) + " to " + words(high)) : null;
const cell = (...parts) => {
  const box = make("span");
  box.append(...parts.filter(has));
  return box;
};
