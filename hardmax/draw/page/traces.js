// What is drawn of the tokens: glyphs, moves, the way of one sequence, leaders.
function hover(token, state) {
  const [j, position] = page.tokens[token];
  const { name, label, texts } = page.sequences[j];
  return `${escaped(name)}, token ${position + 1}${texts ? ` “${escaped(texts[position])}”` : ""}<br>`
    + `label ${escaped(page.labels[label].name)}<br><b>${escaped(page.texts[state])}</b>`;
}

// Whether a token is among those picked: a sequence, a label, or, where nothing is picked, all.
function lit(token) {
  const j = page.tokens[token][0];
  if (picked.sequence !== null) return j === picked.sequence;
  return picked.label === null || page.sequences[j].label === picked.label;
}

const glyph = (token) => page.sequences[page.tokens[token][0]];  // its own, or else its label's

// One trace a label, the picked one above the others; positions come from `now`.
function tokenTraces(f, now) {
  const shown = picked.sequence === null ? picked.label : page.sequences[picked.sequence].label;
  const order = page.labels.map((_, c) => c).sort((a, b) => (a === shown) - (b === shown));
  return order.map((c) => {
    const label = page.labels[c], mine = page.byLabel[c];
    return {
      type: "scatter", mode: "markers", name: label.name, hoverinfo: "text",
      x: mine.map((token) => now[token][0]), y: mine.map((token) => now[token][1]),
      text: mine.map((token) => hover(token, states[f][token])),
      customdata: mine.map((token) => page.tokens[token][0]),
      hovertemplate: "%{text}<extra></extra>",
      marker: {
        // many may lie on one place, so what is not picked is grey and not only pale
        color: mine.map((token) => (lit(token) ? colourOf(label) : style("--line"))),
        opacity: mine.map((token) => (lit(token) ? 1 : 0.3)),
        line: { color: style("--ground"), width: 1 },
        symbol: mine.map((token) => glyph(token).symbol || label.symbol),
        size: mine.map((token) => page.markerSize * (glyph(token).size || label.size)),
      },
    };
  });
}

// Arrows from place to place: [[from, to], …]
function arrows(pairs, more) {
  const x = [], y = [], size = [];
  for (const [a, b] of pairs) {
    x.push(a[0], b[0], null);
    y.push(a[1], b[1], null);
    size.push(0, 11, 0);
  }
  return {
    type: "scatter", mode: "lines+markers", x, y, hoverinfo: "skip", showlegend: false,
    line: { color: style("--ink"), width: 1.3 }, opacity: 0.65,
    marker: { symbol: "arrow", angleref: "previous", size, opacity: 1, color: style("--ink"), standoff: 5 }, ...more,
  };
}

function moves(f) {
  const pairs = [];
  if (f > 0 && $("paths").checked && few) {
    const [before, after] = [points(f - 1), points(f)];
    after.forEach((p, token) => {
      if (states[f][token] !== states[f - 1][token] && lit(token)) pairs.push([before[token], p]);
    });
  }
  return arrows(pairs);
}

// The way of the picked sequence so far, each token from its input on.
function trail(f) {
  const pairs = [];
  if (picked.sequence === null) return arrows(pairs);
  const own = page.tokens.flatMap(([j], token) => (j === picked.sequence ? [token] : []));
  for (let k = 1; k <= f; k += 1) {
    const mine = own.filter((token) => states[k][token] !== states[k - 1][token]);
    for (const token of mine) pairs.push([project(place(states[k - 1][token])), project(place(states[k][token]))]);
  }
  if (d === 1) pairs.forEach((pair) => pair.forEach((p) => { p[1] = -picked.sequence; }));
  const colour = colourOf(page.labels[page.sequences[picked.sequence].label]);
  return arrows(pairs.slice(-600), { line: { color: colour, width: 1.6 }, marker: {
    ...arrows(pairs.slice(-600)).marker, color: colour } });
}

function leaderTrace(f, now) {
  const leaders = page.frames[f].leaders.filter(lit);
  return {
    type: "scatter", mode: "markers", name: "leaders", hoverinfo: "skip",
    x: leaders.map((token) => now[token][0]), y: leaders.map((token) => now[token][1]),
    marker: { symbol: "circle-open", size: page.markerSize + 9, color: style("--ink"), line: { width: 2 } },
  };
}
