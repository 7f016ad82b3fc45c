// RelayLab: a word handed on hop by hop (chain) against a word read directly (all-to-all).
// The recurrence is linear and orthogonal, scaled by a gain: after n hops gain^n is left of signal and gradient.

const FAR = 64; // the longest distance, in words
const LOW = -11, HIGH = 3; // powers of ten at the ends of the log axis
const WIDE = 300; // both pictures, in the viewBox

/** What is left of the first word after hops that each multiply by the gain. */
export const whatIsLeft = (gain, hops) => gain ** hops;
/** Hops from the first word to the last one, a distance away. */
export const hopsOf = (lane, distance) => (lane === "chain" ? distance : 1);
/** Steps that must wait for each other until all distance + 1 words are read. */
export const stepsOf = (lane, distance) => (lane === "chain" ? distance + 1 : 1);
/** Height of a positive value on the log axis: 0 at its top, 1 at its bottom. */
export const logPlace = (value) => (HIGH - Math.log10(value)) / (HIGH - LOW);

// -- the two lanes ------------------------------------------------------------------------

const LEFT = 16, BAR = 42;
const placeOf = (k, distance) => LEFT + (k * (WIDE - 2 * LEFT)) / distance;

/** Words as dots, a bar above each word that is passed, title and what is left; each kind is one path. */
function lane(top, distance, gain, name, title) {
  const chain = name === "chain", left = whatIsLeft(gain, hopsOf(name, distance));
  const base = top + 10 + BAR, dots = base + 10;
  const all = [...Array(distance + 1).keys()], passed = chain ? all : [0, distance], gap = placeOf(1, distance) - LEFT;
  const role = gain > 1 ? "warn" : chain ? "stream" : "weights";
  const tall = (hops) => Math.max((BAR * whatIsLeft(gain, hops)) / Math.max(1, left), 0.5);
  const stroke = (d, kind, style) => s("path", { d, class: "line-" + kind, style });
  return s("g", { "data-lane": name },
    s("text", { x: 4, y: top - 4 }, title),
    s("text", { x: WIDE - 4, y: top - 4, class: "end", "data-left": left }, tr(`${fmt(left)} left`, `剩 ${fmt(left)}`)),
    stroke(passed.map((k, i) => `M${fix(placeOf(k, distance))} ${base}v-${tall(i).toFixed(2)}`).join(""), role,
      `stroke-width:${Math.min(9, Math.max(2, gap * 0.6)).toFixed(2)}`),
    ...(chain ? [stroke(`M${LEFT} ${dots}H${WIDE - LEFT}`, role)]
      : [stroke(all.slice(1, -1).map((k) => direct(k, dots, distance)).join(""), "weights",
        "stroke-width:0.7;opacity:0.55"),
        stroke(direct(0, dots, distance), "weights", "stroke-width:3")]),
    stroke(all.map((k) => `M${fix(placeOf(k, distance))} ${dots}h0`).join(""), "stream",
      `stroke-width:${Math.min(7, gap * 0.7).toFixed(2)};stroke-linecap:round`));
}

/** The line by which the last word reads word k directly. */
function direct(k, y, distance) {
  const x = placeOf(k, distance), end = WIDE - LEFT, deep = y + (50 * (end - x)) / (end - LEFT), bend = (end - x) / 4;
  return `M${fix(x)} ${y}C${fix(x + bend)} ${fix(deep)} ${fix(end - bend)} ${fix(deep)} ${end} ${y}`;
}

function lanes(distance, gain, words) {
  const svg = picture(WIDE, 256, words);
  svg.append(
    lane(24, distance, gain, "chain", tr(`Chain: ${distance} hops`, `链式：${distance} 跳`)),
    s("text", { x: 4, y: 106, class: "small muted" }, tr("first word", "第一个词")),
    s("text", { x: WIDE - 4, y: 106, class: "small muted end" }, tr("last word", "最后一个词")),
    lane(140, distance, gain, "all", tr("All-to-all: 1 hop", "全连接：1 跳")));
  return svg;
}

// -- the gradient over distance -----------------------------------------------------------

const PLOT = { left: 40, right: 288, top: 26, bottom: 208 };
const DASHES = ["6 3", "2 3", "9 3 2 3", "1 5"];
const downOf = (value) => PLOT.top + logPlace(value) * (PLOT.bottom - PLOT.top);
const acrossOf = (d) => PLOT.left + (d / FAR) * (PLOT.right - PLOT.left);

function curve(values, attrs) {
  const inside = ([, v]) => v > 0 && logPlace(v) >= 0 && logPlace(v) <= 1;
  const seen = values.slice(0, FAR + 1).map((v, d) => [d, v]).filter(inside);
  const points = seen.map(([d, v]) => `${acrossOf(d).toFixed(1)} ${downOf(v).toFixed(1)}`);
  return s("path", { d: points.length ? "M" + points.join("L") : null, ...attrs });
}

function axes() {
  const g = s("g");
  for (let p = HIGH; p > LOW; p -= 3) {
    const y = downOf(10 ** p);
    g.append(s("path", { d: `M${PLOT.left} ${y}H${PLOT.right}`, class: "axis" }),
      s("text", { x: PLOT.left - 5, y: y + 4, class: "small end" }, p === 0 ? "1" : "10" + raised(p)));
  }
  for (const d of [0, 16, 32, 48, 64]) {
    g.append(s("text", { x: acrossOf(d), y: PLOT.bottom + 16, class: "small mid" }, d));
  }
  g.append(s("text", { x: 4, y: 12 }, tr("gradient of the first word (log scale)", "第一个词的梯度（对数坐标）")),
    s("text", { x: (PLOT.left + PLOT.right) / 2, y: PLOT.bottom + 33, class: "mid" },
      tr("distance in words", "距离（词数）")));
  return g;
}
const raised = (p) => [...String(p)].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("");

/** Axes, the two lanes' lines, measured curves with a legend; the point is drawn by point(). */
function plot(svg, gain, measured, names) {
  const chain = [...Array(FAR + 1).keys()].map((d) => whatIsLeft(gain, d));
  svg.append(axes(), curve(chain, { class: gain > 1 ? "line-warn" : "line-stream", "data-curve": "chain" }),
    curve(chain.map((_, d) => (d ? gain : 0)),
      { class: "line-weights", "stroke-dasharray": "5 4", "data-curve": "all" }));
  const entries = [[tr("chain", "链式"), gain > 1 ? "line-warn" : "line-stream", null],
    [tr("all-to-all", "全连接"), "line-weights", "5 4"]];
  Object.entries(measured).forEach(([name, values], i) => {
    const dash = DASHES[i % DASHES.length], style = "stroke:var(--ink);stroke-width:1.5;fill:none";
    svg.append(curve(values, { style, "stroke-dasharray": dash, "data-curve": name }));
    entries.push([tr(...(names[name] || [name, name])), null, dash, style]);
  });
  entries.forEach(([words, kind, dash, style], i) => {
    const x = 8 + (i % 2) * 145, y = 262 + 18 * Math.floor(i / 2);
    svg.append(s("path", { d: `M${x} ${y - 4}h26`, class: kind, style, "stroke-dasharray": dash }),
      s("text", { x: x + 32, y, class: "small" }, words));
  });
}

// -- the result in words ------------------------------------------------------------------

function verdict(left) {
  if (left > 10) return tr(": it explodes", "，梯度爆炸了");
  if (left > 1) return tr(": it grows", "，越传越大");
  if (left === 1) return tr(": nothing is lost, but only at exactly 1", "，毫无损失，但这只在增益恰好等于 1 时成立");
  if (left < 1e-3) return tr(": the gradient has vanished", "，梯度消失了");
  if (left <= 0.1) return tr(": nine tenths are gone", "，十分之九已经丢失");
  return left <= 0.5 ? tr(": half of it is gone", "，一半已经丢失") : "";
}

function sentence(distance, gain) {
  const left = whatIsLeft(gain, distance), g = gain.toFixed(2), n = distance + 1;
  return tr(
    `Chain: ${distance} hops at ${g} each leave ${fmt(left)} of the first word${verdict(left)}. `
    + `All-to-all: one hop leaves ${g} (times the weight it is given), at any distance. `
    + `For ${n} words the chain needs ${n} steps in turn, all-to-all 1.`,
    `链式：${distance} 跳，每跳乘 ${g}，第一个词只剩 ${fmt(left)}${verdict(left)}。`
    + `全连接：一跳之后剩 ${g}（再乘以分给它的权重），与距离无关。读 ${n} 个词，链式要依次走 ${n} 步，全连接只要 1 步。`);
}

// -- the lab ------------------------------------------------------------------------------

function render({ model, el }) {
  const start = { distance: model.get("distance"), gain: model.get("gain") };
  const { picture: place, controls, say } = card(el, {
    title: tr("The relay and the meeting", "接力与会议"),
    ask: tr("Each hop keeps 95 %. At which distance is half of the first word gone? What does a gain of 1.05 do?",
      "每一跳保留 95 %。传到多远，第一个词就丢了一半？增益换成 1.05 又会怎样？"),
    reset: () => save(model, start),
  });
  const measured = model.get("measured"), names = model.get("measured_names");
  const tall = 252 + 18 * Math.ceil((2 + Object.keys(measured).length) / 2);
  const words = tr("gradient of the first word over the distance, log scale", "第一个词的梯度随距离的变化，对数坐标");
  const chart = picture(WIDE, tall, words, true), back = s("g");
  const clamp = (d) => Math.min(FAR, Math.max(2, Math.round(d)));
  const height = (gain, d) => downOf(whatIsLeft(gain, d));
  const point = handle(chart, {
    at: [start.distance, 0], axis: "x", min: 2, max: FAR, step: 1, label: tr("distance in words", "距离（词数）"),
    to: ([d]) => [acrossOf(clamp(d)), height(model.get("gain"), clamp(d))],
    from: ([x]) => [((x - PLOT.left) / (PLOT.right - PLOT.left)) * FAR, 0],
    text: ([d]) => tr(`${clamp(d)} words: ${fmt(whatIsLeft(model.get("gain"), clamp(d)))} left`,
      `${clamp(d)} 个词：剩 ${fmt(whatIsLeft(model.get("gain"), clamp(d)))}`),
    move: ([d]) => save(model, { distance: clamp(d) }),
  }, s("circle", { r: 6, class: "fill-stream", style: "stroke:var(--paper);stroke-width:2" }));
  chart.append(back, point.node);
  let top = s("svg"), drawn = null;
  place.append(top, chart); // the chart stays in place, for a node that is moved loses the focus

  const far = slider(tr("distance", "距离"), 2, FAR, 1, start.distance, (v) => tr(`${v} words`, `${v} 个词`),
    (v) => save(model, { distance: v }));
  const gains = slider(tr("gain per step (spectral radius)", "每步增益（谱半径）"), 0.7, 1.1, 0.01, start.gain,
    (v) => v.toFixed(2), (v) => save(model, { gain: v }));
  controls.append(far.node, gains.node);

  function draw() {
    const distance = model.get("distance"), gain = model.get("gain"), text = sentence(distance, gain);
    const next = lanes(distance, gain, text);
    top.replaceWith(next);
    top = next;
    if (gain !== drawn) {
      back.replaceChildren();
      plot(back, gain, measured, names);
      drawn = gain;
    }
    point.set([distance, 0]);
    far.set(distance);
    gains.set(gain);
    say(text);
  }
  draw();
  return watch(model, ["distance", "gain"], frame(draw));
}

export default { render };
