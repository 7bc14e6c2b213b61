// The page: header, cards, and the sections of each source.

function headOf(source, count) {
  const plan = planOf(source);
  const words = [parametersOf(source) ? scaled(parametersOf(source), ["", " K", " M", " B", " T"], 1000) + " parameters" : "", source.bundle ? trains(source) ? "training" : "inference" : "",
    plan ? plan.schedule + ", " + plural(plan.microbatches, "microbatch") : "", plan ? plan.target : ""];
  return make("header", {}, make("h1", {}, count > 1 ? plural(count, "report") : source.title + (plan ? " → " + plural(plan.world, "rank") : ""),
    count > 1 ? null : make("span", {}, words.filter(word => word).join(" · "))), count === 1 && source.command ? make("code", {}, source.command) : null);
}

/** Returns cards [name, value, meaning]. */
function cardsOf(source) {
  const plan = planOf(source), planned = plannedOf(source), bundle = source.bundle, time = measuredSeconds(source), list = [];
  const positions = plan ? plan.mesh.pp || 1 : 1;
  if (plan)
    list.push(["ranks", String(plan.world), meshText(plan.mesh)]);
  if (time !== null)
    list.push(["step, measured", seconds(time), "median of " + plural((source.run ? source.run.steps : source.metrics).length, "step")]);
  if (planned)
    list.push([time === null ? "step" : "step, planned", seconds(planned.seconds), "predicted from the prices of the cluster"]);
  if (source.measured)
    list.push(["idle, measured", percent(idleOf(source.measured)), "of all ranks in the last step"]);
  if (planned) {
    const bound = idleBound(plan);
    list.push([source.measured ? "idle, planned" : "idle", percent(idleOf(planned)), bound === null ? "waits inside actions count" : `equal stages: ${percent(bound)} at least`]);
  }
  if (bundle) {
    list.push(["memory", bytes(most(bundle.groups.map(memoryOf))), "the fullest rank: weights, state, arena" + (bundle.target === "cuda" ? ", besides what CUDA libraries take" : "")]);
    list.push(["received", bytes(most(bundle.groups.map(group => group.received_bytes))), "by the busiest rank, a step"]);
  } else if (source.explain)
    list.push(["received", bytes(most(source.explain.received_bytes)), "by the busiest rank, a step"]);
  if (plan)
    list.push(["collectives", sum(collectivesOf(source).map(entry => entry.calls)).toLocaleString("en-US"), positions > 1 ? "calls a step, over all stages" : "calls a step"]);
  if (bundle) {
    list.push(["work", flops(sum(bundle.stages.map(stage => stage.flops))), "a step, over all ranks"]);
    list.push(["kernels", bundle.kernels.unique.toLocaleString("en-US"), plural(bundle.kernels.calls, "launch") + " in the code"]);
  }
  if (source.run)
    list.push(["peak memory", bytes(most(source.run.ranks.map(rank => rank.peak_memory_bytes))), "of a process, measured"]);
  return list.length ? make("div", {class: "cards", id: "cards"}, list.map(([name, value, meaning]) =>
    make("dl", {class: "card", style: "margin:0"}, make("dt", {}, name), make("dd", {class: "big"}, value.split(" ").map((word, i) => i ? make("small", {}, " " + word) : word)), make("dd", {}, meaning)))) : null;
}

/** Returns two parts side by side where there is room, or the one that there is. */
const paired = (left, right) => left && right ? make("div", {class: "pair"}, left, right) : left || right;

/** Returns what `draw` draws; if it fails because of odd data, says so and lets the rest of the page stand. */
function guarded(draw, ...given) {
  try {
    return draw(...given);
  } catch (problem) {
    return section("", "A part of this page", "", make("p", {class: "muted"}, "cannot be drawn from this file: " + problem.message));
  }
}

/** Returns the sections of one source; `curves` come after the first ones. */
function sectionsOf(source, curves) {
  const end = Math.max(plannedOf(source) ? plannedOf(source).seconds : 0, source.measured ? source.measured.seconds : 0);
  const view = new View(end || 1);
  const tried = draw => (...given) => guarded(draw, source, ...given);
  const traffic = [tried(stagesSection)(), tried(communicationSection)()].filter(part => part);
  return [tried(cardsOf)(), tried(lintsSection)(), curves, tried(timelineSection)(view), tried(memorySection)(view), tried(runSection)(),
    paired(traffic.length > 1 ? make("div", {class: "stack"}, traffic) : traffic[0], tried(shardsSection)()),
    paired(tried(reasonsSection)(), tried(graphSection)()), tried(compileSection)(), tried(planSection)()].flat().filter(part => part);
}

/** Loads the page again while it is written again; a page that is much older than its data says is written no more. Returns the words for it. */
function follow(written) {
  if (Date.now() / 1000 > written + 60)
    return "The page is no longer written, although the run had not ended.";
  setTimeout(() => location.reload(), 5000);
  return "The run goes on: this page loads itself again every 5 seconds.";
}

function showReport() {
  const {sources, follows, written} = JSON.parse(document.getElementById("data").textContent);
  const body = make("div", {class: "body"});
  const root = document.getElementById("report");
  document.title = sources.length > 1 ? sources.map(source => source.title).join(", ") : sources[0].title + " – pcc report";
  root.append(guarded(headOf, sources[0], sources.length), body);
  const curves = guarded(curvesSection, sources);
  if (sources.length > 1)
    body.append(...[guarded(comparisonSection, sources), curves].filter(part => part));
  const detailed = sources.map(source => [source, null]);
  const frame = make("div", {class: "stack", id: "details"});
  const select = chosen => {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === chosen));
    detailed[chosen][1] = detailed[chosen][1] || sectionsOf(detailed[chosen][0], sources.length > 1 ? null : curves);
    frame.replaceChildren(...(detailed[chosen][1].length ? detailed[chosen][1] : [make("p", {class: "muted"}, "All that this file tells is above.")]));
  };
  const buttons = sources.map((source, i) => make("button", {type: "button", onclick: () => select(i)}, source.title));
  if (sources.length > 1)
    body.append(make("div", {class: "heading", role: "group", "aria-label": "details of", style: "margin:4px 0 0"}, make("h2", {}, "Details of"), buttons));
  body.append(frame);
  select(0);
  root.append(make("footer", {}, follows ? follow(written) : "made by pcc"));
  showTips();
  document.documentElement.dataset.ready = "yes";
}

showReport();
