// Tables and curves of one or several sources.

const sourceColours = ["forward", "activations", "backward", "communication", "update", "permute", "weight-gradient", "unshard"];

const lastOf = (source, field) => source.metrics && source.metrics.length ? source.metrics[source.metrics.length - 1][field] : undefined;
const groupsMost = (source, value) => source.bundle ? most(source.bundle.groups.map(value)) : undefined;
const bestPlan = source => source.plan ? source.plan.asked || source.plan.plans[0] : undefined;

/** Rows of the comparison: [name, value of a source, text of the value, 1 if less is better, -1 if more is, 0]. */
const comparison = [
  ["ranks", source => planOf(source) ? planOf(source).world : bestPlan(source) ? bestPlan(source).devices : source.run ? source.run.ranks.length : undefined, String, 0],
  ["mesh", source => planOf(source) ? meshText(planOf(source).mesh) : undefined, String, 0],
  ["schedule", source => planOf(source) ? planOf(source).schedule : bestPlan(source) ? bestPlan(source).schedule : undefined, String, 0],
  ["microbatches", source => planOf(source) ? planOf(source).microbatches : bestPlan(source) ? bestPlan(source).microbatches : undefined, String, 0],
  ["step, planned", source => plannedOf(source) ? plannedOf(source).seconds : bestPlan(source) ? bestPlan(source).seconds : undefined, seconds, 1],
  ["step, measured", source => measuredSeconds(source) === null ? undefined : measuredSeconds(source), seconds, 1],
  ["idle, planned", source => plannedOf(source) ? idleOf(plannedOf(source)) : undefined, percent, 1],
  ["idle, measured", source => source.measured ? idleOf(source.measured) : undefined, percent, 1],
  ["memory of the fullest rank", source => source.bundle ? groupsMost(source, memoryOf) : bestPlan(source) ? bestPlan(source).memory_bytes : undefined, bytes, 1],
  ["weights of a rank", source => groupsMost(source, group => group.weight_bytes), bytes, 1],
  ["optimizer state of a rank", source => groupsMost(source, group => group.state_bytes), bytes, 1],
  ["arena of a rank", source => groupsMost(source, group => group.arena_bytes), bytes, 1],
  ["peak of a process", source => source.run ? most(source.run.ranks.map(rank => rank.peak_memory_bytes)) : undefined, bytes, 1],
  ["received by a rank", source => source.bundle ? groupsMost(source, group => group.received_bytes) : source.explain ? most(source.explain.received_bytes) : undefined, bytes, 1],
  ["collectives of a step", source => planOf(source) ? sum(collectivesOf(source).map(entry => entry.calls)) : undefined, String, 1],
  ["operations of a step", source => source.bundle ? sum(source.bundle.stages.map(stage => stage.flops)) : undefined, flops, 0],
  ["tokens a second and device", source => bestPlan(source) ? bestPlan(source).tokens_per_second_per_device : undefined, short, -1],
  ["tokens a second", source => lastOf(source, "tokens_per_second"), short, -1],
  ["samples a second", source => lastOf(source, "samples_per_second"), short, -1],
  ["mfu", source => bestPlan(source) ? bestPlan(source).mfu : lastOf(source, "mfu"), percent, -1],
  ["steps", source => source.metrics ? source.metrics.length : source.run ? source.run.steps.length : undefined, String, 0],
  ["last loss", source => source.metrics ? lastOf(source, "loss") : source.run && source.run.steps.length ? source.run.steps[source.run.steps.length - 1].loss || undefined : undefined, value => value.toPrecision(5), 1],
  ["time to compile", source => source.compile ? source.compile.seconds : undefined, seconds, 1],
];

function comparisonSection(sources) {
  if (sources.length < 2)
    return null;
  const rows = comparison.map(([name, value, text, sign]) => ({name, text, sign, values: sources.map(value)}))
    .filter(row => row.values.some(value => value !== undefined && value !== null));
  return section("compare", "Side by side", "the best of each row is bold", make("div", {class: "scroll"}, make("table", {},
    make("thead", {}, make("tr", {}, make("th"), sources.map(source => make("th", {class: "number"}, source.title)))),
    make("tbody", {}, rows.map(row => {
      const known = row.values.filter(Number.isFinite);
      const best = row.sign && known.length > 1 && new Set(known).size > 1 ? (row.sign > 0 ? Math.min : Math.max)(...known) : null;
      return make("tr", {}, make("th", {scope: "row"}, row.name), row.values.map(value =>
        make("td", {class: value === best && best !== null ? "number best" : "number"}, value === undefined || value === null ? "–" : row.text(value))));
    })))));
}

/** Returns the curve of a field as [step, value]; null where there is no number, so that the line has a gap. */
const curveOf = (lines, field) => lines.map(line => [line.step, typeof line[field] === "number" ? line[field] : null]);

/** Returns the lines of a training: those of --metrics, or the steps of the report of a run. */
const linesOf = source => source.metrics || (source.run && source.run.steps.some(step => typeof step.loss === "number") ? source.run.steps : null);

/** Returns the path of a curve; of many points in one pixel, the lowest and the highest stay. */
function curvePath(points, x, y) {
  let path = "", isGap = true, column = null, low = null, high = null;
  const flush = () => {
    if (low !== null)
      for (const value of low === high ? [low] : [low, high])
        path += (isGap ? "M" : "L") + column + "," + y(value).toFixed(1), isGap = false;
    low = high = null;
  };
  for (const [step, value] of points) {
    const next = Math.round(x(step) * 2) / 2;
    if (next !== column || value === null)
      flush();
    column = next;
    if (value === null)
      isGap = true;
    else
      low = low === null ? value : Math.min(low, value), high = high === null ? value : Math.max(high, value);
  }
  flush();
  return path;
}

function curvePlot(name, curves, format) {
  const drawing = plot(name, width => {
    const height = 168, top = 8, bottom = 24;
    const all = curves.flatMap(curve => curve.points).filter(([, value]) => value !== null);
    const numbers = all.map(([, value]) => value), steps = all.map(([step]) => step);
    const low = numbers.reduce((a, b) => Math.min(a, b), Infinity), high = numbers.reduce((a, b) => Math.max(a, b), -Infinity);
    const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
    const first = steps.reduce((a, b) => Math.min(a, b), Infinity), last = steps.reduce((a, b) => Math.max(a, b), -Infinity);
    const marks = ticks(low - room, high + room, height - top - bottom, 36);
    const left = Math.ceil(most(marks.map(mark => widthOf(format(mark), 11)))) + 8;
    const x = step => left + (last > first ? (step - first) / (last - first) : 0.5) * (width - left - 10);
    const y = value => top + (high + room - value) / (high - low + 2 * room) * (height - top - bottom);
    const cursor = shape("line", {class: "grid", y1: top, y2: height - bottom, x1: -9, x2: -9});
    const probe = shape("rect", {x: left, y: 0, width: Math.max(0, width - left), height, fill: "transparent", "data-tip": name});
    probe.addEventListener("pointermove", event => {
      const step = Math.round(first + (event.clientX - drawing.getBoundingClientRect().left - left) / Math.max(1, width - left - 10) * (last - first));
      const at = Math.max(first, Math.min(last, step));
      cursor.setAttribute("x1", x(at));
      cursor.setAttribute("x2", x(at));
      probe.setAttribute("data-tip", [`step ${at}`, ...curves.map(curve => {
        const point = curve.points.find(each => each[0] >= at);
        return `${curve.title}: ${point && point[1] !== null ? format(point[1]) : "none"}`;
      })].join("\n"));
    });
    return {height, shapes: [
      marks.map(mark => [shape("line", {class: "grid", x1: left, x2: width, y1: y(mark), y2: y(mark)}), shape("text", {class: "small soft", x: left - 6, y: y(mark) + 4, "text-anchor": "end"}, format(mark))]),
      [[first, "start"], [last, "end"]].slice(0, last > first ? 2 : 1).map(([step, anchor]) => shape("text", {class: "small soft", x: anchor === "end" ? width : left, y: height - 6, "text-anchor": anchor}, "step " + step)),
      cursor, curves.map(curve => curve.points.length === 1 || last === first
        ? curve.points.filter(point => point[1] !== null).map(point => shape("circle", {cx: x(point[0]), cy: y(point[1]), r: 3, fill: colour(curve.colour)}))
        : shape("path", {class: "curve", stroke: colour(curve.colour), d: curvePath(curve.points, x, y)})), probe]};
  });
  return make("div", {}, make("h3", {style: "margin-top:0"}, name), drawing);
}

const curveNames = {loss: ["loss", value => Number(value.toPrecision(4)).toString()], grad_norm: ["gradient norm", value => Number(value.toPrecision(3)).toString()],
  lr: ["learning rate", value => value === 0 ? "0" : Number(value.toPrecision(3)).toString()], tokens_per_second: ["tokens a second", short], samples_per_second: ["samples a second", short],
  seconds: ["time of a step", seconds], mfu: ["mfu", percent], loss_scale: ["loss scale", short]};

function curvesSection(sources) {
  const trainings = sources.filter(linesOf);
  if (!trainings.length)
    return null;
  const fields = [...new Set(trainings.flatMap(source => linesOf(source).flatMap(line => Object.keys(line).filter(key => typeof line[key] === "number"))))]
    .filter(field => field !== "step" && field !== "samples");
  const order = Object.keys(curveNames);
  fields.sort((a, b) => (order.indexOf(a) + 1 || 99) - (order.indexOf(b) + 1 || 99));
  const plots = fields.map(field => {
    const [name, format] = curveNames[field] || (field.endsWith("_bytes") ? [field.slice(0, -6).replaceAll("_", " "), bytes] : [field.replaceAll("_", " "), short]);
    const curves = trainings.map((source, i) => ({title: source.title, colour: sourceColours[i % sourceColours.length], points: curveOf(linesOf(source), field)}))
      .filter(curve => curve.points.some(([, value]) => value !== null));
    return curves.length ? curvePlot(name, curves, format) : null;
  });
  return section("curves", "Training", trainings.length === 1 ? plural(linesOf(trainings[0]).length, "step") : "", make("div", {class: "pair"}, plots),
    trainings.length > 1 ? legend(trainings.map((source, i) => [sourceColours[i % sourceColours.length], source.title])) : null);
}

/** Returns the ranks of a run's report as bars: at most 16 rows, ranks in order, of each row the slowest. */
function runSection(source) {
  if (!source.run || !source.run.ranks.length)
    return null;
  const ranks = source.run.ranks, size = Math.ceil(ranks.length / 16);
  const rows = [];
  for (let first = 0; first < ranks.length; first += size) {
    const own = ranks.slice(first, first + size);
    rows.push({...own.reduce((slow, rank) => rank.compute_seconds > slow.compute_seconds ? rank : slow), name: ranksText([own[0].rank, own[own.length - 1].rank])});
  }
  const longest = most(rows.map(row => row.seconds));
  return section("run", "Ranks of the run", size > 1 ? "of each group, the rank that computes most" : plural(source.run.steps.length, "timed step"),
    make("div", {class: "bars"}, rows.map(row => [make("span", {class: "name"}, row.name), bar([
      ["forward", row.compute_seconds, `rank ${row.rank} computes ${seconds(row.compute_seconds)} of ${seconds(row.seconds)}`],
      ["communication", row.wait_seconds, `rank ${row.rank} is ${seconds(row.wait_seconds)} in collectives`],
      ["weight-gradient", row.idle_seconds, `rank ${row.rank} waits ${seconds(row.idle_seconds)} for messages`]], longest),
      make("span", {class: "value"}, `${seconds(row.seconds)} · peak ${bytes(row.peak_memory_bytes)}`)]).flat()),
    legend([["forward", "compute"], ["communication", "collectives"], ["weight-gradient", "waits for messages"], ["track", "other"]]));
}

function compileSection(source) {
  const report = source.compile;
  if (!report)
    return null;
  const longest = most(report.phases.map(phase => phase.seconds));
  return section("phases", "Phases of the compilation", `${seconds(report.seconds)} in all, peak memory ${bytes(report.peak_memory_bytes)}`,
    report.error ? make("div", {class: "lint"}, report.error) : null,
    make("div", {class: "bars"}, report.phases.map(phase => [make("span", {class: "name"}, phase.name), bar([["forward", phase.seconds, `${phase.name}: ${seconds(phase.seconds)}`]], longest),
      make("span", {class: "value"}, `${seconds(phase.seconds)} · ${bytes(phase.peak_memory_bytes)}`)]).flat()),
    report.unsupported.length ? [make("h3", {}, "Unsupported"), make("ul", {}, report.unsupported.map(each => make("li", {}, `${each.count} × ${each.op}${each.domain ? " of " + each.domain : ""}`)))] : [],
    report.notes.length ? [make("h3", {}, "Notes"), make("ul", {class: "muted"}, report.notes.map(note => make("li", {}, note)))] : []);
}

const breakdownColours = {compute: "forward", bubble: "free", tp: "all_reduce", cp: "permute", ep: "all_to_all", pp: "transfer", dp: "reduce_scatter", optimizer: "update"};
const memoryColours = {weights: "weights", gradients: "gradients", state: "state", activations: "activations", reserved: "free"};

function planSection(source) {
  if (!source.plan)
    return null;
  const plans = source.plan.plans.length ? source.plan.plans.slice(0, 20) : [source.plan.asked].filter(plan => plan);
  const slowest = most(plans.map(plan => plan.seconds)), fullest = most(plans.map(plan => plan.memory_bytes));
  const stacked = (parts, colours, text) => Object.entries(parts).map(([name, size]) => [colours[name] || "track", size, `${name}: ${text(size)}`]);
  const used = (field, colours) => Object.keys(colours).filter(name => plans.some(plan => plan[field][name] > 0)).map(name => [colours[name], name]);
  return section("plans", "Plans", plural(source.plan.devices, "device") + (source.plan.cluster ? " of " + source.plan.cluster : ""),
    make("div", {class: "scroll"}, make("table", {}, make("thead", {}, make("tr", {}, ["", "plan", "step", "", "memory", "", "mfu"].map(name => make("th", {}, name)))),
      make("tbody", {}, plans.map((plan, i) => make("tr", {"data-tip": plan.reason || plan.command || ""}, make("td", {}, String(i + 1)),
        make("td", {}, ["pp", "dp", "cp", "ep", "tp"].filter(axis => plan[axis] > 1).map(axis => axis + " " + plan[axis]).join(" × ") || "one rank", make("div", {class: "muted"}, `${plan.schedule}, ${plural(plan.microbatches, "microbatch")}`)),
        make("td", {style: "min-width:120px"}, bar(stacked(plan.breakdown, breakdownColours, seconds), slowest)), make("td", {class: "number"}, seconds(plan.seconds)),
        make("td", {style: "min-width:120px"}, bar(stacked(plan.memory, memoryColours, bytes), fullest)), make("td", {class: "number"}, bytes(plan.memory_bytes)),
        make("td", {class: "number"}, percent(plan.mfu))))))),
    legend(plans.length ? [...used("breakdown", breakdownColours), ...used("memory", memoryColours)] : []));
}
