//===- OrderedSums.cpp - reproducible sums over the batch, as binary trees ===//

#include "passes/4-shard/policy/OrderedSums.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/TensorBuilder.h"
#include "passes/4-shard/graph/AxisRole.h"
#include "passes/4-shard/graph/ShardedGraph.h"
#include "status/Counted.h"
#include "llvm/ADT/bit.h"

#include <functional>

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

using graph::ShardingRule;

bool pcc::shard::mayDivideSum(Operation *op) {
  return !op || op->hasAttr(dist::orderedName);
}

bool pcc::shard::mayPassSum(Operation *op) {
  return !op || (op->hasAttr(dist::orderedName) && isa<graph::ReduceOp>(op)) ||
         op->hasTrait<graph::IsLayout>();
}

void pcc::shard::eraseSumOrderMarks(func::FuncOp function) {
  for (Operation &op : function.front())
    op.removeAttr(dist::orderedName);
}

namespace {
/// Shape of the tree in which a batch is summed: m microbatches, each with 2^k
/// blocks of q samples.
struct SumTree {
  /// Number of microbatches, number of levels (each microbatch has 2^levels
  /// blocks), and number of samples in a block, which is odd. For 24 samples in
  /// 2 microbatches, they are 2, 2 and 3.
  int64_t microbatches, levels, samples;

  /// Returns the tree for `batch` samples, which `microbatches` must divide.
  /// The samples of a microbatch are halved until a block has an odd number of
  /// samples.
  static SumTree of(int64_t batch, int64_t microbatches) {
    const int64_t rows = batch / microbatches;
    const int64_t levels = llvm::countr_zero(static_cast<uint64_t>(rows));
    return {microbatches, levels, rows >> levels};
  }
  /// Returns the number of blocks in all microbatches. A block is a group of
  /// samples that are added to each other before any blocks are added.
  int64_t blocks() const { return microbatches << levels; }
};

/// A loop dim of an op. It counts samples, or samples and the elements of each
/// sample, such as 8 samples · 16 tokens. `id` is the index of the loop dim in
/// the sharding rule.
struct BatchFactor {
  int id;
  /// Number of samples: 8 for a dim of [8 samples · 16 tokens].
  int64_t batch;
  /// Number of all elements: 128 for a dim of [8 samples · 16 tokens].
  int64_t size;
};

/// Builds ops that replace `op`. Each new op gets the attributes of `op`, such
/// as its pipeline stage, but not its name. It also gets an attribute that
/// marks it as part of an ordered sum (a sum with a fixed order of additions).
class ReplacementBuilder : public graph::TensorBuilder {
public:
  explicit ReplacementBuilder(Operation *op) : TensorBuilder(op), op(op) {}

  Value reduceSum(Value value, ArrayRef<int64_t> dims) {
    return make<graph::ReduceOp>(graph::ReduceKind::Sum, value, dims,
                                 /*keep=*/false, IntegerAttr());
  }

private:
  void finish(Operation *made) override {
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    made->removeDiscardableAttr(graph::nameName);
    if (!isa<graph::EinsumOp>(made))
      made->removeDiscardableAttr(graph::chosenName);
    made->setAttr(dist::orderedName, getUnitAttr());
  }

  Operation *op;
};
} // namespace

/// Returns the loop dims of an op that count at least two samples, alone or
/// together with the elements of each sample. `rule` has cut the loop dims of
/// the op into smaller ones, and `tags` are the tags of the smaller ones. For
/// example, a loop dim of 128 elements is cut into 8 samples (tag Batch) · 16
/// tokens. The samples must come first: a loop dim of 16 tokens · 8 samples is
/// not returned.
static SmallVector<BatchFactor> batchFactorsOf(const RefinedRule &rule,
                                               ArrayRef<FactorTag> tags) {
  SmallVector<BatchFactor> found;
  for (auto [id, parts] : llvm::enumerate(rule.parts)) {
    BatchFactor factor{static_cast<int>(id), 1, 1};
    bool leads = true, hasMore = false;
    for (int part : parts) {
      const int64_t size = rule.factors[part].size;
      factor.size *= size;
      const bool isBatch = tags[part] == FactorTag::Batch;
      hasMore |= isBatch && !leads;
      leads &= isBatch;
      if (leads)
        factor.batch *= size;
    }
    if (factor.batch > 1 && !hasMore)
      found.push_back(factor);
  }
  return found;
}

namespace {
/// Replaces one op by ops whose result has the same bits on any number of ranks
/// that can divide the batch evenly. The caller must call exactly one of
/// orderProduct, orderReduction and productPerSample. Each of them erases the
/// op.
class SumRewrite {
public:
  SumRewrite(Operation *op, BatchFactor factor, const SumTree &tree)
      : op(op), rule(ruleOf(op)), factor(factor), tree(tree), builder(op) {}

  /// Replaces a matmul or einsum that sums over the batch. The new ops compute
  /// one product for each block (group of samples), and add the products in the
  /// order of a binary tree (SumTree).
  void orderProduct() {
    std::string equation;
    SmallVector<Value> operands;
    for (auto [value, dims] : llvm::zip(op->getOperands(), rule.operands)) {
      equation += (operands.empty() ? "" : ",") + lettersOf(dims);
      operands.push_back(taken(value, dims));
    }
    equation += "->" + std::string(1, blockLetter) + lettersOf(rule.results[0]);
    finish(summed(wide(builder.make<graph::EinsumOp>(equation, operands)), 0));
  }

  /// Replaces a sum or mean over the batch, and possibly over other dims. The
  /// new ops first add up the elements of each block (group of samples). After
  /// that, they add the blocks in the order of a binary tree (SumTree).
  void orderReduction() {
    auto reduce = cast<graph::ReduceOp>(op);
    Value value = wide(reduce.getInput());
    int64_t dim = 0, kept = 0;
    while (!llvm::is_contained(rule.operands[0][dim], factor.id))
      ++dim;
    SmallVector<int64_t> dims;
    for (int64_t reduced : reduce.getDims())
      if (reduced != dim)
        dims.push_back(reduced + (reduced > dim));
    for (int64_t before = 0; before < dim; ++before)
      kept += !llvm::is_contained(reduce.getDims(), before);
    SmallVector<int64_t> shape(graph::tensorType(value).getShape());
    const int64_t inner = shape[dim] / tree.blocks();
    shape[dim] = tree.blocks();
    shape.insert(shape.begin() + dim + 1, inner);
    value = builder.reshape(value, shape);
    dims.push_back(dim + 1);
    llvm::sort(dims);
    finish(summed(builder.reduceSum(value, dims), kept));
  }

  /// Replaces a matmul on the rows of all samples by one product per sample.
  /// For example, [32, k] x [k, n] with 8 samples of 4 rows becomes [8, 4, k] x
  /// [k, n]. The product of a sample then has 4 rows on any number of ranks.
  /// Without the change, the number of rows would depend on the number of
  /// ranks, and a library may select its algorithm, and thus the bits of the
  /// result, by the number of rows.
  void productPerSample() {
    auto matmul = cast<graph::MatmulOp>(op);
    auto type = graph::tensorType(matmul.getLhs());
    const int64_t rest = factor.size / factor.batch;
    Value lhs = builder.reshape(matmul.getLhs(),
                                {factor.batch, rest, type.getDimSize(1)});
    finish(builder.make<graph::MatmulOp>(lhs, matmul.getRhs(), false,
                                         matmul.getTransposeRhs()));
  }

private:
  /// Einsum letter of the dim that counts the blocks (groups of samples).
  static constexpr char blockLetter = 'A';

  /// Returns the einsum letters of one operand or result with the loop dims
  /// `dims`. Loop dim i has the letter 'B' + i. The loop dim that counts
  /// samples has the letter 'A' for its blocks (groups of samples), followed by
  /// its own letter if a block has several elements. For example, loop dim 0
  /// counts 12 samples in 4 blocks of 3. A tensor with the loop dims 0 and 1
  /// then has the letters "ABC".
  std::string lettersOf(const ShardingRule::TensorFactors &dims) const {
    std::string letters;
    for (const ShardingRule::DimFactors &dim : dims)
      for (int id : dim) {
        if (id == factor.id)
          letters.push_back(blockLetter);
        if (id != factor.id || factor.size > tree.blocks())
          letters.push_back(static_cast<char>('B' + id));
      }
    return letters;
  }

  /// Returns operand `value`, reshaped to one dim per letter of
  /// lettersOf(dims). `dims` are the loop dims of `value`. Each loop dim
  /// becomes one dim. Exception: the loop dim that counts samples becomes a dim
  /// of blocks (groups of samples), followed by a dim of the elements of a
  /// block if there are several.
  Value taken(Value value, const ShardingRule::TensorFactors &dims) {
    SmallVector<int64_t> shape;
    for (const ShardingRule::DimFactors &dim : dims)
      for (int id : dim) {
        if (id == factor.id)
          shape.push_back(tree.blocks());
        const int64_t left =
            rule.factors[id].size / (id == factor.id ? tree.blocks() : 1);
        if (id != factor.id || left > 1)
          shape.push_back(left);
      }
    return ArrayRef<int64_t>(shape) == graph::tensorType(value).getShape()
               ? value
               : builder.reshape(value, shape);
  }

  /// Returns `value`, cast to f32 if it is a narrower float, so that sums are
  /// not rounded to the narrower type.
  Value wide(Value value) {
    auto type = graph::tensorType(value).getElementType();
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32
               ? builder.cast(value, builder.getF32Type())
               : value;
  }

  /// Returns the sum of `value` over dim `at`, whose elements are the blocks of
  /// all microbatches. First adds the blocks of each microbatch in a binary
  /// tree, such as (0 + 1) + (2 + 3). If the op is a mean, divides each of
  /// these sums by the number of averaged elements. Finally casts the sums to
  /// the element type of the op's result, and adds them over the microbatches.
  Value summed(Value value, int64_t at) {
    SmallVector<int64_t> shape(graph::tensorType(value).getShape());
    shape[at] = tree.microbatches;
    shape.insert(shape.begin() + at + 1, tree.levels, 2);
    value = builder.reshape(value, shape);
    for (int64_t level = tree.levels; level > 0; --level)
      value = builder.reduceSum(value, at + level);
    if (auto reduce = dyn_cast<graph::ReduceOp>(op);
        reduce && reduce.getKind() == graph::ReduceKind::Mean)
      value = builder.make<graph::DivOp>(value, divisor(reduce, value));
    value = builder.cast(value,
                         graph::tensorType(op->getResult(0)).getElementType());
    return tree.microbatches > 1 ? builder.reduceSum(value, at) : value;
  }

  /// Returns the divisor of the mean `reduce`, as a scalar constant with the
  /// element type of `sum`. It is the attribute `divisor`, or else the number
  /// of elements that are averaged.
  Value divisor(graph::ReduceOp reduce, Value sum) {
    int64_t count = reduce.getDivisor().value_or(0);
    if (count == 0) {
      count = 1;
      for (int64_t dim : reduce.getDims())
        count *= graph::tensorType(reduce.getInput()).getDimSize(dim);
    }
    return builder.scalar(graph::tensorType(sum).getElementType(),
                          static_cast<double>(count));
  }

  /// Replaces the op by `value`, reshaped to the shape of the op's result, and
  /// erases the op.
  void finish(Value value) {
    auto type = graph::tensorType(op->getResult(0));
    if (graph::tensorType(value).getShape() != type.getShape())
      value = builder.reshape(value, type.getShape());
    if (Attribute name = op->getAttr(graph::nameName))
      value.getDefiningOp()->setAttr(graph::nameName, name);
    op->replaceAllUsesWith(ValueRange{value});
    op->erase();
  }

  Operation *op;
  ShardingRule rule;
  BatchFactor factor;
  SumTree tree;
  ReplacementBuilder builder;
};

/// Finds the ops of a function that orderSums must rewrite, and rewrites them.
/// The new ops make the same additions in the same order on any number of
/// ranks.
class SumOrderer {
public:
  SumOrderer(func::FuncOp function, const dist::Mesh &mesh)
      : function(function), microbatches(std::max<int64_t>(
                                mesh.sizeOf(std::string(dist::timeAxis)), 1)) {
    for (const dist::Axis &axis : mesh.axes)
      if (axis.name != dist::timeAxis && roleOf(axis.name) == AxisRole::Batch)
        divisions *= axis.size;
  }

  /// Collects a rewrite for each op that needs one. Applies the rewrites only
  /// after all ops have been examined, because a rewrite erases its op. `seeds`
  /// contains the shardings that the user asked for. Fails if `collect` fails
  /// for an op.
  LogicalResult run(const Seeds &seeds) {
    ShardedGraph graph(function, seeds);
    graph.refine();
    for (unsigned i = 0; i < graph.ops.size(); ++i)
      if (graph.ops[i].op &&
          failed(collect(graph.ops[i].op,
                         batchFactorsOf(*graph.ops[i].rule, graph.tags[i]))))
        return failure();
    for (auto &rewrite : rewrites)
      rewrite();
    return success();
  }

private:
  /// Adds a rewrite of `op` to `rewrites` if `op` needs one. `factors` are the
  /// loop dims of `op` that count samples. Emits an error and fails if ranks
  /// cannot divide the samples evenly.
  LogicalResult collect(Operation *op, ArrayRef<BatchFactor> factors) {
    if (factors.size() != 1 || factors[0].batch % microbatches != 0)
      return success();
    const BatchFactor factor = factors[0];
    const SumTree tree = SumTree::of(factor.batch, microbatches);
    if (failed(check(op, factor.batch, tree)))
      return failure();
    const ShardingRule rule = ruleOf(op);
    const auto kind = rule.factors[factor.id].kind;
    const bool isProduct = isa<graph::MatmulOp, graph::EinsumOp>(op);
    if (kind == graph::FactorKind::Sum && isProduct)
      rewrites.push_back([=] { SumRewrite(op, factor, tree).orderProduct(); });
    else if (kind == graph::FactorKind::Sum && isa<graph::ReduceOp>(op))
      rewrites.push_back(
          [=] { SumRewrite(op, factor, tree).orderReduction(); });
    else if (auto matmul = dyn_cast<graph::MatmulOp>(op);
             matmul && hasRowsOfSamples(matmul, rule, factor))
      rewrites.push_back(
          [=] { SumRewrite(op, factor, tree).productPerSample(); });
    return success();
  }

  /// Returns whether `matmul` multiplies two matrices, and the rows of the
  /// first one are samples.
  static bool hasRowsOfSamples(graph::MatmulOp matmul, const ShardingRule &rule,
                               const BatchFactor &factor) {
    return !matmul.getTransposeLhs() && rule.operands[0].size() == 2 &&
           rule.operands[1].size() == 2 &&
           llvm::is_contained(rule.operands[0][0], factor.id);
  }

  /// Emits an error at `op`, and fails, if ranks cannot share the 2^levels
  /// blocks (groups of samples) of a microbatch evenly. `batch`, the number of
  /// all samples, is used only for the message.
  LogicalResult check(Operation *op, int64_t batch, const SumTree &tree) const {
    if ((int64_t(1) << tree.levels) % divisions == 0)
      return success();
    return op->emitError("with --reproducible ")
           << counted(divisions, "rank") << " cannot divide the "
           << counted(batch / microbatches, "sample")
           << " of a microbatch: the number of ranks must be a power "
              "of two that divides the number of samples";
  }

  func::FuncOp function;
  /// Number of microbatches, and number of ranks among which the batch is
  /// divided.
  int64_t microbatches, divisions = 1;
  /// The rewrites to apply, in the order of the ops.
  std::vector<std::function<void()>> rewrites;
};
} // namespace

LogicalResult pcc::shard::orderSums(func::FuncOp function, const Seeds &seeds,
                                    const dist::Mesh &mesh) {
  return SumOrderer(function, mesh).run(seeds);
}
