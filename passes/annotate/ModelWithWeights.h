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

/// Writes a copy of an ONNX model in which some weights have new elements. All
/// other parts of the model stay unchanged. `options.model` is the path of the
/// original model. `options.output` is the path of the copy. `weights` lists
/// the weights that get new elements.
///
/// The copy is usually one file. The copy has two files, a model file and a
/// data file, in two cases:
///  - The original model has a weight in a separate file. (ONNX calls the
///    content of such a file "external data".)
///  - A single file would have 2 GiB or more.
///
/// The path of the data file is the path of the model file with ".data" at the
/// end, for example m.onnx.data for m.onnx. The data file holds these weights:
///  - each weight of at least 1 KiB;
///  - each weight that the original model has in a separate file.
///
/// If the function fails, it leaves no incomplete file. Errors:
///  - exit code 3: the original model, or a separate file with its weights,
///    cannot be read;
///  - exit code 6: the original model has no weight with the name of an entry
///    of `weights`, or the element type or the shape of the weight differs from
///    the entry;
///  - exit code 6: the original model has a node with a constant tensor whose
///    elements lie in a separate file;
///  - exit code 7: a file cannot be written, or the system denies access to a
///    file;
///  - any other error: a function ReplacedWeight::change has returned this
///    error. (Each entry of `weights` has such a function. It computes the new
///    elements.)
Status writeModelWithWeights(const ModelWithWeightsOptions &options,
                             const std::vector<ReplacedWeight> &weights);

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_MODELWITHWEIGHTS_H
