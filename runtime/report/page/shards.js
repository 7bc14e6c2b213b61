// Parts of weights as rectangles.

const shardColours = ["forward", "activations", "backward", "update", "communication", "permute", "weight-gradient", "state"];

/** Returns the two dims that a drawing shows: dims that ranks divide first, then the first and the last. */
function drawnDims(parameter) {
  const dims = parameter.shape.map((size, i) => i);
  const isDivided = i => parameter.parts.some(part => sum((part.runs[i] || []).map(([from, to]) => to - from)) < parameter.shape[i]);
  const chosen = [...dims.filter(isDivided), ...dims.filter(i => !isDivided(i))].slice(0, 2).sort((a, b) => a - b);
  return chosen.length === 1 ? [null, chosen[0]] : chosen.length ? chosen : [null, null];
}

/** Returns the runs of a dim as shares of its size. */
const shares = (parameter, part, dim) => dim === null ? [[0, 1]] : (part.runs[dim] || []).map(([from, to]) => [from / parameter.shape[dim], to / parameter.shape[dim]]);

function partFigure(parameter, part, index) {
  const [rows, columns] = drawnDims(parameter);
  const width = 56, height = rows === null ? 14 : 36;
  const boxes = shares(parameter, part, rows).flatMap(([top, bottom]) => shares(parameter, part, columns).map(([left, right]) =>
    shape("rect", {x: left * width, y: top * height, width: Math.max(1.5, (right - left) * width), height: Math.max(1.5, (bottom - top) * height), fill: colour(shardColours[index % shardColours.length])})));
  const ranges = part.runs.map(runs => runs.map(([from, to]) => `${from}:${to}`).join("+") || "nothing").join(", ");
  return make("figure", {}, shape("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "part of rank " + part.rank,
    "data-tip": `${parameter.name}\nrank ${part.rank} holds [${ranges}] of [${parameter.shape.join(", ")}]`}, boxes), make("figcaption", {}, part.name));
}

function shardRow(source, parameter) {
  const ranks = source.bundle.groups[parameter.group].ranks;
  const isWhole = parameter.parts.length === 1;
  return make("div", {class: "shard"},
    make("div", {class: "what"}, make("code", {}, parameter.name), make("span", {}, `${parameter.dtype}[${parameter.shape.join(", ")}]`),
      make("span", {}, isWhole ? `equal on ${ranksText(ranks)}` : `${source.bundle.parts_of_ranks ? "at least " : ""}${parameter.parts.length + parameter.more} parts on ${ranksText(ranks)}`)),
    make("div", {class: "parts"}, parameter.parts.map((part, i) => partFigure(parameter, {...part, name: isWhole ? "every rank" : "rank " + part.rank}, i)),
      parameter.more ? make("span", {class: "muted"}, `and ${parameter.more} more`) : null));
}

/** Returns how many of the weights `found` are shown. A weight that several groups of ranks hold, as a tied one, is one weight with several rows. */
function countOf(found, shown) {
  const seen = new Set(), again = new Set();
  for (const {name} of found)
    (seen.has(name) ? again : seen).add(name);
  const first = new Set(found.slice(0, shown).map(parameter => parameter.name));
  return `${first.size} of ${plural(seen.size, "weight")}` + (again.size ? `, ${again.size} of them on several stages` : "");
}

function shardsSection(source) {
  const parameters = source.bundle ? source.bundle.parameters : [];
  if (!parameters.length)
    return null;
  const size = parameter => parameter.shape.reduce((product, each) => product * each, 1);
  const byInterest = [...parameters].sort((a, b) => (b.parts.length > 1) - (a.parts.length > 1) || (b.shape.length > 1) - (a.shape.length > 1));
  const first = parameters.length > 40 ? byInterest : [...parameters].sort((a, b) => (b.parts.length > 1) - (a.parts.length > 1) || size(b) - size(a));
  const list = make("div"), rest = make("p", {class: "muted"});
  const search = make("input", {type: "search", placeholder: "find a weight: c_attn, h.2*weight", "aria-label": "find a weight", oninput: () => show(8)});
  const more = make("button", {type: "button"}, "show more");
  let shown = 8;
  function show(count) {
    shown = count;
    const pattern = new RegExp(search.value.trim().split("*").map(part => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*"), "i");
    const found = (search.value.trim() ? parameters : first).filter(parameter => pattern.test(parameter.name));
    list.replaceChildren(...found.slice(0, shown).map(parameter => shardRow(source, parameter)));
    rest.textContent = found.length ? countOf(found, shown) : "no weight has such a name";
    more.hidden = found.length <= shown;
  }
  more.addEventListener("click", () => show(shown * 3));
  show(8);
  const result = section("shards", "Shards of weights", "the elements that each rank holds", make("div", {class: "tools"}, search), list, make("div", {class: "heading", style: "margin:8px 0 0"}, rest, more));
  result.classList.add("shards");
  return result;
}
