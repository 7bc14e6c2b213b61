//===- GatheredTensors.cpp - gathering of trained weights in host memory --===//

#include "runtime/checkpoint/GatheredTensors.h"
#include "runtime/checkpoint/OwnedPieces.h"

namespace pcc::runtime {

std::byte *GatheredTensors::memoryOf(const StateTensor &tensor) {
  const std::lock_guard lock(mutex);
  auto [whole, isNew] = wholes.try_emplace(tensor.name);
  if (isNew) {
    whole->second.tensor = tensor;
    whole->second.bytes.resize(size_t(numElements(tensor.shape)) *
                               sizeOf(tensor.type));
  }
  return whole->second.bytes.data();
}

Status GatheredTensors::putTrained(std::span<const StateTensor> tensors,
                                   const Mesh &mesh, const Coordinates &at,
                                   World &world) {
  LowestPositions lowest;
  PCC_RETURN_IF_ERROR(findLowestPositions(tensors, mesh, world, lowest));
  for (const StateTensor &tensor : tensors) {
    if (!tensor.trained || tensor.isState || !isOwner(tensor, mesh, at, lowest))
      continue;
    const Layout whole = wholeLayout(tensor.shape);
    for (const StridedCopy &copy :
         intersect({&tensor.layout, &at}, {&whole, &at}, mesh))
      runCopy(copy, tensor.data, memoryOf(tensor), sizeOf(tensor.type));
  }
  return Status::success();
}

/// Computes the trained weights (ONNX initializers) from the trained
/// parameters, and adds the weights to `named`. A parameter is a weight or a
/// transform of a weight, such as the transpose or a slice. The function
/// inverts the transform, and copies the elements of the parameter to the
/// weight. A parameter that was not derived from a weight is added to `named`
/// under its own name.
///
/// Several parameters may be slices of one weight. The slices do not overlap.
/// The function returns an error with exit code 6 if the slices together have
/// fewer elements than the weight. For example, a weight has 8 rows, one
/// parameter is the slice with the rows 0 to 5, and no parameter contains the
/// rows 6 and 7.
Status
GatheredTensors::weights(std::map<std::string, GatheredWeight> &named) const {
  std::map<std::string, int64_t> trained;
  for (const auto &[name, whole] : wholes) {
    const WeightOrigin &origin = whole.tensor.origin;
    const bool isOwn = origin.initializer.empty();
    const std::string &known = isOwn ? name : origin.initializer;
    GatheredWeight &weight = named[known];
    weight.type = isOwn ? whole.tensor.type : origin.type;
    weight.shape = isOwn ? whole.tensor.shape : origin.shape;
    weight.bytes.resize(size_t(numElements(weight.shape)) *
                        sizeOf(weight.type));
    if (origin.steps.empty())
      weight.bytes = whole.bytes;
    else
      writeBack(origin, whole.bytes, weight.bytes);
    trained[known] += numElements(whole.tensor.shape);
  }
  for (const auto &[name, weight] : named)
    if (trained[name] != numElements(weight.shape))
      return Status::error(CannotMeet,
                           "only a part of weight '" + name +
                               "' was trained; the rest is in the model",
                           {"save a checkpoint and export it to an .onnx "
                            "file"});
  return Status::success();
}

} // namespace pcc::runtime
