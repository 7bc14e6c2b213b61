//===- TrainedWeights.cpp - export of trained weights ---------------------===//

#include "runtime/checkpoint/TrainedWeights.h"
#include "runtime/base/Unfinished.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/checkpoint/FileChanges.h"

#include <algorithm>

namespace pcc::runtime {

Status TrainedWeights::open(const std::string &directory,
                            TrainedWeights &weights) {
  std::vector<std::string> folders;
  PCC_RETURN_IF_ERROR(findCheckpoints(directory, folders));
  for (const std::string &folder : folders) {
    weights.path = folder;
    Status status = CheckpointReader::open(folder, weights.checkpoint);
    if (status.ok())
      return weights.listWeights();
    if (folders.size() == 1)
      return status;
    weights.passedOver.push_back("checkpoint skipped: " + status.message());
  }
  return Status::error(DamagedBundle,
                       "no valid checkpoint in '" + directory + "'",
                       weights.passedOver);
}

/// Fills the list `weights` with the trained weights (ONNX initializers) of the
/// model. A trained parameter in the checkpoint may be derived from a weight by
/// transposes, slices, reshapes and casts. For example, two parameters may be
/// the upper and the lower half of one weight. The entry of a weight lists all
/// parameters that were derived from the weight. A parameter that was not
/// derived from a weight gets an entry of its own.
///
/// Sorts the entries by name. The order of the weights in an exported file thus
/// does not depend on the sharding. Returns exit code 11 if two parameters
/// disagree about the type or shape of the weight from which both were derived.
Status TrainedWeights::listWeights() {
  for (const SavedTensor &tensor : checkpoint.manifest().tensors) {
    if (!tensor.trained || tensor.isState)
      continue;
    const WeightOrigin &origin = tensor.origin;
    const bool isOwn = origin.initializer.empty();
    const std::string &name = isOwn ? tensor.name : origin.initializer;
    auto weight = std::find_if(weights.begin(), weights.end(),
                               [&](const auto &w) { return w.name == name; });
    if (weight == weights.end()) {
      weights.push_back({name, isOwn ? tensor.type : origin.type,
                         isOwn ? tensor.shape : origin.shape});
      weight = weights.end() - 1;
    } else if (isOwn || weight->type != origin.type ||
               weight->shape != origin.shape) {
      return Status::error(DamagedBundle, "checkpoint '" + path +
                                              "' has weight '" + name +
                                              "' in two forms");
    }
    weight->parameters.push_back(&tensor);
  }
  std::sort(weights.begin(), weights.end(),
            [](const auto &a, const auto &b) { return a.name < b.name; });
  return Status::success();
}

/// Copies the trained values of `weight` from the checkpoint to `stored`, the
/// memory of the weight. The checkpoint contains parameters that were derived
/// from the weight by transforms such as a transpose or a slice. Reads each of
/// these parameters as a whole tensor, and inverts its transforms. For example,
/// if a parameter is the transposed weight, the function transposes the
/// parameter back. Elements of `stored` that no parameter contains stay
/// unchanged.
Status TrainedWeights::change(const TrainedWeight &weight,
                              std::span<std::byte> stored) {
  for (const SavedTensor *tensor : weight.parameters) {
    const LocalPart whole = localPart(wholeLayout(tensor->shape), {}, {});
    std::vector<std::byte> value(size_t(numElements(tensor->shape)) *
                                 sizeOf(tensor->type));
    Status status = checkpoint.read(*tensor, whole, value.data());
    if (status.failed())
      return status.addNote(
          "an older checkpoint can be exported by its folder");
    if (tensor->origin.steps.empty())
      std::copy(value.begin(), value.end(), stored.begin());
    else
      writeBack(tensor->origin, value, stored);
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Safetensors
//===----------------------------------------------------------------------===//

static uint64_t bytesOf(const TrainedWeight &weight) {
  return uint64_t(numElements(weight.shape)) * sizeOf(weight.type);
}

/// Returns whether all elements of `weight` were trained. Each trained
/// parameter of the weight is a slice of the weight or the whole weight. No two
/// slices overlap. All elements were thus trained if the parameters together
/// have as many elements as the weight. For example, a weight has 8 rows. The
/// result is true if one parameter has the rows 0 to 5 and another parameter
/// has the rows 6 and 7. The result is false if the only parameter has the rows
/// 0 to 5.
static bool isWhole(const TrainedWeight &weight) {
  int64_t trained = 0;
  for (const SavedTensor *tensor : weight.parameters)
    trained += numElements(tensor->shape);
  return trained == numElements(weight.shape);
}

Status TrainedWeights::writeAll(const std::string &name) {
  std::vector<SafetensorsEntry> entries;
  uint64_t end = 0;
  for (const TrainedWeight &weight : weights) {
    entries.push_back(
        {weight.name, weight.type, weight.shape, end, end + bytesOf(weight)});
    end += bytesOf(weight);
  }
  const std::string header = safetensorsHeader(entries);
  const FileChanges changes;
  NewFile file(changes);
  Status status = file.create(name);
  if (status.ok())
    status = file.write(std::as_bytes(std::span(header)));
  for (const TrainedWeight &weight : weights) {
    std::vector<std::byte> bytes(bytesOf(weight));
    if (status.ok())
      status = change(weight, bytes);
    if (status.ok())
      status = file.write(bytes);
  }
  return status.ok() ? file.finish() : status;
}

Status TrainedWeights::writeSafetensors(const std::string &name) {
  for (const TrainedWeight &weight : weights)
    if (!isWhole(weight))
      return Status::error(CannotMeet,
                           "only a part of weight '" + weight.name +
                               "' was trained; the rest is in the model",
                           {"export to an .onnx file"});
  Unfinished file;
  PCC_RETURN_IF_ERROR(file.createFile(name));
  PCC_RETURN_IF_ERROR(writeAll(file.path()));
  return file.finish();
}

} // namespace pcc::runtime
