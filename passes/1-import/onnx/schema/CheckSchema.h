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
/// of the op. `typeOf` is a function that returns the element type of an
/// operand from its name. There are two rules:
///
/// - An operand must have an element type that the definition allows. If the
///   definition allows float16, float or double, the operand may have any of
///   the types bfloat16, float16, float and double.
/// - If the definition gives two operands the same type variable, such as T,
///   both operands must have the same element type. An op such as Loop has a
///   list of operands of any types. This rule does not apply to such a list.
///
/// Returns an error with exit code 3 if an operand breaks a rule. Returns
/// success without a check if ONNX does not define the op. Also returns success
/// if the opset version of the node is newer than all versions in pcc's table
/// of definitions. The table may then lack the newest definition of the op.
Status checkOperandTypes(const Node &node, const ElementTypeOf &typeOf);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_SCHEMA_CHECKSCHEMA_H
