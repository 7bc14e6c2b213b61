//===- ReplaceWeights.h - copy of an ONNX file with other weights ---------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_WRITE_REPLACEWEIGHTS_H
#define PCC_PASSES_1_IMPORT_ONNX_WRITE_REPLACEWEIGHTS_H

#include "passes/1-import/onnx/model/MessageBuilder.h"
#include "passes/1-import/onnx/model/Model.h"

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <variant>

namespace pcc::onnx {

/// New elements of a tensor that are stored in the model file.
struct EmbeddedElements {
  /// Size of the elements in bytes, in the layout of raw_data.
  uint64_t size = 0;
  /// Writes exactly `size` bytes. Called while the model file is written, so
  /// that only one weight has to be in memory at a time.
  std::function<void(std::ostream &)> write;
};

/// New elements of a tensor that are stored in another file.
struct ExternalElements {
  /// Path of the file relative to the model's directory.
  std::string location;
  /// First byte and number of bytes in that file.
  uint64_t offset = 0;
  uint64_t length = 0;
};

/// New elements by the name of an initializer of the main graph.
using ReplacedWeights =
    std::map<std::string, std::variant<EmbeddedElements, ExternalElements>,
             std::less<>>;

/// Returns the encoded file of `model` with the elements of the named
/// initializers replaced. All other fields are copied unchanged, and a tensor
/// keeps its type and shape. The copy is made of the file, so changes to
/// `model` after reading have no effect. The caller must keep the file mapped,
/// and all that the functions in `weights` refer to alive, until the result is
/// written.
MessageBuilder replaceWeights(const Model &model,
                              const ReplacedWeights &weights);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_WRITE_REPLACEWEIGHTS_H
