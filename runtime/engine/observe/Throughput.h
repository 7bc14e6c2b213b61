//===- Throughput.h - samples, tokens and FLOPs per second of training ----===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_THROUGHPUT_H
#define PCC_RUNTIME_ENGINE_OBSERVE_THROUGHPUT_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/options/RunOptions.h"
#include "runtime/program/Program.h"

#include <optional>
#include <string>

namespace pcc::runtime {

/// Converts the duration of a training step to samples per second, tokens per
/// second, and model FLOPs utilization (MFU). Unlike in PaLM (Chowdhery et al.
/// 2022), MFU includes the operations that recompute activations.
class Throughput {
public:
  /// Reads from `program` the samples and tokens of a step over all ranks, and
  /// the floating-point operations of this rank.
  explicit Throughput(const program::ProgramT &program);

  /// Sums the floating-point operations of a step over all ranks. All ranks
  /// must call this before mfu(). A positive `options.peakFlops` replaces the
  /// program's value for the peak speed of a rank.
  Status open(const RunOptions &options, World &world);

  /// Returns the samples per second of a step that took `seconds`.
  double samplesPerSecond(double seconds) const;
  /// Returns the tokens per second of a step that took `seconds`; std::nullopt
  /// if the labels are not token ids.
  std::optional<double> tokensPerSecond(double seconds) const;
  /// Returns the utilization in a step that took `seconds`: executed
  /// floating-point operations of all ranks, divided by those possible at peak
  /// speed. std::nullopt if the peak speed is unknown.
  std::optional<double> mfu(double seconds) const;
  /// Returns the speeds of a step that took `seconds` as text, such as "1234
  /// tokens/s, MFU 12.3 %".
  std::string describe(double seconds) const;

private:
  /// Samples and tokens of one step over all ranks. `tokens` is 0 if the labels
  /// are not token ids.
  double samples = 1, tokens = 0;
  /// Floating-point operations of one step (`flops`), and per second at peak
  /// speed (`peakFlops`, 0 if unknown). Before open(), these are numbers of
  /// this rank; after open(), they are sums over all ranks.
  double flops = 0, peakFlops = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_THROUGHPUT_H
