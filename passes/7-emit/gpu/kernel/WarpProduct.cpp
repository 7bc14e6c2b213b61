//===- WarpProduct.cpp - small matrix products on tensor cores ------------===//

#include "passes/7-emit/gpu/kernel/WarpProduct.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/7-emit/gpu/kernel/WarpShuffles.h"

#include <cassert>

using namespace mlir;
using namespace pcc::emit;

using Values = SmallVector<Value>;

WarpProduct::WarpProduct(KernelWriter &w, Type element, const Index &thread)
    : w(w), element(element), lane(w.indices.remainder(thread, lanesOfWarp)),
      g(w.indices.quotient(lane, 4)),
      twoQuads(w.indices.scale(w.indices.remainder(lane, 4), 2)),
      warpNumber(w.indices.quotient(thread, lanesOfWarp)) {}

WarpProduct::Sums WarpProduct::zeros() const {
  return Sums(4, w.scalar().zero(w.builder.getF32Type()));
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

Value WarpProduct::bitsOf(Value value) const {
  Value stored = w.scalar().toStorage(value, element);
  Type i16 = w.builder.getIntegerType(16);
  if (stored.getType() == i16)
    return stored;
  return arith::BitcastOp::create(w.builder, w.loc, i16, stored);
}

WarpProduct::Pair WarpProduct::pairOf(Value first, Value second) const {
  if (isWide())
    return {first, second};
  Type i32 = w.builder.getI32Type();
  auto widen = [&](Value half) -> Value {
    return arith::ExtUIOp::create(w.builder, w.loc, i32, bitsOf(half));
  };
  ScalarBuilder s = w.scalar();
  Value low = widen(first);
  Value high = arith::ShLIOp::create(w.builder, w.loc, widen(second),
                                     s.integer(i32, 16));
  return {s.either(low, high)};
}

WarpProduct::Left WarpProduct::leftOf(ArrayRef<Value> sums) const {
  return {pairOf(sums[0], sums[1]), pairOf(sums[2], sums[3])};
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// One ldmatrix instruction loads up to four squares of 8 x 8 elements. The
/// instruction needs the address of each row of each square. Thread i supplies
/// the address of row i % 8 of square i / 8. Example: thread 11 supplies the
/// address of row 3 of square 1. Less than four squares have less than 32 rows.
/// The remaining threads then repeat the addresses of the first threads.
std::vector<WarpProduct::Pair>
WarpProduct::loadSquares(const SharedMatrix &matrix, int64_t start,
                         int64_t step, int64_t count, bool isTransposed) const {
  const Index own = w.indices.remainder(lane, 8 * count);
  const Index place = w.indices.add(
      IndexSpace::constant(start),
      w.indices.add(w.indices.scale(w.indices.remainder(own, 8), matrix.pitch),
                    w.indices.scale(w.indices.quotient(own, 8), step)));
  Value pointer = LLVM::GEPOp::create(w.builder, w.loc, matrix.memory.getType(),
                                      storageType(element), matrix.memory,
                                      ValueRange{w.materialise(place)},
                                      LLVM::GEPNoWrapFlags::inbounds);
  MLIRContext *context = w.builder.getContext();
  Type i32 = w.builder.getI32Type(), result = i32;
  if (count > 1)
    result = LLVM::LLVMStructType::getLiteral(
        context, SmallVector<Type>(size_t(count), i32));
  Value words = NVVM::LdMatrixOp::create(
      w.builder, w.loc, result, pointer, uint32_t(count),
      isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
      NVVM::LdStMatrixEltType::B16);
  if (count == 1)
    return {{words}};
  std::vector<Pair> pairs;
  for (int64_t square = 0; square < count; ++square)
    pairs.push_back(
        {LLVM::ExtractValueOp::create(w.builder, w.loc, words, square)});
  return pairs;
}

std::vector<WarpProduct::Pair>
WarpProduct::rightFromRows(const SharedMatrix &matrix, int64_t row,
                           int64_t count) const {
  return load(matrix, {row * matrix.pitch, 1, matrix.pitch}, count);
}

std::vector<WarpProduct::Pair>
WarpProduct::rightFromColumns(const SharedMatrix &matrix, int64_t column,
                              int64_t row, int64_t count) const {
  return load(matrix, {column + row * matrix.pitch, matrix.pitch, 1}, count);
}

std::vector<WarpProduct::Pair> WarpProduct::load(const SharedMatrix &matrix,
                                                 const Steps &steps,
                                                 int64_t count) const {
  std::vector<Pair> right;
  for (int64_t at = 0; at < count;) {
    const int64_t start = steps.start + at * steps.inside;
    if (isWide()) {
      right.push_back(loadPair(matrix, steps, start));
      at += depth;
      continue;
    }
    const int64_t left = (count - at) / depth, squares = left >= 4   ? 4
                                                         : left >= 2 ? 2
                                                                     : 1;
    llvm::append_range(right, loadSquares(matrix, start, depth * steps.inside,
                                          squares, steps.inside > 1));
    at += depth * squares;
  }
  return right;
}

WarpProduct::Pair WarpProduct::loadPair(const SharedMatrix &matrix,
                                        const Steps &steps,
                                        int64_t start) const {
  const Index first =
      w.indices.add(w.indices.add(IndexSpace::constant(start),
                                  w.indices.scale(twoQuads, steps.inside)),
                    w.indices.scale(g, steps.across));
  const Index second = w.indices.add(first, IndexSpace::constant(steps.inside));
  Value low = w.load(matrix.memory, element, first);
  return {low, w.load(matrix.memory, element, second)};
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

WarpProduct::Sums WarpProduct::multiply(ArrayRef<Value> sums,
                                        ArrayRef<Value> left,
                                        ArrayRef<Value> right) const {
  const auto type = isWide()           ? NVVM::MMATypes::tf32
                    : element.isBF16() ? NVVM::MMATypes::bf16
                                       : NVVM::MMATypes::f16;
  Type f32 = w.builder.getF32Type();
  auto all = LLVM::LLVMStructType::getLiteral(w.builder.getContext(),
                                              SmallVector<Type>(4, f32));
  // Returns `words` with the types that NVVM::MmaOp expects for the elements of
  // its two operand matrices. Each of the words is an i32. For f32 matrices, a
  // word holds one tf32. For bf16 and f16 matrices, a word holds two elements.
  // The op expects an i32 for tf32 and bf16. For f16, the op expects a vector
  // of two f16, so each word is cast to such a vector.
  auto registers = [&](ArrayRef<Value> words) {
    Values given(words);
    if (element.isF16())
      for (Value &word : given)
        word = LLVM::BitcastOp::create(w.builder, w.loc,
                                       VectorType::get({2}, element), word);
    return given;
  };
  const int64_t k = int64_t(right.size()) * (isWide() ? 4 : 8);
  Value product = NVVM::MmaOp::create(
      w.builder, w.loc, all, registers(left), registers(right), sums,
      {rows, columns, k}, std::nullopt, std::nullopt, std::array{type, type},
      std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  Sums results;
  for (int64_t place = 0; place < 4; ++place)
    results.push_back(
        LLVM::ExtractValueOp::create(w.builder, w.loc, product, place));
  return results;
}

/// Emits the rounding of `value`, an f32, toward zero to a tf32. A tf32 is an
/// f32 in which only the upper 11 bits of the significand are used. An f32
/// stores 10 of these bits, because the first bit is implicit. The emitted code
/// sets the lower 13 bits of the f32 to 0. Returns the 32 bits of the tf32 as
/// an i32.
static Value upperPart(KernelWriter &w, Value value) {
  ScalarBuilder s = w.scalar();
  Type i32 = w.builder.getI32Type();
  Value bits = arith::BitcastOp::create(w.builder, w.loc, i32, value);
  return s.both(bits, s.integer(i32, ~int64_t(0x1fff)));
}
/// Emits the lower part of `value`, an f32. `upper` is the upper part of
/// `value`, which upperPart() has returned. The lower part is the difference
/// `value` − `upper`, cut to the precision of a tf32. A tf32 is an f32 in which
/// only the upper 11 bits of the significand are used. `upper` and the returned
/// lower part are the bits of a tf32, as an i32.
static Value lowerPart(KernelWriter &w, Value value, Value upper) {
  Type f32 = w.builder.getF32Type();
  Value number = arith::BitcastOp::create(w.builder, w.loc, f32, upper);
  return upperPart(w, w.scalar().sub(value, number));
}

/// Emits `sums` + left · right for f32 matrices. Three tf32 products on tensor
/// cores replace the f32 product (3xTF32 of CUTLASS). A tensor core truncates
/// each sum instead of rounding it (Ootomo and Yokota 2022, arXiv:2203.03341).
/// The tensor cores therefore add up only the three products. Ordinary f32
/// additions add the result to `sums`, which may be large.
WarpProduct::Sums WarpProduct::addWide(ArrayRef<Value> sums, const Left &left,
                                       const Pair &right) const {
  // From thread t, the instruction expects columns q and q + 4 of the left
  // operand and rows q and q + 4 of the right operand, where q is t % 4. Thread
  // t passes columns and rows 2 q and 2 q + 1 instead. The sum is still
  // correct, because columns and rows are permuted in the same way.
  const Values a{left.top[0], left.bottom[0], left.top[1], left.bottom[1]},
      b(right.begin(), right.end());
  Values aUpper, aLower, bUpper, bLower;
  for (Value value : a) {
    aUpper.push_back(upperPart(w, value));
    aLower.push_back(lowerPart(w, value, aUpper.back()));
  }
  for (Value value : b) {
    bUpper.push_back(upperPart(w, value));
    bLower.push_back(lowerPart(w, value, bUpper.back()));
  }
  const Values zeros(4, w.scalar().number(w.builder.getF32Type(), 0));
  const Sums product =
      multiply(multiply(multiply(zeros, aLower, bUpper), aUpper, bLower),
               aUpper, bUpper);
  Sums so;
  for (auto [sum, own] : llvm::zip_equal(sums, product))
    so.push_back(w.scalar().add(sum, own));
  return so;
}

WarpProduct::Sums WarpProduct::add(ArrayRef<Value> sums, ArrayRef<Left> left,
                                   ArrayRef<Pair> right) const {
  assert(left.size() == right.size() && "one entry per 8 elements");
  Sums so(sums);
  if (isWide()) {
    for (auto [a, b] : llvm::zip_equal(left, right))
      so = addWide(so, a, b);
    return so;
  }
  // Each entry of `left` holds 8 columns of the left operand. The matching
  // entry of `right` holds 8 rows of the right operand. One tensor core
  // instruction multiplies two entries of `left` with two entries of `right`.
  // If the number of entries is odd, the last instruction multiplies one entry
  // with one entry.
  for (; !left.empty();) {
    const size_t count = std::min<size_t>(2, left.size());
    Values a, b;
    for (const Left &one : left.take_front(count))
      a.append({one.top[0], one.bottom[0]});
    for (const Pair &one : right.take_front(count))
      b.push_back(one[0]);
    so = multiply(so, a, b);
    left = left.drop_front(count);
    right = right.drop_front(count);
  }
  return so;
}
