// The graph of one block, from top to bottom, with shardings on its edges.

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
  const read = new Set(nodes.flatMap(node => node.operands));
  for (const node of nodes) {
    // A weight that is only moved is drawn as the weight.
    if (node.kind === "op" && moves.has(node.op.split(" · ")[0]) && node.operands.length && node.operands.every(isWeight))
      Object.assign(node, {kind: "weight", name: all[node.operands[0]].name, operands: []});
    node.weights = node.operands.filter(isWeight).map(number => all[number]);
    node.inputs = node.operands.filter(number => !isWeight(number) && all[number].op !== "constant");
    node.layer = node.inputs.length ? 1 + most(node.inputs.map(number => all[number].layer)) : 0;
  }
  const shown = nodes.filter(node => node.op !== "constant" && (node.kind !== "weight" || !read.has(node.number)));
  const last = most(shown.map(node => node.layer));
  // A node that reads nothing stands just above its first reader, and at the end if nothing in the block reads it.
  for (const node of shown)
    if (!node.inputs.length)
      node.layer = Math.max(0, Math.min(last + 1, ...shown.filter(other => other.inputs.includes(node.number)).map(other => other.layer)) - 1);
  return shown;
}

/** Returns the lines of text in a node. */
function nodeLines(node) {
  const shorten = name => name.length > 26 ? "…" + name.slice(-25) : name;
  const lines = [node.kind === "outside" ? "from outside: " + (node.op || "input") : node.op.replaceAll(" · ", ", ")];
  for (const weight of node.weights)
    lines.push(shorten(weight.name.split(".").slice(-2).join(".")) + " " + (weight.sharding || ""));
  return lines;
}

/** Measures the texts of `nodes`. */
function measureNodes(nodes) {
  for (const node of nodes) {
    node.lines = nodeLines(node);
    node.width = Math.ceil(Math.max(most(node.lines.map((line, i) => widthOf(line, i ? 11 : 12))) + 20, widthOf(node.sharding || "", 11) + 8, 56));
    node.height = 22 + 15 * (node.lines.length - 1);
  }
}

/** Returns the edges that lead to an item of a row. They turn only below the labels of the row above, so that they cross no text. */
function edgesTo(item) {
  return item.before.map(above => {
    const source = above.source || above, middle = (above.bottom + item.y) / 2, reach = item.width / 2 - 4;
    const x = item.centre + (item.before.length > 1 ? Math.max(-reach, Math.min(reach, (above.centre - item.centre) / 4)) : 0);
    return shape("path", {class: "edge", "data-tip": `${source.name || source.op}\n${source.type} ${source.sharding || ""}`,
      d: `M${above.centre},${above.y + above.height}V${above.bottom}C${above.centre},${middle} ${x},${middle} ${x},${item.y}`});
  });
}

/** Returns the sharding below a node that others read. */
function labelOf(node) {
  const width = widthOf(node.sharding, 11), y = node.y + node.height;
  return [shape("rect", {x: node.centre - width / 2 - 3, y: y + 3, width: width + 6, height: 14, fill: colour("card")}),
          shape("text", {class: "small soft", x: node.centre, y: y + 14, "text-anchor": "middle"}, node.sharding)];
}

function nodeShapes(node) {
  const style = node.kind === "collective" || node.kind === "outside" ? node.kind : node.weights.length || /matmul|attention|conv/.test(node.op) ? "compute" : "";
  return [shape("rect", {class: "node " + style, x: node.x, y: node.y, width: node.width, height: node.height, rx: 5,
      "data-tip": [`${node.op}${node.name ? " " + node.name : ""}`, `${node.type} on one rank, stage ${node.stage}`, node.sharding ? "sharding " + node.sharding : "",
                   ...node.weights.map(weight => `weight ${weight.name} ${weight.type} ${weight.sharding || ""}`)].filter(line => line).join("\n")}),
    node.lines.map((line, i) => shape("text", {class: (i ? "small soft" : "") + (node.kind === "collective" ? " inside" : ""), x: node.centre, y: node.y + 15 + 15 * i,
      "text-anchor": "middle", "pointer-events": "none"}, line))];
}

/** Returns nodes in rows that fit into `room` with the edges beside them, as far as that is possible. */
function fittedRows(nodes, room) {
  let rows, size;
  for (const share of [1, 0.8, 0.6, 0.4]) {
    nodes.forEach(node => { node.row = node.layer; });
    breakRows(nodes, share * room);
    rows = rowsOf(nodes);
    size = placeRows(rows);
    if (0.85 * size.width <= room)
      break;
  }
  return {rows, ...size};
}

/** Returns the drawing of a block. */
function drawBlock(block) {
  const nodes = drawnNodes(block);
  measureNodes(nodes);
  return plot("graph of " + (block.name || "the model"), room => {
    const {rows, width, height} = fittedRows(nodes, room - 2);
    const scale = Math.min(1, (room - 2) / width);
    const labelled = nodes.filter(node => node.sharding && nodes.some(other => other.inputs.includes(node.number)));
    return {height: Math.ceil(height * scale), shapes: [shape("g", {transform: `translate(${(room - width * scale) / 2},0) scale(${scale})`},
      rows.flat().map(edgesTo), labelled.map(labelOf), nodes.map(nodeShapes))]};
  });
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
