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

/// An initializer (weight) of an ONNX model whose elements are replaced in a
/// copy of the model.
struct ReplacedWeight {
  /// Name of the weight's initializer in the ONNX model.
  std::string name;
  /// Element type and shape of the weight. Both must be the same as in the
  /// original model.
  runtime::ElementType type = runtime::ElementType::F32;
  std::vector<int64_t> shape;
  /// Callback that receives a buffer with the original elements of the weight,
  /// row-major and little-endian, and overwrites them. writeModelWithWeights()
  /// calls `change` at most once.
  std::function<Status(std::span<std::byte>)> change;
};

/// Paths that `pcc checkpoint export` reads and writes.
struct ModelWithWeightsOptions {
  /// Path of the .onnx file to copy.
  std::string model;
  /// Directory in which files of the model's external data may lie, in addition
  /// to the directory of the model; empty for none.
  std::string externalDataRoot;
  /// Path of the model file to write. It must differ from `model`, the path of
  /// the original file.
  std::string output;
};

/// Writes a copy of the ONNX model in which the elements of `weights` are
/// replaced. The rest of the model is unchanged. `weights` are used during the
/// call only.
///
/// Large weights (at least 1 KiB) are written to the file OUTPUT.data beside
/// the copy in two cases: the model has external data, or the copy would exceed
/// 2 GiB.
///
/// If writing fails, no incomplete file remains. Errors:
///  - exit code 6: a weight does not fit the model, or the model cannot be
///    exported;
///  - exit code 7: a file cannot be written;
///  - the error that a `change` function returns.
Status writeModelWithWeights(const ModelWithWeightsOptions &options,
                             const std::vector<ReplacedWeight> &weights);

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_MODELWITHWEIGHTS_H
