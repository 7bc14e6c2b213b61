//===- ExpertRowRewrites.cpp - table of ops that can run on expert rows ---===//

#include "passes/5-localize/ExpertRowRewrites.h"
#include "dialects/graph/ops/EinsumEquation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;

/// For each operand of one op, the kinds of its dims: experts, tokens or
/// features. The value is nullopt if the op cannot be converted to compute only
/// the chosen (token, expert) pairs.
using OperandRoles = std::optional<SmallVector<DimRoles>>;

//===----------------------------------------------------------------------===//
// Element-wise ops
//===----------------------------------------------------------------------===//

/// Returns the dim kinds (expert, token, feature) of the operands of an
/// element-wise op or a broadcast, given those of its `result`. Returns nullopt
/// for any other op, or if an operand is broadcast along only some of the token
/// dims.
static OperandRoles rolesOfElementWise(Operation *op, const DimRoles &result) {
  if (!op->hasTrait<graph::IsElementWise>() && !isa<graph::BroadcastOp>(op))
    return {};
  SmallVector<DimRoles> roles;
  for (Value operand : op->getOperands()) {
    ArrayRef<int64_t> shape = shapeOf(operand);
    const size_t missing = result.size() - shape.size();
    DimRoles &own = roles.emplace_back(result.begin() + missing, result.end());
    for (auto [i, role] : llvm::enumerate(own))
      if (role != DimRole::Feature && shape[i] == 1 &&
          shapeOf(op->getResult(0))[missing + i] != 1)
        role = DimRole::Repeated;
    // Reject an operand that is broadcast along only some token dims, such as
    // [2, 1, H] for a result [8, 2, 3, H] with 2 · 3 tokens. A gather by token
    // index cannot read this operand.
    if (hasRole(own, DimRole::Token) &&
        llvm::count(own, DimRole::Token) != llvm::count(result, DimRole::Token))
      return {};
  }
  return roles;
}

/// Builds a clone of the element-wise op `op` that computes only the chosen
/// (token, expert) pairs. Returns the result of the clone.
static Value buildElementWise(Operation *op, ArrayRef<DimRoles> operands,
                              const DimRoles &result,
                              ExpertRowBuilder &builder) {
  const size_t numFeatures = llvm::count(result, DimRole::Feature);
  SmallVector<Value> rows;
  for (auto [operand, roles] : llvm::zip_equal(op->getOperands(), operands)) {
    Value own = builder.rowsOf(operand, roles);
    SmallVector<int64_t> shape(shapeOf(own));
    // If `operand` has an expert or a token dim, dim 0 of `own` (the operand's
    // elements for the chosen pairs) counts these pairs. Insert dims of size 1
    // after dim 0 for missing feature dims, because the clone aligns dims at
    // the end. For example, [12, 8] becomes [12, 1, 8] for a result [12, 5, 8].
    if (hasRole(roles, DimRole::Expert) || hasRole(roles, DimRole::Token))
      shape.insert(shape.begin() + 1, numFeatures + 1 - shape.size(), 1);
    rows.push_back(builder.reshape(own, shape));
  }
  return builder.cloned(op, rows, builder.rowsType(op->getResult(0), result));
}

//===----------------------------------------------------------------------===//
// Reshapes and slices
//===----------------------------------------------------------------------===//

/// Returns the dim kinds (expert, token, feature) of the operand of a reshape,
/// given those of its `result`. Returns nullopt in three cases: an operand dim
/// would need two kinds, a feature dim of the result comes before a dim of
/// another kind, or the operand would not have exactly one expert dim.
static OperandRoles rolesOfReshape(Operation *op, const DimRoles &result) {
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0)),
                    to = shapeOf(op->getResult(0));
  DimRoles roles;
  size_t dim = 0;
  for (size_t i = 0; i < to.size() && result[i] != DimRole::Feature;) {
    const DimRole role = result[i];
    int64_t wanted = 1, size = 1;
    for (; i < to.size() && result[i] == role; ++i)
      wanted *= to[i];
    do {
      if (dim == from.size())
        return {};
      size *= from[dim++];
      roles.push_back(role);
    } while (size < wanted);
    if (size != wanted)
      return {};
  }
  const size_t numRowDims = llvm::count_if(
      result, [](DimRole role) { return role != DimRole::Feature; });
  if (llvm::any_of(ArrayRef(result).drop_front(numRowDims),
                   [](DimRole role) { return role != DimRole::Feature; }) ||
      llvm::count(roles, DimRole::Expert) != 1)
    return {};
  roles.resize(from.size(), DimRole::Feature);
  return SmallVector<DimRoles>{roles};
}

static Value buildReshape(Operation *op, ArrayRef<DimRoles> operands,
                          const DimRoles &result, ExpertRowBuilder &builder) {
  Value rows = builder.rowsOf(op->getOperand(0), operands[0]);
  return builder.reshape(rows,
                         builder.rowsType(op->getResult(0), result).getShape());
}

/// Returns the dim kinds (expert, token, feature) of the operand of a slice,
/// which equal those of its `result`. Returns nullopt if the slice changes any
/// dim except feature dims.
static OperandRoles rolesOfSlice(Operation *op, const DimRoles &result) {
  auto slice = cast<graph::SliceOp>(op);
  for (auto [dim, role] : llvm::enumerate(result))
    if (role != DimRole::Feature &&
        (slice.getStarts()[dim] != 0 || slice.getSteps()[dim] != 1 ||
         slice.getSizes()[dim] != shapeOf(slice.getInput())[dim]))
      return {};
  return SmallVector<DimRoles>{result};
}

static Value buildSlice(Operation *op, ArrayRef<DimRoles> operands,
                        const DimRoles &result, ExpertRowBuilder &builder) {
  auto slice = cast<graph::SliceOp>(op);
  SmallVector<int64_t> starts{0}, sizes{builder.numRows()}, steps{1};
  for (auto [dim, role] : llvm::enumerate(result))
    if (role == DimRole::Feature) {
      starts.push_back(slice.getStarts()[dim]);
      sizes.push_back(slice.getSizes()[dim]);
      steps.push_back(slice.getSteps()[dim]);
    }
  return builder.make<graph::SliceOp>(
      builder.rowsOf(slice.getInput(), operands[0]), starts, sizes, steps);
}

//===----------------------------------------------------------------------===//
// Products with the matrices of experts
//===----------------------------------------------------------------------===//

namespace {
/// A matmul or an einsum with two operands, with one einsum letter for each
/// dim. The letter '.' stands for a dim of size 1 that is broadcast. Example: a
/// matmul multiplies [1, 6, 4] by [8, 4, 5] and has the result [8, 6, 5]. Its
/// operands are ".MK" and "aKN", and its result is "aMN".
struct ExpertContraction {
  std::string operands[2], result;

  /// Describes `op`, a matmul or an einsum, with one einsum letter per dim,
  /// such as "MK", "KN" -> "MN". Returns nullopt for an einsum without exactly
  /// two operands.
  static std::optional<ExpertContraction> read(Operation *op);

  /// Returns the einsum letters in `letters` that also occur in `result`, and
  /// stand there for a dim of the kind `role` (expert, token or feature).
  /// `roles` lists the kinds of the result dims. Example: `result` is "eth",
  /// with the kinds Expert, Token and Feature. For the letters "td" and the
  /// kind Token, returns "t".
  std::string keep(StringRef letters, const DimRoles &roles,
                   DimRole role) const {
    std::string kept;
    for (char letter : letters)
      if (size_t at = result.find(letter);
          at != std::string::npos && roles[at] == role)
        kept.push_back(letter);
    return kept;
  }
  /// Returns the einsum letters of operand 0 or 1 that do not occur in the
  /// result. The op sums over these dims. Example: for "td,edf->etf", returns
  /// "d" for both operands. The letter '.', a dim of size 1 that is broadcast,
  /// is never returned.
  std::string summed(int operand) const {
    std::string kept;
    for (char letter : operands[operand])
      if (letter != '.' && result.find(letter) == std::string::npos)
        kept.push_back(letter);
    return kept;
  }
  /// Returns the dim kinds of operand 0 or 1, given the dim kinds of the
  /// result. A dim over which the op sums has the kind Feature. A dim '.',
  /// which has size 1 and is broadcast, has the kind Repeated. Example: in
  /// "td,edf->etf", operand 0 has the kinds Token (t) and Feature (d).
  DimRoles rolesOf(int operand, const DimRoles &roles) const {
    DimRoles own;
    for (char letter : operands[operand]) {
      const size_t at = result.find(letter);
      own.push_back(letter == '.'             ? DimRole::Repeated
                    : at == std::string::npos ? DimRole::Feature
                                              : roles[at]);
    }
    return own;
  }
};
} // namespace

/// Describes a matmul like an einsum, with one einsum letter per dim: a, b, …
/// for the batch dims, then M, K and N. Example: "aMK", "aKN" -> "aMN".
static ExpertContraction readMatmul(graph::MatmulOp op) {
  ExpertContraction product;
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  const size_t numBatch = shape.size() - 2;
  for (size_t i = 0; i < numBatch; ++i)
    product.result.push_back(static_cast<char>('a' + i));
  for (int i : {0, 1}) {
    ArrayRef<int64_t> own = shapeOf(op->getOperand(i)).drop_back(2);
    const size_t missing = numBatch - own.size();
    for (auto [dim, size] : llvm::enumerate(own))
      product.operands[i].push_back(
          size == shape[missing + dim] ? product.result[missing + dim] : '.');
  }
  product.operands[0] += op.getTransposeLhs() ? "KM" : "MK";
  product.operands[1] += op.getTransposeRhs() ? "NK" : "KN";
  product.result += "MN";
  return product;
}

std::optional<ExpertContraction> ExpertContraction::read(Operation *op) {
  if (auto matmul = dyn_cast<graph::MatmulOp>(op))
    return readMatmul(matmul);
  auto equation =
      graph::EinsumEquation::parse(cast<graph::EinsumOp>(op).getEquation());
  if (equation->operands.size() != 2)
    return {};
  return ExpertContraction{
      {equation->operands[0].str(), equation->operands[1].str()},
      equation->result.str()};
}

/// Returns the index of the operand that holds one matrix per expert, or -1.
/// For example, it is 1 in the einsum "etd,edf->etf" with the experts e and the
/// tokens t.
static int matricesOf(const ExpertContraction &product,
                      const DimRoles &result) {
  const std::string tokens =
      product.keep(product.result, result, DimRole::Token);
  for (int i : {0, 1}) {
    auto lettersOf = [&](int operand, DimRole role) {
      return product.keep(product.operands[operand], result, role);
    };
    if (lettersOf(i, DimRole::Expert).size() == 1 &&
        lettersOf(i, DimRole::Token).empty() &&
        lettersOf(i, DimRole::Feature).size() == 1 &&
        product.summed(i).size() == 1 &&
        product.summed(i) == product.summed(1 - i) &&
        lettersOf(1 - i, DimRole::Token) == tokens &&
        lettersOf(1 - i, DimRole::Feature).empty() &&
        llvm::count(result, DimRole::Feature) == 1)
      return i;
  }
  return -1;
}

/// Returns the dim kinds (expert, token, feature) of both operands of a matmul
/// or an einsum, given those of its `result`. Returns nullopt unless the op
/// multiplies tokens by matrices of floats, one per expert.
static OperandRoles rolesOfProduct(Operation *op, const DimRoles &result) {
  auto product = ExpertContraction::read(op);
  if (!product ||
      !isa<FloatType>(graph::tensorType(op->getResult(0)).getElementType()) ||
      matricesOf(*product, result) < 0)
    return {};
  return SmallVector<DimRoles>{product->rolesOf(0, result),
                               product->rolesOf(1, result)};
}

/// Builds a `graph.grouped_matmul` that computes only the chosen (token,
/// expert) pairs of `op`, and returns its result. `op` multiplies tokens by the
/// matrices of the experts.
static Value buildProduct(Operation *op, ArrayRef<DimRoles> operands,
                          const DimRoles &result, ExpertRowBuilder &builder) {
  const ExpertContraction product = *ExpertContraction::read(op);
  const int matrices = matricesOf(product, result);
  const std::string &letters = product.operands[matrices];
  const char summed = product.summed(matrices)[0];
  // Put the expert dim of the matrices first, and keep the order of the other
  // two dims. `isTransposed` tells whether the product sums over the last of
  // these two dims.
  SmallVector<int64_t> order;
  bool isTransposed = false;
  for (bool wantsExpert : {true, false})
    for (auto [dim, letter] : llvm::enumerate(letters))
      if (letter != '.' &&
          (operands[matrices][dim] == DimRole::Expert) == wantsExpert) {
        order.push_back(static_cast<int64_t>(dim));
        isTransposed = letter == summed;
      }
  Value weights = op->getOperand(matrices);
  SmallVector<int64_t> shape;
  for (int64_t dim : order)
    shape.push_back(shapeOf(weights)[dim]);
  weights = builder.arranged(weights, order, shape);
  Value rows =
      builder.rowsOf(op->getOperand(1 - matrices), operands[1 - matrices]);
  return builder.make<graph::GroupedMatmulOp>(rows, weights, builder.counts(),
                                              isTransposed);
}

//===----------------------------------------------------------------------===//
// Table of rewrites
//===----------------------------------------------------------------------===//

const RowRewrite &pcc::localize::rowRewriteOf(Operation *op) {
  static constexpr RowRewrite elementWise = {rolesOfElementWise,
                                             buildElementWise};
  static const llvm::StringMap<RowRewrite> table = {
      {graph::ReshapeOp::getOperationName(), {rolesOfReshape, buildReshape}},
      {graph::SliceOp::getOperationName(), {rolesOfSlice, buildSlice}},
      {graph::MatmulOp::getOperationName(),
       {rolesOfProduct, buildProduct, /*multiplies=*/true}},
      {graph::EinsumOp::getOperationName(),
       {rolesOfProduct, buildProduct, /*multiplies=*/true}}};
  auto found = table.find(op->getName().getStringRef());
  return found == table.end() ? elementWise : found->second;
}
