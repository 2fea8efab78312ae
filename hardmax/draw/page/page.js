// Drawing and controls. Plotly draws; this file says what.
const $ = (id) => document.getElementById(id);
const plot = $("plot");
const last = page.frames.length - 1;
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const touch = matchMedia("(pointer: coarse)").matches;  // there a finger scrolls the page
let at = 0, shown = null, view = null, timer = null, motion = null;

function make(tag, text, parent, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  if (parent) parent.append(element);
  return element;
}

function table(rows, parent) {
  parent.replaceChildren();
  const body = make("tbody", undefined, make("table", undefined, parent));
  for (const [name, ...values] of rows) {
    const row = make("tr", undefined, body);
    make("th", name, row).scope = "row";
    for (const value of values) make("td", value, row, values.length > 1 ? "number" : "");
  }
}

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

function hover(token, state) {
  const [j, position] = page.tokens[token];
  const sequence = page.sequences[j];
  return `${escaped(sequence.name)}, token ${position + 1}<br>label ${escaped(sequence.label)}<br>`
    + `<b>${escaped(page.texts[state])}</b>`;
}

const glyph = (token) => page.sequences[page.tokens[token][0]];

// One trace a label, so that the legend can hide labels; positions come from `now`.
function tokenTraces(f, now) {
  return page.labels.map((label, c) => {
    const mine = page.byLabel[c];
    return {
      type: "scatter", mode: "markers", name: label.name, hoverinfo: "text",
      x: mine.map((token) => now[token][0]), y: mine.map((token) => now[token][1]),
      text: mine.map((token) => hover(token, states[f][token])),
      hovertemplate: "%{text}<extra></extra>",
      marker: {
        color: label.colour, opacity: 1, line: { color: "white", width: 1 },
        symbol: mine.map((token) => glyph(token).symbol),
        size: mine.map((token) => glyph(token).size * page.markerSize),
      },
    };
  });
}

function pathTrace(f) {
  const x = [], y = [];
  if (f > 0 && $("paths").checked && page.tokens.length <= 400) {
    const [before, after] = [points(f - 1), points(f)];
    after.forEach((p, token) => {
      if (states[f][token] !== states[f - 1][token]) {
        x.push(before[token][0], p[0], null);
        y.push(before[token][1], p[1], null);
      }
    });
  }
  return {
    type: "scatter", mode: "lines", x, y, hoverinfo: "skip", showlegend: false, opacity: 0.55,
    line: { color: page.frames[f].colour, width: 1.5 },
  };
}

function leaderTrace(f, now) {
  const leaders = page.frames[f].leaders;
  return {
    type: "scatter", mode: "markers", name: "leaders", hoverinfo: "skip",
    x: leaders.map((token) => now[token][0]), y: leaders.map((token) => now[token][1]),
    marker: { symbol: "circle-open", size: page.markerSize + 9, color: page.red, line: { width: 2 } },
    showlegend: leaders.length > 0,
  };
}

const path = (polygon) => `M${polygon.map((p) => p.join(",")).join("L")}Z`;

function area(polygon, colour, opacity) {
  return { type: "path", path: path(polygon), fillcolor: colour, opacity, line: { width: 0 }, layer: "below" };
}

function setShapes(f, frame) {
  const shapes = [];
  if (!$("sets").checked) return shapes;
  for (const label of page.labels) {
    if (label.rows) {
      const cut = label.rows.reduce((rest, [u, b]) => clip(rest, slice(u, b, f)), corners(frame));
      if (cut.length > 2) shapes.push(area(cut, label.colour, 0.13));
    } else {
      const [x, y] = project(label.centre);
      const r = label.radius || (frame[1] - frame[0]) * 0.012;
      shapes.push({
        type: label.radius ? "circle" : "rect", x0: x - r, x1: x + r, y0: d === 1 ? -1e3 : y - r,
        y1: d === 1 ? 1e3 : y + r, fillcolor: label.colour, opacity: label.radius ? 0.15 : 0.35,
        line: { color: label.colour, width: 1.5 }, layer: "below",
      });
    }
  }
  return shapes;
}

function blockShapes(f, frame) {
  const block = page.blocks[page.frames[f].block];
  if (!block || !block.plane) return [];
  const half = slice(block.plane.u, block.plane.b, f);
  const [polygon, line] = [clip(corners(frame), half), crossing(corners(frame), half)];
  const shapes = polygon.length > 2 ? [area(polygon, page.frames[f].colour, 0.08)] : [];
  if (line.length === 2) {
    shapes.push({
      type: "line", x0: line[0][0], y0: line[0][1], x1: line[1][0], y1: line[1][1],
      line: { color: page.frames[f].colour, width: 2, dash: "dash" }, layer: "below",
    });
  }
  return shapes;
}

function direction(f, frame) {
  const block = page.blocks[page.frames[f].block];
  if (!block || !block.v) return [];
  const v = project(block.v);
  const size = Math.hypot(...v);
  if (!(size > 1e-9 * Math.sqrt(dot(block.v, block.v)))) return [];
  const reach = (frame[1] - frame[0]) * 0.12 / size;
  const from = [frame[0] + (frame[1] - frame[0]) * 0.16, frame[2] + (frame[3] - frame[2]) * 0.16];
  return [{
    x: from[0] + v[0] * reach, y: from[1] + v[1] * reach, ax: from[0], ay: from[1], text: "",
    xref: "x", yref: "y", axref: "x", ayref: "y", arrowhead: 2, arrowwidth: 2, showarrow: true,
  }, { x: from[0], y: from[1], text: "<i>v</i>", showarrow: false, xshift: -9, yshift: -9 }];
}

function frameOf(f) {
  const ratio = plot.clientWidth / Math.max(plot.clientHeight, 1);
  if ($("follow").checked) return padded(bounds([f]), ratio);
  view.whole = view.whole || bounds(states.keys());
  return padded(view.whole, ratio);
}

function layout(f, frame) {
  const axis = {
    showgrid: false, zeroline: true, zerolinecolor: "#b0b0b0", zerolinewidth: 1, showline: true,
    linecolor: "#000", mirror: true, ticks: "", nticks: 5, tickfont: { size: 11, color: "#555" },
  };
  return {
    margin: { l: 44, r: 8, t: 8, b: 40 }, font: { family: "Georgia, serif", size: 13 },
    xaxis: { ...axis, range: [frame[0], frame[1]], title: { text: view.names[0], standoff: 4 } },
    yaxis: {
      ...axis, range: [frame[2], frame[3]], title: { text: view.names[1], standoff: 2 },
      ...(d > 1 ? { scaleanchor: "x" } : { showticklabels: false }),
    },
    showlegend: page.labels.length <= 12, legend: { orientation: "h", y: 1.02, yanchor: "bottom" },
    modebar: { orientation: "v", bgcolor: "rgba(0,0,0,0)" },
    dragmode: touch ? false : "pan",
    hoverlabel: { align: "left", bgcolor: "white", font: { color: "black" } },
    shapes: [...setShapes(f, frame), ...blockShapes(f, frame)], annotations: direction(f, frame),
    uirevision: `${view.names} ${f}`,
  };
}

function draw(f, now, frame) {
  const traces = [pathTrace(f), ...tokenTraces(f, now), leaderTrace(f, now)];
  return Plotly.react(plot, traces, layout(f, frame), {
    responsive: true, displaylogo: false, displayModeBar: true,
    modeBarButtons: [["zoomIn2d", "zoomOut2d", "resetScale2d", "toImage"]],
  });
}

// Move from what is on the screen to frame f; large or reduced-motion pages jump.
function go(f, smooth) {
  const from = shown, target = points(f), window = frameOf(f), start = performance.now();
  cancelAnimationFrame(motion);
  at = f;
  describe(f);
  const mix = (a, b, r) => a + (b - a) * r;
  const step = (time) => {
    const r = smooth && from && !calm && page.tokens.length <= 400
      ? Math.min((time - start) / 350, 1) : 1;
    shown = r === 1 ? { points: target, window } : {
      points: target.map((p, k) => [mix(from.points[k][0], p[0], r), mix(from.points[k][1], p[1], r)]),
      window: window.map((x, k) => mix(from.window[k], x, r)),
    };
    draw(f, shown.points, shown.window);
    if (r < 1) motion = requestAnimationFrame(step);
  };
  step(start);
}
