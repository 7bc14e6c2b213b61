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

  /// Rewrites requested shardings of the batch dim (the dim of samples) if the
  /// ranks cannot divide the samples of one microbatch evenly. A microbatch is
  /// a piece of the batch. Each rank computes one microbatch after another.
  /// After the rewrite, the batch dim has two factors: the number of
  /// microbatches, and the number of samples in one microbatch. The requested
  /// axes then split the second factor. Example: the user requests that the
  /// axis dp of 2 ranks splits 6 samples, and there are 2 microbatches of 3
  /// samples:
  ///
  ///   before   [6@dp]     dp splits 6 samples into 3 and 3
  ///   after    [2|3@dp]   dp splits the 3 samples of a microbatch into 2 and 1
  ///
  /// Without the rewrite, one microbatch might have 4 samples, and the other
  /// one 2 samples (see ShardedGraph::unevenMicrobatches). If the ranks can
  /// divide the samples of one microbatch evenly, the request stays as it is.
  /// For example, 2 ranks can divide 4 samples evenly.
  ///
  /// `graph` is the graph that was built with the requested shardings before
  /// the rewrite. The caller must have called its function `refine`. After the
  /// rewrite, the graph is out of date and must not be used.
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

  /// Cuts the mesh axis `axis` into sub-axes, each of a prime size, and returns
  /// them, major first. The search assigns these sub-axes one after another. A
  /// sub-axis is a part of a mesh axis. For example, tp:(4)3 is a sub-axis of
  /// size 3 of the axis tp. The product of the sizes of all sub-axes before it
  /// is 4.
  ///
  /// A requested sharding may use only a part of the axis. The axis is then cut
  /// at the beginning and at the end of this part. The axis is also cut at the
  /// beginning and at the end of a part that divides the experts of a
  /// mixture-of-experts layer. Examples for an axis tp of size 12:
  ///
  ///   part that a request uses   result
  ///   none                       tp:(1)2, tp:(2)2, tp:(4)3
  ///   tp:(1)3                    tp:(1)3, tp:(3)2, tp:(6)2
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
  /// Fills four members from all seeds (requested shardings):
  ///
  /// - `overfull`: sizes of factors that a seed splits over more ranks than the
  ///   factor has elements. A factor is a dim, or part of a dim.
  /// - `order`: pairs (a, b) of axes. A pair says that a seed splits one factor
  ///   first over axis a and then over axis b.
  /// - `cuts`: the numbers at which sub-axes (parts of axes) begin and end
  /// - `priorities`: the round in which the search assigns an axis. The search
  ///   assigns the axes of round 0 first, then the axes of round 1, and so on.
  ///
  /// Emits an error and fails if two seeds divide one axis into sub-axes that
  /// do not fit together. For example, one seed uses the sub-axis x:(1)2 of
  /// an axis x of size 6, and another seed uses x:(1)3. The number 2 does not
  /// divide 3, so x cannot be cut into sub-axes that form both x:(1)2 and
  /// x:(1)3.
  mlir::LogicalResult collectFacts(mlir::func::FuncOp function,
                                   const dist::Mesh &mesh);
  /// Adds entries for one seed to four members. `seed` is the requested
  /// sharding of `value`. The members are:
  ///
  /// - `overfull`: sizes of factors that a seed splits over more ranks than the
  ///   factor has elements. A factor is a dim, or part of a dim.
  /// - `order`: pairs (a, b) of axes. A pair says that a seed splits one factor
  ///   first over axis a and then over axis b.
  /// - `cuts`: the numbers at which sub-axes (parts of axes) begin and end
  /// - `priorities`: the round in which the search assigns an axis. The search
  ///   assigns the axes of round 0 first, then the axes of round 1, and so on.
  ///
  /// Emits an error and fails if `seed` and an earlier seed divide one axis
  /// into sub-axes that do not fit together. For example, one seed uses the
  /// sub-axis x:(1)2 of an axis x of size 6, and another seed uses x:(1)3. The
  /// number 2 does not divide 3, so x cannot be cut into sub-axes that form
  /// both x:(1)2 and x:(1)3.
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
