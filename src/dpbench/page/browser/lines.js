// Lines over steps, each with its name at the end.

/**
 * Values on a logarithmic axis over steps of equal width. A line that is no longer loud is thin and grey and has no name
 * until it is pointed at. series: [{ name, who, loud, colour, dash, points: [{ at, value, text }] }]
 */
function lineChart({ width, steps, series, label, unit, below }) {
  const ink = colours();
  const named = series.filter((line) => line.loud);
  const range = logRange(series.flatMap((line) => line.points.map((point) => point.value)));
  const right = Math.min(Math.max(...named.map((line) => textWidth(nameIn(line))), 40) + 18, width * 0.36);
  const height = Math.max(380, named.length * 16 + 70);
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
  const wanted = labelPlaces(named.map((line) => y(line.points[line.points.length - 1].value)), 15, height - 46);
  for (const line of [...series].sort((a, b) => a.loud - b.loud)) {
    const group = shape("g", { "data-name": line.name, class: line.loud ? "loud" : "still" });
    const colour = line.colour ?? (line.loud ? colourOf(line.who) : ink.baseline);
    const thick = !line.loud ? 1 : line.who !== undefined && isOwn(line.who) ? 3.5 : 2;
    const path = line.points.map((point, i) => `${i ? "L" : "M"}${x(point.at).toFixed(1)} ${y(point.value).toFixed(1)}`).join("");
    group.append(shape("path", { d: path, fill: "none", stroke: colour, "stroke-width": thick, "stroke-opacity": line.loud ? 1 : 0.45, "stroke-dasharray": line.dash }));
    for (const point of line.points) {
      const kind = line.who === undefined ? "independent" : kindOf(line.who);
      const dot = tip(marker(kind, x(point.at), y(point.value), line.who === undefined ? 1.6 : line.loud ? 4.2 : 2.6, { fill: colour, "fill-opacity": line.loud ? 1 : 0.45 }), point.text);
      group.append(line.who === undefined ? dot : leads(dot, () => toggleMark(line.name)));
    }
    if (line.loud) {
      const last = line.points[line.points.length - 1];
      const place = wanted[named.indexOf(line)];
      group.append(shape("path", { d: `M${x(last.at) + 5} ${y(last.value)}L${width - right + 6} ${place}`, stroke: colour, "stroke-width": 0.8, fill: "none" }));
      group.append(rowName(line, { x: width - right + 9, y: place + 4, "text-anchor": "start" }, right - 10));
    }
    root.append(group);
  }
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
