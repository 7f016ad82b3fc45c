// StreamLab: depth, kind of connection and branch scale against gradient and cosine of each layer; see stream.py.
// f(z) = s √2 W relu(z), 32 wide, four tokens, before training; "none" f(x), "pre" x + f(norm x), "post" norm(x + f(x)).

const DEEPEST = 96, WIDTH = 32, TOKENS = 4, EPS = 1e-5, WIDE = 300, TALL = 256;
const PLOT = { left: 40, right: 288, top: 26, bottom: 200 }, LOW = -12, HIGH = 6;
const KINDS = ["none", "pre", "post"];

// -- arithmetic, the same as in stream.py -------------------------------------------------

let kept = null;
/** The matrices (rows one behind the other), the vectors at the input, and the gradients at the end. */
export function sample(seed) {
  if (kept && kept.seed === seed) return kept;
  const uniform = mulberry(seed), row = () => normals(uniform, WIDTH), times = (n) => Array.from({ length: n }, row);
  const start = times(TOKENS), probe = times(TOKENS), factor = Math.sqrt(2 / WIDTH);
  const matrices = Array.from({ length: DEEPEST }, () => {
    const m = new Float64Array(WIDTH * WIDTH);
    for (let i = 0; i < WIDTH; i++) row().forEach((x, j) => (m[i * WIDTH + j] = factor * x));
    return m;
  });
  return (kept = { seed, matrices, start, probe });
}

function measured(x) {
  let mean = 0, square = 0;
  for (const a of x) mean += a / WIDTH;
  for (const a of x) square += ((a - mean) * (a - mean)) / WIDTH;
  const deviation = Math.sqrt(square + EPS);
  return { y: x.map((a) => (a - mean) / deviation), deviation };
}

/** LayerNorm of one vector. */
export const normed = (x) => measured(x).y;

/** The gradient in front of the norm, from the one behind it. */
export function normBack(x, g) {
  const { y, deviation } = measured(x);
  let flat = 0, along = 0;
  for (let i = 0; i < WIDTH; i++) { flat += g[i] / WIDTH; along += (g[i] * y[i]) / WIDTH; }
  return g.map((b, i) => (b - flat - y[i] * along) / deviation);
}

/** f(z). */
function branch(m, z, scale) {
  const out = new Float64Array(WIDTH);
  for (let i = 0; i < WIDTH; i++) {
    let sum = 0;
    for (let j = 0; j < WIDTH; j++) if (z[j] > 0) sum += m[i * WIDTH + j] * z[j];
    out[i] = scale * sum;
  }
  return out;
}

/** The gradient in front of f, from the one behind it. */
function branchBack(m, z, g, scale) {
  const out = new Float64Array(WIDTH);
  for (let i = 0; i < WIDTH; i++) {
    const b = scale * g[i];
    for (let j = 0; j < WIDTH; j++) if (z[j] > 0) out[j] += m[i * WIDTH + j] * b;
  }
  return out;
}

const sum = (a, b) => a.map((x, i) => x + b[i]);

function forward(kind, m, x, scale) {
  if (kind === "none") return branch(m, x, scale);
  if (kind === "pre") return sum(x, branch(m, normed(x), scale));
  return normed(sum(x, branch(m, x, scale)));
}

function backward(kind, m, x, g, scale) {
  if (kind === "none") return branchBack(m, x, g, scale);
  if (kind === "pre") return sum(g, normBack(x, branchBack(m, normed(x), g, scale)));
  const behind = normBack(sum(x, branch(m, x, scale)), g);
  return sum(behind, branchBack(m, x, behind, scale));
}

/** Length of the gradient at layers 0..depth against the one at the end, and cosine with the input, mean over tokens. */
export function curves(seed, kind, depth, scale) {
  const { matrices, start, probe } = sample(seed);
  const squares = new Float64Array(depth + 1), cosines = new Float64Array(depth + 1);
  start.forEach((x, token) => {
    const states = [x];
    for (let l = 0; l < depth; l++) states.push(forward(kind, matrices[l], states[l], scale));
    let g = probe[token];
    for (let l = depth; l >= 0; l--) {
      if (l < depth) g = backward(kind, matrices[l], states[l], g, scale);
      squares[l] += dot(g, g);
      const size = Math.sqrt(dot(states[l], states[l]) * dot(x, x));
      if (size > 0) cosines[l] += dot(states[l], x) / size / TOKENS;
    }
  });
  return [Array.from(squares, (total) => Math.sqrt(total / squares[depth])), Array.from(cosines)];
}

/** Height of a value: 0 at the top of the plot, 1 at its bottom, null outside. which: 0 gradient, 1 cosine. */
export function placeOf(which, value) {
  const share = which === 1 ? (1 - value) / 1.4 : value > 0 ? (HIGH - Math.log10(value)) / (HIGH - LOW) : 2;
  return share >= 0 && share <= 1 ? share : null;
}

// -- the pictures -------------------------------------------------------------------------

const ROLE = { none: "warn", pre: "stream", post: "weights" }, DASH = { none: "2 3", pre: null, post: "6 3" };
const acrossOf = (layer) => PLOT.left + (layer / DEEPEST) * (PLOT.right - PLOT.left);
const downOf = (share) => PLOT.top + share * (PLOT.bottom - PLOT.top);
const raised = (p) => [...String(p)].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("");
const TICKS = [[6, 3, 0, -3, -6, -9, -12].map((p) => [10 ** p, p ? "10" + raised(p) : "1"]),
  [1, 0.5, 0].map((value) => [value, fix(value, 1)])];

function panel(which, found, chosen, words) {
  const svg = picture(WIDE, TALL, words);
  svg.append(s("text", { x: 4, y: 14 }, which ? tr("cosine with the input", "与输入的余弦")
    : tr("gradient at each layer, end = 1 (log)", "各层的梯度，末端为 1（对数）")));
  for (const [value, label] of TICKS[which]) {
    const y = downOf(placeOf(which, value)).toFixed(1);
    svg.append(s("path", { d: `M${PLOT.left} ${y}H${PLOT.right}`, class: "axis" }),
      s("text", { x: PLOT.left - 5, y: Number(y) + 4, class: "small end" }, label));
  }
  for (const layer of [0, 24, 48, 72, 96]) {
    svg.append(s("text", { x: acrossOf(layer), y: PLOT.bottom + 16, class: "small mid" }, layer));
  }
  svg.append(s("text", { x: (PLOT.left + PLOT.right) / 2, y: PLOT.bottom + 32, class: "mid" }, tr("layer", "层")));
  for (const kind of KINDS) {
    const seen = found[kind][which].map((v, i) => [i, placeOf(which, v)]).filter(([, share]) => share !== null);
    const points = seen.map(([i, share]) => `${acrossOf(i).toFixed(1)} ${downOf(share).toFixed(1)}`);
    svg.append(s("path", { d: points.length ? "M" + points.join("L") : null, class: "line-" + ROLE[kind],
      "stroke-dasharray": DASH[kind], style: `stroke-width:${kind === chosen ? 3 : 1.2}`, "data-kind": kind }));
  }
  KINDS.forEach((kind, i) => svg.append(
    s("path", { d: `M${4 + 100 * i} 246h22`, class: "line-" + ROLE[kind], "stroke-dasharray": DASH[kind] }),
    s("text", { x: 30 + 100 * i, y: 250, class: "small" }, tr(...NAMES[kind]))));
  return svg;
}

// -- the result in words ------------------------------------------------------------------

const NAMES = { none: ["no residual", "无残差"], pre: ["pre-norm", "前置归一化"], post: ["post-norm", "后置归一化"] };

function verdict(left) {
  if (left < 1e-6) return tr(" (it has vanished)", "（已经消失）");
  if (left > 1e6) return tr(" (it has exploded)", "（已经爆炸）");
  return "";
}

function sentence(depth, kind, scale, [gradients, cosines]) {
  const left = fmt(gradients[0]), cos = fix(cosines[depth]), [en, zh] = NAMES[kind];
  return tr(`${depth} layers, ${en}, branch scale ${scale.toFixed(2)}: at the input the gradient is ${left} of the one `
    + `at the end${verdict(gradients[0])}; at the end the cosine with the input is ${cos}.`,
  `${depth} 层，${zh}，支路缩放 ${scale.toFixed(2)}：输入处的梯度是末端的 ${left} 倍${verdict(gradients[0])}；`
    + `末端与输入的余弦为 ${cos}。`);
}

// -- the lab ------------------------------------------------------------------------------

function render({ model, el }) {
  const names = ["depth", "kind", "scale", "seed"];
  const start = Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const { picture: place, controls, say } = card(el, {
    title: tr("The stream, layer by layer", "逐层看残差流"),
    ask: tr("“The input is always there.” Which branch scale keeps the cosine above one half at 96 layers, and at which "
      + "scale does each kind lose its gradient?",
    "“输入始终都在。”支路缩放取多少，96 层之后余弦仍大于一半？每一种连接又在哪个缩放下失去梯度？"),
    reset: () => save(model, start),
  });
  const kinds = choice(tr("connection (thick line)", "连接方式（粗线）"), KINDS.map((kind) => [kind, tr(...NAMES[kind])]),
    start.kind, (kind) => save(model, { kind }));
  const deep = slider(tr("depth", "层数"), 1, DEEPEST, 1, start.depth, (v) => tr(`${v} layers`, `${v} 层`),
    (depth) => save(model, { depth }));
  const scales = slider(tr("branch scale", "支路缩放"), 0.1, 2, 0.05, start.scale, (v) => v.toFixed(2),
    (scale) => save(model, { scale }));
  const next = button(tr("New sample", "换一组样本"), () => save(model, { seed: (model.get("seed") % 9999) + 1 }));
  controls.append(kinds.node, deep.node, scales.node, next);
  let key = null, found = null;

  function draw() {
    const [depth, kind, scale, seed] = names.map((name) => model.get(name));
    if (key !== `${depth} ${scale} ${seed}`) {
      found = Object.fromEntries(KINDS.map((one) => [one, curves(seed, one, depth, scale)]));
      key = `${depth} ${scale} ${seed}`;
    }
    const text = sentence(depth, kind, scale, found[kind]);
    place.replaceChildren(panel(0, found, kind, tr("Gradient. ", "梯度。") + text),
      panel(1, found, kind, tr("Cosine. ", "余弦。") + text));
    kinds.set(kind);
    deep.set(depth);
    scales.set(scale);
    say(text);
  }
  draw();
  return watch(model, names, frame(draw));
}

export default { render };
