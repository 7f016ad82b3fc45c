// The filter of the ledger's page: section, verdict, text. Without it the list is complete all the same.
(() => {
  const chinese = (document.documentElement.lang || "").toLowerCase().startsWith("zh");
  const tr = (en, zh) => (chinese ? zh : en);
  const VERDICTS = {
    holds: tr("holds", "成立"), condition: tr("holds under a condition", "有条件成立"), imprecise: tr("imprecise", "不够准确"),
    wrong: tr("wrong", "错误"), unsupported: tr("unsupported", "缺乏依据"), opinion: tr("an opinion", "一家之言"),
  };
  const make = (tag, attributes, ...children) => {
    const node = Object.assign(document.createElement(tag), attributes);
    node.append(...children);
    return node;
  };
  // a claim counts in the language it is shown in
  const own = chinese ? "lang-zh" : "lang-en", other = chinese ? "lang-en" : "lang-zh";
  const words = (node) => {
    const copy = node.cloneNode(true);
    copy.querySelectorAll("." + other).forEach((part) => part.remove());
    return copy.textContent.toLowerCase().replace(/\s+/g, " ");
  };

  function start(root) {
    if (root.querySelector(".attn-ledger-filter")) return;
    const sections = [...root.querySelectorAll(".attn-ledger-section")];
    const entries = [...root.querySelectorAll(".attn-entry")].map((node) => (
      { node, section: node.parentElement.dataset.section, verdict: node.dataset.verdict, text: words(node) }));
    const title = (part) => {
      const heading = part.querySelector("h3");
      return (heading.querySelector("." + own) || heading).textContent;
    };

    const text = make("input", { type: "search", autocomplete: "off", spellcheck: false });
    const section = make("select", {}, make("option", { value: "" }, tr("all sections", "所有小节")),
      ...sections.map((part) => make("option", { value: part.dataset.section }, title(part))));
    const boxes = Object.keys(VERDICTS).filter((key) => entries.some((one) => one.verdict === key))
      .map((key) => make("input", { type: "checkbox", checked: true, value: key }));
    const counted = (key) => entries.filter((one) => one.verdict === key).length;
    const open = make("button", { type: "button" }), all = make("button", { type: "button" }, tr("Show all claims", "显示全部说法"));
    const said = make("p", {});
    said.setAttribute("role", "status");
    const labelled = (label, control) => make("label", {}, make("span", {}, label), control);
    root.prepend(make("div", { className: "attn-ledger-filter" },
      labelled(tr("Text", "文字"), text), labelled(tr("Section", "小节"), section), open, all,
      make("fieldset", {}, make("legend", {}, tr("Verdict", "判定")),
        ...boxes.map((box) => make("label", {}, box, `${VERDICTS[box.value]} (${counted(box.value)})`))),
      said));

    const shown = () => entries.filter((one) => !one.node.hidden);
    const folded = () => shown().some((one) => !one.node.open);
    const label = () => { open.textContent = folded() ? tr("Unfold what is shown", "展开所列各条") : tr("Fold what is shown", "折叠所列各条"); };
    function filter() {
      const wanted = text.value.toLowerCase().trim().split(/\s+/);
      const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
      for (const one of entries) {
        const inside = !section.value || `${one.section}.`.startsWith(`${section.value}.`);
        one.node.hidden = !(inside && chosen.includes(one.verdict) && wanted.every((word) => one.text.includes(word)));
      }
      for (const part of sections) part.hidden = !part.querySelector(".attn-entry:not([hidden])");
      const n = shown().length;
      said.textContent = tr(`${n} of ${entries.length} claims shown.`, `显示 ${entries.length} 条说法中的 ${n} 条。`);
      label();
    }
    function reset() {
      text.value = section.value = "";
      boxes.forEach((box) => { box.checked = true; });
      filter();
    }
    // a link to a claim finds it, whatever is filtered or folded
    function arrive() {
      const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      const entry = target && root.contains(target) ? target.closest(".attn-entry") : null;
      if (!entry) return;
      if (entry.hidden) reset();
      entry.open = true;
      entry.querySelector("summary").focus({ preventScroll: true });
      target.scrollIntoView();
      label();
    }

    text.addEventListener("input", filter);
    section.addEventListener("change", filter);
    boxes.forEach((box) => box.addEventListener("change", filter));
    root.addEventListener("toggle", label, true);
    open.addEventListener("click", () => {
      const unfold = folded();
      shown().forEach((one) => { one.node.open = unfold; });
    });
    all.addEventListener("click", reset);
    addEventListener("hashchange", arrive);
    const asked = new URLSearchParams(location.search);
    if (asked.get("text")) text.value = asked.get("text");
    if (sections.some((part) => part.dataset.section === asked.get("section"))) section.value = asked.get("section");
    if (asked.get("verdict")) boxes.forEach((box) => { box.checked = asked.get("verdict").split(",").includes(box.value); });
    filter();
    arrive();
  }

  document.querySelectorAll(".attn-ledger").forEach(start);
})();
