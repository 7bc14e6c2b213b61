// The graph of one block, from top to bottom, with shardings on its edges.

const nodeGap = 18, layerGap = 30;

/** Ops that only move elements; a chain of them is one node. */
const moves = new Set(["reshape", "transpose", "slice", "broadcast", "cast", "squeeze", "unsqueeze"]);

/** Joins ops that only move elements to the one before, if nothing else reads it. Changes `nodes`. */
function joinMoves(nodes) {
  const readers = nodes.map((_, number) => nodes.filter(node => node.operands.includes(number)));
  for (const node of nodes) {
    const before = nodes[node.operands[0]];
    if (node.kind !== "op" || !moves.has(node.op) || node.operands.length !== 1 || before.kind !== "op" || !moves.has(before.op.split(" · ")[0]) || readers[before.number].length > 1)
      continue;
    Object.assign(node, {op: before.op + " · " + node.op, operands: before.operands});
    before.isJoined = true;
  }
  return nodes.filter(node => !node.isJoined);
}

/** Returns the nodes that are drawn, each with a layer; weights are written into the ops that read them. */
function drawnNodes(block) {
  const all = block.nodes.map((node, number) => ({...node, number, weights: [], layer: 0}));
  const isWeight = number => all[number].kind === "weight";
  const nodes = joinMoves(all);
  for (const node of nodes) {
    // A weight that is only moved is drawn as the weight.
    if (node.kind === "op" && moves.has(node.op.split(" · ")[0]) && node.operands.length && node.operands.every(isWeight))
      Object.assign(node, {kind: "weight", name: all[node.operands[0]].name, operands: []});
    node.weights = node.operands.filter(isWeight).map(number => all[number]);
    node.inputs = node.operands.filter(number => !isWeight(number) && all[number].op !== "constant");
    node.layer = node.inputs.length ? 1 + most(node.inputs.map(number => all[number].layer)) : 0;
  }
  const read = new Set(nodes.flatMap(node => node.operands));
  // What reads nothing else stands just above its first reader.
  for (const node of nodes)
    if (!node.inputs.length && node.kind !== "weight")
      node.layer = Math.max(0, Math.min(...nodes.filter(other => other.inputs.includes(node.number)).map(other => other.layer)) - 1) || 0;
  return nodes.filter(node => node.op !== "constant" && (node.kind !== "weight" || !read.has(node.number)));
}

/** Returns the lines of text in a node. */
function nodeLines(node) {
  const shorten = name => name.length > 26 ? "…" + name.slice(-25) : name;
  const lines = [node.kind === "outside" ? "from outside: " + (node.op || "input") : node.op];
  for (const weight of node.weights)
    lines.push(shorten(weight.name.split(".").slice(-2).join(".")) + " " + (weight.sharding || ""));
  return lines;
}

/** Places nodes layer by layer, each near the ones that it reads. */
function placeNodes(nodes) {
  const place = new Map(), layers = [];
  for (const node of nodes) {
    node.lines = nodeLines(node);
    node.width = Math.ceil(Math.max(most(node.lines.map((line, i) => widthOf(line, i ? 11 : 12))) + 20, widthOf(node.sharding || "", 11) + 8, 56));
    node.height = 22 + 15 * (node.lines.length - 1);
    (layers[node.layer] = layers[node.layer] || []).push(node);
  }
  const widest = most(layers.map(layer => sum(layer.map(node => node.width + nodeGap)) - nodeGap));
  let y = 4;
  for (const layer of layers.filter(each => each)) {
    const wish = node => {
      const known = node.inputs.filter(number => place.has(number)).map(number => place.get(number).centre);
      return known.length ? sum(known) / known.length : widest / 2;
    };
    layer.sort((a, b) => wish(a) - wish(b));
    const total = sum(layer.map(node => node.width + nodeGap)) - nodeGap;
    let x = Math.max(0, Math.min(widest - total, sum(layer.map(wish)) / layer.length - total / 2));
    for (const node of layer) {
      Object.assign(node, {x, y, centre: x + node.width / 2});
      place.set(node.number, node);
      x += node.width + nodeGap;
    }
    y += most(layer.map(node => node.height)) + layerGap;
  }
  return {place, width: widest, height: y - layerGap + 8};
}

function edgeShapes(nodes, place) {
  const labels = [];
  const edges = nodes.flatMap(node => node.inputs.filter((number, i) => place.has(number) && node.inputs.indexOf(number) === i).map(number => {
    const from = place.get(number), bottom = from.y + from.height, middle = (bottom + node.y) / 2;
    const x = node.centre + (node.inputs.length > 1 ? (from.centre - node.centre) / 8 : 0);
    return shape("path", {class: "edge", d: `M${from.centre},${bottom}C${from.centre},${middle} ${x},${middle} ${x},${node.y}`,
      "data-tip": `${from.name || from.op}\n${from.type} ${from.sharding || ""}`});
  }));
  for (const node of place.values())
    if (node.sharding && nodes.some(other => other.inputs.includes(node.number)))
      labels.push(shape("rect", {x: node.centre - widthOf(node.sharding, 11) / 2 - 3, y: node.y + node.height + 4, width: widthOf(node.sharding, 11) + 6, height: 14, fill: colour("card")}),
        shape("text", {class: "small soft", x: node.centre, y: node.y + node.height + 15, "text-anchor": "middle"}, node.sharding));
  return [edges, labels];
}

function nodeShapes(node) {
  node.lines[0] = node.lines[0].replaceAll(" · ", ", ");
  const style = node.kind === "collective" || node.kind === "outside" ? node.kind : node.weights.length || /matmul|attention|conv/.test(node.op) ? "compute" : "";
  return [shape("rect", {class: "node " + style, x: node.x, y: node.y, width: node.width, height: node.height, rx: 5,
      "data-tip": [`${node.op}${node.name ? " " + node.name : ""}`, `${node.type} on one rank, stage ${node.stage}`, node.sharding ? "sharding " + node.sharding : "",
                   ...node.weights.map(weight => `weight ${weight.name} ${weight.type} ${weight.sharding || ""}`)].filter(line => line).join("\n")}),
    node.lines.map((line, i) => shape("text", {class: (i ? "small soft" : "") + (node.kind === "collective" ? " inside" : ""), x: node.centre, y: node.y + 15 + 15 * i,
      "text-anchor": "middle", "pointer-events": "none"}, line))];
}

function drawBlock(block) {
  const nodes = drawnNodes(block);
  const {place, width, height} = placeNodes(nodes);
  return make("div", {class: "scroll"}, shape("svg", {width: width + 2, height, viewBox: `-1 0 ${width + 2} ${height}`, role: "img",
    style: `display:block;margin:0 auto;height:auto;max-width:max(100%, ${Math.round(0.65 * width)}px)`,
    "aria-label": "graph of " + (block.name || "the model")}, edgeShapes(nodes, place).flat(), nodes.map(nodeShapes).flat(2)));
}

function graphSection(source) {
  const blocks = source.explain ? (source.explain.blocks || []).filter(block => block.nodes.length) : [];
  if (!blocks.length)
    return null;
  const names = withoutCommon(blocks.map(block => block.name || "the model"));
  const frame = make("div");
  const buttons = blocks.map((block, i) => make("button", {type: "button", onclick: () => select(i)},
    names[i] + (block.count > 1 ? ` and ${plural(block.count - 1, "equal one")}` : "")));
  const rest = make("p", {class: "muted"});
  function select(chosen) {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === chosen));
    frame.replaceChildren(drawBlock(blocks[chosen]));
    rest.textContent = blocks[chosen].left_out ? `${blocks[chosen].left_out} further ops are left out.` : "";
  }
  select(0);
  return section("graph", blocks[0].name ? "Graph of a block" : "Graph of the model", "forward pass on one rank, shardings on the edges",
    make("div", {class: "tools"}, buttons), frame, rest, legend([["communication", "collective"], ["forward", "op with weights"]]));
}
