//===- NonZeroBounds.cpp - bounds on non-zeros along a dim ----------------===//

#include "passes/2-prepare/match/NonZeroBounds.h"
#include "dialects/graph/ops/EinsumEquation.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Largest number of ops in a chain that the search visits, from a value back
/// to its operands. Gates of real models are computed in fewer ops.
static constexpr int mostSteps = 16;

namespace {
/// A question that the search answers: at most how many elements of `value`
/// along dim `dim` can differ from 0?
struct Query {
  Value value;
  int64_t dim;
  /// Number of ops that the search may still visit on the way to operands.
  int steps = mostSteps;

  /// Returns the size of the dim, which is the largest possible bound.
  int64_t size() const { return shapeOf(value)[dim]; }
  /// Returns the query for dim `otherDim` of the value `other`, an operand of
  /// the op that defines `value`. The returned query may visit one op less than
  /// this query.
  Query of(Value other, int64_t otherDim) const {
    return {other, otherDim, steps - 1};
  }
  /// Returns the query for `operand`, which an op broadcasts to the shape of
  /// `value`. Dims are aligned at the right: dim 2 of a value of rank 3 is dim
  /// 0 of an operand of rank 1. Returns nullopt if `operand` lacks the dim or
  /// is repeated along it.
  std::optional<Query> ofBroadcast(Value operand) const {
    const int64_t own = dim + static_cast<int64_t>(shapeOf(operand).size()) -
                        static_cast<int64_t>(shapeOf(value).size());
    if (own < 0 || shapeOf(operand)[own] != size())
      return {};
    return of(operand, own);
  }
};

/// A function that answers a query for one kind of op. It returns an upper
/// bound on the number of non-zero elements along dim `Query::dim` of the op's
/// result.
using Bound = int64_t (*)(Operation *, const Query &);
} // namespace

static int64_t count(const Query &query);

/// Returns the bound on non-zero elements for `operand`, which an op broadcasts
/// to the shape of `query.value`. If the operand is repeated along dim
/// `query.dim`, all repetitions may be non-zero. The bound is then the size of
/// the dim.
static int64_t countBroadcast(Value operand, const Query &query) {
  auto own = query.ofBroadcast(operand);
  return own ? count(*own) : query.size();
}

/// Returns the bound on non-zero elements for an op whose result is 0 wherever
/// one of its operands is 0: the smallest bound of its operands.
static int64_t countProduct(Operation *op, const Query &query) {
  int64_t least = query.size();
  for (Value operand : op->getOperands())
    least = std::min(least, countBroadcast(operand, query));
  return least;
}

/// Returns the bound on non-zero elements for an op whose result is 0 wherever
/// all its operands are 0: the sum of the bounds of its operands.
static int64_t countSum(Operation *op, const Query &query) {
  int64_t sum = 0;
  for (Value operand : op->getOperands())
    sum += countBroadcast(operand, query);
  return sum;
}

/// Returns the bound on non-zero elements for an op whose result is 0 wherever
/// its first operand is 0: the bound of that operand.
static int64_t countFirst(Operation *op, const Query &query) {
  return countBroadcast(op->getOperand(0), query);
}

/// Returns the bound on non-zero elements for a select: the sum of the bounds
/// of its two values. If the value for false is 0, the bound of the condition
/// is also valid, and the smaller bound is returned.
static int64_t countSelect(Operation *op, const Query &query) {
  auto select = cast<SelectOp>(op);
  const int64_t onTrue = countBroadcast(select.getOnTrue(), query),
                onFalse = countBroadcast(select.getOnFalse(), query);
  if (isUniform(select.getOnFalse(), 0))
    return std::min(onTrue, countBroadcast(select.getCondition(), query));
  return onTrue + onFalse;
}

/// Returns whether the elements of `value` along `dim` are known to be all
/// different. `value` must be an iota or a constant, and vary along `dim` only.
static bool areDistinct(Value value, int64_t dim) {
  if (auto iota = definedBy<IotaOp>(value))
    return static_cast<int64_t>(iota.getDim()) == dim;
  auto constant = definedBy<ConstantOp>(value);
  auto numbers = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue())
                          : DenseIntElementsAttr();
  if (!numbers || numbers.getNumElements() != shapeOf(value)[dim])
    return false;
  llvm::DenseSet<APInt> seen;
  return llvm::all_of(numbers.getValues<APInt>(), [&](const APInt &number) {
    return seen.insert(number).second;
  });
}

/// Returns the bound on non-zero elements for a comparison. The bound is 1 for
/// an `equal` like equal(index, iota): the first operand repeats one number
/// along dim `query.dim`, and the numbers of the second operand all differ
/// along this dim. At most one of them is equal. For other comparisons the
/// bound is the size of the dim.
static int64_t countEqual(Operation *op, const Query &query) {
  auto compare = cast<CompareOp>(op);
  if (compare.getPredicate() != Predicate::Equal)
    return query.size();
  for (int one : {0, 1}) {
    auto several = query.ofBroadcast(op->getOperand(1 - one));
    if (several && areDistinct(several->value, several->dim) &&
        !query.ofBroadcast(op->getOperand(one)))
      return 1;
  }
  return query.size();
}

/// Returns the bound on non-zero elements for a one_hot. The bound is 1 along
/// the new dim if the off value is 0.
static int64_t countOneHot(Operation *op, const Query &query) {
  auto hot = cast<OneHotOp>(op);
  return static_cast<int64_t>(hot.getDim()) == query.dim &&
                 isUniform(hot.getOff(), 0)
             ? 1
             : query.size();
}

/// Returns the bound on non-zero elements for a scatter along dim `query.dim`:
/// the bound of the tensor that is updated, plus the number of updates.
static int64_t countScattered(Operation *op, const Query &query) {
  auto scatter = cast<ScatterElementsOp>(op);
  if (static_cast<int64_t>(scatter.getDim()) != query.dim)
    return query.size();
  return count(query.of(scatter.getData(), query.dim)) +
         shapeOf(scatter.getUpdates())[query.dim];
}

/// Returns the bound on non-zero elements for a reshape. If the reshape keeps a
/// dim of its input as dim `query.dim`, the bound is that of the input's dim. A
/// kept dim has the same size, and the same number of elements in all later
/// dims:
///
///   [2, 3, 8] to [6, 8]   dim 1 of the result is dim 2 of the input
///
/// Otherwise the bound is the size of dim `query.dim`.
static int64_t countReshaped(Operation *op, const Query &query) {
  auto behind = [](ArrayRef<int64_t> shape, int64_t dim) {
    return ShapedType::getNumElements(shape.drop_front(dim));
  };
  Value input = op->getOperand(0);
  for (auto [dim, size] : llvm::enumerate(shapeOf(input)))
    if (size == query.size() &&
        behind(shapeOf(input), static_cast<int64_t>(dim)) ==
            behind(shapeOf(query.value), query.dim))
      return count(query.of(input, static_cast<int64_t>(dim)));
  return query.size();
}

/// Returns the bound on non-zero elements for a transpose: the bound of the
/// input along the dim that becomes dim `query.dim` of the result.
static int64_t countTransposed(Operation *op, const Query &query) {
  auto transpose = cast<TransposeOp>(op);
  return count(query.of(transpose.getInput(), transpose.getPerm()[query.dim]));
}

/// Returns the bound on non-zero elements for the sum of several rows of the
/// input: the bound of one row times the number of rows. Each row may have its
/// non-zeros at other indices along dim `query.dim`, so the bounds add up.
/// Returns the size of dim `query.dim` for other reductions.
static int64_t countReduced(Operation *op, const Query &query) {
  auto reduce = cast<ReduceOp>(op);
  ArrayRef<int64_t> shape = shapeOf(reduce.getInput());
  int64_t dim = query.dim, added = 1;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    if (llvm::is_contained(reduce.getDims(), i)) {
      added *= shape[i];
      dim += !reduce.getKeep() && i <= dim;
    }
  const bool sums = reduce.getKind() == ReduceKind::Sum;
  return sums && !llvm::is_contained(reduce.getDims(), dim)
             ? added * count(query.of(reduce.getInput(), dim))
             : query.size();
}

/// Returns the bound on non-zero elements for an einsum. For dim i of ij,jk->ik
/// it is the bound of the left operand along i, times the size of j, but at
/// most the size of i. If several operands have the dim, the smallest bound is
/// returned.
static int64_t countEinsum(Operation *op, const Query &query) {
  auto equation = EinsumEquation::parse(cast<EinsumOp>(op).getEquation());
  auto sizes = equation->sizes(op->getOperandTypes());
  const char letter = equation->result[query.dim];
  int64_t added = 1, least = query.size();
  for (auto [name, size] : *sizes)
    if (!equation->result.contains(name))
      added *= size;
  for (auto [operand, letters] :
       llvm::zip_equal(op->getOperands(), equation->operands))
    if (size_t dim = letters.find(letter); dim != StringRef::npos)
      least = std::min(least, added * count(query.of(operand, dim)));
  return least;
}

/// Returns the bound on non-zero elements for a matmul. Along the rows of the
/// result it is the bound of the left operand times the size of the contracted
/// dim. Along the columns it is the bound of the right operand times the same
/// size.
static int64_t countMatmul(Operation *op, const Query &query) {
  auto matmul = cast<MatmulOp>(op);
  const int64_t fromEnd =
      static_cast<int64_t>(shapeOf(query.value).size()) - query.dim;
  if (fromEnd > 2)
    return query.size();
  const bool isColumn = fromEnd == 1;
  Value operand = isColumn ? matmul.getRhs() : matmul.getLhs();
  const bool swapped =
      isColumn ? matmul.getTransposeRhs() : matmul.getTransposeLhs();
  const int64_t last = static_cast<int64_t>(shapeOf(operand).size()) - 1,
                own = isColumn != swapped ? last : last - 1;
  const int64_t added = shapeOf(operand)[2 * last - 1 - own];
  return added * count(query.of(operand, own));
}

/// Returns the table of the functions that compute bounds (countProduct,
/// countSum, …), by op name. For an op without an entry nothing is known.
static const llvm::StringMap<Bound> &bounds() {
  static const llvm::StringMap<Bound> table = {
      {MulOp::getOperationName(), countProduct},
      {AndOp::getOperationName(), countProduct},
      {AddOp::getOperationName(), countSum},
      {OrOp::getOperationName(), countSum},
      {DivOp::getOperationName(), countFirst},
      {CastOp::getOperationName(), countFirst},
      {BroadcastOp::getOperationName(), countFirst},
      {SelectOp::getOperationName(), countSelect},
      {CompareOp::getOperationName(), countEqual},
      {OneHotOp::getOperationName(), countOneHot},
      {ScatterElementsOp::getOperationName(), countScattered},
      {ReshapeOp::getOperationName(), countReshaped},
      {TransposeOp::getOperationName(), countTransposed},
      {ReduceOp::getOperationName(), countReduced},
      {EinsumOp::getOperationName(), countEinsum},
      {MatmulOp::getOperationName(), countMatmul}};
  return table;
}

/// Returns the smallest known bound for `query`, or `query.size()` if nothing
/// is known.
static int64_t count(const Query &query) {
  if (isUniform(query.value, 0))
    return 0;
  Operation *op = query.value.getDefiningOp();
  if (!op || op->hasAttr(pinnedName) || query.steps == 0)
    return query.size();
  const Bound bound = bounds().lookup(op->getName().getStringRef());
  return bound ? std::min(query.size(), bound(op, query)) : query.size();
}

int64_t pcc::prepare::maxNonZeros(Value value, int64_t dim) {
  return count({value, dim});
}
