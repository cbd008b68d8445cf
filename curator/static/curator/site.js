/* Small comforts on top of pages that work without them: live parts are htmx's, charts are in charts.js. */
"use strict";
document.documentElement.classList.add("scripted");

document.addEventListener("DOMContentLoaded", () => {
  const strip = document.querySelector(".strip nav");
  const here = strip && strip.querySelector("[aria-current]");
  if (here) strip.scrollLeft = here.offsetLeft - strip.offsetLeft - (strip.clientWidth - here.clientWidth) / 2;
});

/* a menu closes on Escape, giving focus back, and on a click elsewhere */
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});

/* one submit per press: a second click while the first is under way would only be answered the same again */
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || event.defaultPrevented) return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "1";
});
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

/* answers with an error status are pages too: show them where they belong, and lost sign-ins lead to signing in */
document.addEventListener("htmx:beforeSwap", (event) => {
  const status = event.detail.xhr.status;
  if (status === 400 || status === 404 || status === 409 || status === 413 || status === 429) {
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  }
});
