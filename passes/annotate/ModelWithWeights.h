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
  /// Function that computes new elements of the weight. It overwrites the
  /// original elements in its argument, row-major and little-endian.
  /// writeModelWithWeights() calls it at most once. If it fails,
  /// writeModelWithWeights() returns its error.
  std::function<Status(std::span<std::byte>)> change;
};

/// Paths that `pcc checkpoint export` reads and writes.
struct ModelWithWeightsOptions {
  /// Path of the .onnx file to copy.
  std::string model;
  /// Additional directory for weight files. (A weight file is a separate file
  /// that holds weights of a model. ONNX calls its content "external data".) A
  /// weight file must lie in the directory of the model or in this directory;
  /// subdirectories are allowed. Empty if there is no additional directory.
  std::string externalDataRoot;
  /// Path of the model file to write. It must differ from `model`, the path of
  /// the original file.
  std::string output;
};

/// Writes a copy of `options.model` with new elements of `weights` to
/// `options.output`. Adds a data file, such as m.onnx.data, if the original has
/// one or the copy would reach 2 GiB. Exit codes: 3 if the original cannot be
/// read, 6 if `weights` do not fit, 7 if a file cannot be written.
Status writeModelWithWeights(const ModelWithWeightsOptions &options,
                             const std::vector<ReplacedWeight> &weights);

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_MODELWITHWEIGHTS_H
