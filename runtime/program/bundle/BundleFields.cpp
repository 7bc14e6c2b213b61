//===- BundleFields.cpp - checked content of bundle.json ------------------===//

#include "runtime/program/bundle/BundleFields.h"
#include "runtime/program/Seal.h"
#include "runtime/program/bundle/LayoutJson.h"
#include "runtime/program/bundle/PlanFields.h"

#include <nlohmann/json.hpp>

namespace pcc::runtime {

using Json = nlohmann::ordered_json;
using enum FieldKind;

/// Fields of bundle.json besides planFields. docs/json.md tells their meaning.
static constexpr FieldRow bundleFields[] = {
    {"mesh.*", Whole, 2, mostRanks},
    {"tf32", Flag},
    {"inputs", List},
    {"inputs.*", Object},
    {"inputs.*.name", Text},
    {"inputs.*.dtype", Text},
    {"inputs.*.shape", List},
    {"inputs.*.shape.*", Whole},
    {"outputs", List},
    {"outputs.*", Object},
    {"outputs.*.name", Text},
    {"outputs.*.dtype", Text},
    {"outputs.*.shape", List},
    {"outputs.*.shape.*", Whole},
    {"stages.*.stage", Whole},
    {"stages.*.ranks", List},
    {"stages.*.ranks.*", Whole},
    {"stages.*.flops", Whole},
    {"stages.*.recomputed_flops", Whole},
    {"stages.*.weight_bytes", Whole},
    {"stages.*.activation_bytes", Whole},
    {"programs", List},
    {"programs.*", Object},
    {"programs.*.position", Whole},
    {"programs.*.stages", List},
    indexInto("programs.*.stages.*", "stages"),
    {"programs.*.arena_bytes", Whole},
    {"programs.*.arena_lower_bound_bytes", Whole},
    {"programs.*.weight_bytes", Whole},
    {"programs.*.gradient_bytes", Whole},
    {"programs.*.state_bytes", Whole},
    {"programs.*.received_bytes", Whole},
    {"programs.*.instructions", Whole},
    {"programs.*.actions", List},
    {"programs.*.actions.*", Text},
    {"programs.*.parameters", List},
    {"programs.*.parameters.*", Object},
    {"programs.*.parameters.*.name", Text},
    {"programs.*.parameters.*.dtype", Text},
    {"programs.*.parameters.*.shape", List},
    {"programs.*.parameters.*.shape.*", Whole},
    {"programs.*.parameters.*.layout", List},
    {"programs.*.inputs", List},
    {"programs.*.inputs.*", Object},
    {"programs.*.inputs.*.name", Text},
    {"programs.*.inputs.*.layout", List},
    {"programs.*.outputs", List},
    {"programs.*.outputs.*", Object},
    {"programs.*.outputs.*.name", Text},
    {"programs.*.outputs.*.layout", List},
    indexInto("collectives.*.stage", "stages"),
    indexInto("transfers.*.from_stage", "stages"),
    indexInto("transfers.*.to_stage", "stages"),
    {"transfers.*.dtype", Text},
    {"transfers.*.shape", List},
    {"transfers.*.shape.*", Whole},
    {"kernels", Object},
    {"kernels.unique", Whole},
    {"kernels.calls", Whole},
    {"planned_step", Object},
    {"planned_step.seconds", Number},
    orAbsent({"planned_step.collectives_left_out", Whole}),
    {"planned_step.rows", List},
    {"planned_step.rows.*", Object},
    {"planned_step.rows.*.name", Text},
    {"planned_step.rows.*.idle_seconds", Number},
    {"planned_step.rows.*.weight_bytes", Whole},
    {"planned_step.rows.*.state_bytes", Whole},
    {"planned_step.rows.*.arena_bytes", Whole},
    {"planned_step.rows.*.memory", List},
    {"planned_step.rows.*.memory.*", List},
    {"planned_step.rows.*.memory.*.0", Number},
    {"planned_step.rows.*.memory.*.1", Number},
    {"planned_step.rows.*.memory.*.2", Number},
    {"planned_step.rows.*.actions", List},
    {"planned_step.rows.*.actions.*", List},
    {"planned_step.rows.*.actions.*.0", Text},
    {"planned_step.rows.*.actions.*.1", Number},
    {"planned_step.rows.*.actions.*.2", Number},
    {"planned_step.rows.*.messages", List},
    {"planned_step.rows.*.messages.*", List},
    {"planned_step.rows.*.messages.*.0", Text},
    {"planned_step.rows.*.messages.*.1", Number},
    {"planned_step.rows.*.messages.*.2", Number},
    {"planned_step.rows.*.messages.*.3", Whole, -1},
};

namespace {
/// Finds fields that contradict each other, in a bundle.json whose fields have
/// possible values of their own. Each method checks one relation, and returns
/// the first fault.
class BundleRelations {
public:
  explicit BundleRelations(const Json &bundle)
      : bundle(bundle), programs(bundle.at("programs")),
        stages(bundle.at("stages")), mesh(meshOf(bundle)) {}

  std::optional<FieldFault> findFault() {
    using Relation = std::optional<FieldFault> (BundleRelations::*)() const;
    // findStageFault() needs the number of ranks per program.
    static constexpr Relation relations[] = {
        &BundleRelations::findMeshFault, &BundleRelations::findCountFault,
        &BundleRelations::findNumberFault, &BundleRelations::findStageFault,
        &BundleRelations::findLayoutFaults};
    for (Relation relation : relations)
      if (auto fault = (this->*relation)())
        return fault;
    return std::nullopt;
  }

private:
  /// Checks that the mesh has as many ranks as the bundle.
  std::optional<FieldFault> findMeshFault() const {
    const auto world = bundle.at("world").get<int64_t>();
    int64_t ranks = 1;
    for (const auto &[name, size] : bundle.at("mesh").items()) {
      if (name == dist::timeAxis)
        return FieldFault{"mesh", "has the axis 'mb', which has no ranks"};
      ranks *= size.get<int64_t>();
      if (ranks > mostRanks)
        break;
    }
    if (ranks == world)
      return std::nullopt;
    return faultOf("world", bundle.at("world"),
                   "the product of the axes in 'mesh'");
  }

  /// Checks that `programs` and the rows of the planned step have one entry per
  /// coordinate on the pipeline axis.
  std::optional<FieldFault> findCountFault() const {
    const dist::Axis &first = mesh.axes.front();
    const int64_t positions = first.name == dist::pipelineAxis ? first.size : 1;
    const std::string expected = "one entry for each of " +
                                 std::to_string(positions) +
                                 " positions of the pipeline";
    if (int64_t(programs.size()) != positions)
      return faultOf("programs", programs, expected);
    const Json &rows = bundle.at("planned_step").at("rows");
    if (int64_t(rows.size()) != positions)
      return faultOf("planned_step.rows", rows, expected);
    return std::nullopt;
  }

  /// Checks that stages and programs are in the order of their numbers.
  std::optional<FieldFault> findNumberFault() const {
    for (const auto &[list, number] :
         {std::pair("stages", "stage"), std::pair("programs", "position")})
      for (size_t i = 0; i < bundle.at(list).size(); ++i)
        if (const Json &value = bundle.at(list).at(i).at(number); value != i)
          return faultOf(at(list, i) + "." + number, value,
                         "its place " + std::to_string(i) + " in the list");
    return std::nullopt;
  }

  /// Checks that each stage belongs to exactly one program, and that the ranks
  /// of the stage are those that run this program.
  std::optional<FieldFault> findStageFault() const {
    std::vector<bool> isSeen(stages.size());
    for (size_t i = 0; i < programs.size(); ++i) {
      const Json &own = programs[i].at("stages");
      if (own.empty())
        return faultOf(at("programs", i) + ".stages", own,
                       "the stages that the program runs");
      for (const Json &stage : own) {
        const auto number = stage.get<size_t>();
        if (isSeen[number])
          return faultOf(at("programs", i) + ".stages", own,
                         "a list of stages of which no other program has one");
        isSeen[number] = true;
        if (auto fault = findRankFault(number, i))
          return fault;
      }
    }
    for (size_t stage = 0; stage < stages.size(); ++stage)
      if (!isSeen[stage])
        return FieldFault{at("stages", stage),
                          "is a stage that no program runs"};
    return std::nullopt;
  }

  /// Checks the ranks of a stage that belongs to the program number `position`.
  std::optional<FieldFault> findRankFault(size_t stage, size_t position) const {
    const Json &ranks = stages[stage].at("ranks");
    const size_t count = bundle.at("world").get<size_t>() / programs.size();
    bool isRight = ranks.size() == count;
    for (size_t i = 0; isRight && i < count; ++i)
      isRight = ranks[i] == position * count + i;
    if (isRight)
      return std::nullopt;
    return faultOf(at("stages", stage) + ".ranks", ranks,
                   "the " + std::to_string(count) + " ranks from " +
                       std::to_string(position * count) + " on");
  }

  /// Checks the layouts (shardings) of all tensors.
  std::optional<FieldFault> findLayoutFaults() const {
    for (size_t i = 0; i < programs.size(); ++i)
      for (const char *list : {"parameters", "inputs", "outputs"})
        for (size_t k = 0; k < programs[i].at(list).size(); ++k)
          if (auto fault = findTensorFault(programs[i].at(list).at(k), list))
            return FieldFault{at("programs", i) + "." + at(list, k) + "." +
                                  fault->path,
                              fault->what};
    return std::nullopt;
  }

  /// Checks the layout of `tensor`, an entry of the list `list` of a program.
  /// Inputs and outputs have their shapes in the list `list` of the bundle.
  std::optional<FieldFault> findTensorFault(const Json &tensor,
                                            const char *list) const {
    const Json *described = &tensor;
    if (list != std::string_view("parameters")) {
      described = findPort(list, tensor.at("name"));
      if (!described)
        return faultOf("name", tensor.at("name"),
                       "a name in the list '" + std::string(list) +
                           "' of the bundle");
    }
    const auto layout = parseLayout(tensor.at("layout"));
    if (!layout)
      return FieldFault{
          "layout", "has an entry that is no list of factors with their axes"};
    const auto shape = described->at("shape").get<std::vector<int64_t>>();
    if (const char *fault = findLayoutFault(*layout, mesh, shape))
      return FieldFault{"layout", fault};
    return std::nullopt;
  }

  const Json *findPort(const char *list, const Json &name) const {
    for (const Json &port : bundle.at(list))
      if (port.at("name") == name)
        return &port;
    return nullptr;
  }

  static std::string at(const std::string &list, size_t index) {
    return list + "[" + std::to_string(index) + "]";
  }

  const Json &bundle, &programs, &stages;
  const Mesh mesh;
};
} // namespace

std::optional<FieldFault> findBundleFault(const Json &bundle) {
  if (auto fault = findFault(bundle, planFields))
    return fault;
  if (auto fault = findFault(bundle, bundleFields))
    return fault;
  return BundleRelations(bundle).findFault();
}

Status readBundleJson(const std::string &bundle, Json &content) {
  PCC_RETURN_IF_ERROR(checkPresent(bundle));
  PCC_RETURN_IF_ERROR(readSealedObject(bundle, "bundle.json", content));
  content.erase("seal");
  if (auto fault = findBundleFault(content))
    return damagedField(bundle, "bundle.json", *fault);
  return Status::success();
}

} // namespace pcc::runtime
