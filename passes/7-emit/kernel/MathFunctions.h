//===- MathFunctions.h - transcendental functions of one element ----------===//
//
// In f32 they are polynomials that loops can be vectorised with, within a few
// units in the last place; in f64 and where models hardly use them, libm's.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_MATHFUNCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_MATHFUNCTIONS_H

#include "passes/7-emit/kernel/ScalarBuilder.h"

namespace pcc::emit {

mlir::Value exponential(ScalarBuilder &s, mlir::Value x);
mlir::Value logarithm(ScalarBuilder &s, mlir::Value x);
mlir::Value squareRoot(ScalarBuilder &s, mlir::Value x);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_MATHFUNCTIONS_H
