// Saves what is shown: the view as SVG or PNG, its numbers as CSV. All are made in the page; nothing is asked for.
import { made } from "./elements.mjs";

const TRANSPARENT = /^(transparent|rgba\(.*, 0\))$/;

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
  .replaceAll('"', "&quot;");
// Characters that XML does not allow, such as the ones that a tokenizer may have as tokens.
const clean = (text) => text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");

class SvgOf {
  constructor(root) {
    const box = root.getBoundingClientRect();
    Object.assign(this, { x: box.left - 12, y: box.top - 12, width: Math.ceil(box.width) + 24,
      height: Math.ceil(box.height) + 24, parts: [] });
    this.#element(root);
  }

  #rectangle({ left, top, width, height }, attributes) {
    this.parts.push(`<rect x="${(left - this.x).toFixed(2)}" y="${(top - this.y).toFixed(2)}" ` +
      `width="${width.toFixed(2)}" height="${height.toFixed(2)}" ${attributes}/>`);
  }

  #picture(node, address) {
    const { left, top, width, height } = node.getBoundingClientRect();
    this.parts.push(`<image x="${(left - this.x).toFixed(2)}" y="${(top - this.y).toFixed(2)}" ` +
      `width="${width.toFixed(2)}" height="${height.toFixed(2)}" preserveAspectRatio="none" href="${address}"/>`);
  }

  #element(node) {
    const style = getComputedStyle(node);
    if (style.visibility === "hidden" || style.display === "none" || node.matches("button, input, select, .map-bar")) {
      return;
    }
    const radius = `rx="${parseFloat(style.borderTopLeftRadius) || 0}"`;
    if (!TRANSPARENT.test(style.backgroundColor)) {
      for (const box of node.getClientRects()) this.#rectangle(box, `fill="${style.backgroundColor}" ${radius}`);
    }
    if (style.outlineStyle !== "none" && node.getAttribute("aria-selected") === "true") {
      this.#rectangle(node.getBoundingClientRect(), `fill="none" stroke="${style.outlineColor}" stroke-width="2"`);
    }
    if (parseFloat(style.getPropertyValue("--share")) >= 0 && node.matches(".bar")) {
      const box = node.getBoundingClientRect(), share = Number(style.getPropertyValue("--share"));
      this.#rectangle({ left: box.left, top: box.top, width: box.width * share, height: box.height },
        `fill="${style.getPropertyValue("--full").trim()}"`);
    }
    if (node instanceof HTMLCanvasElement && node.width > 0) return this.#picture(node, node.toDataURL());
    if (node instanceof HTMLImageElement && node.src.startsWith("data:")) return this.#picture(node, node.src);
    for (const child of node.childNodes) {
      if (child instanceof Text) this.#text(child, style);
      else if (child instanceof Element && child.checkVisibility()) this.#element(child);
    }
  }

  // A text by its lines: a range of characters with the same top.
  #text(node, style) {
    if (!/\S/.test(node.data)) return;
    const range = document.createRange(), lines = [];
    let at = 0;
    for (const { segment } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(node.data)) {
      range.setStart(node, at);
      range.setEnd(node, at += segment.length);
      const box = range.getClientRects()[0];
      if (!box || box.width === 0) continue;
      const line = lines.at(-1);
      if (line && Math.abs(line.box.top - box.top) < 3) line.text += segment;
      else lines.push({ box, text: segment });
    }
    const size = parseFloat(style.fontSize);
    for (const { box, text } of lines) {
      const base = box.top - this.y + box.height / 2 + size * 0.35;
      this.parts.push(`<text x="${(box.left - this.x).toFixed(2)}" y="${base.toFixed(2)}" font-size="${size}" ` +
        `font-weight="${style.fontWeight}" font-style="${style.fontStyle}" fill="${style.color}" ` +
        `xml:space="preserve">${escaped(clean(text))}</text>`);
    }
  }

  text() {
    const { width, height, parts } = this, back = getComputedStyle(document.body).backgroundColor;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif">\n` +
      `<rect width="100%" height="100%" fill="${back}"/>\n${parts.join("\n")}\n</svg>\n`;
  }
}

/** An element as it is shown, as an SVG document. */
export const svgOf = (root) => new SvgOf(root).text();

/** The same as the address of a PNG, at twice the size. */
export async function pngOf(root) {
  const svg = new SvgOf(root), image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg.text())}`;
  await image.decode();
  const canvas = made("canvas", { width: 2 * svg.width, height: 2 * svg.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** Lines of cells as CSV (RFC 4180). A cell that a spreadsheet would take for a formula begins with an apostrophe. */
export const csvOf = (lines) => lines.map((line) => line.map((cell) => {
  const text = String(cell);
  return quoted(typeof cell === "string" && /^[=+\-@\t]/.test(text) ? `'${text}` : text);
}).join(",")).join("\r\n") + "\r\n";

function save(address, name) {
  const link = made("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

/** Buttons that save `view()`, an element, and `lines()`, the cells of its table. */
export function exportButtons(view, lines, name) {
  const button = (text, label, work) => made("button", { type: "button", title: label, "aria-label": label,
    onclick: work }, text);
  return made("span", { className: "exports" }, "Save ",
    button("SVG", "Save the view as SVG", () =>
      save(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgOf(view()))}`, `${name()}.svg`)),
    button("PNG", "Save the view as PNG", async () => save(await pngOf(view()), `${name()}.png`)),
    button("CSV", "Save the numbers as CSV", () =>
      save(`data:text/csv;charset=utf-8,${encodeURIComponent(csvOf(lines()))}`, `${name()}.csv`)));
}
