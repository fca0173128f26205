// The frame of every chart: title, drawing, its data as a table, and the figure to take away.

function download(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A drawing that stands alone: with its background, without what only this page can do. */
function standalone(svg) {
  const copy = svg.cloneNode(true);
  copy.removeAttribute("tabindex");
  for (const each of copy.querySelectorAll("[data-tip]")) {
    const title = shape("title", {}, each.getAttribute("data-tip"));
    each.removeAttribute("data-tip");
    if (each.tagName !== "text") each.prepend(title);
  }
  copy.prepend(shape("rect", { width: "100%", height: "100%", fill: colours().ground }));
  return new XMLSerializer().serializeToString(copy);
}

function savePicture(svg, name) {
  const address = URL.createObjectURL(new Blob([standalone(svg)], { type: "image/svg+xml" }));
  const image = new Image();
  image.onload = () => {
    const canvas = element("canvas", { width: svg.width.baseVal.value * 2, height: svg.height.baseVal.value * 2 });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(`${name}.png`, blob));
    URL.revokeObjectURL(address);
  };
  image.src = address;
}

/** A cell of a CSV file; text that a spreadsheet would take for a formula is marked as text. */
function csvCell(value) {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csvText = ({ columns, rows }) => [columns, ...rows].map((row) => row.map(csvCell).join(",")).join("\n") + "\n";

function tableOf({ columns, rows }) {
  const textual = columns.map((_, k) => rows.some((row) => typeof row[k] === "string" && row[k] !== ""));
  const cell = (tag, value, k) => element(tag, { class: textual[k] ? "text" : undefined, scope: tag === "th" ? "col" : undefined }, typeof value === "number" ? number(value, 4) : String(value));
  return element("table", {},
    element("thead", {}, element("tr", {}, ...columns.map((name, k) => cell("th", name, k)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((value, k) => cell("td", value, k))))));
}

/** key names the files; make(width) gives { chart, table } or { nothing: why }. */
function figureFrame({ key, title, about, legend, make }) {
  const plot = element("div", { class: "plot" });
  const summary = element("summary", {}, "Data as a table");
  const rows = element("div", { class: "rows", tabindex: 0, role: "region", "aria-label": `${title}: data` });
  const details = element("details", {}, summary, rows);
  let current = null;
  const fill = () => rows.replaceChildren(...(details.open && current ? [tableOf(current.table)] : []));
  details.addEventListener("toggle", fill);
  const save = (text, act) => element("button", { type: "button", onclick: () => current && act() }, text);
  const tools = element("div", { class: "tools" },
    save("SVG", () => download(`${key}.svg`, new Blob([standalone(current.chart)], { type: "image/svg+xml" }))),
    save("PNG", () => savePicture(current.chart, key)),
    save("CSV", () => download(`${key}.csv`, new Blob([csvText(current.table)], { type: "text/csv" }))),
    details);
  const notes = element("p", { class: "about" });
  const frame = element("figure", { id: `figure-${key}` },
    element("figcaption", {}, element("h3", {}, title), notes), legend ? legend() : null, plot, tools);
  frame.draw = () => {
    const made = make(Math.max(300, Math.floor(plot.clientWidth || 300)));
    notes.textContent = typeof about === "function" ? about() : about;
    current = made.nothing ? null : made;
    tools.hidden = !current;
    plot.replaceChildren(made.nothing ? element("p", { class: "note" }, made.nothing) : made.chart);
    if (current) summary.textContent = `Data as a table (${plural(made.table.rows.length, "row")})`;
    fill();
  };
  return frame;
}

function kindLegend() {
  const ink = colours();
  const item = (kind, text) => {
    const key = shape("svg", { width: 11, height: 11, "aria-hidden": "true" });
    key.append(kind === "mean" ? diamond(5.5, 5.5, 4.5, { fill: ink.ground, stroke: ink.mark, "stroke-width": 1.4 })
      : shape("circle", { cx: 5.5, cy: 5.5, r: 4, fill: ink[kind] }));
    return element("li", {}, key, text);
  };
  const kinds = new Set(data.names.algorithm.map((_, who) => kindOf(who)));
  const words = { baseline: `baseline (${data.standards.baselines.join(", ")})`, independent: "data-independent", dependent: "data-dependent", other: "not in the catalogue" };
  return element("ul", { class: "legend" },
    ...Object.entries(words).filter(([kind]) => kinds.has(kind)).map(([kind, text]) => item(kind, text)),
    item("mean", "mean over datasets"));
}
