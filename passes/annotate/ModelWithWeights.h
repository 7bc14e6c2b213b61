//===- ModelWithWeights.h - copy of an ONNX model with other weights ------===//

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

/// A weight to replace: an initializer of the model.
struct ReplacedWeight {
  /// Name of the initializer.
  std::string name;
  /// Element type and shape, which must be those of the initializer.
  runtime::ElementType type = runtime::ElementType::F32;
  std::vector<int64_t> shape;
  /// Overwrites the elements in place. The bytes hold the elements of the
  /// model, dense and little-endian. Called at most once, while the files are
  /// written.
  std::function<runtime::Status(std::span<std::byte>)> change;
};

/// Paths of `pcc checkpoint export`.
struct ModelWithWeightsOptions {
  /// Path of the .onnx file to copy.
  std::string model;
  /// Additional folder for external data of the model; empty for none.
  std::string externalDataRoot;
  /// Path of the copy. It must not be the model itself.
  std::string output;
};

/// Writes a copy of the model with the replaced weights. Everything else stays
/// as it is. If the model has external data, or if the copy would exceed 2 GiB,
/// large weights go to one file OUTPUT.data beside the copy. A failure leaves
/// no file behind. `weights` are borrowed during the call.
///
/// Returns exit code 6 if a weight does not fit the model or the model cannot
/// be exported, exit code 7 if a file cannot be written, or the error of a
/// `change` function.
Outcome writeModelWithWeights(const ModelWithWeightsOptions &options,
                              const std::vector<ReplacedWeight> &weights);

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_MODELWITHWEIGHTS_H
