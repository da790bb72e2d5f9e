"use strict";
let TRACE = null;
/* Decodes frames by the declarations of `schemas.py`, and makes the trees that kwire prints. */

const within = (version, ranges) => !ranges || ranges.some(([a, b]) => a <= version && version <= b);

class Reader {
  /* cuts: where, in the frame as it was, how many bytes are not in this page. isCut: the frame was
     copied up to a limit. */
  constructor(bytes, cuts = [], isCut = false) {
    Object.assign(this, { bytes, cuts, isCut, at: 0, shift: 0, next: 0, ended: false });
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  get place() { return this.at + this.shift; }
  get left() { return this.bytes.length - this.at; }
  skip(count) {
    if (count > this.left) throw new Error(`${count} bytes claimed, ${this.left} left`);
    this.at += count;
    return this.at - count;
  }
  take(count) {
    const cut = this.cuts[this.next];
    let kept = count;
    if (cut && cut[0] > this.place && cut[0] < this.place + count) {
      kept -= cut[1];
      this.next++;
    }
    const start = this.skip(kept);
    this.shift += count - kept;
    return this.bytes.subarray(start, this.at);
  }
  uvarint() {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.bytes[this.skip(1)];
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new Error("a varint of more than 5 bytes");
  }
}

const READ = {
  int8: (r) => r.view.getInt8(r.skip(1)),
  int16: (r) => r.view.getInt16(r.skip(2)),
  uint16: (r) => r.view.getUint16(r.skip(2)),
  int32: (r) => r.view.getInt32(r.skip(4)),
  uint32: (r) => r.view.getUint32(r.skip(4)),
  int64: (r) => r.view.getBigInt64(r.skip(8)),
  float64: (r) => r.view.getFloat64(r.skip(8)),
  boolean: (r) => r.bytes[r.skip(1)] !== 0,
  uuid: (r) => uuidText(r.bytes.subarray(r.skip(16), r.at)),
  uvarint: (r) => r.uvarint(),
  compact: (r) => (r.uvarint() - 1) | 0,
};

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

function uuidText(bytes) {
  const base64 = btoa(String.fromCharCode(...bytes));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/* A node: name n, declaration d, value v or children c, the bytes from a to b; off: not sent. */

function readFields(reader, fields, context) {
  const { version, flexible } = context, nodes = [], tagged = new Map(), unknown = [];
  for (const field of fields) {
    const present = within(version, field.v) && !reader.ended;
    if (present && field.t !== undefined && within(version, field.g)) {
      tagged.set(field.t, nodes.length);
      nodes.push(absent(field));
    } else {
      nodes.push(present ? readNode(reader, field, context) : absent(field));
    }
  }
  if (flexible && !reader.ended) {
    for (let left = reader.uvarint(); left !== 0; left--) {
      if (left < 0 || left > reader.left) throw new Error(`${left} tagged fields`);
      const tag = reader.uvarint(), size = reader.uvarint(), start = reader.place;
      if (tagged.has(tag)) {
        nodes[tagged.get(tag)] = readNode(reader, nodes[tagged.get(tag)].d, context);
      } else {
        if (size < 0) throw new Error(`tagged field ${tag} of negative size`);
        unknown.push({ tag, v: reader.take(size), a: start, b: reader.place });
      }
    }
  }
  nodes.unknown = unknown;
  return nodes;
}

function readNode(reader, field, context) {
  const node = { n: field.n, d: field, a: reader.place };
  const nullable = field.u && within(context.version, field.u);
  if (field.k === "struct") {
    if (nullable && READ[field.m[0]](reader) <= field.m[1]) node.v = null;
    else node.c = readFields(reader, field.s, context);
  } else if (field.k === "array") {
    readArray(reader, field, context, node, nullable);
  } else if (READ[field.k]) {
    node.v = READ[field.k](reader);
  } else {
    readSized(reader, field, context, node, nullable);
  }
  node.b = reader.place;
  return node;
}

function lengthOf(reader, kind, nullable) {
  const length = READ[kind](reader);
  if (length < 0 && !nullable) throw new Error(`a length of ${length}`);
  return length;
}

function readArray(reader, field, context, node, nullable) {
  const count = lengthOf(reader, context.flexible ? "compact" : "int32", nullable);
  if (count < 0) { node.v = null; return; }
  if (count > reader.left && !reader.isCut) throw new Error(`${count} elements claimed`);
  const element = { ...field.e, n: "" }, items = [];
  for (let i = 0; i < count && !reader.ended; i++) {
    const item = readNode(reader, element, context);
    item.n = String(i);
    items.push(item);
  }
  if (field.e.k === "struct") node.c = items;
  else node.v = items.map((item) => item.v);
}

function readSized(reader, field, context, node, nullable) {
  const plain = field.k === "string" ? "int16" : "int32";
  let length = lengthOf(reader, context.flexible && !field.c ? "compact" : plain, nullable);
  if (length < 0) { node.v = null; return; }
  if (reader.isCut && TRACE.schemas.records.includes(field.n) && length > reader.left) {
    length = reader.left;
    reader.ended = true;
  }
  const bytes = reader.take(length);
  node.v = field.k === "string" ? UTF8.decode(bytes) : bytes;
  node.length = length;
}

/* A field that was not sent has its default, which comparisons of fields see. */
function absent(field) {
  const node = { n: field.n, d: field, off: true };
  if (field.k === "struct" && field.d === undefined) node.c = field.s.map(absent);
  else if (field.k === "array" && field.d && field.e.k === "struct") node.c = [];
  else if (field.k === "int64") node.v = BigInt(field.d);
  else node.v = /bytes|records/.test(field.k) && field.d === "" ? new Uint8Array(0) : field.d;
  return node;
}

/* A message: its title, version, header and fields. key, version: of the request. */
function readMessage(bytes, key, version, direction, cuts, isCut) {
  const schema = TRACE.schemas.apis[key]?.[direction];
  if (!schema) throw new Error(`kwire does not know the API with key ${key}`);
  const reader = new Reader(bytes, cuts, isCut);
  const flexible = schema.x.length > 0 && within(version, schema.x);
  const header = direction ? Number(flexible && key !== 18)
    : key === 7 && version === 0 ? 0 : flexible ? 2 : 1;
  const head = TRACE.schemas.headers[direction];
  const fields = readFields(reader, head.f, { version: header, flexible: header === 2 - direction });
  if (direction && key === 18 && reader.view.getInt16(reader.at) === 35) version = 0;
  const context = { version, flexible: schema.x.length > 0 && within(version, schema.x) };
  const title = `${TRACE.apis[key]}${direction ? "Response" : "Request"}`;
  const message = { title, name: schema.n, version, header: fields };
  message.fields = readFields(reader, schema.f, context);
  return message;
}

/* Trees: [name, value, children, start, end], as kwire/proxy/flows/tree.py makes them. */

const MASKED = "(hidden)", SHOWN = 1000;

function harmless(value) {
  return value.replace(/[\p{C}\p{Z}]/gu, (c) => {
    if (c === " ") return c;
    const code = c.codePointAt(0), short = { 9: "\\t", 10: "\\n", 13: "\\r" }[code];
    if (short) return short;
    const [mark, width] = code < 256 ? ["x", 2] : code < 65536 ? ["u", 4] : ["U", 8];
    return `\\${mark}${code.toString(16).padStart(width, "0")}`;
  });
}
function printable(value, limit = 200) {
  const letters = value.length > limit ? [...value] : value;
  if (letters.length <= limit) return harmless(value);
  return `${harmless([...letters].slice(0, limit).join(""))}…`;
}
function bytesText(bytes, length = bytes.length) {
  if (!length) return "0 bytes";
  return `${length} bytes: ${hex(bytes.subarray(0, 16))}${length > 16 ? "…" : ""}`;
}
function whole(value) {
  /* As Python rounds: a half goes to the even number. */
  const rounded = Math.round(value);
  return rounded - value === 0.5 && rounded % 2 ? rounded - 1 : rounded;
}
const sizeText = (size) => size < 10_000 ? `${size} B`
  : size < 10_000_000 ? `${whole(size / 1024)} KiB` : `${whole(size / 1048576)} MiB`;
const codeName = (code) => TRACE.codes[code] ?? `ERROR ${code}`;

function valueText(value, kind, name = "", length = undefined) {
  if (value === null) return "null";
  if (typeof value === "boolean") return String(value);
  if (kind === "string") return `"${printable(value)}"`;
  if (kind === "uuid") return value;
  if (value instanceof Uint8Array) return bytesText(value, length);
  if (kind === "float64" && Number.isInteger(value) && Math.abs(value) < 1e16) return `${value}.0`;
  if (kind === "float64" && !Number.isFinite(value)) return String(value).slice(0, value < 0 ? 4 : 3).toLowerCase();
  if (name.endsWith("error_code")) return `${value} ${codeName(value)}`;
  return String(value);
}
function nodeText(node) {
  const { v, d } = node;
  if (d.k !== "array" || v === null) return valueText(v, d.k, node.n, node.length);
  const more = v.length > 100 ? `, … ${v.length} in all` : "";
  return `[${v.slice(0, 100).map((item) => valueText(item, d.e.k)).join(", ")}${more}]`;
}

function isSecret(owner, nodes, name) {
  if (TRACE.schemas.secrets.includes(name)) return true;
  if (name !== "value" && name !== "synonyms") return false;
  const found = (field) => nodes.find((node) => node.n === field)?.v;
  if (found("is_sensitive")) return true;
  const config = found("name");
  return owner.includes("Config") && typeof config === "string"
    && new RegExp(TRACE.schemas.sensitive, "i").test(config);
}
function holdsSecrets(nodes) {
  return nodes.some((node) => node.c
    ? (node.d.k === "array" ? node.c.some((item) => holdsSecrets(item.c)) : holdsSecrets(node.c))
    : TRACE.schemas.secrets.includes(node.n));
}

/* context: message (its name), own (texts of an Envelope), records (trees in their order), hides. */
function branches(nodes, owner, context) {
  const found = [];
  for (const node of nodes) {
    if (node.off) continue;
    const place = [node.a, node.b];
    if (isSecret(owner, nodes, node.n)) {
      if (node.d.k === "records" && node.v?.length) context.records.shift();
      found.push([node.n, MASKED, [], ...place]);
    } else found.push([...branch(node, owner, context), ...place]);
  }
  for (const tag of nodes.unknown ?? []) {
    const value = context.hides ? MASKED : bytesText(tag.v);
    found.push([`unknown tag ${tag.tag}`, value, [], tag.a, tag.b]);
  }
  return found;
}
function branch(node, owner, context) {
  const named = TRACE.schemas.numbers[`${owner}.${node.n}`]?.[node.v];
  if (named) return [node.n, `${node.v} ${named}`, []];
  if (owner.startsWith("Envelope") && node.n.endsWith("_data")) {
    return [node.n, node.v === null ? "null" : sizeText(node.length), []];
  }
  if (owner === "EnvelopeRequest" && context.own?.[node.n]) return [node.n, context.own[node.n], []];
  if (node.c && node.d.k === "struct") return [node.n, "", branches(node.c, node.d.n2, context)];
  if (node.c) {
    const count = node.c.length, { n2 } = node.d.e;
    const more = count > SHOWN ? `, ${SHOWN} shown` : "";
    const children = node.c.slice(0, SHOWN).map(
      (item) => [item.n, "", branches(item.c, n2, context), item.a, item.b]);
    return [node.n, `${count} element${count === 1 ? "" : "s"}${more}`, children];
  }
  if (TRACE.schemas.records.includes(node.n) && node.v?.length) {
    return [node.n, sizeText(node.length), context.records.shift() ?? []];
  }
  return [node.n, nodeText(node), []];
}

/* The tree of a message; inner: the one in its envelope, or null. */
function messageTree(message, direction, { own, records, inner }) {
  const hides = holdsSecrets(message.fields);
  const context = { own, records: [...(records ?? [])], hides };
  const ends = message.header.filter((node) => !node.off).map((node) => node.b);
  for (const node of message.header) node.off = false;
  const head = branches(message.header, "", { records: [], hides: false });
  const children = [["header", "", head, 0, Math.max(...ends)]];
  children.push(...branches(message.fields, message.name, context), ...(inner ? [inner] : []));
  return [message.title, `v${message.version}`, children];
}
