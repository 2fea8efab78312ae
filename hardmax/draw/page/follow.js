// One sequence, token by token: its text, where its tokens are, whom they attend to.
const DRAWN = {
  circle: "M8 1a7 7 0 1 0 .01 0z", square: "M2 2h12v12H2z", diamond: "M8 0l7 8-7 8-7-8z",
  star: "M8 0l2 5.500h6l-4.800 3.600L13 15 8 11.400 3 15l1.800-5.900L0 5.500h6z",
  "triangle-up": "M8 1l7.500 13H.5z", "triangle-down": "M8 15L.5 2h15z",
  cross: "M5.500 1h5v4.500H15v5h-4.500V15h-5v-4.500H1v-5h4.500z",
  x: "M3.500 1L8 5.500 12.500 1 15 3.500 10.500 8 15 12.500 12.500 15 8 10.500 3.500 15 1 12.500 5.500 8 1 3.500z",
  pentagon: "M8 1l7.300 5.300-2.800 8.600h-9L.7 6.300z",
};

function drawn(label, parent, symbol) {
  const NS = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(NS, "svg"), path = document.createElementNS(NS, "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "glyph");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", DRAWN[symbol || label.symbol]);
  path.setAttribute("fill", colourOf(label));
  svg.append(path);
  parent.append(svg);
}

// Positions that the token at `position` of sequence j attends to in frame f; null means all.
function attended(f, j, position) {
  if (!page.frames[f].attention.length) return null;
  const [choice, sets] = page.frames[f].attention[j];
  // after a collapse one token stands for all, and all of them attend to all
  return sets[choice[position]] === undefined || sets[choice[position]].length === choice.length
    ? null : sets[choice[position]];
}

const listed = (positions) => positions.slice(0, 6).map((i) => i + 1).join(", ")
  + (positions.length > 6 ? ` and ${positions.length - 6} more` : "");

function attends(f, j, position) {
  const n = page.sequences[j].length, found = attended(f, j, position);
  if (n === 1) return "itself";
  if (found === null) return `all ${n} tokens, weight 1/${n} each`;
  return found.length === 1 ? `token ${found[0] + 1}, weight 1`
    : `tokens ${listed(found)}, weight 1/${found.length} each`;
}

// The attention matrix: row i, column l is dark where token i attends to token l.
function weights(f, j, parent) {
  const n = page.sequences[j].length;
  if (n === 1 || n > 24) return;
  const grid = make("div", undefined, parent);
  grid.id = "weights";
  grid.style.gridTemplateColumns = `repeat(${n}, 1fr)`;
  grid.style.maxWidth = `${Math.min(n * 1.6, 17)}rem`;
  grid.setAttribute("role", "img");
  grid.setAttribute("aria-label", "Attention weights, said in the table below");
  for (let i = 0; i < n; i += 1) {
    const found = attended(f, j, i);
    for (let l = 0; l < n; l += 1) {
      const weight = found === null ? 1 / n : found.includes(l) ? 1 / found.length : 0;
      const cell = make("div", undefined, grid);
      cell.title = `token ${i + 1} attends to token ${l + 1} with weight ${plain(weight)}`;
      if (weight) cell.style.background = `color-mix(in srgb, ${style("--ink")} ${20 + 80 * weight}%, ${style("--ground")})`;
    }
  }
  make("p", "Row: token that attends. Column: token it attends to. The darker, the more weight.", parent);
}

function showSequence(f) {
  const box = $("followed"), j = picked.sequence;
  box.replaceChildren();
  if (j === null) {
    make("p", "Choose one here, or click on a token. Its way is drawn with its direction, all others fade.", box);
    return;
  }
  const sequence = page.sequences[j], label = page.labels[sequence.label];
  const line = make("p", undefined, box);
  drawn(label, line, sequence.symbol);
  line.append(` label ${label.name}. Output `);
  maths(sequence.output, line);
  line.append(sequence.wrong === null ? ", in its set." : `, outside its set; nearest is ${sequence.wrong}.`);
  if (sequence.texts) make("p", sequence.texts.join(" "), box, "words");
  const frame = page.frames[f], block = page.blocks[frame.block];
  const attending = block && block.attends;
  if (!frame.block) make("p", "Attention weights appear from the first block on.", box);
  else if (!attending) make("p", "This block has no attention: every token keeps to itself.", box);
  else weights(f, j, box);
  const body = make("tbody", undefined, make("table", undefined, make("div", undefined, box, "scroll")));
  box.lastChild.tabIndex = 0;
  const head = make("tr", undefined, body);
  for (const name of ["token", "place now", ...(attending ? ["attends to"] : [])]) make("th", name, head).scope = "col";
  page.tokens.forEach(([owner, position], token) => {
    if (owner !== j) return;
    const row = make("tr", undefined, body);
    const leads = frame.leaders.includes(token) ? " ◯" : "";
    make("th", `${position + 1}${sequence.texts ? ` ${sequence.texts[position]}` : ""}${leads}`, row).scope = "row";
    maths(page.texts[states[f][token]], make("td", undefined, row));
    if (attending) make("td", attends(f, j, position), row);
  });
}

function pick(choice) {
  Object.assign(picked, choice);
  $("sequence").value = picked.sequence === null ? "" : picked.sequence;
  document.querySelectorAll("#labels button").forEach((button) => {
    button.setAttribute("aria-pressed", Number(button.dataset.label) === picked.label);
  });
  $("set").replaceChildren();
  if (picked.label !== null) {
    make("b", page.labels[picked.label].name, $("set")).after(": ");
    maths(page.labels[picked.label].text, $("set"));
  }
  heights.picture = null;
  go(at);
}

function listSequences() {
  $("sequence").add(new Option("none", ""));
  page.sequences.forEach((s, j) => {
    $("sequence").add(new Option(`${s.name} (${page.labels[s.label].name})`.slice(0, 60), j));
  });
  $("sequence").addEventListener("change", ({ target }) => {
    pick({ sequence: target.value === "" ? null : Number(target.value) });
  });
}

function listLabels() {
  $("labels").replaceChildren();
  page.labels.forEach((label, c) => {
    const button = make("button", undefined, make("li", undefined, $("labels")));
    button.type = "button";
    button.dataset.label = c;
    button.setAttribute("aria-pressed", c === picked.label);
    drawn(label, button, page.sequences[0].symbol && "circle");
    button.append(label.name);
    button.addEventListener("click", () => pick({ label: picked.label === c ? null : c, sequence: null }));
  });
}
