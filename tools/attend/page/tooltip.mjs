// The tooltip: describes the element under the pointer in words and numbers.
import { made } from "./elements.mjs";

export class Tooltip {
  constructor() {
    this.element = made("div", { className: "tooltip", hidden: true, "aria-hidden": "true" });
    document.addEventListener("scroll", () => this.hide(), { passive: true, capture: true });
  }

  hide() {
    this.element.hidden = true;
  }

  /** Beside an element, or where the pointer is: { x, y }. */
  show(where, text) {
    this.element.hidden = !where || !text;
    if (this.element.hidden) return;
    this.element.textContent = text;
    const box = where.getBoundingClientRect?.() ?? { left: where.x, top: where.y - 6, bottom: where.y + 18, width: 0 };
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const left = Math.min(Math.max(4, box.left + box.width / 2 - width / 2),
      document.documentElement.clientWidth - width - 4);
    this.element.style.left = `${left}px`;
    this.element.style.top = `${box.top - height - 6 >= 0 ? box.top - height - 6 : box.bottom + 6}px`;
  }
}
