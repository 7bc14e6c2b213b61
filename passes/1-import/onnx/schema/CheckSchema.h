//===- CheckSchema.h - checks a node against the definition of its op -----===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_SCHEMA_CHECKSCHEMA_H
#define PCC_PASSES_1_IMPORT_ONNX_SCHEMA_CHECKSCHEMA_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

#include <functional>

namespace pcc::onnx {

/// Checks `node` against ONNX's definition of the op. The check fails if `node`
/// has an attribute that the definition does not have. The check also fails if
/// `node` has more operands or more results than the definition allows. The
/// function does not check an op that ONNX does not define. The definitions are
/// in a table that is part of pcc. If the check fails, the function returns an
/// error with one of these exit codes:
///
///   3   The node does not agree with its definition.
///   4   The node's opset version is newer than all versions in the table. The
///       table may lack the newest definition of the op.
Status checkForm(const Node &node);

/// Returns the element type of the value `name`; Undefined if it is unknown or
/// if the value is no tensor.
using ElementTypeOf = std::function<DataType(std::string_view name)>;

/// Checks the element types of the operands of `node` against ONNX's definition
/// of the op: each operand has an allowed type, and operands that share a type
/// variable have the same type. All float types of up to 64 bits are allowed
/// where ONNX allows any of float16, float and double. Ops that ONNX does not
/// define, and opsets that are newer than pcc's table of definitions, are not
/// checked. Returns an error with exit code 3 if the check fails.
Status checkOperandTypes(const Node &node, const ElementTypeOf &typeOf);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_SCHEMA_CHECKSCHEMA_H
