//===- Throughput.h - samples, tokens and FLOPs per second of training ----===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_THROUGHPUT_H
#define PCC_RUNTIME_ENGINE_OBSERVE_THROUGHPUT_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/options/RunOptions.h"
#include "runtime/program/Program.h"

#include <optional>
#include <string>

namespace pcc::runtime {

/// Converts the duration of a training step to samples, tokens and operations
/// per second. mfu() is the model FLOPs utilization of PaLM (Chowdhery et al.
/// 2022) with one difference: it also counts the operations of recomputed
/// activations.
class Throughput {
public:
  /// Reads three numbers per step from `program`:
  ///
  /// - the samples and the tokens over all ranks;
  /// - the floating-point operations of this rank.
  explicit Throughput(const program::ProgramT &program);

  /// Sums the operations per step over all ranks. All ranks must call this
  /// before mfu(). If `options.peakFlops` is positive, it replaces the peak
  /// speed that the program records.
  Status open(const RunOptions &options, World &world);

  /// Returns the samples per second of a step that took `seconds`.
  double samplesPerSecond(double seconds) const;
  /// Returns the tokens per second of a step that took `seconds`; std::nullopt
  /// if the labels are not token ids.
  std::optional<double> tokensPerSecond(double seconds) const;
  /// Returns the utilization of a step that took `seconds`: the floating-point
  /// operations that all ranks executed, divided by the number that they can
  /// execute in this time at peak speed. std::nullopt if the peak speed is
  /// unknown.
  std::optional<double> mfu(double seconds) const;
  /// Returns the speeds of a step that took `seconds` as text: "1234 tokens/s,
  /// MFU 12.3 %".
  std::string describe(double seconds) const;

private:
  /// `samples`, `tokens`: samples and tokens of one step over all ranks.
  /// `tokens` is 0 if the labels are not token ids.
  double samples = 1, tokens = 0;
  /// Sums over all ranks, after open(). `flops`: floating-point operations of
  /// one step. `peakFlops`: floating-point operations per second at peak speed;
  /// 0 if unknown.
  double flops = 0, peakFlops = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_THROUGHPUT_H
