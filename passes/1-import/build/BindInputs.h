//===- BindInputs.h - sizes for the dynamic dims of inputs ----------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_BINDINPUTS_H
#define PCC_PASSES_1_IMPORT_BUILD_BINDINPUTS_H

#include "passes/1-import/build/ImportError.h"
#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/onnx/model/Model.h"
#include <optional>

namespace pcc::onnx_import {

/// An input of the model with its shape bound.
struct BoundInput {
  const onnx::ValueInfo *info;
  std::vector<int64_t> shape;
  /// The name of each dim in the file, "" if it had none.
  std::vector<std::string> names;
};

/// What is bound: the inputs that are no initializers, and all dims with a
/// name.
struct InputBinding {
  std::vector<BoundInput> inputs;
  std::map<std::string, int64_t> dims;
};

/// Gives every dim of every input of `graph` a size. Mistakes: an option that
/// names no dim or input (2), a dim without a size (5; the message completes
/// the user's command), sizes that contradict (5), an input that is no tensor
/// (4).
std::optional<InputBinding> bindInputs(const onnx::Graph &graph,
                                       const ImportOptions &options,
                                       ImportError &error);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_BINDINPUTS_H
