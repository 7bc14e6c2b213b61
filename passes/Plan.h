//===- Plan.h - entry point of the planner --------------------------------===//
//
// Plain C++: this header and all headers that it includes are free of MLIR, so
// that tools and bindings need no MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_H
#define PCC_PASSES_PLAN_H

#include "status/Status.h"

#include <string>
#include <vector>

namespace pcc {

/// Arguments of `pcc plan --stage-times`.
struct PipelineRequest {
  /// Seconds of the forward action, of the gradient of the input and of that of
  /// the weights on one rank, and the latency of a transfer. The latency may be
  /// left out.
  std::vector<double> times;
  /// Name of a schedule, as for `--schedule`.
  std::string schedule;
  int pp = 1, microbatches = 1;
  /// Stages per pipeline rank; 0 stands for the default of the schedule.
  int virtualStages = 0;
};

/// Predicts the time of a step of a pipeline of equal ranks. Stores a sentence
/// in `text`, or JSON. Returns exit code 2 for a wrong argument, and 6 if there
/// is no such schedule.
Status predictPipeline(const PipelineRequest &request, bool asJson,
                       std::string &text);

/// Returns a line for each name that `--cluster` accepts.
std::string listClusters();

} // namespace pcc

#endif // PCC_PASSES_PLAN_H
