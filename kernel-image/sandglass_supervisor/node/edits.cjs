'use strict';
// Edits of a text by position (pure), and the way back from a place in the result to the place it came from.

const { Math } = globalThis; // code may put anything else there

class Edits {
  #edits = [];

  /** Puts `text` in the place of what is between two positions; what is at one position stays in the order made. */
  replace(start, end, text) {
    this.#edits.push({ start, end, text, order: this.#edits.length });
  }

  insert(at, text) {
    this.replace(at, at, text);
  }

  /** The edited text between two others, and by line how far columns moved: [from this one on, by so many]; from 0. */
  apply(source, prefix = '', suffix = '') {
    const moves = [[]];
    let code = '';
    let lineStart = 0;
    let moved = 0;
    let position = 0;
    const add = (text) => {
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
        lineStart = code.length + at + 1;
        moved = 0;
        moves.push([]);
      }
      code += text;
    };
    const edits = [{ start: 0, end: 0, text: prefix }, ...this.#edits.sort(inOrder), { start: source.length, end: source.length, text: suffix }];
    for (const { start, end, text } of edits) {
      add(source.slice(position, start));
      add(text);
      moved += text.length - (end - start);
      moves.at(-1).push([code.length - lineStart, moved]);
      position = end;
    }
    add(source.slice(position));
    return { code, moves };
  }
}

function inOrder(a, b) {
  return a.start - b.start || a.end - b.end || a.order - b.order;
}

/** The column in the original text of a column in the edited one. */
function originalColumn(moves, column) {
  const before = moves?.filter(([from]) => from <= column).at(-1);
  return before ? Math.max(0, column - before[1]) : column;
}

module.exports = { Edits, originalColumn };
