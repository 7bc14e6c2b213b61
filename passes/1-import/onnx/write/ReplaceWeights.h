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

/// New elements for an initializer (a constant tensor of the model).
/// replaceWeights stores them in the model file that it writes.
struct EmbeddedElements {
  /// Number of bytes that all elements of the initializer take in the new file.
  /// The file has these bytes in the field raw_data of the TensorProto. This
  /// field contains the elements one after the other, without gaps, and each
  /// element has its lowest byte first.
  uint64_t size = 0;
  /// Writes the new elements to the stream: exactly `size` bytes. This function
  /// is called when the model file is being written, not earlier. The function
  /// can therefore read the elements from another file at that moment. The
  /// elements of only one initializer are then in memory at a time.
  std::function<void(std::ostream &)> write;
};

/// New elements of an initializer, for the case that they are in another file
/// (external data) and not in the model file.
struct ExternalElements {
  /// Path of the file with the elements, relative to the model's directory.
  std::string location;
  /// Bytes of the elements in the file `location`: the offset of their first
  /// byte, and the number of bytes.
  uint64_t offset = 0;
  uint64_t length = 0;
};

/// New elements for initializers of the main graph, by the initializer's name.
using ReplacedWeights =
    std::map<std::string, std::variant<EmbeddedElements, ExternalElements>,
             std::less<>>;

/// Returns a copy of the file from which `model` was read, with the new
/// elements in `weights`. The mapped file, and all objects that
/// EmbeddedElements::write uses, must stay alive until the result is written.
/// Changes to the members of `model` have no effect.
MessageBuilder replaceWeights(const Model &model,
                              const ReplacedWeights &weights);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_WRITE_REPLACEWEIGHTS_H
