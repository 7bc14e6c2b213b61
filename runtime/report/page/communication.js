// Communication by block and by axis, and work and traffic of the stages.

const kindNames = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "exchange", "permute", "broadcast", "transfer"];

/** Returns the parts of a bar, and their sum: one part for each kind. */
function partsByKind(entries) {
  const parts = kindNames.map(kind => {
    const own = entries.filter(entry => entry.kind === kind);
    const size = sum(own.map(entry => entry.step_bytes));
    return [kind, size, `${kind}: ${bytes(size)} in ${plural(sum(own.map(entry => entry.calls)), "call")}`];
  });
  return {parts, total: sum(parts.map(part => part[1]))};
}

const signature = parts => parts.map(part => part[1]).join();

/** Returns rows [name, parts, total] by block; equal neighbours are one row if there are many. */
function rowsByBlock(entries) {
  const blocks = [...new Set(entries.map(entry => entry.block).filter(block => block))].sort((a, b) => a.localeCompare(b, "en", {numeric: true}));
  const names = withoutCommon(blocks);
  const rows = blocks.map((block, i) => ({name: names[i], ...partsByKind(entries.filter(entry => entry.block === block))}));
  const joined = [];
  for (const row of rows) {
    const last = joined[joined.length - 1];
    if (rows.length > 16 && last && signature(last.parts) === signature(row.parts)) {
      last.end = row.name;
      last.count = (last.count || 1) + 1;
    } else
      joined.push(row);
  }
  for (const row of joined)
    if (row.count)
      row.name = `${row.name} … ${row.end}, each of ${row.count}`;
  const rest = partsByKind(entries.filter(entry => !entry.block));
  if (rest.total > 0)
    joined.push({name: "outside of blocks", ...rest});
  return joined;
}

/** Returns what one rank of each position receives in a step, as entries with axes, kind, calls, bytes, seconds, link. */
function totalsOf(source) {
  if (source.explain)
    return source.explain.totals.map(total => ({...total, step_bytes: total.received_bytes, step_seconds: total.seconds}));
  return [...collectivesOf(source).map(entry => ({...entry, axes: entry.axes.join("+")})),
          ...transfersOf(source).map(entry => ({...entry, axes: "pp", kind: "transfer", calls: entry.step_bytes / entry.bytes, step_seconds: 0}))];
}

function axisRows(source) {
  const totals = totalsOf(source);
  return [...new Set(totals.map(total => total.axes))].map(axes => {
    const own = totals.filter(total => total.axes === axes);
    const links = [...new Set(own.map(total => total.link).filter(link => link))];
    const time = sum(own.map(total => total.step_seconds));
    return {name: axes, note: [links.join(", ") || (source.explain ? "one network" : ""), plural(sum(own.map(total => total.calls)), "call"), time > 0 ? seconds(time) : ""]
      .filter(part => part).join(" · "), ...partsByKind(own)};
  });
}

function kindBars(rows) {
  const widest = most(rows.map(row => row.total));
  return make("div", {class: "bars"}, rows.map(row => [
    make("span", {class: "name"}, row.name, row.note ? make("div", {class: "muted"}, row.note) : null),
    bar(row.parts, widest, true), make("span", {class: "value"}, bytes(row.total))]).flat());
}

/** Returns rows [name, parts, total] by stage, for plans that tell no blocks. */
const rowsByStage = entries => [...new Set(entries.map(entry => entry.stage))].map(stage =>
  ({name: "stage " + stage, ...partsByKind(entries.filter(entry => entry.stage === stage))}));

function communicationSection(source) {
  const entries = collectivesOf(source), totals = totalsOf(source);
  if (!totals.length)
    return planOf(source) ? section("communication", "Communication", "", make("p", {class: "muted"}, "No rank receives anything from another one.")) : null;
  const used = kindNames.filter(kind => totals.some(total => total.kind === kind));
  return section("communication", "Communication", "received in a step by one rank of every stage",
    legend(used.map(kind => [kind, kind])),
    entries.some(entry => entry.block) ? [make("h3", {}, "By block"), kindBars(rowsByBlock(entries))] :
      entries.length ? [make("h3", {}, "By stage"), kindBars(rowsByStage(entries))] : [],
    make("h3", {}, "By axis"), kindBars(axisRows(source)));
}

function stagesSection(source) {
  const bundle = source.bundle;
  if (!bundle)
    return null;
  const rows = bundle.stages.map(stage => ({...stage, received: receivedByStage(source, stage.stage), ranks: bundle.groups[positionOf(bundle, stage.stage)].ranks}));
  const widest = {flops: most(rows.map(row => row.flops)), received: most(rows.map(row => row.received))};
  const least = rows.reduce((low, row) => row.flops < low.flops ? row : low, rows[0]);
  const otherCut = source.explain && source.explain.other_cut;
  const isUneven = rows.length > 1 && least.flops < 0.75 * widest.flops;
  return section("stages", "Stages: work and traffic", "of a step",
    make("div", {class: "stages"}, rows.map(row => [
      make("span", {class: "name"}, `stage ${row.stage} · ${ranksText(row.ranks)}`),
      bar([["forward", row.flops - row.recomputed_flops, `stage ${row.stage}: ${flops(row.flops)} in a step, over all its ranks`],
           ["weight-gradient", row.recomputed_flops, `${flops(row.recomputed_flops)} of ${flops(row.flops)} recompute activations`]], widest.flops),
      make("span", {class: "value"}, flops(row.flops)),
      bar([["all_reduce", row.received, `one rank of stage ${row.stage} receives ${bytes(row.received)} in a step`]], widest.received),
      make("span", {class: "value"}, bytes(row.received))]).flat()),
    legend([["forward", "operations of all its ranks"], ...(rows.some(row => row.recomputed_flops > 0) ? [["weight-gradient", "of them to recompute"]] : []),
            ["all_reduce", "received by one rank"]]),
    isUneven ? make("p", {class: "muted", style: "margin-top:8px"}, `Stage ${least.stage} has ${percent(least.flops / widest.flops)} of the work of the fullest stage; `,
      make("code", {}, otherCut ? otherCut.option : "pcc explain"), otherCut ? " moves a cut." : " names other cuts, with their price.") : null);
}
