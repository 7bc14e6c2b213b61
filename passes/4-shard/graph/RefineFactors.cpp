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

/// Returns the products of the sizes of the first 0, 1, 2, … loop dims of
/// `dim`. For a dim of 192 elements with the loop dims 3, 8 and 8, these are 1,
/// 3, 24 and 192.
static SmallVector<int64_t> boundariesOf(const RefinedRule &rule,
                                         const DimFactors &dim) {
  SmallVector<int64_t> boundaries{1};
  for (int factor : dim)
    boundaries.push_back(boundaries.back() * rule.factors[factor].size);
  return boundaries;
}

/// Returns whether the loop dim `factor` may be divided into smaller ones.
/// `mustBeContiguous` forbids it: if 8 becomes 2 · 4, and 2 ranks split the 4,
/// rank 0 has the elements 0, 1, 4 and 5.
static bool mayRefine(const graph::ShardingRule::RuleFactor &factor) {
  return factor.kind != graph::FactorKind::Whole && !factor.mustBeContiguous;
}

/// Returns the sizes into which `boundaries` divide one loop dim of a tensor
/// dim. `begin` is the product of the sizes of the loop dims before it, and
/// `end` is `begin` times its own size. For example, a loop dim of size 12 with
/// `begin` 2 has `end` 24. The boundary 6 divides this loop dim into the sizes
/// 6 / 2 = 3 and 24 / 6 = 4. Boundaries that do not divide evenly are ignored.
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

/// Divides loop dims (Shardy's factors) of `dim` so that one begins at each of
/// `boundaries`, where possible. A boundary is the product of the sizes of the
/// loop dims before it. For example, the boundary 8 turns the loop dims 4, 6
/// into 4, 2, 3, because 4 · 2 = 8. Returns whether any loop dim was divided.
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

/// Divides loop dims so that the rules `producer` and `user` have the same loop
/// dims (Shardy's factors) for one value, where possible. Both 6, 4 and 3, 8
/// become 3, 2, 4. Returns whether any loop dim was divided.
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

/// Copies tags, such as Batch, from the producer of a value to a user of the
/// value. `from` are the loop dims that form one dim of the value in the
/// producer, and `to` are those that form this dim in the user. A loop dim in
/// `to` gets the tag of the loop dim in `from` that begins at the same index of
/// the dim. The tag Head is copied only if `withHeads` is true.
static void takeTags(const RefinedRule &producer, ArrayRef<FactorTag> known,
                     const DimFactors &from, bool withHeads,
                     const RefinedRule &user, MutableArrayRef<FactorTag> tags,
                     const DimFactors &to) {
  SmallVector<int64_t> begins = boundariesOf(producer, from),
                       ends = boundariesOf(user, to);
  for (auto [i, factor] : llvm::enumerate(from))
    for (auto [j, other] : llvm::enumerate(to)) {
      graph::FactorKind kind = user.factors[other].kind;
      // In the user, a loop dim of the FactorKind Whole or Inner may cover
      // several loop dims of the producer. It gets the tag of the last of these
      // that has a tag.
      bool uncut =
          kind == graph::FactorKind::Whole || kind == graph::FactorKind::Inner;
      bool within = begins[i] >= ends[j] && begins[i] < ends[j + 1];
      if (known[factor] != FactorTag::None &&
          (withHeads || known[factor] != FactorTag::Head) &&
          (begins[i] == ends[j] || (uncut && within)))
        tags[other] = known[factor];
    }
}

/// Copies the tag Sequence from a user of a value to the producer of the value.
/// `from` are the loop dims that form one dim of the value in the producer, and
/// `to` are those that form this dim in the user. A loop dim in `from` without
/// a tag gets the tag Sequence if a loop dim in `to` has this tag, the same
/// size, and the same product of the sizes of the loop dims before it.
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
  // Visit all ops forward and backward until no loop dim changes, because a
  // division spreads to producers and users. `readsAndWrites` has pairs of an
  // op that reads a weight and an op that writes the same weight.
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

/// Returns the loop dim of `dim`, a dim of tokens, that ranks may split. In
/// striped attention, the tokens are cut into stripes (contiguous ranges), and
/// `numParts` ranks share each stripe. `dim` then begins with the loop dims
/// [stripes, tokens of a stripe], such as [4, 4] for 16 tokens, and the
/// function returns the second one. Otherwise it returns the first loop dim.
static int sequenceFactor(const RefinedRule &rule, const DimFactors &dim,
                          int64_t numParts) {
  if (dim.size() < 2 || numParts == 1)
    return dim.front();
  const int64_t stripes = stripesFor(boundariesOf(rule, dim).back(), numParts);
  return stripes > 1 && rule.factors[dim.front()].size == stripes ? dim[1]
                                                                  : dim.front();
}

/// Returns whether `op` is the product of queries and keys: [queries, d] x
/// [keys, d], with the result [queries, keys]. The loop dims of the queries and
/// of the keys must have the tag Sequence.
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

/// Tags the attention heads: dim 1 of the queries in a fused attention, or the
/// batch-like dims in a product of queries and keys. Batch-like dims occur in
/// both operands and in the result. Existing tags are kept.
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
  // The loop above copies tags from the function arguments to the ops that
  // depend on them. Masks and position embeddings may depend on no argument.
  // They get the tag Sequence from their users.
  for (unsigned user = ops.size(); user-- > numArguments;)
    for (const OperandEdge &edge : operands[user]) {
      const auto &from = ops[edge.producer].rule->results[edge.result];
      const auto &to = ops[user].rule->operands[edge.operand];
      for (auto [produced, used] : llvm::zip_equal(from, to))
        takeSequence(*ops[edge.producer].rule, tags[edge.producer], produced,
                     *ops[user].rule, tags[user], used);
    }
}
