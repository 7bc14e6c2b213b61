//===- Explanation.h - what `pcc explain` tells ---------------------------===//

#ifndef PCC_PASSES_EXPLAIN_EXPLANATION_H
#define PCC_PASSES_EXPLAIN_EXPLANATION_H

#include "dialects/dist/Decision.h"
#include "passes/7-emit/bundle/CollectiveFacts.h"
#include "passes/explain/FindLints.h"
#include "passes/explain/ValueExplanation.h"
#include "passes/plan/cluster/Cluster.h"

namespace pcc::explain {

/// A place and what one axis does to it; null where nothing was recorded.
struct EndpointDecision {
  const dist::Endpoint *place = nullptr;
  const dist::Decision *decision = nullptr;
};

/// One entry of `collectives`, as `inspect` has it, and why it is there.
struct ExplainedCollective {
  emit::CollectiveFacts facts;
  int64_t stage = 0;
  std::vector<int64_t> shape; ///< global
  std::string from, to;       ///< shardings, without microbatches
  double seconds = 0;         ///< of one execution
  std::optional<dist::Cause> cause;

  /// The decisions that this follows from, the one that says most first: where
  /// a partial sum is reduced what made it, else what needs it otherwise.
  std::vector<EndpointDecision> decisions() const;
};

/// What all collectives of one kind and axes come to, in one step of a rank of
/// one position; with axes "pp" and kind "transfer" what comes from others.
struct CommunicationTotal {
  int position = 0;
  std::string axes, kind;
  int64_t calls = 0;
  int64_t receivedBytes = 0;
  double seconds = 0;
};

struct Explanation {
  std::string model;
  int64_t world = 1;
  std::vector<std::pair<std::string, int64_t>> mesh; ///< axes of many ranks
  std::string target, schedule;
  int64_t microbatches = 1;
  /// Each once per microbatch, or per step where it is shared.
  std::vector<ExplainedCollective> collectives;
  std::vector<emit::StageTransfer> transfers;
  std::vector<CommunicationTotal> totals; ///< by position
  /// In one step, all of it; per position.
  std::vector<int64_t> receivedBytesOfPosition;
  std::vector<FoundLint> lints;
  std::vector<ValueExplanation> values;
};

/// Reads a module that 6-schedule has passed and prices it by `cluster`. On
/// failure says in `error` what is missing.
std::optional<Explanation> explainModule(mlir::ModuleOp module,
                                         const plan::Cluster &cluster,
                                         std::string &error);

/// Seconds of what a choice communicates; with what it computes, if the plan
/// was made for a cluster.
double secondsOf(const dist::Choice &choice, const plan::Cluster &cluster);

/// For people; for scripts, one object on one line.
std::string toText(const Explanation &explanation,
                   const plan::Cluster &cluster);
std::string toJson(const Explanation &explanation,
                   const plan::Cluster &cluster);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_EXPLANATION_H
