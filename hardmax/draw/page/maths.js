// Formulas and exact numbers as MathML. A comma ends an element, so that long vectors can wrap.
const NAMESPACE = "http://www.w3.org/1998/Math/MathML";
const PIECES = /(\d+(?:\.\d+)?(?:e[+-]?\d+)?(?:\/\d+)?)|e(\d+)(?!\w)|([A-Za-z]{2,}(?: [A-Za-z]{2,})*)|([A-Za-zα-ω])|(\s+)|(.)/gu;

function node(tag, text, ...children) {
  const element = document.createElementNS(NAMESPACE, tag);
  if (text !== null) element.textContent = text;
  element.append(...children);
  return element;
}

function number(text) {
  const [value, power] = text.split("e");
  if (power !== undefined) {
    return node("mrow", null, node("mn", value), node("mo", "·"),
      node("msup", null, node("mn", "10"), node("mn", power.replace("+", "").replace("-", "−"))));
  }
  const [p, q] = text.split("/");
  if (q === undefined) return node("mn", text);
  return text.length > 14 ? node("mrow", null, node("mn", p), node("mo", "/"), node("mn", q))
    : node("mfrac", null, node("mn", p), node("mn", q));
}

function operator(text, prefix) {
  const element = node("mo", text === "-" ? "−" : text);
  if (prefix) element.setAttribute("form", "prefix");  // a sign, not a difference
  if ("()|⟨⟩".includes(text)) element.setAttribute("stretchy", "false");
  return element;
}

// The elements of one text such as "z ↦ z + w·max(0, ⟨u,z⟩ + b)" or "-1·e11 + 1/2·e3".
function maths(text, parent) {
  let open = null, gap = false, before = "";
  const close = () => { if (open && open.childNodes.length) parent.append(open); open = null; };
  for (const [piece, count, axis, word, letter, space] of text.matchAll(PIECES)) {
    if (space) {
      if (!open) parent.append(" ");
      gap = open !== null;
      continue;
    }
    open = open || node("math", null);
    if (gap && !word && (/[a-z]{2}/i.test(before) || (piece === "(" && /\d/.test(before)))) open.append(node("mtext", "\u00a0"));
    if (count) open.append(number(count));
    else if (axis) open.append(node("msub", null, node("mi", "e"), node("mn", axis)));
    else if (word) open.append(node(word === "max" ? "mi" : "mtext", `${gap && before !== "(" ? "\u00a0" : ""}${word}`));
    else if (letter) open.append(node("mi", letter));
    else open.append(operator(piece, piece === "-" && (!/[\w)⟩]/.test(before.slice(-1)) || /[a-z]{2}/i.test(before))));
    before = piece;
    gap = false;
    if (piece === "," && text.length > 40) { close(); parent.append(" "); }
  }
  close();
  return parent;
}

// A number for an axis or a sentence, with a true minus sign.
const plain = (x) => (Math.abs(x) < 1e6 ? String(Number(x.toPrecision(4)))
  : x.toExponential(1).replace("e+", "·10^")).replace("-", "−");
