//===- ExplanationFields.cpp - checked content of explain.json ------------===//

#include "runtime/program/Seal.h"
#include "runtime/program/bundle/BundleFields.h"
#include "runtime/program/bundle/PlanFields.h"

#include <nlohmann/json.hpp>

namespace pcc::runtime {

using Json = nlohmann::ordered_json;
using enum FieldKind;

/// Fields of `pcc explain --json` that a page of a report shows, besides
/// planFields. docs/json.md tells their meaning.
static constexpr FieldRow explanationFields[] = {
    {"mesh.*", Whole, 1, mostRanks},
    {"received_bytes", List},
    {"received_bytes.*", Whole},
    {"totals", List},
    {"totals.*", Object},
    indexInto("totals.*.position", "received_bytes"),
    {"totals.*.axes", Text},
    {"totals.*.kind", Text},
    {"totals.*.calls", Whole},
    {"totals.*.received_bytes", Whole},
    {"totals.*.seconds", Number},
    orNull({"totals.*.link", Text}),
    {"collectives.*.stage", Whole},
    {"collectives.*.shape", List},
    {"collectives.*.shape.*", Whole},
    {"collectives.*.from", Text},
    {"collectives.*.to", Text},
    {"collectives.*.seconds", Number},
    orNull({"collectives.*.link", Text}),
    orNull({"collectives.*.block", Text}),
    orNull({"collectives.*.source", Text}),
    orNull({"collectives.*.cause", Object}),
    {"collectives.*.cause.op", Text},
    orNull({"collectives.*.cause.node", Text}),
    orNull({"collectives.*.cause.source", Text}),
    orNull({"collectives.*.cause.pinned", Text}),
    {"collectives.*.cause.uses", List},
    {"collectives.*.cause.uses.*", Object},
    {"collectives.*.cause.uses.*.op", Text},
    orNull({"collectives.*.cause.uses.*.node", Text}),
    orNull({"collectives.*.cause.uses.*.source", Text}),
    orNull({"collectives.*.decision", Object}),
    {"collectives.*.decision.op", Text},
    orNull({"collectives.*.decision.node", Text}),
    orNull({"collectives.*.decision.pinned", Text}),
    orAbsent({"collectives.*.decision.axis", Text}),
    orAbsent({"collectives.*.decision.strategy", Text}),
    orAbsent({"collectives.*.decision.received_bytes", Whole}),
    orAbsent({"collectives.*.decision.calls", Whole}),
    orAbsent({"collectives.*.decision.seconds", Number}),
    {"collectives.*.alternatives", List},
    {"collectives.*.alternatives.*", Object},
    {"collectives.*.alternatives.*.strategy", Text},
    {"collectives.*.alternatives.*.received_bytes", Whole},
    {"collectives.*.alternatives.*.calls", Whole},
    {"collectives.*.alternatives.*.seconds", Number},
    orNull({"collectives.*.alternatives.*.refused", Text}),
    {"collectives.*.further_decisions", List},
    {"collectives.*.further_decisions.*", Object},
    {"collectives.*.further_decisions.*.op", Text},
    orNull({"collectives.*.further_decisions.*.node", Text}),
    orAbsent({"collectives.*.further_decisions.*.alternatives", List}),
    {"transfers.*.from_stage", Whole},
    {"transfers.*.to_stage", Whole},
    orNull({"price", Object}),
    {"price.seconds", Number},
    {"price.idle_share", Number},
    {"price.memory_bytes", Whole},
    {"price.received_bytes", Whole},
    indexInto("stages.*.stage", "stages"),
    orNull({"other_cut", Object}),
    {"lints", List},
    {"lints.*", Object},
    {"lints.*.code", Text},
    {"lints.*.name", Text},
    {"lints.*.message", Text},
    orNull({"lints.*.node", Text}),
    orNull({"lints.*.remedy", Object}),
    {"lints.*.remedy.option", Text},
    orNull({"lints.*.remedy.price", Object}),
    {"blocks", List},
    {"blocks.*", Object},
    orNull({"blocks.*.name", Text}),
    {"blocks.*.count", Whole},
    {"blocks.*.left_out", Whole},
    {"blocks.*.nodes", List},
    {"blocks.*.nodes.*", Object},
    {"blocks.*.nodes.*.kind", Text},
    {"blocks.*.nodes.*.op", Text},
    orNull({"blocks.*.nodes.*.name", Text}),
    orNull({"blocks.*.nodes.*.sharding", Text}),
    {"blocks.*.nodes.*.type", Text},
    {"blocks.*.nodes.*.stage", Whole},
    {"blocks.*.nodes.*.operands", List},
    {"blocks.*.nodes.*.operands.*", Whole},
    {"blocks.*.nodes.*.read_outside", Flag},
    {"values", List},
};

/// Checks that the operands of a node in the graph of a block are nodes of the
/// same graph.
static std::optional<FieldFault> findOperandFault(const Json &explanation) {
  const Json &blocks = explanation.at("blocks");
  for (size_t block = 0; block < blocks.size(); ++block) {
    const Json &nodes = blocks[block].at("nodes");
    for (size_t node = 0; node < nodes.size(); ++node)
      for (const Json &operand : nodes[node].at("operands"))
        if (operand.get<size_t>() >= nodes.size())
          return FieldFault{"blocks[" + std::to_string(block) + "].nodes[" +
                                std::to_string(node) + "].operands",
                            "has the number " + operand.dump() +
                                ", but the block has " +
                                std::to_string(nodes.size()) + " nodes"};
  }
  return std::nullopt;
}

std::optional<FieldFault> findExplanationFault(const Json &explanation) {
  if (auto fault = findFault(explanation, planFields))
    return fault;
  if (auto fault = findFault(explanation, explanationFields))
    return fault;
  return findOperandFault(explanation);
}

std::string explainJsonFor(std::string explanation,
                           const std::string &bundleJson) {
  explanation.insert(explanation.rfind('}'),
                     ",\"bundle\":\"" + sealOf(bundleJson) + "\"");
  return sealJson(std::move(explanation));
}

/// Checks that `content`, the content of explain.json, belongs to the file
/// bundle.json in the directory `bundle`.
static Status checkOwner(const std::string &bundle, const Json &content) {
  std::string text;
  PCC_RETURN_IF_ERROR(readSealedJson(bundle + "/bundle.json", text));
  static constexpr FieldRow owner[] = {{"bundle", Text}};
  auto fault = findFault(content, owner);
  if (!fault && content.at("bundle") != sealOf(text))
    fault = faultOf("bundle", content.at("bundle"),
                    "'" + sealOf(text) +
                        "', the seal of bundle.json: it explains another "
                        "bundle");
  return fault ? damagedField(bundle, "explain.json", *fault)
               : Status::success();
}

Status readExplainJson(const std::string &bundle, Json &content) {
  PCC_RETURN_IF_ERROR(readSealedObject(bundle, "explain.json", content));
  PCC_RETURN_IF_ERROR(checkOwner(bundle, content));
  if (auto fault = findExplanationFault(content))
    return damagedField(bundle, "explain.json", *fault);
  content.erase("seal");
  content.erase("bundle");
  return Status::success();
}

} // namespace pcc::runtime
