//===- Seeds.h - shardings that the user or the model pins ----------------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_SEEDS_H
#define PCC_PASSES_4_SHARD_GRAPH_SEEDS_H

#include "dialects/dist/DistDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <set>

namespace pcc::shard {

/// A sharding that a value is pinned to, and the text that asked for it.
struct Seed {
  dist::Sharding sharding;
  /// The request as NAME=[…]. The text is owned by an attribute.
  llvm::StringRef text;
  /// True if the model's annotations ask for the sharding, false if the user
  /// does.
  bool isAnnotation = false;

  /// Returns the request in words, for messages: "--shard 'w=[tp,-]'" or "the
  /// model's annotation 'w=[tp, -]'".
  std::string source() const {
    return (isAnnotation ? "the model's annotation '" : "--shard '") +
           text.str() + "'";
  }
};

/// The seeds of a function, which come from two sources:
///
/// - annotations of the model: `dist.sharding` on arguments, results and
///   parameters, and `dist.pin` ops;
/// - requests of the user: the strings NAME=[…] in the module's `dist.seeds`.
///   NAME is a name or a glob, and is matched against weights, inputs, outputs
///   and other named values.
///
/// Seeds never name the time axis. The queries below tell the search which
/// additional choices ops around a pin need, so that no reshard is needed.
class Seeds {
public:
  /// Collects the seeds of `function`. Fails after an error in these cases:
  ///
  /// - a name matches nothing;
  /// - a text does not parse;
  /// - a sharding does not fit the mesh or the shape;
  /// - two seeds cut an axis into sub-axes that do not align;
  /// - the user asks for another sharding than the model.
  static mlir::FailureOr<Seeds> resolve(mlir::func::FuncOp function,
                                        const dist::Mesh &mesh);

  /// Returns the seed of a function argument or of an op's result; null if it
  /// has none. A user's seed that names a function result is found by
  /// findOutput instead.
  const Seed *find(mlir::Value value) const {
    auto it = values.find(value);
    return it == values.end() ? nullptr : &it->second;
  }
  /// Returns the seed of function result `index`; null if it has none.
  const Seed *findOutput(unsigned index) const {
    auto it = outputs.find(index);
    return it == outputs.end() ? nullptr : &it->second;
  }

  /// Returns the parts in which `axis` is assigned, major first. Seeds cut none
  /// of them, and their sizes are prime.
  ///
  ///   tp of 12                        tp:(1)2, tp:(2)2, tp:(4)3
  ///   tp of 12, a seed has tp:(1)3    tp:(1)3, tp:(3)2, tp:(6)2
  dist::SubAxes partsOf(const dist::Axis &axis) const;

  /// Returns whether a sub-axis that a seed names begins or ends after the
  /// first `parts` parts of `axis`. True at both ends of the axis.
  bool cutsAt(const std::string &axis, int64_t parts) const {
    auto it = cuts.find(axis);
    return it != cuts.end() && it->second.contains(parts);
  }

  /// Returns the round in which the axis is assigned: the least number `p` that
  /// seeds write behind a dim that the axis splits, or 0. Axes of a later round
  /// do not influence the axes of an earlier one.
  int priorityOf(const std::string &axis) const {
    auto it = priorities.find(axis);
    return it == priorities.end() ? 0 : it->second;
  }

  /// Returns whether some seed splits a factor of `size` elements over more
  /// than `size` ranks.
  bool overfills(int64_t size) const { return overfull.contains(size); }

  /// Returns whether some seed splits a factor over axis `a` and, minor to it,
  /// over axis `b`.
  bool isBefore(const std::string &a, const std::string &b) const {
    return order.contains({a, b});
  }

private:
  /// Adds the seeds of the model's annotations.
  mlir::LogicalResult takeAnnotations(mlir::func::FuncOp function,
                                      const dist::Mesh &mesh);
  /// Adds the seeds of one request NAME=[…] of the user.
  mlir::LogicalResult resolveText(mlir::func::FuncOp function,
                                  const dist::Mesh &mesh, llvm::StringRef text);
  /// Fills `overfull`, `order`, `cuts` and `priorities` from all seeds.
  mlir::LogicalResult collectFacts(mlir::func::FuncOp function,
                                   const dist::Mesh &mesh);
  /// Adds what one seed says to these members.
  mlir::LogicalResult collectFactsFrom(const Seed &seed,
                                       mlir::func::FuncOp function);

  /// Seeds of arguments and of op results.
  llvm::DenseMap<mlir::Value, Seed> values;
  /// Seeds of function results, by index.
  std::map<unsigned, Seed> outputs;
  /// Sizes of factors that some seed splits over more ranks than elements.
  std::set<int64_t> overfull;
  /// Pairs (a, b) of axes for which isBefore holds.
  std::set<std::pair<std::string, std::string>> order;
  /// Per axis: the positions at which seeds cut it, its ends included. For tp
  /// of 8 with tp:(1)2 and tp:(2)4 these are 1, 2 and 8.
  std::map<std::string, std::set<int64_t>> cuts;
  /// Per axis that some seed names: its round.
  std::map<std::string, int> priorities;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SEEDS_H
