// SoftmaxLab: scores are dragged, a temperature divides them; shares, entropy, argmax and Jacobian answer.

const FACTOR = { none: 1, plus: 1, double: 2, ten: 10, hundred: 100 };
/** The scores after a change: +100, or a factor. */
export const changed = (logits, change) => logits.map((x) => FACTOR[change] * x + (change === "plus" ? 100 : 0));
/** Entropy in nats; its exponential is the number of candidates really in play. */
export const entropyOf = (p) => -p.reduce((sum, x) => sum + (x > 0 ? x * Math.log(x) : 0), 0);
/** J[i][j] = p_i (δ_ij − p_j) / T. */
export const jacobian = (p, temperature = 1) => p.map((a, i) => p.map((b, j) => (a * ((i === j) - b)) / temperature));
/** Root of the sum of squares. */
export const normOf = (m) => Math.sqrt(m.flat().reduce((sum, x) => sum + x * x, 0));
/** Place of the largest, the first of equals. */
export const argmax = (x) => x.indexOf(Math.max(...x));

const SUB = "₁₂₃₄₅", REACH = 4, LOW = 0.05, HIGH = 10;
const WIDE = 320, TALL = 330, ZERO = 92, UNIT = 17, FLOOR = 286, BAR = 92; // one picture, in the viewBox
const MAP = 270, LEFT = 28, TOP = 26; // the map of the Jacobian
const START = { five: [2, 1, 0.1, -0.5, -1.5], three: [2, 1, 0.1], close: [1, 0.9, 0.8], table: [1, 2, 3] };
const columnOf = (i, n) => (WIDE * (i + 0.5)) / n;
const clip = (v) => Math.min(REACH, Math.max(-REACH, v));
const level = (v) => ZERO - UNIT * v;
/** A score in words: short, and with its sign. */
const short = (x) => (Math.abs(x) >= 100 ? fix(x, 0) : Math.abs(x) >= 10 ? fix(x, 1) : fix(x, 2));

/** The left picture for n scores: handles above, shares below. */
function choosing(model, n) {
  const svg = picture(WIDE, TALL, tr("Scores to drag, and the shares they give", "可拖动的分数，以及得到的份额"), true);
  svg.append(s("path", { class: "axis", d: `M6 ${ZERO}H${WIDE - 6}M6 ${FLOOR}H${WIDE - 6}` }),
    s("text", { x: 4, y: 14 }, tr("scores", "分数")), s("text", { x: 4, y: FLOOR - BAR - 16 }, tr("shares", "份额")));
  const columns = [...Array(n).keys()].map((i) => {
    const x = columnOf(i, n);
    const stem = s("path", { class: "line-stream" }), name = s("text", { x, class: "mid" });
    const bar = s("rect", { x: x - 16, width: 32, class: "fill-weights" });
    const share = s("text", { x, y: FLOOR + 17, class: "mid" }), crown = s("text", { x, class: "mid attn-crown" });
    const one = handle(svg, { at: [i, 0], axis: "y", min: -REACH, max: REACH, step: 0.1,
      label: tr(`score ${i + 1}`, `分数 ${i + 1}`), text: (p) => fix(p[1]),
      to: (p) => [x, level(p[1])], from: (q) => [i, (ZERO - q[1]) / UNIT],
      move: (p) => save(model, { logits: model.get("logits").map((old, j) => (j === i ? p[1] : old)) }),
    }, s("circle", { r: 7, class: "fill-stream" }));
    svg.append(stem, bar, share, crown, name, one.node);
    return { stem, name, bar, share, crown, one, i, x };
  });
  return { svg, n, draw({ logits, scores, p }) {
    const best = argmax(scores);
    for (const c of columns) {
      const y = level(clip(logits[c.i])), tall = BAR * p[c.i];
      c.one.set([c.i, logits[c.i]]);
      put(c.stem, { d: `M${c.x} ${ZERO}V${y}` });
      put(c.name, { y: logits[c.i] >= 0 ? y - 12 : y + 22 });
      c.name.textContent = short(scores[c.i]);
      put(c.bar, { y: FLOOR - tall, height: tall });
      c.share.textContent = fix(p[c.i], 3);
      put(c.crown, { y: FLOOR - tall - 5 });
      c.crown.textContent = c.i === best ? "argmax" : "";
    }
  } };
}

/** The right picture: the Jacobian, its numbers in their cells; the fill says how large, the hatching that it is negative. */
function mapOf(n) {
  const svg = picture(MAP + 40, TALL, tr("Jacobian: how share i moves when score j is nudged", "雅可比矩阵：分数 j 变动时份额 i 如何变化"));
  const side = MAP / n, id = "attn-minus-" + Math.random().toString(36).slice(2);
  svg.append(s("defs", {}, s("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
    s("path", { d: "M0 6L6 0", class: "attn-hatch" }))),
    s("text", { x: LEFT, y: 14 }, tr("∂ share i / ∂ score j", "∂ 份额 i / ∂ 分数 j")));
  const cells = [...Array(n * n).keys()].map((k) => {
    const i = Math.floor(k / n), j = k % n, box = { x: LEFT + j * side, y: TOP + i * side, width: side, height: side };
    const fill = s("rect", box), minus = s("rect", { ...box, fill: `url(#${id})` });
    const text = s("text", { x: box.x + side / 2, y: box.y + side / 2 + 5, class: "mid" });
    svg.append(fill, minus, s("rect", { ...box, class: "attn-cell" }), text);
    return { fill, minus, text };
  });
  for (let i = 0; i < n; i++) {
    svg.append(s("text", { x: LEFT - 8, y: TOP + (i + 0.5) * side + 5, class: "end muted" }, i + 1),
      s("text", { x: LEFT + (i + 0.5) * side, y: TOP + MAP + 18, class: "mid muted" }, i + 1));
  }
  return { svg, draw({ J }) {
    J.flat().forEach((value, k) => {
      put(cells[k].fill, { class: value < 0 ? "fill-stream" : "fill-weights", opacity: Math.min(0.45, 0.9 * Math.abs(value)).toFixed(3) });
      put(cells[k].minus, { display: value < -0.005 ? null : "none" });
      cells[k].text.textContent = fix(value);
    });
  } };
}

/** Everything the pictures need. */
function compute(model) {
  const logits = model.get("logits"), T = model.get("temperature"), scores = changed(logits, model.get("change"));
  const p = softmax(scores, T), J = jacobian(p, T);
  return { logits, scores, T, p, J };
}

function sentence(model, { logits, p, J, T }) {
  const i = argmax(p), e = entropyOf(p), norm = normOf(J), moved = Math.max(...softmax(logits, T).map((x, k) => Math.abs(x - p[k])));
  const change = {
    none: ["", ""],
    plus: [" Adding 100 to every score changed nothing: only gaps count.", "给每个分数加 100，什么也没变：起作用的只有差距。"],
    double: [` Doubling every score moved a share by ${fix(moved)}: all gaps have doubled.`, `每个分数加倍，有一个份额变动了 ${fix(moved)}：所有差距都加倍了。`],
    ten: [` Ten times the scores moved a share by ${fix(moved)}.`, `分数乘以 10，有一个份额变动了 ${fix(moved)}。`],
    hundred: [` A hundred times the scores moved a share by ${fix(moved)}.`, `分数乘以 100，有一个份额变动了 ${fix(moved)}。`],
  }[model.get("change")];
  return tr(`Largest share ${fix(p[i], 3)} (score ${i + 1}); entropy ${fix(e)} nats, as if ${fix(Math.exp(e))} of ${p.length} were in play; norm of the Jacobian ${fmt(norm)}.${change[0]}`,
    `最大份额 ${fix(p[i], 3)}（分数 ${i + 1}）；熵 ${fix(e)} 奈特，相当于 ${p.length} 个候选中有 ${fix(Math.exp(e))} 个在起作用；雅可比矩阵的范数 ${fmt(norm)}。${change[1]}`);
}

export default {
  render({ model, el }) {
    const traits = ["logits", "temperature", "change"];
    const start = Object.fromEntries(traits.map((name) => [name, model.get(name)]));
    const lab = card(el, { title: tr(...model.get("title")), reset: () => save(model, start),
      ask: tr("does adding 100 to every score change a share? Does doubling every score?", "给每个分数都加 100，份额会变吗？把每个分数都加倍呢？") });
    const temper = (T) => save(model, { temperature: Number(T.toPrecision(3)) });
    const heat = slider(tr("temperature T", "温度 T"), Math.log10(LOW).toFixed(2), Math.log10(HIGH), 0.005, Math.log10(start.temperature),
      (v) => fix(10 ** v), (v) => temper(Math.min(HIGH, Math.max(LOW, 10 ** v))));
    const marks = choice(tr("T of the table", "表中的 T"), [0.2, 0.7, 1, 1.5].map((T) => [T, T.toFixed(1)]), start.temperature, temper);
    const then = choice(tr("Then", "然后"), [["none", tr("as they are", "不改动")], ["plus", "+ 100"], ["double", "× 2"], ["ten", "× 10"], ["hundred", "× 100"]],
      start.change, (change) => save(model, { change }));
    const from = h("fieldset", { class: "attn-choice" }, h("legend", {}, tr("Scores", "分数")), h("div", {}, ...Object.values(START).map((row) =>
      button(row.map((x) => String(x).replace("-", "−")).join(", "), () => save(model, { logits: row })))));
    lab.controls.append(heat.node, marks.node, then.node, from);
    let left = null, right = null;
    function draw() {
      const now = compute(model), n = now.logits.length;
      if (!left || left.n !== n) {
        left = choosing(model, n);
        right = mapOf(n);
        lab.picture.replaceChildren(left.svg, right.svg);
      }
      left.draw(now);
      right.draw(now);
      heat.set(Math.log10(now.T));
      marks.set(now.T);
      then.set(model.get("change"));
      lab.say(sentence(model, now));
    }
    draw();
    return watch(model, traits, frame(draw));
  },
};
