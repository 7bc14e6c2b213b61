//===- RefineFactors.cpp - cuts and tags of the factors of all ops --------===//
//
// Implements ShardedGraph::refine. A dim that one op sees as one factor and an
// adjacent op sees as several is cut in both, where the rules allow that.
// Example: 192 columns that are sliced in 3 and then viewed as heads become the
// factors 3, 8 and 8 in every op, so splitting the 8 heads costs nothing along
// the whole way. A second walk over the same edges tags the factors of the
// batch, the sequence and the heads.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/GraphDialect.h"
#include "passes/4-shard/graph/AxisRole.h"
#include "passes/4-shard/graph/ShardedGraph.h"
#include "passes/4-shard/graph/Stripes.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

using DimFactors = graph::ShardingRule::DimFactors;

/// Returns the products of the sizes of the first 0, 1, 2, … factors (parts) of
/// `dim`. For a dim of 192 elements with the factors 3, 8 and 8, these are 1,
/// 3, 24 and 192.
static SmallVector<int64_t> boundariesOf(const RefinedRule &rule,
                                         const DimFactors &dim) {
  SmallVector<int64_t> boundaries{1};
  for (int factor : dim)
    boundaries.push_back(boundaries.back() * rule.factors[factor].size);
  return boundaries;
}

/// Returns whether `factor` may be divided into smaller factors. A factor is a
/// dim, or part of a dim. The result is false in two cases:
///
/// - `factor` has the kind Whole: ranks must never split it.
/// - `factor.mustBeContiguous` is true: if ranks split the factor, each rank
///   must have one contiguous range of its elements. Example: a factor of 8
///   elements is divided into the factors 2 and 4, and 2 ranks split the factor
///   4. Rank 0 then has the elements 0, 1, 4 and 5. These elements are not one
///   contiguous range.
static bool mayRefine(const graph::ShardingRule::RuleFactor &factor) {
  return factor.kind != graph::FactorKind::Whole && !factor.mustBeContiguous;
}

/// Divides a factor (dim, or part of a dim) at `boundaries`, and returns the
/// sizes of the new factors. `begin` is the product of the sizes of all factors
/// before the factor in the dim. `end` is `begin` times the size of the factor.
/// A number in `boundaries` is ignored unless it lies between `begin` and
/// `end`, divides `end`, and is a multiple of the last number used, or of
/// `begin`:
///
///   `begin` 2, `end` 24, boundary 6         3, 4
///   `begin` 1, `end` 24, boundaries 2, 6    2, 3, 4
static SmallVector<int64_t> cut(int64_t begin, int64_t end,
                                ArrayRef<int64_t> boundaries) {
  SmallVector<int64_t> sizes;
  for (int64_t boundary : boundaries)
    if (boundary > begin && boundary < end && boundary % begin == 0 &&
        end % boundary == 0) {
      sizes.push_back(boundary / begin);
      begin = boundary;
    }
  sizes.push_back(end / begin);
  return sizes;
}

/// Divides factors of `dim` so that a factor begins at each boundary in
/// `boundaries`, where this is possible. A factor is a dim, or part of a dim.
/// A boundary is a number. A factor begins at the boundary 8 if the product of
/// the sizes of all factors before this factor is 8. Example with the boundary
/// 8 and a dim of 24 elements:
///
///   before   4, 6      no factor begins at 8
///   after    4, 2, 3   the factor 3 begins at 4 · 2 = 8
///
/// Some factors are never divided: a factor that ranks must not split, and a
/// factor of which each rank must have a contiguous range (mayRefine). Returns
/// whether any factor was divided.
static bool refineDim(RefinedRule &rule, const DimFactors &dim,
                      ArrayRef<int64_t> boundaries) {
  bool changed = false;
  int64_t begin = 1;
  for (int factor : DimFactors(dim)) {
    int64_t end = begin * rule.factors[factor].size;
    SmallVector<int64_t> sizes = cut(begin, end, boundaries);
    if (sizes.size() > 1 && mayRefine(rule.factors[factor])) {
      rule.refine(factor, sizes);
      changed = true;
    }
    begin = end;
  }
  return changed;
}

/// Divides factors of two ops so that both have the same factors of one value.
/// Returns whether any factor was divided. A factor is a dim, or part of a dim.
/// `producer` is the sharding rule of the op with the value as result number
/// `result`. `user` is the rule of an op with the value as operand number
/// `operand`. For example, the factors 6, 4 and 3, 8 both become 3, 2, 4.
/// Factors stay different if one must not be divided (mayRefine), or if no
/// division makes them equal, as for 4, 6 and 6, 4.
static bool refineEdge(RefinedRule &producer, unsigned result,
                       RefinedRule &user, unsigned operand) {
  bool changed = false;
  for (size_t dim = 0; dim < producer.results[result].size(); ++dim) {
    const DimFactors &made = producer.results[result][dim],
                     &used = user.operands[operand][dim];
    SmallVector<int64_t> from = boundariesOf(producer, made),
                         to = boundariesOf(user, used);
    if (from == to)
      continue;
    changed |= refineDim(producer, made, to);
    changed |= refineDim(user, used, from);
  }
  return changed;
}

void pcc::shard::refineLike(RefinedRule &rule,
                            const graph::ShardingRule::TensorFactors &tensor,
                            const dist::Sharding &sharding) {
  for (size_t i = 0; i < sharding.rank(); ++i) {
    SmallVector<int64_t> boundaries{1};
    for (const dist::Factor &factor : sharding.dims[i].factors)
      boundaries.push_back(boundaries.back() * factor.size);
    refineDim(rule, tensor[i], boundaries);
  }
}

/// Copies tags along one dim of a value from its producer to a user. A factor
/// is a dim, or part of a dim. A tag says what a factor counts, such as Batch
/// (samples). `from` and `to` list the factors of the dim in the producer and
/// in the user. A factor of the user gets the tag of the producer's factor with
/// the same product of sizes before it. A factor of the kind Whole or Inner
/// gets the tag of the last factor that begins within it. If the producer has 2
/// (Stripe) and 12 (Sequence), a factor 24 of kind Inner gets Sequence. A
/// factor 24 of another kind gets Stripe. The tag Head needs `withHeads`.
static void takeTags(const RefinedRule &producer, ArrayRef<FactorTag> known,
                     const DimFactors &from, bool withHeads,
                     const RefinedRule &user, MutableArrayRef<FactorTag> tags,
                     const DimFactors &to) {
  SmallVector<int64_t> begins = boundariesOf(producer, from),
                       ends = boundariesOf(user, to);
  for (auto [i, factor] : llvm::enumerate(from))
    for (auto [j, other] : llvm::enumerate(to)) {
      graph::FactorKind kind = user.factors[other].kind;
      bool uncut =
          kind == graph::FactorKind::Whole || kind == graph::FactorKind::Inner;
      bool within = begins[i] >= ends[j] && begins[i] < ends[j + 1];
      if (known[factor] != FactorTag::None &&
          (withHeads || known[factor] != FactorTag::Head) &&
          (begins[i] == ends[j] || (uncut && within)))
        tags[other] = known[factor];
    }
}

/// Copies the tag Sequence (dim of tokens) along one dim of a value from a user
/// back to the producer. A factor is a dim, or part of a dim. `from` and `to`
/// list the factors of the dim in the producer and in the user. A factor of the
/// producer without a tag gets it if a factor of the user with the tag has the
/// same size and the same product of sizes before it. For example, an attention
/// reads a mask as 6 and 4, and its factor 4 has the tag. The producer has 2, 3
/// and 4. Its factor 4 gets the tag, because 2 · 3 = 6.
static void takeSequence(const RefinedRule &producer,
                         MutableArrayRef<FactorTag> tags,
                         const DimFactors &from, const RefinedRule &user,
                         ArrayRef<FactorTag> known, const DimFactors &to) {
  SmallVector<int64_t> begins = boundariesOf(producer, from),
                       ends = boundariesOf(user, to);
  for (auto [i, factor] : llvm::enumerate(from))
    for (auto [j, other] : llvm::enumerate(to))
      if (tags[factor] == FactorTag::None &&
          known[other] == FactorTag::Sequence && begins[i] == ends[j] &&
          begins[i + 1] == ends[j + 1])
        tags[factor] = FactorTag::Sequence;
}

int64_t ShardedGraph::unevenMicrobatches(func::FuncOp function,
                                         const dist::Mesh &mesh) {
  const int64_t count = mesh.sizeOf(std::string(dist::timeAxis));
  int64_t ranks = 1;
  for (const dist::Axis &axis : mesh.axes) {
    const AxisRole role = roleOf(axis.name);
    if (axis.name != dist::timeAxis &&
        (role == AxisRole::Batch || role == AxisRole::Free))
      ranks *= axis.size;
  }
  for (unsigned i = 0; count > 1 && i < function.getNumArguments(); ++i)
    if (auto dim =
            function.getArgAttrOfType<IntegerAttr>(i, graph::batchDimName)) {
      const int64_t batch =
          graph::tensorType(function.getArgument(i)).getDimSize(dim.getInt());
      if (batch % count == 0 && batch / count % ranks != 0)
        return count;
    }
  return 1;
}

void ShardedGraph::cutBatch(ArrayRef<std::shared_ptr<RefinedRule>> rules,
                            int64_t microbatches) {
  cutsMicrobatches = true;
  for (unsigned i = 0; i < numArguments; ++i) {
    auto index = function.getArgAttrOfType<IntegerAttr>(i, graph::batchDimName);
    if (!index)
      continue;
    const DimFactors &dim = rules[i]->results[0][index.getInt()];
    if (dim.size() != 1 || !mayRefine(rules[i]->factors[dim.front()]))
      continue;
    const int64_t size = rules[i]->factors[dim.front()].size;
    if (size % microbatches == 0)
      rules[i]->refine(dim.front(), {microbatches, size / microbatches});
  }
}

bool ShardedGraph::refine(int64_t sequenceParts, int64_t microbatches) {
  std::vector<std::shared_ptr<RefinedRule>> rules;
  bool hasStripes = false;
  for (const ShardedOp &op : ops) {
    rules.push_back(std::make_shared<RefinedRule>(*op.rule));
    if (sequenceParts > 1)
      hasStripes |= cutInStripes(op.op, *rules.back(), sequenceParts);
  }
  if (microbatches > 1)
    cutBatch(rules, microbatches);
  auto visit = [&](unsigned user) {
    bool changed = false;
    for (const OperandEdge &edge : operands[user])
      changed |= refineEdge(*rules[edge.producer], edge.result, *rules[user],
                            edge.operand);
    return changed;
  };
  // The op that produces a tensor and the ops that read it should divide each
  // dim into the same factors. If a reshape reads 24 elements as 3 and 8, the
  // producer divides its factor 24, and so do the producers of its operands.
  // Therefore the loop visits all ops forward and backward, until no factor
  // changes. `readsAndWrites` has pairs of an op that reads a weight and an op
  // that writes it. Both get the same factors.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [read, write] : readsAndWrites)
      changed |= refineEdge(*rules[read], 0, *rules[write], 0);
    for (unsigned i = 0; i < ops.size(); ++i)
      changed |= visit(i);
    for (unsigned i = ops.size(); i-- > 0;)
      changed |= visit(i);
  }
  for (unsigned i = 0; i < ops.size(); ++i) {
    ops[i] = ShardedOp(ops[i].op, rules[i]);
    tags.emplace_back(rules[i]->factors.size(), FactorTag::None);
  }
  tagBatchAndSequence(hasStripes ? sequenceParts : 1);
  findSumsInTime();
  return hasStripes;
}

int64_t ShardedGraph::numSequenceOps() const {
  int64_t count = 0;
  llvm::BitVector isFed(ops.size());
  for (unsigned i = 0; i < ops.size(); ++i) {
    if (isArgument(i) ||
        llvm::any_of(operands[i], [&](const OperandEdge &edge) {
          return isFed.test(edge.producer);
        }))
      isFed.set(i);
    count += isFed.test(i) && llvm::is_contained(tags[i], FactorTag::Sequence);
  }
  return count;
}

/// Returns the factor of a dim of tokens that ranks may split. A factor is a
/// dim, or part of a dim. `dim` lists the factors of the dim. The result is the
/// first factor, with one exception: if the dim is cut into stripes (contiguous
/// pieces of the sequence), it is the second factor, the tokens of one stripe.
/// `numParts` ranks share each stripe, or `numParts` is 1 if there are no
/// stripes. The dim is cut into stripes if its first factor is greater than 1
/// and is the number that stripesFor() returns for `numParts`. For example,
/// stripesFor(32, 2) is 4. The factors 4, 8 then give 8, and the factors 2, 16
/// give 2.
static int sequenceFactor(const RefinedRule &rule, const DimFactors &dim,
                          int64_t numParts) {
  if (dim.size() < 2 || numParts == 1)
    return dim.front();
  const int64_t stripes = stripesFor(boundariesOf(rule, dim).back(), numParts);
  return stripes > 1 && rule.factors[dim.front()].size == stripes ? dim[1]
                                                                  : dim.front();
}

/// Returns whether `op` is the product of queries and keys: [queries, d] x
/// [keys, d], with the result [queries, keys]. Queries and keys are factors
/// (dims, or parts of dims) with the tag Sequence.
static bool isScores(const ShardedOp &op, ArrayRef<FactorTag> tags) {
  if (!isa_and_nonnull<graph::MatmulOp, graph::EinsumOp>(op.op) ||
      op.rule->operands.size() != 2)
    return false;
  auto hasOwn = [&](int operand) {
    return llvm::any_of(llvm::enumerate(tags), [&](auto tag) {
      const int factor = static_cast<int>(tag.index());
      return tag.value() == FactorTag::Sequence &&
             graph::occursIn(op.rule->operands[operand], factor) &&
             !graph::occursIn(op.rule->operands[1 - operand], factor) &&
             graph::occursIn(op.rule->results[0], factor);
    });
  };
  return hasOwn(0) && hasOwn(1);
}

/// Gives the tag Head to dims that count attention heads. They are found in two
/// kinds of ops:
///
/// - fused attention: dim 1 of the queries
/// - product of queries and keys: dims that occur in both operands and in the
///   result, and have no other tag, such as Batch
void ShardedGraph::tagHeads(unsigned index) {
  const ShardedOp &op = ops[index];
  const bool isAttention = isa_and_nonnull<graph::AttentionOpInterface>(op.op);
  if (!isAttention && !isScores(op, tags[index]))
    return;
  for (auto [factor, tag] : llvm::enumerate(tags[index])) {
    const int id = static_cast<int>(factor);
    const bool isHead = isAttention
                            ? llvm::is_contained(op.rule->operands[0][1], id)
                            : graph::occursIn(op.rule->operands[0], id) &&
                                  graph::occursIn(op.rule->operands[1], id) &&
                                  graph::occursIn(op.rule->results[0], id);
    if (isHead && tag == FactorTag::None)
      tag = FactorTag::Head;
  }
}

bool ShardedGraph::endsAttention(unsigned index) const {
  const ShardedOp &op = ops[index];
  return isa_and_nonnull<graph::AttentionOpInterface>(op.op) ||
         llvm::any_of(llvm::zip_equal(tags[index], op.rule->factors),
                      [](const auto &factor) {
                        return std::get<0>(factor) == FactorTag::Sequence &&
                               std::get<1>(factor).kind ==
                                   graph::FactorKind::Sum;
                      });
}

void ShardedGraph::tagBatchAndSequence(int64_t sequenceParts) {
  for (unsigned i = 0; i < numArguments; ++i) {
    auto factorsOf = [&](StringRef name) {
      auto index = function.getArgAttrOfType<IntegerAttr>(i, name);
      return index ? ops[i].rule->results[0][index.getInt()] : DimFactors();
    };
    if (DimFactors dim = factorsOf(graph::sequenceDimName); !dim.empty()) {
      const int factor = sequenceFactor(*ops[i].rule, dim, sequenceParts);
      if (factor != dim.front())
        tags[i][dim.front()] = FactorTag::Stripe;
      tags[i][factor] = FactorTag::Sequence;
    }
    for (int factor : factorsOf(graph::batchDimName))
      tags[i][factor] = FactorTag::Batch;
  }
  for (unsigned user = numArguments; user < ops.size(); ++user) {
    for (const OperandEdge &edge : operands[user]) {
      const auto &from = ops[edge.producer].rule->results[edge.result];
      const auto &to = ops[user].rule->operands[edge.operand];
      for (auto [produced, used] : llvm::zip_equal(from, to))
        takeTags(*ops[edge.producer].rule, tags[edge.producer], produced,
                 !endsAttention(edge.producer), *ops[user].rule, tags[user],
                 used);
    }
    tagHeads(user);
  }
  for (unsigned user = ops.size(); user-- > numArguments;)
    for (const OperandEdge &edge : operands[user]) {
      const auto &from = ops[edge.producer].rule->results[edge.result];
      const auto &to = ops[user].rule->operands[edge.operand];
      for (auto [produced, used] : llvm::zip_equal(from, to))
        takeSequence(*ops[edge.producer].rule, tags[edge.producer], produced,
                     *ops[user].rule, tags[user], used);
    }
}
