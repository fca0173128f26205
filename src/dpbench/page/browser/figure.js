// The frame of every chart: title, drawing, its data as a table, and the figure to take away.

function download(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** What markers mean, of what is on this page, and if "mean" or "lines" are among the parts those: [{ text, draw(x, y) }]. */
function legendItems(parts) {
  const ink = colours();
  const kinds = new Set(distinct(view.rows, "algorithm").map(kindOf));
  const words = { baseline: `baseline (${data.standards.baselines.join(", ")})`, independent: "data-independent", dependent: "data-dependent", other: "not in the catalogue" };
  const items = Object.entries(words).filter(([kind]) => kinds.has(kind))
    .map(([kind, text]) => ({ text, draw: (x, y) => marker(kind, x, y, 4.5, { fill: kind === "baseline" ? ink.baseline : ink.quiet }) }));
  if (parts.includes("mean")) items.push({ text: "mean over datasets", draw: (x, y) => marker("mean", x, y, 4.5, { fill: ink.ground, stroke: ink.mark, "stroke-width": 1.4 }) });
  const dash = (text, pattern) => ({ text, draw: (x, y) => shape("line", { x1: x - 7, x2: x + 7, y1: y, y2: y, stroke: ink.baseline, "stroke-width": 1.6, "stroke-dasharray": pattern }) });
  if (parts.includes("lines") && yardsticks(view.chosen, view.scale, view.rows).length) items.push(dash("limit", "none"), dash("best known strategy", "8 3"));
  return items;
}

/** The mark of forms that are not private, where one is shown. */
const privacyNote = () => (distinct(view.rows, "algorithm").some((who) => notPrivate(who)) ? `${MARK} this form is not private: it was given raw counts or the true number of records` : "");

function legend(parts) {
  const items = legendItems(parts).map(({ text, draw }) => {
    const key = shape("svg", { width: 18, height: 12, "aria-hidden": "true" });
    key.append(draw(9, 6));
    return element("li", {}, key, text);
  });
  return element("ul", { class: "legend" }, ...items);
}

/** Text in lines of at most so many points. */
function broken(text, room, size) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (lines.at(-1) && textWidth(longer, size) > room) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** A drawing that stands alone: title, setting, legend and background, without what only this page can do. */
function standalone(svg, { title, setting, items, note }) {
  const ink = colours();
  const copy = svg.cloneNode(true);
  const [here, there] = [svg, copy].map((each) => each.querySelectorAll("[data-tip]"));
  there.forEach((each, k) => {
    each.removeAttribute("data-tip");
    if (each.tagName !== "text") each.prepend(shape("title", {}, tipOf(here[k])));
  });
  const margin = 16;
  const inner = Math.max(svg.width.baseVal.value, 360);
  const root = shape("svg", { xmlns: SPACE, "font-family": FONT, "font-size": 12, role: "img", "aria-label": `${title}: ${setting}` });
  let top = margin;
  const write = (text, size, attributes) => {
    for (const line of broken(text, inner, size)) root.append(shape("text", { x: margin, y: (top += size + 4) - 3, "font-size": size, ...attributes }, line));
  };
  write(title, 16, { fill: ink.text, "font-weight": 700 });
  write(setting, 12, { fill: ink.quiet });
  let at = margin;
  if (items.length) top += 18;
  for (const { text, draw: mark } of items) {
    if (at > margin && at + textWidth(text) + 28 > inner) { at = margin; top += 17; }
    root.append(mark(at + 8, top - 4), shape("text", { x: at + 20, y: top, fill: ink.text }, text));
    at += textWidth(text) + 38;
  }
  if (note) write(note, 12, { fill: ink.text });
  top += 12;
  for (const [name, value] of Object.entries({ x: margin, y: top, tabindex: null, role: null })) if (value === null) copy.removeAttribute(name); else copy.setAttribute(name, value);
  root.append(copy);
  const size = { width: inner + 2 * margin, height: top + svg.height.baseVal.value + margin };
  for (const [name, value] of Object.entries({ ...size, viewBox: `0 0 ${size.width} ${size.height}` })) root.setAttribute(name, value);
  root.prepend(shape("rect", { width: "100%", height: "100%", fill: ink.ground }));
  return { text: new XMLSerializer().serializeToString(root), ...size };
}

function savePicture({ text, width, height }, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  const image = new Image();
  image.onload = () => {
    const canvas = element("canvas", { width: width * 2, height: height * 2 });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(`${name}.png`, blob));
    URL.revokeObjectURL(address);
  };
  image.src = address;
}

/** A line that says of a box which is wider than the screen that it scrolls. */
function sidewaysHint() {
  const hint = element("p", { class: "hint", hidden: true }, "Scroll sideways for more columns.");
  hint.for = (box) => { hint.hidden = box.scrollWidth <= box.clientWidth; };
  return hint;
}

/** A cell of a CSV file; text that a spreadsheet would take for a formula is marked as text. */
function csvCell(value) {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csvText = ({ columns, rows }) => [columns, ...rows].map((row) => row.map(csvCell).join(",")).join("\n") + "\n";

function tableOf({ columns, rows }) {
  const textual = columns.map((_, k) => rows.some((row) => typeof row[k] === "string" && row[k] !== ""));
  const exact = columns.map((_, k) => rows.every((row) => typeof row[k] !== "number" || Number.isInteger(row[k])));
  const words = (value, k) => (typeof value !== "number" ? String(value) : exact[k] ? whole(value) : number(value, 4));
  const cell = (tag, value, k) => element(tag, { class: textual[k] ? "text" : undefined, scope: tag === "th" ? "col" : undefined }, words(value, k));
  return element("table", {},
    element("thead", {}, element("tr", {}, ...columns.map((name, k) => cell("th", name, k)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((value, k) => cell("td", value, k))))));
}

/**
 * key names the figure in this file; make(width) gives { chart, table } or { nothing: why }. legend lists what is
 * explained beside markers, or is a function that does; false: only the mark of forms that are not private; without it the
 * figure shows no algorithms.
 * setting() says what a figure that is taken away is about, where that is not the chosen setting, and note() which marks
 * it bears.
 */
function figureFrame({ key, title, about, legend: explained, make, setting = () => wholeSetting(), controls, note = explained === undefined ? () => "" : privacyNote }) {
  const plot = element("div", { class: "plot" });
  const summary = element("summary", {}, "Data as a table");
  const rows = element("div", { class: "rows", tabindex: 0, role: "region", "aria-label": `${title}: data` });
  const details = element("details", {}, summary, rows);
  let current = null;
  const fill = () => rows.replaceChildren(...(details.open && current ? [tableOf(current.table)] : []));
  details.addEventListener("toggle", fill);
  const parts = () => (typeof explained === "function" ? explained() : explained);
  const file = () => slug(`${title} ${setting()}`);
  const alone = () => standalone(current.chart, { title, setting: setting(), items: parts() ? legendItems(parts()) : [], note: note() });
  const save = (text, act) => element("button", { type: "button", "aria-label": `${title} as ${text}`, onclick: () => current && act() }, text);
  const tools = element("div", { class: "tools" },
    save("SVG", () => download(`${file()}.svg`, new Blob([alone().text], { type: "image/svg+xml" }))),
    save("PNG", () => savePicture(alone(), file())),
    save("CSV", () => download(`${file()}.csv`, new Blob([csvText(current.table)], { type: "text/csv" }))),
    details);
  const notes = element("p", { class: "about" });
  const hint = sidewaysHint();
  const [asked, explanation] = [element("div", {}), element("div", {})];
  const frame = element("figure", { id: `figure-${key}` },
    element("figcaption", {}, element("h3", {}, title), notes), asked, explanation, plot, hint, tools);
  frame.draw = () => {
    if (controls) asked.replaceChildren(controls());
    const made = make(Math.max(300, Math.floor(plot.clientWidth || 300)));
    notes.textContent = typeof about === "function" ? about() : about;
    const marks = note();
    explanation.replaceChildren(...(parts() && !made.nothing ? [legend(parts())] : []), ...(marks && !made.nothing ? [element("p", { class: "warning" }, marks)] : []));
    current = made.nothing ? null : made;
    tools.hidden = !current;
    plot.replaceChildren(made.nothing ? element("p", { class: "note" }, made.nothing) : made.chart);
    hint.for(plot);
    if (current) summary.textContent = `Data as a table (${plural(made.table.rows.length, "row")})`;
    fill();
  };
  return frame;
}
