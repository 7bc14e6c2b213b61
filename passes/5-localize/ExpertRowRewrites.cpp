//===- ExpertRowRewrites.cpp - table of ops that can run on expert rows ---===//

#include "passes/5-localize/ExpertRowRewrites.h"
#include "dialects/graph/ops/EinsumEquation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;

/// Roles (expert, token or feature) of the dims of all operands; nullopt if the
/// op cannot run on rows, which are pairs of an expert and a token.
using OperandRoles = std::optional<SmallVector<DimRoles>>;

//===----------------------------------------------------------------------===//
// Element-wise ops
//===----------------------------------------------------------------------===//

/// An operand dim gets the role (expert, token or feature) of the result dim
/// with which it is aligned, counted from the last dim as in NumPy. An operand
/// dim of size 1 gets the role Repeated if the result dim counts several
/// experts or tokens.
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
    // If an operand is broadcast along some but not all token dims, several
    // tokens share each of its elements. The operand cannot be converted to
    // rows (pairs of an expert and a token).
    if (hasRole(own, DimRole::Token) &&
        llvm::count(own, DimRole::Token) != llvm::count(result, DimRole::Token))
      return {};
  }
  return roles;
}

/// Clones `op` on the rows (pairs of an expert and a token) of its operands. If
/// the result has two feature dims, the rows [rows, 8] of an operand become
/// [rows, 1, 8], so that the dims stay aligned. An operand without experts and
/// tokens has no dim of rows and is not reshaped.
static Value buildElementWise(Operation *op, ArrayRef<DimRoles> operands,
                              const DimRoles &result,
                              ExpertRowBuilder &builder) {
  const size_t numFeatures = llvm::count(result, DimRole::Feature);
  SmallVector<Value> rows;
  for (auto [operand, roles] : llvm::zip_equal(op->getOperands(), operands)) {
    Value own = builder.rowsOf(operand, roles);
    SmallVector<int64_t> shape(shapeOf(own));
    // Insert dims of size 1 between the dim of rows (pairs of an expert and a
    // token) and the operand's features.
    if (hasRole(roles, DimRole::Expert) || hasRole(roles, DimRole::Token))
      shape.insert(shape.begin() + 1, numFeatures + 1 - shape.size(), 1);
    rows.push_back(builder.reshape(own, shape));
  }
  return builder.cloned(op, rows, builder.rowsType(op->getResult(0), result));
}

//===----------------------------------------------------------------------===//
// Reshapes and slices
//===----------------------------------------------------------------------===//

/// A reshape can run on rows (pairs of an expert and a token) if experts and
/// tokens come before all features in the result. It may split or merge token
/// dims and change features in any way, but must not merge dims of different
/// roles.
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

/// A slice can run on rows (pairs of an expert and a token) if it keeps experts
/// and tokens whole and only cuts features.
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
/// A matrix product or an einsum of two operands, as one letter per dim: the
/// letters of each operand and of the result. A dim of size 1 that is broadcast
/// has the letter '.'.
struct ExpertContraction {
  std::string operands[2], result;

  /// Returns the letters of `op`, a matmul or einsum. Returns nullopt if an
  /// einsum does not have two operands.
  static std::optional<ExpertContraction> read(Operation *op);

  /// Returns those of `letters` (one letter per dim) that name a result dim
  /// with the role `role` (expert, token or feature). `roles` are the roles of
  /// the result's dims.
  std::string keep(StringRef letters, const DimRoles &roles,
                   DimRole role) const {
    std::string kept;
    for (char letter : letters)
      if (size_t at = result.find(letter);
          at != std::string::npos && roles[at] == role)
        kept.push_back(letter);
    return kept;
  }
  /// Returns the letters (one per dim) of operand number `operand` over which
  /// the product sums. These are the letters that the result lacks.
  std::string summed(int operand) const {
    std::string kept;
    for (char letter : operands[operand])
      if (letter != '.' && result.find(letter) == std::string::npos)
        kept.push_back(letter);
    return kept;
  }
  /// Returns the roles (expert, token or feature) of the dims of operand number
  /// `operand`. `roles` are the roles of the result's dims. A dim over which
  /// the product sums is a feature.
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

/// Returns the letters of a matmul: a, b, … for the batch dims, then M, K and
/// N.
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

/// Returns the index (0 or 1) of the operand that holds one matrix per expert;
/// -1 if the product has another form. Letters: e experts, t tokens, s summed,
/// f features.
///
/// - The matrices have one dim e, one dim s and one dim f, in any order.
/// - The other operand has all dims t and the dim s, but no feature.
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

/// A product can run on rows (pairs of an expert and a token) if its elements
/// are floats and one operand holds one matrix per expert.
static OperandRoles rolesOfProduct(Operation *op, const DimRoles &result) {
  auto product = ExpertContraction::read(op);
  if (!product ||
      !isa<FloatType>(graph::tensorType(op->getResult(0)).getElementType()) ||
      matricesOf(*product, result) < 0)
    return {};
  return SmallVector<DimRoles>{product->rolesOf(0, result),
                               product->rolesOf(1, result)};
}

/// Builds a `graph.grouped_matmul`, which multiplies each row (pair of an
/// expert and a token) by the matrix of its expert.
static Value buildProduct(Operation *op, ArrayRef<DimRoles> operands,
                          const DimRoles &result, ExpertRowBuilder &builder) {
  const ExpertContraction product = *ExpertContraction::read(op);
  const int matrices = matricesOf(product, result);
  const std::string &letters = product.operands[matrices];
  const char summed = product.summed(matrices)[0];
  // Put the dim of experts first, and keep the order of the other two dims. The
  // matrices are then [experts, summed, features] or, in transposed form,
  // [experts, features, summed].
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
