/* Puts a slider under every box with data-low, data-high and data-step. The box is what is sent; without this script it is all there is. */
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll("input[data-low]")) {
    const slider = document.createElement("input");
    slider.type = "range";
    slider.min = box.dataset.low;
    slider.max = box.dataset.high;
    slider.step = box.dataset.step;
    slider.value = box.value;
    slider.setAttribute("aria-label", document.querySelector(`label[for="${box.id}"]`).textContent.trim());
    slider.addEventListener("input", () => { box.value = slider.value; });
    box.addEventListener("input", () => { slider.value = box.value; });
    box.after(slider);
  }
});
