//===- AnnotatedModel.cpp - ONNX model with decided shardings -------------===//

#include "passes/annotate/AnnotatedModel.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/1-import/Import.h"
#include "passes/1-import/build/Locations.h"
#include "passes/1-import/devices/DevicePlan.h"
#include "passes/1-import/onnx/ExternalData.h"
#include "passes/1-import/onnx/ReadModel.h"
#include "passes/1-import/onnx/write/WriteAnnotated.h"
#include "passes/annotate/DecidedShardings.h"
#include "passes/annotate/FileStream.h"
#include "runtime/base/Unfinished.h"
#include "sharding/ShardingText.h"
#include "status/Counted.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <unistd.h>

using namespace mlir;
using namespace pcc;
namespace fs = std::filesystem;

namespace {
/// Converts the shardings and pipeline stages that were decided for a module to
/// annotations of its ONNX model.
class ModelAnnotation {
public:
  /// Computes `annotation` from `module`, which was imported from `model` and
  /// must have passed phase 4-shard. `annotation` points to texts in `model`,
  /// so `model` must outlive it.
  ModelAnnotation(const onnx::Model &model, ModuleOp module);

  /// The annotations that the constructor computes: the devices, and the
  /// shardings and pipeline stages of the model's nodes.
  onnx::Annotation annotation;
  /// Returns the number of values that have no annotation, because ONNX cannot
  /// express their sharding.
  unsigned numUnsaid() const { return decided.numUnsaid(); }

private:
  /// Adds the annotation of `node`: the shardings of its inputs and outputs,
  /// and its pipeline stage. `position` is the index of `node` in the graph's
  /// list of nodes.
  void addNode(const onnx::Node &node, uint32_t position);
  /// Adds the sharding of one tensor to `own`. `own` is the annotation of an
  /// ONNX node that reads or writes the tensor. `tensor` is the name of the
  /// tensor. `place` contains the sharding of the tensor, and the number of the
  /// pipeline stage whose ranks hold the tensor.
  void addSpec(std::string_view tensor,
               const DecidedShardings::StagedSharding &place,
               onnx::NodeDeviceConfiguration &own) const;
  /// Converts each sharding in `shardings` to a text, and stores the text in
  /// `texts`. The keys of `shardings` and of `texts` are names of values in the
  /// ONNX model. The text has the syntax of the option --shard. For example,
  /// "[tp,-]" states that the mesh axis tp splits dim 0, and that no axis
  /// splits dim 1.
  void addTexts(const DecidedShardings::ByName &shardings,
                std::map<std::string, std::string, std::less<>> &texts) const;

  /// Shardings and pipeline stages of the module's values, by the values' names
  /// in the ONNX model.
  DecidedShardings decided;
  /// Mesh of one stage, without axes of size 1.
  dist::Mesh mesh;
  /// Number of pipeline stages, and number of pipeline positions. A position is
  /// a set of ranks that run the same stages. For example, if 4 stages run on 2
  /// positions, the ranks of position 0 run the stages 0 and 2, and the ranks
  /// of position 1 run the stages 1 and 3.
  int64_t numStages = 1, numPositions = 1;
  /// Names of the initializers (weights) of the ONNX model. The shape of an
  /// initializer never changes, so an annotation may state the sizes of its
  /// dims. A dim of another tensor may be dynamic.
  std::set<std::string_view> initializers;
};
} // namespace

/// Returns the integer attribute `name` of `module`; 1 if it is absent.
static int64_t numberOf(ModuleOp module, StringRef name) {
  auto number = module->getAttrOfType<IntegerAttr>(name);
  return number ? number.getInt() : 1;
}

ModelAnnotation::ModelAnnotation(const onnx::Model &model, ModuleOp module)
    : decided(module), mesh(dist::meshOf(module).spatial()) {
  std::erase_if(mesh.axes,
                [](const dist::Axis &axis) { return axis.size == 1; });
  numStages = numberOf(module, pipe::stagesName);
  numPositions = numStages / numberOf(module, pipe::virtualStagesName);
  for (const onnx::Tensor &tensor : model.graph.initializers)
    initializers.insert(tensor.name);
  annotation.configuration.name = writtenConfiguration;
  annotation.configuration.numDevices =
      static_cast<int32_t>(numPositions * mesh.size());
  annotation.metadata[std::string(onnx_import::configurationKey)] =
      writtenConfiguration;
  annotation.metadata[std::string(onnx_import::meshKey)] =
      mesh.size() == 1 ? "tp=1" : onnx_import::textOf(mesh);
  annotation.valueKey = onnx_import::shardingKey;
  addTexts(decided.inputs(), annotation.inputs);
  addTexts(decided.outputs(), annotation.outputs);
  addTexts(decided.weights(), annotation.initializers);
  for (uint32_t i = 0; i < model.graph.nodes.size(); ++i)
    addNode(model.graph.nodes[i], i);
}

void ModelAnnotation::addTexts(
    const DecidedShardings::ByName &shardings,
    std::map<std::string, std::string, std::less<>> &texts) const {
  for (const auto &[name, sharding] : shardings)
    texts[name] = dist::toBriefString(sharding, mesh);
}

/// Annotates each input of `node` with the sharding in which `node` reads the
/// input. This sharding may differ from the sharding in which another node has
/// computed the same tensor. An input gets no annotation if it is a partial sum
/// (terms that still have to be added over ranks), because annotations in ONNX
/// cannot express partial sums.
void ModelAnnotation::addNode(const onnx::Node &node, uint32_t position) {
  onnx::NodeDeviceConfiguration own{annotation.configuration.name, {}, {}};
  const std::string name = onnx_import::nameInLocations(node);
  auto isNew = [&](std::string_view tensor) {
    return !tensor.empty() &&
           std::none_of(own.shardingSpecs.begin(), own.shardingSpecs.end(),
                        [&](const onnx::ShardingSpec &spec) {
                          return spec.tensorName == tensor;
                        });
  };
  for (std::string_view input : node.inputs)
    if (const auto *place = decided.ofUse(name, std::string(input));
        place && isNew(input) && !dist::isPartial(place->sharding))
      addSpec(input, *place, own);
  for (std::string_view output : node.outputs)
    if (const auto *place = decided.ofValue(std::string(output));
        place && isNew(output))
      addSpec(output, *place, own);
  if (numStages > 1)
    if (auto stage = decided.stageOf(name))
      own.pipelineStage = static_cast<int32_t>(*stage);
  if (own.pipelineStage || !own.shardingSpecs.empty())
    annotation.nodes[position] = std::move(own);
}

void ModelAnnotation::addSpec(std::string_view tensor,
                              const DecidedShardings::StagedSharding &place,
                              onnx::NodeDeviceConfiguration &own) const {
  onnx::ShardingSpec spec;
  spec.tensorName = tensor;
  std::vector<dist::SubAxes> axes;
  for (size_t i = 0; i < place.sharding.rank(); ++i) {
    const dist::DimSharding &dim = place.sharding.dims[i];
    if (dim.isWhole())
      continue;
    onnx::ShardedDim &target = spec.shardedDims.emplace_back();
    target.axis = static_cast<int64_t>(i);
    // An annotation can state the size of each factor of a dim, such as 3 and
    // 64 for 192 = 3 x 64. Sizes are necessary if there are several factors. A
    // single factor gets its size only in a weight, because a dim of another
    // tensor may be dynamic in the ONNX model.
    const bool isSized = dim.factors.size() > 1 || initializers.count(tensor);
    for (const dist::Factor &factor : dim.factors) {
      target.simpleShardings.push_back(
          {isSized ? std::optional(factor.size) : std::nullopt,
           {},
           factor.numParts()});
      axes.push_back(factor.axes);
    }
  }
  const int64_t position = place.stage % numPositions;
  onnx_import::setDevices(axes, mesh, position * mesh.size(), spec);
  own.shardingSpecs.push_back(std::move(spec));
}

//===----------------------------------------------------------------------===//
// Output file
//===----------------------------------------------------------------------===//

static Status cannotWrite(const fs::path &path, const std::string &why) {
  return Status::error(InputOutput,
                       "cannot write '" + path.string() + "': " + why);
}

/// Sets `prefix` to the relative path from the directory of `path` to `root`,
/// such as "weights/". `path` is the file to which the annotated copy of
/// `model` will be written. `root` is the directory of `model`, in which its
/// weight files lie. Leaves `prefix` unchanged if the two directories are
/// equal, or if all weights are inside the model file. If the directories
/// differ, returns exit code 6 in two cases: `root` is not below the directory
/// of the copy, or the elements of a constant inside a node are stored in a
/// weight file.
static Status findPrefix(const onnx::Model &model, const fs::path &root,
                         const fs::path &path, std::string &prefix) {
  const bool hasNested = onnx::hasNestedExternalData(model);
  const bool hasOwn = std::any_of(
      model.graph.initializers.begin(), model.graph.initializers.end(),
      [](const auto &tensor) { return tensor.external.has_value(); });
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(
      path.has_parent_path() ? path.parent_path() : fs::path("."), error);
  const fs::path way = root.lexically_relative(folder);
  if ((!hasNested && !hasOwn) || way == ".")
    return Status::success();
  if (hasNested || way.empty() || *way.begin() == "..")
    return Status::error(
        CannotMeet,
        "cannot write the annotated model to '" + path.string() +
            "': its weights lie in '" + root.string() +
            "', and a model only refers to files below its own folder",
        {"write it to '" + (root / path.filename()).string() + "'"});
  prefix = way.string() + "/";
  return Status::success();
}

/// Writes the annotated model under a temporary name and renames the file at
/// the end. If writing fails, no incomplete model remains.
static Status writeFile(const onnx::Model &model,
                        const onnx::Annotation &annotation,
                        const fs::path &path) {
  runtime::Unfinished unfinished;
  PCC_RETURN_IF_ERROR(unfinished.createFile(path.string()));
  FileStream file(unfinished.descriptor());
  onnx::writeAnnotated(model, annotation, file);
  if (const int error = file.finish(); error != 0)
    return cannotWrite(path, std::strerror(error));
  return unfinished.finish();
}

Status pcc::writeAnnotatedModel(ModuleOp module, const std::string &path,
                                const Listener &listener) {
  auto file = module->getAttrOfType<StringAttr>(graph::modelName);
  auto root = module->getAttrOfType<StringAttr>(graph::rootName);
  if (!file || !root)
    return Status::error(CannotMeet, "cannot write an annotated model: this "
                                     "one was not made from an .onnx file");
  auto model =
      onnx::readModelAsWritten((root.getValue() + "/" + file.getValue()).str());
  if (!model)
    return model.status();
  ModelAnnotation all(*model, module);
  PCC_RETURN_IF_ERROR(
      findPrefix(*model, root.str(), path, all.annotation.locationPrefix));
  if (all.numUnsaid() > 0)
    listener.onNote("no annotation for " + counted(all.numUnsaid(), "value") +
                    ": annotations cannot express "
                    "partial sums that are read directly, or weights whose "
                    "sharding differs between stages");
  return writeFile(*model, all.annotation, path);
}
