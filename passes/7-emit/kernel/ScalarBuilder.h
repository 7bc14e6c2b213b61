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

/// Returns the type in which arithmetic on `element` is done: f32 for bf16 and
/// f16, signless integers for integers.
mlir::Type computeType(mlir::Type element);
/// Returns the type that elements of type `element` have in memory: i16 for
/// bf16, i8 for booleans, otherwise `element` itself, signless.
mlir::Type storageType(mlir::Type element);

/// Emits scalar arithmetic at the insertion point of `builder`. Operands and
/// results have compute types (f32 for bf16 and f16). Both operands of a method
/// have one type, unless its comment says otherwise.
struct ScalarBuilder {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  /// Emits a constant of the float type `type`.
  mlir::Value number(mlir::Type type, double value);
  /// Emits a constant of the integer type `type`: the low bits of `value`.
  mlir::Value integer(mlir::Type type, int64_t value);
  /// Emits the constant 0 of `type`, a float or integer type.
  mlir::Value zero(mlir::Type type);
  /// Emits a constant of type i1.
  mlir::Value boolean(bool value);

  /// Emits a + b of floats or integers, according to the type of `a`. sub(),
  /// mul() and neg() do the same for their ops.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value neg(mlir::Value a);
  /// Emits the quotient a / b of two floats.
  mlir::Value divide(mlir::Value a, mlir::Value b);
  /// Emits the larger of two floats or integers. If a float is NaN, the result
  /// is NaN. Compares integers as unsigned numbers if `isUnsigned` is true.
  mlir::Value larger(mlir::Value a, mlir::Value b, bool isUnsigned);
  /// Emits the smaller of two floats or integers. If a float is NaN, the result
  /// is NaN. Compares integers as unsigned numbers if `isUnsigned` is true.
  mlir::Value smaller(mlir::Value a, mlir::Value b, bool isUnsigned);
  /// Emits sum + element, one step of a long sum. LLVM may reassociate the
  /// steps.
  mlir::Value accumulate(mlir::Value sum, mlir::Value element);
  /// Emits product · element, one step of a long product. LLVM may reassociate
  /// the steps.
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

  /// Emits the conversion of `value` from element type `from` to `to`. `value`
  /// and the result have the compute types of `from` and `to` (f32 for bf16 and
  /// f16). Special cases:
  ///
  ///   to a narrow float   rounds to the precision of `to`
  ///   float to integer    truncates to an i64 (NaN becomes 0); a narrower `to`
  ///                       takes the low bits of this i64
  ///   to boolean          every value but 0 becomes true
  mlir::Value convert(mlir::Value value, mlir::Type from, mlir::Type to);
  /// Emits the conversion of `stored`, an element of type `element`, from its
  /// type in memory to its compute type. Example: the i16 bits of a bf16 become
  /// an f32.
  mlir::Value fromStorage(mlir::Value stored, mlir::Type element);
  /// Emits the conversion of `value`, an element of type `element`, from its
  /// compute type to its type in memory. Example: the f32 value of a bf16
  /// becomes an i16.
  mlir::Value toStorage(mlir::Value value, mlir::Type element);

  /// Emits `value` rounded to the precision of `element`, as by a store and a
  /// load. The result still has the compute type (f32 for bf16 and f16).
  mlir::Value rounded(mlir::Value value, mlir::Type element);

  /// Emits a call of a libm function, declared in the module if necessary.
  /// `name` is the f64 function, such as "exp"; f32 operands call "expf". All
  /// operands and the result have one type.
  mlir::Value libm(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands);
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_SCALARBUILDER_H
