// Stands in front of every lab's own module (attnbook/widgets/_lab.py joins them), so no lab repeats it.
// Nothing here knows a lab; nothing is fetched. Colours are the variables of lab.css.

// -- words and numbers --------------------------------------------------------------------

const SVG = "http://www.w3.org/2000/svg";
const chinese = () => (document.documentElement.lang || "").toLowerCase().startsWith("zh");

/** The words in the page's language. */
export const tr = (en, zh) => (chinese() ? zh : en);

/** Three significant digits with a true minus sign: 0.620, 12.3, 1230, 1.20×10⁻⁵. */
export function fmt(x, digits = 3) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "–" : x > 0 ? "∞" : "−∞";
  const y = Number(x.toPrecision(digits)), size = Math.abs(y);
  if (y === 0) return "0";
  if (size >= 1e-3 && size < 1e6) return (size < 10 ** digits ? y.toPrecision(digits) : String(y)).replace("-", "−");
  const [head, power] = y.toExponential(digits - 1).replace("+", "").split("e");
  return head.replace("-", "−") + "×10" + [...power].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("");
}

/** A fixed number of decimals, for coordinates and weights; never "−0.00". */
export function fix(x, decimals = 2) {
  const text = x.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

// -- arithmetic, compared with the Python functions by tests/browser ----------------------

export const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
/** Rows of m with x. */
export const matvec = (m, x) => m.map((row) => dot(row, x));

/** Weights of one row of scores; a row of nothing but −∞ gets zeros, as in attnbook.softmax. */
export function softmax(scores, temperature = 1) {
  const peak = Math.max(...scores);
  if (peak === -Infinity) return scores.map(() => 0);
  const e = scores.map((x) => Math.exp((x - peak) / temperature));
  const sum = e.reduce((a, b) => a + b, 0);
  return e.map((x) => x / sum);
}

// -- random numbers, the same as in Python (attnbook/widgets/scale.py) --------------------

/** mulberry32: a function that returns uniform numbers in [0, 1). */
export function mulberry(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** An even count of standard normal numbers, by Box and Muller. */
export function normals(uniform, n) {
  const out = new Float64Array(n);
  for (let i = 0; i < n; i += 2) {
    const r = Math.sqrt(-2 * Math.log(1 - uniform())), a = 2 * Math.PI * uniform();
    out[i] = r * Math.cos(a);
    out[i + 1] = r * Math.sin(a);
  }
  return out;
}

// -- elements -----------------------------------------------------------------------------

/** Set attributes; null and false remove one, true sets it empty. */
export function put(node, attrs) {
  for (const [name, value] of Object.entries(attrs)) {
    if (value === null || value === undefined || value === false) node.removeAttribute(name);
    else node.setAttribute(name, value === true ? "" : value);
  }
  return node;
}
const fill = (node, attrs, kids) => (put(node, attrs).append(...kids), node);
/** An HTML element: h("p", {class: "x"}, "words", child). */
export const h = (tag, attrs = {}, ...kids) => fill(document.createElement(tag), attrs, kids);
/** An SVG element. */
export const s = (tag, attrs = {}, ...kids) => fill(document.createElementNS(SVG, tag), attrs, kids);
/** An id or name no other lab on the page has. */
const fresh = () => "attn-" + (globalThis.attnSerial = (globalThis.attnSerial || 0) + 1);

/** An SVG that scales with its column. With handles or buttons inside it is a group, else an image. */
export const picture = (width, height, label, live = false) =>
  s("svg", { viewBox: `0 0 ${width} ${height}`, role: live ? "group" : "img", "aria-label": label });

/** The shape of a role, about 2r wide at (0, 0): query circle, key square, value triangle. */
export function mark(role, r = 7) {
  const shape = role === "query" ? { d: `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z` }
    : role === "key" ? { d: `M${-r} ${-r}H${r}V${r}H${-r}Z` }
    : { d: `M0 ${-1.2 * r}L${1.15 * r} ${0.8 * r}H${-1.15 * r}Z` };
  return s("path", { ...shape, class: "fill-" + role });
}

/** Path data of an arrow; "" when it would be shorter than its head. */
export function arrow(x1, y1, x2, y2, head = 7) {
  const dx = x2 - x1, dy = y2 - y1, n = Math.hypot(dx, dy);
  if (n < 1) return "";
  const ux = (dx / n) * head, uy = (dy / n) * head, bx = x2 - ux, by = y2 - uy;
  return `M${x1} ${y1}L${bx} ${by}M${x2} ${y2}L${bx - uy / 2} ${by + ux / 2}L${bx + uy / 2} ${by - ux / 2}Z`;
}

// -- the card -----------------------------------------------------------------------------

/** Title, question, picture, controls, live sentence, Reset: {root, picture, controls, say(text)}. */
export function card(el, { title, ask, reset }) {
  const parts = { picture: h("div", { class: "attn-picture" }), controls: h("div", { class: "attn-controls" }) };
  const live = h("p", { class: "attn-live", "aria-live": "polite" });
  const root = h("div", { class: "attn-lab", role: "group", "aria-label": title, "data-lm-suppress-shortcuts": "true" },
    h("p", { class: "attn-title" }, title),
    ...(ask ? [h("p", { class: "attn-ask" }, h("b", {}, tr("Try: ", "试一试：")), ask)] : []),
    parts.picture, parts.controls, live);
  if (reset) root.append(button(tr("Reset", "重置"), reset, "attn-reset"));
  el.append(root);
  return { root, ...parts, say(text) { if (live.textContent !== text) live.textContent = text; } };
}

const keys = { "data-lm-suppress-shortcuts": "true" }; // JupyterLab then leaves our keys alone

export function button(text, click, name = "") {
  const node = h("button", { type: "button", class: "attn-button " + name, ...keys }, text);
  node.addEventListener("click", click);
  return node;
}

/** A native range with its value in words beside it: {node, input, set(value)}. format(value) -> words. */
export function slider(label, min, max, step, value, format, change) {
  const input = h("input", { type: "range", min, max, step, "aria-label": label, ...keys });
  const out = h("output", { "aria-live": "off" });
  const set = (v) => {
    input.value = v;
    out.textContent = format(Number(input.value));
    input.setAttribute("aria-valuetext", out.textContent);
  };
  input.addEventListener("input", () => { set(input.value); change(Number(input.value)); });
  set(value);
  return { node: h("label", { class: "attn-slider" }, h("span", {}, label), input, out), input, set };
}

/** Segmented radio buttons over [[value, words], ...]: {node, set(value)}. */
export function choice(label, options, value, change) {
  const name = fresh();
  const inputs = options.map(([v]) => h("input", { type: "radio", name, value: v, ...keys }));
  inputs.forEach((input, i) => input.addEventListener("change", () => input.checked && change(options[i][0])));
  const set = (v) => inputs.forEach((input, i) => (input.checked = options[i][0] === v));
  set(value);
  const labels = options.map(([, words], i) => h("label", {}, inputs[i], h("span", {}, words)));
  return { node: h("fieldset", { class: "attn-choice" }, h("legend", {}, label), h("div", {}, ...labels)), set };
}

/** A checkbox: {node, set(on)}. */
export function toggle(label, on, change) {
  const input = h("input", { type: "checkbox", ...keys });
  input.checked = on;
  input.addEventListener("change", () => change(input.checked));
  return { node: h("label", { class: "attn-toggle" }, input, h("span", {}, label)), set: (v) => (input.checked = v) };
}

/**
 * A point of an SVG that is dragged by pointer or touch and moved by arrow keys (with Shift five steps).
 * at: [x, y] in the lab's units; to and from turn them into the viewBox's and back; axis "x", "y" or "xy";
 * label names it, text(p) says where it is; move(p) is told. r: half the target's width in the viewBox.
 * Returns {node, set(p)}; append node to the svg in reading order.
 */
export function handle(svg, { at, to, from, min, max, step = 0.1, axis = "xy", r = 18, label, text, move }, ...shape) {
  const node = s("g", { class: "attn-handle", tabindex: 0, role: "slider", "aria-label": label, ...keys,
    "aria-valuemin": min, "aria-valuemax": max, "aria-roledescription": axis === "xy" ? tr("point in the plane", "平面上的点") : null },
    s("circle", { class: "attn-target", r }), ...shape);
  let p = at, grip = null;
  const set = (q) => {
    p = q;
    put(node, { transform: `translate(${to(p)})`, "aria-valuenow": p[axis === "y" ? 1 : 0], "aria-valuetext": text(p) });
  };
  const go = (x, y) => {
    const keep = (v, old, name) => (axis.includes(name) ? Math.min(max, Math.max(min, Math.round(v * 1e3) / 1e3)) : old);
    set([keep(x, p[0], "x"), keep(y, p[1], "y")]);
    move(p);
  };
  const place = (e) => new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
  node.addEventListener("pointerdown", (e) => {
    const m = place(e), [x, y] = to(p);
    grip = [x - m.x, y - m.y];
    node.setPointerCapture(e.pointerId);
    node.focus({ preventScroll: true });
    e.preventDefault();
  });
  node.addEventListener("pointermove", (e) => {
    if (grip) { const m = place(e); go(...from([m.x + grip[0], m.y + grip[1]])); }
  });
  for (const end of ["pointerup", "pointercancel"]) node.addEventListener(end, () => (grip = null));
  node.addEventListener("keydown", (e) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }[e.key];
    if (!way || e.altKey || e.ctrlKey || e.metaKey) return;
    const by = axis === "x" ? [way[0] + way[1], 0] : axis === "y" ? [0, way[0] + way[1]] : way;
    go(p[0] + by[0] * step * (e.shiftKey ? 5 : 1), p[1] + by[1] * step * (e.shiftKey ? 5 : 1));
    e.preventDefault();
  });
  set(at);
  return { node, set };
}

// -- the model ----------------------------------------------------------------------------

/** draw, at most once a frame however often it is asked for. */
export function frame(draw) {
  let due = 0;
  return () => { due ||= requestAnimationFrame(() => { due = 0; draw(); }); };
}

/** Set traits and tell the kernel, if there is one. Pass new arrays: a changed array in place goes unnoticed. */
export function save(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
}

/** Run on a change of any of the traits; returns the function that stops it. */
export function watch(model, names, run) {
  names.forEach((name) => model.on("change:" + name, run));
  return () => names.forEach((name) => model.off("change:" + name, run));
}

/** True when the reader asked for less motion: then nothing may glide. */
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
