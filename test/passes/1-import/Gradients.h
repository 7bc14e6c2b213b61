//===- Gradients.h - gradients of an imported module ----------------------===//

#ifndef PCC_TEST_PASSES_1_IMPORT_GRADIENTS_H
#define PCC_TEST_PASSES_1_IMPORT_GRADIENTS_H

#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <string>
#include <vector>

/// Tensors by argument number, 8 bytes per element, as Evaluate.h has them.
using ArgumentBytes = std::vector<std::string>;

/// What there is to say about the gradients of @main, a line each:
///   `x 3e-10`      the gradient by input x differs by so much from central
///                  differences in f64, relative to max(1, both)
///   `x flat 3e-10` nothing flows to it, which is so far from differences
///   `refused: …`   an op has no gradient
/// No line if no result, or no argument, has floats, if weights are read from
/// files, or if a result is NaN. The loss is a weighted sum
/// of all results of floats; arguments are moved a little off what is given,
/// away from edges on whole numbers. The module is changed.
std::string describeGradients(mlir::ModuleOp module,
                              const ArgumentBytes &arguments);

#endif // PCC_TEST_PASSES_1_IMPORT_GRADIENTS_H
