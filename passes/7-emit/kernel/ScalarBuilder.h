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

/// Returns the compute type of `element`, in which arithmetic on elements of
/// that type is done: f32 for bf16 and f16, signless integers for integers.
mlir::Type computeType(mlir::Type element);
/// Returns the storage type of `element`: the type of its elements in memory.
/// It is i16 for bf16, i8 for booleans, and otherwise `element` itself,
/// signless.
mlir::Type storageType(mlir::Type element);

/// Emits scalar arithmetic at the insertion point of `builder`. Operands and
/// results have compute types (f32 for bf16 and f16), and both operands of a
/// method have one type. The comments of methods mention exceptions.
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

  /// Emits a + b. The type of `a` determines whether this is a float op or an
  /// integer op. sub(), mul() and neg() choose the op by the type of `a`, too.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value neg(mlir::Value a);
  /// Emits the quotient a / b of two floats.
  mlir::Value divide(mlir::Value a, mlir::Value b);
  /// Emits the larger of two floats or two integers. If either float is NaN,
  /// the result is NaN. Compares integers as unsigned numbers if `isUnsigned`
  /// is true.
  mlir::Value larger(mlir::Value a, mlir::Value b, bool isUnsigned);
  /// Emits the smaller of two floats or two integers. If either float is NaN,
  /// the result is NaN. Compares integers as unsigned numbers if `isUnsigned`
  /// is true.
  mlir::Value smaller(mlir::Value a, mlir::Value b, bool isUnsigned);
  /// Emits sum + element, one step of a sum over many elements. LLVM may change
  /// the order of the steps (reassociate).
  mlir::Value accumulate(mlir::Value sum, mlir::Value element);
  /// Emits product · element, one step of a product over many elements. LLVM
  /// may change the order of the steps (reassociate).
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

  /// Emits the conversion of `value` from element type `from` to element type
  /// `to`. `value` and the result have the compute types of `from` and `to`.
  /// Special cases:
  ///
  ///   to a narrow float   rounds to the precision of `to`
  ///   float to integer    truncates to an i64 (NaN becomes 0); a narrower `to`
  ///                       takes the low bits of this i64
  ///   to boolean          every value but 0 becomes true
  mlir::Value convert(mlir::Value value, mlir::Type from, mlir::Type to);
  /// Emits the conversion of `stored`, an element of type `element` in its form
  /// in memory, to the compute type. Example: bf16 bits to f32.
  mlir::Value fromStorage(mlir::Value stored, mlir::Type element);
  /// Emits the conversion of `value`, an element of type `element` in its
  /// compute type, to its form in memory. Example: f32 to bf16 bits.
  mlir::Value toStorage(mlir::Value value, mlir::Type element);

  /// Emits the rounding of `value` to the precision of `element`, equal to a
  /// store and a load of an element. The result has the compute type of
  /// `element`.
  mlir::Value rounded(mlir::Value value, mlir::Type element);

  /// Emits a call of a function of libm. `name` is the name of the f64
  /// function, such as "exp". For f32 operands, calls the function with an `f`
  /// appended to the name. All operands and the result have one type. Declares
  /// the function in the module if necessary.
  mlir::Value libm(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands);
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_SCALARBUILDER_H
