//===- ModelWithWeights.h - a model with other weights --------------------===//

#ifndef PCC_PASSES_ANNOTATE_MODELWITHWEIGHTS_H
#define PCC_PASSES_ANNOTATE_MODELWITHWEIGHTS_H

#include "passes/Outcome.h"
#include "runtime/base/Status.h"
#include "runtime/tensor/ElementType.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace pcc {

/// An initializer of a model that gets other elements.
struct ReplacedWeight {
  std::string name;
  runtime::ElementType type = runtime::ElementType::F32;
  std::vector<int64_t> shape;
  /// Changes the elements, which are those of the model: dense, little-endian.
  std::function<runtime::Status(std::span<std::byte>)> change;
};

/// What `pcc checkpoint export` needs for a model.
struct ModelWithWeightsOptions {
  std::string model;            ///< an .onnx file
  std::string externalDataRoot; ///< a further directory for its external data
  std::string output;           ///< another .onnx file
};

/// Writes the model with changed weights; nothing else of it changes. If it has
/// external data, or would exceed 2 GiB, all large weights go to one file
/// beside the output, OUTPUT.data. Nothing is left behind on failure.
Outcome writeModelWithWeights(const ModelWithWeightsOptions &options,
                              const std::vector<ReplacedWeight> &weights);

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_MODELWITHWEIGHTS_H
