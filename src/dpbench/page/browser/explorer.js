// A public histogram under a noisy one: drag a range, read the true and the noisy answer.

const TELLING = ["MEDCOST", "STROKE", "bimodal", "clusters"]; // small and wide enough for noise to show at first sight
const FIRST = ["Cascade", "DAWA"]; // whose estimate is shown before one is chosen, unless somebody's own is there
const CIVIDIS = [[0, 32, 77], [60, 77, 110], [124, 123, 120], [188, 175, 111], [255, 234, 70]];

function sunny(share) {
  const at = Math.max(0, Math.min(1, share)) * (CIVIDIS.length - 1);
  const k = Math.min(Math.floor(at), CIVIDIS.length - 2);
  return CIVIDIS[k].map((low, c) => Math.round(low + (at - k) * (CIVIDIS[k + 1][c] - low)));
}

/** Sum over a range, ends included; ranges and shape are lists with one entry an axis. */
function rangeSum(counts, sides, low, high) {
  let sum = 0;
  if (sides.length === 1) for (let i = low[0]; i <= high[0]; i++) sum += counts[i];
  else for (let i = low[0]; i <= high[0]; i++) for (let j = low[1]; j <= high[1]; j++) sum += counts[i * sides[1] + j];
  return sum;
}

/** Counts as a picture, one pixel a cell, the first axis downwards; the same colours for both histograms. */
function heatPicture(counts, [down, across], most) {
  const canvas = element("canvas", { width: across, height: down });
  const context = canvas.getContext("2d");
  const image = context.createImageData(across, down);
  for (let k = 0; k < down * across; k++) {
    const [red, green, blue] = sunny(Math.log1p(Math.max(counts[k], 0)) / Math.log1p(most));
    image.data.set([red, green, blue, 255], 4 * k);
  }
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

function explorer() {
  const pick = (name, options, words) => {
    const select = element("select", { id: `explore-${name}` }, ...options.map((value) => element("option", { value }, words ? words(value) : value)));
    select.addEventListener("change", () => { change({ [name]: select.value, ...(name === "show" ? { from: undefined, to: undefined } : {}) }); frame.draw(); document.getElementById(`explore-${name}`).focus(); });
    return element("label", {}, { show: "Histogram", by: "Algorithm", eps: "Epsilon" }[name], select);
  };
  const controls = element("div", { class: "controls" });
  const answer = element("div", { class: "answer", role: "status", "aria-live": "polite", id: "answer" });
  const named = (name) => data.examples.find((each) => each.name === name);
  let range = null;

  function chosen() {
    const fitting = data.examples.filter((each) => each.shape.length === view.chosen.dimensions);
    const own = fitting.filter((each) => data.names.dataset.includes(each.name));
    const example = named(state.show) || own.find((each) => TELLING.includes(each.name)) || own[0] || fitting[0] || data.examples[0];
    const algorithms = [...new Set(example.estimates.map((each) => each.algorithm))];
    const by = algorithms.includes(state.by) ? state.by : data.cardOf.get(algorithms[0])?.catalogued ? FIRST.find((name) => algorithms.includes(name)) ?? algorithms[0] : algorithms[0];
    const epsilons = example.estimates.filter((each) => each.algorithm === by).map((each) => each.epsilon);
    const eps = epsilons.find((each) => String(each) === state.eps) ?? epsilons.find((each) => each === 0.1) ?? epsilons[0];
    const estimate = example.estimates.find((each) => each.algorithm === by && each.epsilon === eps);
    const corner = (text, otherwise) => {
      const numbers = (text || "").split(",").map(Number);
      const fits = text && numbers.length === example.shape.length && numbers.every((value, k) => Number.isInteger(value) && value >= 0 && value < example.shape[k]);
      return fits ? numbers : otherwise;
    };
    const low = corner(state.from, example.shape.map((side) => Math.floor(side / 4)));
    const high = corner(state.to, example.shape.map((side) => Math.floor(side / 2)));
    range = { low: low.map((value, k) => Math.min(value, high[k])), high: low.map((value, k) => Math.max(value, high[k])) };
    const now = { example, algorithms, by, epsilons, eps, estimate, truth: picture(example.counts), noisy: picture(estimate.counts) };
    const { posterior } = estimate;
    if (posterior) {
      posterior.sums ??= runningSums(posterior);
      now.interval = (from, to) => intervalOf(posterior, posterior.sums, from, to, rangeSum(now.noisy, example.shape, [from], [to]));
    }
    return now;
  }

  function tell({ example, by, eps, truth, noisy, interval, estimate }) {
    const right = rangeSum(truth, example.shape, range.low, range.high);
    const said = rangeSum(noisy, example.shape, range.low, range.high);
    const part = (words, value, id) => element("div", {}, element("span", {}, words), element("b", { id }, value));
    const cells = range.low.map((low, k) => `${low}–${range.high[k]}`).join(" × ");
    const short = (value) => value.toLocaleString("en", { maximumFractionDigits: 1 });
    answer.dataset.truth = right;
    answer.dataset.noisy = said;
    const ends = interval && interval(range.low[0], range.high[0]);
    answer.dataset.interval = ends ? ends.join(" ") : "";
    answer.replaceChildren(part("cells", cells, "answer-cells"), part("true answer", short(right), "answer-true"), part(`${by}, epsilon ${eps}`, short(said), "answer-noisy"),
      part("off by", `${short(said - right)}${right ? ` (${number(100 * Math.abs(said - right) / right, 2)} %)` : ""}`, "answer-error"),
      ends ? part(`${100 * estimate.posterior.level} % interval by a model`, `${whole(ends[0])} to ${whole(ends[1])}${right < ends[0] || right > ends[1] ? " (misses)" : ""}`, "answer-interval") : "");
  }

  function fields(now) {
    const input = (end, k) => {
      const box = element("input", { type: "number", min: 0, max: now.example.shape[k] - 1, value: range[end][k], id: `explore-${end}-${k}` });
      box.addEventListener("change", () => {
        const value = Math.max(0, Math.min(now.example.shape[k] - 1, Math.round(Number(box.value) || 0)));
        const next = { low: [...range.low], high: [...range.high] };
        next[end][k] = value;
        move(next.low, next.high);
        frame.draw();
      });
      const axis = now.example.shape.length > 1 ? (k ? " across" : " down") : "";
      return element("label", {}, `${end === "low" ? "From" : "To"}${axis}`, box);
    };
    const focused = document.activeElement?.id;
    controls.replaceChildren(
      pick("show", data.examples.map((each) => each.name)), pick("by", now.algorithms), pick("eps", now.epsilons),
      ...now.example.shape.flatMap((_, k) => [input("low", k), input("high", k)]));
    controls.querySelector("#explore-show").value = now.example.name;
    controls.querySelector("#explore-by").value = now.by;
    controls.querySelector("#explore-eps").value = String(now.eps);
    if (focused && controls.querySelector(`#${focused}`)) controls.querySelector(`#${focused}`).focus();
  }

  function move(low, high) {
    range = { low: low.map((value, k) => Math.min(value, high[k])), high: low.map((value, k) => Math.max(value, high[k])) };
    change({ from: range.low.join(","), to: range.high.join(",") }, { step: false });
  }

  /** cellAt(event) gives the cell under the pointer, moved() redraws the marked range. */
  function draggable(svg, cellAt, moved, now) {
    let start = null;
    svg.addEventListener("pointerdown", (event) => {
      start = cellAt(event, true);
      if (!start) return;
      svg.setPointerCapture(event.pointerId);
      move(start, start);
      moved();
      tell(now);
    });
    svg.addEventListener("pointermove", (event) => {
      const cell = start && cellAt(event, false);
      if (!cell) return;
      move(start, cell);
      moved();
      tell(now);
    });
    svg.addEventListener("pointerup", () => { if (start) { start = null; fields(now); } });
    svg.addEventListener("pointercancel", () => { start = null; });
  }

  function line(width, now) {
    const ink = colours();
    const [cells] = now.example.shape;
    const caption = broken(`cell (grey: true counts, line: noisy${now.interval ? `, band: ${100 * now.estimate.posterior.level} % interval of each cell by a model` : ""}; heights are square roots)`, width - 16, 11);
    const height = 288 + 14 * caption.length;
    const [left, top, bottom] = [52, 12, 268];
    const bars = now.interval ? Array.from({ length: cells }, (_, k) => now.interval(k, k)) : null;
    const most = Math.max(...now.truth, ...now.noisy, ...(bars ?? []).map(([, high]) => high), 1);
    const least = Math.min(0, ...now.noisy);
    const x = (cell) => left + (cell / cells) * (width - left - 8);
    const root2 = (count) => Math.sign(count) * Math.sqrt(Math.abs(count)); // square roots: noise has the same height everywhere near 0
    const y = (count) => bottom - ((root2(count) - root2(least)) / (root2(most) - root2(least))) * (bottom - top);
    const root = drawing(width, height, `${now.example.name}: true counts and ${now.by} at epsilon ${now.eps}`);
    root.setAttribute("class", "drag");
    for (const count of [0, 0.0625 * most, 0.25 * most, 0.5625 * most, most, ...(least < -0.02 * most ? [least] : [])]) {
      root.append(shape("line", { x1: left, x2: width - 8, y1: y(count), y2: y(count), stroke: ink.line }));
      root.append(shape("text", { x: left - 6, y: y(count) + 4, "text-anchor": "end", fill: ink.quiet, "font-size": 11 }, tickWords(count)));
    }
    const band = shape("rect", { y: top, height: bottom - top, fill: ink.accent, "fill-opacity": 0.16, stroke: ink.accent, "stroke-opacity": 0.6, id: "band" });
    const stairs = (counts) => Array.from(counts, (count, k) => `${x(k).toFixed(1)} ${y(count).toFixed(1)}L${x(k + 1).toFixed(1)} ${y(count).toFixed(1)}`).join("L");
    if (bars) {
      const edge = (k, end) => `${x(k).toFixed(1)} ${y(bars[Math.min(k, cells - 1)][end]).toFixed(1)}`;
      const there = Array.from({ length: cells }, (_, k) => `${edge(k, 1)}L${x(k + 1).toFixed(1)} ${y(bars[k][1]).toFixed(1)}`);
      const back = Array.from({ length: cells }, (_, k) => `${x(cells - k).toFixed(1)} ${y(bars[cells - 1 - k][0]).toFixed(1)}L${edge(cells - 1 - k, 0)}`);
      root.append(shape("path", { d: `M${[...there, ...back].join("L")}Z`, fill: colourOfName(now.by), "fill-opacity": 0.22, id: "intervals" }));
    }
    root.append(shape("path", { d: `M${x(0)} ${y(0)}L${stairs(now.truth)}L${x(cells)} ${y(0)}Z`, fill: ink.quiet, "fill-opacity": 0.45 }));
    root.append(shape("path", { d: `M${stairs(now.noisy)}`, fill: "none", stroke: colourOfName(now.by), "stroke-width": 1.3 }));
    root.append(band);
    for (const cell of [0, cells / 4, cells / 2, (3 * cells) / 4, cells - 1]) root.append(shape("text", { x: x(cell), y: bottom + 18, "text-anchor": "middle", fill: ink.quiet, "font-size": 11 }, String(Math.round(cell))));
    caption.forEach((text, k) => root.append(shape("text", { x: width - 8, y: bottom + 30 + 14 * k, "text-anchor": "end", fill: ink.quiet, "font-size": 11 }, text)));
    const moved = () => { band.setAttribute("x", x(range.low[0])); band.setAttribute("width", x(range.high[0] + 1) - x(range.low[0])); };
    moved();
    draggable(root, (event) => {
      const at = ((event.clientX - root.getBoundingClientRect().left - left) / (width - left - 8)) * cells;
      return [Math.max(0, Math.min(cells - 1, Math.floor(at)))];
    }, moved, now);
    return root;
  }

  function plane(width, now) {
    const ink = colours();
    const [down, across] = now.example.shape;
    const beside = width > 640;
    const side = Math.floor(Math.min(420, beside ? (width - 30) / 2 : width - 10));
    const most = Math.max(...now.truth, 1);
    const root = drawing(beside ? 2 * side + 24 : side, beside ? side + 26 : 2 * side + 56, `${now.example.name}: true counts and ${now.by} at epsilon ${now.eps}`);
    root.setAttribute("class", "flat");
    const bands = [];
    const corners = [[0, 22], beside ? [side + 24, 22] : [0, side + 52]];
    [[now.truth, "true counts"], [now.noisy, `${now.by}, epsilon ${now.eps}`]].forEach(([counts, words], k) => {
      const [left, top] = corners[k];
      root.append(shape("text", { x: left, y: top - 7, fill: ink.text, "font-weight": 600 }, words));
      root.append(shape("image", { x: left, y: top, width: side, height: side, href: heatPicture(counts, now.example.shape, most), preserveAspectRatio: "none", "image-rendering": "pixelated" }));
      const band = shape("rect", { fill: "none", stroke: "#ff4fa3", "stroke-width": 2.5 });
      bands.push(band);
      root.append(band);
    });
    const moved = () => bands.forEach((band, k) => {
      const cell = [side / down, side / across];
      const place = { x: corners[k][0] + range.low[1] * cell[1], y: corners[k][1] + range.low[0] * cell[0], width: (range.high[1] - range.low[1] + 1) * cell[1], height: (range.high[0] - range.low[0] + 1) * cell[0] };
      for (const [name, value] of Object.entries(place)) band.setAttribute(name, value);
    });
    moved();
    let on = 0;
    draggable(root, (event, first) => {
      const box = root.getBoundingClientRect();
      const [px, py] = [event.clientX - box.left, event.clientY - box.top];
      if (first) on = corners.findIndex(([left, top]) => px >= left && px < left + side && py >= top && py < top + side);
      if (on < 0) return null;
      const cell = (at, corner, cells) => Math.max(0, Math.min(cells - 1, Math.floor(((at - corner) / side) * cells)));
      return [cell(py, corners[on][1], down), cell(px, corners[on][0], across)];
    }, moved, now);
    return root;
  }

  const frame = figureFrame({
    key: "explorer", title: "A histogram and its noisy release",
    setting: () => { const { example, by, eps } = chosen(); return `${example.name}, ${by}, epsilon ${eps}, private end to end`; },
    about: () => {
      if (!data.examples.length || !picturesAreThere()) return "";
      const { example } = chosen();
      return `${example.name}: ${example.about}; ${whole(example.scale)} records, private forms at this scale, one trial each.${chosen().interval ? " Intervals cost no budget; they are made from what was measured, and held for about nine ranges of ten on the tables that were tried, for some ranges far less often." : ""} Drag over the picture to ask a range query, or type its ends.`;
    },
    make: (width) => {
      if (!data.examples.length) return { nothing: "This page was made without examples." };
      if (!picturesAreThere()) return { nothing: "Reading the histograms …" };
      const now = chosen();
      fields(now);
      tell(now);
      const chart = now.example.shape.length === 1 ? line(width, now) : plane(width, now);
      const rows = Array.from(now.truth, (count, k) => [...(now.example.shape.length === 1 ? [k] : [Math.floor(k / now.example.shape[1]), k % now.example.shape[1]]), count, now.noisy[k]]);
      const axes = now.example.shape.length === 1 ? ["cell"] : ["down", "across"];
      return { chart, table: { columns: [...axes, "true count", `${now.by}, epsilon ${now.eps}`], rows } };
    },
  });
  frame.querySelector("figcaption").after(controls, answer);
  return frame;
}
