// Drawing and controls. Plotly draws; this file says what.
const $ = (id) => document.getElementById(id);
const plot = $("plot");
const last = page.frames.length - 1;
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const touch = matchMedia("(pointer: coarse)").matches;  // there a finger scrolls the page
const picked = { sequence: null, label: null };
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
    if (name) make("th", name, row).scope = "row";
    else make("td", "", row);
    for (const value of values) {
      const cell = make("td", undefined, row, values.length > 1 ? "number" : "");
      if (value.math === undefined) cell.textContent = value;
      else maths(value.math, cell);
    }
  }
}

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const dark = () => document.documentElement.dataset.theme === "dark";
const colourOf = (label) => label.colours[dark() ? 1 : 0];
const few = page.tokens.length <= 400;  // moves of more would hide the tokens

const path = (polygon) => `M${polygon.map((p) => p.join(",")).join("L")}Z`;

function area(polygon, colour, opacity) {
  return { type: "path", path: path(polygon), fillcolor: colour, opacity, line: { width: 0 }, layer: "below" };
}

function setShapes(f, frame) {
  const shapes = [];
  if (!$("sets").checked) return shapes;
  const size = page.labels.length <= 12 ? 0.012 : 0.003;
  for (const label of page.labels) {
    if (label.rows) {
      const cut = label.rows.reduce((rest, [u, b]) => clip(rest, slice(u, b, f)), corners(frame));
      if (cut.length > 2) shapes.push(area(cut, colourOf(label), 0.15));
    } else {
      const [x, y] = project(label.centre);
      const [r, h] = label.radius ? [label.radius, label.radius]
        : [(frame[1] - frame[0]) * size, (frame[3] - frame[2]) * (d === 1 ? 9 : size * 1.3)];
      shapes.push({
        type: label.radius ? "circle" : "rect", x0: x - r, x1: x + r, y0: y - h, y1: y + h, fillcolor: colourOf(label), opacity: label.radius ? 0.15 : 0.35,
        line: { color: colourOf(label), width: 1.5 }, layer: "below",
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
  const shapes = polygon.length > 2 ? [area(polygon, style("--ink"), 0.07)] : [];
  if (line.length === 2) {
    shapes.push({
      type: "line", x0: line[0][0], y0: line[0][1], x1: line[1][0], y1: line[1][1],
      line: { color: style("--ink"), width: 1.6, dash: "dash" }, layer: "below",
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
    arrowcolor: style("--ink"),
  }, { x: from[0], y: from[1], text: "<i>v</i>", showarrow: false, xshift: -9, yshift: -9 }];
}

// Names of the points that labels stand for: of all where they are few, else of the picked one.
function setNames() {
  if (d > 2 || !$("sets").checked) return [];
  return page.labels.filter((label, c) => label.centre && (page.labels.length <= 12 || c === picked.label))
    .map((label) => {
      const [x, y] = project(label.centre);
      return { x, y: d === 1 ? -0.5 : y, text: escaped(label.name), showarrow: false, yshift: 14 };
    });
}

function frameOf(f) {
  if (view.own) {
    const box = bounds(f ? [f - 1, f] : [f]), block = page.blocks[page.frames[f].block];
    if (block && block.plane && page.frames[f].layer === "feed-forward") {
      const x = -block.plane.b / Math.hypot(...block.plane.u);
      [box[0], box[1]] = [Math.min(box[0], x), Math.max(box[1], x)];
    }
    return stretched(box);
  }
  const ratio = plot.clientWidth / Math.max(plot.clientHeight, 1);
  if ($("follow").checked) return padded(bounds([f]), ratio);
  view.whole = view.whole || bounds(states.keys());
  return padded(view.whole, ratio);
}

function layout(f, frame) {
  const axis = {
    showgrid: false, zeroline: !view.own, zerolinecolor: style("--line"), zerolinewidth: 1, showline: true,
    linecolor: style("--soft"), mirror: true, ticks: "", nticks: 5, tickfont: { size: 11, color: style("--soft") },
  };
  return {
    margin: { l: 52, r: 8, t: 8, b: 40 }, font: { family: "Georgia, serif", size: 13, color: style("--ink") },
    paper_bgcolor: style("--ground"), plot_bgcolor: style("--ground"),
    xaxis: { ...axis, range: [frame[0], frame[1]], title: { text: view.names[0], standoff: 4 } },
    yaxis: {
      ...axis, range: [frame[2], frame[3]], title: { text: view.names[1], standoff: 2 },
      ...(d > 1 ? (view.own ? {} : { scaleanchor: "x" }) : { showticklabels: false }),
    },
    showlegend: false,
    modebar: { orientation: "v", bgcolor: "rgba(0,0,0,0)", color: style("--soft"), activecolor: style("--ink") },
    dragmode: touch ? false : "pan",
    hoverlabel: { align: "left", bgcolor: style("--card"), bordercolor: style("--soft"), font: { color: style("--ink") } },
    shapes: [...setShapes(f, frame), ...blockShapes(f, frame)], annotations: [...direction(f, frame), ...setNames()],
    uirevision: `${view.names} ${f}`,
  };
}

function draw(f, now, frame) {
  const traces = [moves(f), ...tokenTraces(f, now), leaderTrace(f, now), trail(f)];
  return Plotly.react(plot, traces, layout(f, frame), {
    responsive: true, displaylogo: false, displayModeBar: true,
    modeBarButtons: [["zoomIn2d", "zoomOut2d", "resetScale2d", "toImage"]],
  });
}

// Move from what is on the screen to frame f; large or reduced-motion pages jump.
function go(f, smooth) {
  const before = at;
  at = f;
  if (view.own) Object.assign(view, planeOf(f));
  basis = view.basis;
  const target = points(f), window = frameOf(f), start = performance.now();
  // each block has a plane of its own: there tokens start from where they were, seen in this plane
  const from = view.own ? { points: points(before), window } : shown;
  cancelAnimationFrame(motion);
  describe(f);
  const mix = (a, b, r) => a + (b - a) * r;
  const step = (time) => {
    const r = smooth && from && !calm && few ? Math.min((time - start) / 350, 1) : 1;
    shown = r === 1 ? { points: target, window } : {
      points: target.map((p, k) => [mix(from.points[k][0], p[0], r), mix(from.points[k][1], p[1], r)]),
      window: window.map((x, k) => mix(from.window[k], x, r)),
    };
    draw(f, shown.points, shown.window);
    if (r < 1) motion = requestAnimationFrame(step);
  };
  step(start);
}
