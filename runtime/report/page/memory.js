// Memory of the ranks over the step, stacked.

const layers = [["weights", "weights"], ["state", "optimizer state"], ["gradients", "gradients"], ["activations", "activations"]];

/** Returns the bytes of the layers at a point of a memory curve. */
const layerBytes = (row, [, gradients, activations]) => [row.weight_bytes, row.state_bytes, gradients, activations];

/** Returns the curve of a row at a time: the last point that is not later. */
function pointAt(row, time) {
  let point = [0, 0, 0];
  for (const next of row.memory) {
    if (next[0] > time)
      break;
    point = next;
  }
  return point;
}

function memoryTip(row, point) {
  const parts = layerBytes(row, point);
  const total = row.weight_bytes + row.state_bytes + row.arena_bytes;
  return [`${row.label} at ${seconds(point[0])}`, ...layers.map(([, meaning], i) => `${meaning} ${bytes(parts[i])}`),
          `free in the arena ${bytes(Math.max(0, row.arena_bytes - parts[2] - parts[3]))}`, `allocated ${bytes(total)}`].join("\n");
}

/** Returns the outline of the first `count` layers of a row. */
function outline(row, count, view, x, yOf) {
  const height = point => yOf(sum(layerBytes(row, point).slice(0, count)));
  let before = height(pointAt(row, view.from));
  let path = `M${x(view.from)},${yOf(0)}V${before}`;
  for (const point of row.memory)
    if (point[0] > view.from && point[0] < view.to) {
      path += `H${x(point[0]).toFixed(2)}V${height(point).toFixed(2)}`;
    }
  return path + `H${x(view.to)}V${yOf(0)}Z`;
}

function memorySection(source, view) {
  const step = source.measured || plannedOf(source);
  if (!step || !step.rows.some(row => row.memory && row.memory.length))
    return null;
  const rows = step.rows.map(row => {
    const total = row.weight_bytes + row.state_bytes + row.arena_bytes;
    return {...row, label: row.name.replace(" to ", "–"), total, value: bytes(total)};
  });
  const highest = most(rows.map(row => row.total)), height = rows.length > 16 ? 34 : 56;
  let area = {left: 0, width: 1};
  const drawing = plot("memory of the ranks over the step", width => {
    area = timeArea(view, width);
    const x = time => area.left + (Math.min(time, step.seconds) - view.from) / (view.to - view.from) * area.width;
    const pitch = area.head + height + 10, bottom = rows.length * pitch;
    return {height: bottom + 24, shapes: [timeAxis(view, area, 0, bottom), rows.map((row, i) => {
      const base = i * pitch + area.head + height;
      const yOf = amount => base - amount / highest * height;
      const probe = shape("rect", {class: "memory", x: area.left, y: base - height, width: area.width, height, fill: "transparent", "data-tip": memoryTip(row, pointAt(row, view.from))});
      probe.addEventListener("pointermove", event => {
        const share = (event.clientX - probe.getBoundingClientRect().left) / probe.getBoundingClientRect().width;
        probe.setAttribute("data-tip", memoryTip(row, pointAt(row, view.from + share * (view.to - view.from))));
      });
      return [shape("rect", {x: area.left, y: yOf(row.total), width: Math.max(0, x(view.to) - area.left), height: base - yOf(row.total), fill: colour("free")}),
        [4, 3, 2, 1].map(count => shape("path", {d: outline(row, count, view, x, yOf), fill: colour(layers[count - 1][0])})),
        shape("text", {x: 0, y: area.isNarrow ? base - height - 5 : base - height / 2 + 4}, row.label),
        shape("text", {class: "soft", x: width, y: area.isNarrow ? base - height - 5 : base - height / 2 + 4, "text-anchor": "end"}, row.value), probe];
    })]};
  });
  letZoom(drawing, view, () => area);
  view.add(drawing, rows);
  const used = layers.filter((_, i) => rows.some(row => row.memory.some(point => layerBytes(row, point)[i] > 0)));
  return section("memory", "Memory of a rank over the step", "beside each row: what one rank allocates, " + layers.slice(0, 2).map(layer => layer[1]).join(", ") + " and arena",
    drawing, legend([...used, ["free", "free in the arena"]]));
}
