// What stands beside the picture, and what moves it.
function describe(f) {
  const frame = page.frames[f], stage = page.stages[frame.stage] || page.stages.input;
  $("slider").value = f;
  $("slider").setAttribute("aria-valuetext", `${stage.name}, ${frame.title}`);
  $("now").textContent = `${stage.name}: ${frame.title}`;
  $("why").textContent = stage.line;
  $("jump").value = runs.findLastIndex((run) => run.start <= f);
  [...$("strip").children].forEach((part, k) => {
    part.toggleAttribute("data-now", String(k) === $("jump").value);
  });
  const block = page.blocks[frame.block];
  const rows = block ? [["block", `${frame.block} of ${page.depth}`],
    ...block.rows.map(([name, text]) => [name, /^(none|mean)/.test(text) ? text : { math: text }])]
    : [["input", "the tokens as they are in the data"]];
  const moved = f ? states[f].filter((state, token) => state !== states[f - 1][token]).length : 0;
  rows.push(["tokens moved", `${moved} of ${page.tokens.length} shown`]);
  if (frame.leaders.length) rows.push(["leaders", `${frame.leaders.length} tokens, in rings`]);
  table(rows, $("block"));
  showSequence(f);
  showHeights(f);
  remember();
}

// Frames of one stage that follow one another.
const runs = [];
page.frames.forEach((frame, k) => {
  if (!runs.length || runs[runs.length - 1].stage !== frame.stage) runs.push({ stage: frame.stage, start: k, count: 0 });
  runs[runs.length - 1].count += 1;
});

function fill() {
  $("lead").textContent = page.lead.join(" ");
  $("depth").textContent = page.depth === 1 ? "once" : `${page.depth} times`;
  document.querySelectorAll("[data-math]").forEach((span) => maths(span.dataset.math, span));
  if (page.sampled) {
    $("sampled").textContent = page.sampled;
    $("sampled").hidden = false;
  }
  table(page.verdict, $("verdict"));
  table(page.bounds, $("bounds"));
  table(page.sequences.map((s) => [s.name, page.labels[s.label].name, { math: s.output },
    s.wrong === null ? "✓" : `outside, nearest ${s.wrong}`]), $("sequences"));
  runs.forEach((run, k) => {
    const name = (page.stages[run.stage] || page.stages.input).name;
    const share = run.count / page.frames.length;
    const part = make("div", share * $("strip").clientWidth > 7.5 * name.length ? name : "", $("strip"));
    part.style.flexGrow = run.count;
    part.title = name;
    part.addEventListener("click", () => step(run.start));
    $("jump").add(new Option(runs.length > 12 ? `${k}. ${name}` : name, k));
  });
  $("slider").max = last;
  $("finding").hidden = page.labels.length <= 12;
}

function views() {
  const names = Array.from({ length: d }, (_, i) => `x${i + 1}`);
  for (const id of ["across", "up"]) names.forEach((name, i) => $(id).add(new Option(name, i)));
  if (d === 2) $("view").add(new Option("coordinates", ""));
  $("view").add(new Option("the plane of each block", "block"));
  for (const name of Object.keys(page.bases)) $("view").add(new Option(name, name));
  if (d !== 2) $("view").add(new Option("coordinates", ""));
  if (d === 1) $("view").value = "";
  $("across").value = 0;
  $("up").value = Math.min(1, d - 1);
  $("viewing").hidden = d === 1;
  $("paths").closest("label").hidden = !few;
}

function choose() {
  const own = $("view").value === "block", chosen = page.bases[$("view").value];
  const [i, j] = [Number($("across").value), Number($("up").value)];
  document.querySelectorAll(".axes").forEach((label) => { label.hidden = d <= 2 || own || Boolean(chosen); });
  $("follow").closest("label").hidden = own;
  $("slices").hidden = d <= 2;
  const up = j === i ? (i + 1) % d : j;
  view = {
    own, basis: chosen || [unit(i), d > 1 ? unit(up) : [0]],
    names: chosen ? ["first component", "second component"]
      : [`x<sub>${i + 1}</sub>`, d > 1 ? `x<sub>${up + 1}</sub>` : "sequences"],
  };
}

// The address says what is on the screen, so that it can be sent to somebody.
function remember() {
  const parts = new URLSearchParams({ step: at });
  if (picked.sequence !== null) parts.set("sequence", picked.sequence);
  if (picked.label !== null) parts.set("label", picked.label);
  if (d > 1) parts.set("view", $("view").value);
  const hash = `#${parts}`;
  if (location.hash !== hash) history.replaceState(null, "", hash);
}

function recall() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const whole = (name, end) => {
    const text = parts.get(name);
    return text !== null && /^\d+$/.test(text) && Number(text) < end ? Number(text) : null;
  };
  const chosen = parts.get("view");
  if (chosen !== null && [...$("view").options].some((option) => option.value === chosen)) $("view").value = chosen;
  choose();
  at = whole("step", last + 1) ?? 0;
  pick({ sequence: whole("sequence", page.sequences.length), label: whole("label", page.labels.length) });
}

function playing(on) {
  clearTimeout(timer);
  timer = null;
  $("play").textContent = on ? "❚❚ Pause" : "▶ Play";
  if (!on) return;
  if (at === last) go(0);
  const tick = () => {
    if (at === last) return playing(false);
    go(at + 1, true);
    timer = setTimeout(tick, Number($("speed").value));
  };
  timer = setTimeout(tick, Number($("speed").value) / 2);
}

const step = (f) => { playing(false); go(Math.max(0, Math.min(last, f)), true); };

function theme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  $("theme").textContent = dark ? "Light" : "Dark";
  listLabels();
  heights.picture = null;
}

function listen() {
  $("slider").addEventListener("input", () => { playing(false); go(Number($("slider").value), true); });
  $("play").addEventListener("click", () => playing(timer === null));
  $("first").addEventListener("click", () => step(0));
  $("last").addEventListener("click", () => step(last));
  $("back").addEventListener("click", () => step(at - 1));
  $("next").addEventListener("click", () => step(at + 1));
  $("jump").addEventListener("change", () => step(runs[$("jump").value].start));
  for (const id of ["view", "across", "up"]) $(id).addEventListener("change", () => { choose(); go(at); });
  for (const id of ["follow", "paths", "sets"]) $(id).addEventListener("change", () => go(at));
  $("theme").addEventListener("click", () => { theme(!dark()); go(at); });
  $("link").addEventListener("click", () => {
    navigator.clipboard?.writeText(location.href).then(() => { $("link").textContent = "Copied"; }, () => {});
  });
  $("find").addEventListener("input", () => {
    const wanted = $("find").value.toLowerCase();
    [...$("labels").children].forEach((item) => { item.hidden = !item.textContent.toLowerCase().includes(wanted); });
  });
  plot.on("plotly_click", ({ points: [point] }) => {
    if (point.customdata !== undefined) pick({ sequence: point.customdata });
  });
  addEventListener("resize", () => go(at));
  addEventListener("hashchange", recall);
  addEventListener("keydown", (event) => {
    if (event.target.closest("select, summary, input[type=search]") || event.ctrlKey || event.metaKey || event.altKey) return;
    const run = Number($("jump").value), start = (k) => runs[Math.max(0, Math.min(runs.length - 1, k))].start;
    const keys = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last, "[": start(run - 1), "]": start(run + 1) };
    if (event.key === " " && !event.target.closest("button, input")) playing(timer === null);
    else if (event.key in keys) step(keys[event.key]);
    else return;
    event.preventDefault();
  });
}

fill();
views();
$("follow").checked = page.follow;
setUpHeights();
listSequences();
choose();
theme(matchMedia("(prefers-color-scheme: dark)").matches);
recall();
listen();
document.documentElement.dataset.ready = "yes";
