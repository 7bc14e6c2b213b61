//===- Decision.h - why ops and reshards lie as they do -------------------===//
//
// What `4-shard` considered, as debug information: it stands in the locations
// of ops, which reshards and the collectives made of them take over, and no
// pass may depend on it.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_DIST_DECISION_H
#define PCC_DIALECTS_DIST_DECISION_H

#include "mlir/IR/Location.h"

#include <optional>
#include <string>
#include <vector>

namespace pcc::dist {

/// One collective beside an op.
struct PricedStep {
  std::string kind;              ///< "all_gather"
  std::vector<std::string> axes; ///< of its group
  int64_t ranks = 1;             ///< of its group,
  int64_t stride = 1;            ///< which are so far apart
  int64_t receivedBytes = 0;
  /// Other readers of the value need it too: it costs this op nothing more.
  bool isShared = false;

  bool operator==(const PricedStep &) const = default;
};

/// One thing that an axis could do to an op, priced with all its neighbours as
/// they are; weights that only the op reads lie as it takes them.
struct Choice {
  std::string what; ///< "split dim 1 of 'w'"
  std::vector<PricedStep> steps;
  /// Local bytes of the op's results and of such weights.
  int64_t memoryBytes = 0;
  /// Modelled picoseconds of the op and the steps, which come before bytes; 0
  /// if no cluster was given.
  int64_t picoseconds = 0;
  /// Why it may not be taken whatever it costs; empty if it may.
  std::string refused;

  int64_t receivedBytes() const;
  int64_t calls() const;
  bool operator==(const Choice &) const = default;
};

/// What one axis does to an op, and what else it could have done, the cheapest
/// first, what may not be last.
struct Decision {
  std::string op; ///< what the op was when it was decided: "softmax"
  std::string axis;
  Choice chosen;
  std::vector<Choice> others;

  bool operator==(const Decision &) const = default;
};

/// An op, an input or an output of the model, or a pin.
struct Endpoint {
  std::string op;     ///< "matmul", "input", "output", "pin"
  std::string node;   ///< the ONNX node, or the name of the input or output
  std::string source; ///< FILE:LINE of the program that was exported
  std::string pin;    ///< what pins it: "--shard 'y=[-,tp]'"
  std::vector<Decision> decisions;

  bool operator==(const Endpoint &) const = default;
};

/// Why a value is resharded: what makes it, and what needs it otherwise.
struct Cause {
  Endpoint by;
  std::vector<Endpoint> uses;

  bool operator==(const Cause &) const = default;
};

/// `location` with what was decided about its op in place of what it had.
mlir::Location withDecisions(mlir::Location location,
                             const std::vector<Decision> &decisions);
std::vector<Decision> decisionsOf(mlir::Location location);

/// `location` with the cause of a reshard.
mlir::Location withCause(mlir::Location location, const Cause &cause);
std::optional<Cause> causeOf(mlir::Location location);

/// What a pin of `4-shard` leaves on the op, argument or result that it holds:
/// StringAttr, `--shard 'y=[-,tp]'` or `the model: 'y=[-,tp]'`.
inline constexpr llvm::StringLiteral pinnedName = "dist.pinned";

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_DECISION_H
