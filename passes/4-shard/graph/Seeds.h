//===- Seeds.h - shardings that the user or the model pins ----------------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_SEEDS_H
#define PCC_PASSES_4_SHARD_GRAPH_SEEDS_H

#include "dialects/dist/DistDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <set>

namespace pcc::shard {

class ShardedGraph;

/// A sharding that the user or the model requests for one value, with the text
/// of the request.
struct Seed {
  dist::Sharding sharding;
  /// Text of the request in the form NAME=[…]. An MLIR attribute owns the
  /// characters.
  llvm::StringRef text;
  /// True if an annotation of the model requests the sharding; false if the
  /// user does.
  bool isAnnotation = false;

  /// Returns the request in words, for messages: "--shard 'w=[tp,-]'" or "the
  /// model's annotation 'w=[tp, -]'".
  std::string source() const {
    return (isAnnotation ? "the model's annotation '" : "--shard '") +
           text.str() + "'";
  }
};

/// The seeds (requested shardings) of a function. They come from two sources:
///
/// - annotations of the model: `dist.sharding` on arguments, results and
///   parameters, and `dist.pin` ops;
/// - requests of the user: the strings NAME=[…] in the attribute `dist.seeds`
///   of the module. NAME is a name or a glob of weights, inputs, outputs and
///   other named values.
///
/// Seeds never name the time axis (microbatches).
///
/// By default, the search does not try all ways of splitting a dim, such as
/// over more ranks than it has elements. If a seed splits a dim in such a way,
/// the functions cutsAt, overfills and isBefore report it. The search then
/// tries this way for other ops, too. They may match the seed without a reshard
/// (change of sharding).
class Seeds {
public:
  /// Collects the seeds (requested shardings) of `function`. Emits an error and
  /// fails if:
  ///
  /// - a name matches nothing;
  /// - a text cannot be parsed;
  /// - a sharding does not fit the mesh or the shape;
  /// - two seeds cut an axis into sub-axes that do not align, such as halves
  ///   and thirds;
  /// - the user requests another sharding than the model for one value.
  static mlir::FailureOr<Seeds> resolve(mlir::func::FuncOp function,
                                        const dist::Mesh &mesh);

  /// Cuts the batch in each seed (requested sharding) of `graph` into
  /// `microbatches` and the samples of one microbatch, where the ranks of the
  /// seed cannot divide these samples evenly. For 2 microbatches, [6@dp:2]
  /// becomes [2|3@dp:2]. `graph` must have been built from this object and
  /// refined, so that it knows which factors are the batch; it must not be used
  /// afterwards.
  void cutBatch(const ShardedGraph &graph, int64_t microbatches);

  /// Returns the seed (requested sharding) of a function argument or of a
  /// result of an op; null if it has none. A request by the name of a function
  /// result is not found here, but by findOutput.
  const Seed *find(mlir::Value value) const {
    auto it = values.find(value);
    return it == values.end() ? nullptr : &it->second;
  }
  /// Returns the seed (requested sharding) of the function result with this
  /// index; null if it has none.
  const Seed *findOutput(unsigned index) const {
    auto it = outputs.find(index);
    return it == outputs.end() ? nullptr : &it->second;
  }

  /// Returns the sub-axes of `axis` that the search assigns one after another,
  /// major first. Their sizes are prime. No seed (requested sharding) names
  /// only a piece of one of these sub-axes.
  ///
  ///   tp of 12                        tp:(1)2, tp:(2)2, tp:(4)3
  ///   tp of 12, a seed has tp:(1)3    tp:(1)3, tp:(3)2, tp:(6)2
  dist::SubAxes partsOf(const dist::Axis &axis) const;

  /// Returns whether some seed (requested sharding) cuts `axis` at the place
  /// `parts`. The place of a cut is the product of the sizes before it: a seed
  /// with the sub-axis tp:(2)4 cuts `tp` at 2 and at 8. Both ends of the axis,
  /// and both ends of a sub-axis that divides experts, count as cuts as well.
  bool cutsAt(const std::string &axis, int64_t parts) const {
    auto it = cuts.find(axis);
    return it != cuts.end() && it->second.contains(parts);
  }

  /// Returns the round (0, 1, …) in which the search assigns the axis; 0 is the
  /// default. A seed (requested sharding) can set the round with a suffix of a
  /// dim, such as `p1` for round 1. If several seeds name the axis, the
  /// smallest number is used. Axes of a later round have no influence on axes
  /// of an earlier round.
  int priorityOf(const std::string &axis) const {
    auto it = priorities.find(axis);
    return it == priorities.end() ? 0 : it->second;
  }

  /// Returns whether some seed (requested sharding) splits a factor (dim, or
  /// part of a dim) of `size` elements over more than `size` ranks.
  bool overfills(int64_t size) const { return overfull.contains(size); }

  /// Returns whether some seed (requested sharding) splits one factor (dim, or
  /// part of a dim) over axis `a` and, minor to `a`, over axis `b`.
  bool isBefore(const std::string &a, const std::string &b) const {
    return order.contains({a, b});
  }

private:
  /// Adds a seed (requested sharding) for each annotation of the model. Emits
  /// an error and fails if an annotation does not fit the mesh or the shape of
  /// its value.
  mlir::LogicalResult takeAnnotations(mlir::func::FuncOp function,
                                      const dist::Mesh &mesh);
  /// Adds a seed (requested sharding) for each value that one request of the
  /// user names. `text` is the request, of the form NAME=[…]. Emits an error
  /// and fails if no value has the name or if the sharding does not fit.
  mlir::LogicalResult resolveText(mlir::func::FuncOp function,
                                  const dist::Mesh &mesh, llvm::StringRef text);
  /// Computes `overfull`, `order`, `cuts` and `priorities` from all seeds
  /// (requested shardings). Emits an error and fails if two seeds cut an axis
  /// into sub-axes that do not align.
  mlir::LogicalResult collectFacts(mlir::func::FuncOp function,
                                   const dist::Mesh &mesh);
  /// Adds the axes and the factors (dims, or parts of dims) that `seed` names
  /// to `overfull`, `order`, `cuts` and `priorities`. `seed` is the requested
  /// sharding of `value`.
  mlir::LogicalResult collectFactsFrom(const Seed &seed, mlir::Value value);

  /// Seeds (requested shardings) of function arguments and of op results.
  llvm::DenseMap<mlir::Value, Seed> values;
  /// Seeds (requested shardings) of function results, by index of the result.
  std::map<unsigned, Seed> outputs;
  /// Sizes of factors (dims, or parts of dims) that some seed (requested
  /// sharding) splits over more ranks than the factor has elements.
  std::set<int64_t> overfull;
  /// Pairs (a, b) of axes for which some seed (requested sharding) splits one
  /// factor (dim, or part of a dim) over a and, minor to a, over b.
  std::set<std::pair<std::string, std::string>> order;
  /// By axis: the places at which seeds (requested shardings) cut the axis into
  /// sub-axes, including both ends. A place is the product of the sizes before
  /// it. For tp of size 8 with the sub-axes tp:(1)2 and tp:(2)4 in seeds, the
  /// places are 1, 2 and 8.
  std::map<std::string, std::set<int64_t>> cuts;
  /// By name of each axis in a seed (requested sharding): the round (0, 1, …)
  /// in which the search assigns the axis.
  std::map<std::string, int> priorities;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SEEDS_H
