/* The price beside the Ask form is the price of what is in the form, however quick the hand and slow the network.
   htmx sends and swaps; here stands when, and what came too late: an answer to a form that has been written on since. */
"use strict";
(() => {
  const form = () => document.getElementById("ask-form");
  const sent = new WeakMap(); /* request: what the form held when it was sent */
  let priced = ""; /* what the form held when the price on the page was made */
  let rebuild = null; /* the press that is about to replace the form: its control, its request, the press after it */
  let timer = 0;
  let partsOpen = false; /* whether somebody reads the price bin by bin */

  const held = () => {
    const data = new FormData(form());
    for (const name of ["key", "csrfmiddlewaretoken"]) data.delete(name);
    return new URLSearchParams(data).toString();
  };

  /* a browser may bring back what was typed before a reload, beside the price of the empty form */
  const untouched = (control) => {
    if (control.type === "checkbox") return control.checked === control.defaultChecked;
    if (!control.options) return control.value === control.defaultValue;
    const given = [...control.options].some((option) => option.defaultSelected);
    if (!given && !control.multiple) return control.selectedIndex === 0;
    return [...control.options].every((option) => option.selected === option.defaultSelected);
  };

  const price = () => {
    if (!rebuild && held() !== priced) window.htmx.trigger(form(), "price");
  };

  /* a price that is no longer the form's is taken back at once; the right one is fetched after `delay` ms */
  const check = (delay) => {
    const late = held() !== priced;
    document.getElementById("quote").setAttribute("aria-busy", String(late));
    document.getElementById("ask-price").classList.toggle("late", late);
    clearTimeout(timer);
    if (late) timer = setTimeout(price, delay);
  };

  const trouble = (shown) => { document.getElementById("quote-trouble").hidden = !shown; };
  /* what has a price has nothing left to put right */
  const putRight = () => {
    form().querySelectorAll(".problem, .problem-text").forEach((told) => told.remove());
    form().querySelectorAll("[aria-invalid]").forEach((box) => box.removeAttribute("aria-invalid"));
  };
  const rebuilds = (control) => control.getAttribute("hx-target") === "#ask-form";
  const press = (control) => window.htmx.trigger(control, control.name === "do" ? "click" : "change");
  const numbered = (control) => /^(row|group)-/.test(control.id);

  const next = ({ control, after }) => {
    const found = after && document.getElementById(after.id);
    /* once a row is gone, or all are made anew, the number of another means another row */
    if (found && !(numbered(after) && (/^(to-|.*-remove$)/.test(control.id)))) press(found);
  };

  for (const [kind, delay] of [["input", 450], ["change", 40]])
    document.addEventListener(kind, (event) => { if (form().contains(event.target)) check(delay); }, true);

  document.addEventListener("htmx:beforeRequest", (event) => {
    const { elt, xhr } = event.detail;
    if (rebuilds(elt)) {
      if (rebuild && (rebuild.xhr || rebuild.control !== elt)) {
        if (elt.name === "do") rebuild.after = elt;
        event.preventDefault();
        return;
      }
      rebuild = { control: elt, xhr, after: rebuild && rebuild.after };
    } else if (elt !== form()) return;
    sent.set(xhr, held());
  });

  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr } = event.detail;
    if (sent.has(xhr) && sent.get(xhr) !== held()) event.detail.shouldSwap = false;
    const parts = document.getElementById("quote-parts");
    if (parts) partsOpen = parts.open;
  });

  document.addEventListener("htmx:afterSettle", (event) => {
    const { xhr } = event.detail;
    if (!sent.has(xhr)) return;
    const parts = document.getElementById("quote-parts");
    if (parts) parts.open = partsOpen;
    const done = rebuild && rebuild.xhr === xhr ? rebuild : null;
    if (!done && xhr.status === 200) putRight();
    priced = done ? held() : sent.get(xhr);
    sent.delete(xhr);
    trouble(false);
    if (done) rebuild = null;
    check(0);
    if (done) next(done);
  });

  document.addEventListener("htmx:afterRequest", (event) => {
    const { xhr, failed } = event.detail;
    if (!rebuild || rebuild.xhr !== xhr) return;
    if (failed || !xhr.status) {
      rebuild = null;
      check(450);
      return;
    }
    rebuild.xhr = null; /* written on meanwhile: pressed again, with what is there now */
    setTimeout(() => press(rebuild.control));
  });

  for (const kind of ["htmx:sendError", "htmx:timeout", "htmx:responseError"])
    document.addEventListener(kind, ({ detail }) => { if (detail.elt === form() || rebuilds(detail.elt)) trouble(true); });

  document.addEventListener("DOMContentLoaded", () => {
    document.getElementById("quote-again").addEventListener("click", () => { trouble(false); check(0); });
    if ([...form().querySelectorAll("input, select, textarea")].every(untouched)) priced = held();
  });
  window.addEventListener("pageshow", () => check(0));
})();
