//===- Seeds.h - shardings that the user or the model pins ----------------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_SEEDS_H
#define PCC_PASSES_4_SHARD_GRAPH_SEEDS_H

#include "dialects/dist/DistDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <set>

namespace pcc::shard {

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
/// Seeds never name the time axis. The queries below tell the search which
/// additional choices the ops next to a seed need, so that no reshard is needed
/// there.
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

  /// Returns the seed (requested sharding) of a function argument or of a
  /// result of an op; null if it has none. If a user's seed names a function
  /// result, findOutput returns it instead.
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
  /// major first. Their sizes are prime, and no seed names only a piece of one
  /// of them.
  ///
  ///   tp of 12                        tp:(1)2, tp:(2)2, tp:(4)3
  ///   tp of 12, a seed has tp:(1)3    tp:(1)3, tp:(3)2, tp:(6)2
  dist::SubAxes partsOf(const dist::Axis &axis) const;

  /// Returns whether some seed cuts `axis` at this place: a sub-axis in a seed
  /// begins or ends there. `parts` is the product of the sizes before the
  /// place; for tp:(2)4 the places are 2 and 8. Also true at both ends of the
  /// axis.
  bool cutsAt(const std::string &axis, int64_t parts) const {
    auto it = cuts.find(axis);
    return it != cuts.end() && it->second.contains(parts);
  }

  /// Returns the round (0, 1, …) in which the search assigns the axis. A seed
  /// gives the round as a number `p1` behind a dim; if several seeds name the
  /// axis, the least number counts, and 0 is the default. Axes of later rounds
  /// have no influence on those of earlier rounds.
  int priorityOf(const std::string &axis) const {
    auto it = priorities.find(axis);
    return it == priorities.end() ? 0 : it->second;
  }

  /// Returns whether some seed splits a factor of `size` elements over more
  /// ranks than it has elements.
  bool overfills(int64_t size) const { return overfull.contains(size); }

  /// Returns whether some seed splits a factor over axis `a` and, minor to `a`,
  /// over axis `b`.
  bool isBefore(const std::string &a, const std::string &b) const {
    return order.contains({a, b});
  }

private:
  /// Adds a seed for each annotation of the model. Emits an error and fails if
  /// one does not fit.
  mlir::LogicalResult takeAnnotations(mlir::func::FuncOp function,
                                      const dist::Mesh &mesh);
  /// Adds the seeds of the values that match NAME of one request NAME=[…] of
  /// the user.
  mlir::LogicalResult resolveText(mlir::func::FuncOp function,
                                  const dist::Mesh &mesh, llvm::StringRef text);
  /// Sets `overfull`, `order`, `cuts` and `priorities` according to all seeds.
  mlir::LogicalResult collectFacts(mlir::func::FuncOp function,
                                   const dist::Mesh &mesh);
  /// Updates `overfull`, `order`, `cuts` and `priorities` according to one
  /// seed, which is that of `value`.
  mlir::LogicalResult collectFactsFrom(const Seed &seed, mlir::Value value);

  /// Seeds (requested shardings) of function arguments and of op results.
  llvm::DenseMap<mlir::Value, Seed> values;
  /// Seeds (requested shardings) of function results, by index of the result.
  std::map<unsigned, Seed> outputs;
  /// Sizes of factors (dims, or parts of dims) that some seed splits over more
  /// ranks than they have elements.
  std::set<int64_t> overfull;
  /// Pairs (a, b) of axes for which some seed splits a factor over a and, minor
  /// to a, over b; see isBefore.
  std::set<std::pair<std::string, std::string>> order;
  /// By axis: the places at which seeds cut the axis, including both ends. For
  /// tp of size 8 with the sub-axes tp:(1)2 and tp:(2)4 in seeds, the places
  /// are 1, 2 and 8.
  std::map<std::string, std::set<int64_t>> cuts;
  /// By name of each axis in a seed: the round in which it is assigned; see
  /// priorityOf.
  std::map<std::string, int> priorities;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SEEDS_H
