"use strict";
// From exact states to the plane: views, windows, slices of half-spaces. No drawing here.
const page = JSON.parse(document.getElementById("data").textContent);
const places = (() => {
  const bytes = Uint8Array.from(atob(page.places), (c) => c.charCodeAt(0));
  return new Float64Array(bytes.buffer);  // S × d, little-endian
})();
const d = page.dimension;

// the state of every token shown, frame by frame; a frame lists only what has changed
const states = [];
for (const frame of page.frames) {
  const now = states.length ? states[states.length - 1].slice() : new Int32Array(page.tokens.length);
  frame.at.forEach((token, k) => { now[token] = frame.to[k]; });
  states.push(now);
}

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const unit = (i) => Array.from({ length: d }, (_, k) => (k === i ? 1 : 0));

// two orthonormal vectors; in dimension 1 the second direction spreads the sequences out
let basis = [unit(0), d > 1 ? unit(1) : [0]];

function project(place) {
  return [dot(basis[0], place), dot(basis[1], place)];
}

// a vector orthogonal to `first`, of length 1, from the first candidate that is not parallel to it
function beside(first, ...candidates) {
  for (const candidate of candidates.filter(Boolean)) {
    const along = dot(first, candidate);
    const rest = Array.from(candidate, (x, i) => x - along * first[i]);
    const size = Math.hypot(...rest);
    if (size > 1e-9 * Math.hypot(...candidate)) return rest.map((x) => x / size);
  }
  return null;
}

const normed = (vector) => { const size = Math.hypot(...vector); return vector.map((x) => x / size); };

// The plane in which one can see what a block does: its hyperplane and its push, or its leaders.
function planeOf(f) {
  const frame = page.frames[f], block = page.blocks[frame.block];
  const [first, second] = Object.values(page.bases)[0] || [unit(0), unit(1)];
  if (block && frame.layer === "feed-forward" && block.w) {
    const across = block.plane ? normed(block.plane.u) : beside(normed(block.w), first, second);
    const push = beside(across, block.w);
    return { basis: [across, push || beside(across, first, second)],
      names: [block.plane ? "along u" : "first component", push ? "along w" : "first component, across u"] };
  }
  if (block && block.v) {
    const across = normed(block.v);
    return { basis: [across, beside(across, first, second)], names: ["along v", "across v"] };
  }
  return { basis: [first, second], names: ["first component", "second component"] };
}

function place(state) {
  return places.subarray(state * d, state * d + d);
}

function points(f) {
  return Array.from(states[f], (state, token) => {
    const p = project(place(state));
    if (d === 1) p[1] = -page.tokens[token][0];
    return p;
  });
}

function centre(f) {
  const sum = new Float64Array(d);
  states[f].forEach((state) => place(state).forEach((x, i) => { sum[i] += x; }));
  return sum.map((x) => x / states[f].length);
}

// A half-space {⟨u,x⟩ + b > 0} meets the plane through the tokens' centre in another one.
function slice(u, b, f) {
  const c = centre(f);
  const [s, t] = project(c);
  const origin = c.map((x, i) => x - s * basis[0][i] - (d > 1 ? t * basis[1][i] : 0));
  return { u: [dot(u, basis[0]), d > 1 ? dot(u, basis[1]) : 0], b: b + dot(u, origin) };
}

function bounds(frames) {
  let box = [Infinity, -Infinity, Infinity, -Infinity];
  for (const f of frames) {
    for (const [x, y] of points(f)) {
      box = [Math.min(box[0], x), Math.max(box[1], x), Math.min(box[2], y), Math.max(box[3], y)];
    }
  }
  return box;
}

// A window around a box, with a margin, as wide and high as the panel asks for.
function padded([x0, x1, y0, y1], ratio) {
  const side = Math.max(x1 - x0, (y1 - y0) * ratio, 1e-9) * 1.3;
  const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
  if (d === 1) {
    const half = Math.max(y1 - y0, 1) * 0.7;
    return [x - side / 2, x + side / 2, y - half, y + half];
  }
  return [x - side / 2, x + side / 2, y - side / ratio / 2, y + side / ratio / 2];
}

// The same for a plot of two numbers that need not share one scale.
function stretched([x0, x1, y0, y1]) {
  const margin = (low, high) => (high - low) * 0.12 || Math.max(Math.abs(low), 1) * 0.5;
  const [s, t] = [margin(x0, x1), margin(y0, y1)];
  return [x0 - s, x1 + s, y0 - t, y1 + t];
}

function corners([x0, x1, y0, y1]) {
  const [w, h] = [x1 - x0, y1 - y0];  // wider than the window, for a look around
  return [[x0 - w, y0 - h], [x1 + w, y0 - h], [x1 + w, y1 + h], [x0 - w, y1 + h]];
}

// The part of a convex polygon where ⟨u,x⟩ + b ≥ 0.
function clip(polygon, { u, b }) {
  const kept = [];
  polygon.forEach((p, k) => {
    const q = polygon[(k + 1) % polygon.length];
    const [s, t] = [dot(u, p) + b, dot(u, q) + b];
    if (s >= 0) kept.push(p);
    if (s * t < 0) kept.push([0, 1].map((i) => p[i] + (s / (s - t)) * (q[i] - p[i])));
  });
  return kept;
}

// The line ⟨u,x⟩ + b = 0 within a polygon: two points, or none.
function crossing(polygon, { u, b }) {
  const found = [];
  polygon.forEach((p, k) => {
    const q = polygon[(k + 1) % polygon.length];
    const [s, t] = [dot(u, p) + b, dot(u, q) + b];
    if (s * t < 0) found.push([0, 1].map((i) => p[i] + (s / (s - t)) * (q[i] - p[i])));
  });
  return found;
}
