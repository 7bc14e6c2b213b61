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
  /// Reads these numbers from `program`:
  ///
  /// - the number of samples that all ranks together process in one step
  /// - the number of tokens that all ranks together process in one step
  /// - the number of floating-point operations of this rank in one step
  /// - the peak speed of this rank in floating-point operations per second
  explicit Throughput(const program::ProgramT &program);

  /// Prepares the calculation of mfu(). All ranks must call this function
  /// together, before any rank calls mfu(). The function does two things:
  ///
  /// - It adds up the floating-point operations of all ranks in one step.
  /// - It sets the peak speed of all ranks together. This is the peak speed of
  ///   one rank, multiplied by the number of ranks. The peak speed of one rank
  ///   is `options.peakFlops`. If this option is 0, the peak speed of one rank
  ///   is the value in the program.
  Status open(const RunOptions &options, World &world);

  /// Returns the samples per second of a step that took `seconds`.
  double samplesPerSecond(double seconds) const;
  /// Returns the tokens per second of a step that took `seconds`; std::nullopt
  /// if the labels are not token ids.
  std::optional<double> tokensPerSecond(double seconds) const;
  /// Returns the model FLOPs utilization of a step that took `seconds`. For
  /// example, all ranks together executed 3e12 floating-point operations in 2
  /// seconds. At peak speed, all ranks together execute 5e12 operations per
  /// second. The result is 3e12 / (2 * 5e12) = 0.3. Returns std::nullopt if the
  /// peak speed is unknown.
  std::optional<double> mfu(double seconds) const;
  /// Returns the speeds of a step that took `seconds` as text, such as "1234
  /// tokens/s, MFU 12.3 %".
  std::string describe(double seconds) const;

private:
  /// Number of samples (`samples`) and number of tokens (`tokens`) that all
  /// ranks together process in one step. `tokens` is 0 if the labels are not
  /// token ids.
  double samples = 1, tokens = 0;
  /// Two numbers of floating-point operations:
  ///
  /// - `flops`: the number of operations in one step
  /// - `peakFlops`: the number of operations per second at peak speed; 0 if the
  ///   peak speed is unknown
  ///
  /// The constructor sets both numbers for this rank alone. open() replaces
  /// them by the numbers for all ranks together.
  double flops = 0, peakFlops = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_THROUGHPUT_H
