//===- Seeds.h - shardings that the user or the model pins ----------------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_SEEDS_H
#define PCC_PASSES_4_SHARD_GRAPH_SEEDS_H

#include "dialects/dist/DistDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <set>

namespace pcc::shard {

class ShardedGraph;

/// Sharding of one value, and the text that sets it. Either the user sets the
/// sharding by --shard, or the model sets it by an annotation.
struct Seed {
  dist::Sharding sharding;
  /// Text of --shard or of the annotation: NAME=[…]. An MLIR attribute owns the
  /// characters.
  llvm::StringRef text;
  /// True if the sharding comes from an annotation of the model; false if it
  /// comes from the user's --shard.
  bool isAnnotation = false;

  /// Returns the source of the sharding in words, for messages: "--shard
  /// 'w=[tp,-]'" or "the model's annotation 'w=[tp, -]'".
  std::string source() const {
    return (isAnnotation ? "the model's annotation '" : "--shard '") +
           text.str() + "'";
  }
};

/// All shardings that the model or the user sets for values of a function. The
/// model sets them by the attribute `dist.sharding` or the op `dist.pin`. The
/// user sets them by --shard, which becomes strings NAME=[…] in the module
/// attribute `dist.seeds`. The shardings never name the microbatch axis `mb`.
class Seeds {
public:
  /// Collects all shardings that the user set in `function` by --shard or
  /// annotations. Emits an error and fails in these cases:
  ///
  /// - A sharding names an unknown value, cannot be parsed, or does not fit
  ///   `mesh` or the shape of its value.
  /// - Two shardings of one value contradict each other.
  /// - Two shardings cut a mesh axis into sub-axes that do not fit together,
  ///   such as x:(1)2 and x:(1)3.
  static mlir::FailureOr<Seeds> resolve(mlir::func::FuncOp function,
                                        const dist::Mesh &mesh);

  /// Rewrites user-set shardings that split a batch dim unevenly within a
  /// microbatch. For 6 samples and 2 microbatches, [6@dp] becomes [2|3@dp].
  /// `graph` must be the refined graph of these shardings. Do not use `graph`
  /// afterwards.
  void cutBatch(const ShardedGraph &graph, int64_t microbatches);

  /// Returns the sharding that the user set (--shard or an annotation) for a
  /// function argument or an op result; null if there is none. See findOutput
  /// for function results.
  const Seed *find(mlir::Value value) const {
    auto it = values.find(value);
    return it == values.end() ? nullptr : &it->second;
  }
  /// Returns the sharding that the user set (--shard or an annotation) for the
  /// function result with this index; null if there is none.
  const Seed *findOutput(unsigned index) const {
    auto it = outputs.find(index);
    return it == outputs.end() ? nullptr : &it->second;
  }

  /// Cuts the mesh axis `axis` into sub-axes of prime sizes, major first. For
  /// example, an axis x of size 12 becomes x:(1)2, x:(2)2 and x:(4)3. In
  /// x:(4)3, the size is 3, and 4 is the product of the sizes before. Each
  /// sub-axis that the user names in a sharding, and each sub-axis that divides
  /// experts, is a product of returned sub-axes. If the user names x:(1)3, the
  /// result is therefore x:(1)3, x:(3)2 and x:(6)2.
  dist::SubAxes partsOf(const dist::Axis &axis) const;

  /// Returns whether a sub-axis of the mesh axis `axis` begins or ends at
  /// `parts`. x:(2)4 has size 4, begins at 2 and ends at 2 · 4 = 8. Considers
  /// the whole axis, and sub-axes that the user names in a sharding or that
  /// divide experts.
  bool cutsAt(const std::string &axis, int64_t parts) const {
    auto it = cuts.find(axis);
    return it != cuts.end() && it->second.contains(parts);
  }

  /// Returns the round in which the search assigns the mesh axis `axis`, from 0
  /// up. A user-set sharding can set the round by a suffix: [tp p1] sets round
  /// 1 for tp. If several shardings name the axis, the smallest round is used.
  /// The default is 0.
  int priorityOf(const std::string &axis) const {
    auto it = priorities.find(axis);
    return it == priorities.end() ? 0 : it->second;
  }

  /// Returns whether some user-set sharding (--shard or an annotation) splits a
  /// dim, or a factor of a dim, of `size` elements over more than `size` ranks.
  bool overfills(int64_t size) const { return overfull.contains(size); }

  /// Returns whether some user-set sharding (--shard or an annotation) splits
  /// one dim, or one factor of a dim, over axes `a` and `b`, with `b` minor to
  /// `a`.
  bool isBefore(const std::string &a, const std::string &b) const {
    return order.contains({a, b});
  }

private:
  /// Adds the shardings that the model sets by attributes `dist.sharding` and
  /// ops `dist.pin`. Emits an error and fails if a sharding does not fit `mesh`
  /// or the shape of its value.
  mlir::LogicalResult takeAnnotations(mlir::func::FuncOp function,
                                      const dist::Mesh &mesh);
  /// Adds one --shard of the user for all values that it names. `text` is
  /// NAME=[…], where NAME is a name or a glob. Emits an error and fails if no
  /// value matches, the sharding cannot be parsed, or it does not fit `mesh` or
  /// a shape.
  mlir::LogicalResult resolveText(mlir::func::FuncOp function,
                                  const dist::Mesh &mesh, llvm::StringRef text);
  /// Fills `overfull`, `order`, `cuts` and `priorities` from all user-set
  /// shardings. Emits an error and fails if they cut one mesh axis into
  /// sub-axes that do not fit together, such as x:(1)2 and x:(1)3.
  mlir::LogicalResult collectFacts(mlir::func::FuncOp function,
                                   const dist::Mesh &mesh);
  /// Adds `seed`, the user-set sharding of `value`, to `overfull`, `order`,
  /// `cuts` and `priorities`. Emits an error and fails if it cuts an axis in a
  /// way that does not fit the shardings added before.
  mlir::LogicalResult collectFactsFrom(const Seed &seed, mlir::Value value);

  /// User-set shardings of function arguments and of op results.
  llvm::DenseMap<mlir::Value, Seed> values;
  /// User-set shardings of function results, by index of the result.
  std::map<unsigned, Seed> outputs;
  /// Sizes of dims, or of factors of dims, that some user-set sharding splits
  /// over more ranks than they have elements.
  std::set<int64_t> overfull;
  /// Pairs (major, minor) of axes that split one dim, or one factor of a dim,
  /// in some user-set sharding. For example, [8@tp+dp] gives (tp, dp). It also
  /// gives a pair of each axis with itself: (tp, tp) and (dp, dp).
  std::set<std::pair<std::string, std::string>> order;
  /// For each mesh axis: the numbers at which its sub-axes begin or end. x:(2)4
  /// has size 4, begins at 2 and ends at 2 · 4 = 8. Includes the whole axis,
  /// and sub-axes that the user names in a sharding or that divide experts.
  std::map<std::string, std::set<int64_t>> cuts;
  /// For each axis in a user-set sharding: the round in which the search
  /// assigns the axis. Lower rounds come first. [tp p1] sets round 1 for tp,
  /// and [tp] sets round 0. If several shardings name the axis, the smallest
  /// round is used.
  std::map<std::string, int> priorities;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SEEDS_H
