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
/// - requests of the user: strings NAME=[…] in the module attribute
///   `dist.seeds`. NAME is the name of a weight, input, output or other value,
///   or a glob that matches several names.
///
/// No seed names the time axis `mb`, whose parts are microbatches.
///
/// A seed may split a dim in an unusual way, for example over more ranks than
/// the dim has elements. The search then tries such splits for other ops as
/// well. The functions cutsAt, overfills and isBefore say which splits it may
/// try.
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

  /// Rewrites seeds (requested shardings) that split the batch dim. The batch
  /// dim becomes two parts: the microbatches, and the samples of one
  /// microbatch. The axes of the seed then split the second part. Example with
  /// 6 samples, 2 microbatches, and an axis dp of 2 ranks:
  ///
  ///   before   [6@dp]     dp splits 6 samples
  ///   after    [2|3@dp]   2 microbatches; dp splits the 3 samples of each
  ///
  /// A seed is rewritten only if its axes cannot divide the samples of one
  /// microbatch evenly. In the example, 2 ranks cannot divide 3 samples evenly.
  ///
  /// `graph` must have been built from these seeds, and its function `refine`
  /// must have been called. `graph` describes the old seeds, so do not use it
  /// after this call.
  void cutBatch(const ShardedGraph &graph, int64_t microbatches);

  /// Returns the seed (requested sharding) of a function argument or an op
  /// result; null if it has none. See findOutput for function results.
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
  /// major first. Their sizes are prime. Each sub-axis of `axis` in a seed
  /// (requested sharding) consists of whole sub-axes in this list:
  ///
  ///   tp of 12                        tp:(1)2, tp:(2)2, tp:(4)3
  ///   tp of 12, a seed has tp:(1)3    tp:(1)3, tp:(3)2, tp:(6)2
  dist::SubAxes partsOf(const dist::Axis &axis) const;

  /// Returns whether some sub-axis of the mesh axis `axis` begins or ends at
  /// the point `parts`. A point is the product of the sizes of all sub-axes
  /// before it. A sub-axis tp:(2)4 begins at the point 2 and ends at the
  /// point 2 · 4 = 8. Three kinds of sub-axes count:
  ///
  /// - the whole axis
  /// - each sub-axis in a seed (requested sharding)
  /// - each sub-axis that divides the experts of a mixture-of-experts layer
  bool cutsAt(const std::string &axis, int64_t parts) const {
    auto it = cuts.find(axis);
    return it != cuts.end() && it->second.contains(parts);
  }

  /// Returns the round (0, 1, …) in which the search assigns the axis. Later
  /// rounds do not change earlier ones. A suffix of a dim in a seed (requested
  /// sharding) sets the round: [tp p1] sets round 1 for `tp`, and [tp] sets
  /// round 0. If several seeds name the axis, the smallest round is used.
  int priorityOf(const std::string &axis) const {
    auto it = priorities.find(axis);
    return it == priorities.end() ? 0 : it->second;
  }

  /// Returns whether some seed (requested sharding) splits a factor (dim, or
  /// part of a dim) of `size` elements over more than `size` ranks.
  bool overfills(int64_t size) const { return overfull.contains(size); }

  /// Returns whether some seed (requested sharding) splits one factor (dim, or
  /// part of a dim) over axes `a` and `b`, with `b` minor to `a`.
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
  /// Fills the members `overfull`, `order`, `cuts` and `priorities`, which
  /// collect properties of all seeds (requested shardings). Emits an error and
  /// fails if two seeds divide one axis into parts that do not fit together,
  /// such as halves and thirds.
  mlir::LogicalResult collectFacts(mlir::func::FuncOp function,
                                   const dist::Mesh &mesh);
  /// Adds the properties of `seed`, the requested sharding of `value`, to the
  /// members `overfull`, `order`, `cuts` and `priorities`. Emits an error and
  /// fails if the seed and earlier ones divide one axis into parts that do not
  /// fit together, such as halves and thirds.
  mlir::LogicalResult collectFactsFrom(const Seed &seed, mlir::Value value);

  /// Seeds (requested shardings) of function arguments and of op results.
  llvm::DenseMap<mlir::Value, Seed> values;
  /// Seeds (requested shardings) of function results, by index of the result.
  std::map<unsigned, Seed> outputs;
  /// Sizes of factors (dims, or parts of dims) that some seed (requested
  /// sharding) splits over more ranks than the factor has elements.
  std::set<int64_t> overfull;
  /// Pairs (a, b) of axes for which some seed (requested sharding) splits one
  /// factor (dim, or part of a dim) over both, with b minor to a.
  std::set<std::pair<std::string, std::string>> order;
  /// For each axis: the points at which its sub-axes in seeds (requested
  /// shardings) begin or end. The ends of the axis are included. A point is the
  /// product of the sizes of all sub-axes before it. For tp of size 8 with the
  /// sub-axes tp:(1)2 and tp:(2)4, the points are 1, 2 and 8.
  std::map<std::string, std::set<int64_t>> cuts;
  /// By name of each axis in a seed (requested sharding): the round (0, 1, …)
  /// in which the search assigns the axis.
  std::map<std::string, int> priorities;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SEEDS_H
