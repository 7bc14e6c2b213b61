//===- ArenaUse.h - bytes in use at each step of a program ----------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_ARENAUSE_H
#define PCC_PASSES_7_EMIT_PROGRAM_ARENAUSE_H

#include "passes/7-emit/program/MicrobatchLiveness.h"

#include <map>

namespace pcc::emit {

/// Adds up the bytes that values occupy at each step of a program. A step runs
/// a function, starts messages or waits for messages. The sums take into
/// account that different microbatches use their values at different steps: for
/// example, fewer activations are in use while the first microbatch runs. The
/// arena plan, in contrast, has only one live range per value.
class ArenaUse {
public:
  /// Bytes in use at one step. `during` is the number of bytes at the
  /// instruction of the step at which it is largest. `after` is the number of
  /// bytes that are still in use when the step has ended.
  struct StepBytes {
    int64_t during = 0, after = 0;
  };

  /// Keeps references to both arguments, which must outlive this object. `line`
  /// must already number all instructions.
  ArenaUse(const InstantLine &line, const StepIndex &index);

  /// Adds a value that is in use during the whole program.
  void addWhole(int64_t bytes) { whole += bytes; }
  /// Adds a temporary value of a function. Each run of the function uses the
  /// buffer from instruction `touched.first` to instruction `touched.last`. If
  /// these two instructions belong to different functions, the value counts
  /// like one that addWhole() adds.
  void addTemporary(const Instants &touched, int64_t bytes);
  /// Adds a value that is in use from step `first` to step `last`. In step
  /// `first`, the value is in use only at the instants `atFirst`, and in step
  /// `last` only at the instants `atLast`. An instant is the number of an
  /// instruction, of a start of messages, or of a wait for messages. In the
  /// steps between, the value is in use at all instants. If both steps are the
  /// same, `atFirst` counts. `last` may be the number of steps: the value is
  /// then in use to the end of the program.
  void addSpan(size_t first, const Instants &atFirst, size_t last,
               const Instants &atLast, int64_t bytes);

  /// Returns one entry per step of the program.
  std::vector<StepBytes> compute() const;

private:
  /// Bytes that are in use from instant `first` to instant `last`, both
  /// included, while one step runs.
  struct Piece {
    size_t first, last;
    int64_t bytes;
    friend auto operator<=>(const Piece &, const Piece &) = default;
  };
  /// Returns the most bytes that are in use at one instant, summed over
  /// `pieces`.
  static int64_t peakOf(llvm::ArrayRef<Piece> pieces);

  const InstantLine &line;
  const StepIndex &index;
  int64_t whole = 0;
  /// Map from the first instant (number of an instruction) of each function to
  /// the function.
  std::map<size_t, mlir::Operation *> functionAt;
  /// For each function: the temporary values that addTemporary() has added.
  /// Each run of the function uses them.
  llvm::DenseMap<mlir::Operation *, std::vector<Piece>> temporaries;
  /// For each step: the values that are in use during a part of the step only,
  /// because their use begins or ends in it.
  std::vector<std::vector<Piece>> partial;
  /// Changes of two numbers from step i - 1 to step i. Element i of
  /// `throughout` is the change of the bytes that are in use during the whole
  /// step. Element i of `behind` is the change of the bytes that are still in
  /// use when the step has ended.
  std::vector<int64_t> throughout, behind;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_ARENAUSE_H
