// Revives anywidget models in the built book: no kernel, no RequireJS, no html-manager.
// A widget's output is its static picture in <div class="attn-static" data-attn-model="ID">; the state of all
// models of the page lies in one script element. Each picture is replaced by the live view, which then carries
// data-ready="1". If anything fails, the picture stays. Only anywidget models are known.
(function () {
  "use strict";
  const STATE = 'script[type="application/vnd.jupyter.widget-state+json"]';

  const once = make => {
    const made = new Map();
    return key => made.get(key) || made.set(key, make(key)).get(key);
  };

  const importWidget = once(async source => {
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const widget = (await import(url)).default;
    return typeof widget === "function" ? widget() : widget;
  });

  const addStyle = once(css => {
    const style = document.createElement("style");
    style.textContent = css;
    return document.head.appendChild(style);
  });

  // What a widget sees of its model; there is no kernel, so saving and sending do nothing.
  class Model {
    constructor(state) {
      this.state = state;
      this.listeners = new Map();
    }
    get(name) {
      return this.state[name];
    }
    set(name, value) {
      if (typeof name === "object") return Object.entries(name).forEach(([key, v]) => this.set(key, v));
      if (this.state[name] === value) return;
      this.state[name] = value;
      this.emit("change:" + name, value);
      this.emit("change", value);
    }
    on(event, call) {
      if (!this.listeners.has(event)) this.listeners.set(event, new Set());
      this.listeners.get(event).add(call);
    }
    off(event, call) {
      if (!event) this.listeners.clear();
      else if (!call) this.listeners.delete(event);
      else this.listeners.get(event)?.delete(call);
    }
    emit(event, value) {
      [...(this.listeners.get(event) || [])].forEach(call => call(value));
    }
    save_changes() {}
    send() {}
  }

  async function start() {
    const script = document.querySelector(STATE);
    if (!script) return;
    const { state } = JSON.parse(script.textContent);
    const modelOf = once(async id => {
      const model = new Model(state[id].state);
      const widget = await importWidget(model.get("_esm"));
      await widget.initialize?.({ model });
      return { model, widget };
    });

    async function revive(picture) {
      const id = picture.dataset.attnModel;
      if (state[id]?.model_module !== "anywidget") return;
      const el = document.createElement("div");
      el.className = "attn-widget";
      el.dataset.attnModel = id;
      try {
        const { model, widget } = await modelOf(id);
        if (model.get("_css")) addStyle(model.get("_css"));
        await widget.render({ model, el });
        picture.replaceWith(el);
        el.dataset.ready = "1";
      } catch (error) {
        console.error("The widget stays a picture:", error);
      }
    }

    document.querySelectorAll("[data-attn-model]").forEach(revive);
  }

  // "interactive" comes before the deferred scripts (MathJax) have run; DOMContentLoaded would wait for them.
  let started = false;
  function startOnce() {
    if (started || document.readyState === "loading") return;
    started = true;
    start();
  }
  document.addEventListener("readystatechange", startOnce);
  startOnce();
})();
