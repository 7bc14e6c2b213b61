//===- DeclaredTypes.h - types that an ONNX graph declares of values ------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_DECLAREDTYPES_H
#define PCC_PASSES_1_IMPORT_BUILD_DECLAREDTYPES_H

#include "passes/1-import/build/ValueTable.h"
#include "status/Status.h"

namespace pcc::onnx_import {

/// Checks that the imported `values` have the types that `graph` declares for
/// them. Values that were not imported are skipped. The exit code of an error
/// is:
///
///   CannotRead    another element type than declared
///   UnboundDim    another rank or dim size than declared
Status checkDeclaredTypes(const onnx::Graph &graph, const ValueTable &values);

/// Returns the element type of the ONNX value `name`. Returns Undefined if
/// `values` does not know the name, or if the value is a sequence.
onnx::DataType elementTypeOf(llvm::StringRef name, const ValueTable &values);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_DECLAREDTYPES_H
