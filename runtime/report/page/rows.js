// Places of the nodes of a graph: rows from top to bottom, and lanes in which edges pass the nodes of other rows.

const nodeGap = 14, laneWidth = 8, labelRoom = 18, edgeRoom = 16;

/** Moves the last nodes of every row that is wider than `width` into a further row below it. Changes `row` of `nodes`. */
function breakRows(nodes, width) {
  for (let row = 0; row <= most(nodes.map(node => node.row)); ++row) {
    let used = -nodeGap;
    const over = nodes.filter(node => node.row === row).filter((node, i) => {
      used += node.width + nodeGap;
      return i > 0 && used > width;
    });
    for (const node of over.length ? nodes.filter(other => other.row > row) : [])
      ++node.row;
    for (const node of over)
      node.row = row + 1;
  }
}

/** Returns the rows of items: nodes, and lanes of edges that pass a row. `before` of an item are the items above that it is led to. */
function rowsOf(nodes) {
  const rows = Array.from({length: 1 + most(nodes.map(node => node.row))}, () => []);
  for (const node of nodes)
    rows[node.row].push(Object.assign(node, {before: []}));
  for (const node of nodes) {
    let above = node;
    const readers = nodes.filter(other => other.inputs.includes(node.number));
    const last = most(readers.map(reader => reader.row));
    for (let row = node.row + 1; row <= last; ++row) {
      readers.filter(reader => reader.row === row).forEach(reader => reader.before.push(above));
      if (row === last)
        break;
      above = {isLane: true, source: node, width: laneWidth, height: 0, before: [above]};
      rows[row].push(above);
    }
  }
  return rows;
}

/** Returns the left edges of `items` from left to right, each as near to its wish as `width` and its neighbours allow. */
function leftEdges(items, width) {
  const push = (list, from, to) => {   // Keeps items apart, first to the right and then back from the end.
    const edges = list.map(item => item.wish - item.width / 2);
    for (let i = 0, end = from; i < list.length; end = edges[i] + list[i].width + nodeGap, ++i)
      edges[i] = Math.max(edges[i], end);
    for (let i = list.length - 1, end = to; i >= 0; end = edges[i] - nodeGap, --i)
      edges[i] = Math.min(edges[i], end - list[i].width);
    return edges;
  };
  const mirrored = [...items].reverse().map(item => ({width: item.width, wish: width - item.wish}));
  const fromRight = push(mirrored, 0, width).reverse().map((edge, i) => width - edge - items[i].width);
  return push(items, 0, width).map((edge, i) => (edge + fromRight[i]) / 2);
}

/** Gives the items of `rows` their places. Returns width and height of the whole. */
function placeRows(rows) {
  const width = most(rows.map(row => sum(row.map(item => item.width + nodeGap)) - nodeGap));
  let y = 4;
  for (const row of rows) {
    for (const item of row) {
      const direct = item.before.filter(each => !each.isLane), known = direct.length ? direct : item.before;
      item.wish = known.length ? sum(known.map(each => each.centre)) / known.length : width / 2;
    }
    row.sort((a, b) => a.wish - b.wish);
    const edges = leftEdges(row, width), bottom = y + most(row.map(item => item.height)) + labelRoom;
    row.forEach((item, i) => Object.assign(item, {x: edges[i], centre: edges[i] + item.width / 2, y, bottom}));
    y = bottom + edgeRoom;
  }
  return {width, height: y - edgeRoom + 4};
}
