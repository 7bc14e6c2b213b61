//===- OpSchema.h - what ONNX says of each version of each op -------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_SCHEMA_OPSCHEMA_H
#define PCC_PASSES_1_IMPORT_ONNX_SCHEMA_OPSCHEMA_H

#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx {

/// Definition of one version of an ONNX op: a row of the table OpSchemas.inc.
/// Example: AffineGrid of opset 20 has the operands "T1 T2", the results "T1"
/// and the constraints "T1=bfloat16,double,float,float16 T2=int64". T1 and T2
/// are type variables: names for one of several element types.
struct OpSchema {
  std::string_view domain; ///< "" for the standard domain
  std::string_view op;
  int64_t since; ///< first opset version in which the op has this definition
  /// Types of the operands, separated by spaces. A type is an element type such
  /// as int64, a type variable such as T, or "-" for a type that is not a
  /// tensor. A sign can follow the type. "T?" is an optional operand, "T*" is
  /// any number of operands of one type, and "T~" is any number of operands of
  /// any types.
  std::string_view operands;
  std::string_view results;    ///< types of the results, as in `operands`
  std::string_view attributes; ///< names of all attributes
  /// Element types that each type variable may stand for. A type variable is a
  /// name for one of several types, such as T. Example: in the text
  /// "T=double,float Tind=int32,int64", T may be double or float, and Tind may
  /// be int32 or int64. The text has no entry for a type variable that may also
  /// stand for a type that is not a tensor, such as a sequence.
  std::string_view constraints;
};

/// Returns the newest definition of the node's op that is not newer than the
/// node's opset version. Returns null if ONNX does not define the op, such as
/// an op of com.microsoft.
const OpSchema *findSchema(const Node &node);

/// Returns the highest opset version of `domain` that occurs in OpSchemas.inc.
/// This file is pcc's table of the definitions of ONNX ops. Each row of the
/// table has a domain and the opset version that introduced the definition.
/// Example: if the rows of `domain` have the versions 13, 25 and 27, the result
/// is 27. The result is 0 if no row has the domain.
int64_t newestOpset(std::string_view domain);

/// Returns the first entry of `list`, and removes this entry from `list`. The
/// character `separator` stands between two entries. Example: `list` is
/// "axis keepdims" and `separator` is ' '. The first call returns "axis" and
/// leaves "keepdims" in `list`. The second call returns "keepdims" and leaves
/// "" in `list`. If `list` is "", the result is "".
std::string_view nextEntry(std::string_view &list, char separator);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_SCHEMA_OPSCHEMA_H
