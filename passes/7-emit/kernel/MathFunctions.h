//===- MathFunctions.h - transcendental functions of one element ----------===//
//
// Common functions of f32 become ops of the math dialect. LowerKernels expands
// these ops to polynomials with an error of a few units in the last place,
// which let LLVM vectorize the loops; GPUs call libdevice. Functions of f64 and
// rare functions (tan, asin, ...) call libm, on GPUs its libdevice counterpart.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_MATHFUNCTIONS_H
#define PCC_PASSES_7_EMIT_KERNEL_MATHFUNCTIONS_H

#include "passes/7-emit/kernel/ScalarBuilder.h"

namespace pcc::emit {

/// Emits e^x. `x` must be an f32 or f64.
mlir::Value exponential(ScalarBuilder &s, mlir::Value x);
/// Emits the natural logarithm of `x`, an f32 or f64.
mlir::Value logarithm(ScalarBuilder &s, mlir::Value x);
/// Emits the correctly rounded (IEEE) square root of `x`, an f32 or f64.
mlir::Value squareRoot(ScalarBuilder &s, mlir::Value x);
/// Emits the sine of `x`, an f32 or f64.
mlir::Value sine(ScalarBuilder &s, mlir::Value x);
/// Emits the cosine of `x`, an f32 or f64.
mlir::Value cosine(ScalarBuilder &s, mlir::Value x);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_MATHFUNCTIONS_H
