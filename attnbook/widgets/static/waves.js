// WaveLab: the map of sinusoids, one column as a wave, and ALiBi's reach on the same axis as the wavelengths.

const BASE = 10000, WIDEST = 64, ROWS = 40, HEADS = 8, STEPS = 4;
const WIDE = 320, TALL = 300, MAP_TOP = 24, MAP_HIGH = 240, LEFT = 26, RIGHT = 314; // one picture, in the viewBox
const WAVE_MIDDLE = 70, WAVE_HIGH = 38, SEEN = 100, AXIS = 262, SPAN = 5;

/** Sinusoid of a position in a column: sine in the even ones, cosine of the same angle in the odd ones. */
export function entry(position, column, d) {
  const angle = position * BASE ** ((-2 * Math.floor(column / 2)) / d);
  return column % 2 ? Math.cos(angle) : Math.sin(angle);
}
/** Positions after which a pair is back where it was. */
export const wavelength = (pair, d) => 2 * Math.PI * BASE ** ((2 * pair) / d);
/** ALiBi's slope of head 1 to 8 of eight. */
export const slope = (head) => 2 ** -head;
/** A value of −1 to 1 as one of nine shades, −4 to 4. */
export const level = (value) => Math.floor(value * STEPS + 0.5);

const count = (n) => [...Array(n).keys()];
const at = (length) => LEFT + ((RIGHT - LEFT) * Math.log10(length)) / SPAN;
const small = (x, y, text) => s("text", { x, y, class: "small mid" }, text);

/** The left picture: rows are positions, columns are features; one path a shade. */
function mapOf() {
  const svg = picture(WIDE, TALL, tr("Map of the sinusoids: positions by features", "正弦编码的图：位置乘特征"));
  const shades = [-4, -3, -2, -1, 1, 2, 3, 4].map((shade) => [shade, s("path", { class: shade > 0 ? "fill-weights" : "fill-stream",
    "fill-opacity": ((0.85 * Math.abs(shade)) / STEPS).toFixed(3) })]);
  const frameOf = s("rect", { y: MAP_TOP - 2, height: MAP_HIGH + 4, class: "attn-chosen" });
  svg.append(s("text", { x: 4, y: 14 }, tr("rows: positions 0 to 39, columns: features", "行：位置 0 到 39，列：特征")),
    ...shades.map(([, path]) => path), frameOf,
    s("text", { x: LEFT, y: TALL - 18, class: "small" }, tr("purple: above 0, grey: below", "紫：大于 0，灰：小于 0")));
  let drawn = 0;
  return { svg, draw({ d, column }) {
    const wide = (RIGHT - LEFT) / d, high = MAP_HIGH / ROWS;
    put(frameOf, { x: LEFT + column * wide, width: wide });
    if (drawn === d) return;
    drawn = d;
    const cells = Object.fromEntries(shades.map(([shade]) => [shade, []]));
    for (const p of count(ROWS)) for (const c of count(d)) {
      const shade = level(entry(p, c, d)), w = wide.toFixed(1);
      if (shade) cells[shade].push(`M${(LEFT + c * wide).toFixed(1)} ${MAP_TOP + p * high}h${w}v${high}h-${w}z`);
    }
    shades.forEach(([shade, path]) => put(path, { d: cells[shade].join("") }));
  } };
}

/** The right picture: the column as a wave, and all lengths on one logarithmic axis. */
function waveOf() {
  const svg = picture(WIDE, TALL, tr("One column as a wave; wavelengths and reach", "一列特征的波；波长与作用范围"));
  const name = s("text", { x: 4, y: 14 }), line = s("path", { class: "line-weights", style: "stroke-width:1.5" });
  const pairs = s("g"), heads = s("g");
  svg.append(name, s("path", { class: "axis", d: `M${LEFT} ${WAVE_MIDDLE}H${RIGHT}M${LEFT} ${AXIS - 18}H${RIGHT}` }), line,
    s("text", { x: 4, y: 146 }, tr("wavelengths of the pairs", "各对的波长")),
    s("text", { x: 4, y: 202 }, tr("ALiBi: steps for one unit of score", "ALiBi：减 1 分要走的步数")), pairs, heads,
    ...count(6).map((power) => small(at(10 ** power), AXIS, "10" + "⁰¹²³⁴⁵"[power])), small((LEFT + RIGHT) / 2, AXIS + 18, tr("positions", "位置数")));
  return { svg, draw({ d, column, head }) {
    name.textContent = tr(`column ${column} over positions 0 to ${SEEN}`, `第 ${column} 列，位置 0 到 ${SEEN}`);
    put(line, { d: "M" + count(SEEN + 1).map((p) => `${(LEFT + ((RIGHT - LEFT) * p) / SEEN).toFixed(1)} `
      + (WAVE_MIDDLE - WAVE_HIGH * entry(p, column, d)).toFixed(1)).join("L") });
    const chosen = Math.floor(column / 2);
    pairs.replaceChildren(...count(d / 2).map((i) => s("circle", { cx: at(wavelength(i, d)).toFixed(2), cy: 164, r: i === chosen ? 7 : 3,
      class: i === chosen ? "fill-weights" : "attn-rest" })));
    heads.replaceChildren(...count(HEADS).map((i) => {
      const r = i + 1 === head ? 7 : 4;
      return s("rect", { x: (at(1 / slope(i + 1)) - r).toFixed(2), y: 220 - r, width: 2 * r, height: 2 * r, class: i + 1 === head ? "fill-key" : "attn-rest" });
    }));
  } };
}

function sentence({ d, column, head }) {
  const pair = Math.floor(column / 2), length = fmt(wavelength(pair, d)), longest = fmt(wavelength(d / 2 - 1, d));
  const more = fmt(BASE ** (2 / d));
  return tr(`Width ${d}, column ${column}: pair ${pair}, one wave in ${length} positions. The next pair is ${more} times as long, and the longest wave `
    + `spans ${longest}. ALiBi's head ${head} loses one unit of score in ${2 ** head} steps.`,
  `维度 ${d}，第 ${column} 列：第 ${pair} 对，一个波长 ${length} 个位置。下一对的波长是它的 ${more} 倍，最长的波有 ${longest} 个位置。`
    + `ALiBi 的第 ${head} 个头每 ${2 ** head} 步减去 1 分。`);
}

export default {
  render({ model, el }) {
    const traits = ["d_model", "column", "head"];
    const start = Object.fromEntries(traits.map((name) => [name, model.get(name)]));
    const lab = card(el, { title: tr(...model.get("title")), reset: () => save(model, start),
      ask: tr("go through the columns. By how much do neighbouring pairs differ, and how long is the last wave?",
        "逐列看过去：相邻两对的波长差多少？最后一个波有多长？") });
    const left = mapOf(), right = waveOf();
    const width = slider(tr("width d", "维度 d"), 4, WIDEST, 2, start.d_model, String, (v) => save(model, { d_model: v }));
    const column = slider(tr("column (feature)", "列（特征）"), 0, start.d_model - 1, 1, start.column, String, (v) => save(model, { column: v }));
    const head = slider(tr("ALiBi head, of 8", "ALiBi 的头（共 8 个）"), 1, HEADS, 1, start.head,
      (v) => tr(`${v}, slope 1/${2 ** v}`, `${v}，斜率 1/${2 ** v}`), (v) => save(model, { head: v }));
    lab.picture.append(left.svg, right.svg);
    lab.controls.append(width.node, column.node, head.node);
    function draw() {
      const d = model.get("d_model"), now = { d, column: Math.min(model.get("column"), d - 1), head: model.get("head") };
      left.draw(now);
      right.draw(now);
      width.set(d);
      column.input.max = d - 1;
      column.set(now.column);
      head.set(now.head);
      lab.say(sentence(now));
    }
    draw();
    return watch(model, traits, frame(draw));
  },
};
