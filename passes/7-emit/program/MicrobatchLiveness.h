//===- MicrobatchLiveness.h - liveness across actions ---------------------===//
//
// A value that several actions of a step use has one live range per microbatch:
// from the first step of its position's program that uses the value to the
// last. Microbatches whose ranges overlap need slots of their own. For an
// activation that the forward pass leaves to the backward pass, under 1F1B on
// the first of two stages:
//
//   step           F0  F1  B0  F2  B1  B2
//   microbatch 0   ##########                 slot 0
//   microbatch 1       ##############         slot 1
//   microbatch 2               ##########     slot 0
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_MICROBATCHLIVENESS_H
#define PCC_PASSES_7_EMIT_PROGRAM_MICROBATCHLIVENESS_H

#include "passes/7-emit/program/ModelFacts.h"
#include "passes/plan/memory/Arena.h"

namespace pcc::emit {

/// The instants [first, last] of a position's line, both included. Empty if
/// `first` is greater than `last`, as initially.
struct Instants {
  size_t first = SIZE_MAX, last = 0;
  /// Extends the range so that it contains `instant`.
  void add(size_t instant);
  /// Returns whether `instant` lies in the range.
  bool contains(size_t instant) const {
    return first <= instant && instant <= last;
  }
  friend bool operator==(const Instants &, const Instants &) = default;
};

/// The line of instants of a position, on which live ranges are measured.
/// Instant 0 is the beginning of the step. The posts and waits of messages
/// follow in the order of the position's program, then the functions of its
/// stages, with one instant per instruction.
struct InstantLine {
  /// Starts the line with the posts and waits of `steps`, the position's
  /// program. Functions are appended while their instructions are written.
  explicit InstantLine(const plan::PositionProgram &steps);

  /// Instants of each function that has been appended.
  llvm::DenseMap<mlir::Operation *, Instants> functions;
  /// Instant of each step that posts or waits, by index of the step. Entries of
  /// other steps are 0 and have no meaning.
  std::vector<size_t> exchanges;
  /// The last instant of the line so far.
  size_t now = 0;
};

/// Live ranges of one value that several actions use: a value that crosses
/// stages, an input or output of the model, a value that all microbatches
/// share, or one that a function leaves to another. The add… methods record the
/// steps that use the value; the queries come after them. A range is measured
/// in steps of the position's program and contains its ends.
class MicrobatchLiveness {
public:
  /// Borrows `facts`. `isShared`: one value serves all microbatches, so there
  /// is one range.
  MicrobatchLiveness(const ModelFacts &facts, int position, bool isShared);

  /// Records that `function` reads or writes the value.
  void addRuns(mlir::func::FuncOp function);
  /// Records that transfer number `transfer` receives the value: it is live
  /// from the post to the wait.
  void addReceives(int transfer);
  /// Records that transfer number `transfer` sends the value: it is live from
  /// the post to the wait.
  void addSends(int transfer);
  /// Records that the value is read after the last step.
  void addEnd();

  /// Returns the smallest number of slots such that no two microbatches whose
  /// ranges overlap share one. Microbatch m uses slot m % count.
  int32_t count() const;

  /// Returns the instants at which each slot is live, as pieces of a buffer
  /// with `slots` slots of `stride` bytes. `touched` has the instants of all
  /// instructions that use the value. Within a range a slot is live at all
  /// instants of every step. In the first step it is live from the first
  /// instruction that uses the value, in the last step to the last such
  /// instruction.
  std::vector<plan::ArenaPiece> pieces(const InstantLine &line,
                                       const Instants &touched, int32_t slots,
                                       uint64_t stride) const;

private:
  /// Range of steps [first, last], both included; empty initially.
  struct Span {
    size_t first = SIZE_MAX, last = 0;
    /// Extends the range so that it contains `step`.
    void add(size_t step);
    /// Returns whether the two ranges have a step in common.
    bool overlaps(const Span &other) const;
  };
  /// Returns the range of a microbatch, or the shared one.
  Span &spanOf(int microbatch) { return spans[microbatch % spans.size()]; }
  /// Records the steps whose messages on one side, `sends` or `receives`,
  /// belong to a transfer.
  void addMessages(std::vector<plan::Message> plan::ProgramStep::*side,
                   int transfer);
  /// Returns whether two microbatches with overlapping ranges share one of
  /// `slots` slots.
  bool collides(int32_t slots) const;
  /// Returns the instants at which a slot is live, sorted and merged.
  std::vector<Instants> heldIn(int32_t slot, int32_t slots,
                               const InstantLine &line,
                               const Instants &touched) const;
  /// Returns the instants of one step of `span` at which the value is live.
  Instants heldAt(size_t step, const Span &span, const InstantLine &line,
                  const Instants &touched) const;

  /// Facts of the bundle; borrowed.
  const ModelFacts *facts;
  /// The program of the position.
  const plan::PositionProgram *steps;
  /// Range of each microbatch, or one range that all share.
  std::vector<Span> spans;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_MICROBATCHLIVENESS_H
