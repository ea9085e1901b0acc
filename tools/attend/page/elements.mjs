// Elements of the page. Texts of a record are untrusted: they become text nodes and values of attributes, never markup.

/** An element: properties, attributes ("aria-..", "data-..", "role"), listeners ("onclick"), then its children. */
export function made(name, properties = {}, ...children) {
  return filled(document.createElement(name), properties, children);
}

export function drawn(name, properties = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), properties, children);
}

function filled(node, properties, children) {
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key in node && !(node instanceof SVGElement) && key !== "role" &&
      !key.startsWith("aria")) node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** A weight as it is read: four digits after the point, or two that count. */
export function weightText(value) {
  if (!Number.isFinite(value)) return String(value);
  if (value !== 0 && Math.abs(value) < 0.0001) return value.toExponential(1);
  return value.toFixed(4);
}

export const countText = (count) => count.toLocaleString("en");

export function plural(count, one, many = `${one}s`) {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** Text cut to a length for a list or a heading. */
export function shortText(text, length = 60) {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`;
}

/** A name in which white space can be seen. */
export function visible(name) {
  if (name.trim() !== "") return name;
  return name.replaceAll(" ", "␣").replaceAll("\n", "⏎").replaceAll("\t", "⇥") || "∅";
}

const MOVES = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/** Which of `count` things a key leads to from `index`, or -1 where the key is for something else. */
export function moved(key, index, count) {
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  const move = MOVES[key];
  return move === undefined ? -1 : (index + move + count) % count;
}

/** Lets arrow keys move among the elements that `list` returns; only one of them is in the order of Tab. */
export function roving(container, list, choose = (node) => node.focus()) {
  container.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const nodes = list(), at = nodes.indexOf(event.target.closest("[tabindex]"));
    const next = at < 0 ? -1 : moved(event.key, at, nodes.length);
    if (next < 0) return;
    event.preventDefault();
    nodes[next].focus();
    choose(nodes[next]);
  });
}

export function setRoving(nodes, current) {
  nodes.forEach((node, i) => node.setAttribute("tabindex", i === current ? 0 : -1));
}
