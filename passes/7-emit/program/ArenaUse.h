//===- ArenaUse.h - bytes in use at each step of a program ----------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_ARENAUSE_H
#define PCC_PASSES_7_EMIT_PROGRAM_ARENAUSE_H

#include "passes/7-emit/program/MicrobatchLiveness.h"

#include <map>

namespace pcc::emit {

/// Adds up the bytes that values occupy at each step of a program. A step runs
/// a function, starts messages or waits for messages. Unlike the arena plan,
/// which has one live range per value, the sums tell the microbatches apart:
/// fewer activations are in use while the first microbatch runs.
class ArenaUse {
public:
  /// Bytes in use at one step: the most at any of its instructions (`during`),
  /// and those that are still in use when the step has ended (`after`).
  struct StepBytes {
    int64_t during = 0, after = 0;
  };

  /// Borrows both arguments. `line` must number all instructions already.
  ArenaUse(const InstantLine &line, const StepIndex &index);

  /// Adds a value that is in use during the whole program.
  void addWhole(int64_t bytes) { whole += bytes; }
  /// Adds a value that every run of one function uses anew, at the instructions
  /// `touched`. A value that several functions touch counts as a whole one.
  void addTemporary(const Instants &touched, int64_t bytes);
  /// Adds a value that is in use from step `first` to step `last`, at the
  /// instants `atFirst` of step `first` and `atLast` of step `last`. If both
  /// are the same step, `atFirst` counts. `last` may be the number of steps:
  /// the value is then in use to the end.
  void addSpan(size_t first, const Instants &atFirst, size_t last,
               const Instants &atLast, int64_t bytes);

  /// Returns one entry per step of the program.
  std::vector<StepBytes> compute() const;

private:
  /// Bytes that are in use from instant `first` to instant `last` of one run.
  struct Piece {
    size_t first, last;
    int64_t bytes;
    friend auto operator<=>(const Piece &, const Piece &) = default;
  };
  /// Returns the largest sum of pieces that are in use at the same instant.
  static int64_t peakOf(llvm::ArrayRef<Piece> pieces);

  const InstantLine &line;
  const StepIndex &index;
  int64_t whole = 0;
  /// First instant of each function.
  std::map<size_t, mlir::Operation *> functionAt;
  /// Values that every run of a function uses anew.
  llvm::DenseMap<mlir::Operation *, std::vector<Piece>> temporaries;
  /// For each step: values whose use begins or ends in this step.
  std::vector<std::vector<Piece>> partial;
  /// Changes of two sums from one step to the next: the bytes in use during
  /// all of a step, and the bytes in use when a step has ended.
  std::vector<int64_t> throughout, behind;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_ARENAUSE_H
