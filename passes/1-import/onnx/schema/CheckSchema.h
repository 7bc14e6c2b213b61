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
/// of the op. `typeOf` returns the element type of an operand from its name.
/// The definition must allow the type of each operand. If it allows float16,
/// float or double, then bfloat16, float16, float and double are all allowed.
/// Operands with the same type variable, such as T, must have the same type.
/// This does not apply to a list of operands of any types, as in Loop. Returns
/// an error with exit code 3 if a check fails. Returns success if ONNX does not
/// define the op, or if the node's opset version is newer than all versions in
/// pcc's table.
Status checkOperandTypes(const Node &node, const ElementTypeOf &typeOf);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_SCHEMA_CHECKSCHEMA_H
