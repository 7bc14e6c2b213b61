//===- ReplaceWeights.h - copies a model with other weights ---------------===//

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

/// Elements that stand in the model file: `size` bytes in the form of raw_data,
/// which `write` writes when the file is written.
struct EmbeddedElements {
  uint64_t size = 0;
  std::function<void(std::ostream &)> write;
};

/// Elements that lie in another file.
struct ExternalElements {
  std::string location;
  uint64_t offset = 0;
  uint64_t length = 0;
};

/// By the names of initializers of the main graph. The map must outlive its
/// use.
using ReplacedWeights =
    std::map<std::string, std::variant<EmbeddedElements, ExternalElements>,
             std::less<>>;

/// The file of `model` with these initializers replaced; all else is copied as
/// it stands.
MessageBuilder replaceWeights(const Model &model,
                              const ReplacedWeights &weights);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_WRITE_REPLACEWEIGHTS_H
