//===- CheckSchema.h - checks a node against the definition of its op -----===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_SCHEMA_CHECKSCHEMA_H
#define PCC_PASSES_1_IMPORT_ONNX_SCHEMA_CHECKSCHEMA_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

#include <functional>

namespace pcc::onnx {

/// Checks the attribute names, and the numbers of operands and results, against
/// ONNX's definition of the op of `node`, if any. An error has the exit code
/// CannotRead, or Unsupported if the node's opset version is newer than pcc's
/// table of definitions.
Status checkForm(const Node &node);

/// Returns the element type of the value `name`; Undefined if it is unknown or
/// if the value is no tensor.
using ElementTypeOf = std::function<DataType(std::string_view name)>;

/// Checks the operand types of `node` against ONNX's definition of the op.
/// `typeOf` maps an operand's name to its element type. An op that takes any
/// float type may take bfloat16, float16, float and double. Returns CannotRead
/// for a wrong type, unless the definition is missing or may be outdated.
Status checkOperandTypes(const Node &node, const ElementTypeOf &typeOf);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_SCHEMA_CHECKSCHEMA_H
