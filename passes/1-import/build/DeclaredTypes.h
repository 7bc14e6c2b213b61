//===- DeclaredTypes.h - types that an ONNX graph declares of values ------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_DECLAREDTYPES_H
#define PCC_PASSES_1_IMPORT_BUILD_DECLAREDTYPES_H

#include "passes/1-import/build/ValueTable.h"
#include "status/Status.h"

namespace pcc::onnx_import {

/// Compares the types that `graph` declares of its outputs and inner values
/// with those of the imported values in `values`. Values that were not imported
/// are skipped, and so are dims without a declared size. Returns an error of
/// code CannotRead for another element type, and of code UnboundDim for another
/// rank or size. It names the value and its node.
Status checkDeclaredTypes(const onnx::Graph &graph, const ValueTable &values);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_DECLAREDTYPES_H
