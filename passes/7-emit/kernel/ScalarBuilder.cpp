//===- ScalarBuilder.cpp - scalar arithmetic on the elements of tensors ---===//

#include "passes/7-emit/kernel/ScalarBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include <limits>

using namespace mlir;
using namespace pcc::emit;

/// Fast-math flags of long sums and products: LLVM may change the order of
/// their operations. No other operation has fast-math flags. The flag
/// `contract` (fused multiply-add) could give different bits in two kernels
/// that compute the same value.
static constexpr auto anyOrder = arith::FastMathFlags::reassoc;

static bool isFloat(Value value) { return isa<FloatType>(value.getType()); }
/// Returns whether `element` is bf16 or f16, for which arithmetic is done in
/// f32.
static bool isNarrow(Type element) {
  return element.isBF16() || element.isF16();
}

Type pcc::emit::computeType(Type element) {
  if (isNarrow(element))
    return Float32Type::get(element.getContext());
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  return element;
}

Type pcc::emit::storageType(Type element) {
  // Store the bits of a bf16 as an i16, since some CPUs have no bf16 registers.
  if (element.isBF16())
    return IntegerType::get(element.getContext(), 16);
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  return element.isF16() ? element : computeType(element);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value ScalarBuilder::number(Type type, double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}
Value ScalarBuilder::integer(Type type, int64_t value) {
  auto attr = IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), value,
                                           /*isSigned=*/true,
                                           /*implicitTrunc=*/true));
  return arith::ConstantOp::create(builder, loc, attr);
}
Value ScalarBuilder::zero(Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}
Value ScalarBuilder::boolean(bool value) {
  return integer(builder.getI1Type(), value);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value ScalarBuilder::add(Value a, Value b) {
  return isFloat(a) ? arith::AddFOp::create(builder, loc, a, b).getResult()
                    : arith::AddIOp::create(builder, loc, a, b).getResult();
}
Value ScalarBuilder::sub(Value a, Value b) {
  return isFloat(a) ? arith::SubFOp::create(builder, loc, a, b)
                    : arith::SubIOp::create(builder, loc, a, b).getResult();
}
Value ScalarBuilder::mul(Value a, Value b) {
  return isFloat(a) ? arith::MulFOp::create(builder, loc, a, b)
                    : arith::MulIOp::create(builder, loc, a, b).getResult();
}
Value ScalarBuilder::neg(Value a) {
  return isFloat(a) ? arith::NegFOp::create(builder, loc, a).getResult()
                    : sub(zero(a.getType()), a);
}
Value ScalarBuilder::divide(Value a, Value b) {
  return arith::DivFOp::create(builder, loc, a, b);
}
Value ScalarBuilder::larger(Value a, Value b, bool isUnsigned) {
  if (isFloat(a))
    return arith::MaximumFOp::create(builder, loc, a, b);
  return isUnsigned ? arith::MaxUIOp::create(builder, loc, a, b).getResult()
                    : arith::MaxSIOp::create(builder, loc, a, b).getResult();
}
Value ScalarBuilder::smaller(Value a, Value b, bool isUnsigned) {
  if (isFloat(a))
    return arith::MinimumFOp::create(builder, loc, a, b);
  return isUnsigned ? arith::MinUIOp::create(builder, loc, a, b).getResult()
                    : arith::MinSIOp::create(builder, loc, a, b).getResult();
}
Value ScalarBuilder::accumulate(Value sum, Value element) {
  return isFloat(sum)
             ? arith::AddFOp::create(builder, loc, sum, element, anyOrder)
             : add(sum, element);
}
Value ScalarBuilder::accumulateProduct(Value product, Value element) {
  return isFloat(product)
             ? arith::MulFOp::create(builder, loc, product, element, anyOrder)
             : mul(product, element);
}

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

Value ScalarBuilder::both(Value a, Value b) {
  return arith::AndIOp::create(builder, loc, a, b);
}
Value ScalarBuilder::either(Value a, Value b) {
  return arith::OrIOp::create(builder, loc, a, b);
}
Value ScalarBuilder::exclusive(Value a, Value b) {
  return arith::XOrIOp::create(builder, loc, a, b);
}
Value ScalarBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}
Value ScalarBuilder::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, predicate, a, b);
}
Value ScalarBuilder::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, predicate, a, b);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Value ScalarBuilder::fromStorage(Value stored, Type element) {
  if (element.isInteger(1))
    return compare(arith::CmpIPredicate::ne, stored, zero(stored.getType()));
  if (!isNarrow(element))
    return stored;
  Value narrow = stored;
  if (element.isBF16())
    narrow = arith::BitcastOp::create(builder, loc, element, stored);
  return arith::ExtFOp::create(builder, loc, computeType(element), narrow);
}

/// Returns the loaded element from which fromStorage() has computed the f32
/// `value`: an i16 (the bits of a bf16) or an f16. Returns null if `value` is
/// not the result of fromStorage(). A kernel can thus store a loaded element
/// unchanged, without rounding. `element` is the element type, bf16 or f16.
static Value storedAs(Value value, Type element) {
  auto wide = value.getDefiningOp<arith::ExtFOp>();
  if (!wide || wide.getIn().getType() != element)
    return {};
  auto bits = wide.getIn().getDefiningOp<arith::BitcastOp>();
  return bits && element.isBF16() ? bits.getIn() : wide.getIn();
}

Value ScalarBuilder::toStorage(Value value, Type element) {
  if (element.isInteger(1))
    return arith::ExtUIOp::create(builder, loc, builder.getI8Type(), value);
  if (!isNarrow(element))
    return value;
  if (Value stored = storedAs(value, element))
    return stored;
  Value narrow = arith::TruncFOp::create(builder, loc, element, value);
  return element.isBF16() ? arith::BitcastOp::create(
                                builder, loc, storageType(element), narrow)
                                .getResult()
                          : narrow;
}

Value ScalarBuilder::rounded(Value value, Type element) {
  return isNarrow(element) ? fromStorage(toStorage(value, element), element)
                           : value;
}

/// Emits the conversion of a float to the integer type `to`. First drops the
/// fraction, which gives an i64. A float outside of the range of i64 becomes
/// the smallest or largest i64, and NaN becomes 0. If `to` has fewer bits, the
/// result has the low bits of the i64: 300.5 becomes the i8 44.
static Value truncateFloat(ScalarBuilder &s, Value value, Type to) {
  using P = arith::CmpFPredicate;
  constexpr double limit = 9223372036854775808.0;
  Type type = value.getType(), i64 = s.builder.getI64Type();
  Value high = s.compare(P::OGE, value, s.number(type, limit));
  Value low = s.compare(P::OGT, s.number(type, -limit), value);
  Value isNan = s.compare(P::UNO, value, value);
  Value outside = s.either(s.either(high, low), isNan);
  Value safe = s.select(outside, s.zero(type), value);
  Value whole = arith::FPToSIOp::create(s.builder, s.loc, i64, safe);
  using Limits = std::numeric_limits<int64_t>;
  whole = s.select(high, s.integer(i64, Limits::max()), whole);
  whole = s.select(low, s.integer(i64, Limits::min()), whole);
  Type target = computeType(to);
  return target == i64
             ? whole
             : arith::TruncIOp::create(s.builder, s.loc, target, whole)
                   .getResult();
}

/// Emits the conversion of the float `value` to the float type `to`. If `to` is
/// f32 or f64, the result has the type `to`. If `to` is bf16 or f16, the result
/// is an f32, since arithmetic on bf16 and f16 is done in f32. This f32 is
/// rounded to a number that `to` can represent. Example: if `to` is bf16, 1.001
/// becomes the f32 1.0, since no bf16 lies between 1 and 1.0078125.
static Value convertFloat(ScalarBuilder &s, Value value, Type to) {
  Type from = value.getType(), target = computeType(to);
  if (target.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth())
    value = arith::ExtFOp::create(s.builder, s.loc, target, value);
  else if (target != from)
    value = arith::TruncFOp::create(s.builder, s.loc, target, value);
  return s.rounded(value, to);
}

/// Emits the conversion of an integer to the integer or float type `to`. If
/// `isUnsigned` is true, the integer is unsigned.
static Value convertInteger(ScalarBuilder &s, Value value, bool isUnsigned,
                            Type to) {
  Type target = computeType(to);
  unsigned from = value.getType().getIntOrFloatBitWidth();
  if (isa<FloatType>(target)) {
    Value number =
        isUnsigned ? arith::UIToFPOp::create(s.builder, s.loc, target, value)
                         .getResult()
                   : arith::SIToFPOp::create(s.builder, s.loc, target, value)
                         .getResult();
    return convertFloat(s, number, to);
  }
  unsigned width = target.getIntOrFloatBitWidth();
  if (width == from)
    return value;
  if (width < from)
    return arith::TruncIOp::create(s.builder, s.loc, target, value);
  return isUnsigned ? arith::ExtUIOp::create(s.builder, s.loc, target, value)
                          .getResult()
                    : arith::ExtSIOp::create(s.builder, s.loc, target, value)
                          .getResult();
}

Value ScalarBuilder::convert(Value value, Type from, Type to) {
  if (from == to)
    return value;
  if (to.isInteger(1))
    return isFloat(value) ? compare(arith::CmpFPredicate::UNE, value,
                                    zero(value.getType()))
                          : compare(arith::CmpIPredicate::ne, value,
                                    zero(value.getType()));
  if (!isFloat(value))
    return convertInteger(*this, value,
                          from.isUnsignedInteger() || from.isInteger(1), to);
  return isa<FloatType>(to) ? convertFloat(*this, value, to)
                            : truncateFloat(*this, value, to);
}

//===----------------------------------------------------------------------===//
// libm
//===----------------------------------------------------------------------===//

Value ScalarBuilder::libm(StringRef name, ArrayRef<Value> operands) {
  Type type = operands[0].getType();
  std::string symbol = (name + (type.isF32() ? "f" : "")).str();
  auto module =
      builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol);
  if (!function) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    SmallVector<Type> types(operands.size(), type);
    function = LLVM::LLVMFuncOp::create(
        builder, loc, symbol, LLVM::LLVMFunctionType::get(type, types));
  }
  return LLVM::CallOp::create(builder, loc, function, operands).getResult();
}
