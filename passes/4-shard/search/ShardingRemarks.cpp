//===- ShardingRemarks.cpp - remarks to the user about decided shardings --===//

#include "passes/4-shard/search/ShardingRemarks.h"
#include "dialects/graph/StepParts.h"
#include "passes/4-shard/graph/ShardedOpAttrs.h"
#include "passes/4-shard/policy/ContractionWeights.h"
#include "passes/4-shard/policy/Presets.h"
#include "runtime/base/QuantityText.h"
#include "status/Counted.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

namespace {
/// Counts ops by a text that describes them, such as "30 in 4" (a dim of 30
/// elements in 4 shards).
class OpCounts {
public:
  /// Counts one op with the description `what`, such as "30 in 4 over tp": tp
  /// splits a dim of 30 elements into 4 shards.
  void add(const std::string &what, Operation *op) {
    ++counts[what];
    if (!first)
      first = op;
  }
  bool empty() const { return counts.empty(); }

  /// Returns all descriptions with their numbers of ops, such as "30 in 4 over
  /// tp (12 ops), 101 in 4 over tp (1 op)".
  std::string list() const {
    SmallVector<std::string> parts;
    for (auto &[what, count] : counts)
      parts.push_back(what + " (" + runtime::countText(count, "op") + ")");
    return llvm::join(parts, ", ");
  }

  /// Returns the place of the first counted op, such as ", first at node 'n'"
  /// or ", first in the optimizer step"; an empty string if the op has no name.
  /// At least one op must have been counted.
  std::string place() const {
    const std::string place = graph::placeText(first->getLoc());
    return place.empty() ? "" : ", first " + place;
  }

private:
  llvm::MapVector<std::string, int64_t, std::map<std::string, unsigned>> counts;
  Operation *first = nullptr;
};
} // namespace

/// Counts, in `uneven`, the loop dims of `op` whose shards have different
/// sizes.
static void countUneven(const ShardedOp &op, OpCounts &uneven) {
  for (auto [factor, axes] : llvm::zip_equal(op.rule->factors, op.axes))
    if (int64_t parts = dist::numParts(axes); factor.size % parts != 0)
      uneven.add(llvm::formatv("{0} in {1} over {2}", factor.size, parts,
                               dist::axisNames(axes))
                     .str(),
                 op.op);
}

/// Counts `op` in `unruled` if its sharding rule allows no split: all loop dims
/// with more than one element have the kind Whole. An op without operands, or
/// with one element in each loop dim, is not counted.
static void countUnruled(const ShardedOp &op, OpCounts &unruled) {
  auto isBig = [](const graph::ShardingRule::RuleFactor &factor) {
    return factor.size > 1;
  };
  if (op.op->getNumOperands() == 0 || llvm::none_of(op.rule->factors, isBig) ||
      llvm::any_of(
          op.rule->factors, [&](const graph::ShardingRule::RuleFactor &factor) {
            return isBig(factor) && factor.kind != graph::FactorKind::Whole;
          }))
    return;
  unruled.add(op.op->getName().getStringRef().str(), op.op);
}

/// Emits a remark if the axis dp has more ranks than a microbatch has samples.
static void remarkOnSamples(func::FuncOp function) {
  const dist::Mesh mesh = dist::meshOf(function->getParentOfType<ModuleOp>());
  const int64_t ranks = mesh.sizeOf("dp"),
                microbatches =
                    std::max<int64_t>(mesh.sizeOf(dist::timeAxis), 1);
  for (BlockArgument input : function.getArguments()) {
    auto dim = function.getArgAttrOfType<IntegerAttr>(input.getArgNumber(),
                                                      graph::batchDimName);
    if (!dim)
      continue;
    const int64_t samples = graph::tensorType(input).getDimSize(
                                static_cast<unsigned>(dim.getInt())) /
                            microbatches;
    if (samples < 1 || samples >= ranks)
      continue;
    emitRemark(UnknownLoc::get(function.getContext()))
        << "dp=" << ranks << " is more than the "
        << runtime::countText(samples, "sample") << " of a "
        << (microbatches > 1 ? "microbatch" : "batch")
        << ": some ranks compute nothing, or the same as others; dp=" << samples
        << " is enough";
    return;
  }
}

void pcc::shard::remarkOnShardings(func::FuncOp function) {
  remarkOnSamples(function);
  OpCounts uneven, unruled;
  for (Operation &op : function.front().without_terminator())
    if (auto recorded = readShardedOp(&op)) {
      countUneven(*recorded, uneven);
      countUnruled(*recorded, unruled);
    }
  Location nowhere = UnknownLoc::get(function.getContext());
  if (!uneven.empty())
    emitRemark(nowhere) << "uneven parts are padded: " << uneven.list()
                        << uneven.place();
  bool isDivided =
      llvm::any_of(dist::meshOf(function->getParentOfType<ModuleOp>()).axes,
                   [](const dist::Axis &axis) {
                     return axis.size > 1 && axis.name != dist::timeAxis;
                   });
  if (isDivided && !unruled.empty())
    emitRemark(nowhere) << "ops that no rule splits run whole on every rank: "
                        << unruled.list() << unruled.place();
}

/// Largest number of names that a remark lists.
static constexpr size_t mostNamed = 5;

/// Returns the names as one text that lists at most mostNamed of them: "a, b
/// and 3 more".
static std::string listed(SmallVector<std::string> names) {
  size_t more = names.size() - std::min(names.size(), mostNamed);
  names.resize(names.size() - more);
  return llvm::join(names, ", ") +
         (more ? " and " + std::to_string(more) + " more" : "");
}

void pcc::shard::remarkOnWholeWeights(const ShardedGraph &graph,
                                      const dist::Axis &axis) {
  ContractionWeights weights(graph);
  dist::SubAxis parts{axis.name, 1, axis.size};
  SmallVector<std::string> whole;
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    auto get = dyn_cast_or_null<graph::GetParameterOp>(graph.ops[i].op);
    if (!get || weights.bytes(i) == 0 || graph.ops[i].isSplitBy(axis))
      continue;
    // `axis` does not split this weight. If mustSplit() is true, a dim of the
    // weight could be split over `axis`, so the reason is a sharding that the
    // user set.
    std::string why =
        weights.mustSplit(graph.ops[i], i, parts)
            ? "as requested"
            : "none of its dims can be split by " + std::to_string(axis.size);
    whole.push_back("'" + get.getParameter().str() + "' (" + why + ")");
  }
  if (whole.empty())
    return;
  emitRemark(UnknownLoc::get(graph.function.getContext()))
      << "weights stay whole on every rank of " << axis.name << ": "
      << listed(whole)
      << (whole.size() > mostNamed ? "; pcc inspect BUNDLE --rank 0 lists all"
                                   : "");
}

/// Returns the number of heads of an attention op; 1 for other ops.
static int64_t numHeads(const ShardedOp &op) {
  constexpr int headsDim = 1;
  int64_t heads = 1;
  if (isa_and_nonnull<graph::AttentionOpInterface>(op.op))
    for (int factor : op.rule->operands[0][headsDim])
      heads *= op.rule->factors[factor].size;
  return heads;
}

/// Returns the end of a remark that the size of `axis` does not divide the
/// number `heads` of attention heads. The text names the nearest smaller size
/// and the nearest larger size that divide `heads`. For example, for tp=3 and 8
/// heads, the text is "tp=2 and tp=4 do".
static std::string dividing(int64_t heads, const dist::Axis &axis) {
  int64_t below = std::min(axis.size, heads), above = axis.size;
  while (heads % below != 0)
    --below;
  while (above < heads && heads % above != 0)
    ++above;
  SmallVector<std::string> sizes;
  for (int64_t size : {below, above})
    if (size > 1 && size <= heads)
      sizes.push_back(axis.name + "=" + std::to_string(size));
  return llvm::join(sizes, " and ") + (sizes.size() == 1 ? " does" : " do");
}

void pcc::shard::remarkOnHeads(const ShardedGraph &graph,
                               const dist::Axis &axis) {
  for (const ShardedOp &op : graph.ops) {
    const int64_t heads = numHeads(op);
    if (heads == 1 || heads % axis.size == 0)
      continue;
    emitRemark(UnknownLoc::get(graph.function.getContext()))
        << axis.name << "=" << axis.size << " does not divide the "
        << counted(heads, "head") << " of attention; " << dividing(heads, axis);
    return;
  }
}

/// Returns whether node `index` has a sequence dim, and has a sharding set by
/// the user in which `axis` splits no dim. Ignores `graph.set_parameter`,
/// because its sharding is that of the `graph.get_parameter` that reads the
/// same weight.
static bool pinsSequence(const ShardedGraph &graph, unsigned index,
                         const dist::Axis &axis) {
  const ShardedOp &op = graph.ops[index];
  return graph.seedOf(index) && !op.isSplitBy(axis) &&
         !isa_and_nonnull<graph::SetParameterOp>(op.op) &&
         llvm::any_of(llvm::zip_equal(graph.tags[index], op.rule->factors),
                      [](const auto &factor) {
                        return std::get<0>(factor) == FactorTag::Sequence &&
                               std::get<1>(factor).size > 1;
                      });
}

void pcc::shard::remarkOnWholeSequence(const ShardedGraph &graph,
                                       const dist::Axis &axis) {
  Location nowhere = UnknownLoc::get(graph.function.getContext());
  if (llvm::none_of(graph.tags, [](const auto &tags) {
        return llvm::is_contained(tags, FactorTag::Sequence);
      })) {
    emitRemark(nowhere) << axis.name
                        << " has no effect: the model has no sequence";
    return;
  }
  SmallVector<std::string> whole;
  for (unsigned i = 0; i < graph.ops.size(); ++i)
    if (pinsSequence(graph, i, axis))
      whole.push_back(graph.seedOf(i)->source());
  if (!whole.empty())
    emitRemark(nowhere) << "the sequence is whole on every rank of "
                        << axis.name
                        << " where it is pinned: " << listed(whole);
}

void pcc::shard::remarkOnIdlePresets(func::FuncOp function) {
  for (StringRef preset : {"zero1", "zero2"})
    if (hasPreset(function, {preset}) && !graph::isTraining(function.front()))
      emitRemark(UnknownLoc::get(function.getContext()))
          << "--preset " << preset
          << " has no effect without --train: it divides gradients and "
             "optimizer state";
}

void pcc::shard::remarkOnExperts(const ShardedGraph &graph,
                                 const dist::SubAxes &experts) {
  const int64_t parts = dist::numParts(experts);
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    auto get = dyn_cast_or_null<graph::GetParameterOp>(graph.ops[i].op);
    for (auto [tag, factor] :
         llvm::zip_equal(graph.tags[i], graph.ops[i].rule->factors))
      if (get && tag == FactorTag::Expert && factor.size < parts) {
        emitRemark(UnknownLoc::get(graph.function.getContext()))
            << "'" << get.getParameter() << "' has "
            << counted(factor.size, "expert") << ", fewer than the "
            << counted(parts, "part") << " of --ep";
        return;
      }
  }
}
