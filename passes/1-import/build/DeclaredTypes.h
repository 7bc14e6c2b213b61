//===- DeclaredTypes.h - types that an ONNX graph declares of values ------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_DECLAREDTYPES_H
#define PCC_PASSES_1_IMPORT_BUILD_DECLAREDTYPES_H

#include "passes/1-import/build/ValueTable.h"
#include "status/Status.h"

namespace pcc::onnx_import {

/// Compares two types for each output and each value_info of `graph`. One type
/// is the tensor type that `graph` declares. The other type is the type of the
/// imported tensor with the same name in `values`, the table of all imported
/// ONNX values. The function skips a name that is not in the table, and a
/// declared type that is not a tensor. A dim without a declared size matches
/// any size. The function returns an error with one of these exit codes:
///
///   CannotRead   The two types have different element types.
///   UnboundDim   The two types have different numbers of dims, or a dim has
///                different sizes.
Status checkDeclaredTypes(const onnx::Graph &graph, const ValueTable &values);

/// Returns the element type of the ONNX value `name`, such as Float. `values`
/// is the table of all imported ONNX values. Returns Undefined if the table has
/// no value with this name, or if the value is a sequence of tensors.
onnx::DataType elementTypeOf(llvm::StringRef name, const ValueTable &values);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_DECLAREDTYPES_H
