// What stands beside the picture, and what moves it.
function describe(f) {
  const frame = page.frames[f];
  $("slider").value = f;
  $("slider").setAttribute("aria-valuetext", frame.title);
  $("now").replaceChildren();
  make("span", frame.stage, $("now"), "badge").style.borderColor = frame.colour;
  $("now").append(", " + frame.title);
  const block = page.blocks[frame.block];
  const rows = block ? [...block.rows] : [["input", "the tokens as they are in the data"]];
  const moved = f ? states[f].filter((state, token) => state !== states[f - 1][token]).length : 0;
  rows.push(["tokens moved", `${moved} of ${page.tokens.length} shown`]);
  if (frame.leaders.length) rows.push(["leaders", `${frame.leaders.length} (red rings)`]);
  table(rows, $("block"));
}

function fill() {
  $("summary").textContent = page.summary;
  if (page.sampled) {
    $("sampled").textContent = page.sampled;
    $("sampled").hidden = false;
  }
  table(page.verdict, $("verdict"));
  table(page.bounds, $("bounds"));
  const list = make("table", undefined, $("labels"));
  for (const label of page.labels) {
    const row = make("tr", undefined, list);
    const name = make("th", undefined, row);
    make("span", undefined, name, "dot").style.background = label.colour;
    name.append(label.name);
    make("td", label.text, row, "math");
  }
  table(page.sequences.map((s) => [s.name, s.label, s.output]), $("sequences"));
  const share = 100 / page.frames.length;
  const marks = page.frames.map((frame, k) => `${frame.colour} ${k * share}% ${(k + 1) * share}%`);
  $("bar").style.background = `linear-gradient(to right, ${marks.join(", ")})`;
  $("slider").max = last;
}

function views() {
  const names = Array.from({ length: d }, (_, i) => `x${i + 1}`);
  for (const id of ["across", "up"]) names.forEach((name, i) => $(id).add(new Option(name, i)));
  for (const name of Object.keys(page.bases)) $("view").add(new Option(name, name));
  $("view").add(new Option("coordinates", ""));
  $("across").value = 0;
  $("up").value = Math.min(1, d - 1);
  $("viewing").hidden = d <= 2;
  $("slices").hidden = d <= 2;
  $("paths").closest("label").hidden = page.tokens.length > 400;  // they would hide the tokens
  choose();
}

function choose() {
  const chosen = page.bases[$("view").value];
  const [i, j] = [Number($("across").value), Number($("up").value)];
  document.querySelectorAll(".axes").forEach((label) => { label.hidden = d <= 2 || Boolean(chosen); });
  basis = chosen || [unit(i), d > 1 ? unit(j === i ? (i + 1) % d : j) : [0]];
  view = { names: chosen ? ["first component", "second component"]
    : [`x<sub>${i + 1}</sub>`, d > 1 ? `x<sub>${(j === i ? (i + 1) % d : j) + 1}</sub>` : "sequences"] };
}

function playing(on) {
  clearTimeout(timer);
  timer = null;
  $("play").textContent = on ? "❚❚ Pause" : "▶ Play";
  $("play").setAttribute("aria-pressed", on);
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

function listen() {
  $("slider").addEventListener("input", () => { playing(false); go(Number($("slider").value), true); });
  $("play").addEventListener("click", () => playing(timer === null));
  $("first").addEventListener("click", () => step(0));
  $("last").addEventListener("click", () => step(last));
  $("back").addEventListener("click", () => step(at - 1));
  $("next").addEventListener("click", () => step(at + 1));
  for (const id of ["view", "across", "up"]) $(id).addEventListener("change", () => { choose(); go(at); });
  for (const id of ["follow", "paths", "sets"]) $(id).addEventListener("change", () => go(at));
  addEventListener("resize", () => go(at));
  addEventListener("keydown", (event) => {
    if (event.target.closest("select, summary") || event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
    if (event.key === " " && !event.target.closest("button, input")) playing(timer === null);
    else if (event.key in keys) step(keys[event.key]);
    else return;
    event.preventDefault();
  });
}

fill();
views();
$("follow").checked = page.follow;
listen();
go(0);
document.documentElement.dataset.ready = "yes";
