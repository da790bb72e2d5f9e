/* The filter language (docs/reference/filter-language.md): true, false, or null where it is not
   known. Terms are tested on the columns, comparisons of fields on the decoded messages. */

class BadExpression extends Error {
  constructor(column, reason, soft = false) {
    super(`column ${column}: ${reason}`);
    Object.assign(this, { column, reason, soft });
  }
}

const COMPARE = {
  "==": (a, b) => a === b, "!=": (a, b) => a !== b, "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b, "<": (a, b) => a < b, ">": (a, b) => a > b,
};
const SECONDS = { us: 1e-6, ms: 1e-3, s: 1, m: 60 };
const BYTES = { "": 1, b: 1, kb: 1000, kib: 1024, mb: 1e6, mib: 1048576 };

function glob(pattern) {
  /* `*` and `?`; each part between stars is found from left to right, nothing is tried again. */
  const parts = pattern.split("*").map((part) => [...part]);
  const stands = (part, text, at) => part.every((c, i) => c === "?" ? at + i < text.length : c === text[at + i]);
  const matches = (value) => {
    const text = [...value], first = parts[0], last = parts.at(-1);
    if (parts.length === 1) return text.length === first.length && stands(first, text, 0);
    let start = first.length;
    const end = text.length - last.length;
    if (start > end || !stands(first, text, 0) || !stands(last, text, end)) return false;
    for (const part of parts.slice(1, -1)) {
      while (start + part.length <= end && !stands(part, text, start)) start++;
      if (start + part.length > end) return false;
      start += part.length;
    }
    return true;
  };
  matches.plain = !/[*?]/.test(pattern);
  return matches;
}

function rangesOf(value, what) {
  if (!/^\d{1,5}(-\d{1,5}|\+)?(,\d{1,5}(-\d{1,5}|\+)?)*$/.test(value)) {
    throw new Error(`'${value}' is not ${what}: write 4, 4-17, 4+ or 4,7`);
  }
  return value.split(",").map((part) => {
    const [first, last] = part.split("-");
    return [parseInt(first, 10), last ? Number(last) : part.endsWith("+") ? 32767 : Number(first)];
  });
}
function amountOf(value, units, what) {
  const match = /^(==|!=|<=|>=|<|>)?(\d+(?:\.\d+)?)([A-Za-z]*)$/.exec(value);
  const unit = match && units[match[3].toLowerCase()];
  if (!unit) throw new Error(`'${value}' is not ${what}`);
  return [COMPARE[match[1] ?? ">="], Number(match[2]) * unit];
}
function numbersOf(value, what) {
  const ranges = value.split(",").map((part) => {
    const match = /^ *(\d{1,10}) *(?:- *(\d{1,10}) *)?$/.exec(part);
    const ends = match && [Number(match[1]), Number(match[2] ?? match[1])];
    if (!ends || ends[0] > ends[1] || ends[1] >= 2 ** 31) {
      throw new Error(`'${part}' is no ${what}`);
    }
    return ends;
  });
  return (node) => node >= 0 && within(node, ranges);
}
function codeOf(name) {
  if (/^-?\d{1,5}$/.test(name)) return Number(name);
  const found = Object.entries(TRACE.codes).find(([, known]) => known === name.toUpperCase());
  if (!found) throw new Error(`no error of Kafka's is called '${name}'`);
  return Number(found[0]);
}

const layers = (i) => {
  const { key, ver, client, inner } = TRACE.flows, own = [[key[i], ver[i], TRACE.strings[client[i]]]];
  return inner[i] ? [...own, inner[i]] : own;
};
const setOf = (kind, i) => TRACE.sets[TRACE.flows[kind][i]];
const subject = (kind) => (value) => {
  const matches = glob(value);
  return (i) => {
    const found = setOf(kind, i);
    if (!found) return null;
    return matches.plain ? found.includes(value) : found.some(matches);
  };
};

const numbered = (what, ...columns) => (value) => {
  const matches = numbersOf(value, what);
  return (i) => columns.some((column) => matches(TRACE.flows[column][i]));
};

const TERMS = {
  "~api": (value) => {
    const keys = new Set(value.split(",").flatMap((pattern) => {
      const matches = glob(pattern.toLowerCase());
      const found = Object.keys(TRACE.apis).filter((key) => matches(TRACE.apis[key].toLowerCase()));
      if (!found.length) throw new Error(`no API is called '${pattern}'`);
      return found.map(Number);
    }));
    return (i) => layers(i).some(([key]) => keys.has(key));
  },
  "~key": (value) => {
    const ranges = rangesOf(value, "an API key");
    return (i) => layers(i).some(([key]) => within(key, ranges));
  },
  "~v": (value) => {
    const ranges = rangesOf(value, "a version");
    return (i) => layers(i).some(([, version]) => within(version, ranges));
  },
  "~client": (value) => {
    const matches = glob(value);
    return (i) => layers(i).some(([, , client]) => matches(client ?? ""));
  },
  "~node": numbered("node id", "peer", "node"),
  "~from": numbered("node id", "peer"),
  "~to": numbered("node id", "node"),
  "~connection": numbered("number of a connection", "conn"),
  "~err": (value) => {
    const codes = value === "*" ? null : new Set(value.split(",").map(codeOf));
    return (i) => {
      if (TRACE.flows.resSize[i] < 0) return null;
      const found = setOf("errors", i);
      return found ? (codes ? found.some((code) => codes.has(code)) : found.length > 0) : null;
    };
  },
  "~lat": (value) => {
    const [holds, amount] = amountOf(value, SECONDS, "a time such as >100ms");
    return (i) => TRACE.flows.lat[i] < 0 ? null : holds(TRACE.flows.lat[i] / 1e9, amount);
  },
  "~topic": subject("topics"),
  "~partition": subject("partitions"),
  "~group": subject("groups"),
  "~transaction": subject("transactions"),
  "~size": (value) => {
    const [holds, amount] = amountOf(value, BYTES, "a size such as >1MiB");
    return (i) => holds(TRACE.flows.size[i], amount);
  },
};
const FLAGS = { "~response": () => (i) => TRACE.flows.resSize[i] >= 0 };

/* The values of fields whose path is, or ends in, this one; lists of structs are looked through. */
function* valuesAt(nodes, path, above) {
  for (const node of nodes) {
    const here = `${above}.${node.n}`;
    if (node.c && node.d.k === "struct") yield* valuesAt(node.c, path, here);
    else if (node.c) for (const item of node.c) yield* valuesAt(item.c, path, here);
    else if (here.endsWith(`.${path}`)) yield [node.v, node.d.k === "array" ? node.d.e.k : node.d.k];
  }
}
const ROOTS = ["request", "response"];

function fieldTest(path, sign, value) {
  const has = (full, direction) => full.startsWith(ROOTS[direction]) && `.${full}.`.includes(`.${path}.`);
  const having = new Set(Object.entries(TRACE.paths).flatMap(([key, paths]) => [0, 1]
    .filter((direction) => paths.some((full) => has(full, direction))).map((direction) => `${key} ${direction}`)));
  const isLast = Object.values(TRACE.paths).some((paths) => paths.some((full) => `.${full}`.endsWith(`.${path}`)));
  if (!isLast) throw new Error(`no message has a field '${path}'`);
  const equality = sign === "==" || sign === "!=";
  if (TRACE.schemas.records.includes(path.split(".").at(-1)) && !(equality && value === "null")) {
    throw new Error(`records are not compared as text: only ${path}==null and ${path}!=null`);
  }
  const holds = comparison(sign, value, equality);
  return (i) => layers(i).some(([key], inner) => [0, 1].some((direction) => {
    const message = having.has(`${key} ${direction}`) && messageOf(i, direction, inner === 1);
    if (!message) return false;
    for (const [found, kind] of valuesAt(message.fields, path, `.${ROOTS[direction]}`)) {
      if (holds(found, kind)) return true;
    }
    return false;
  }));
}
function comparison(sign, value, equality) {
  const holds = COMPARE[sign], matches = glob(value);
  const truth = { true: true, false: false }[value.toLowerCase()];
  const digits = value.trim().replace(/(?<=\d)_(?=\d)/g, "");
  const number = /^[+-]?\d+$/.test(digits) ? BigInt(digits.replace("+", "")) : undefined;
  const real = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(digits) ? Number(digits) : undefined;
  const typed = (found, other) => other === undefined ? sign === "!=" : holds(found, other);
  const test = (found, kind) => {
    if (Array.isArray(found)) return value === "null" ? sign === "!=" : found.some((item) => test(item, kind));
    if (value === "null" || found === null) return equality && holds(found === null, value === "null");
    if (kind === "boolean") return typed(found, truth);
    if (kind === "float64") return typed(found, real);
    if (typeof found === "number" || typeof found === "bigint") return typed(BigInt(found), number);
    const shown = found instanceof Uint8Array ? hex(found) : found;
    return equality && !matches.plain ? matches(shown) === (sign === "==") : holds(shown, value);
  };
  return test;
}

/* 1. An expression is parts joined by `|`, each of operands joined by `&` or nothing.
   2. An error after `&`, `|`, `!`, `(` or a term ends it; another one only ends a list of operands. */
class Parser {
  constructor(source) { Object.assign(this, { source, at: 0 }); }
  blank() { this.at += /^\s*/.exec(this.source.slice(this.at))[0].length; }
  match(pattern) {
    this.blank();
    const found = new RegExp(pattern.source, "y" + pattern.flags);
    found.lastIndex = this.at;
    const match = found.exec(this.source);
    if (match) this.at += match[0].length;
    return match?.[0];
  }
  fail(soft = false) {
    this.blank();
    const word = this.source.slice(this.at).split(/\s+/)[0];
    const reason = !word ? "the expression ends too early"
      : word in TERMS || word in FLAGS ? `${word} stands where it cannot`
        : word.startsWith("~")
          ? `there is no term '${word}'; there are ${[...Object.keys(TERMS), ...Object.keys(FLAGS)].join(" ")}`
          : `'${word}' cannot stand here; join terms with & or |, compare fields as name==value`;
    throw new BadExpression(this.at + 1, reason, soft);
  }
  hard(rule) {
    try { return rule(); } catch (error) { error.soft = false; throw error; }
  }
  either() {
    const parts = [this.every()];
    while (this.match(/\|/)) parts.push(this.hard(() => this.every()));
    return joined(parts, true);
  }
  every() {
    const parts = [this.operand()];
    for (;;) {
      const start = this.at;
      if (this.match(/&/)) { parts.push(this.hard(() => this.operand())); continue; }
      try { parts.push(this.operand()); } catch (error) {
        if (!error.soft) throw error;
        this.at = start;
        return joined(parts, false);
      }
    }
  }
  operand() {
    if (this.match(/!/)) {
      const part = this.hard(() => this.operand());
      return (i) => { const answer = part(i); return answer === null ? null : !answer; };
    }
    if (this.match(/\(/)) {
      const part = this.hard(() => this.either());
      if (!this.match(/\)/)) this.fail();
      return part;
    }
    const flag = this.match(new RegExp(`(?:${Object.keys(FLAGS).join("|")})(?![A-Za-z])`));
    if (flag) return FLAGS[flag]();
    const names = Object.keys(TERMS).sort((a, b) => b.length - a.length);
    const term = this.match(new RegExp(`(?:${names.join("|")})(?![A-Za-z])`));
    return term ? this.term(term) : this.comparison();
  }
  term(name) {
    this.blank();
    const start = this.at;
    const value = this.quoted() ?? this.match(/(?:==|!=|<=|>=|<|>)\s*[^\s()&|!"'~]+/)
      ?? this.match(/[^\s()&|!"'~][^\s()&|"']*/);
    if (value === undefined) this.fail();
    const given = /^[<>=!]/.test(value) ? value.replaceAll(" ", "") : value;
    return this.meaning(start, () => TERMS[name](given));
  }
  comparison() {
    this.blank();
    const start = this.at;
    const path = this.match(/[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*/);
    const sign = path && this.match(/==|!=|<=|>=|<|>/);
    if (!sign) this.fail(true);
    const value = this.quoted() ?? this.match(/[^\s()&|!"'~]+/);
    if (value === undefined) this.fail();
    return this.meaning(start, () => fieldTest(path, sign, value));
  }
  quoted() {
    const found = this.match(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/);
    const named = { t: "\t", n: "\n", f: "\f", r: "\r" };
    return found?.slice(1, -1).replace(/\\([\s\S])/g, (_, c) => named[c] ?? c);
  }
  meaning(start, make) {
    try { return make(); } catch (error) { throw new BadExpression(start + 1, error.message); }
  }
}
function joined(parts, decisive) {
  if (parts.length === 1) return parts[0];
  return (i) => {
    let result = !decisive;
    for (const part of parts) {
      const answer = part(i);
      if (answer === decisive) return answer;
      if (answer === null) result = null;
    }
    return result;
  };
}

function parseExpression(source) {
  if (!source.trim()) throw new BadExpression(1, "nothing is here; write for example ~api Fetch");
  const parser = new Parser(source), expression = parser.either();
  parser.blank();
  if (parser.at < source.length) parser.fail();
  return expression;
}
