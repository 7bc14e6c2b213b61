//===- Gradients.h - gradients of an imported module ----------------------===//

#ifndef PCC_TEST_PASSES_1_IMPORT_GRADIENTS_H
#define PCC_TEST_PASSES_1_IMPORT_GRADIENTS_H

#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <string>
#include <vector>

/// Tensors by index of the argument, 8 bytes per element, in the form of
/// Evaluate.h.
using ArgumentBytes = std::vector<std::string>;

/// Returns facts about the gradients of @main, one line each:
///   `x 3e-10`      the gradient by input x differs by so much from central
///                  differences in f64, relative to max(1, both)
///   `x flat 3e-10` nothing flows to it, which is so far from differences
///   `refused: …`   an op has no gradient
/// Returns no line if no result or no argument has floats, if weights are read
/// from files, or if a result is NaN. The loss is a weighted sum of all float
/// results. The given arguments are changed slightly, because many ops have
/// edges at whole numbers. Changes the module.
std::string describeGradients(mlir::ModuleOp module,
                              const ArgumentBytes &arguments);

#endif // PCC_TEST_PASSES_1_IMPORT_GRADIENTS_H
