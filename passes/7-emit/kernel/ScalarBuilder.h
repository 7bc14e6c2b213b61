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

/// Returns the type in which arithmetic on elements of type `element` is done:
/// f32 for bf16 and f16, a signless integer for an integer of any signedness,
/// and otherwise `element`.
mlir::Type computeType(mlir::Type element);
/// Returns the type that elements of type `element` have in memory: i16 (the
/// bits) for bf16, f16 for f16, i8 for a boolean, and otherwise
/// computeType(element).
mlir::Type storageType(mlir::Type element);

/// Builder that emits arithmetic on scalars, at the insertion point of
/// `builder`. The scalars are elements of tensors. bf16 and f16 elements are
/// converted to f32 before arithmetic, so that the methods for arithmetic take
/// and return f32. If a method takes two numbers `a` and `b`, both have the
/// same type.
struct ScalarBuilder {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  /// Emits a constant of the float type `type`.
  mlir::Value number(mlir::Type type, double value);
  /// Emits a constant of the integer type `type`. If `value` does not fit into
  /// `type`, the constant has the low bits of `value`. Example: if `type` is i8
  /// and `value` is 300, the constant is 300 − 256 = 44.
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

  /// Emits the bitwise AND of two integers.
  mlir::Value both(mlir::Value a, mlir::Value b);
  /// Emits the bitwise OR of two integers.
  mlir::Value either(mlir::Value a, mlir::Value b);
  /// Emits the bitwise XOR (exclusive or) of two integers.
  mlir::Value exclusive(mlir::Value a, mlir::Value b);
  /// Emits `a` if the i1 `condition` is true, else `b`.
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// Emits the comparison of two floats, an i1.
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a,
                      mlir::Value b);
  /// Emits the comparison of two integers, an i1.
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b);

  /// Emits the conversion of an element between element types. bf16 and f16
  /// elements are f32 values, rounded to their own precision. A boolean is true
  /// for all values except 0. A float loses its fraction: 2.7 becomes 2 and
  /// -2.7 becomes -2. Floats beyond i64 become the largest or smallest i64, and
  /// NaN becomes 0. A narrower integer takes the low bits.
  mlir::Value convert(mlir::Value value, mlir::Type from, mlir::Type to);
  /// Emits the conversion of `stored`, a value from memory, from
  /// storageType(element) to computeType(element).
  mlir::Value fromStorage(mlir::Value stored, mlir::Type element);
  /// Emits the conversion of `value` from computeType(element) to
  /// storageType(element), the type in memory.
  mlir::Value toStorage(mlir::Value value, mlir::Type element);

  /// Emits `value` rounded to the precision of the type `element`. The result
  /// has the type of `value`. If `element` is bf16 or f16, `value` is an f32.
  /// Example: if `element` is bf16, the f32 1.001 becomes the f32 1.0, since no
  /// bf16 lies between 1 and 1.0078125. If `element` is any other type, the
  /// result is `value`.
  mlir::Value rounded(mlir::Value value, mlir::Type element);

  /// Emits a call of a function of libm, and its declaration if the module has
  /// none. `name` is the name for f64, such as "exp". With f32 operands, calls
  /// the f32 function, such as expf(). Operands and result have the same type,
  /// f32 or f64.
  mlir::Value libm(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands);
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_SCALARBUILDER_H
