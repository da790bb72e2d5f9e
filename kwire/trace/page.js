/* The page: what is chosen, its details, the filter, keys, and the address behind `#`. */

const STEPS_OF = Object.fromEntries(SIGNS.map(([name, , , holds]) => [name, holds]));
let FRAMES = null;

async function unpack(id) {
  const packed = atob($(id).textContent), bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  $(id).remove();
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

/* Frames stand by API, version and direction: `document.py`. */
function findFrames() {
  const { key, ver, req, res } = TRACE.flows, order = [...key.keys()];
  order.sort((a, b) => key[a] - key[b] || ver[a] - ver[b] || a - b);
  S.offsets = [new Int32Array(key.length), new Int32Array(key.length)];
  let offset = 0;
  for (let start = 0, end; start < order.length; start = end) {
    const same = (i) => key[i] === key[order[start]] && ver[i] === ver[order[start]];
    for (end = start; end < order.length && same(order[end]);) end++;
    [req, res].forEach((lengths, direction) => {
      for (const i of order.slice(start, end)) {
        S.offsets[direction][i] = offset;
        offset += Math.max(lengths[i], 0);
      }
    });
  }
}
function frameOf(i, direction) {
  const length = TRACE.flows[direction ? "res" : "req"][i];
  if (length < 0) return null;
  const start = S.offsets[direction][i], cuts = TRACE.flows.cuts[i]?.[direction] ?? [];
  const size = TRACE.flows[direction ? "resSize" : "reqSize"][i];
  const left = cuts.reduce((sum, cut) => sum + cut[1], 0);
  return { bytes: FRAMES.subarray(start, start + length), cuts, size, isCut: length + left < size };
}
function decode(i, direction, isInner) {
  const { key, ver, inner } = TRACE.flows, frame = frameOf(i, direction);
  if (!frame) return null;
  const outer = readMessage(frame.bytes, key[i], ver[i], direction, frame.cuts, frame.isCut);
  if (!isInner) return outer;
  const data = outer.fields.find((node) => node.n === (direction ? "response_data" : "request_data"))?.v;
  return data && inner[i] ? readMessage(data, inner[i][0], inner[i][1], direction) : null;
}
function messageOf(i, direction, isInner) {
  try { return decode(i, direction, isInner); } catch { return null; }
}
function treeOf(i, direction) {
  const { own, records } = TRACE.flows, message = decode(i, direction, false);
  const carried = messageOf(i, direction, true);
  const inner = carried && withoutPlaces(messageTree(carried, direction, {}));
  const trees = records[i]?.[direction].map((number) => TRACE.trees[number]);
  return message && messageTree(message, direction, { own: own[i], records: trees, inner });
}
const withoutPlaces = ([name, value, children]) => [name, value, children.map(withoutPlaces)];

/* The filter */

function applyFilter(source) {
  let test = () => true;
  const fault = $("fault");
  fault.hidden = true;
  $("filter").removeAttribute("aria-invalid");
  try {
    if (source.trim()) test = parseExpression(source);
  } catch (error) {
    if (!(error instanceof BadExpression)) throw error;
    fault.textContent = `${error.message}\n  ${source}\n  ${" ".repeat(error.column - 1)}^`;
    fault.hidden = false;
    $("filter").setAttribute("aria-invalid", "true");
    return false;
  }
  const count = TRACE.flows.n.length;
  for (let i = 0; i < count; i++) S.fits[i] = test(i) === true ? 1 : 0;
  S.source = source.trim();
  listRows();
  return true;
}
function listRows() {
  const all = [...TRACE.flows.n.keys()];
  S.rows = S.only ? all.filter((i) => S.fits[i]) : all;
  const fitting = S.source ? `${many(S.fits.reduce((sum, one) => sum + one, 0), "RPC")} match. ` : "";
  say(`${fitting}${many(S.rows.length, "RPC")} in the list`);
  drawTime();
  drawRows();
  if (S.cursor >= 0 && placeOf(S.cursor) >= 0) reveal(placeOf(S.cursor));
}
const say = (text) => { $("status").textContent = text; };
const placeOf = (i) => {
  let low = 0, high = S.rows.length;
  while (low < high) { const middle = (low + high) >> 1; if (S.rows[middle] < i) low = middle + 1; else high = middle; }
  return S.rows[low] === i ? low : -1;
};

/* The chosen RPC */

function choose(i, { keep = false } = {}) {
  S.cursor = i;
  S.mark = -1;
  showMoment(TRACE.flows.at[i]);
  drawTime();
  if (placeOf(i) >= 0) reveal(placeOf(i));
  drawRows();
  showDetails(i);
  if (!keep) history.replaceState(null, "", addressOf(i));
}
function addressOf(i) {
  const view = S.source ? `&view=${encodeURIComponent(S.source)}` : "";
  return `#flow=${TRACE.flows.n[i]}${view}`;
}
function move(steps) {
  if (!S.rows.length) return;
  const place = placeOf(S.cursor);
  const from = place >= 0 ? place + steps : steps > 0 ? S.rows.findIndex((i) => i > S.cursor) : -1;
  choose(S.rows[Math.max(0, Math.min(S.rows.length - 1, from < 0 && place < 0 ? 0 : from))]);
}
function step(holds, way, what) {
  for (let i = S.cursor + way; i >= 0 && i < TRACE.flows.n.length; i += way) {
    if ((!S.only || S.fits[i]) && holds(i)) { choose(i); return; }
  }
  const hidden = S.only && S.source ? " that the filter matches" : "";
  say(`There is no RPC ${what}${hidden} ${way > 0 ? "after" : "before"} this one.`);
}
/* The next mark after the chosen moment: not all of them are of an RPC that is here. */
function stepMark(way) {
  const now = S.mark >= 0 ? TRACE.marks[S.mark][0] : S.cursor >= 0 ? TRACE.flows.at[S.cursor] : 0;
  const isNext = ([at], number) => S.mark >= 0 ? number === S.mark + way : way > 0 ? at >= now : at < now;
  const number = way > 0 ? TRACE.marks.findIndex(isNext) : TRACE.marks.findLastIndex(isNext);
  if (number < 0 || number >= TRACE.marks.length) say(`There is no mark ${way > 0 ? "after" : "before"} this moment.`);
  else showMark(number);
}
function showMark(number) {
  const [at, kind, text, flow] = TRACE.marks[number];
  if (flow >= 0) choose(flow);
  S.mark = number;
  showMoment(at);
  drawTime();
  say(`${GLYPHS[kind]} ${clock(at)} ${SHORT[kind]}: ${text}`);
}
const stepTo = (name, way) => {
  if (name === "mark") { stepMark(way); return; }
  const [, , what, holds] = SIGNS.find((sign) => sign[0] === name);
  step(holds, way, what);
};

function facts(pairs) {
  return element("dl", {}, ...pairs.filter(([, value]) => value !== "" && value?.length !== 0)
    .flatMap(([name, value]) => [value].flat().map((one, at) => [
      element("dt", { textContent: at ? "" : name }),
      element("dd", {}, one instanceof Node ? one : String(one))]).flat()));
}
function showDetails(i) {
  const f = TRACE.flows, title = `RPC ${f.n[i]}: ${nameOf(i)}`;
  const iso = new Date(Math.floor((TRACE.begin + f.at[i]) / 1000)).toISOString();
  const codes = setOf("errors", i) ?? [], harm = (list) => (list ?? []).map(harmless);
  const signs = signsOf(i).map(([name, glyph, what]) => `${glyph} ${what}`).join(", ");
  $("details").replaceChildren(
    element("h2", {}, element("a", { href: addressOf(i), textContent: title })),
    element("p", { textContent: summaryOf(i) }),
    facts([
      ["signs", signs],
      ["time", element("a", { href: `#t=${iso}`, textContent: `${iso.slice(0, 10)} ${clock(f.at[i], 1)} UTC` })],
      ["from, to", `${endsOf(i)}, connection ${f.conn[i]} of ${TRACE.strings[f.address[i]]}`],
      ["client id", harmless(TRACE.strings[f.client[i]] ?? "null")],
      ["outcome", [TRACE.outcomes[f.out[i]], duration(f.lat[i])].filter(Boolean).join(" after ")],
      ["errors", element("span", { className: "error", textContent: codes.map(codeName).join(", ") }).textContent],
      ["problems", harm(f.problems[i])],
      ["notes", harm(f.notes[i])],
      ["caused", harm(f.caused[i])],
    ]),
    ...relatedTo(i), ...[0, 1].map((direction) => element("section", {}, ...messageView(i, direction))));
  $("details").scrollTop = 0;
}

/* Related RPCs: the same chain, transaction, group, partition or connection. */

function relatedTo(i) {
  const f = TRACE.flows, lines = [], quoted = (name) => `"${name.replace(/(["\\])/g, "\\$1")}"`;
  if (f.chain[i]) {
    const chain = Object.keys(f.chain).map(Number).filter((other) => f.chain[other] === f.chain[i] && other !== i);
    const links = chain.map((other) => element("a", { href: addressOf(other), textContent: `RPC ${f.n[other]} ${nameOf(other)}` }));
    lines.push(element("div", { className: "related" }, element("span", {}, "same request, forwarded: ", ...links.flatMap((link) => [link, " "]))));
  }
  for (const [kind, term] of [["transactions", "~transaction"], ["groups", "~group"], ["partitions", "~partition"]]) {
    const names = new Map();
    for (const name of setOf(kind, i) ?? []) {
      const [shown, both] = kind === "partitions" ? aliases(name) : [name, [name]];
      names.set(shown, new Set([...(names.get(shown) ?? []), ...both]));
    }
    for (const [shown, both] of [...names].slice(0, 8)) {
      const sets = new Set(TRACE.sets.flatMap((set, number) => set.some((name) => both.has(name)) ? [number] : []));
      const filter = [...both].map((name) => `${term} ${quoted(name)}`).join(" | ");
      lines.push(relatedLine(`${kind.slice(0, -1)} ${shown}`, (other) => sets.has(f[kind][other]), filter));
    }
    if (names.size > 8) lines.push(element("p", { className: "quiet", textContent: `and ${many(names.size - 8, kind.slice(0, -1))} more` }));
  }
  const [conn, address] = [f.conn[i], f.address[i]];
  lines.push(relatedLine(`connection ${conn}`, (other) => f.conn[other] === conn && f.address[other] === address));
  return [element("h3", { textContent: "Related" }), ...lines];
}
function aliases(name) {
  const at = name.lastIndexOf("-"), [topic, index] = [name.slice(0, at), name.slice(at)];
  S.ids ??= Object.entries(TRACE.topics).reduce((ids, [id, known]) => ids.set(known, [...(ids.get(known) ?? []), id]), new Map());
  const known = TRACE.topics[topic] ?? topic;
  return [harmless(known + index), [known + index, ...(S.ids.get(known) ?? []).map((id) => id + index)]];
}
function relatedLine(name, holds, filter) {
  const count = TRACE.flows.n.reduce((sum, _, i) => sum + (holds(i) ? 1 : 0), 0);
  const button = (text, label, onclick) => element("button", { type: "button", textContent: text, "aria-label": `${label} of ${name}`, title: label, onclick });
  return element("div", { className: "related" },
    element("span", { textContent: `${name}: ${many(count, "RPC")}` }),
    button("‹", "the one before", () => step(holds, -1, `of ${name}`)),
    button("›", "the next one", () => step(holds, 1, `of ${name}`)),
    ...(filter ? [button("filter", "only those", () => setFilter(filter))] : []));
}
function setFilter(source) {
  $("filter").value = source;
  if (applyFilter(source) && S.cursor >= 0) history.replaceState(null, "", addressOf(S.cursor));
}

/* Messages: a tree and the bytes behind it. */

function messageView(i, direction) {
  const what = direction ? "Response" : "Request", frame = frameOf(i, direction);
  const size = TRACE.flows[direction ? "resSize" : "reqSize"][i];
  const title = element("h3", { textContent: size >= 0 ? `${what}, ${many(size, "byte")}` : what });
  if (!frame) return [title, element("p", { className: "quiet", textContent: size < 0 ? "There was none." : "Its bytes are not here." })];
  const bytes = element("div", { className: "bytes", tabIndex: 0, role: "region", "aria-label": `Bytes of the ${what.toLowerCase()}` });
  drawBytes(bytes, frame, null);
  const parts = [title];
  try {
    parts.push(treeView(treeOf(i, direction), (place) => drawBytes(bytes, frame, place), what));
  } catch (error) {
    parts.push(element("p", { className: "error", textContent: `not decoded: ${error.message}` }));
  }
  if (frame.isCut) parts.push(element("p", { className: "slow", textContent: "The capture has only the beginning of this message." }));
  return [...parts, bytes];
}

function treeView(tree, onPlace, what) {
  const top = element("div", { className: "tree" }), list = element("ul", { role: "tree", "aria-label": `Fields of the ${what.toLowerCase()}` });
  const telling = ([name, value, children]) => (name.endsWith("error_code") && value !== "0 NONE") || children.some(telling);
  const item = ([name, value, children, a, b], depth, place) => {
    const own = a === undefined ? place : [a, b];
    const shown = TRACE.topics[value] ? `${value} (${harmless(TRACE.topics[value])})` : value;
    const line = element("span", {}, element("span", { className: "name", textContent: name }), shown ? `: ${shown}` : "");
    if (telling([name, value, []])) line.className = "error";
    const made = element("li", { role: "treeitem", tabIndex: -1 }, line);
    made.place = own;
    if (children.length) {
      made.fill = () => {
        made.fill = null;
        made.append(element("ul", { role: "group" }, ...children.map((child) => item(child, depth + 1, own))));
      };
      toggle(made, depth === 0 || (name !== "header" && (children.length <= 3 && depth < 4)) || telling([name, "", children]));
    }
    return made;
  };
  list.append(item(tree, 0, undefined));
  list.firstChild.tabIndex = 0;
  const focus = (target) => {
    list.querySelectorAll("[tabindex='0']").forEach((one) => { one.tabIndex = -1; });
    list.querySelectorAll("[aria-selected]").forEach((one) => one.removeAttribute("aria-selected"));
    target.tabIndex = 0;
    target.setAttribute("aria-selected", "true");
    target.focus();
    onPlace(target.place ?? null);
  };
  list.onclick = (event) => {
    const target = event.target.closest("li");
    if (!target) return;
    if (target.hasAttribute("aria-expanded")) toggle(target, target.ariaExpanded === "false");
    focus(target);
  };
  list.onkeydown = (event) => {
    const target = event.target.closest("li"), shown = [...list.querySelectorAll("li")].filter((one) => one.offsetParent);
    const at = shown.indexOf(target), open = target.getAttribute("aria-expanded");
    const action = {
      ArrowDown: () => shown[at + 1] && focus(shown[at + 1]),
      ArrowUp: () => shown[at - 1] && focus(shown[at - 1]),
      ArrowRight: () => open === "false" ? toggle(target, true) : open && focus(shown[at + 1]),
      ArrowLeft: () => open === "true" ? toggle(target, false) : target.parentElement.closest("li") && focus(target.parentElement.closest("li")),
      Enter: () => open ? toggle(target, open === "false") : undefined,
    }[event.key];
    if (!action) return;
    action();
    event.preventDefault();
    event.stopPropagation();
  };
  top.append(list);
  return top;
}
function toggle(item, isOpen) {
  if (isOpen) item.fill?.();
  item.setAttribute("aria-expanded", String(isOpen));
  const group = item.querySelector(":scope > ul");
  if (group) group.hidden = !isOpen;
}

const LINES = 1000;
function drawBytes(target, frame, place) {
  const width = narrow() ? 8 : 16, lines = [];
  let start = 0, shift = 0;
  for (const [cut, count] of [...frame.cuts, [Infinity, 0]]) {
    const end = Math.min(cut - shift, frame.bytes.length);
    for (; start < end; start += width) lines.push([start + shift, frame.bytes.subarray(start, Math.min(start + width, end))]);
    if (count) lines.push([`… ${many(count, "byte")} of records are left out of this page`]);
    [start, shift] = [end, shift + count];
  }
  const wanted = place ? lines.findIndex(([at, bytes]) => bytes && at + bytes.length > place[0]) : 0;
  const first = wanted >= LINES ? wanted - 5 : 0, shown = lines.slice(first, first + LINES);
  target.replaceChildren(...shown.flatMap(([at, bytes]) => bytes ? byteLine(at, bytes, place, width) : [element("i", { textContent: `${at}\n` })]));
  if (first + LINES < lines.length) target.append(element("i", { textContent: `… ${many(lines.length - first - LINES, "line")} more` }));
  const marked = target.querySelector("mark");
  if (marked) target.scrollTop = Math.max(0, marked.offsetTop - target.offsetTop - target.clientHeight / 3);
}
function byteLine(at, bytes, place, width) {
  const parts = [`${at.toString(16).padStart(6, "0")}  `], isIn = (k) => place && at + k >= place[0] && at + k < place[1];
  const runs = (show) => {
    for (let k = 0, end; k < bytes.length; k = end) {
      for (end = k + 1; end < bytes.length && !isIn(end) === !isIn(k);) end++;
      const text = [...bytes.subarray(k, end)].map(show).join("");
      parts.push(isIn(k) ? element("mark", { textContent: text }) : text);
    }
  };
  runs((byte) => `${byte.toString(16).padStart(2, "0")} `);
  parts.push("   ".repeat(width - bytes.length) + " ");
  runs((byte) => byte > 31 && byte < 127 ? String.fromCharCode(byte) : ".");
  return [...parts, "\n"];
}

/* Keys, the mouse, and the address */

const KEYS = [
  ["j ↓", "k ↑", "the next RPC, and the one before", ["j", "ArrowDown"], ["k", "ArrowUp"], move],
  ["n", "N", "the next RPC that the filter matches, and the one before", ["n"], ["N"], (way) => step((i) => S.fits[i], way, "that matches")],
  ["e", "E", "✕ an error", ["e"], ["E"], (way) => stepTo("error", way)],
  ["s", "S", "◷ a slow call: 100 ms; of calls that wait in the node, 100 ms after that", ["s"], ["S"], (way) => stepTo("slow", way)],
  ["u", "U", "○ no answer was seen", ["u"], ["U"], (way) => stepTo("silent", way)],
  ["m", "M", "◆ a mark: ▲ election ◆ voters ■ ISR ● assignment ★ node ✕ lost or refused ▮ metadata", ["m"], ["M"], stepMark],
  ["c", "C", "the same connection", ["c"], ["C"], stepConnection],
  ["PageDown", "PageUp", "a screen further, and back", ["PageDown"], ["PageUp"], (way) => move(way * Math.max(1, Math.floor($("list").clientHeight / rowHeight()) - 1))],
  ["G End", "g Home", "the last RPC, and the first", ["G", "End"], ["g", "Home"], (way) => move(way * S.rows.length)],
  ["+", "-", "zoom the time in, and out; 0 shows all", ["+", "="], ["-"], (way) => zoomBy(way > 0 ? 0.5 : 2)],
  ["→", "←", "later, and earlier", ["ArrowRight"], ["ArrowLeft"], (way) => { const part = (way * (S.to - S.from)) / 5; zoom(S.from + part, S.to + part); }],
];
const OTHER_KEYS = {
  "/": ["the filter; Enter applies it", () => $("filter").focus()],
  f: ["show all RPCs, or only those that match", () => $("only").click()],
  Enter: ["the fields of the message: arrows move in them, and show the bytes", () => $("details").querySelector("[role=tree] li")?.focus()],
  0: ["show the whole time", () => zoom(S.begin, S.end)],
  Escape: ["back to the list", () => $("list").focus()],
  "?": ["these keys", () => $("help").click()],
};
function stepConnection(way) {
  const f = TRACE.flows, i = S.cursor;
  step((other) => i >= 0 && f.conn[other] === f.conn[i] && f.address[other] === f.address[i], way, "of this connection");
}
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("dialog")) return;
  if (event.target === $("filter")) {
    if (event.key === "Escape") $("list").focus();
    return;
  }
  if (event.key === "Enter" && event.target.closest("a, button")) return;
  const pair = KEYS.find(([, , , on, back]) => on.includes(event.key) || back.includes(event.key));
  if (pair) pair[5](pair[3].includes(event.key) ? 1 : -1);
  else if (OTHER_KEYS[event.key]) OTHER_KEYS[event.key][1]();
  else return;
  event.preventDefault();
}
function goTo(hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, "")), flow = Number(parts.get("flow"));
  if (parts.has("view")) { $("filter").value = parts.get("view"); applyFilter(parts.get("view")); }
  const numbers = TRACE.flows.n, moment = Date.parse(parts.get("t")) * 1000 - TRACE.begin;
  if (flow) {
    const i = numbers.indexOf(flow), near = numbers.findIndex((n) => n >= flow);
    if (i < 0 && near >= 0) say(`RPC ${flow} is not in this page; the next one that is, is ${numbers[near]}.`);
    if (i < 0 && near < 0) say(`There is no RPC ${flow}: the last one here is ${numbers.at(-1)}.`);
    if (near < 0) return false;
    choose(near, { keep: true });
  } else if (!Number.isNaN(moment)) {
    const i = TRACE.flows.at.findIndex((at) => at >= moment);
    showMoment(moment);
    if (i >= 0) choose(i, { keep: true });
  } else return false;
  return true;
}

function listenToMouse() {
  let down = null;
  for (const id of ["axis", "calls"]) {
    const canvas = $(id), hit = (event) => {
      const { left, top } = canvas.getBoundingClientRect(), [x, y] = [event.clientX - left, event.clientY - top];
      return [x, y, x < S.gutter ? null : id === "axis" ? markAt(x, y) : callAt(x, y)];
    };
    canvas.onpointerdown = (event) => { down = hit(event)[0]; canvas.setPointerCapture(event.pointerId); };
    canvas.onpointerup = (event) => {
      const [x, , found] = hit(event), from = down;
      down = null;
      if (from !== null && Math.abs(from - x) > 5) zoom(atOf(Math.min(from, x)), atOf(Math.max(from, x)));
      else if (id === "calls" && found !== null) choose(found);
      else if (id === "axis" && found?.length) showMark(TRACE.marks.indexOf(found[0]));
      else if (x >= S.gutter) goTo(`#t=${new Date((TRACE.begin + atOf(x)) / 1000).toISOString()}`);
    };
    canvas.onpointermove = (event) => {
      const [x, , found] = hit(event), hint = $("hint");
      hint.textContent = found === null || found?.length === 0 ? ""
        : id === "axis" ? `${clock(found[0][0])} ${found[0][2]}${found.length > 1 ? ` (and ${found.length - 1} beside it)` : ""}`
          : `RPC ${TRACE.flows.n[found]} ${nameOf(found)} ${duration(TRACE.flows.lat[found])}: ${summaryOf(found)}`;
      hint.style.left = `${Math.min(x + 12, S.width * 0.55)}px`;
      hint.style.top = `${event.clientY - $("time").getBoundingClientRect().top + 14}px`;
    };
    canvas.onpointerleave = () => { $("hint").textContent = ""; };
    canvas.ondblclick = () => zoom(S.begin, S.end);
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoomBy(event.deltaY > 0 ? 1.3 : 1 / 1.3, atOf(hit(event)[0]));
    }, { passive: false });
  }
}

function listen() {
  document.addEventListener("keydown", onKey);
  listenToMouse();
  $("bar").onsubmit = (event) => { event.preventDefault(); setFilter($("filter").value); };
  $("only").onclick = () => { S.only = !S.only; $("only").setAttribute("aria-pressed", String(S.only)); listRows(); };
  for (const button of document.querySelectorAll("[data-step]")) {
    button.onclick = (event) => stepTo(button.dataset.step, event.shiftKey ? -1 : 1);
  }
  $("help").onclick = () => $("keys").showModal();
  $("list").onscroll = drawRows;
  $("list").onclick = (event) => {
    const found = event.target.closest(".row");
    if (found) choose(Number(found.id.slice(1)));
  };
  addEventListener("hashchange", () => goTo(location.hash));
  new ResizeObserver(() => { drawTime(); drawRows(); }).observe($("list"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawTime);
}

function describe() {
  const { totals } = TRACE, count = TRACE.flows.n.length;
  const seconds = (S.end - S.begin) / 1e6, began = new Date(TRACE.begin / 1000).toISOString();
  const signs = SIGNS.slice(0, 3).map(([, glyph, what], at) => `${glyph} ${(totals[["errors", "slow", "unanswered"][at]] ?? 0).toLocaleString("en")} ${what}`);
  $("totals").textContent = `${many(totals.flows ?? 0, "RPC")} in ${duration(seconds * 1e9) || "no time"} from ${began.slice(0, 10)} ${began.slice(11, 23)} UTC: ${signs.join(", ")}.${TRACE.shared ? " Names were changed and contents taken out." : ""}${count ? "" : " There is none in this page."}`;
  $("says").replaceChildren(...TRACE.says.map((text) => element("li", { textContent: harmless(text) })));
  const key = (name) => element("kbd", { textContent: name });
  const rows = [...KEYS.map(([on, back, what]) => [[key(on), " ", key(back)], what]),
    ...Object.entries(OTHER_KEYS).map(([name, [what]]) => [[key(name)], what])];
  $("keys").querySelector("dl").replaceChildren(...rows.flatMap(([names, what]) => [element("dt", {}, ...names), element("dd", { textContent: what })]));
}

async function openPage() {
  const [data, frames] = [unpack("data"), unpack("frames")];
  TRACE = await (await data).json();
  FRAMES = new Uint8Array(await (await frames).arrayBuffer());
  const f = TRACE.flows;
  f.n ??= [];
  const count = f.n.length;
  S.fits = new Uint8Array(count).fill(1);
  S.isError = f.n.map((_, i) => (setOf("errors", i)?.length ?? 0) > 0);
  S.awaits = f.n.map((_, i) => TRACE.outcomes[f.out[i]] !== "asks for no response");
  S.marked = new Set(TRACE.marks.map((mark) => mark[3]));
  S.begin = 0;
  S.end = f.n.reduce((end, _, i) => Math.max(end, endOf(i)), TRACE.marks.at(-1)?.[0] ?? 0) || 1;
  [S.from, S.to] = [S.begin, S.end];
  if (count) findFrames();
  prepareLanes();
  describe();
  applyFilter("");
  listen();
  if (!goTo(location.hash) && count) choose(0, { keep: true });
  $("list").focus({ preventScroll: true });
  document.documentElement.dataset.ready = "true";
}
openPage().catch((error) => {
  document.body.prepend(element("p", { className: "error", role: "alert", textContent: `This page cannot be shown: ${error.message}` }));
  throw error;
});
