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

/// The seeds (requested shardings) of a function. The model requests a sharding
/// by the attribute `dist.sharding` or the op `dist.pin`. The user requests a
/// sharding by a string NAME=[…] in the module attribute `dist.seeds`. NAME is
/// the name of a weight, input, output or other value, or a glob. No seed names
/// the axis `mb`, whose parts are microbatches.
///
/// A seed may split a dim in an unusual way, for example over more ranks than
/// the dim has elements. The search then tries this for other ops, too (cutsAt,
/// overfills and isBefore).
class Seeds {
public:
  /// Collects the seeds (requested shardings) of `function`. Emits an error and
  /// fails if:
  ///
  /// - The user requests a sharding for a name, and no value has this name.
  /// - The sharding that the user requests cannot be parsed.
  /// - A seed does not fit `mesh` or the shape of its value.
  /// - Two seeds divide one axis into sub-axes (parts) that do not fit
  ///   together. For example, one seed uses the sub-axis x:(1)2 of an axis x of
  ///   size 6, and another seed uses x:(1)3. The number 2 does not divide 3, so
  ///   x cannot be cut into sub-axes that form both x:(1)2 and x:(1)3.
  /// - The user and the model request different shardings for one value.
  static mlir::FailureOr<Seeds> resolve(mlir::func::FuncOp function,
                                        const dist::Mesh &mesh);

  /// Rewrites each seed (requested sharding) that splits a batch dim over ranks
  /// that cannot divide the samples of one microbatch evenly. The dim gets two
  /// factors: the number of microbatches, and the samples of one microbatch.
  /// The requested axes then split the second factor. For 6 samples, 2
  /// microbatches and 2 ranks of dp, [6@dp] becomes [2|3@dp]. Without the
  /// rewrite, microbatches might differ in size
  /// (ShardedGraph::unevenMicrobatches). `graph` is the graph of these seeds
  /// after its function `refine`. Do not use `graph` after the rewrite.
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

  /// Cuts the mesh axis `axis` into sub-axes of prime sizes, and returns them,
  /// major first. The cuts include the begin and the end of each sub-axis in a
  /// seed (requested sharding), and of each sub-axis that divides experts.
  /// Example for an axis tp of size 12, where tp:(4)3 is a sub-axis of size 3
  /// after sub-axes of product 4:
  ///
  ///   sub-axis in a seed   result
  ///   none                 tp:(1)2, tp:(2)2, tp:(4)3
  ///   tp:(1)3              tp:(1)3, tp:(3)2, tp:(6)2
  dist::SubAxes partsOf(const dist::Axis &axis) const;

  /// Returns whether some sub-axis of the mesh axis `axis` begins or ends at
  /// the number `parts`. A sub-axis is a part of a mesh axis. It begins at the
  /// product of the sizes of all sub-axes before it. Example: an axis tp of
  /// size 8 consists of two sub-axes: tp:(1)2 of size 2, and then tp:(2)4 of
  /// size 4. The sub-axis tp:(1)2 begins at 1 and ends at 2. The sub-axis
  /// tp:(2)4 begins at 2 and ends at 8, because 2 · 4 = 8. For tp, the function
  /// then returns true for the numbers 1, 2 and 8. Three kinds of sub-axes
  /// count:
  ///
  /// - the whole axis
  /// - each sub-axis in a requested sharding
  /// - each sub-axis that divides the experts of a mixture-of-experts layer
  bool cutsAt(const std::string &axis, int64_t parts) const {
    auto it = cuts.find(axis);
    return it != cuts.end() && it->second.contains(parts);
  }

  /// Returns the round in which the search assigns the mesh axis `axis`. The
  /// search decides first which dims the axes of round 0 split, then which dims
  /// the axes of round 1 split, and so on. A seed (requested sharding) can set
  /// the round by a suffix of a dim. The seed [tp p1] sets round 1 for the axis
  /// tp, and the seed [tp] sets round 0. If several seeds name the axis, the
  /// smallest round is used. If no seed names the axis, the round is 0.
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
  /// Adds a seed (requested sharding) for each sharding that the model itself
  /// requests. The model requests a sharding by an attribute `dist.sharding` of
  /// an argument, a result or a parameter, or by an op `dist.pin`. Emits an
  /// error and fails if a requested sharding does not fit `mesh` or the shape
  /// of its value. For example, a sharding of 3 dims does not fit a matrix.
  mlir::LogicalResult takeAnnotations(mlir::func::FuncOp function,
                                      const dist::Mesh &mesh);
  /// Adds a seed (requested sharding) for each value that one request of the
  /// user names. `text` is the request in the form NAME=[…], such as w=[tp,-].
  /// NAME is the name of a value, or a glob that matches several names. Emits
  /// an error and fails in three cases:
  ///
  /// - No value has a name that NAME matches.
  /// - The sharding cannot be parsed.
  /// - The sharding does not fit `mesh` or the shape of a value.
  mlir::LogicalResult resolveText(mlir::func::FuncOp function,
                                  const dist::Mesh &mesh, llvm::StringRef text);
  /// Fills `overfull`, `order`, `cuts` and `priorities` from all seeds
  /// (requested shardings). Emits an error and fails if two seeds cut one axis
  /// into sub-axes (parts) that do not fit together. For example, x:(1)2 and
  /// x:(1)3 of an axis x of size 6 do not fit together, because 2 does not
  /// divide 3.
  mlir::LogicalResult collectFacts(mlir::func::FuncOp function,
                                   const dist::Mesh &mesh);
  /// Adds the entries for `seed`, the requested sharding of `value`, to
  /// `overfull`, `order`, `cuts` and `priorities`. Emits an error at `value`
  /// and fails if `seed` and an earlier seed cut one axis into sub-axes (parts)
  /// that do not fit together.
  mlir::LogicalResult collectFactsFrom(const Seed &seed, mlir::Value value);

  /// Seeds (requested shardings) of function arguments and of op results.
  llvm::DenseMap<mlir::Value, Seed> values;
  /// Seeds (requested shardings) of function results, by index of the result.
  std::map<unsigned, Seed> outputs;
  /// Sizes of factors (dims, or parts of dims) that some seed (requested
  /// sharding) splits over more ranks than the factor has elements.
  std::set<int64_t> overfull;
  /// Pairs (a, b) of axes. The set contains a pair if some seed (requested
  /// sharding) splits one factor first over `a` and then over `b`. A factor is
  /// a dim, or part of a dim. For example, the seed [8@tp+dp] splits a dim of 8
  /// elements first over tp and then over dp. For this seed, the set contains
  /// (tp, dp), but not (dp, tp).
  ///
  /// The set also contains a pair of each axis in a seed with itself. In the
  /// example, these pairs are (tp, tp) and (dp, dp).
  std::set<std::pair<std::string, std::string>> order;
  /// For each mesh axis: the numbers at which its sub-axes begin or end. A
  /// sub-axis is a part of a mesh axis. It begins at the product of the sizes
  /// of all sub-axes before it. Example: an axis tp of size 8 consists of two
  /// sub-axes: tp:(1)2 of size 2, and then tp:(2)4 of size 4. The sub-axis
  /// tp:(1)2 begins at 1 and ends at 2. The sub-axis tp:(2)4 begins at 2 and
  /// ends at 8, because 2 · 4 = 8. The set for tp is then {1, 2, 8}. Three
  /// kinds of sub-axes count:
  ///
  /// - the whole axis
  /// - each sub-axis in a requested sharding
  /// - each sub-axis that divides the experts of a mixture-of-experts layer
  std::map<std::string, std::set<int64_t>> cuts;
  /// For the name of each axis that splits a dim in a seed (requested
  /// sharding): the round in which the search assigns the axis. The search
  /// decides first which dims the axes of round 0 split, then which dims the
  /// axes of round 1 split, and so on. The seed [tp p1] sets round 1 for the
  /// axis tp, and the seed [tp] sets round 0. If several seeds name an axis,
  /// the smallest round is used.
  std::map<std::string, int> priorities;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SEEDS_H
