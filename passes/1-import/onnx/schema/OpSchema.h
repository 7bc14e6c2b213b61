//===- OpSchema.h - what ONNX says of each version of each op -------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_SCHEMA_OPSCHEMA_H
#define PCC_PASSES_1_IMPORT_ONNX_SCHEMA_OPSCHEMA_H

#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx {

/// A row of OpSchemas.inc: one version of an ONNX op. Lists are separated by
/// spaces. As an example, the row of Gather-13 has `operands` = "T Tind",
/// `results` = "T", `attributes` = "axis" and `constraints` = "T=float,…
/// Tind=int32,int64".
struct OpSchema {
  std::string_view domain; ///< "" for the standard domain
  std::string_view op;
  int64_t since; ///< first opset version in which the op has this definition
  /// Type of each operand: a type variable, an element type such as "int64", or
  /// "-" for a sequence. A sign may follow:
  ///
  ///   ?   the operand may be absent
  ///   *   any number of operands of one type, at the end of the list
  ///   ~   any number of operands of any types, at the end of the list
  std::string_view operands;
  std::string_view results;    ///< type of each result, in the same form
  std::string_view attributes; ///< names of all attributes
  /// Element types that each type variable may stand for. A variable that may
  /// be a sequence is not in the list.
  std::string_view constraints;
};

/// Returns the newest definition of the node's op that is not newer than the
/// node's opset version. Returns null if ONNX does not define the op, such as
/// an op of com.microsoft.
const OpSchema *findSchema(const Node &node);

/// Returns the newest opset version of `domain` in the table; 0 if the table
/// has no op of the domain.
int64_t newestOpset(std::string_view domain);

/// Returns the next entry of `list`, which is separated by `separator`, and
/// removes it from `list`. Returns "" at the end.
std::string_view nextEntry(std::string_view &list, char separator);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_SCHEMA_OPSCHEMA_H
