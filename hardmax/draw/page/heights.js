// One coordinate of every token over the whole run: where all happens in it, this shows it all.
const heights = { canvas: $("canvas"), picture: null, scale: null };

function heightScale() {
  const k = page.height, all = [];
  for (let s = 0; s < places.length / d; s += 1) all.push(places[s * d + k]);
  all.sort((a, b) => a - b);
  const at = (share) => all[Math.floor(share * (all.length - 1))];
  const middle = at(0.5), spread = Math.max(at(0.9) - at(0.1), 1e-300), range = at(1) - at(0);
  const bent = range > 40 * spread;  // a few far tokens would flatten all others
  const scale = (y) => (bent ? Math.asinh((4 * (y - middle)) / spread) : y);
  return { low: scale(at(0)), high: scale(at(1)), ends: [at(0), at(1)], bent, scale };
}

function heightFrame() {
  const { width, height } = heights.canvas;
  const ratio = devicePixelRatio || 1, edge = 8 * ratio, left = 62 * ratio;
  const { low, high, scale } = heights.scale;
  return {
    ratio, left, width, height,
    x: (f) => left + ((width - left - edge) * f) / Math.max(last, 1),
    y: (value) => height - edge - ((height - 2 * edge) * (scale(value) - low)) / ((high - low) || 1),
  };
}

function paintHeights() {
  const { canvas } = heights;
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.max(Math.round(canvas.clientWidth * ratio), 1);
  canvas.height = Math.max(Math.round(canvas.clientHeight * ratio), 1);
  heights.picture = document.createElement("canvas");
  Object.assign(heights.picture, { width: canvas.width, height: canvas.height });
  const pen = heights.picture.getContext("2d"), { x, y, left } = heightFrame();
  const value = (state) => y(places[state * d + page.height]);
  pen.lineWidth = ratio * (few ? 1.6 : 1);
  const order = page.tokens.map((_, token) => token).sort((s, t) => lit(s) - lit(t));
  for (const token of order) {
    pen.strokeStyle = colourOf(page.labels[page.sequences[page.tokens[token][0]].label]);
    pen.globalAlpha = lit(token) ? (few || picked.sequence !== null || picked.label !== null ? 0.9 : 0.5) : 0.08;
    pen.beginPath();
    pen.moveTo(x(0), value(states[0][token]));
    for (let f = 1; f <= last; f += 1) {
      if (states[f][token] === states[f - 1][token]) continue;
      pen.lineTo(x(f - 1), value(states[f - 1][token]));
      pen.lineTo(x(f), value(states[f][token]));
    }
    pen.lineTo(x(last), value(states[last][token]));
    pen.stroke();
  }
  pen.globalAlpha = 1;
  pen.fillStyle = style("--soft");
  pen.font = `${12 * ratio}px Georgia, serif`;
  pen.textAlign = "right";
  for (const end of heights.scale.ends) pen.fillText(plain(end), left - 6 * ratio, y(end) + 4 * ratio);
}

function showHeights(f) {
  if (page.height === null) return;
  if (!heights.picture || heights.picture.width !== Math.max(Math.round(heights.canvas.clientWidth * (devicePixelRatio || 1)), 1)) paintHeights();
  const pen = heights.canvas.getContext("2d"), { x, height, ratio } = heightFrame();
  pen.clearRect(0, 0, heights.canvas.width, height);
  pen.drawImage(heights.picture, 0, 0);
  pen.fillStyle = style("--ink");
  pen.fillRect(x(f) - ratio, 0, 2 * ratio, height);
}

function setUpHeights() {
  if (page.height === null || d === 1) { page.height = null; return; }
  $("heights").hidden = false;
  heights.scale = heightScale();
  maths(`x${page.height + 1}`.replace("x", "e"), $("heights-text"));
  $("heights-text").prepend("Most blocks change one coordinate alone, the one along ");
  $("heights-text").append(". Each line is a token; from left to right it passes the steps of the run. "
    + (heights.scale.bent ? "The scale is stretched in the middle, because a few tokens go far. " : "")
    + "The upright line is now; click to go to a step.");
  heights.canvas.addEventListener("click", (event) => {
    const { left, width, ratio } = heightFrame();
    const share = (event.offsetX * ratio - left) / (width - left - 8 * ratio);
    step(Math.round(Math.max(0, Math.min(1, share)) * last));
  });
}
