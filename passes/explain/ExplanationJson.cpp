//===- ExplanationJson.cpp - explanation as JSON --------------------------===//

#include "passes/explain/Explanation.h"
#include "runtime/tensor/JsonNumbers.h"

#include <nlohmann/json.hpp>

using namespace pcc;
using namespace pcc::explain;
using Json = nlohmann::ordered_json;

namespace {
/// Converts the result of `pcc explain` to JSON. Another command, `pcc inspect
/// --json`, also prints JSON. Some information is part of both outputs. A field
/// with this information has the same name in both outputs. Example: the number
/// of ranks is the field `world` in both outputs.
class JsonWriter {
public:
  explicit JsonWriter(const plan::Cluster &cluster) : cluster(cluster) {}

  Json write(const Explanation &explanation) const {
    Json json;
    json["world"] = explanation.world;
    json["mesh"] = Json::object();
    for (const auto &[name, size] : explanation.mesh)
      json["mesh"][name] = size;
    json["target"] = explanation.target;
    json["microbatches"] = explanation.microbatches;
    json["schedule"] = explanation.schedule;
    json["received_bytes"] = explanation.receivedBytesOfPosition;
    json["totals"] = list(explanation.totals);
    json["collectives"] = list(explanation.collectives);
    json["transfers"] = Json::array();
    for (const emit::StageTransfer &transfer : explanation.transfers)
      json["transfers"].push_back(emit::toJson(transfer));
    json["price"] = Json();
    if (explanation.price)
      json["price"] = write(*explanation.price);
    json["stages"] = stages(explanation);
    json["cuts"] = list(explanation.cuts);
    json["other_cut"] = Json();
    if (explanation.otherCut)
      json["other_cut"] = write(*explanation.otherCut);
    json["lints"] = list(explanation.lints);
    json["blocks"] = list(explanation.blocks);
    json["values"] = list(explanation.values);
    return json;
  }

private:
  /// Returns an array of `items`, each converted to JSON.
  template <typename Item> Json list(const std::vector<Item> &items) const {
    Json entries = Json::array();
    for (const Item &item : items)
      entries.push_back(write(item));
    return entries;
  }

  static Json write(const emit::PlanPrice &price) {
    return {{"seconds", price.seconds},
            {"idle_share", price.idleShare},
            {"memory_bytes", price.memoryBytes},
            {"received_bytes", price.receivedBytes}};
  }

  static Json write(const Remedy &remedy) {
    return {{"option", optionText(remedy)},
            {"price", remedy.price ? write(*remedy.price) : Json()}};
  }

  /// Returns one JSON object for each pipeline stage: its floating-point
  /// operations, its idle share, and the ONNX node at which the stage begins.
  static Json stages(const Explanation &explanation) {
    Json entries = Json::array();
    if (!explanation.price)
      return entries;
    for (const emit::StageWork &work : explanation.price->stages)
      entries.push_back({{"stage", entries.size()},
                         {"flops", work.flops},
                         {"idle_share", work.idleShare},
                         {"begins_at", Json()}});
    for (const CutTraffic &cut : explanation.cuts)
      if (!cut.isOfUpdate)
        entries[cut.toStage]["begins_at"] = textOrNull(cut.node);
    return entries;
  }

  Json write(const CutTraffic &cut) const {
    return {{"from_stage", cut.fromStage},
            {"to_stage", cut.toStage},
            {"optimizer_step", cut.isOfUpdate},
            {"node", textOrNull(cut.node)},
            {"forward_bytes", cut.forwardBytes},
            {"backward_bytes", cut.backwardBytes},
            {"seconds", cut.seconds()},
            {"other", cut.other ? write(*cut.other) : Json()},
            {"other_reason", textOrNull(cut.otherReason)}};
  }

  Json write(const CommunicationTotal &total) const {
    return {{"position", total.position},
            {"axes", total.axes},
            {"kind", total.kind},
            {"calls", total.calls},
            {"received_bytes", total.receivedBytes},
            {"seconds", total.seconds},
            {"link", textOrNull(total.link)}};
  }

  /// Returns `text` as a JSON string, or a JSON null if it is empty.
  static Json textOrNull(const std::string &text) {
    return text.empty() ? Json() : Json(text);
  }

  Json write(const dist::PricedStep &step) const {
    return {{"kind", step.kind},
            {"axes", step.axes},
            {"received_bytes", step.receivedBytes},
            {"shared", step.isShared}};
  }

  Json write(const dist::Choice &choice) const {
    return {{"strategy", choice.what},
            {"received_bytes", choice.receivedBytes()},
            {"calls", choice.calls()},
            {"seconds", secondsOf(choice, cluster)},
            {"memory_bytes", choice.memoryBytes},
            {"refused", textOrNull(choice.refused)},
            {"steps", list(choice.steps)}};
  }

  Json write(const dist::Decision &decision) const {
    Json json = write(decision.chosen);
    json["op"] = decision.op;
    json["axis"] = decision.axis;
    json["alternatives"] = list(decision.others);
    return json;
  }

  Json write(const dist::Endpoint &place) const {
    return {{"op", place.op},
            {"node", textOrNull(place.node)},
            {"source", textOrNull(place.source)},
            {"pinned", textOrNull(place.pin)}};
  }

  Json write(const EndpointDecision &at) const {
    Json json = write(*at.place);
    if (at.decision)
      json.update(write(*at.decision));
    return json;
  }

  /// Returns the collective `made` as JSON. At most two decisions of the
  /// sharding search have caused the collective. The field `decision` has the
  /// first one, or null. `alternatives` lists the rejected ways to compute the
  /// op of the first decision. `further_decisions` lists the second decision.
  Json write(const ExplainedCollective &made) const {
    Json json = emit::toJson(made.facts, made.stage);
    json["shape"] = made.shape;
    json["from"] = made.from;
    json["to"] = made.to;
    json["seconds"] = made.seconds;
    json["link"] = textOrNull(made.link);
    json["block"] = textOrNull(made.block);
    json["source"] = made.cause ? textOrNull(made.cause->by.source) : Json();
    json["cause"] = Json();
    if (made.cause) {
      json["cause"] = write(made.cause->by);
      json["cause"]["uses"] = list(made.cause->uses);
    }
    std::vector<EndpointDecision> decisions = made.decisions();
    json["decision"] = Json();
    json["alternatives"] = Json::array();
    if (!decisions.empty()) {
      Json first = write(decisions.front());
      if (first.contains("alternatives"))
        json["alternatives"] = first["alternatives"];
      first.erase("alternatives");
      json["decision"] = std::move(first);
      decisions.erase(decisions.begin());
    }
    json["further_decisions"] = list(decisions);
    return json;
  }

  Json write(const FoundLint &lint) const {
    return {{"code", dist::codeOf(lint.lint)},
            {"name", dist::nameOf(lint.lint)},
            {"message", lint.message},
            {"node", textOrNull(lint.node)},
            {"remedy", lint.remedy ? write(*lint.remedy) : Json()}};
  }

  Json write(const BlockNode &node) const {
    return {{"kind", node.kind},
            {"op", node.op},
            {"name", textOrNull(node.name)},
            {"sharding", textOrNull(node.sharding)},
            {"type", node.type},
            {"stage", node.stage},
            {"operands", node.operands},
            {"read_outside", node.isReadOutside}};
  }

  Json write(const BlockGraph &graph) const {
    return {{"name", textOrNull(graph.name)},
            {"count", graph.count},
            {"left_out", graph.leftOut},
            {"nodes", list(graph.nodes)}};
  }

  Json write(const Origin &origin) const {
    return {{"axis", origin.axis},
            {"what", origin.what},
            {"steps", origin.steps},
            {"reason", origin.reason},
            {"decisions", list(origin.decisions)}};
  }

  Json write(const ValueUse &use) const {
    Json json = write(use.place);
    json["stage"] = use.stage;
    json["sharding"] = use.sharding;
    json["reshard"] = list(use.reshard);
    return json;
  }

  /// Returns the name of a part of a training step.
  static const char *partName(graph::StepPart part) {
    return part == graph::StepPart::Forward    ? "forward"
           : part == graph::StepPart::Backward ? "backward"
                                               : "update";
  }

  Json write(const ValueExplanation &story) const {
    return {{"name", story.name},
            {"maker", write(story.maker)},
            {"part", partName(story.part)},
            {"stage", story.stage},
            {"dtype", story.dtype},
            {"shape", story.shape},
            {"sharding", story.sharding},
            {"local_shape", story.localShape},
            {"local_bytes", story.localBytes},
            {"origins", list(story.origins)},
            {"uses", list(story.uses)}};
  }

  const plan::Cluster &cluster;
};
} // namespace

std::string explain::toJson(const Explanation &explanation,
                            const plan::Cluster &cluster) {
  return runtime::withRoundNumbers(JsonWriter(cluster).write(explanation))
             .dump(-1, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace) +
         "\n";
}
