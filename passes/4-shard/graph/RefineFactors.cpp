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

/// Divides one factor into smaller factors, and returns the sizes of the
/// smaller factors. A factor is a dim, or part of a dim. The beginning of a
/// factor is a number: the product of the sizes of all factors before this
/// factor in the dim. The end of a factor is its beginning times its size. For
/// example, in a dim with the factors 2 and 12, the factor 12 begins at 2 and
/// ends at 2 · 12 = 24. `begin` and `end` belong to the factor that is divided.
///
/// `boundaries` contains numbers in ascending order. At each of these numbers,
/// a smaller factor should begin. A number is ignored unless it meets three
/// conditions:
///
/// - It is greater than `begin` and less than `end`.
/// - It is a multiple of the last number that was not ignored. If all numbers
///   before it were ignored, it is a multiple of `begin`.
/// - It divides `end`.
///
/// Examples:
///
///   `begin`   `end`   `boundaries`   returned sizes
///   1         24      3              3, 8
///   1         24      2, 6           2, 3, 4
///   2         24      6              3, 4, because 6 / 2 = 3 and 24 / 6 = 4
///   1         24      4, 6           4, 6, because 4 does not divide 6
///   1         24      5              24, because 5 does not divide 24
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

/// Divides factors of two ops, so that both ops have the same factors of one
/// value. A factor is a dim, or part of a dim. `producer` is the sharding rule
/// of the op that produces the value, as result number `result`. `user` is the
/// sharding rule of an op that reads the value, as operand number `operand`. A
/// sharding rule lists the factors of each dim. Example for a dim of 24
/// elements:
///
///              factors before   factors after
///   producer   6, 4             3, 2, 4
///   user       3, 8             3, 2, 4
///
/// The factors stay different in two cases:
///
/// - A factor must not be divided (mayRefine).
/// - No division makes the factors equal. For example, the factors 4, 6 and the
///   factors 6, 4 stay different, because 4 does not divide 6.
///
/// Returns whether any factor was divided.
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

/// Copies tags from the producer of a value to a user of the value. A tag names
/// the dim of the model to which a factor belongs, such as Batch (samples). A
/// factor is a dim, or part of a dim. The function handles one dim of the
/// value:
///
/// - `from` lists the factors of this dim in the producer. `known` has the tags
///   of all factors of the producer.
/// - `to` lists the factors of this dim in the user. `tags` has the tags of all
///   factors of the user. The function sets these tags.
/// - If `withHeads` is false, the tag Head (attention heads) is not copied.
///
/// The beginning of a factor is a number: the product of the sizes of all
/// factors before it in the dim. The end of a factor is its beginning times its
/// size. For example, in a dim with the factors 2 and 12, the factor 2 begins
/// at 1 and ends at 2, and the factor 12 begins at 2 and ends at 24.
///
/// The function copies the tag of a factor P of the producer to a factor U of
/// the user in two cases:
///
/// - P and U begin at the same number.
/// - The kind of U is Whole (ranks must not split it) or Inner (ranks that
///   split it exchange values), and P begins at a number between the beginning
///   and the end of U.
///
/// If several factors of the producer have a tag for U, U gets the tag of the
/// last one. Example: the producer has the factors 2 (tag Stripe) and 12 (tag
/// Sequence):
///
///   factors of the user   kind             new tags of the user
///   2 and 12              any              Stripe and Sequence
///   24                    Whole or Inner   Sequence
///   24                    any other        Stripe
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

/// Copies the tag Sequence from a user of a value back to the producer of the
/// value. A tag names the dim of the model to which a factor belongs. A factor
/// is a dim, or part of a dim. The tag Sequence names the dim of tokens. The
/// function handles one dim of the value:
///
/// - `from` lists the factors of this dim in the producer. `tags` has the tags
///   of all factors of the producer. The function sets these tags.
/// - `to` lists the factors of this dim in the user. `known` has the tags of
///   all factors of the user.
///
/// A factor P of the producer gets the tag if P has no tag yet, and if the user
/// has a factor U that meets three conditions:
///
/// - U has the tag Sequence.
/// - U and P have equal sizes.
/// - The product of the sizes of all factors before U in the dim is equal to
///   the product of the sizes of all factors before P.
///
/// Example: an attention reads a mask with a dim of 24 tokens. The op that
/// produces the mask has the factors 2, 3 and 4 for this dim, and the attention
/// has the factors 6 and 4. If the factor 4 of the attention has the tag
/// Sequence, the factor 4 of the producer gets the tag, because 2 · 3 = 6.
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
  // Each op divides the dims of its tensors into factors. The op that produces
  // a tensor and the ops that read it should have the same factors for each dim
  // of the tensor. Example: an addition produces a tensor with a dim of 24
  // elements, and has the factor 24 for this dim. A reshape reads the tensor,
  // and has the factors 3 and 8 for the same dim. The addition then divides its
  // factor 24 into 3 and 8.
  //
  // The operands of the addition have the factor 24 as well, so this factor is
  // divided there too. The ops that produce the operands then have to divide
  // their factors, and so on. Therefore the loop visits all ops forward and
  // backward, until no factor changes.
  //
  // `readsAndWrites` lists pairs of two ops: one reads a weight of the model,
  // and the other writes the same weight. Both get the same factors.
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

/// Returns one factor of a dim of tokens. The caller gives this factor the tag
/// Sequence, so that ranks can split it. A factor is a dim, or part of a dim.
/// `dim` lists the factors of the dim of tokens, as indices into the factors of
/// `rule`. There are two cases:
///
/// - The dim is cut into stripes. A stripe is a contiguous piece of the
///   sequence. The first factor of the dim is the number of stripes. The second
///   factor is the number of tokens in one stripe. The function returns the
///   second factor.
/// - The dim is not cut into stripes. The function returns the first factor.
///
/// `numParts` is the number of ranks that share each stripe. If pcc uses no
/// stripes, `numParts` is 1. If `numParts` is greater than 1, the function
/// stripesFor computes the number of stripes for this number of ranks. The dim
/// is cut into stripes if it has several factors, and if the first factor is
/// equal to this number of stripes and greater than 1. Example with 32 tokens
/// and `numParts` = 2, for which stripesFor returns 4 stripes:
///
///   factors   cut into stripes             returned factor
///   32        no, there is one factor      32
///   4, 8      yes                          8
///   2, 16     no, 2 is not equal to 4      2
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
