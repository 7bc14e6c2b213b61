// The step over time: planned and measured rows on one axis, which can be zoomed.

const kinds = {F: ["forward", "forward"], B: ["backward", "backward"], I: ["input", "gradient of inputs"],
               W: ["weight-gradient", "gradient of weights"], U: ["update", "optimizer step"], UNSHARD: ["unshard", "once a step"]};

/** Returns what an action's name tells: "0F3" is the forward pass of stage 0 for microbatch 3. */
function parseAction(name) {
  const found = /^(\d+)([A-Z]+?)(\d*)$/.exec(name.split(" ")[0]) || [name, "0", "U", ""];
  return {stage: Number(found[1]), kind: found[2] in kinds ? found[2] : "U", number: found[3]};
}

function actionWords(name) {
  const {stage, kind, number} = parseAction(name);
  return kinds[kind][1] + ", stage " + stage + (number && kind !== "U" ? ", microbatch " + number : "") + " (" + name + ")";
}

/** The part of a step that is shown. Plots that share a view are drawn again when it changes. */
class View {
  constructor(end) {
    Object.assign(this, {end, from: 0, to: end, plots: [], labels: [], values: []});
  }
  /** Adds a plot whose rows have a `label` and a `value`. */
  add(drawing, rows) {
    this.plots.push(drawing);
    this.labels.push(...rows.map(row => row.label));
    this.values.push(...rows.map(row => row.value));
  }
  get isWhole() {
    return this.from <= 0 && this.to >= this.end;
  }
  show(from, to) {
    const span = Math.min(this.end, Math.max(to - from, this.end * 1e-5));
    this.from = Math.max(0, Math.min(from, this.end - span));
    this.to = this.from + span;
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.plots.forEach(each => each.redraw()));
  }
  /** Zooms so that the time `at` stays where it is. */
  zoom(factor, at = (this.from + this.to) / 2) {
    this.show(at - (at - this.from) / factor, at + (this.to - at) / factor);
  }
  move(seconds) {
    this.show(this.from + seconds, this.to + seconds);
  }
}

/** Lets wheel, pinch, drag, double click and keys change the view of a plot. `area` returns {left, width} of its time axis. */
function letZoom(frame, view, area) {
  const pointers = new Map();
  const timeAt = x => view.from + (x - frame.getBoundingClientRect().left - area().left) / area().width * (view.to - view.from);
  const perPixel = () => (view.to - view.from) / area().width;
  frame.classList.add("zooms");
  frame.tabIndex = 0;
  frame.addEventListener("wheel", event => {
    const isPan = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
    if (isPan && view.isWhole || !isPan && event.deltaY > 0 && view.isWhole)
      return;   // Nothing to zoom out of, so the page scrolls.
    event.preventDefault();
    if (isPan)
      view.move((event.deltaX || event.deltaY) * perPixel());
    else
      view.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), timeAt(event.clientX));
  }, {passive: false});
  frame.addEventListener("pointerdown", event => {
    pointers.set(event.pointerId, event);
    if (event.pointerType === "mouse")
      frame.setPointerCapture(event.pointerId);
  });
  frame.addEventListener("pointermove", event => {
    const before = pointers.get(event.pointerId);
    if (!before)
      return;
    const others = [...pointers.values()].filter(each => each.pointerId !== event.pointerId);
    if (others.length) {
      const distance = Math.abs(before.clientX - others[0].clientX), now = Math.abs(event.clientX - others[0].clientX);
      if (distance > 8 && now > 8)
        view.zoom(now / distance, timeAt((event.clientX + others[0].clientX) / 2));
    } else if (!view.isWhole)
      view.move((before.clientX - event.clientX) * perPixel());
    pointers.set(event.pointerId, event);
  });
  for (const end of ["pointerup", "pointercancel"])
    frame.addEventListener(end, event => pointers.delete(event.pointerId));
  frame.addEventListener("dblclick", () => view.show(0, view.end));
  frame.addEventListener("keydown", event => {
    const step = (view.to - view.from) / 5;
    const actions = {"+": () => view.zoom(1.5), "=": () => view.zoom(1.5), "-": () => view.zoom(1 / 1.5), 0: () => view.show(0, view.end),
                     ArrowLeft: () => view.move(-step), ArrowRight: () => view.move(step)};
    if (!(event.key in actions) || event.ctrlKey || event.metaKey)
      return;
    event.preventDefault();
    actions[event.key]();
  });
}

function zoomButtons(view) {
  const button = (text, label, act) => make("button", {type: "button", "aria-label": label, title: label, onclick: act}, text);
  return [button("+", "zoom in", () => view.zoom(2)), button("−", "zoom out", () => view.zoom(0.5)),
          button("whole step", "show the whole step", () => view.show(0, view.end))];
}

/** Returns the places of a plot with a time axis, the same in all plots of a view: labels beside the rows, or above them where it is
 * narrow. */
function timeArea(view, width) {
  const isNarrow = width < 560;
  const left = isNarrow ? 0 : Math.ceil(most(view.labels.map(text => widthOf(text)))) + 12;
  const right = isNarrow ? 0 : Math.ceil(most(view.values.map(text => widthOf(text)))) + 10;
  return {isNarrow, left, width: Math.max(40, width - left - right), head: isNarrow ? 18 : 0};
}

/** Returns the ticks and times below rows. */
function timeAxis(view, area, top, bottom) {
  const x = time => area.left + (time - view.from) / (view.to - view.from) * area.width;
  return ticks(view.from, view.to, area.width, 90).map(time => {
    const anchor = x(time) < area.left + 24 ? "start" : x(time) > area.left + area.width - 24 ? "end" : "middle";
    return [shape("line", {class: "grid", x1: x(time), x2: x(time), y1: top, y2: bottom + 4}),
            shape("text", {class: "soft small", x: x(time), y: bottom + 18, "text-anchor": anchor}, seconds(time))];
  });
}

/** Returns the rows of a source: each planned one, followed by the measured ones of its ranks. */
function timelineRows(source) {
  const planned = plannedOf(source), measured = source.measured;
  const rows = [];
  const add = (row, step, isMeasured) => rows.push({...row, isMeasured, label: row.name.replace(" to ", "–") + (isMeasured ? ", measured" : measured ? ", planned" : ""),
    value: percent(step.seconds > 0 ? row.idle_seconds / step.seconds : 0) + " idle"});
  const rest = measured ? measured.rows.map(row => ({...row, rank: Number(/\d+/.exec(row.name))})) : [];
  (planned ? planned.rows : []).forEach((row, position) => {
    add(row, planned, false);
    const [first, last] = source.bundle.groups[position].ranks;
    rest.filter(each => each.rank >= first && each.rank <= last).forEach(each => add(each, measured, true));
  });
  if (!planned)
    rest.forEach(each => add(each, measured, true));
  return rows;
}

/** Returns the boxes of actions; boxes too narrow to see are joined to one of their kind. */
function actionBoxes(row, view, area, y, height) {
  const x = time => area.left + (time - view.from) / (view.to - view.from) * area.width;
  const stages = [...new Set(row.actions.map(([name]) => parseAction(name).stage))].sort((a, b) => a - b);
  const boxes = [];
  let joined = null;
  for (const [name, start, end] of row.actions) {
    if (end <= view.from || start >= view.to)
      continue;
    const {stage, kind, number} = parseAction(name);
    const left = Math.max(x(start), area.left), right = Math.min(x(end), area.left + area.width);
    if (right - left < 1.5 && joined && joined.kind === kind && left - joined.right < 1.5) {
      joined.right = right;
      joined.box.setAttribute("width", Math.max(0.5, right - joined.left));
      continue;
    }
    const shade = 1 - 0.45 * stages.indexOf(stage) / stages.length;
    const box = shape("rect", {class: "action", x: left, y, width: Math.max(0.5, right - left - (right - left > 4 ? 1 : 0)), height, rx: right - left > 8 ? 2 : 0, fill: colour(kinds[kind][0]),
      opacity: shade, "data-tip": `${actionWords(name)}\n${seconds(start)} to ${seconds(end)}, ${seconds(end - start)}${row.isMeasured ? "\nmeasured" : "\nplanned"}`});
    boxes.push(box);
    joined = {kind, left, right, box};
    const text = kind === "U" ? "opt" : kind === "UNSHARD" ? "" : number;
    if (text && right - left > widthOf(text, 11) + 4)
      boxes.push(shape("text", {class: kind === "W" || kind === "I" ? "inside dark" : "inside", x: (left + right) / 2, y: y + height / 2 + 4}, text));
  }
  return boxes;
}

/** Returns the collectives and waits of a row, as a strip along the lower edge of its actions. */
function collectiveStrip(row, view, area, y) {
  const x = time => area.left + (time - view.from) / (view.to - view.from) * area.width;
  const strips = [];
  let last = null;
  for (const [name, start, end, message] of row.messages) {
    if (message >= 0 || end <= view.from || start >= view.to || /\d(SEND|RECV)_/.test(name))
      continue;
    const left = Math.max(x(start), area.left), right = Math.min(x(end), area.left + area.width);
    if (last && left - last.right < 0.75 && right - left < 1.5) {
      last.right = Math.max(last.right, right);
      last.strip.setAttribute("width", last.right - last.left);
      continue;
    }
    const strip = shape("rect", {class: "communication", x: left, y, width: Math.max(0.75, right - left), height: 4, fill: colour("communication"),
      "data-tip": `${row.isMeasured ? "communicates or waits" : "communicates"}: ${name}\n${seconds(start)} to ${seconds(end)}, ${seconds(end - start)}`});
    strips.push(strip);
    last = {left, right, strip};
  }
  return strips;
}

/** Returns arrows from the row that sends a message to the row that receives it; of arrows that would lie on each other, the first. */
function messageArrows(rows, places, view, area) {
  const x = time => area.left + (time - view.from) / (view.to - view.from) * area.width;
  const sends = new Map(), arrows = [], taken = new Set();
  rows.forEach((row, i) => row.messages.forEach(([name, start, end, message]) => {
    if (message >= 0 && name.includes("SEND"))
      sends.set((row.isMeasured ? "m" : "p") + message, [i, start]);
  }));
  rows.forEach((row, i) => row.messages.forEach(([name, start, end, message]) => {
    const sent = sends.get((row.isMeasured ? "m" : "p") + message);
    if (!(message >= 0) || !sent || !name.includes("RECV") || sent[0] === i || end < view.from || sent[1] > view.to)
      return;
    const isDown = sent[0] < i;
    const from = [x(sent[1]), places[sent[0]] + (isDown ? barHeight : 0)], to = [x(end), places[i] + (isDown ? 0 : barHeight)];
    const slot = [sent[0], i, Math.floor(to[0] / arrowRoom)].join();
    if (from[0] < area.left || to[0] > area.left + area.width || taken.has(slot))
      return;
    taken.add(slot);
    const bend = (to[1] - from[1]) / 2, tip = isDown ? -5 : 5;
    arrows.push([shape("path", {class: "arrow", d: `M${from[0]},${from[1]}C${from[0]},${from[1] + bend} ${to[0]},${to[1] - bend} ${to[0]},${to[1] + tip / 2}`,
                   "data-tip": `message ${name.replace("RECV", "SEND")}\nsent ${seconds(sent[1])}, there ${seconds(end)}`}),
                 shape("path", {class: "head", d: `M${to[0]},${to[1]}l-3.2,${tip}h6.4z`})]);
  }));
  return arrows;
}

const barHeight = 24, mostArrows = 600, arrowRoom = 8;

function timelineSection(source, view) {
  const rows = timelineRows(source);
  if (!rows.length)
    return null;
  const hasArrows = rows.some(row => row.messages.some(([name, , , message]) => message >= 0));
  const arrows = make("input", {type: "checkbox"});
  arrows.checked = hasArrows && rows.length <= 16 && innerWidth >= 640;
  let area = {left: 0, width: 1};
  const drawing = plot("the step over time", width => {
    area = timeArea(view, width);
    const pitch = area.head + barHeight + (arrows.checked ? 14 : 9);
    const places = rows.map((_, i) => i * pitch + area.head + 2);
    const bottom = rows.length * pitch;
    const found = arrows.checked ? messageArrows(rows, places, view, area) : [];
    return {height: bottom + 24, shapes: [
      timeAxis(view, area, 0, bottom),
      rows.map((row, i) => [
        shape("rect", {class: "track", x: area.left, y: places[i], width: area.width, height: barHeight, rx: 2, "data-tip": row.label + ": " + row.value}),
        shape("text", {x: 0, y: area.isNarrow ? places[i] - 5 : places[i] + 16}, row.label),
        shape("text", {class: "soft", x: width, y: area.isNarrow ? places[i] - 5 : places[i] + 16, "text-anchor": "end"}, row.value),
        actionBoxes(row, view, area, places[i], barHeight), collectiveStrip(row, view, area, places[i] + barHeight - 4)]),
      found.length <= mostArrows ? found : []]};
  });
  letZoom(drawing, view, () => area);
  arrows.addEventListener("change", drawing.redraw);
  view.add(drawing, rows);
  const used = new Set(rows.flatMap(row => row.actions.map(([name]) => parseAction(name).kind)));
  const entries = [...Object.entries(kinds).filter(([kind]) => used.has(kind)).map(([, entry]) => entry),
                   ["communication", source.measured ? "collectives and waits" : "collectives"], ["track", "idle"]];
  const planned = plannedOf(source);
  const note = [planned && `planned ${planned.seconds ? seconds(planned.seconds) : ""} by the prices of the cluster`,
                source.measured && `measured ${seconds(source.measured.seconds)}, the last step`].filter(part => part).join(" · ");
  return section("timeline", planOf(source) && planOf(source).mesh.pp ? "Pipeline: one step" : "One step", note,
    make("div", {class: "tools"}, hasArrows ? make("label", {}, arrows, "messages") : null, zoomButtons(view)), drawing,
    legend(entries, make("span", {}, "wheel or pinch: zoom · drag: move")),
    [planned, source.measured].filter(step => step && step.collectives_left_out).map(step =>
      make("p", {class: "muted"}, plural(step.collectives_left_out, "collective") + " are not drawn, because they are too many; idle times count them.")));
}
