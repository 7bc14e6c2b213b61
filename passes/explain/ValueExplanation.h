//===- ValueExplanation.h - how one value lies, since when and what for ---===//

#ifndef PCC_PASSES_EXPLAIN_VALUEEXPLANATION_H
#define PCC_PASSES_EXPLAIN_VALUEEXPLANATION_H

#include "dialects/dist/Decision.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace pcc::explain {

/// Why one axis does to a value what it does.
struct Origin {
  std::string axis;
  std::string what;               ///< "dim 1 is split", "partial", "whole"
  std::vector<std::string> steps; ///< from the value on, to what decided it
  std::string reason;             ///< of the last step
  /// Of the op that decided it, if others were priced.
  std::vector<dist::Decision> decisions;
};

/// A reader of a value, and what it takes.
struct ValueUse {
  dist::Endpoint place;
  int64_t stage = 0;
  std::string sharding;
  /// What brings it there, "all_gather 48.0 KiB"; empty if it is there.
  std::vector<dist::PricedStep> reshard;
};

struct ValueExplanation {
  std::string name;
  dist::Endpoint maker;
  int64_t stage = 0;
  std::string dtype;
  std::vector<int64_t> shape, localShape;
  int64_t localBytes = 0;
  std::string sharding;
  std::vector<Origin> origins; ///< per axis of more than one rank
  std::vector<ValueUse> uses;
};

/// The stories of all values whose names match `pattern` (a name or a glob), in
/// program order: inputs, outputs, weights and values, per stage. `module` has
/// passed 4-shard and no later phase.
std::vector<ValueExplanation> explainValues(mlir::ModuleOp module,
                                            llvm::StringRef pattern);

/// The names of `module` that are most like `name`, at most three.
std::vector<std::string> findSimilarNames(mlir::ModuleOp module,
                                          llvm::StringRef name);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_VALUEEXPLANATION_H
