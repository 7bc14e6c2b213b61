//===- BindInputs.h - sizes for the dynamic dims of the inputs ------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_BINDINPUTS_H
#define PCC_PASSES_1_IMPORT_BUILD_BINDINPUTS_H

#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/onnx/model/Model.h"
#include "status/StatusOr.h"
#include <optional>

namespace pcc::onnx_import {

/// An input of the model. All its dims have sizes, from the model or the user.
struct BoundInput {
  /// Declaration of the input in the model, never null. The model must outlive
  /// this struct.
  const onnx::ValueInfo *info;
  /// Sizes of the input's dims, in order. All sizes are known: for x[batch, 4]
  /// and --dim batch=8, the shape is [8, 4].
  std::vector<int64_t> shape;
  /// Names that the ONNX model gives to the dims of the input. There is one
  /// entry per dim, in the order of the dims. The entry is "" for a dim without
  /// a name. For x[batch, 4], the names are ["batch", ""].
  std::vector<std::string> names;
};

/// Result of bindInputs: the inputs of a model with their shapes, and the sizes
/// of named dims. Initializers that the graph also lists as inputs are left
/// out.
struct InputBinding {
  /// The inputs, in the order in which the ONNX graph lists them.
  std::vector<BoundInput> inputs;
  /// Size of each named dynamic dim, such as `batch`, by the dim's name.
  std::map<std::string, int64_t> dims;
};

/// Determines the size of every dim of every input of `graph` from the model,
/// --dim and --shape. Exit codes: WrongUsage for an invalid option, Unsupported
/// for an input that is not a tensor, and UnboundDim for a dim without a size
/// or with contradictory sizes.
StatusOr<InputBinding> bindInputs(const onnx::Graph &graph,
                                  const ImportOptions &options);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_BINDINPUTS_H
