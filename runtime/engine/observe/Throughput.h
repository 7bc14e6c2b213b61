//===- Throughput.h - how fast training goes ------------------------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_THROUGHPUT_H
#define PCC_RUNTIME_ENGINE_OBSERVE_THROUGHPUT_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/options/RunOptions.h"
#include "runtime/program/Program.h"

#include <optional>
#include <string>

namespace pcc::runtime {

/// What one step is, so that its seconds become a speed.
class Throughput {
public:
  explicit Throughput(const program::ProgramT &program);

  /// Collective over the world: adds up what all ranks compute in a step.
  Status open(const RunOptions &options, World &world);

  double samplesPerSecond(double seconds) const;
  /// Nothing if the labels are not of tokens.
  std::optional<double> tokensPerSecond(double seconds) const;
  /// The share of what all ranks could compute at their peak that is what the
  /// programs compute. Nothing if nobody has said what the peak is.
  std::optional<double> mfu(double seconds) const;
  /// "1234 tokens/s, MFU 12.3 %"
  std::string describe(double seconds) const;

private:
  double samples = 1, tokens = 0;
  /// Of the whole world: operations of a step, and per second at the peak.
  double flops = 0, peakFlops = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_THROUGHPUT_H
