//===- Throughput.h - samples, tokens and FLOPs per second of training ----===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_THROUGHPUT_H
#define PCC_RUNTIME_ENGINE_OBSERVE_THROUGHPUT_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/options/RunOptions.h"
#include "runtime/program/Program.h"

#include <optional>
#include <string>

namespace pcc::runtime {

/// Converts the duration of a training step into speeds. The utilization
/// follows MFU (PaLM, Chowdhery et al. 2022), but counts all operations that
/// the programs execute, those of recomputed activations included.
class Throughput {
public:
  /// Reads from the program of this rank how many samples and tokens a step
  /// has, and how many operations this rank executes in it.
  explicit Throughput(const program::ProgramT &program);

  /// Sums the operations of all ranks. All ranks must call this, before mfu().
  /// `options.peakFlops`, if positive, replaces the peak that the program
  /// records.
  Status open(const RunOptions &options, World &world);

  /// Returns samples per second of a step that took `seconds`.
  double samplesPerSecond(double seconds) const;
  /// Returns tokens per second. Empty if the labels are not token ids.
  std::optional<double> tokensPerSecond(double seconds) const;
  /// Returns the executed operations divided by those that all ranks could
  /// execute at their peak in `seconds`. Empty if no peak is known.
  std::optional<double> mfu(double seconds) const;
  /// Returns the speeds as text: "1234 tokens/s, MFU 12.3 %".
  std::string describe(double seconds) const;

private:
  /// Samples and tokens of one step, over all ranks. `tokens` is 0 if unknown.
  double samples = 1, tokens = 0;
  /// Over all ranks: floating-point operations of one step, and operations per
  /// second at the peak (0 if unknown).
  double flops = 0, peakFlops = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_THROUGHPUT_H
