// Lints, and why the dearest collectives are there.

/** Returns the option that mends a lint, as text to copy, or null. */
function remedyOf(source, lint) {
  const name = (/'([^']+)'/.exec(lint.message) || [])[1] || lint.node;
  const axis = (/(?:rank of|over|ranks of) (\w+)/.exec(lint.message) || [])[1] || Object.keys(planOf(source).mesh).find(each => each !== "pp") || "tp";
  const weight = source.bundle && source.bundle.parameters.find(parameter => parameter.name === name);
  const dims = first => "[" + [first, ...Array(Math.max(0, (weight ? weight.shape.length : 2) - 1)).fill("-")].join(",") + "]";
  return {
    "PCC-L001": ["keep it divided", name ? `--shard '${name}=${dims(axis)}'` : "--preset sequence"],
    "PCC-L002": ["to split it", `--shard '${name}=${dims(axis)}'`],
    "PCC-L003": ["take a size that divides the dim", `--${axis} N`],
    "PCC-L004": ["take a smaller axis, or pin a weight along it", `--${axis} N`],
    "PCC-L005": ["keep the gathered value", name ? `--shard '${name}=${dims("-")}'` : "--shard 'NAME=[-,-]'"],
  }[lint.code] || null;
}

function lintsSection(source) {
  const lints = source.explain ? source.explain.lints : [];
  return lints.length ? make("div", {id: "lints"}, lints.map(lint => {
    const remedy = remedyOf(source, lint);
    return make("div", {class: "lint", role: "note"}, make("b", {}, lint.code), " ", lint.message,
      remedy ? make("div", {}, remedy[0] + ": ", make("code", {}, remedy[1])) : null);
  })) : null;
}

const endpoint = place => [place.op + (place.node ? " " : ""), place.node ? make("code", {}, place.node) : null, place.source ? make("span", {class: "muted"}, " " + place.source) : null];

function choiceItem(choice, word) {
  return make("li", {class: word === "chosen" ? "chosen" : choice.refused ? "refused" : null},
    make("b", {}, choice.refused ? "refused" : word === "chosen" ? "chosen " + bytes(choice.received_bytes) : bytes(choice.received_bytes)), " ", choice.strategy || "pinned",
    choice.refused ? ": " + choice.refused : `, ${plural(choice.calls, "call")}, ${seconds(choice.seconds)}`);
}

/** Returns a decision with the choices that lost. */
function decisionList(decision, alternatives) {
  if (!decision)
    return [];
  const head = make("div", {}, "decided for ", endpoint(decision), decision.axis ? " along " + decision.axis : "", decision.pinned ? [", fixed by ", make("code", {}, decision.pinned)] : null);
  return [head, decision.strategy ? make("ul", {}, choiceItem(decision, "chosen"), alternatives.map(each => choiceItem(each, ""))) : null];
}

function reasonItem(reason, isOpen) {
  const step = reason.calls * reason.seconds;
  const details = make("details", {}, make("summary", {}, make("b", {}, `${reason.calls.toLocaleString("en-US")} × ${reason.kind}`),
    ` over ${reason.axes.join("+")} · ${bytes(reason.received_bytes)} each, ${bytes(reason.received_bytes * reason.calls)} and ${seconds(step)} a step `,
    reason.nodes.length ? make("code", {}, reason.nodes[0]) : null));
  details.open = isOpen;
  const cause = reason.cause;
  details.append(make("div", {class: "inner"},
    make("div", {}, make("code", {}, reason.from), " → ", make("code", {}, reason.to), " of ", `${reason.dtype}[${reason.shape.join(", ")}]`,
      ` in stage${reason.stages.length > 1 ? "s" : ""} ${reason.stages.join(", ")}`),
    cause ? make("div", {}, "made by ", endpoint(cause), cause.uses.length ? [", needed by ", endpoint(cause.uses[0]), cause.uses.length > 1 ? ` and ${cause.uses.length - 1} more` : ""] : null) : null,
    decisionList(reason.decision, reason.alternatives), reason.further_decisions.map(each => decisionList(each, each.alternatives || [])),
    reason.nodes.length > 1 ? make("div", {class: "muted"}, "also at ", reason.nodes.slice(1).join(", "), reason.more_nodes ? ` and ${reason.more_nodes} more` : "") : null));
  return details;
}

function reasonsSection(source) {
  const reasons = source.explain ? source.explain.reasons : [];
  if (!reasons.length)
    return null;
  const shown = 10;
  const list = make("div", {}, reasons.slice(0, shown).map((reason, i) => reasonItem(reason, i === 0)));
  const more = make("button", {type: "button", onclick: () => {
    list.append(...reasons.slice(shown).map(reason => reasonItem(reason, false)));
    more.remove();
  }}, `show ${reasons.length - shown} more`);
  return section("reasons", "Why: the dearest collectives", "equal ones of repeated blocks are one entry; times are those of the cluster", list,
    reasons.length > shown ? more : null);
}
