//===- NonZeroBounds.cpp - bounds on non-zeros along a dim ----------------===//

#include "passes/2-prepare/match/NonZeroBounds.h"
#include "dialects/graph/ops/EinsumEquation.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Largest number of ops that the function `count` looks at in a chain of ops.
/// `count` computes an upper bound on the number of non-zero elements of a
/// tensor. The chain begins at the op that defines the tensor. It continues
/// with an op that defines an operand of this op, and so on.
static constexpr int mostSteps = 16;

namespace {
/// Question that the function `count` answers about the tensor `value`. A line
/// of a tensor along a dim is a set of elements that have the same indices in
/// all other dims. For example, each column of a matrix is a line along dim 0.
/// The question is: how many non-zero elements can a line of `value` along
/// dim `dim` contain at most?
struct Query {
  Value value;
  int64_t dim;
  /// Largest number of ops that the function `count` may look at in a chain.
  /// The chain begins at the op that defines `value`. It continues with an op
  /// that defines an operand of this op, and so on. If `steps` is 1, then
  /// `count` looks only at the op that defines `value`.
  int steps = mostSteps;

  /// Returns the size of dim `dim` of `value`. A line of `value` along this dim
  /// has this number of elements. For example, a line of a matrix along dim 0
  /// is a column. Therefore the size is an upper bound on the number of
  /// non-zero elements in the line.
  int64_t size() const { return shapeOf(value)[dim]; }
  /// Returns a query for dim `otherDim` of `other`, an operand of the op that
  /// defines `value`. The new query may look at one op fewer than this query.
  Query of(Value other, int64_t otherDim) const {
    return {other, otherDim, steps - 1};
  }
  /// Returns the query about `operand`, which a NumPy broadcast extends to the
  /// shape of `value`. The query is about the dim of `operand` that becomes dim
  /// `dim` of `value`. Returns nullopt if `operand` has no such dim, or if the
  /// broadcast repeats one element along this dim.
  std::optional<Query> ofBroadcast(Value operand) const {
    const int64_t own = dim + static_cast<int64_t>(shapeOf(operand).size()) -
                        static_cast<int64_t>(shapeOf(value).size());
    if (own < 0 || shapeOf(operand)[own] != size())
      return {};
    return of(operand, own);
  }
};

/// Type of a function that handles one kind of op. For example, countSum
/// handles the op add. The function returns an upper bound on the number of
/// non-zero elements in a line of the op's result. The second parameter
/// contains the number of a dim, and the line is along this dim. For example, a
/// line of a matrix along dim 0 is a column.
using Bound = int64_t (*)(Operation *, const Query &);
} // namespace

static int64_t count(const Query &query);

/// Returns an upper bound on the non-zero elements along dim `query.dim` of
/// `operand`, broadcast to the shape of `query.value`. If the broadcast repeats
/// one element along this dim, the bound is the size of the dim.
static int64_t countBroadcast(Value operand, const Query &query) {
  auto own = query.ofBroadcast(operand);
  return own ? count(*own) : query.size();
}

/// Returns an upper bound on the non-zero elements along dim `query.dim` of an
/// op such as mul. An element of the result is 0 if any operand is 0 there. The
/// bound is the smallest bound of the operands.
static int64_t countProduct(Operation *op, const Query &query) {
  int64_t least = query.size();
  for (Value operand : op->getOperands())
    least = std::min(least, countBroadcast(operand, query));
  return least;
}

/// Returns an upper bound on the non-zero elements along dim `query.dim` of an
/// op such as add. An element of the result is 0 if all operands are 0 there.
/// The bound is the sum of the operands' bounds.
static int64_t countSum(Operation *op, const Query &query) {
  int64_t sum = 0;
  for (Value operand : op->getOperands())
    sum += countBroadcast(operand, query);
  return sum;
}

/// Returns an upper bound on the number of non-zero elements in a line of the
/// result of `op`. The line is along dim `query.dim`. For example, a line of a
/// matrix along dim 0 is a column. If an element of the first operand is 0, the
/// element of the result at the same position is 0. An example is the quotient
/// x / y. If each column of x has at most 2 non-zero elements, then each column
/// of x / y has at most 2. The function returns the bound of the first operand.
static int64_t countFirst(Operation *op, const Query &query) {
  return countBroadcast(op->getOperand(0), query);
}

/// Returns an upper bound on the non-zero elements along dim `query.dim` of
/// select(c, a, b). If b is 0 everywhere, it is the smaller of the bounds of a
/// and c. Otherwise, it is the sum of the bounds of a and b.
static int64_t countSelect(Operation *op, const Query &query) {
  auto select = cast<SelectOp>(op);
  const int64_t onTrue = countBroadcast(select.getOnTrue(), query),
                onFalse = countBroadcast(select.getOnFalse(), query);
  if (isUniform(select.getOnFalse(), 0))
    return std::min(onTrue, countBroadcast(select.getCondition(), query));
  return onTrue + onFalse;
}

/// Returns whether all elements of `value` along dim `dim` are provably
/// different. `value` must be an iota along this dim, or an integer constant
/// whose other dims have size 1.
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

/// Returns an upper bound on the true elements along dim `query.dim` of a
/// comparison. The bound is 1 if `op` tests for equality, one operand repeats
/// one element along this dim, and the elements of the other operand along this
/// dim are provably different. Example: along dim 1, [[3], [5]] == [[3, 4, 5]]
/// has at most one true element per row. Otherwise, the bound is the size of
/// the dim.
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

/// Returns an upper bound on the non-zero elements along dim `query.dim` of a
/// one_hot. The bound is 1 along the dim of the one-hot vectors, if the off
/// value is 0. Otherwise, the bound is the size of the dim.
static int64_t countOneHot(Operation *op, const Query &query) {
  auto hot = cast<OneHotOp>(op);
  return static_cast<int64_t>(hot.getDim()) == query.dim &&
                 isUniform(hot.getOff(), 0)
             ? 1
             : query.size();
}

/// Returns an upper bound on the non-zero elements along dim `query.dim` of
/// scatter_elements(data, indices, updates). Along the scattered dim, it is the
/// bound of `data` plus the size of `updates`. Otherwise, it is the size of the
/// dim.
static int64_t countScattered(Operation *op, const Query &query) {
  auto scatter = cast<ScatterElementsOp>(op);
  if (static_cast<int64_t>(scatter.getDim()) != query.dim)
    return query.size();
  return count(query.of(scatter.getData(), query.dim)) +
         shapeOf(scatter.getUpdates())[query.dim];
}

/// Returns an upper bound on the non-zero elements along dim `query.dim` of a
/// reshape. If the input has a dim of equal size and stride, the bound is that
/// of the input along this dim. Otherwise, it is the size of the dim.
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

/// Returns an upper bound on the non-zero elements along dim `query.dim` of a
/// transpose: the bound of the input along the dim that becomes this dim.
static int64_t countTransposed(Operation *op, const Query &query) {
  auto transpose = cast<TransposeOp>(op);
  return count(query.of(transpose.getInput(), transpose.getPerm()[query.dim]));
}

/// Returns an upper bound on the non-zero elements along dim `query.dim` of a
/// reduction. For a sum over other dims, it is the bound of the input times the
/// number of elements in each sum. Otherwise, it is the size of the dim.
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

/// Returns an upper bound on the non-zero elements along dim `query.dim` of an
/// einsum. Example for dim i of ij,jk->ik: the size of j times the bound of the
/// first operand along i. If several operands have the dim, the smallest bound
/// counts.
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

/// Returns an upper bound on the non-zero elements along dim `query.dim` of a
/// matmul [m, k] · [k, n]. Along m, the bound is k times the bound of the left
/// operand along m. Along n, the bound is k times the bound of the right
/// operand along n. Along a batch dim, the bound is the size of the dim.
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

/// Returns a table of functions. Each key is the name of an op, such as
/// `graph.add`. Each value is the function that computes the bound for this op,
/// such as countSum. The bound limits the number of non-zero elements in a line
/// of the op's result. A line of a matrix is, for example, a column.
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

/// Returns an upper bound on the number of non-zero elements of `query.value`
/// along dim `query.dim`. The bound is the size of this dim in three cases: the
/// table bounds() lacks the op that defines the value, the user fixes the
/// sharding of this op (`graph.pinned`), or `query.steps` is 0.
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
