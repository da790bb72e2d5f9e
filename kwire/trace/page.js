/* The page: what is chosen, its details, the filter, keys, and the address behind `#`. */

let FRAMES = null;

async function unpack(id) {
  const packed = atob($(id).textContent), bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  $(id).remove();
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

function frameOf(i, direction) {
  const length = TRACE.flows[direction ? "res" : "req"][i];
  if (length < 0) return null;
  const start = TRACE.flows.places[direction][i], cuts = TRACE.flows.cuts[i]?.[direction] ?? [];
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
  else reveal(Math.max(0, S.rows.findIndex((i) => TRACE.flows.at[i] >= at)));
  S.mark = number;
  showMoment(at);
  drawTime();
  say(`${TRACE.kinds[kind][0]} ${clock(at)} ${TRACE.kinds[kind][1]}: ${text}`);
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
  const signs = signsOf(i).map(([, glyph, what]) => `${glyph} ${what}`).join(", ");
  $("details").replaceChildren(
    element("h2", {}, element("a", { href: addressOf(i), textContent: title })),
    element("p", { textContent: summaryOf(i) }),
    facts([
      ["signs", signs],
      ["time", element("a", { href: `#t=${iso}`, textContent: `${iso.slice(0, 10)} ${clock(f.at[i], 1)} UTC` })],
      ["from, to", `${endsOf(i)}, connection ${f.conn[i]} of ${TRACE.strings[f.address[i]]}`],
      ["client id", harmless(TRACE.strings[f.client[i]] ?? "null")],
      ["outcome", [TRACE.outcomes[f.out[i]], duration(f.lat[i])].filter(Boolean).join(" after ")],
      ["errors", codes.map(codeName).join(", ")],
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
  lines.push(relatedLine(`connection ${f.conn[i]}`, (other) => f.conn[other] === f.conn[i], `~connection ${f.conn[i]}`));
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
    button("filter", "only those", () => setFilter(filter)));
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

/* Fields that hold others open and close as the browser does it; focus marks the bytes. */
function treeView(tree, onPlace, what) {
  const telling = ([name, value, children]) => (name.endsWith("error_code") && value !== "0 NONE") || children.some(telling);
  const item = ([name, value, children, a, b], depth, above) => {
    const place = a === undefined ? above : [a, b];
    const known = TRACE.topics[value] ? `${value} (${harmless(TRACE.topics[value])})` : value;
    const line = [element("span", { className: "name", textContent: name }), known ? `: ${known}` : ""];
    const className = telling([name, value, []]) ? "error" : "";
    const onfocus = () => onPlace(place ?? null);
    if (!children.length) return element("div", { className, tabIndex: 0, onfocus }, ...line);
    const made = element("details", {}, element("summary", { className, onfocus }, ...line));
    made.ontoggle = () => {
      if (made.open && made.childElementCount === 1) made.append(...children.map((child) => item(child, depth + 1, place)));
    };
    made.open = !depth || telling([name, "", children]) || (name !== "header" && children.length <= 3 && depth < 4);
    if (made.open) made.ontoggle();
    return made;
  };
  return element("div", { className: "tree", role: "group", "aria-label": `Fields of the ${what.toLowerCase()}` }, item(tree, 0));
}
function moveInTree(event) {
  const fields = [...$("details").querySelectorAll(".tree summary, .tree div[tabindex]")].filter((one) => one.offsetParent);
  const way = { ArrowDown: 1, ArrowUp: -1 }[event.key], at = fields.indexOf(event.target), group = event.target.parentElement;
  if (at < 0) return false;
  if (way) fields[at + way]?.focus();
  else if (!/^Arrow(Left|Right)$/.test(event.key)) return false;
  else if (event.target.tagName === "SUMMARY") group.open = event.key === "ArrowRight";
  return true;
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
  ["G End", "g Home", "the last RPC, and the first", ["G", "End"], ["g", "Home"], (way) => move(way * S.rows.length)],
  ["+", "-", "zoom the time in, and out; 0 shows all", ["+", "="], ["-"], (way) => zoomBy(way > 0 ? 0.5 : 2)],
  ["→", "←", "later, and earlier", ["ArrowRight"], ["ArrowLeft"], (way) => { const part = (way * (S.to - S.from)) / 5; zoom(S.from + part, S.to + part); }],
];
const OTHER_KEYS = {
  "/": ["the filter; Enter applies it", () => $("filter").focus()],
  f: ["show all RPCs, or only those that match", () => $("only").click()],
  Enter: ["the fields of the message: arrows move in them, and show the bytes", () => $("details").querySelector("summary")?.focus()],
  0: ["show the whole time", () => zoom(S.begin, S.end)],
  Escape: ["back to the list", () => $("list").focus()],
  "?": ["these keys", () => $("help").click()],
};
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("dialog")) return;
  if (event.target === $("filter")) {
    if (event.key === "Escape") $("list").focus();
    return;
  }
  if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
  if (moveInTree(event)) { event.preventDefault(); return; }
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
    canvas.ondblclick = () => zoom(S.begin, S.end);
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
  prepareLanes();
  describe();
  surface($("calls"), 0);
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
