// ScaleLab: width, number of keys and factor against the spread of scores, one row of weights and dead rows.
// A row of scores is the query's length times standard normal numbers, exactly; see scale.py.

const ROWS = 60, WIDEST = 1024, MOST = 512, DEAD = 1e-3, EDGE = 30, BARS = 16, WIDE = 300, TALL = 232;

// -- arithmetic ---------------------------------------------------------------------------

let kept = null;
/** For each row: the squared length of its query at widths 0..WIDEST, and MOST standard normal numbers. */
export function sample(seed) {
  if (kept && kept.seed === seed) return kept;
  const uniform = mulberry(seed);
  const squares = [], keys = [];
  for (let row = 0; row < ROWS; row++) {
    const sums = new Float64Array(WIDEST + 1);
    normals(uniform, WIDEST).forEach((x, i) => (sums[i + 1] = sums[i] + x * x));
    squares.push(sums);
    keys.push(normals(uniform, MOST));
  }
  return (kept = { seed, squares, keys });
}

/** What multiplies the scores. */
export const factorOf = (scale, d) => (scale === "none" ? 1 : scale === "sqrt" ? 1 / Math.sqrt(d) : 1 / d);

/** Weights of one row of scores into p; typed arrays, since 30 000 of them are computed in a frame. */
function weigh(row, p) {
  let peak = -Infinity, sum = 0;
  for (const x of row) if (x > peak) peak = x;
  for (let i = 0; i < row.length; i++) sum += p[i] = Math.exp(row[i] - peak);
  for (let i = 0; i < row.length; i++) p[i] /= sum;
}

/** Frobenius norm of diag(p) - p pᵀ. */
export function jacobianNorm(p) {
  let top = 0;
  for (let i = 1; i < p.length; i++) if (p[i] > p[top]) top = i;
  const best = p[top] ** 2;
  let others = 0, squares = 0, total = 0;
  for (let i = 0; i < p.length; i++) if (i !== top) { others += p[i]; squares += p[i] * p[i]; }
  for (let i = 0; i < p.length; i++) {
    if (i !== top) total += p[i] * p[i] * ((1 - p[i]) ** 2 + squares - p[i] * p[i] + best);
  }
  return Math.sqrt(total + best * (others * others + squares));
}

/** Spread of the scores, sorted weights of the first row, norms, their root mean square, share of dead rows, and the
 *  share of scores at each whole number from -EDGE to EDGE (the ends hold all beyond). */
export function statistics(seed, d, n, scale) {
  const { squares, keys } = sample(seed), c = factorOf(scale, d);
  const row = new Float64Array(n), p = new Float64Array(n), counts = Array(2 * EDGE + 1).fill(0), norms = [];
  let sum = 0, weights = null;
  for (let r = 0; r < ROWS; r++) {
    const length = c * Math.sqrt(squares[r][d]), z = keys[r];
    for (let i = 0; i < n; i++) {
      const x = (row[i] = length * z[i]);
      sum += x * x;
      counts[Math.min(2 * EDGE, Math.max(0, Math.floor(x + 0.5) + EDGE))]++;
    }
    weigh(row, p);
    weights ||= Array.from(p).sort((a, b) => b - a);
    norms.push(jacobianNorm(p));
  }
  const rms = Math.sqrt(norms.reduce((total, x) => total + x * x, 0) / ROWS);
  return { std: Math.sqrt(sum / (ROWS * n)), weights, norms, jacobian: rms,
    dead: norms.filter((x) => x < DEAD).length / ROWS, counts: counts.map((count) => count / (ROWS * n)) };
}

// -- the pictures -------------------------------------------------------------------------

function rect(x, y, width, height, role) {
  const box = Object.entries({ x, y, width, height }).map(([name, value]) => [name, value.toFixed(2)]);
  return s("rect", { ...Object.fromEntries(box), class: "fill-" + role });
}

function scores(counts, words) {
  const svg = picture(WIDE, 168, words), top = 26, base = 130, width = (WIDE - 20) / counts.length;
  const tallest = Math.max(...counts);
  svg.append(s("text", { x: 4, y: 14 }, tr("scores of all rows", "所有行的得分")));
  counts.forEach((share, i) => {
    const height = ((base - top) * share) / tallest;
    if (share) svg.append(rect(10 + i * width, base - height, width, height, "stream"));
  });
  svg.append(s("path", { d: `M10 ${base}H${WIDE - 10}`, class: "axis" }));
  for (const value of [-15, 0, 15]) {
    svg.append(s("text", { x: 10 + (value + EDGE + 0.5) * width, y: base + 18, class: "small mid" }, fix(value, 0)));
  }
  svg.append(s("text", { x: 4, y: base + 18, class: "small" }, `≤ −${EDGE}`),
    s("text", { x: WIDE - 4, y: base + 18, class: "small end" }, `≥ ${EDGE}`));
  return svg;
}

function weightsAndRows(weights, norms, words) {
  const svg = picture(WIDE, TALL, words), top = 40, base = 130, width = (WIDE - 20) / BARS;
  svg.append(s("text", { x: 4, y: 14 }, tr("largest weights of the first row", "第一行中最大的权重")));
  weights.slice(0, BARS).forEach((w, i) =>
    svg.append(rect(10 + i * width + 1, base - (base - top) * w, width - 2, (base - top) * w, "weights")));
  svg.append(s("path", { d: `M10 ${base}H${WIDE - 10}`, class: "axis" }),
    s("text", { x: 10 + width / 2, y: base - (base - top) * weights[0] - 5, class: "small mid" }, fix(weights[0])),
    s("text", { x: 4, y: 158 }, tr("rows: filled = alive, ring = dead", "各行：实心为活，空心为死")));
  norms.forEach((norm, i) => {
    const dead = norm < DEAD, x = 14 + (i % 20) * 14.3, y = 174 + Math.floor(i / 20) * 20;
    svg.append(s("circle", { cx: x.toFixed(2), cy: y, r: 5, class: dead ? "line-warn" : "fill-stream line-stream",
      style: dead ? "fill:none" : "fill:var(--stream)", "data-dead": dead }));
  });
  return svg;
}

// -- the result in words ------------------------------------------------------------------

const NAMES = { none: ["not scaled", "不缩放"], sqrt: ["divided by √dₖ", "除以 √dₖ"], d: ["divided by dₖ", "除以 dₖ"] };

function sentence(d, n, scale, found, root) {
  const dead = (100 * found.dead).toFixed(0), [en, zh] = NAMES[scale], top = fmt(found.weights[0]);
  const more = scale === "none" && found.jacobian > 1.05 * root;
  return tr(`Width ${d}, ${n} keys, ${en}: scores spread by ${fmt(found.std)}, and the first row gives ${top} `
    + `to one key. Dead rows: ${dead} %. Jacobian norm ${fmt(found.jacobian)}; with √dₖ it is ${fmt(root)}`
    + (more ? ": here scaling makes it smaller." : "."),
  `维数 ${d}，${n} 个键，${zh}：得分的标准差为 ${fmt(found.std)}，第一行把 ${top} 给了一个键。`
    + `死行占 ${dead} %。雅可比范数 ${fmt(found.jacobian)}；除以 √dₖ 时为 ${fmt(root)}`
    + (more ? "：这里缩放反而让它变小。" : "。"));
}

// -- the lab ------------------------------------------------------------------------------

function render({ model, el }) {
  const names = ["d_k", "n_keys", "scale", "seed"];
  const start = Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const { picture: place, controls, say } = card(el, {
    title: tr("Width, keys and the factor", "维数、键数与缩放因子"),
    ask: tr("How many of the 60 rows are dead? Bring them back to life, once with the factor and once with more keys.",
      "60 行里有多少行是死的？让它们复活：先用缩放因子，再试试增加键数。"),
    reset: () => save(model, start),
  });
  const power = (name, words, low, high) => {
    const control = slider(words, low, high, 1, Math.log2(start[name]), (v) => String(2 ** v),
      (v) => save(model, { [name]: 2 ** v }));
    controls.append(control.node);
    return control;
  };
  const width = power("d_k", tr("width dₖ", "维数 dₖ"), 0, 10), many = power("n_keys", tr("number of keys", "键数"), 1, 9);
  const scales = choice(tr("factor", "因子"), [["none", tr("none", "无")], ["sqrt", "1/√dₖ"], ["d", "1/dₖ"]], start.scale,
    (scale) => save(model, { scale }));
  const next = button(tr("New sample", "换一组样本"), () => save(model, { seed: (model.get("seed") % 9999) + 1 }));
  controls.append(scales.node, next);

  function draw() {
    const [d, n, scale, seed] = names.map((name) => model.get(name)), found = statistics(seed, d, n, scale);
    const root = scale === "sqrt" ? found : statistics(seed, d, n, "sqrt");
    const text = sentence(d, n, scale, found, root.jacobian);
    place.replaceChildren(scores(found.counts, tr("Histogram of scores. ", "得分的直方图。") + text),
      weightsAndRows(found.weights, found.norms, tr("Weights and rows. ", "权重与各行。") + text));
    width.set(Math.log2(d));
    many.set(Math.log2(n));
    scales.set(scale);
    say(text);
  }
  draw();
  return watch(model, names, frame(draw));
}

export default { render };
