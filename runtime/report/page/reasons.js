// Lints, and why the dearest collectives are there.

/** Returns what a step with other options saves and costs, or null if it was not tried. */
function differenceOf(own, other) {
  const parts = own && other ? [[other.seconds - own.seconds, seconds, "a step"], [other.received_bytes - own.received_bytes, bytes, "received a step"],
    [other.memory_bytes - own.memory_bytes, bytes, "of memory a rank"]] : [];
  const told = sign => parts.filter(part => part[0] * sign > 0).map(part => `${part[1](Math.abs(part[0]))} ${part[2]}`).join(" and ");
  return [["saves", told(-1)], ["costs", told(1)]].filter(each => each[1]).map(each => each.join(" ")).join(", ") || null;
}

/** Returns the lints of a plan. Measurements without their bundle have none, and the page names the command that has them. */
function lintsSection(source) {
  if (source.kind === "run" && !source.explain)
    return make("p", {class: "muted"}, "Lints, and the reasons of collectives, need the model: ", make("code", {}, "pcc explain MODEL --html"), " with the options of the compilation.");
  const lints = source.explain ? source.explain.lints : [];
  return lints.length ? make("div", {id: "lints"}, lints.map(lint => {
    const difference = lint.remedy && differenceOf(source.explain.price, lint.remedy.price);
    return make("div", {class: "lint", role: "note"}, make("b", {}, lint.code), " ", lint.message,
      lint.remedy ? make("div", {}, "try ", make("code", {}, lint.remedy.option), difference ? ": " + difference : "") : null);
  })) : null;
}

const endpoint = place => [place.op + (place.node ? " " : ""), place.node ? make("code", {}, place.node) : null, place.source ? make("span", {class: "muted"}, " " + place.source) : null];

function choiceItem(choice, word) {
  return make("li", {class: word === "chosen" ? "chosen" : choice.refused ? "refused" : null},
    make("b", {}, choice.refused ? "not allowed" : word === "chosen" ? "chosen " + bytes(choice.received_bytes) : bytes(choice.received_bytes)), " ", choice.strategy || "pinned",
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
