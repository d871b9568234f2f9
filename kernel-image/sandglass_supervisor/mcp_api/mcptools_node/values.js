'use strict';
// The result of a call as a value of JavaScript.

const util = require('node:util');

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** A picture, sound or file of a result: its bytes, with the media type as `type`. */
class Media extends Uint8Array {
  // A part of it is bytes, and no picture.
  static get [Symbol.species]() {
    return Uint8Array;
  }

  constructor(data, type) {
    super(data);
    Object.defineProperty(this, 'type', { value: type, enumerable: true });
  }

  [util.inspect.custom]() {
    return `<${this.type}, ${this.length} bytes>`;
  }
}

/** Structured content if there is any; else the part, or the parts as a list; null if there are none. */
function valueOf(result) {
  if (result.structuredContent !== undefined && result.structuredContent !== null) return result.structuredContent;
  const values = partsOf(result).map(part);
  if (values.length === 0) return null;
  return values.length === 1 ? values[0] : values;
}

/** The text parts, a line break between two, as they are. */
function textOf(result) {
  return partsOf(result).filter(isText).map(({ text }) => text).join('\n');
}

function partsOf({ content }) {
  return Array.isArray(content) ? content.filter((part) => typeof part === 'object' && part !== null) : [];
}

function part(given) {
  if (isText(given)) return parsed(given.text);
  if (given.type === 'image' || given.type === 'audio') return media(given, given.data, given);
  const { resource } = given;
  if (given.type === 'resource' && typeof resource === 'object' && resource !== null) {
    if (typeof resource.text === 'string') return parsed(resource.text);
    if (typeof resource.blob === 'string') return media(resource, resource.blob, given);
  }
  return given;
}

function isText({ type, text }) {
  return type === 'text' && typeof text === 'string';
}

/** The value if the text is JSON, else the text. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Bytes; what cannot be read stays the part that it is. */
function media({ mimeType }, data, whole) {
  if (typeof data !== 'string' || data.length % 4 !== 0 || !BASE64.test(data)) return whole;
  return new Media(Buffer.from(data, 'base64'), String(mimeType || 'application/octet-stream'));
}

module.exports = { Media, textOf, valueOf };
