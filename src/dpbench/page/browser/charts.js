// Three charts: dots in rows, a table of coloured cells, lines. Each takes plain values and gives an SVG element.

function logRange(values) {
  const logs = values.filter((value) => value > 0 && Number.isFinite(value)).map(Math.log10);
  if (!logs.length) return [-1, 0];
  const low = Math.min(...logs);
  const high = Math.max(...logs);
  const pad = Math.max((high - low) * 0.04, 0.05);
  return [low - pad, high + pad];
}

/** Powers of ten; with less than two of them in sight also their halves and fifths. */
function powerTicks([low, high], room) {
  const powers = Math.floor(high) - Math.ceil(low) + 1;
  if (powers < 2) {
    const fine = [];
    for (let exponent = Math.floor(low); exponent <= high; exponent++) {
      for (const factor of high - low < 0.7 ? [1, 1.5, 2, 3, 4, 5, 7] : [1, 2, 5]) fine.push({ at: exponent + Math.log10(factor), text: number(factor * 10 ** exponent, 2) });
    }
    return fine.filter((tick) => tick.at >= low && tick.at <= high);
  }
  const step = Math.max(1, Math.ceil((powers * 42) / room));
  const ticks = [];
  for (let exponent = Math.ceil(low); exponent <= high; exponent += step) ticks.push({ at: exponent, text: power(exponent) });
  return ticks;
}

/** As much of a text as there is room for. */
function shortened(text, room) {
  if (textWidth(text) <= room) return text;
  let length = Math.min(text.length, Math.ceil(room / 3));
  while (length > 1 && textWidth(`${text.slice(0, length)}…`) > room) length--;
  return `${text.slice(0, length)}…`;
}

function diamond(x, y, size, attributes) {
  return shape("path", { d: `M${x - size} ${y}L${x} ${y - size}L${x + size} ${y}L${x} ${y + size}Z`, ...attributes });
}

/**
 * Panels of rows; dots are settings, the diamond is their mean, lines run through all rows of a panel.
 * panels: [{ title, rows: [{ name, who, dots: [{ value, text, strong }], mean, meanText, ends }], lines: [{ value, name, text, dash }] }]
 */
function dotChart({ width, panels, label, unit }) {
  const ink = colours();
  const columns = panels.length === 1 ? 1 : width > 980 ? 3 : width > 620 ? 2 : 1;
  const gap = 18;
  const room = (width - gap * (columns - 1)) / columns;
  const names = panels.flatMap((panel) => panel.rows.map((row) => row.name));
  const gutter = Math.min(Math.max(...names.map((name) => textWidth(name, 13)), 40) + 14, room * 0.38);
  const range = logRange(panels.flatMap((panel) => panel.rows.flatMap((row) => [...row.dots.map((dot) => dot.value), row.mean, ...(row.ends || [])])).concat(panels.flatMap((panel) => (panel.lines || []).map((line) => line.value))));
  const step = 19;
  const head = 46;
  const foot = 40;
  const tall = Math.max(...panels.map((panel) => panel.rows.length)) * step + head + foot;
  const root = drawing(width, Math.ceil(panels.length / columns) * tall, label);
  panels.forEach((panel, place) => {
    const left = (place % columns) * (room + gap);
    const top = Math.floor(place / columns) * tall;
    const x = (value) => left + gutter + ((Math.log10(value) - range[0]) / (range[1] - range[0])) * (room - gutter - 8);
    const bottom = top + head + panel.rows.length * step;
    root.append(shape("text", { x: left, y: top + 15, "font-weight": 600, "font-size": 13, fill: ink.text }, panel.title));
    for (const tick of powerTicks(range, room - gutter)) {
      const at = x(10 ** tick.at);
      root.append(shape("line", { x1: at, x2: at, y1: top + head - 6, y2: bottom, stroke: ink.line }));
      root.append(shape("text", { x: at, y: bottom + 14, "text-anchor": "middle", fill: ink.quiet, "font-size": 11 }, tick.text));
    }
    root.append(shape("text", { x: left + room - 8, y: bottom + 29, "text-anchor": "end", fill: ink.quiet, "font-size": 11 }, unit));
    const ends = [-Infinity, -Infinity, -Infinity]; // of the names in three rows: lines may be close to each other
    for (const line of [...(panel.lines || [])].sort((a, b) => a.value - b.value)) {
      const at = x(line.value);
      const half = textWidth(line.name, 10.5) / 2;
      const middle = Math.min(at, left + room - 26);
      const level = Math.max(0, ends.findIndex((end) => middle - half > end + 4));
      ends[level] = middle + half;
      root.append(tip(shape("line", { x1: at, x2: at, y1: top + head - 6, y2: bottom, stroke: ink.baseline, "stroke-width": 1.4, "stroke-dasharray": line.dash ?? "5 3" }), `${line.name}: ${number(line.value)}${line.text ? `\n${line.text}` : ""}`));
      root.append(shape("text", { x: middle, y: top + head - 9 - 9 * level, "text-anchor": "middle", fill: ink.baseline, "font-size": 10.5 }, line.name));
    }
    panel.rows.forEach((row, k) => rowOfDots(root, row, { left, gutter, y: top + head + k * step + step / 2, x, room, step, ink }));
  });
  return root;
}

function rowOfDots(root, row, { left, gutter, y, x, room, step, ink }) {
  const faded = view.marked.size > 0 && !view.marked.has(row.name);
  const group = shape("g", { opacity: faded ? 0.28 : 1, "data-name": row.name });
  const colour = ink[row.who === undefined ? "independent" : kindOf(row.who)];
  const strong = view.marked.has(row.name) || (row.who !== undefined && isOwn(row.who));
  group.append(shape("rect", { x: left, y: y - step / 2, width: room, height: step, fill: "transparent" }));
  const label = shape("text", { x: left + gutter - 8, y: y + 4, "text-anchor": "end", fill: ink.text, "font-weight": strong ? 700 : 400 }, shortened(row.name, gutter - 10));
  if (row.who !== undefined) {
    label.setAttribute("class", "pick");
    label.setAttribute("cursor", "pointer");
    label.addEventListener("click", () => toggleMark(row.name));
  }
  group.append(tip(label, row.tip || row.name));
  if (row.ends) group.append(shape("line", { x1: x(row.ends[0]), x2: x(row.ends[1]), y1: y, y2: y, stroke: colour, "stroke-width": 2.5, opacity: 0.45 }));
  for (const dot of row.dots) {
    if (!(dot.value > 0)) continue;
    const mark = shape("circle", { cx: x(dot.value).toFixed(1), cy: y, r: dot.strong ? 4 : 3, fill: colour, "fill-opacity": dot.strong ? 0.95 : 0.45, stroke: dot.strong ? ink.ground : undefined });
    group.append(tip(mark, dot.text));
  }
  if (row.mean > 0) {
    group.append(tip(diamond(x(row.mean), y, 5.5, { fill: ink.ground, stroke: ink.mark, "stroke-width": 1.6 }), row.meanText || `${row.name}: ${number(row.mean)}`));
  }
  root.append(group);
}

function toggleMark(name) {
  const marked = new Set(view.marked);
  if (!marked.delete(name)) marked.add(name);
  change({ mark: [...marked].join("|") || undefined });
  refresh();
}

/**
 * Coloured cells with their text. cells[row][column]: { text, colour, opacity, strong, tip } or null.
 */
function cellChart({ width, rows, columns, cells, label, corner = "", least = 46, own = [] }) {
  const ink = colours();
  const gutter = Math.min(Math.max(...rows.map((name) => textWidth(name)), textWidth(corner), 40) + 14, Math.max(110, width * 0.3));
  const longest = Math.max(...cells.flat().map((cell) => (cell ? Math.min(textWidth(cell.text, 11.5) + 8, 190) : 0)), width < 480 ? 34 : least);
  const across = Math.max(longest, Math.min(118, (width - gutter) / columns.length));
  const slanted = columns.some((name) => textWidth(name) > across);
  const head = slanted ? Math.min(Math.max(...columns.map((name) => textWidth(name))) * 0.68 + 22, 150) : 26;
  const step = 23;
  const extra = slanted ? 40 : 0;
  const root = drawing(gutter + across * columns.length + extra, head + rows.length * step + 4, label);
  root.append(shape("text", { x: 2, y: head - 9, fill: ink.quiet, "font-size": 11 }, corner));
  columns.forEach((name, k) => {
    const at = gutter + (k + 0.5) * across;
    const turned = slanted ? { transform: `rotate(-42 ${at} ${head - 8})`, "text-anchor": "start" } : { "text-anchor": "middle" };
    root.append(shape("text", { x: at, y: head - 8, fill: ink.quiet, "font-size": 11.5, ...turned }, shortened(name, 185)));
  });
  rows.forEach((name, r) => {
    const y = head + r * step;
    const faded = view.marked.size > 0 && rows.some((each) => view.marked.has(each)) && !view.marked.has(name);
    const group = shape("g", { opacity: faded ? 0.35 : 1, "data-name": name });
    group.append(tip(shape("text", { x: gutter - 8, y: y + 15.5, "text-anchor": "end", fill: ink.text, "font-weight": own[r] ? 700 : 400 }, shortened(name, gutter - 12)), name));
    columns.forEach((_, c) => {
      const cell = cells[r][c];
      if (!cell) return;
      const x = gutter + c * across;
      const box = shape("rect", { x: x + 1, y: y + 1, width: across - 2, height: step - 2, rx: 3, fill: cell.colour || ink.raised, "fill-opacity": cell.opacity ?? 1, stroke: cell.strong ? ink.mark : "none", "stroke-width": cell.strong ? 1.5 : 0 });
      group.append(tip(box, cell.tip));
      group.append(shape("text", { x: x + across / 2, y: y + 15.5, "text-anchor": "middle", fill: ink.text, "font-size": 11.5, "font-weight": cell.strong ? 700 : 400, "pointer-events": "none" }, shortened(cell.text, across - 4)));
    });
    root.append(group);
  });
  return root;
}

/** Bars of two parts: bias and variance. rows: [{ name, who, share, bias, spread, tip }] */
function shareChart({ width, rows, label }) {
  const ink = colours();
  const gutter = Math.min(Math.max(...rows.map((row) => textWidth(row.name, 13)), 40) + 14, width * 0.3);
  const [step, head] = [22, 26];
  const numbers = width > 520 ? 62 : 50; // room for a number, twice, beside the bars
  const across = width - gutter - 2 * numbers - 24;
  const root = drawing(width, head + rows.length * step + 6, label);
  const heading = (x, text, colour) => root.append(shape("text", { x, y: 15, "font-size": 11, "font-weight": 600, fill: colour }, text));
  heading(gutter, width > 520 ? "bias (left) and variance, shares of the squared error" : "bias | variance", ink.quiet);
  heading(gutter + across + 12, "bias", ink.dependent);
  heading(gutter + across + 12 + numbers, "deviation", ink.independent);
  rows.forEach((row, k) => {
    const y = head + k * step;
    const share = Math.max(0, Math.min(1, row.share));
    const group = shape("g", { opacity: view.marked.size > 0 && !view.marked.has(row.name) ? 0.3 : 1, "data-name": row.name });
    const name = shape("text", { x: gutter - 8, y: y + 15, "text-anchor": "end", fill: ink.text, class: "pick", cursor: "pointer", "font-weight": isOwn(row.who) || view.marked.has(row.name) ? 700 : 400 }, shortened(row.name, gutter - 10));
    name.addEventListener("click", () => toggleMark(row.name));
    group.append(tip(name, row.name));
    group.append(tip(shape("rect", { x: gutter, y: y + 2, width: across, height: step - 5, fill: ink.independent, "fill-opacity": 0.3, rx: 2 }), row.tip));
    if (share > 0) group.append(tip(shape("rect", { x: gutter, y: y + 2, width: share * across, height: step - 5, fill: ink.dependent, "fill-opacity": 0.85, rx: 2 }), row.tip));
    [row.bias, row.spread].forEach((value, at) => group.append(shape("text", { x: gutter + across + 12 + at * numbers, y: y + 15, fill: ink.text, "font-size": 11.5 }, number(value))));
    root.append(group);
  });
  return root;
}

/** Lines over steps of equal width, values on a logarithmic axis. series: [{ name, who, points: [{ at, value, text }] }] */
function lineChart({ width, steps, series, label, unit, below }) {
  const ink = colours();
  const range = logRange(series.flatMap((line) => line.points.map((point) => point.value)));
  const right = Math.min(Math.max(...series.map((line) => textWidth(line.name)), 40) + 18, width * 0.32);
  const height = Math.max(300, series.length * 16 + 70);
  const left = 48;
  const x = (at) => left + (steps.length > 1 ? (at / (steps.length - 1)) * (width - left - right - 6) : (width - left - right) / 2);
  const y = (value) => 24 + (1 - (Math.log10(value) - range[0]) / (range[1] - range[0])) * (height - 70);
  const root = drawing(width, height, label);
  root.append(shape("text", { x: 2, y: 12, fill: ink.quiet, "font-size": 11 }, unit));
  for (const tick of powerTicks(range, height)) {
    const at = y(10 ** tick.at);
    root.append(shape("line", { x1: left, x2: width - right, y1: at, y2: at, stroke: ink.line }));
    root.append(shape("text", { x: left - 6, y: at + 4, "text-anchor": "end", fill: ink.quiet, "font-size": 11 }, tick.text));
  }
  steps.forEach((name, at) => root.append(shape("text", { x: x(at), y: height - 28, "text-anchor": "middle", fill: ink.quiet, "font-size": 11 }, name)));
  root.append(shape("text", { x: (left + width - right) / 2, y: height - 9, "text-anchor": "middle", fill: ink.quiet, "font-size": 11 }, below));
  const places = labelPlaces(series.map((line) => y(line.points[line.points.length - 1].value)), 14, height - 46);
  series.forEach((line, k) => {
    const faded = view.marked.size > 0 && !view.marked.has(line.name);
    const group = shape("g", { opacity: faded ? 0.2 : 1, "data-name": line.name });
    const colour = line.colour || colourOf(line.who);
    const own = line.who !== undefined && isOwn(line.who);
    const path = line.points.map((point, i) => `${i ? "L" : "M"}${x(point.at).toFixed(1)} ${y(point.value).toFixed(1)}`).join("");
    group.append(shape("path", { d: path, fill: "none", stroke: colour, "stroke-width": own ? 3.5 : 2, "stroke-dasharray": line.dash ?? (dashOf(line.who) || undefined) }));
    for (const point of line.points) group.append(tip(shape("circle", { cx: x(point.at), cy: y(point.value), r: 4, fill: colour }), point.text));
    const last = line.points[line.points.length - 1];
    group.append(shape("path", { d: `M${x(last.at) + 5} ${y(last.value)}L${width - right + 6} ${places[k]}`, stroke: colour, "stroke-width": 0.8, fill: "none" }));
    const name = shape("text", { x: width - right + 9, y: places[k] + 4, fill: ink.text, "font-weight": own ? 700 : 400, class: "pick", cursor: "pointer" }, shortened(line.name, right - 10));
    name.addEventListener("click", () => toggleMark(line.name));
    group.append(tip(name, line.name));
    root.append(group);
  });
  return root;
}

/** Heights of labels: as near to their lines as they can be without touching. */
function labelPlaces(wanted, step, bottom) {
  const order = wanted.map((_, k) => k).sort((a, b) => wanted[a] - wanted[b]);
  const places = new Array(wanted.length);
  let last = -Infinity;
  for (const k of order) last = places[k] = Math.max(wanted[k], last + step);
  let limit = bottom;
  for (const k of [...order].reverse()) limit = (places[k] = Math.min(places[k], limit)) - step;
  return places;
}
