/* Draws lanes, the time axis and the list: only what is on the screen. */

const $ = (id) => document.getElementById(id);
const narrow = () => matchMedia("(max-width: 900px)").matches;

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const many = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
function clock(at, step = 1000) {
  /* The time of day, UTC, of microseconds since the beginning; step: what has to be told apart. */
  const micros = TRACE.begin + at, time = new Date(Math.floor(micros / 1000)).toISOString();
  if (step >= 1e6) return time.slice(11, 19);
  if (step >= 1000) return time.slice(11, 23);
  return `${time.slice(11, 23)}${String(((micros % 1000) + 1000) % 1000).padStart(3, "0")}`;
}
function duration(nanos) {
  if (nanos < 0) return "";
  const [unit, name] = nanos < 1e6 ? [1e3, "µs"] : nanos < 1e9 ? [1e6, "ms"] : [1e9, "s"];
  return `${Number((nanos / unit).toPrecision(3))} ${name}`;
}

/* S: what is shown. rows: indexes of flows in the list. fits: 1 for flows that the filter matches.
   from, to: the part of time. cursor: the chosen flow, mark: the chosen mark, -1 for none. */
const S = { mark: -1, rows: [], fits: null, only: true, from: 0, to: 1, cursor: -1, drawn: 0 };

const SIGNS = [
  ["error", "✕", "with an error", (i) => S.isError[i]],
  ["slow", "◷", "slow", (i) => TRACE.flows.slow[i]],
  ["silent", "○", "without an answer", (i) => TRACE.flows.resSize[i] < 0 && S.awaits[i]],
  ["problem", "△", "with a problem, such as a message that is cut", (i) => TRACE.flows.problems[i]],
  ["mark", "◆", "a mark on the time axis", (i) => S.marked.has(i)],
];
const signsOf = (i) => SIGNS.filter(([, , , holds]) => holds(i));

const STEPS = [...[0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((one) => one * 10 ** power)),
  ...[10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400].map((one) => one * 1e6)];
const MARK_ROW = 17, LANE = 22, TICKS = 20, LANES = 60;

function prepareLanes() {
  const counts = TRACE.lanes.map(() => 0);
  for (const side of [TRACE.flows.from ?? [], TRACE.flows.to ?? []]) for (const lane of side) counts[lane]++;
  const order = TRACE.lanes.map((_, lane) => lane).sort((a, b) => TRACE.lanes[b][1] - TRACE.lanes[a][1]
    || (TRACE.lanes[a][1] ? TRACE.lanes[a][0].localeCompare(TRACE.lanes[b][0], "en", { numeric: true }) : counts[b] - counts[a]));
  S.laneRow = [];
  order.forEach((lane, row) => { S.laneRow[lane] = Math.min(row, LANES); });
  S.laneNames = order.slice(0, LANES).map((lane) => TRACE.lanes[lane][0]);
  if (order.length > LANES) S.laneNames.push(`${order.length - LANES} more`);
  S.kinds = Object.keys(TRACE.kinds).filter((kind) => TRACE.marks.some((mark) => mark[1] === kind));
}

function surface(canvas, height) {
  const width = canvas.parentElement.clientWidth, ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.clearRect(0, 0, width, height);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  S.width = width;
  S.gutter = narrow() ? 88 : 150;
  return pen;
}
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const xOf = (at) => S.gutter + ((at - S.from) / (S.to - S.from)) * (S.width - S.gutter - 10);
const atOf = (x) => S.from + ((x - S.gutter) / (S.width - S.gutter - 10)) * (S.to - S.from);
const yOf = (lane) => S.laneRow[lane] * LANE + LANE / 2;
const endOf = (i) => TRACE.flows.at[i] + Math.max(TRACE.flows.lat[i], 0) / 1000;

function label(pen, text, y) {
  let shown = text;
  while (shown.length > 4 && pen.measureText(shown).width > S.gutter - 14) shown = `${shown.slice(0, -2)}…`;
  pen.fillText(shown, 8, y);
}

function drawAxis() {
  const height = S.kinds.length * MARK_ROW + TICKS, pen = surface($("axis"), height);
  pen.fillStyle = colour("quiet");
  S.kinds.forEach((kind, row) => label(pen, TRACE.kinds[kind][1], row * MARK_ROW + MARK_ROW / 2));
  const least = ((S.to - S.from) / (S.width - S.gutter)) * 95;
  const step = STEPS.find((one) => one >= least) ?? STEPS.at(-1);
  const first = Math.ceil((TRACE.begin + S.from) / step) * step - TRACE.begin;
  pen.strokeStyle = colour("line");
  for (let at = first; at <= S.to; at += step) {
    const x = xOf(at);
    pen.beginPath(); pen.moveTo(x, 0); pen.lineTo(x, height); pen.stroke();
    if (x < S.width - 70) pen.fillText(clock(at, step), x + 3, height - TICKS / 2);
  }
  pen.textAlign = "center";
  TRACE.marks.forEach(([at, kind], number) => {
    if (at < S.from || at > S.to) return;
    const [x, y] = [xOf(at), S.kinds.indexOf(kind) * MARK_ROW + MARK_ROW / 2];
    pen.fillStyle = kind === "loss" ? colour.cached.error : colour.cached.mark;
    pen.fillText(TRACE.kinds[kind][0], x, y);
    pen.strokeStyle = colour.cached.link;
    if (number === S.mark) pen.strokeRect(x - 8, y - 8, 16, 16);
  });
  $("axis").setAttribute("aria-label", `${many(TRACE.marks.length, "mark")}: ${S.kinds.map((kind) => TRACE.kinds[kind][1]).join(", ")}; keys m and M go to the next and the one before`);
}

function drawCalls() {
  const height = S.laneNames.length * LANE + 4, pen = surface($("calls"), height);
  pen.strokeStyle = colour("line");
  S.laneNames.forEach((name, row) => {
    const y = row * LANE + LANE / 2;
    pen.fillStyle = colour("ink");
    label(pen, name, y);
    pen.beginPath(); pen.moveTo(S.gutter, y); pen.lineTo(S.width, y); pen.stroke();
  });
  const seen = new Set(), shown = [];
  const { at, from, to } = TRACE.flows;
  for (const i of S.only ? S.rows : at.keys()) {
    if (at[i] > S.to || endOf(i) < S.from) continue;
    const key = (Math.round(xOf(at[i])) * 64 + S.laneRow[from[i]]) * 64 + S.laneRow[to[i]];
    const special = S.isError[i] || TRACE.flows.slow[i] || TRACE.flows.resSize[i] < 0;
    if (seen.has(key) && !special) continue;
    seen.add(key);
    shown.push(i);
  }
  pen.beginPath();
  pen.rect(S.gutter, 0, S.width, height);
  pen.clip();
  const isSparse = shown.length < 300;
  for (const i of shown) drawCall(pen, i, isSparse);
  if (S.cursor >= 0) drawCall(pen, S.cursor, true, true);
  $("calls").setAttribute("aria-label", `RPCs between ${many(S.laneNames.length, "lane")}, from ${clock(S.from)} to ${clock(S.to)} UTC; plus and minus zoom, arrows move, the list below has the same RPCs`);
}

function drawCall(pen, i, isSparse, isChosen = false) {
  const { at, from, to, slow, resSize } = TRACE.flows, x = xOf(at[i]), end = xOf(endOf(i));
  const [y, z] = [yOf(from[i]), yOf(to[i])], isLost = resSize[i] < 0 && S.awaits[i];
  const name = isChosen ? "link" : S.isError[i] || isLost ? "error" : slow[i] ? "slow" : "call";
  pen.strokeStyle = pen.fillStyle = colour.cached[name];
  pen.globalAlpha = isChosen ? 1 : !S.fits[i] ? 0.12 : name !== "call" ? 1 : isSparse ? 0.75 : 0.3;
  const width = isChosen ? 3 : 1, isPlain = !isSparse && name === "call";
  line(pen, x, y, z, width, isLost);
  if (isSparse && y !== z) head(pen, x, z, Math.sign(z - y));
  if (end - x >= 3) {
    pen.fillRect(x, z - (slow[i] ? 4 : 1.5), end - x, slow[i] ? 8 : 3);
    if (!isPlain) line(pen, end, z, y, width, false);
    if (isSparse && y !== z) head(pen, end, y, Math.sign(y - z));
  }
  pen.textAlign = "center";
  if (isLost) pen.fillText("○", x, z);
  else if (S.isError[i]) pen.fillText("✕", end, z);
  pen.textAlign = "start";
  pen.globalAlpha = 1;
}
function line(pen, x, y, z, width, isDashed) {
  /* Rectangles at whole pixels take a tenth of the time of strokes. */
  const top = Math.min(y, z) - (y === z ? 6 : 0), bottom = Math.max(y, z), left = Math.round(x - width / 2);
  for (let at = top; at < bottom; at += 6) {
    pen.fillRect(left, at, width, isDashed ? Math.min(3, bottom - at) : bottom - top);
    if (!isDashed) return;
  }
}
function head(pen, x, y, way) {
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x - 3.5, y - 6 * way);
  pen.lineTo(x + 3.5, y - 6 * way);
  pen.fill();
}

function drawTime() {
  S.pending ??= requestAnimationFrame(drawNow);
}
function drawNow() {
  S.pending = null;
  colour.cached = Object.fromEntries(["link", "error", "slow", "call", "mark"].map((name) => [name, colour(name)]));
  drawAxis();
  drawCalls();
}
function zoom(from, to) {
  const least = 20, width = Math.max(to - from, least), end = S.end;
  S.from = Math.max(S.begin, Math.min(from, end - width));
  S.to = Math.min(end, S.from + width);
  drawTime();
}
function zoomBy(factor, centre = S.cursor < 0 ? (S.from + S.to) / 2 : TRACE.flows.at[S.cursor]) {
  const inside = centre >= S.from && centre <= S.to ? centre : (S.from + S.to) / 2;
  zoom(inside - (inside - S.from) * factor, inside + (S.to - inside) * factor);
}
function showMoment(at) {
  if (at < S.from || at > S.to) zoom(at - (S.to - S.from) / 2, at + (S.to - S.from) / 2);
}

/* What is at a point: a mark, or the RPC whose arrow is nearest; null for nothing near. */
function markAt(x, y) {
  const kind = S.kinds[Math.floor(y / MARK_ROW)];
  const near = TRACE.marks.filter((mark) => mark[1] === kind && Math.abs(xOf(mark[0]) - x) < 8);
  return near.sort((a, b) => Math.abs(xOf(a[0]) - x) - Math.abs(xOf(b[0]) - x));
}
function callAt(x, y) {
  let best = null, least = 7;
  for (const i of S.rows) {
    const top = Math.min(yOf(TRACE.flows.from[i]), yOf(TRACE.flows.to[i])) - 6;
    const bottom = Math.max(yOf(TRACE.flows.from[i]), yOf(TRACE.flows.to[i])) + 6;
    if (y < top || y > bottom) continue;
    const start = xOf(TRACE.flows.at[i]), end = xOf(endOf(i));
    const far = Math.min(Math.abs(start - x), Math.abs(end - x));
    const distance = far - (S.isError[i] || TRACE.flows.slow[i] ? 0.5 : 0);
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}

const summaryOf = (i) => TRACE.strings[TRACE.flows.sum[i]];
const nameOf = (i) => {
  const inner = TRACE.flows.inner[i], { key, ver } = TRACE.flows;
  const own = `${TRACE.apis[key[i]] ?? `API ${key[i]}`} v${ver[i]}`;
  return inner ? `${own}: ${TRACE.apis[inner[0]] ?? `API ${inner[0]}`}` : own;
};
const endsOf = (i) => `${TRACE.lanes[TRACE.flows.from[i]][0]} → ${TRACE.lanes[TRACE.flows.to[i]][0]}`;

function row(i, place, height) {
  const signs = signsOf(i), { n, at, lat } = TRACE.flows;
  const cell = (name, text) => element("span", { className: name, textContent: text });
  const sign = cell(`sign ${signs[0]?.[0] ?? ""}`, signs[0]?.[1] ?? "");
  if (signs.length) {
    sign.title = signs.map((one) => one[2]).join(", ");
    sign.setAttribute("role", "img");
    sign.setAttribute("aria-label", sign.title);
  }
  const made = element("div", { className: "row", id: `f${i}`, role: "option" },
    cell("n", n[i]), cell("at", clock(at[i])), cell("ends", endsOf(i)), cell("api", nameOf(i)),
    cell(`lat ${TRACE.flows.slow[i] ? "slow" : ""}`, duration(lat[i]) || TRACE.outcomes[TRACE.flows.out[i]]),
    sign, cell(`sum ${S.isError[i] ? "error" : ""}`, summaryOf(i)));
  made.style.top = `${place * height}px`;
  made.setAttribute("aria-selected", String(i === S.cursor));
  made.setAttribute("aria-posinset", String(place + 1));
  made.setAttribute("aria-setsize", String(S.rows.length));
  if (!S.fits[i]) made.classList.add("dim");
  return made;
}

const rowHeight = () => parseFloat(colour("row"));
function drawRows() {
  const list = $("list"), height = rowHeight(), { rows } = S;
  $("rows").style.height = `${rows.length * height}px`;
  const first = Math.max(0, Math.floor(list.scrollTop / height) - 3);
  const last = Math.min(rows.length, Math.ceil((list.scrollTop + list.clientHeight) / height) + 3);
  const made = [];
  for (let place = first; place < last; place++) made.push(row(rows[place], place, height));
  if (!rows.length) made.push(element("p", { className: "quiet", textContent: "  No RPC is here: the filter matches none." }));
  $("rows").replaceChildren(...made);
  const isOn = S.cursor >= 0 && document.getElementById(`f${S.cursor}`);
  if (isOn) list.setAttribute("aria-activedescendant", `f${S.cursor}`);
  else list.removeAttribute("aria-activedescendant");
}
function reveal(place) {
  const list = $("list"), height = rowHeight(), top = place * height;
  if (top < list.scrollTop || top + height > list.scrollTop + list.clientHeight) {
    list.scrollTop = top - list.clientHeight / 2;
  }
}
