// CoreferenceExplorer: click a word and see what it reads in one layer, one head, one model.
// The data's shape stands at the top of attnbook/widgets/coreference.py. Nothing is computed here but one row.

const FACETS = ["name", "layers", "causal", "seed"]; // what can tell two models apart
const ROOM = 34; // above a line of words, for the arcs, in CSS pixels
const TALL = 44; // bar of the weight 1
const THICK = 9; // arc of the weight 1
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** A stored row, rounded to 3 decimals, divided by its sum so that it is a row of weights again. */
export function rowOf(weights) {
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((w) => w / sum);
}

const unpacked = new Map(); // packed text -> its bytes, decoded once

/** A row of a model as it is stored: n weights, or n bytes that sum to 255 of a packed map. */
export function storedRow(net, reading, layer, head, query, n) {
  const weights = net.readings[reading].weights;
  if (!weights.packed) return weights[layer][head][query];
  if (!unpacked.has(weights.packed)) {
    unpacked.set(weights.packed, Uint8Array.from(atob(weights.packed), (c) => c.charCodeAt(0)));
  }
  const begin = ((layer * net.heads + head) * n + query) * (n - 1);
  const row = [...unpacked.get(weights.packed).slice(begin, begin + n - 1)];
  return [...row, 255 - row.reduce((a, b) => a + b, 0)]; // the last one is not stored
}

/** Places of the n largest weights, the largest first; the earlier word wins a tie. */
export const strongest = (row, n = 3) => row.map((w, j) => j).sort((a, b) => row[b] - row[a] || a - b).slice(0, n);

/** Index of the model that has this value of a facet and otherwise differs least from the present one. */
export function closest(models, now, facet, value) {
  const score = (m) => FACETS.filter((f) => f !== facet && same(m[f], models[now][f])).length;
  const fit = models.map((_, i) => i).filter((i) => same(models[i][facet], value));
  return fit.reduce((best, i) => (score(models[i]) > score(models[best]) ? i : best), fit[0]);
}

/** Indices of the models that differ from the present one in the seed alone. */
export const siblings = (models, now) => models.map((_, i) => i).filter((i) => i !== now
  && FACETS.every((f) => f === "seed" || same(models[i][f], models[now][f])));

/** Path between two words {x, top, bottom}: an arc above one line, or a bend through the gap between two lines. */
export function arc(from, to, room) {
  if (Math.abs(from.top - to.top) > 4) {
    const [y1, y2] = from.top > to.top ? [from.top, to.bottom] : [from.bottom, to.top];
    return `M${from.x} ${y1}C${from.x} ${(y1 + y2) / 2} ${to.x} ${(y1 + y2) / 2} ${to.x} ${y2}`;
  }
  const side = from.x === to.x ? 7 : 0, wide = from.x === to.x ? 16 : 0;
  const peak = from.top - Math.min(room, 12 + 0.25 * Math.abs(to.x - from.x)) / 0.75;
  return `M${from.x - side} ${from.top}C${from.x - wide} ${peak} ${to.x + wide} ${peak} ${to.x + side} ${to.top}`;
}

// -- the state, and what it selects -------------------------------------------------------

const NAMES = ["reading", "model_index", "layer", "head", "word", "cut"];

/** Everything the picture needs, from the traits; layer and head are kept inside the model, the cut inside the data. */
function look(model) {
  const data = model.get("data"), reading = model.get("reading");
  const now = model.get("model_index"), net = data.models[now];
  const layer = Math.min(model.get("layer"), net.layers - 1), head = Math.min(model.get("head"), net.heads - 1);
  const words = data.words[reading], query = Math.min(model.get("word"), words.length - 1);
  const result = net.readings[reading];
  const cuts = (result.cuts || []).filter((c) => c.layer === layer && c.head === head && c.query === query);
  const cut = cuts.find((c) => c.key === model.get("cut")) || null;
  const rowIn = (model, of) => storedRow(model, of, layer, head, query, words.length);
  const row = rowOf(rowIn(net, reading));
  const group = (data.sentences || [Object.keys(data.words)]).find((g) => g.includes(reading));
  const others = group.filter((r) => r !== reading);
  return { data, reading, now, net, layer, head, words, query, result, cuts, cut, row, rowIn, group, others };
}

const quoted = (word) => `“${word}”`;
const isCut = (v, key) => v.cut !== null && v.cut.key === key;
const masked = (v, key) => v.net.causal && key > v.query;
const percent = (p) => (p === null || p === undefined ? "–" : fix(p, 3));
const seedName = (net) => tr(`seed ${net.seed}`, `种子 ${net.seed}`);
const seedPart = (net) => (net.seed === null ? "" : seedName(net) + tr(", ", "；"));

/** The map on show, always by its full name. */
function mapName(v) {
  const n = v.net, kind = n.name ? tr(...n.name) + tr(", ", "，") : "";
  const hit = n.accuracy === undefined || n.accuracy === null ? ""
    : tr(`; accuracy ${percent(n.accuracy)} on unseen word pairs`, `；未见过的词对上正确率 ${percent(n.accuracy)}`);
  const mask = n.causal ? tr("causal mask", "有因果掩码") : tr("no mask", "无掩码");
  return kind + tr(
    `layer ${v.layer + 1} of ${n.layers}, head ${v.head + 1} of ${n.heads}, ${seedPart(n)}${mask}`,
    `共 ${n.layers} 层，第 ${v.layer + 1} 层；共 ${n.heads} 个头，第 ${v.head + 1} 个头；${seedPart(n)}${mask}`) + hit;
}

function sentence(v) {
  const comma = tr(", ", "、"), word = v.words[v.query];
  const most = strongest(v.row).filter((j) => v.row[j] >= 0.005);
  const reads = most.map((j) => `${v.words[j]} ${fix(v.row[j])}`).join(comma);
  const sum = fix(v.row.reduce((a, b) => a + b, 0), 3), later = v.words.length - 1 - v.query;
  let text = tr(`${quoted(word)} reads ${reads}; its row sums to ${sum}.`, `${quoted(word)}读到：${reads}；这一行之和为 ${sum}。`);
  if (v.net.causal && later) {
    text += tr(` The mask hides the ${later} later ${later > 1 ? "words" : "word"} from it.`, `掩码遮住了它后面的 ${later} 个词。`);
  }
  return text + unchanged(v) + answerWords(v);
}

/** Says so when the other readings give this very row. */
function unchanged(v) {
  const rows = v.others.map((r) => v.rowIn(v.net, r)), stored = v.rowIn(v.net, v.reading);
  const digits = v.result.weights.packed ? 2 : 3;
  return rows.length && rows.every((row) => same(row, stored))
    ? tr(` The row is the same with ${v.others.map(quoted).join(", ")}, to ${digits} decimals.`,
      `换成${v.others.map(quoted).join("、")}，这一行不变（精确到 ${digits} 位小数）。`) : "";
}

function answerWords(v) {
  const now = v.cut ? v.cut.answer : v.result.answer;
  if (!now) return "";
  const best = (answer) => Object.keys(answer).sort((a, b) => answer[b] - answer[a])[0];
  const p = (answer) => fix(answer[best(answer)], 3);
  const words = (answer) => best(answer) + tr(` (${p(answer)})`, `（${p(answer)}）`);
  if (!v.cut) return tr(` The model answers ${words(now)}.`, `模型的回答：${words(now)}。`);
  const line = `${v.words[v.query]} → ${v.words[v.cut.key]}`;
  return tr(` With ${line} set to 0, and the rest of the row divided by its new sum, the model answers ${words(now)}; `
    + `before, ${words(v.result.answer)}.`,
    `把 ${line} 设为 0，这一行其余的权重除以新的和，模型回答 ${words(now)}；此前是 ${words(v.result.answer)}。`);
}

/** What this word reads most in the models that differ in the seed alone. */
function elsewhere(v) {
  const others = siblings(v.data.models, v.now).map((i) => v.data.models[i]);
  if (!others.length) return "";
  const reads = others.map((m) => {
    const row = rowOf(v.rowIn(m, v.reading)), key = strongest(row, 1)[0];
    const accuracy = tr(` (accuracy ${percent(m.accuracy)})`, `（正确率 ${percent(m.accuracy)}）`);
    return `${seedName(m)} ${v.words[key]} ${fix(row[key])}${accuracy}`;
  });
  return tr(`In the other seeds ${quoted(v.words[v.query])} reads most, in this layer and head: ${reads.join(", ")}.`,
    `换成其他种子，在同一层同一个头里，${quoted(v.words[v.query])}读得最多的是：${reads.join("、")}。`);
}

// -- the picture --------------------------------------------------------------------------

/** The words as one group of radio buttons: {node, show(view)}; words are remade only for another sentence. */
function wordRow(pick) {
  const line = h("div", { class: "words" }), arcs = s("svg", { class: "arcs", "aria-hidden": "true" }), name = fresh();
  const node = h("div", { class: "coref" }, arcs, h("fieldset", {},
    h("legend", {}, tr("Which word asks (query)? Bars and lines: its weight on each word (key).",
      "哪个词在提问（查询）？条和线是它给每个词（键）的权重。")), line));
  let shown = null, cells = [], view = null, places = null; // measured again only when words or width change
  function make(words) {
    cells = words.map((word, j) => {
      const part = (kind, ...kids) => h("span", { class: kind }, ...kids);
      const cell = { input: h("input", { type: "radio", name, value: j, ...keys }), token: part("token", word),
        bar: h("i"), box: part("bar"), number: part("number") };
      cell.box.append(cell.bar);
      cell.input.addEventListener("change", () => pick(j));
      line.append(h("label", {}, cell.input, cell.token, cell.box, cell.number));
      return cell;
    });
  }
  function measure() {
    const outer = node.getBoundingClientRect();
    places = outer.width ? cells.map(({ token, number }) => {
      const box = token.getBoundingClientRect(), below = number.getBoundingClientRect();
      return { x: Math.round(box.left - outer.left + box.width / 2), top: Math.round(box.top - outer.top) - 1,
        bottom: Math.round(below.bottom - outer.top) };
    }) : null;
  }
  function link() {
    if (!places) measure();
    const drawn = places ? view.row.map((w, j) => j).filter((j) => view.row[j] >= 0.005 && !masked(view, j)) : [];
    arcs.replaceChildren(...drawn.map((j) => s("path", { d: arc(places[view.query], places[j], ROOM),
      "stroke-width": Math.max(0.7, THICK * view.row[j]), "data-key": j, class: isCut(view, j) ? "cut" : null })));
  }
  function show(v) {
    view = v;
    if (!same(shown, v.words)) {
      if (shown && shown.length === v.words.length) v.words.forEach((word, j) => (cells[j].token.textContent = word));
      else { line.replaceChildren(); make(v.words); }
      [shown, places] = [v.words, null];
    }
    cells.forEach((cell, j) => {
      cell.input.checked = j === v.query;
      cell.box.className = masked(v, j) ? "bar off" : "bar";
      cell.bar.style.height = TALL * v.row[j] + "px";
      cell.bar.dataset.weight = v.row[j];
      cell.number.classList.toggle("cut", isCut(v, j));
      cell.number.textContent = masked(v, j) ? "–" : fix(v.row[j]);
    });
    link();
  }
  const watcher = new ResizeObserver(() => { places = null; if (view) link(); });
  watcher.observe(node);
  return { node, show, stop: () => watcher.disconnect() };
}

/** The model's answer as two short bars. */
function answerBars() {
  const node = h("div", { class: "coref-answer" });
  return { node, show(v) {
    const answer = v.cut ? v.cut.answer : v.result.answer;
    node.hidden = !answer;
    node.style.display = answer ? "" : "none";
    if (!answer) return;
    const name = v.cut ? tr("The model's answer with this line cut", "切断这条线后模型的回答（概率）")
      : tr("The model's answer, as probabilities", "模型的回答（概率）");
    node.replaceChildren(h("span", {}, name),
      ...Object.entries(answer).flatMap(([noun, p]) => [h("span", {}, noun),
        h("span", { class: "track" }, h("i", { style: `width:${100 * p}%` })), h("span", {}, fix(p, 3))]));
  } };
}

// -- the controls -------------------------------------------------------------------------

/** A control that is there only while there is a choice, and is remade only when its options change. */
function selector(label, change, many = 12) {
  const node = h("div"), made = { options: null, control: null };
  return { node, show(options, value) {
    node.style.display = options.length > 1 ? "" : "none";
    if (!same(options, made.options)) {
      made.options = options;
      made.control = (options.length > many ? menu : choice)(label, options, value, change);
      node.replaceChildren(made.control.node);
    }
    made.control.set(value);
  } };
}

/** A native drop-down, for more options than fit as buttons: {node, set(value)}. */
function menu(label, options, value, change) {
  const items = options.map(([, words], i) => h("option", { value: i }, words));
  const list = h("select", { class: "attn-button", style: "max-width:100%", ...keys }, ...items);
  list.addEventListener("change", () => change(options[list.value][0]));
  return { node: h("label", {}, label + " ", list), set: (v) => (list.value = options.findIndex(([o]) => o === v)) };
}

const counted = (n) => [...Array(n).keys()].map((i) => [i, String(i + 1)]);
const unique = (list) => list.filter((x, i) => list.findIndex((y) => same(x, y)) === i);

function controlsOf(model, view) {
  const set = (values) => save(model, { cut: -1, ...values });
  const values = (data, name) => unique(data.models.map((m) => m[name])).sort((a, b) => a - b || 0);
  const facet = (name) => (i) => {
    const data = model.get("data");
    set({ model_index: closest(data.models, model.get("model_index"), name, values(data, name)[i]) });
  };
  const facets = (v, name, words) => {
    const found = values(v.data, name);
    return [found.map((x, i) => [i, words(x)]), found.findIndex((x) => same(x, v.net[name]))];
  };
  const group = (data) => data.sentences || [Object.keys(data.words)];
  const lines = (v) => (v.cuts.length === 0 ? []
    : [[-1, tr("none", "不切")], ...v.cuts.map((c) => [c.key, `${v.words[c.query]} → ${v.words[c.key]}`])]);
  const parts = [
    [tr("sentence", "句子"), (first) => set({ reading: first }),
      (v) => [group(v.data).map(([r]) => [r, v.data.words[r].join(" ")]), v.group[0]]],
    [tr("last word", "最后一个词"), (reading) => set({ reading }), (v) => [v.group.map((r) => [r, r]), v.reading]],
    [tr("layer", "层"), (layer) => set({ layer }), (v) => [counted(v.net.layers), v.layer]],
    [tr("head", "头"), (head) => set({ head }), (v) => [counted(v.net.heads), v.head]],
    [tr("model", "模型"), facet("name"), (v) => facets(v, "name", (n) => (n ? tr(...n) : tr("small model", "小模型")))],
    [tr("layers in the model", "模型的层数"), facet("layers"), (v) => facets(v, "layers", String)],
    [tr("mask", "掩码"), facet("causal"), (v) => facets(v, "causal", (c) => (c ? tr("causal", "因果") : tr("none", "无")))],
    [tr("seed", "种子"), facet("seed"), (v) => facets(v, "seed", (s) => (s === null ? tr("none", "无") : String(s)))],
    [tr("cut a line", "切断一条线"), (cut) => set({ cut }), (v) => [lines(v), v.cut ? v.cut.key : -1], 3],
  ].map(([label, change, options, many]) => ({ ...selector(label, change, many), options }));
  return { nodes: parts.map((p) => p.node), show: (v) => parts.forEach((p) => p.show(...p.options(v))) };
}

// -- the lab ------------------------------------------------------------------------------

function render({ model, el }) {
  const start = Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
  const lab = card(el, {
    title: tr(...model.get("title")),
    ask: model.get("data").ask ? tr(...model.get("data").ask) : tr("Predict, then click: which noun does “it” read when the last word changes? "
      + "Do equally accurate seeds agree, in layer 1 too?",
      "先猜再点：换掉最后一个词，“it”读到哪个名词？同样准确的种子读法一样吗？第 1 层也一样吗？"),
    reset: () => save(model, start),
  });
  const name = h("p", { class: "attn-note" }), note = h("p", { class: "attn-note" });
  const row = wordRow((word) => save(model, { word, cut: -1 })), answer = answerBars(), controls = controlsOf(model);
  lab.picture.before(name);
  lab.picture.append(row.node, answer.node);
  lab.controls.append(...controls.nodes);
  lab.root.querySelector(".attn-live").after(note);
  function draw() {
    const v = look(model);
    name.textContent = tr("Shown: ", "当前显示：") + mapName(v);
    controls.show(v);
    row.show(v);
    answer.show(v);
    note.textContent = elsewhere(v);
    lab.say(sentence(v));
  }
  draw();
  const stop = watch(model, [...NAMES, "data"], frame(draw));
  return () => { stop(); row.stop(); };
}

export default { render };
