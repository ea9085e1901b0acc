// Spaces of rows: tokens, sentences, patches. A space with a parent is ragged: one segment for each row of the parent.

function checkedOffsets(json, name) {
  const offsets = json.offsets ?? [0, json.rows];
  for (let i = 0; i + 1 < offsets.length; ++i) {
    if (!(offsets[i] <= offsets[i + 1])) throw new Error(`space "${name}": offsets[${i}] is after the next one`);
  }
  if (offsets[0] !== 0 || offsets.at(-1) !== json.rows) throw new Error(`space "${name}": offsets are not of its rows`);
  return offsets;
}

export class Space {
  constructor(json, index, texts, images) {
    Object.assign(this, { index, texts, images, parent: null, name: String(json.name ?? `space ${index}`) });
    if (!Number.isInteger(json.rows) || json.rows < 0) throw new Error(`space "${this.name}": rows is not a number`);
    this.rows = json.rows;
    this.offsets = checkedOffsets(json, this.name);
    for (const key of ["labels", "places", "cells", "times", "chosen", "writes"]) {
      if (json[key] && json[key].length !== this.rows) {
        throw new Error(`space "${this.name}": ${key} are not of its rows`);
      }
      this[key] = json[key] ?? null;
    }
  }

  get segments() {
    return this.offsets.length - 1;
  }

  /** The space and those above it, nearest first. */
  chain() {
    const chain = [];
    for (let space = this; space && !chain.includes(space); space = space.parent) chain.push(space);
    return chain;
  }

  /** The number of the segment that has the row: the row of the parent that it belongs to. */
  segmentOf(row) {
    let low = 0, high = this.segments - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.offsets[middle] <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  segment(number) {
    return [this.offsets[number], this.offsets[number + 1]];
  }

  /** The row of an ancestor that the row belongs to. */
  ancestorRow(row, ancestor) {
    for (let space = this; space !== ancestor; space = space.parent) row = space.segmentOf(row);
    return row;
  }

  /** The rows of this space [begin, end) that belong to a row of an ancestor. */
  rowsBelow(ancestor, row) {
    let [begin, end] = [row, row + 1];
    const path = this.chain();
    for (const space of path.slice(0, path.indexOf(ancestor)).reverse()) {
      [begin, end] = [space.offsets[begin], space.offsets[end]];
    }
    return [begin, end];
  }

  place(row) {
    const place = this.places?.[row];
    return place && typeof this.texts[place[0]] === "string" ? place : null;
  }

  cell(row) {
    const cell = this.cells?.[row];
    return cell && this.images[cell[0]] ? cell : null;
  }

  time(row) {
    return this.times?.[row] ?? null;
  }

  dropped(row) {
    return this.chosen !== null && !this.chosen[row];
  }

  /** Whether the row is a token that the tokenizer added: it has a name, but no place in a text that has places. */
  special(row) {
    return Boolean(this.places?.length && !this.places[row] && this.labels?.[row] && !this.cells?.[row] &&
      !this.times?.[row]);
  }

  get hasSpecial() {
    this.specials ??= this.places?.some((_, row) => this.special(row)) ?? false;
    return this.specials;
  }

  /** The label of a row. */
  rowName(row) {
    const label = this.labels?.[row];
    if (label) return String(label);
    const place = this.place(row);
    if (place && place[2] > place[1]) return this.texts[place[0]].slice(place[1], place[2]);
    const cell = this.cell(row);
    if (cell) {
      const { columns } = this.images[cell[0]];
      return `patch ${Math.floor(cell[1] / columns) + 1},${(cell[1] % columns) + 1}`;
    }
    const time = this.time(row);
    const digits = time && time[2] - time[1] < 0.0095 ? 3 : 2;
    if (time) return `${time[1].toFixed(digits)}–${time[2].toFixed(digits)} s`;
    return `${this.name} ${row}`;
  }

  /** The same without being cut: the whole sentence where the label has only its beginning. */
  wholeName(row) {
    const place = this.place(row);
    return place && place[2] > place[1] ? this.texts[place[0]].slice(place[1], place[2]) : this.rowName(row);
  }

  /** Whether a reader of text finds something in this space. */
  get hasWords() {
    let words = 0;
    for (let row = 0; row < this.rows; ++row) {
      if (!this.cell(row) && !this.time(row) && (this.labels?.[row] || this.place(row))) ++words;
    }
    return words > (this.cells ? 2 : 0);  // a picture's class token alone is no text
  }
}

export function spacesOf(json, texts, images) {
  const spaces = json.map((space, index) => new Space(space, index, texts, images));
  json.forEach(({ parent }, index) => {
    if (parent === null || parent === undefined) return;
    if (!spaces[parent]) throw new Error(`space "${spaces[index].name}": there is no space ${parent}`);
    spaces[index].parent = spaces[parent];
    if (spaces[index].segments !== spaces[parent].rows) {
      throw new Error(`space "${spaces[index].name}": one segment is needed for each row of "${spaces[parent].name}"`);
    }
    if (!spaces[index].chain().some((space) => space.parent === null)) {
      throw new Error(`space "${spaces[index].name}" is above itself`);
    }
  });
  return spaces;
}

/** The keys [begin, end) that a row of `queries` may look at. */
export function keySegment(queries, row, keys) {
  if (keys === queries) return keys.segment(keys.segmentOf(row));
  const above = keys.chain().slice(1);
  if (above.includes(queries)) return keys.rowsBelow(queries, row);
  const shared = queries.chain().slice(1).find((space) => above.includes(space));
  if (shared) return keys.rowsBelow(shared, queries.ancestorRow(row, shared));
  if (keys.segments === 1) return [0, keys.rows];
  const number = queries.segmentOf(row);
  return number < keys.segments ? keys.segment(number) : [keys.rows, keys.rows];
}

/** The row of `target` for a row of `space`: itself, an ancestor, or the first descendant or related row. */
export function matchingRow(space, row, target) {
  if (space === target) return row;
  if (space.chain().includes(target)) return space.ancestorRow(row, target);
  const [begin, end] = keySegment(space, row, target);
  return begin < end ? begin : Math.min(begin, Math.max(0, target.rows - 1));
}
