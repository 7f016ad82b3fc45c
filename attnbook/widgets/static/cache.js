// CacheLab: heads that share keys, and the bytes of a cache.

const BASE = "DeepSeek 67B", KINDS = ["MHA", "GQA", "MQA", "MLA"], LEFT = 52, WIDTH = 200;

/** Bytes per token of the four kinds, as sizes in cache.py. */
export function sizes(layers, heads, kvHeads, dHead, latent, bits) {
  const bytes = (perLayer) => (layers * perLayer * bits) / 8;
  return { MHA: bytes(2 * heads * dHead), GQA: bytes(2 * kvHeads * dHead), MQA: bytes(2 * dHead), MLA: bytes(latent) };
}

/** Heads of keys when 2 ** shares query heads share one. */
export const kvHeads = (heads, shares) => Math.max(1, Math.floor(heads / 2 ** shares));

/** By what share a size per token is below DeepSeek 67B at 16 bits. */
export const lessThanBase = (size) => 1 - size / sizes(95, 64, 8, 128, 1, 16).GQA;

/** Bytes in words: 67.5 KiB, 8.44 GiB. */
export function amount(n) {
  for (const unit of ["bytes", "KiB", "MiB", "GiB"]) {
    if (n < 1024) return `${fmt(n)} ${unit}`;
    n /= 1024;
  }
  return `${fmt(n)} TiB`;
}

/** Query heads above, heads of keys below, a line for each query head. */
function sharing(heads, n) {
  const shared = Math.max(n, 1), at = (h, count) => (170 + ((h + 0.5 - count / 2) * 320) / count).toFixed(1);
  const each = [...Array(heads).keys()], wide = Math.min(12, 250 / shared);
  const feet = [...Array(shared).keys()].map((h) => `M${(at(h, shared) - wide / 2).toFixed(1)} 110h${wide.toFixed(1)}`);
  const lines = each.map((h) => `M${at(h, heads)} 48L${at(Math.floor((h * shared) / heads), shared)} 104`).join("");
  const words = n ? tr(`${n} of keys and values`, `${n} 个键值头`) : tr("one latent for all", "共用一个潜在向量");
  const svg = picture(340, 150, tr(`${heads} query heads, ${words}`, `${heads} 个查询头，${words}`));
  svg.append(s("text", { x: 6, y: 20 }, tr(`${heads} query heads`, `${heads} 个查询头`)),
    s("path", { d: lines, class: "line-stream", style: "stroke-width:0.8" }),
    s("path", { d: each.map((h) => `M${at(h, heads)} 44h0`).join(""), class: "line-query",
      style: `stroke-width:${Math.min(9, 250 / heads).toFixed(2)};stroke-linecap:round` }),
    s("path", { d: n ? feet.join("") : "M130 110h80", class: n ? "line-key" : "line-warn", style: "stroke-width:11" }),
    s("text", { x: 6, y: 140 }, words));
  return svg;
}

/** A bar for each kind, the chosen one lit. */
function bars(byKind, chosen) {
  const most = Math.max(...Object.values(byKind));
  const svg = picture(340, 150, tr("bytes per token for the four kinds", "四种方式每个词元的字节数"));
  KINDS.forEach((kind, i) => {
    const y = 12 + 34 * i, on = kind === chosen, long = (WIDTH * byKind[kind]) / most;
    svg.append(s("text", { x: 6, y: y + 16, style: `font-weight:${on ? 700 : 400}` }, kind),
      s("rect", { x: LEFT, y, width: Math.max(1, long).toFixed(2), height: 22, class: on ? "fill-weights" : "fill-stream",
        style: on ? null : "fill-opacity:0.55", "data-kind": kind, "data-bytes": byKind[kind] }),
      s("text", { x: LEFT + 6 + long, y: y + 16 }, amount(byKind[kind])));
  });
  return svg;
}

/** What this choice costs, and how much of the difference is architecture and how much is bits. */
function sentence(model, now, same) {
  const size = now[model.get("kind")], tokens = 2 ** model.get("context"), cut = lessThanBase(size), plain = lessThanBase(same);
  const percent = (x) => `${fix(Math.abs(100 * x), 1)} %`, bits = model.get("bits");
  const side = cut >= 0 ? tr("below", "少") : tr("above", "多");
  const count = tokens.toLocaleString("en");
  const parts = bits === 16 || cut < 0 ? "" : plain < 0
    ? tr(` With 16 bits it would be ${percent(plain)} above.`, `若用 16 比特，则多 ${percent(plain)}。`)
    : tr(` Of these, ${percent(plain)} come from what is stored; the step to ${bits} bits adds ${percent(cut - plain)}.`,
      `其中 ${percent(plain)} 来自存什么，降到 ${bits} 比特再加 ${percent(cut - plain)}。`);
  return tr(`${amount(size)} per token, ${amount(size * tokens)} for ${count} tokens: ${percent(cut)} ${side} ${BASE} at 16 bits.`,
    `每个词元 ${amount(size)}，${count} 个词元共 ${amount(size * tokens)}：比 16 比特的 ${BASE} ${side} ${percent(cut)}。`) + parts;
}

/** The settings of a published model. */
export function settingsOf([layers, heads, kv, , latent, context]) {
  const shares = Math.min(5, Math.round(Math.log2(heads / kv)));
  return { layers, kind: latent ? "MLA" : kv === heads ? "MHA" : "GQA", latent: latent || 576, shares: latent ? 3 : shares,
    context: Math.round(Math.log2(context)), bits: 16 };
}

export default {
  render({ model, el }) {
    const traits = ["model", "kind", "shares", "latent", "layers", "context", "bits"];
    const start = Object.fromEntries(traits.map((name) => [name, model.get(name)])), models = model.get("models");
    const lab = card(el, { title: tr(...model.get("title")), reset: () => save(model, start),
      ask: tr("the abstract of DeepSeek-V2 says 93.3 % less. Which part is architecture, which is bits?",
        "DeepSeek-V2 的摘要说减少 93.3%。其中多少来自结构，多少来自比特数？") });
    const one = (name) => (value) => save(model, { [name]: value });
    const controls = {
      model: choice(tr("Start from", "起点"), Object.keys(models).map((name) => [name, name]), start.model,
        (name) => save(model, { model: name, ...settingsOf(models[name]) })),
      kind: choice(tr("Keys and values", "键与值"), KINDS.map((kind) => [kind, kind]), start.kind, one("kind")),
      bits: choice(tr("Bits a number", "每个数的比特"), [16, 8, 6, 4].map((n) => [n, String(n)]), start.bits, one("bits")),
      shares: slider(tr("query heads on one head of keys (GQA)", "每个键头的查询头数（GQA）"), 0, 5, 1, start.shares,
        (v) => String(2 ** v), one("shares")),
      latent: slider(tr("width of the latent (MLA)", "潜在向量的宽度（MLA）"), 64, 2048, 32, start.latent, String, one("latent")),
      layers: slider(tr("layers", "层数"), 1, 128, 1, start.layers, String, one("layers")),
      context: slider(tr("tokens in the context", "上下文的词元数"), 10, 20, 1, start.context,
        (v) => (2 ** v).toLocaleString("en"), one("context")),
    };
    let left = s("svg"), right = s("svg");
    lab.picture.append(left, right);
    lab.controls.append(...Object.values(controls).map((c) => c.node));
    function draw() {
      const [, heads, , dHead] = models[model.get("model")], kind = model.get("kind"), n = kvHeads(heads, model.get("shares"));
      const at = (bits) => sizes(model.get("layers"), heads, n, dHead, model.get("latent"), bits);
      const now = at(model.get("bits"));
      const drawn = [sharing(heads, { MHA: heads, GQA: n, MQA: 1, MLA: 0 }[kind]), bars(now, kind)];
      left.replaceWith(drawn[0]);
      right.replaceWith(drawn[1]);
      [left, right] = drawn;
      for (const [name, control] of Object.entries(controls)) control.set(model.get(name));
      lab.say(sentence(model, now, at(16)[kind]));
    }
    draw();
    return watch(model, traits, frame(draw));
  },
};
