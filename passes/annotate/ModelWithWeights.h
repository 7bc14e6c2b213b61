//===- ModelWithWeights.h - copy of an ONNX model with other weights ------===//

#ifndef PCC_PASSES_ANNOTATE_MODELWITHWEIGHTS_H
#define PCC_PASSES_ANNOTATE_MODELWITHWEIGHTS_H

#include "runtime/tensor/ElementType.h"
#include "status/Status.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace pcc {

/// A weight to replace in the copy of an ONNX model, where it is an
/// initializer.
struct ReplacedWeight {
  /// Name of the initializer.
  std::string name;
  /// Element type and shape. They must be those of the initializer.
  runtime::ElementType type = runtime::ElementType::F32;
  std::vector<int64_t> shape;
  /// Changes the elements in place. The bytes at first hold the model's
  /// elements, row-major and little-endian. Called at most once, while the copy
  /// is being written.
  std::function<Status(std::span<std::byte>)> change;
};

/// Paths that `pcc checkpoint export` reads and writes.
struct ModelWithWeightsOptions {
  /// Path of the .onnx file to copy.
  std::string model;
  /// Directory in which files of the model's external data may lie, in addition
  /// to the directory of the model; empty for none.
  std::string externalDataRoot;
  /// Path of the copy. It must differ from the model's path.
  std::string output;
};

/// Writes a copy of the ONNX model in which the elements of `weights` are
/// replaced. All else stays the same. If the model has external data, or if the
/// copy would exceed 2 GiB, large weights are written to one file OUTPUT.data
/// beside the copy. If writing fails, no file remains. `weights` are used
/// during the call only.
///
/// Returns exit code 6 if a weight does not fit the model or the model cannot
/// be exported, exit code 7 if a file cannot be written, or the error that a
/// `change` function returns.
Status writeModelWithWeights(const ModelWithWeightsOptions &options,
                             const std::vector<ReplacedWeight> &weights);

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_MODELWITHWEIGHTS_H
