//===- DeclaredTypes.h - types that an ONNX graph declares of values ------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_DECLAREDTYPES_H
#define PCC_PASSES_1_IMPORT_BUILD_DECLAREDTYPES_H

#include "passes/1-import/build/ValueTable.h"
#include "status/Status.h"

namespace pcc::onnx_import {

/// Checks that each imported output and value_info of `graph` has the type that
/// `graph` declares. A dim without a declared size may have any size. Exit
/// codes: CannotRead for a wrong element type, UnboundDim for a wrong shape.
Status checkDeclaredTypes(const onnx::Graph &graph, const ValueTable &values);

/// Returns the element type of the ONNX value `name`, such as Float. `values`
/// is the table of all imported ONNX values. Returns Undefined if the table has
/// no value with this name, or if the value is a sequence of tensors.
onnx::DataType elementTypeOf(llvm::StringRef name, const ValueTable &values);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_DECLAREDTYPES_H
