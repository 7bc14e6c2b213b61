//===- Evaluate.h - runs an imported module on the host -------------------===//

#ifndef PCC_TEST_PASSES_1_IMPORT_EVALUATE_H
#define PCC_TEST_PASSES_1_IMPORT_EVALUATE_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

/// Evaluates @main op by op, in the types of the model. Reads argument i from
/// `directory`/in<i>.bin; writes result i to out<i>.bin and its type to
/// out<i>.txt. Elements take 8 bytes each: doubles, or 64-bit integers for
/// integers and booleans. Returns an error or an empty string, and in
/// `arguments` the bytes that were read.
std::string evaluateModule(mlir::ModuleOp module, const std::string &directory,
                           std::vector<std::string> &arguments);

#endif // PCC_TEST_PASSES_1_IMPORT_EVALUATE_H
