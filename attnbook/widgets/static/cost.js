// CostLab: time and memory of attention to n tokens, six ways, on logarithmic axes. The counts are those of attnbook/costs.py.

const WIDTH = 64, BYTES = 2, RATES = { core: 1e10, accelerator: 1e14 }, SINKS = 4;
const TIMES = [[1e-6, 1e-9, "ns", "纳秒"], [1e-3, 1e-6, "µs", "微秒"], [1, 1e-3, "ms", "毫秒"], [60, 1, "s", "秒"],
  [3600, 60, "min", "分钟"], [172800, 3600, "h", "小时"], [63115200, 86400, "days", "天"], [Infinity, 31557600, "years", "年"]];
const SIZES = [[1e3, 1, "B", "B"], [1e6, 1e3, "kB", "kB"], [1e9, 1e6, "MB", "MB"], [1e12, 1e9, "GB", "GB"], [Infinity, 1e12, "TB", "TB"]];
const NAMES = { dense: ["with the matrix", "存下矩阵"], tiled: ["tiles, exact", "分块（精确）"], ring: ["ring, exact, each", "环（精确），每台"],
  window: ["window", "窗口"], sinks: ["window + 4 sinks", "窗口 + 4 个汇"], linear: ["linear state", "线性状态"] };
const EXACT = ["dense", "tiled", "ring"];
const AXES = {
  time: [-9, 8, TIMES, [[1e-6, "1 µs", "1 微秒"], [1e-3, "1 ms", "1 毫秒"], [1, "1 s", "1 秒"], [3600, "1 h", "1 小时"], [31557600, "1 year", "1 年"]],
    ["time", "时间"]],
  size: [2, 15, SIZES, [[1e3, "1 kB", "1 kB"], [1e6, "1 MB", "1 MB"], [1e9, "1 GB", "1 GB"], [1e12, "1 TB", "1 TB"]],
    ["memory besides q, k, v", "q、k、v 之外的内存"]],
};
const WIDE = 330, ROW = 34, TOP = 34, TALL = TOP + ROW * 6 + 24;

// -- arithmetic ---------------------------------------------------------------------------

/** Multiplications of one head, forward. */
export function products(method, n, window, ranks) {
  if (method === "linear") return 2 * n * WIDTH * WIDTH;
  if (method === "window" || method === "sinks") return 2 * n * Math.min(n, window + (method === "sinks" ? SINKS : 0)) * WIDTH;
  return (2 * n * n * WIDTH) / (method === "ring" ? ranks : 1);
}

/** Numbers alive at once besides q, k, v and the output. */
export function numbers(method, n, window, block, ranks) {
  const tile = Math.min(n, block);
  if (method === "dense") return n * n;
  if (method === "tiled") return tile * tile + n;
  if (method === "linear") return WIDTH * (WIDTH + 1);
  if (method === "ring") return tile * tile + n / ranks + (4 * WIDTH * n) / ranks;
  return tile * Math.min(n, window + tile + (method === "sinks" ? SINKS : 0));
}

/** Seconds and bytes of each method. */
export const bill = (n, window, block, ranks, rate) => Object.fromEntries(Object.keys(NAMES).map((name) =>
  [name, [products(name, n, window, ranks) / RATES[rate], BYTES * numbers(name, n, window, block, ranks)]]));

/** A time or a size in the unit that suits it. */
export function inWords(value, kind) {
  const [, unit, en, zh] = AXES[kind][2].find(([below]) => value < below);
  return fmt(value / unit) + " " + tr(en, zh);
}

/** Where a value stands on its logarithmic axis, 0 to 1. */
export const placeOf = (value, kind) => Math.min(1, Math.max(0, (Math.log10(value) - AXES[kind][0]) / (AXES[kind][1] - AXES[kind][0])));

const spaced = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, " ");

// -- the picture --------------------------------------------------------------------------

function bars(found, kind, words) {
  const svg = picture(WIDE, TALL, words), bottom = TOP + ROW * 6, [, , , ticks, title] = AXES[kind], i = kind === "time" ? 0 : 1;
  svg.append(s("text", { x: 4, y: 14, class: "attn-crown" }, tr(...title)));
  for (const [value, en, zh] of ticks) {
    const x = 4 + (WIDE - 8) * placeOf(value, kind);
    svg.append(s("path", { d: `M${x.toFixed(1)} ${TOP - 10}V${bottom}`, class: "axis" }),
      s("text", { x, y: bottom + 16, class: "small " + (x > WIDE - 30 ? "end" : "mid") }, tr(en, zh)));
  }
  Object.keys(NAMES).forEach((name, row) => {
    const y = TOP + ROW * row, value = found[name][i], exact = EXACT.includes(name);
    svg.append(s("text", { x: 4, y: y + 8 }, tr(...NAMES[name])), s("text", { x: WIDE - 4, y: y + 8, class: "end attn-crown" }, inWords(value, kind)),
      s("rect", { x: 4, y: y + 13, width: Math.max(1, (WIDE - 8) * placeOf(value, kind)).toFixed(2), height: 9,
        class: exact ? "fill-weights line-weights" : "line-stream", style: `stroke-width:1.5;fill:${exact ? "var(--w)" : "none"}` }));
  });
  return svg;
}

function sentence(n, window, ranks, found) {
  const size = (name) => inWords(found[name][1], "size"), time = (name) => inWords(found[name][0], "time");
  return tr(`${spaced(n)} tokens, one head: the matrix takes ${size("dense")}, tiles hold ${size("tiled")}. Both take ${time("dense")}; `
    + `spread over a ring of ${ranks}, ${time("ring")} each. A window of ${window} takes ${time("window")}, and does not see the rest.`,
  `${spaced(n)} 个词元，一个头：矩阵要占 ${size("dense")}，分块只需 ${size("tiled")}。两者都要 ${time("dense")}；`
    + `分摊到 ${ranks} 台组成的环上，每台 ${time("ring")}。宽 ${window} 的窗口要 ${time("window")}，但看不到其余部分。`);
}

// -- the lab ------------------------------------------------------------------------------

function render({ model, el }) {
  const names = ["n", "window", "block", "ranks", "rate"], start = Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const { picture: place, controls, say } = card(el, {
    title: tr(...model.get("title")),
    ask: tr("At which length does the matrix no longer fit into 8 GB? And the tiles?", "到多长时，矩阵就装不进 8 GB 了？分块呢？"),
    reset: () => save(model, start),
  });
  const length = slider(tr("tokens n", "词元数 n"), 2, 7, 0.1, Math.log10(start.n), (v) => spaced(Math.round(10 ** v)),
    (v) => save(model, { n: Math.round(10 ** v) }));
  controls.append(length.node);
  const power = (name, words, low, high) => {
    const control = slider(words, low, high, 1, Math.log2(start[name]), (v) => spaced(2 ** v), (v) => save(model, { [name]: 2 ** v }));
    controls.append(control.node);
    return (value) => control.set(Math.log2(value));
  };
  const set = { window: power("window", tr("window", "窗口"), 4, 16), block: power("block", tr("tile", "块的边长"), 4, 10),
    ranks: power("ranks", tr("workers in the ring", "环上的机器数"), 0, 9) };
  const rate = choice(tr("computer", "计算机"), [["core", tr("one core, 10¹⁰ products a second", "一个核，每秒 10¹⁰ 次乘法")],
    ["accelerator", tr("an accelerator, 10¹⁴", "一块加速卡，10¹⁴")]], start.rate, (value) => save(model, { rate: value }));
  controls.append(rate.node);
  function draw() {
    const [n, window, block, ranks, speed] = names.map((name) => model.get(name)), found = bill(n, window, block, ranks, speed);
    const text = sentence(n, window, ranks, found);
    place.replaceChildren(bars(found, "time", tr("Time of each method. ", "各种方法的时间。") + text),
      bars(found, "size", tr("Memory of each method. ", "各种方法的内存。") + text));
    length.set(Math.log10(n));
    for (const name of ["window", "block", "ranks"]) set[name](model.get(name));
    rate.set(speed);
    say(text);
  }
  draw();
  return watch(model, names, frame(draw));
}

export default { render };
