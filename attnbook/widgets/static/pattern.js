// PatternLab: a sparse pattern as a map, its cost, and what reaches one token layer by layer. See pattern.py.

const N = 24, SINKS = 2, MOST = 8, CELL = 12, LEFT = 26, TOP = 26, WIDE = LEFT + CELL * N + 8, TALL = TOP + CELL * N + 8;
const STRIP = 300, GAP = 22;
const all = [...Array(N).keys()];

// -- arithmetic ---------------------------------------------------------------------------

const FAR = { full: () => true, window: () => false, sinks: (i, j) => j < SINKS, strided: (i, j, width) => (i - j) % width === 0,
  global: (i, j) => i === 0 || j === 0 };

/** (N, N), true = may attend. A window counts the own token. */
export const maskOf = (pattern, width, order) => all.map((i) => all.map((j) =>
  (Math.abs(i - j) < width || FAR[pattern](i, j, width)) && (order === "both" || j <= i)));

export const edgesOf = (mask) => mask.flat().filter(Boolean).length;

/** For 0, 1, ... layers: which tokens can have reached the one in that row. */
export function reachOf(mask, row, layers) {
  const found = [all.map((j) => j === row)];
  for (let layer = 0; layer < layers; layer++) {
    const last = found[layer], next = [...last];
    all.forEach((i) => { if (last[i]) all.forEach((j) => { if (mask[i][j]) next[j] = true; }); });
    found.push(next);
  }
  return found;
}
const count = (heard) => heard.filter(Boolean).length;

/** Layers until every wanted pair is joined; null if some never is. */
export function hopsOf(mask, order) {
  let worst = 0;
  for (const row of all) {
    const wanted = order === "causal" ? row + 1 : N, counts = reachOf(mask, row, N).map(count), first = counts.indexOf(wanted);
    if (first < 0) return null;
    worst = Math.max(worst, first);
  }
  return worst;
}

// -- the pictures -------------------------------------------------------------------------

function map(model) {
  const svg = picture(WIDE, TALL, tr("The pattern: rows are queries, columns are keys", "模式：行是查询，列是键"), true);
  svg.append(s("text", { x: LEFT, y: 14, class: "small" }, tr("key →, query ↓", "键 →，查询 ↓")));
  const cells = all.map((i) => all.map((j) =>
    s("rect", { x: LEFT + j * CELL, y: TOP + i * CELL, width: CELL - 1, height: CELL - 1, class: "attn-seen" })));
  svg.append(...cells.flat());
  const place = (q) => Math.min(N - 1, Math.max(0, Math.floor((q - TOP) / CELL)));
  const frame = handle(svg, { at: [0, 0], axis: "y", min: 0, max: N - 1, step: -1, r: 1, label: tr("row", "行"),
    text: (p) => String(Math.round(p[1]) + 1), to: (p) => [0, TOP + Math.round(p[1]) * CELL], from: (q) => [0, (q[1] - TOP) / CELL],
    move: (p) => save(model, { row: Math.round(p[1]) }) },
  s("rect", { x: 0, y: -9, width: LEFT + CELL * N + 2, height: 30, class: "attn-target" }),
  s("rect", { x: LEFT - 2, y: -2, width: CELL * N + 3, height: CELL + 3, class: "attn-row" }));
  const name = s("text", { x: LEFT - 5, class: "small end" });
  svg.append(frame.node, name);
  svg.addEventListener("click", (e) => {
    const at = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
    if (at.y >= TOP && at.y < TOP + CELL * N) save(model, { row: place(at.y) });
  });
  return { svg, draw(mask, row) {
    mask.forEach((line, i) => line.forEach((sees, j) =>
      put(cells[i][j], { class: sees ? "attn-seen fill-weights" : "attn-seen", opacity: sees && i !== row ? 0.6 : 1 })));
    frame.set([0, row]);
    put(name, { y: TOP + row * CELL + 10 });
    name.textContent = row + 1;
  } };
}

function reach(found, words) {
  const svg = picture(STRIP, TOP + GAP * (MOST + 1), words), step = (STRIP - 70) / N, dots = { true: "", false: "" };
  svg.append(s("text", { x: 4, y: 14, class: "small" }, tr("what has reached it, layer by layer", "逐层到达它的词元")));
  found.forEach((heard, layer) => {
    const y = TOP + GAP * layer + 8;
    svg.append(s("text", { x: 4, y: y + 4, class: "small" }, layer), s("text", { x: STRIP - 4, y: y + 4, class: "small end" }, count(heard)));
    heard.forEach((there, j) => (dots[there] += `M${(26 + j * step).toFixed(1)} ${y}h0`));
  });
  svg.append(s("path", { d: dots.true, class: "attn-there" }), s("path", { d: dots.false, class: "attn-not" }));
  return svg;
}

// -- the lab ------------------------------------------------------------------------------

const NAMES = { full: ["everything", "全部"], window: ["window", "窗口"], sinks: ["window + 2 sinks", "窗口 + 2 个汇"],
  strided: ["window + strides", "窗口 + 跨步"], global: ["window + 1 global token", "窗口 + 1 个全局词元"] };

function sentence(mask, order, row) {
  const edges = edgesOf(mask), hops = hopsOf(mask, order), [, one, two] = reachOf(mask, row, 2).map(count);
  const full = order === "causal" ? (N * (N + 1)) / 2 : N * N, share = ((100 * edges) / full).toFixed(0);
  return tr(`${edges} of ${full} scores (${share} %). Token ${row + 1} hears ${one} in one layer and ${two} in two. `
    + (hops ? `Every pair is joined after ${hops} layer${hops > 1 ? "s" : ""}.` : "Some pairs are never joined."),
  `${full} 个得分里算 ${edges} 个（${share}%）。第 ${row + 1} 个词元一层能听到 ${one} 个，两层 ${two} 个。`
    + (hops ? `经过 ${hops} 层，所有的对都连通。` : "有些对永远连不通。"));
}

function render({ model, el }) {
  const names = ["pattern", "width", "order", "row"], start = Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const { picture: place, controls, say } = card(el, {
    title: tr(...model.get("title")),
    ask: tr("a window of 4: after how many layers has the first token reached the last? Does one global token help, both ways and causally?",
      "宽度为 4 的窗口：经过几层，第一个词元才能到达最后一个？加一个全局词元有用吗？双向时呢，因果时呢？"),
    reset: () => save(model, start),
  });
  const pattern = choice(tr("pattern", "模式"), Object.entries(NAMES).map(([key, words]) => [key, tr(...words)]), start.pattern,
    (value) => save(model, { pattern: value }));
  const order = choice(tr("order", "顺序"), [["causal", tr("causal", "因果")], ["both", tr("both ways", "双向")]], start.order,
    (value) => save(model, { order: value }));
  const width = slider(tr("window and stride", "窗口与跨步"), 1, 12, 1, start.width, String, (v) => save(model, { width: v }));
  controls.append(pattern.node, order.node, width.node);
  const left = map(model);
  place.append(left.svg);
  let strip = null;
  function draw() {
    const [kind, wide, way, row] = names.map((name) => model.get(name)), mask = maskOf(kind, wide, way), text = sentence(mask, way, row);
    left.draw(mask, row);
    const next = reach(reachOf(mask, row, MOST), tr("Reach over layers. ", "逐层的可达范围。") + text);
    if (strip) strip.replaceWith(next);
    else place.append(next);
    strip = next;
    pattern.set(kind);
    order.set(way);
    width.set(wide);
    say(text);
  }
  draw();
  return watch(model, names, frame(draw));
}

export default { render };
