//===- Seeds.h - shardings that the user asked for ------------------------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_SEEDS_H
#define PCC_PASSES_4_SHARD_GRAPH_SEEDS_H

#include "dialects/dist/DistDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <set>

namespace pcc::shard {

/// A sharding that a value was pinned to, and the text that asked for it.
struct Seed {
  dist::Sharding sharding;
  llvm::StringRef text;
  /// The model's annotations ask for it, not the user.
  bool isAnnotation = false;

  /// "--shard 'w=[tp,-]'" or "the model's annotation 'w=[tp, -]'".
  std::string source() const {
    return (isAnnotation ? "the model's annotation '" : "--shard '") +
           text.str() + "'";
  }
};

/// The seeds of a function, from two sources. What the model's annotations ask
/// for: `dist.sharding` on arguments, results and parameters, and `dist.pin`
/// ops. What the user asks for: the module's `dist.seeds` (strings NAME=[…],
/// names may be globs), applied to weights, inputs, outputs and values by name.
/// They say nothing of the time axis.
class Seeds {
public:
  /// Fails after an error where a name matches nothing, the text does not
  /// parse, the sharding does not fit the mesh or the shape, sub-axes of two
  /// seeds do not align, or the user asks for something else than the model.
  static mlir::FailureOr<Seeds> resolve(mlir::func::FuncOp function,
                                        const dist::Mesh &mesh);

  /// What an argument, or an op's result, is pinned to; null if it is not. A
  /// value that is an output by the same name is not: the output is.
  const Seed *find(mlir::Value value) const {
    auto it = values.find(value);
    return it == values.end() ? nullptr : &it->second;
  }
  const Seed *findOutput(unsigned index) const {
    auto it = outputs.find(index);
    return it == outputs.end() ? nullptr : &it->second;
  }

  /// The axis in parts that no seed cuts, prime where possible, major first.
  dist::SubAxes partsOf(const dist::Axis &axis) const;

  /// Whether some seed names parts of the axis that begin or end behind the
  /// first `parts` ones.
  bool cutsAt(const std::string &axis, int64_t parts) const {
    auto it = cuts.find(axis);
    return it != cuts.end() && it->second.contains(parts);
  }

  /// In which round the axis is handed out: the least `p` behind a dim that
  /// seeds split by it; 0 if they say nothing. What axes of one round split is
  /// decided as if there were none of later rounds.
  int priorityOf(const std::string &axis) const {
    auto it = priorities.find(axis);
    return it == priorities.end() ? 0 : it->second;
  }

  /// Whether some seed splits a factor of `size` over more ranks than it has
  /// elements.
  bool overfills(int64_t size) const { return overfull.contains(size); }

  /// Whether some seed splits a factor over `a` and, minor to it, `b`.
  bool isBefore(const std::string &a, const std::string &b) const {
    return order.contains({a, b});
  }

private:
  mlir::LogicalResult takeAnnotations(mlir::func::FuncOp function,
                                      const dist::Mesh &mesh);
  mlir::LogicalResult resolveText(mlir::func::FuncOp function,
                                  const dist::Mesh &mesh, llvm::StringRef text);
  mlir::LogicalResult collectFacts(mlir::func::FuncOp function,
                                   const dist::Mesh &mesh);
  mlir::LogicalResult collectFactsFrom(const Seed &seed,
                                       mlir::func::FuncOp function);

  llvm::DenseMap<mlir::Value, Seed> values;
  std::map<unsigned, Seed> outputs;
  std::set<int64_t> overfull;
  std::set<std::pair<std::string, std::string>> order;
  /// Per axis where seeds cut it: 2 for tp:(1)2 and tp:(2)4 of 8.
  std::map<std::string, std::set<int64_t>> cuts;
  std::map<std::string, int> priorities;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SEEDS_H
