// Charts of rows: markers on a logarithmic axis, coloured cells, bars of two parts. Plain values in, an SVG element out.

function logRange(values) {
  const logs = values.filter((value) => value > 0 && Number.isFinite(value)).map(Math.log10);
  if (!logs.length) return [-1, 0];
  const low = logs.reduce((a, b) => Math.min(a, b));
  const high = logs.reduce((a, b) => Math.max(a, b));
  const pad = Math.max((high - low) * 0.04, 0.05);
  return [low - pad, high + pad];
}

/** A round number on an axis. */
const tickWords = (value) => (value < 1e-3 || value >= 1e5 ? number(value, 1) : value < 1000 ? String(Number(value.toPrecision(2))) : whole(Number(value.toPrecision(2))));

/** Powers of ten; with less than two of them in sight also their halves and fifths. */
function powerTicks([low, high], room) {
  const powers = Math.floor(high) - Math.ceil(low) + 1;
  if (powers < 2) {
    const fine = [];
    for (let exponent = Math.floor(low); exponent <= high; exponent++) {
      for (const factor of high - low < 0.7 ? [1, 1.5, 2, 3, 4, 5, 7] : [1, 2, 5]) fine.push({ at: exponent + Math.log10(factor), text: tickWords(factor * 10 ** exponent) });
    }
    return fine.filter((tick) => tick.at >= low && tick.at <= high);
  }
  const step = Math.max(1, Math.ceil((powers * 42) / room));
  const ticks = [];
  for (let exponent = Math.ceil(low); exponent <= high; exponent += step) ticks.push({ at: exponent, text: power(exponent) });
  return ticks;
}

/** Ranges of the same length around their middles: a distance means the same factor in every panel. */
function evenRanges(ranges) {
  const half = Math.max(...ranges.map(([low, high]) => high - low)) / 2;
  return ranges.map(([low, high]) => [(low + high) / 2 - half, (low + high) / 2 + half]);
}

const MOST_DOTS = 6000; // beyond, a row shows from where to where its settings lie, and those that stand out

/**
 * Panels of rows; dots are settings, the diamond is their mean, lines run through all rows of a panel.
 * panels: [{ title, rows: [{ name, who, dots: [{ value, text, strong }], mean, meanText, ends }], lines: [{ value, name, text, dash }] }]
 */
function dotChart({ width, panels, label, unit }) {
  const ink = colours();
  const columns = Math.min(panels.length, width > 980 ? 3 : width > 620 ? 2 : 1);
  const gap = 18;
  const room = (width - gap * (columns - 1)) / columns;
  const shown = panels.flatMap((panel) => panel.rows);
  const many = shown.reduce((sum, row) => sum + row.dots.length, 0) > MOST_DOTS;
  const gutter = Math.min(shown.reduce((most, row) => Math.max(most, textWidth(nameIn(row), 13)), 40) + 14, room * 0.38);
  const ranges = evenRanges(panels.map((panel) => logRange([...panel.rows.flatMap((row) => [...row.dots.map((dot) => dot.value), row.mean, ...(row.ends || [])]), ...(panel.lines || []).map((line) => line.value)])));
  const [step, head, foot] = [19, 46, 40];
  const tall = Math.max(...panels.map((panel) => panel.rows.length)) * step + head + foot;
  const root = drawing(width, Math.ceil(panels.length / columns) * tall, label);
  panels.forEach((panel, place) => {
    const range = ranges[place];
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
    upright(root, panel.lines || [], { x, left, room, top, head, bottom, ink });
    panel.rows.forEach((row, k) => rowOfDots(root, row, { left, gutter, y: top + head + k * step + step / 2, x, room, step, ink, many }));
  });
  return root;
}

/** Lines through all rows, named above them; lines may be close to each other, so their names have three rows. */
function upright(root, lines, { x, left, room, top, head, bottom, ink }) {
  const ends = [-Infinity, -Infinity, -Infinity];
  for (const line of [...lines].sort((a, b) => a.value - b.value)) {
    const at = x(line.value);
    const half = textWidth(line.name, 10.5) / 2;
    const middle = Math.min(at, left + room - 26);
    const level = Math.max(0, ends.findIndex((end) => middle - half > end + 4));
    ends[level] = middle + half;
    root.append(tip(shape("line", { x1: at, x2: at, y1: top + head - 6, y2: bottom, stroke: ink.baseline, "stroke-width": 1.4, "stroke-dasharray": line.dash ?? "5 3" }), `${line.name}: ${number(line.value)}${line.text ? `\n${line.text}` : ""}`));
    root.append(shape("text", { x: middle, y: top + head - 9 - 9 * level, "text-anchor": "middle", fill: ink.quiet, "font-size": 10.5 }, line.name));
  }
}

const nameIn = (row) => (row.who === undefined ? row.name : labelOf(row.who, row.form));
const stands = (name) => view.marked.size === 0 || view.marked.has(name);

/** The name of an algorithm beside its row: a click follows it through all charts. */
function rowName(row, attributes, room) {
  const strong = view.marked.has(row.name) || (row.who !== undefined && isOwn(row.who));
  const text = shape("text", { "text-anchor": "end", fill: colours().text, "font-weight": strong ? 700 : 400, ...attributes }, shortened(nameIn(row), room));
  if (row.who !== undefined) leads(text, () => toggleMark(row.name));
  return tip(text, row.tip || row.name);
}

function rowOfDots(root, row, { left, gutter, y, x, room, step, ink, many }) {
  const group = shape("g", { opacity: stands(row.name) ? 1 : 0.28, "data-name": row.name });
  const [kind, colour] = row.who === undefined ? ["independent", ink.heat] : [kindOf(row.who), colourOf(row.who)];
  group.append(shape("rect", { x: left, y: y - step / 2, width: room, height: step, fill: "transparent" }));
  group.append(rowName(row, { x: left + gutter - 8, y: y + 4 }, gutter - 10));
  const dots = row.dots.filter((dot) => dot.value > 0);
  const ends = row.ends ?? (many && dots.length ? [Math.min(...dots.map((dot) => dot.value)), Math.max(...dots.map((dot) => dot.value))] : null);
  if (ends) group.append(shape("line", { x1: x(ends[0]), x2: x(ends[1]), y1: y, y2: y, stroke: colour, "stroke-width": 2.5, opacity: 0.5 }));
  for (const dot of dots) {
    if (many && !dot.strong) continue;
    group.append(tip(marker(kind, x(dot.value), y, dot.strong ? 4.2 : 3.2, { fill: colour, "fill-opacity": dot.strong ? 1 : 0.5, stroke: dot.strong ? ink.ground : undefined, "stroke-width": dot.strong ? 0.8 : undefined }), dot.text));
  }
  if (row.mean > 0) {
    group.append(tip(marker("mean", x(row.mean), y, 5.5, { fill: ink.ground, stroke: ink.mark, "stroke-width": 1.6 }), row.meanText || `${row.name}: ${number(row.mean)}`));
  }
  root.append(group);
}

function toggleMark(name) {
  const marked = new Set(view.marked);
  if (!marked.delete(name)) marked.add(name);
  change({ mark: [...marked].join("|") || undefined });
  draw();
}

/**
 * Coloured cells with their text. cells[row][column]: { text, colour, opacity, strong, tip, act } or null; whose names
 * the algorithm of every row, where rows are algorithms, and form which of its forms, where that is not the chosen one.
 */
function cellChart({ width, rows, columns, cells, label, corner = "", least = 46, whose, form }) {
  const ink = colours();
  const many = rows.length * columns.length > MOST_DOTS; // then colour speaks alone, and the number is read by pointing
  const names = rows.map((name, r) => nameIn({ name, who: whose?.[r], form }));
  const widest = (texts, size) => texts.reduce((most, text) => Math.max(most, textWidth(text, size)), 0);
  const gutter = Math.min(Math.max(widest(names), textWidth(corner), 40) + 14, Math.max(110, width * 0.3));
  const longest = many ? 12 : Math.max(Math.min(widest(cells.flat().map((cell) => cell?.text ?? ""), 11.5) + 8, 190), width < 480 ? 34 : least);
  const fitting = (room) => Math.max(longest, Math.min(118, room / columns.length));
  const slanted = widest(columns) > fitting(width - gutter);
  const beyond = slanted ? 40 : 0; // what the last slanted name needs beside its column
  const across = fitting(width - gutter - beyond);
  const head = slanted ? Math.min(widest(columns) * 0.68 + 22, 150) : 26;
  const step = 23;
  const root = drawing(gutter + across * columns.length + beyond, head + rows.length * step + 4, label);
  root.append(shape("text", { x: 2, y: head - 9, fill: ink.quiet, "font-size": 11 }, corner));
  columns.forEach((name, k) => {
    const at = gutter + (k + 0.5) * across;
    const turned = slanted ? { transform: `rotate(-42 ${at} ${head - 8})`, "text-anchor": "start" } : { "text-anchor": "middle" };
    root.append(shape("text", { x: at, y: head - 8, fill: ink.quiet, "font-size": 11.5, ...turned }, shortened(name, 185)));
  });
  const following = rows.some((each) => view.marked.has(each));
  rows.forEach((name, r) => {
    const y = head + r * step;
    const group = shape("g", { opacity: following && !view.marked.has(name) ? 0.35 : 1, "data-name": name });
    group.append(rowName({ name, who: whose?.[r], form }, { x: gutter - 8, y: y + 15.5 }, gutter - 12));
    columns.forEach((_, c) => {
      const cell = cells[r][c];
      if (!cell) return;
      const x = gutter + c * across;
      const box = shape("rect", { x: x + 1, y: y + 1, width: across - 2, height: step - 2, rx: 3, fill: cell.colour || ink.raised, "fill-opacity": cell.opacity ?? 1, stroke: cell.strong ? ink.mark : "none", "stroke-width": cell.strong ? 1.5 : 0 });
      group.append(tip(cell.act ? leads(box, cell.act) : box, cell.tip));
      if (!many) group.append(shape("text", { x: x + across / 2, y: y + 15.5, "text-anchor": "middle", fill: ink.text, "font-size": 11.5, "font-weight": cell.strong ? 700 : 400, "pointer-events": "none" }, shortened(cell.text, across - 4)));
    });
    root.append(group);
  });
  return root;
}

/** Bars of two parts: bias and variance. rows: [{ name, who, share, bias, spread, unbiased, tip }] */
function shareChart({ width, rows, label }) {
  const ink = colours();
  const gutter = Math.min(rows.reduce((most, row) => Math.max(most, textWidth(nameIn(row), 13)), 40) + 14, width * 0.3);
  const [step, head] = [22, 26];
  const numbers = width > 520 ? 66 : 60; // room for a number, twice, beside the bars
  const across = width - gutter - 2 * numbers - 24;
  const root = drawing(width, head + rows.length * step + 6, label);
  const heading = (x, text, colour) => root.append(shape("text", { x, y: 15, "font-size": 11, "font-weight": 600, fill: colour }, text));
  heading(gutter, width > 520 ? "bias (left) and variance, shares of the squared error" : "bias | variance", ink.quiet);
  heading(gutter + across + 12, "bias", ink.worse);
  heading(gutter + across + 12 + numbers, "deviation", ink.better);
  rows.forEach((row, k) => {
    const y = head + k * step;
    const share = row.unbiased ? 0 : Math.max(0, Math.min(1, row.share));
    const group = shape("g", { opacity: stands(row.name) ? 1 : 0.3, "data-name": row.name });
    group.append(rowName(row, { x: gutter - 8, y: y + 15 }, gutter - 10));
    group.append(tip(shape("rect", { x: gutter, y: y + 2, width: across, height: step - 5, fill: ink.better, "fill-opacity": 0.3, rx: 2 }), row.tip));
    if (share > 0) group.append(tip(shape("rect", { x: gutter, y: y + 2, width: share * across, height: step - 5, fill: ink.worse, "fill-opacity": 0.85, rx: 2 }), row.tip));
    [row.unbiased ? "unbiased" : number(row.bias), number(row.spread)].forEach((text, at) => group.append(shape("text", { x: gutter + across + 12 + at * numbers, y: y + 15, fill: row.unbiased && !at ? ink.quiet : ink.text, "font-size": 11.5 }, text)));
    root.append(group);
  });
  return root;
}
