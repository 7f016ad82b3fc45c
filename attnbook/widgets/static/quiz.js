// Quiz: one question with feedback for each answer; the schema stands in quiz.py. Nothing is stored or sent.

// What a reader may write for a number: 0.25, 0,25, .25, 1/4, 25 %, −3, 1e-3. NaN if it is none.
export function readNumber(text) {
  const t = text.trim().replace(/[−–－]/g, "-").replace(/[，,]/g, ".").replace(/％/g, "%").replace(/\s+/g, "");
  const m = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\/(\d+\.?\d*))?(%?)$/i.exec(t);
  return m ? Number(m[1]) / (m[2] ? Number(m[2]) : 1) / (m[3] ? 100 : 1) : NaN;
}

// Is x within the tolerance of y? A hair more is allowed, for 0.3 is not 3 · 0.1 in binary.
const near = (x, y, tolerance) => Math.abs(x - y) <= tolerance + 1e-12 * Math.max(1, Math.abs(y));

// The order in which steps are offered, as in quiz.py.
export function shuffled(n) {
  const places = [...Array(n).keys()];
  return [...places.filter((i) => i % 2), ...places.filter((i) => i % 2 === 0)];
}

const MISSING = { en: "What you chose is right, but something is still missing.", zh: "你选的都对，但还有遗漏。" };
const EMPTY = { en: "Choose an answer first.", zh: "请先选择一个答案。" };
const NO_NUMBER = { en: "Write a number, for example 0.25, −3 or 1/4.", zh: "请写一个数，例如 0.25、−3 或 1/4。" };

// Judge an answer: {right, why: [{en, zh}, ...]}; right is null when there is nothing to judge.
// answer: chosen indices for a choice, the text for a number, the order of the steps for order.
export function judge(question, answer) {
  if (question.kind === "choice") return judgeChoice(question.options, answer);
  if (question.kind === "number") return judgeNumber(question, readNumber(answer));
  const place = answer.findIndex((step, i) => step !== i);
  return place < 0 ? { right: true, why: [question.right] } : { right: false, why: [question.steps[answer[place]].why], place };
}

function judgeChoice(options, chosen) {
  if (!chosen.length) return { right: null, why: [EMPTY] };
  const wrong = chosen.filter((i) => !options[i].right);
  const all = options.every((option, i) => !option.right || chosen.includes(i));
  const why = (wrong.length ? wrong : chosen).map((i) => options[i].why);
  return { right: all && !wrong.length, why: wrong.length || all ? why : [...why, MISSING] };
}

function judgeNumber(question, x) {
  if (Number.isNaN(x)) return { right: null, why: [NO_NUMBER] };
  if (near(x, question.answer, question.tolerance)) return { right: true, why: [question.right] };
  const fits = (m) => ("value" in m ? near(x, m.value, m.tolerance ?? question.tolerance)
    : (m.above === undefined || x > m.above) && (m.below === undefined || x < m.below));
  return { right: false, why: [(question.wrong.find(fits) || {}).why || question.otherwise] };
}

// -- the page -----------------------------------------------------------------------------

// Words in the page's language, with `code`.
const rich = (words) => tr(words.en, words.zh).split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));

function choices(question, changed) {
  const several = question.options.filter((option) => option.right).length > 1;
  const name = fresh();
  const inputs = question.options.map((_, i) => h("input", { type: several ? "checkbox" : "radio", name, value: i, ...keys }));
  const marks = inputs.map(() => h("span", { class: "attn-mark", "aria-hidden": "true" }));
  const rows = inputs.map((input, i) => h("label", { class: "attn-option" }, input, h("span", {}, ...rich(question.options[i].text)), marks[i]));
  inputs.forEach((input) => input.addEventListener("change", changed));
  const answer = () => inputs.flatMap((input, i) => (input.checked ? [i] : []));
  return {
    node: h("fieldset", { class: "attn-options" }, h("legend", {}, ...rich(question.text)), ...rows),
    answer,
    show() {
      answer().forEach((i) => {
        marks[i].textContent = question.options[i].right ? "✓" : "✗";
        put(rows[i], { "data-right": String(question.options[i].right) });
      });
    },
    clear() { rows.forEach((row, i) => { put(row, { "data-right": null }); marks[i].textContent = ""; }); },
    reset() { inputs.forEach((input) => (input.checked = false)); },
    solve() { inputs.forEach((input, i) => (input.checked = question.options[i].right)); },
  };
}

function number(question, changed) {
  const input = h("input", { type: "text", inputmode: "text", autocomplete: "off", size: 10, ...keys });
  input.addEventListener("input", changed);
  return {
    node: h("label", { class: "attn-number" }, h("span", {}, ...rich(question.text)), input),
    answer: () => input.value,
    show(verdict) { put(input, { "aria-invalid": verdict.right ? null : "true" }); },
    clear() { put(input, { "aria-invalid": null }); },
    reset() { input.value = ""; },
    solve() { input.value = String(question.answer).replace("-", "−"); },
  };
}

function ordering(question, changed) {
  const n = question.steps.length;
  let order = shuffled(n);
  const list = h("ol", { class: "attn-steps" });
  const items = question.steps.map((step, i) => {
    const words = tr(step.text.en, step.text.zh).replaceAll("`", "");
    const move = (by) => {
      const button = h("button", { type: "button", class: "attn-button", ...keys,
        "aria-label": (by < 0 ? tr("Earlier: ", "提前：") : tr("Later: ", "推后：")) + words }, by < 0 ? "↑" : "↓");
      button.addEventListener("click", () => { shift(i, by); button.focus(); });
      return button;
    };
    return h("li", {}, h("span", {}, ...rich(step.text)), move(-1), move(1));
  });
  const place = () => {
    list.append(...order.map((i) => items[i]));
    order.forEach((i, at) => [...items[i].querySelectorAll("button")].forEach((b, k) => put(b, { "aria-disabled": at === (k ? n - 1 : 0) ? "true" : null })));
  };
  function shift(i, by) {
    const at = order.indexOf(i), to = at + by;
    if (to < 0 || to >= n) return;
    order = order.with ? order.with(at, order[to]).with(to, i) : order.map((step, j) => (j === at ? order[to] : j === to ? i : step));
    place();
    changed(tr(`Now at place ${to + 1} of ${n}.`, `现在排在第 ${to + 1} 位，共 ${n} 步。`));
  }
  place();
  return {
    node: h("div", { role: "group", "aria-label": tr(question.text.en, question.text.zh) }, h("p", {}, ...rich(question.text)), list),
    answer: () => order,
    show(verdict) { if (verdict.place !== undefined) put(items[order[verdict.place]], { "data-right": "false" }); },
    clear() { items.forEach((item) => put(item, { "data-right": null })); },
    reset() { order = shuffled(n); place(); },
    solve() { order = [...Array(n).keys()]; place(); },
  };
}

const KINDS = { choice: choices, number, order: ordering };

export default {
  render({ model, el }) {
    const question = model.get("question");
    const lab = card(el, { title: tr(...model.get("title")) });
    lab.root.classList.add("attn-quiz");
    const live = lab.root.querySelector(".attn-live");
    const tell = (...nodes) => live.replaceChildren(...nodes);
    const quiet = (words) => { form.clear(); put(lab.root, { "data-verdict": null }); tell(typeof words === "string" ? words : ""); };
    const form = KINDS[question.kind](question, quiet);
    const solve = button(tr("Show the answer", "显示答案"), () => { form.clear(); form.solve(); check(); });
    solve.hidden = true;
    function check() {
      form.clear();
      const verdict = judge(question, form.answer());
      form.show(verdict);
      put(lab.root, { "data-verdict": verdict.right === null ? null : String(verdict.right) });
      solve.hidden = verdict.right === true || (verdict.right === null && solve.hidden);
      const head = verdict.right === null ? [] : [h("b", {}, verdict.right ? tr("✓ Right. ", "✓ 正确。") : tr("✗ Not yet. ", "✗ 还不对。"))];
      tell(...head, ...verdict.why.flatMap((words, i) => [i ? " " : "", ...rich(words)]));
    }
    const page = h("form", { novalidate: true }, form.node,
      h("div", { class: "attn-controls" }, h("button", { type: "submit", class: "attn-button", ...keys }, tr("Check", "检查")), solve,
        button(tr("Reset", "重置"), () => { form.reset(); solve.hidden = true; quiet(""); }, "attn-reset")));
    page.addEventListener("submit", (e) => { e.preventDefault(); check(); });
    lab.picture.replaceWith(page);
    lab.controls.remove();
  },
};
