//===- CheckSchema.h - checks a node against the definition of its op -----===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_SCHEMA_CHECKSCHEMA_H
#define PCC_PASSES_1_IMPORT_ONNX_SCHEMA_CHECKSCHEMA_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

#include <functional>

namespace pcc::onnx {

/// Checks the attributes of `node` and its numbers of operands and results
/// against ONNX's definition of the op. Ops that ONNX does not define are not
/// checked. Exit codes:
///
///   3   the op has no such attribute, or fewer operands or results
///   4   the same, in an opset that is newer than pcc's table of definitions
Status checkForm(const Node &node);

/// Returns the element type of the value `name`; Undefined if it is unknown or
/// if the value is no tensor.
using ElementTypeOf = std::function<DataType(std::string_view name)>;

/// Checks the element types of the operands of `node` against ONNX's definition
/// of the op: each operand has an allowed type, and operands that share a type
/// variable have the same type. Ops that ONNX does not define, and opsets that
/// are newer than pcc's table of definitions, are not checked. Exit code 3 if
/// the check fails.
Status checkOperandTypes(const Node &node, const ElementTypeOf &typeOf);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_SCHEMA_CHECKSCHEMA_H
