// RopeLab: a query and a key at two positions; hands turn, and the score sees the distance only.

const QUERY = [1, 0.6, 0.9, -0.5, 0.4, 0.8, 0.2, 0.7], KEY = [0.9, 0.3, 0.7, 0.6, 0.5, -0.6, 0.6, 0.4];
const FAR = 127, BASES = [100, 10000], N = QUERY.length / 2;
const WIDE = 320, TALL = 300, RADIUS = 44, CENTRES = [[80, 56], [240, 56], [80, 164], [240, 164]]; // one picture
const LINE = 256, LEFT = 20, RIGHT = 300, MIDDLE = 150, HIGH = 105;

/** Radians a step of the four pairs. */
export const frequencies = (base) => [...Array(N).keys()].map((i) => base ** (-i / N));
/** Which features form each pair. */
export const pairsOf = (layout) => [...Array(N).keys()].map((i) => (layout === "half" ? [i, i + N] : [2 * i, 2 * i + 1]));
/** Each pair of a vector, turned by its position. */
export function hands(vector, position, base, layout) {
  const w = frequencies(base);
  return pairsOf(layout).map(([a, b], i) => {
    const c = Math.cos(position * w[i]), t = Math.sin(position * w[i]);
    return [vector[a] * c - vector[b] * t, vector[a] * t + vector[b] * c];
  });
}
/** Dot product of the turned vectors. */
export function score(query, key, base, layout) {
  const k = hands(KEY, key, base, layout);
  return hands(QUERY, query, base, layout).reduce((sum, hand, i) => sum + dot(hand, k[i]), 0);
}
const size = (v, layout) => pairsOf(layout).map(([a, b]) => Math.hypot(v[a], v[b]));
/** No score of either layout is larger than this. */
export const limit = () => Math.max(...["half", "interleaved"].map((layout) => dot(size(QUERY, layout), size(KEY, layout))));

const place = (p) => LEFT + ((RIGHT - LEFT) * p) / FAR;
const keep = (p) => Math.min(FAR, Math.max(0, Math.round(p)));
const words = (x, y, text, name = "small mid") => s("text", { x, y, class: name }, text);

/** The left picture: four clocks, and the line on which the two positions are dragged. */
function clocks(model) {
  const svg = picture(WIDE, TALL, tr("Two positions to drag, and the hands of four pairs", "两个可拖动的位置，以及四对特征的指针"), true);
  const faces = CENTRES.map(([x, y]) => {
    const parts = ["query", "key"].map((role) => ({ line: s("path", { class: "line-" + role }), end: s("g", {}, mark(role, 5)) }));
    const name = words(x, y + RADIUS + 15, "");
    svg.append(s("circle", { cx: x, cy: y, r: RADIUS, class: "axis" }), ...parts.flatMap((p) => [p.line, p.end]), name);
    return { x, y, parts, name };
  });
  svg.append(s("path", { class: "axis", d: `M${LEFT} ${LINE}H${RIGHT}` }), words(LEFT, TALL - 2, "0"), words(RIGHT, TALL - 2, FAR),
    words(WIDE / 2, TALL - 2, tr("position", "位置")));
  const grips = ["query", "key"].map((role, i) => {
    const y = LINE + (i ? 15 : -15);
    const one = handle(svg, { at: [model.get(role), 0], axis: "x", min: 0, max: FAR, step: 1, r: 15,
      label: [tr("position of the query", "查询的位置"), tr("position of the key", "键的位置")][i], text: (p) => fix(p[0], 0),
      to: (p) => [place(p[0]), y], from: (q) => [((q[0] - LEFT) * FAR) / (RIGHT - LEFT), 0],
      move: (p) => save(model, { [role]: keep(p[0]) }) }, mark(role, i ? 6 : 7));
    svg.append(one.node);
    return { role, one };
  });
  return { svg, draw(now) {
    const w = frequencies(now.base), pairs = pairsOf(now.pairing);
    const turned = [hands(QUERY, now.query, now.base, now.pairing), hands(KEY, now.key, now.base, now.pairing)];
    faces.forEach(({ x, y, parts, name }, i) => {
      parts.forEach(({ line, end }, side) => {
        const [u, v] = turned[side][i], to = [x + (RADIUS * u) / 1.3, y - (RADIUS * v) / 1.3].map((z) => z.toFixed(1));
        put(line, { d: `M${x} ${y}L${to.join(" ")}` });
        put(end, { transform: `translate(${to})` });
      });
      name.textContent = `${pairs[i][0] + 1}, ${pairs[i][1] + 1}: ${fmt(w[i])} rad`;
    });
    grips.forEach(({ role, one }) => one.set([now[role], 0]));
  } };
}

/** The right picture: the score over the distance, and the present one. */
function curve() {
  const svg = picture(WIDE, TALL, tr("Score over the distance of query and key", "得分随查询与键的距离的变化"));
  const line = s("path", { class: "line-stream", style: "stroke-width:1.5" }), dotted = s("circle", { r: 7, class: "fill-weights" });
  svg.append(s("text", { x: 4, y: 14 }, tr("score", "得分")),
    s("path", { class: "axis", d: `M${LEFT} ${MIDDLE}H${RIGHT}M${WIDE / 2} ${MIDDLE - HIGH}V${MIDDLE + HIGH}` }), line, dotted,
    words(LEFT, TALL - 2, `−${FAR}`), words(RIGHT, TALL - 2, FAR), words(WIDE / 2, TALL - 2, tr("distance, query − key", "距离，查询 − 键")));
  const top = limit();
  return { svg, draw({ query, key, base, pairing }) {
    const at = (far) => [LEFT + ((RIGHT - LEFT) * (far + FAR)) / (2 * FAR), MIDDLE - (HIGH * score(far, 0, base, pairing)) / top];
    const points = [...Array(2 * FAR + 1).keys()].map((i) => at(i - FAR).map((z) => z.toFixed(1)).join(" "));
    put(line, { d: "M" + points.join("L") });
    const [cx, cy] = at(query - key);
    put(dotted, { cx: cx.toFixed(2), cy: cy.toFixed(2) });
  } };
}

function sentence({ query, key, base, pairing }) {
  const value = fix(score(query, key, base, pairing)), far = fix(query - key, 0);
  const other = fix(score(query, key, base, pairing === "half" ? "interleaved" : "half"));
  return tr(`Query at position ${query}, key at ${key}: distance ${far}, score ${value}. Any two positions with this distance have this score. `
    + `The other layout would give ${other}: another pairing, another model.`,
  `查询在位置 ${query}，键在位置 ${key}：距离 ${far}，得分 ${value}。任何相距这么远的两个位置，得分都是这个数。`
    + `换成另一种配对方式，得分是 ${other}：配对不同，模型也不同。`);
}

export default {
  render({ model, el }) {
    const traits = ["query", "key", "pairing", "base"];
    const start = Object.fromEntries(traits.map((name) => [name, model.get(name)]));
    const lab = card(el, { title: tr(...model.get("title")), reset: () => save(model, start),
      ask: tr("move both together: every hand turns. Does the score change? Then move one of them alone.",
        "把两者一起移动：每根指针都在转，得分变了吗？再只移动其中一个。") });
    const left = clocks(model), right = curve();
    const together = slider(tr("both together, the earlier one at", "一起移动，较前的一个在"), 0, FAR, 1, 0, String, (v) => {
      const [q, k] = [model.get("query"), model.get("key")], by = Math.min(v - Math.min(q, k), FAR - Math.max(q, k));
      save(model, { query: q + by, key: k + by });
    });
    const pairing = choice(tr("pairs", "配对"), [["half", tr("halves", "前后两半")], ["interleaved", tr("neighbours", "相邻")]], start.pairing,
      (v) => save(model, { pairing: v }));
    const base = choice(tr("base", "基数"), BASES.map((b) => [b, String(b)]), start.base, (v) => save(model, { base: v }));
    lab.picture.append(left.svg, right.svg);
    lab.controls.append(together.node, pairing.node, base.node);
    function draw() {
      const now = Object.fromEntries(traits.map((name) => [name, model.get(name)]));
      left.draw(now);
      right.draw(now);
      together.set(Math.min(now.query, now.key));
      pairing.set(now.pairing);
      base.set(now.base);
      lab.say(sentence(now));
    }
    draw();
    return watch(model, traits, frame(draw));
  },
};
