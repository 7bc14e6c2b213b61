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
  /// Function that computes new elements for the weight `name`. The argument is
  /// a buffer that contains the original elements of the weight, row-major and
  /// little-endian. The function writes new elements into the buffer. An
  /// element that the function does not overwrite keeps its original value.
  ///
  /// writeModelWithWeights() calls the function once, or not at all after an
  /// earlier error. If the function returns an error, writeModelWithWeights()
  /// stops and returns this error.
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
/// `options.output`. If the original has weights in a separate file or one file
/// would have 2 GiB or more, also writes a data file, such as m.onnx.data. No
/// incomplete file remains after an error:
///  - exit code 3: the original or a file with its weights cannot be read;
///  - exit code 6: an entry of `weights` differs from the original in name,
///    element type or shape, or a node has a constant in a separate file;
///  - exit code 7: a file cannot be written, or access is denied;
///  - the error of a function ReplacedWeight::change.
Status writeModelWithWeights(const ModelWithWeightsOptions &options,
                             const std::vector<ReplacedWeight> &weights);

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_MODELWITHWEIGHTS_H
