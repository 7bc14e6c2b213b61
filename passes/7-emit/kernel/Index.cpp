//===- Index.cpp - affine indices of elements that kernels access ---------===//

#include "passes/7-emit/kernel/Index.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cassert>
#include <numeric>

using namespace mlir;
using namespace pcc::emit;

IndexRange pcc::emit::rangeOf(const Index &index) {
  IndexRange range{index.constant, index.constant};
  for (auto [coefficient, leaf] : index.terms) {
    range.low += coefficient * (coefficient > 0 ? leaf->low : leaf->high);
    range.high += coefficient * (coefficient > 0 ? leaf->high : leaf->low);
  }
  return range;
}

SmallVector<int64_t> pcc::emit::rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0; stride *= shape[dim])
    strides[dim] = stride;
  return strides;
}

Index IndexSpace::leaf(Value value, int64_t low, int64_t high) {
  if (low >= high)
    return constant(low);
  IndexLeaf &leaf = leaves.emplace_back();
  leaf.number = leaves.size();
  leaf.low = low;
  leaf.high = high;
  leaf.value = value;
  return {0, {{1, &leaf}}};
}

//===----------------------------------------------------------------------===//
// Sums of indices
//===----------------------------------------------------------------------===//

/// Replaces c · d · (b / d) + c · (b % d) in `index` by c · b. Example:
/// 16 · (i / 8) + 2 · (i % 8) becomes 2 i. Mutual recursion with add()
/// simplifies the remaining terms.
void IndexSpace::mergeParts(Index &index) {
  for (const Index::AffineTerm &rest : index.terms) {
    if (!rest.leaf->isRemainder)
      continue;
    for (const Index::AffineTerm &whole : index.terms) {
      if (whole.leaf->isRemainder ||
          whole.leaf->divisor != rest.leaf->divisor ||
          whole.coefficient != rest.coefficient * rest.leaf->divisor ||
          whole.leaf->base != rest.leaf->base)
        continue;
      Index base = scale(rest.leaf->base, rest.coefficient);
      Index others{index.constant, {}};
      for (const Index::AffineTerm &term : index.terms)
        if (&term != &rest && &term != &whole)
          others.terms.push_back(term);
      index = add(others, base);
      return;
    }
  }
}

/// Adds two affine sums, whose terms are sorted by the number of the variable.
/// mergeParts() simplifies quotients and remainders: 8 · (i / 8) + i % 8
/// becomes i.
Index IndexSpace::add(const Index &a, const Index &b) {
  Index sum{a.constant + b.constant, {}};
  const auto *left = a.terms.begin(), *right = b.terms.begin();
  while (left != a.terms.end() || right != b.terms.end()) {
    if (right == b.terms.end() ||
        (left != a.terms.end() && left->leaf->number < right->leaf->number)) {
      sum.terms.push_back(*left++);
    } else if (left == a.terms.end() ||
               right->leaf->number < left->leaf->number) {
      sum.terms.push_back(*right++);
    } else {
      if (int64_t both = left->coefficient + right->coefficient)
        sum.terms.push_back({both, left->leaf});
      ++left, ++right;
    }
  }
  mergeParts(sum);
  return sum;
}

Index IndexSpace::scale(const Index &a, int64_t factor) {
  Index product{a.constant * factor, {}};
  if (factor)
    for (auto [coefficient, leaf] : a.terms)
      product.terms.push_back({coefficient * factor, leaf});
  return product;
}

//===----------------------------------------------------------------------===//
// Quotients and remainders
//===----------------------------------------------------------------------===//

/// Returns base / divisor, rounded down, or base % divisor, as one variable or
/// a constant. Equal arguments must give the same variable, because only terms
/// with one variable cancel: (i / 8) − (i / 8) = 0.
Index IndexSpace::divided(const Index &base, int64_t divisor,
                          bool isRemainder) {
  for (const IndexLeaf &leaf : leaves)
    if (leaf.divisor == divisor && leaf.isRemainder == isRemainder &&
        leaf.base == base)
      return {0, {{1, &leaf}}};
  IndexRange range = rangeOf(base);
  Index index = isRemainder
                    ? leaf({}, 0, std::min(range.high, divisor - 1))
                    : leaf({}, range.low / divisor, range.high / divisor);
  if (!index.isConstant()) {
    IndexLeaf &leaf = leaves.back();
    leaf.base = base;
    leaf.divisor = divisor;
    leaf.isRemainder = isRemainder;
  }
  return index;
}

/// Splits `a` into divisor · whole + rest. A term goes to `whole` if `divisor`
/// divides its coefficient. The constant of `rest` lies in [0, divisor).
/// Example with divisor 4: 8 i + 3 j + 9 gives whole 2 i + 2 and rest 3 j + 1.
static void splitBy(const Index &a, int64_t divisor, Index &whole,
                    Index &rest) {
  rest.constant = ((a.constant % divisor) + divisor) % divisor;
  whole.constant = (a.constant - rest.constant) / divisor;
  for (auto [coefficient, leaf] : a.terms)
    if (coefficient % divisor == 0)
      whole.terms.push_back({coefficient / divisor, leaf});
    else
      rest.terms.push_back({coefficient, leaf});
}

/// Divides `a` and `divisor` by the greatest common divisor of `divisor` and
/// all coefficients of `a`. Returns this number. The quotient a / divisor,
/// rounded down, does not change. The constant of `a` must not be negative.
/// Example: (6 i + 5) / 4 becomes (3 i + 2) / 2.
static int64_t cancel(Index &a, int64_t &divisor) {
  int64_t common = divisor;
  for (const Index::AffineTerm &term : a.terms)
    common = std::gcd(common, term.coefficient);
  for (Index::AffineTerm &term : a.terms)
    term.coefficient /= common;
  a.constant /= common;
  divisor /= common;
  return common;
}

Index IndexSpace::quotient(const Index &a, int64_t divisor) {
  assert(divisor > 0 && "division by 0");
  if (divisor == 1)
    return a;
  Index whole, rest;
  splitBy(a, divisor, whole, rest);
  IndexRange range = rangeOf(rest);
  if (range.low < 0)
    return divided(a, divisor, /*isRemainder=*/false);
  if (range.high < divisor)
    return whole;
  cancel(rest, divisor);
  return add(whole, divided(rest, divisor, /*isRemainder=*/false));
}

Index IndexSpace::remainder(const Index &a, int64_t divisor) {
  assert(divisor > 0 && "division by 0");
  if (divisor == 1)
    return constant(0);
  Index whole, rest;
  splitBy(a, divisor, whole, rest);
  IndexRange range = rangeOf(rest);
  if (range.low < 0)
    return divided(a, divisor, /*isRemainder=*/true);
  if (range.high < divisor)
    return rest;
  const int64_t constant = rest.constant;
  const int64_t common = cancel(rest, divisor);
  Index scaled = scale(divided(rest, divisor, /*isRemainder=*/true), common);
  scaled.constant += constant % common;
  return scaled;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

Index IndexSpace::dot(ArrayRef<Index> place, ArrayRef<int64_t> strides) {
  assert(place.size() == strides.size() && "one stride per dim");
  Index sum;
  for (auto [index, stride] : llvm::zip_equal(place, strides))
    sum = add(sum, scale(index, stride));
  return sum;
}

Index IndexSpace::linearise(ArrayRef<Index> place, ArrayRef<int64_t> shape) {
  return dot(place, rowMajorStrides(shape));
}

MultiIndex IndexSpace::delinearise(const Index &position,
                                   ArrayRef<int64_t> shape) {
  MultiIndex place(shape.size());
  Index rest = position;
  for (size_t dim = shape.size(); dim-- > 0;) {
    int64_t size = std::max<int64_t>(shape[dim], 1);
    place[dim] = dim == 0 ? rest : remainder(rest, size);
    rest = quotient(rest, size);
  }
  // Every index along a dim of size 1 is 0. For the first dim, place[0] can
  // still be a formula that contains variables. Example: for the shape [1, 4]
  // and the position i, place[0] is i / 4. At run time, i is less than 4, so
  // i / 4 is 0. The compiler may only know that i is less than 10, and then
  // does not simplify i / 4 to 0. Therefore replace the formula by the constant
  // 0.
  if (!place.empty() && shape[0] == 1)
    place[0] = constant(0);
  return place;
}

MultiIndex IndexSpace::delineariseLane(const Index &position, int64_t lane,
                                       ArrayRef<int64_t> shape,
                                       ArrayRef<int64_t> groups) {
  SmallVector<int64_t> sizes;
  ArrayRef<int64_t> rest = shape;
  for (int64_t group : groups) {
    sizes.push_back(std::accumulate(rest.begin(), rest.begin() + group,
                                    int64_t(1), std::multiplies<>()));
    rest = rest.drop_front(group);
  }
  MultiIndex starts = delinearise(position, sizes), place;
  if (!starts.empty())
    starts.back() = add(starts.back(), constant(lane));
  for (auto [start, group] : llvm::zip_equal(starts, groups)) {
    llvm::append_range(place, delinearise(start, shape.take_front(group)));
    shape = shape.drop_front(group);
  }
  return place;
}

Value IndexSpace::materialise(OpBuilder &builder, Location loc,
                              const Index &index) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, 64);
  };
  Value sum =
      index.constant || index.isConstant() ? constant(index.constant) : Value();
  for (auto [coefficient, leaf] : index.terms) {
    Value value = leaf->value;
    if (!value) {
      Value base = materialise(builder, loc, leaf->base);
      Value divisor = constant(leaf->divisor);
      value =
          leaf->isRemainder
              ? arith::RemUIOp::create(builder, loc, base, divisor).getResult()
              : arith::DivUIOp::create(builder, loc, base, divisor).getResult();
    }
    auto noWrap = arith::IntegerOverflowFlags::nsw;
    if (coefficient != 1)
      value = arith::MulIOp::create(builder, loc, value, constant(coefficient),
                                    noWrap);
    sum = sum ? arith::AddIOp::create(builder, loc, sum, value, noWrap)
                    .getResult()
              : value;
  }
  return sum;
}
