// Elements, colours, markers, and what appears under the pointer. Text is only ever set as text.

const SPACE = "http://www.w3.org/2000/svg";
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function shape(name, attributes = {}, text) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function drawing(width, height, label) {
  const size = { width: Math.ceil(width), height: Math.ceil(height) };
  const root = shape("svg", {
    xmlns: SPACE, ...size, viewBox: `0 0 ${size.width} ${size.height}`, role: "img", tabindex: 0,
    "font-family": FONT, "font-size": 12, "aria-label": label,
  });
  root.addEventListener("keydown", walk);
  root.addEventListener("focusout", hideTip);
  return root;
}

let themeColours = null; // read once for each theme

/** Colours of the theme as plain values, so that an exported figure needs no style sheet. */
function colours() {
  if (themeColours) return themeColours;
  const style = getComputedStyle(document.documentElement);
  const names = ["ground", "raised", "line", "text", "quiet", "accent", "baseline", "heat", "mark", "better", "worse"];
  themeColours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  themeColours.dark = document.documentElement.dataset.theme === "dark";
  return themeColours;
}

/** A colour of even brightness as six digits: lightness and chroma from 0 up, hue in degrees (OKLCH). */
function hex(lightness, chroma, hue) {
  const [a, b] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];
  const [l, m, s] = [lightness + 0.3963377774 * a + 0.2158037573 * b, lightness - 0.1055613458 * a - 0.0638541728 * b, lightness - 0.0894841775 * a - 1.291485548 * b].map((each) => each ** 3);
  const linear = [4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s, -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s, -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s];
  const byte = (each) => Math.round(255 * Math.min(1, Math.max(0, each <= 0.0031308 ? 12.92 * each : 1.055 * each ** (1 / 2.4) - 0.055)));
  return `#${linear.map((each) => byte(each).toString(16).padStart(2, "0")).join("")}`;
}

/** One colour for an algorithm on every page (src/dpbench/page/palette.py). */
const colourOfName = (name) => data.colours[name][colours().dark ? 1 : 0];
const colourOf = (who) => colourOfName(algorithmName(who));

const POLYGONS = {
  dependent: [[0, -1.15], [1.05, 0.8], [-1.05, 0.8]],
  baseline: [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
  other: Array.from({ length: 10 }, (_, k) => [(k % 2 ? 0.55 : 1.25) * Math.sin((k * Math.PI) / 5), -(k % 2 ? 0.55 : 1.25) * Math.cos((k * Math.PI) / 5)]),
  mean: [[-1, 0], [0, -1], [1, 0], [0, 1]],
};

/** The marker of a class of algorithms: disc, triangle, square or star; a diamond for a mean. */
function marker(kind, x, y, size, attributes) {
  if (!POLYGONS[kind]) return shape("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: size, ...attributes });
  return shape("polygon", { points: POLYGONS[kind].map(([dx, dy]) => `${(x + dx * size).toFixed(1)},${(y + dy * size).toFixed(1)}`).join(" "), ...attributes });
}

/** An algorithm's marker in its colour, for a line of text. */
function swatch(who) {
  const key = shape("svg", { width: 12, height: 12, "aria-hidden": "true", class: "swatch" });
  key.append(marker(kindOf(who), 6, 6, 4.5, { fill: colourOf(who) }));
  return key;
}

const ruler = document.createElement("canvas").getContext("2d");
const widths = new Map();

/** Width of a text in a chart, as it will be drawn. */
function textWidth(text, size = 12) {
  const key = `${size} ${text}`;
  if (!widths.has(key)) {
    if (!ruler.font.startsWith(`${size}px`)) ruler.font = `${size}px ${FONT}`;
    widths.set(key, ruler.measureText(text).width);
  }
  return widths.get(key);
}

/** As much of a text as there is room for. */
function shortened(text, room) {
  if (textWidth(text) <= room) return text;
  let length = Math.min(text.length, Math.ceil(room / 3));
  while (length > 1 && textWidth(`${text.slice(0, length)}…`) > room) length--;
  return `${text.slice(0, length)}…`;
}

/** What is said of a mark when it is pointed at: a text, or a function that makes it then. */
function tip(target, text) {
  if (typeof text === "function") target.tipText = text;
  target.setAttribute("data-tip", typeof text === "function" ? "" : text);
  return target;
}

const tipOf = (target) => (target.tipText ? target.tipText() : target.getAttribute("data-tip"));

/** Something in a chart that leads elsewhere: by click, and by Enter when it is read with the keyboard. */
function leads(target, act) {
  target.classList.add("pick");
  target.addEventListener("click", act);
  return target;
}

function showTip(text, x, y) {
  const box = document.getElementById("tip");
  box.textContent = text;
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - width - 8))}px`;
  box.style.top = `${Math.max(4, y + height + 24 > innerHeight ? y - height - 10 : y + 16)}px`;
}

function hideTip() {
  document.getElementById("tip").hidden = true;
}

function followPointer() {
  document.addEventListener("pointermove", (event) => {
    const target = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
    if (target) showTip(tipOf(target), event.clientX, event.clientY);
    else if (!document.activeElement?.matches("svg")) hideTip();
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
}

/** Arrow keys read a focused chart mark by mark; Enter follows what was read. */
function walk(event) {
  const marks = [...event.currentTarget.querySelectorAll("[data-tip]")];
  if (event.key === "Enter") {
    const figure = event.currentTarget.closest("figure");
    const { at: last } = event.currentTarget.dataset;
    if (!marks[last]?.matches(".pick")) return;
    marks[last].dispatchEvent(new MouseEvent("click"));
    const redrawn = figure.isConnected && figure.querySelector(".plot svg");
    if (!redrawn) return;
    redrawn.dataset.at = last;
    redrawn.focus();
    return;
  }
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step || !marks.length) return;
  event.preventDefault();
  const at = Number(event.currentTarget.dataset.at ?? (step > 0 ? -1 : 0));
  const next = (at + step + marks.length) % marks.length;
  event.currentTarget.dataset.at = next;
  const box = marks[next].getBoundingClientRect();
  showTip(tipOf(marks[next]), box.x + box.width / 2, box.y + box.height / 2);
}
