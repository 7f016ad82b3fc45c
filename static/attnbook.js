// What the pages still need from a script. Without JavaScript nothing is lost: pictures, solutions and text stay.
(function () {
  "use strict";

  // A box that scrolls sideways must be reachable by keyboard; one that does not must not be a stop.
  const SCROLLING = ["div.math", "pre", ".pst-scrollable-table-container", ".attn-figure-box", ".output"];
  const BOXES = `.bd-article :is(${SCROLLING})`;
  function markScrolling(box) {
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
  function markAround(element) {
    for (let box = element.closest(BOXES); box; box = box.parentElement.closest(BOXES)) markScrolling(box);
  }
  const watch = new ResizeObserver(entries => entries.forEach(entry => markAround(entry.target)));

  // Browsers that cannot open <details> by a style for paper.
  const opened = [];
  window.addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll(".bd-article details:not([open])")) {
      fold.open = true;
      opened.push(fold);
    }
  });
  window.addEventListener("afterprint", () => {
    while (opened.length) opened.pop().open = false;
  });

  function watchAll() {
    document.querySelectorAll(BOXES).forEach(box => {
      watch.observe(box);
      for (const child of box.children) watch.observe(child);
    });
  }

  function start() {
    watchAll();
    window.MathJax?.startup?.promise?.then(watchAll);
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
