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

/// Returns the compute type of `element`. The compute type is the type in which
/// arithmetic on elements of the type `element` is done:
///
///   `element`        result
///   bf16, f16        f32
///   f32, f64         `element`
///   i1 (boolean)     i1
///   other integers   signless integer type with the width of `element`
///
/// Example: the result is i32 for i32, for si32 and for ui32.
mlir::Type computeType(mlir::Type element);
/// Returns the type that elements of the type `element` have in memory:
///
///   `element`        result
///   bf16             i16, which holds the bits of the bf16
///   f16, f32, f64    `element`
///   i1 (boolean)     i8
///   other integers   signless integer type with the width of `element`
///
/// Example: the result is i32 for i32, for si32 and for ui32.
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

  /// Emits the conversion of an element from the element type `from` to the
  /// element type `to`. An element of type bf16 or f16 is an f32 value. If `to`
  /// is bf16 or f16, the result is rounded to the precision of `to`. If `to` is
  /// a boolean, every value except 0 becomes true.
  ///
  /// A float becomes any other integer type in two steps. The float is rounded
  /// towards zero to an i64: the nearest i64 if it is out of range, and 0 for
  /// NaN. A narrower type then takes the low bits: 300.5 becomes the i8 300 −
  /// 256 = 44.
  mlir::Value convert(mlir::Value value, mlir::Type from, mlir::Type to);
  /// Emits the conversion of `stored`, a value from memory, to the type in
  /// which arithmetic is done. `element` is the element type of the tensor:
  ///
  ///   element        type of `stored`              type of the result
  ///   bf16           i16 with the bits of a bf16   f32
  ///   f16            f16                           f32
  ///   i1 (boolean)   i8                            i1
  ///
  /// For all other element types, the result is `stored`.
  mlir::Value fromStorage(mlir::Value stored, mlir::Type element);
  /// Emits the conversion of `value` from the type in which arithmetic is done
  /// to the type of the tensor's elements in memory. `element` is the element
  /// type of the tensor:
  ///
  ///   element        type of `value`   type of the result
  ///   bf16           f32               i16 with the bits of a bf16
  ///   f16            f32               f16
  ///   i1 (boolean)   i1                i8, which is 0 or 1
  ///
  /// For all other element types, the result is `value`.
  mlir::Value toStorage(mlir::Value value, mlir::Type element);

  /// Emits `value` rounded to the precision of the type `element`. The result
  /// has the type of `value`. If `element` is bf16 or f16, `value` is an f32.
  /// Example: if `element` is bf16, the f32 1.001 becomes the f32 1.0, since no
  /// bf16 lies between 1 and 1.0078125. If `element` is any other type, the
  /// result is `value`.
  mlir::Value rounded(mlir::Value value, mlir::Type element);

  /// Emits a call of a function of libm, the C math library. libm has one
  /// function for f64, such as exp(), and one function for f32, such as expf().
  /// `name` is the name of the function for f64, such as "exp". If `operands`
  /// are f32, emits a call of the function for f32. All operands and the result
  /// have the same type, f32 or f64.
  ///
  /// If the MLIR module does not declare the called function, also emits the
  /// declaration.
  mlir::Value libm(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands);
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_SCALARBUILDER_H
