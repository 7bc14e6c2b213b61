//===- ScalarBuilder.h - arithmetic on one element ------------------------===//
//
// Elements are computed in their own type, except that bf16 and f16 are
// computed in f32 and rounded behind each op, and booleans are i1. In memory a
// boolean is a byte. Nothing traps, and the conventions of
// dialects/graph/reference/Arithmetic.h hold.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_SCALARBUILDER_H
#define PCC_PASSES_7_EMIT_KERNEL_SCALARBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace pcc::emit {

/// The type that elements of `element` are computed in.
mlir::Type computeType(mlir::Type element);
/// The type that elements of `element` have in memory.
mlir::Type storageType(mlir::Type element);

/// Writes scalar arithmetic at its builder's place.
struct ScalarBuilder {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  mlir::Value number(mlir::Type type, double value);
  mlir::Value integer(mlir::Type type, int64_t value);
  mlir::Value zero(mlir::Type type);
  mlir::Value boolean(bool value);

  /// Float or integer by the type of `a`.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value neg(mlir::Value a);
  mlir::Value divide(mlir::Value a, mlir::Value b);
  /// NaN wins.
  mlir::Value larger(mlir::Value a, mlir::Value b, bool isUnsigned);
  mlir::Value smaller(mlir::Value a, mlir::Value b, bool isUnsigned);
  /// A sum whose order of additions is free.
  mlir::Value accumulate(mlir::Value sum, mlir::Value element);
  mlir::Value accumulateProduct(mlir::Value product, mlir::Value element);

  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value either(mlir::Value a, mlir::Value b);
  mlir::Value exclusive(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a,
                      mlir::Value b);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b);

  /// Between the compute types of two element types. Narrow floats are rounded;
  /// floats become integers towards zero, the nearest where they do not fit.
  mlir::Value convert(mlir::Value value, mlir::Type from, mlir::Type to);
  /// From and to the form in memory.
  mlir::Value fromStorage(mlir::Value stored, mlir::Type element);
  mlir::Value toStorage(mlir::Value value, mlir::Type element);

  /// What is left of a value in memory.
  mlir::Value rounded(mlir::Value value, mlir::Type element);

  /// A function of libm: `name` for f64, with an `f` behind for f32.
  mlir::Value libm(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands);
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_SCALARBUILDER_H
