//===- ScalarBuilder.h - scalar arithmetic on the elements of tensors -----===//
//
// Elements are computed in their own type, with two exceptions. bf16 and f16
// are computed in f32 and rounded after each op. Booleans are computed as i1
// and stored as bytes. Integers of any signedness become signless.
//
// No operation traps. Results follow the conventions of
// dialects/graph/reference/Arithmetic.h.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_SCALARBUILDER_H
#define PCC_PASSES_7_EMIT_KERNEL_SCALARBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace pcc::emit {

/// Returns the type in which elements of type `element` are computed.
mlir::Type computeType(mlir::Type element);
/// Returns the type that elements of type `element` have in memory.
mlir::Type storageType(mlir::Type element);

/// Emits scalar arithmetic at the insertion point of `builder`. Unless a method
/// says otherwise, operands and results have compute types, and the two
/// operands of a method have one type.
struct ScalarBuilder {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  /// Emits a constant of the float type `type`.
  mlir::Value number(mlir::Type type, double value);
  /// Emits a constant of the integer type `type`, truncated to its width.
  mlir::Value integer(mlir::Type type, int64_t value);
  /// Emits the zero of a float or integer type.
  mlir::Value zero(mlir::Type type);
  /// Emits a constant i1.
  mlir::Value boolean(bool value);

  /// Emits the float or integer operation, depending on the type of `a`.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value neg(mlir::Value a);
  /// Emits a / b of floats.
  mlir::Value divide(mlir::Value a, mlir::Value b);
  /// Emits the maximum of two floats or integers. The maximum of a NaN and a
  /// number is NaN. `isUnsigned` says how to compare integers.
  mlir::Value larger(mlir::Value a, mlir::Value b, bool isUnsigned);
  /// Emits the minimum, with the conventions of larger().
  mlir::Value smaller(mlir::Value a, mlir::Value b, bool isUnsigned);
  /// Emits sum + element as one step of a sum that LLVM may reassociate.
  mlir::Value accumulate(mlir::Value sum, mlir::Value element);
  /// Emits product · element as one step of a product that LLVM may
  /// reassociate.
  mlir::Value accumulateProduct(mlir::Value product, mlir::Value element);

  /// Emits the bitwise and of two integers.
  mlir::Value both(mlir::Value a, mlir::Value b);
  /// Emits the bitwise or of two integers.
  mlir::Value either(mlir::Value a, mlir::Value b);
  /// Emits the bitwise exclusive or of two integers.
  mlir::Value exclusive(mlir::Value a, mlir::Value b);
  /// Emits `a` if the i1 `condition` is true, else `b`.
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// Emits the comparison of two floats, an i1.
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a,
                      mlir::Value b);
  /// Emits the comparison of two integers, an i1.
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b);

  /// Converts `value` from the compute type of element type `from` to the
  /// compute type of element type `to`. Results are rounded to narrow floats. A
  /// float is truncated towards zero to the nearest i64 (NaN gives 0), of which
  /// a narrower integer takes the low bits. Any value but 0 becomes the boolean
  /// true.
  mlir::Value convert(mlir::Value value, mlir::Type from, mlir::Type to);
  /// Converts `stored`, an element in its storage type, to its compute type.
  mlir::Value fromStorage(mlir::Value stored, mlir::Type element);
  /// Converts `value`, an element in its compute type, to its storage type.
  mlir::Value toStorage(mlir::Value value, mlir::Type element);

  /// Rounds `value` to the precision of `element`: the value that a store and a
  /// load would give. The result has the compute type.
  mlir::Value rounded(mlir::Value value, mlir::Type element);

  /// Emits a call of a libm function. `name` is the function's name for f64; an
  /// `f` is appended for f32. All operands and the result have one type. The
  /// module gets a declaration of the function if it has none.
  mlir::Value libm(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands);
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_SCALARBUILDER_H
