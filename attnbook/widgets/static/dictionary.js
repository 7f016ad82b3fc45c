// DictionaryLab: one query, five keys, five values; soft or hard, warm or cold.

/** {weights, output} of one query, as look_up in dictionary.py. */
export function lookUp(query, keys, values, temperature, hard) {
  const scores = keys.map((k) => dot(query, k) / Math.sqrt(2));
  const best = scores.indexOf(Math.max(...scores));
  const weights = hard ? scores.map((_, j) => (j === best ? 1 : 0)) : softmax(scores, temperature);
  return { weights, output: [0, 1].map((axis) => weights.reduce((sum, w, j) => sum + w * values[j][axis], 0)) };
}

/** How many keys are read: the exponential of the entropy. */
export const effective = (weights) => Math.exp(-weights.reduce((sum, w) => (w > 0 ? sum + w * Math.log(w) : sum), 0));

/** Corners of the convex hull, as hull_of in dictionary.py. */
export function hullOf(points) {
  const ordered = points.map((p) => [...p]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const half = (sequence) => {
    const chain = [];
    for (const p of sequence) {
      while (chain.length > 1 && turn(chain.at(-2), chain.at(-1), p) <= 0) chain.pop();
      chain.push(p);
    }
    return chain.slice(0, -1);
  };
  return [...half(ordered), ...half([...ordered].reverse())];
}

const SUB = "₁₂₃₄₅", REACH = 3, UNIT = 52, X0 = 170, Y0 = 165;
const to = ([x, y]) => [X0 + UNIT * x, Y0 - UNIT * y];
const from = ([x, y]) => [(x - X0) / UNIT, (Y0 - y) / UNIT];
const pair = ([x, y]) => `(${fix(x)}, ${fix(y)})`;

/** An empty plane with axes and a heading. */
function plane(label, live) {
  const svg = picture(340, 330, label, live);
  svg.append(s("path", { class: "axis", d: "M14 165H326M170 9V321" }), s("text", { x: 6, y: 14 }, label));
  return svg;
}

/** Left: five keys with their weights and the query to drag. */
function matchPlane(model) {
  const svg = plane(tr("keys and query", "键与查询"), true);
  const lines = SUB.split("").map(() => s("path", { class: "attn-weight" }));
  const names = SUB.split("").map(() => s("text", { class: "ink-key" }));
  const marks = SUB.split("").map(() => mark("key"));
  const query = handle(svg, { at: model.get("query"), to, from, min: -REACH, max: REACH, text: pair,
    label: tr("query", "查询"), move: (p) => save(model, { query: p }) },
    mark("query", 8), s("text", { x: 11, y: 16, class: "ink-query" }, "q"));
  svg.append(...lines, ...marks, ...names, query.node);
  return { svg, draw({ weights }) {
    const q = to(model.get("query"));
    model.get("k").map(to).forEach(([x, y], j) => {
      put(lines[j], { d: `M${q.map((v) => v.toFixed(1)).join(" ")}L${x.toFixed(1)} ${y.toFixed(1)}`,
        style: `stroke-width:${(0.4 + 9 * weights[j]).toFixed(2)}` });
      put(marks[j], { transform: `translate(${x} ${y})` });
      put(names[j], { x: x + 11, y: y - 8 }).textContent = `k${SUB[j]} ${fix(weights[j])}`;
    });
    query.set(model.get("query"));
  } };
}

/** Right: five values, their hull, and the output. */
function readPlane() {
  const svg = plane(tr("values and output", "值与输出"));
  const hull = s("path", { class: "attn-hull" }), out = s("path", { class: "attn-output" });
  const names = SUB.split("").map((n) => s("text", { class: "ink-value" }, "v" + n));
  const marks = SUB.split("").map(() => s("g"));
  const name = s("text", { class: "end attn-output-name" }, tr("output", "输出"));
  svg.append(hull, ...marks, ...names, out, name);
  return { svg, draw(values, { weights, output }) {
    put(hull, { d: "M" + hullOf(values).map(to).join("L") + "Z" });
    values.map(to).forEach(([x, y], j) => {
      put(marks[j], { transform: `translate(${x} ${y})` }).replaceChildren(mark("value", 4 + 7 * Math.sqrt(weights[j])));
      put(names[j], { x: x + 12, y: y - 8 });
    });
    const [x, y] = to(output);
    put(out, { d: `M${x - 7} ${y}L${x} ${y - 7}L${x + 7} ${y}L${x} ${y + 7}Z` });
    put(name, { x: x - 10, y: y + 18 });
  } };
}

function sentence(model, { weights, output }) {
  const best = weights.indexOf(Math.max(...weights)), w = fix(weights[best]), n = effective(weights), k = best + 1;
  const what = model.get("tied")
    ? tr(" Keys are values: it can only hand back what it matched on.", "键就是值：它只能交回用来匹配的东西。") : "";
  if (model.get("hard") || n < 1.02) {
    return tr(`A dictionary: key ${k} takes all (weight ${w}), and the output is value ${k}, ${pair(output)}.`,
      `像字典一样：键 ${k} 独占（权重 ${w}），输出就是值 ${k}，${pair(output)}。`) + what;
  }
  const end = n > 4.5 ? tr("nearly an average of all", "几乎是全体的平均") : tr("a blend", "一种混合");
  return tr(`Key ${k} gets weight ${w}; ${fix(n, 1)} of 5 keys are read in effect. The output ${pair(output)} is ${end}.`,
    `键 ${k} 的权重为 ${w}；有效读取 5 个键中的 ${fix(n, 1)} 个。输出 ${pair(output)} 是${end}。`) + what;
}

export default {
  render({ model, el }) {
    const traits = ["query", "heat", "hard", "tied"];
    const start = Object.fromEntries(traits.map((name) => [name, model.get(name)]));
    const lab = card(el, { title: tr(...model.get("title")), reset: () => save(model, start),
      ask: tr("at which temperature does the blend become a Python dict? Then choose hard and drag the query across a border.",
        "温度低到多少，混合就变成了 Python 字典？再选“硬”，把查询拖过边界。") });
    const left = matchPlane(model), right = readPlane();
    const heat = slider(tr("temperature", "温度"), -1.5, 1, 0.05, start.heat, (v) => fmt(10 ** v), (v) => save(model, { heat: v }));
    const kind = choice(tr("Choice", "选择方式"), [[false, tr("soft", "软")], [true, tr("hard", "硬")]], start.hard,
      (hard) => save(model, { hard }));
    const tied = toggle(tr("values are the keys (K = V)", "值就是键（K = V）"), start.tied, (on) => save(model, { tied: on }));
    lab.picture.append(left.svg, right.svg);
    lab.controls.append(heat.node, kind.node, tied.node);
    function draw() {
      const values = model.get(model.get("tied") ? "k" : "v");
      const now = lookUp(model.get("query"), model.get("k"), values, 10 ** model.get("heat"), model.get("hard"));
      left.draw(now);
      right.draw(values, now);
      heat.set(model.get("heat"));
      kind.set(model.get("hard"));
      tied.set(model.get("tied"));
      lab.say(sentence(model, now));
    }
    draw();
    return watch(model, traits, frame(draw));
  },
};
