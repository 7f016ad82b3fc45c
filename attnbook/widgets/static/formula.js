// FormulaLab: softmax(QKᵀ/√d_k)V for three tokens in the plane.

// Every stage of the formula; q, k, v are lists of rows.
export function attend(q, k, v) {
  const scores = q.map((x) => matvec(k, x));
  const scaled = scores.map((row) => row.map((x) => x / Math.sqrt(k[0].length)));
  const weights = scaled.map((row) => softmax(row));
  const output = weights.map((row) => v[0].map((_, axis) => row.reduce((sum, w, j) => sum + w * v[j][axis], 0)));
  return { scores, scaled, weights, output };
}

const ROLES = ["query", "key", "value"], LETTER = { query: "q", key: "k", value: "v" };
const STAGES = ["scores", "scaled", "weights", "output"];
const SUB = "₁₂₃", COLUMNS = [140, 215, 290];
const TOPS = [26, 100, 174, 248], BASES = [54, 128, 224]; // boxes of the stages, feet of their bars
const REACH = 3, UNIT = 52, X0 = 170, Y0 = 160;
const to = ([x, y]) => [X0 + UNIT * x, Y0 - UNIT * y];
const from = ([x, y]) => [(x - X0) / UNIT, (Y0 - y) / UNIT];
const pair = ([x, y]) => `(${fix(x)}, ${fix(y)})`;

const stageWords = () => ({ scores: tr("scores", "分数"), scaled: tr("scaled", "缩放"), weights: tr("weights", "权重"), output: tr("output", "输出") });

// The formula in words of HTML; one part of it is lit.
function formula() {
  const part = (stage, ...words) => h("span", { class: "attn-part", "data-stage": stage }, ...words);
  const ink = (role, word) => h("i", { class: "ink-" + role }, word);
  return h("p", { class: "attn-formula" }, part("weights", "softmax("), part("scores", ink("query", "Q"), " ", ink("key", "K"), "ᵀ"),
    part("scaled", " / √", h("i", {}, "d"), "ₖ"), part("weights", ")"), " ", part("output", ink("value", "V")));
}

// The plane: three handles for each role, the triangle of the values, the outputs.
function plane(model) {
  const svg = picture(340, 320, tr("Queries, keys, values and output in the plane", "平面上的查询、键、值与输出"), true);
  const hull = s("path", { class: "attn-hull" }), rays = s("path", { class: "attn-rays" });
  const others = s("path", { class: "attn-others" }), out = s("path", { class: "attn-out" });
  const name = s("text", { class: "end attn-outname" }, tr("output", "输出"));
  svg.append(s("path", { class: "axis", d: "M14 160H326M170 4V316" }), hull, rays, others, out, name);
  const words = { query: tr("query", "查询"), key: tr("key", "键"), value: tr("value", "值") };
  const handles = ROLES.flatMap((role) => [0, 1, 2].map((i) => {
    const trait = LETTER[role];
    const move = (p) => save(model, { [trait]: model.get(trait).map((old, j) => (j === i ? p : old)), ...(role === "query" ? { row: i } : {}) });
    const one = handle(svg, { at: model.get(trait)[i], to, from, min: -REACH, max: REACH, text: pair, move,
      label: tr(`${words[role]} of token ${i + 1}`, `词元 ${i + 1} 的${words[role]}`) },
      mark(role), s("text", { x: 10, y: -7, class: "ink-" + role }, trait + SUB[i]));
    one.node.addEventListener("focus", () => { if (model.get("role") !== role) save(model, { role }); });
    svg.append(one.node);
    return { ...one, role, i, trait };
  }));
  return { svg, draw({ output }) {
    const row = model.get("row"), end = to(output[row]), q = to(model.get("q")[row]);
    put(hull, { d: "M" + model.get("v").map(to).join("L") + "Z" });
    put(rays, { d: [q, ...model.get("k").map(to)].map((p) => `M${X0} ${Y0}L${p}`).join("") });
    put(others, { d: output.map((o, i) => (i === row ? "" : diamond(to(o), 4))).join("") });
    put(out, { d: arrow(X0, Y0, ...end) + diamond(end, 6) });
    put(name, { x: end[0] - 10, y: end[1] + 16 });
    for (const one of handles) {
      const on = one.role === model.get("role");
      one.set(model.get(one.trait)[one.i]);
      put(one.node, { tabindex: on ? 0 : -1, "data-faint": !on, "data-row": one.role === "query" && one.i === row });
    }
  } };
}
const diamond = ([x, y], r) => `M${x - r} ${y}L${x} ${y - r}L${x + r} ${y}L${x} ${y + r}Z`;

// The strip: four stages of one query, a column for each key.
function strip(model) {
  const svg = picture(340, 320, tr("The four stages for one query", "一个查询的四个阶段"));
  const words = stageWords();
  const boxes = STAGES.map((stage, n) => {
    const box = s("g", { class: "attn-stage" }, s("rect", { x: 1, y: TOPS[n], width: 338, height: 68, rx: 5 }),
      s("text", { x: 10, y: TOPS[n] + 28 }, words[stage]), s("text", { x: 10, y: TOPS[n] + 48, class: "muted" }));
    box.addEventListener("click", () => save(model, { stage }));
    return box;
  });
  const cells = COLUMNS.map((x, j) => ({
    bars: ["stream", "stream", "weights"].map((role) => s("rect", { x: x - 16, width: 32, class: "fill-" + role })),
    texts: TOPS.map((top, n) => s("text", { x, y: top + (n < 3 ? 63 : 28), class: "mid" })),
    head: s("text", { x, y: 17, class: "mid ink-key" }, "k" + SUB[j]),
  }));
  const lines = s("path", { class: "axis", d: COLUMNS.map((x) => BASES.map((y) => `M${x - 24} ${y}h48`).join("")).join("") });
  const total = s("text", { x: COLUMNS[1], y: TOPS[3] + 53, class: "mid attn-total" });
  svg.append(...boxes, ...cells.flatMap((c) => [...c.bars, ...c.texts, c.head]), lines, total);
  svg.classList.add("attn-strip");
  return { svg, draw({ scores, scaled, weights, output }) {
    const row = model.get("row"), q = "q" + SUB[row];
    const unit = 22 / Math.max(4, ...scores[row].map(Math.abs));
    boxes.forEach((box, n) => {
      put(box, { "data-lit": STAGES[n] === model.get("stage") });
      box.lastChild.textContent = [q + " · k", q + " · k / √2", "softmax", "Σ w v"][n];
    });
    cells.forEach((cell, j) => {
      const values = [scores[row][j], scaled[row][j], weights[row][j]];
      values.forEach((value, n) => {
        const one = n < 2 ? unit : 44;
        put(cell.bars[n], { y: BASES[n] - Math.max(value, 0) * one, height: Math.abs(value) * one });
        cell.texts[n].textContent = fix(value);
      });
      cell.texts[3].textContent = `${fix(values[2])} v${SUB[j]}`;
    });
    total.textContent = "= " + pair(output[row]);
  } };
}

// What just happened, in a sentence: the strongest key, the output, and the stage that is lit.
function sentence(model, { scores, scaled, weights, output }) {
  const row = model.get("row"), w = weights[row], j = w.indexOf(Math.max(...w)), i = row + 1, n = j + 1;
  const score = fix(scores[row][j]), less = fix(scaled[row][j]), weight = fix(w[j]);
  const stage = {
    scores: tr(`The score is the dot product q${SUB[row]} · k${SUB[j]} = ${score}, the largest of the three.`, `分数就是点积 q${SUB[row]} · k${SUB[j]} = ${score}，三者中最大。`),
    scaled: tr(`Divided by √dₖ = √2, the score ${score} becomes ${less}.`, `除以 √dₖ = √2，分数 ${score} 变为 ${less}。`),
    weights: tr(`Softmax makes the three scaled scores positive weights with the sum 1.`, `softmax 把三个缩放后的分数变成和为 1 的正权重。`),
    output: tr(`The output mixes the three values by these weights, so it stays inside their triangle.`, `输出按这些权重混合三个值，所以总在它们的三角形之内。`),
  }[model.get("stage")];
  return tr(`Weight of token ${i} on token ${n}: ${weight}; output ${pair(output[row])}. `, `词元 ${i} 对词元 ${n} 的权重：${weight}；输出 ${pair(output[row])}。`) + stage;
}

export default {
  render({ model, el }) {
    const traits = ["q", "k", "v", "row", "role", "stage"];
    const start = Object.fromEntries(traits.map((name) => [name, model.get(name)]));
    const lab = card(el, { title: tr(...model.get("title")), reset: () => save(model, start),
      ask: tr("can you drag a query, a key or a value so that the output leaves the triangle of the three values?",
        "拖动任意一个查询、键或值，能让输出离开三个值围成的三角形吗？") });
    const left = plane(model), right = strip(model), parts = formula();
    const choices = {
      role: choice(tr("Drag", "拖动"), [["query", tr("queries", "查询")], ["key", tr("keys", "键")], ["value", tr("values", "值")]], start.role, (role) => save(model, { role })),
      row: choice(tr("Query of token", "查询来自词元"), [[0, "1"], [1, "2"], [2, "3"]], start.row, (row) => save(model, { row })),
      stage: choice(tr("Stage", "阶段"), Object.entries(stageWords()), start.stage, (stage) => save(model, { stage })),
    };
    lab.picture.before(parts);
    lab.picture.append(left.svg, right.svg);
    lab.picture.after(h("p", { class: "attn-note" }, tr("Here dₖ = 2, so that every vector fits in a plane. The axes run from −3 to 3.", "这里 dₖ = 2，每个向量都能画在平面上。坐标轴从 −3 到 3。")));
    lab.controls.append(...Object.values(choices).map((one) => one.node));
    function draw() {
      const now = attend(model.get("q"), model.get("k"), model.get("v"));
      left.draw(now);
      right.draw(now);
      for (const part of parts.querySelectorAll(".attn-part")) put(part, { "data-lit": part.dataset.stage === model.get("stage") });
      for (const [name, one] of Object.entries(choices)) one.set(model.get(name));
      lab.say(sentence(model, now));
    }
    draw();
    return watch(model, traits, frame(draw));
  },
};
