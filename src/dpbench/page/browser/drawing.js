// Elements, colours, numbers as text, and what appears under the pointer. Text is only ever set as text.

const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c7a5b", "#7a6fd0", "#999933", "#a8325e", "#44aa99"];
const DASHES = ["", "5 3", "1.5 3"];
const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
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
  const names = ["ground", "raised", "line", "text", "quiet", "accent", "baseline", "independent", "dependent", "other", "mark", "hover", "better", "worse"];
  themeColours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  return themeColours;
}

const ruler = document.createElement("canvas").getContext("2d");

/** Width of a text in a chart, as it will be drawn. */
function textWidth(text, size = 12) {
  ruler.font = `${size}px ${FONT}`;
  return ruler.measureText(text).width;
}

const colourOf = (who) => (isBaseline(who) ? colours().baseline : isOwn(who) ? colours().other : PALETTE[data.ranks[who] % PALETTE.length]);
const dashOf = (who) => (isBaseline(who) ? DASHES[1 + (baselineRank(who) % 2)] : DASHES[Math.floor(data.ranks[who] / PALETTE.length) % DASHES.length]);

function power(exponent) {
  return "10" + [...String(exponent)].map((sign) => SUPERSCRIPTS[sign]).join("");
}

function scaleWords(scale) {
  const exponent = Math.round(Math.log10(scale));
  return scale === 10 ** exponent ? power(exponent) : scale.toLocaleString("en");
}

function number(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-2 && size < 1e5) return String(Number(value.toPrecision(digits)));
  return value.toExponential(digits - 1).replace("e+", "e");
}

const plain = (value) => (Number.isFinite(value) ? value : "");

function tip(target, text) {
  target.setAttribute("data-tip", text);
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
    if (target) showTip(target.getAttribute("data-tip"), event.clientX, event.clientY);
    else if (!document.activeElement?.matches("svg")) hideTip();
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
}

/** Arrow keys read a focused chart mark by mark; Enter follows the name that was read. */
function walk(event) {
  const marks = [...event.currentTarget.querySelectorAll("[data-tip]")];
  if (event.key === "Enter") {
    const figure = event.currentTarget.closest("figure");
    const { at: last } = event.currentTarget.dataset;
    if (!marks[last]?.matches(".pick")) return;
    marks[last].dispatchEvent(new MouseEvent("click"));
    const redrawn = figure.querySelector(".plot svg");
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
  showTip(marks[next].getAttribute("data-tip"), box.x + box.width / 2, box.y + box.height / 2);
}
