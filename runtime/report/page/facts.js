// Numbers that several sections show, each computed once.

/** Returns the planned step of a source, or null. */
const plannedOf = source => source.bundle && source.bundle.planned_step || null;

/** Returns the bytes that a rank of `group` allocates, as `pcc inspect` counts them. */
const memoryOf = group => group.weight_bytes + group.state_bytes + group.arena_bytes;

/** Returns the share of all rows of a step in which they are idle. */
const idleOf = step => step.seconds > 0 ? sum(step.rows.map(row => row.idle_seconds)) / (step.seconds * step.rows.length) : 0;

/** Returns the plan of a source: what `inspect` or `explain` tells of world, mesh, schedule. */
const planOf = source => source.bundle || source.explain || null;

const trains = source => Boolean(source.bundle && source.bundle.groups.some(group => group.state_bytes > 0 || group.gradient_bytes > 0));

/** Returns how many elements the weights of the model have, each counted once. */
function parametersOf(source) {
  const sizes = new Map();
  for (const {name, shape: dims} of source.bundle ? source.bundle.parameters : [])
    sizes.set(name, dims.reduce((product, size) => product * size, 1));
  return sum([...sizes.values()]);
}

/** Returns the collectives of a plan with `step_bytes`, `calls` and `step_seconds` of a step, received by one rank of the stage. */
function collectivesOf(source) {
  const plan = planOf(source);
  const list = source.explain ? source.explain.collectives : source.bundle ? source.bundle.collectives : [];
  return list.map(entry => {
    const calls = entry.count * (entry.per === "microbatch" ? plan.microbatches : 1);
    return {...entry, calls, step_bytes: calls * entry.received_bytes, step_seconds: calls * (entry.seconds || 0),
            block: "block" in entry ? entry.block : blockOf(entry.node || "")};
  });
}

/** Returns the block that the name of a node tells, such as "h.3"; null if it tells none. */
function blockOf(name) {
  const parts = name.split(/[./]/).filter(part => part);
  const number = parts.findIndex((part, i) => i > 0 && /^\d+$/.test(part));
  return number < 0 ? null : parts.slice(0, number + 1).join(".");
}

/** Returns the position (group of ranks) that runs a stage. */
const positionOf = (bundle, stage) => bundle.groups.findIndex(group => group.stages.includes(stage));

/** Returns the transfers between different ranks, with `step_bytes` of a step that one rank receives. */
function transfersOf(source) {
  const plan = planOf(source);
  if (!plan)
    return [];
  const positions = plan.mesh.pp || 1;
  const place = stage => source.bundle ? positionOf(source.bundle, stage) : stage % positions;
  return plan.transfers.filter(entry => place(entry.from_stage) !== place(entry.to_stage)).map(entry =>
    ({...entry, step_bytes: entry.bytes * (entry.per === "microbatch" ? plan.microbatches : 1)}));
}

/** Returns the bytes that one rank of `stage` receives in a step. */
function receivedByStage(source, stage) {
  return sum(collectivesOf(source).filter(entry => entry.stage === stage).map(entry => entry.step_bytes)) +
         sum(transfersOf(source).filter(entry => entry.to_stage === stage).map(entry => entry.step_bytes));
}

/** Returns the least share of idle time of a pipeline with equal stages; null where no formula is known. */
function idleBound(plan) {
  const positions = plan.mesh.pp || 1;
  const chunks = plan.stages ? plan.stages.length / positions : 1;
  if (!["gpipe", "1f1b", "interleaved"].includes(plan.schedule) || positions === 1)
    return null;
  return (positions - 1) / (chunks * plan.microbatches + positions - 1);
}

/** Returns the median of numbers; null if there are none. */
function median(numbers) {
  const sorted = numbers.filter(Number.isFinite).sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length ? sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2 : null;
}

/** Returns the seconds of a measured step: the median over all steps of a run. */
const measuredSeconds = source => source.run ? median(source.run.steps.map(step => step.seconds)) :
  source.metrics ? median(source.metrics.map(line => line.seconds)) : null;
