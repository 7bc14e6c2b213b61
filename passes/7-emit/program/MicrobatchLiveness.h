//===- MicrobatchLiveness.h - liveness across actions ---------------------===//
//
// A value that several actions of a step use has one live range per microbatch:
// from the first step of its pipeline position's program that uses the value to
// the last. Microbatches whose ranges overlap need slots of their own. For an
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

/// Range [first, last] of instants, both included. Instants number the
/// instructions and messages of a program (see InstantLine). `first` > `last`
/// means empty.
struct Instants {
  size_t first = SIZE_MAX, last = 0;
  /// Extends the range to contain `instant`: [2, 4] becomes [2, 7] for instant
  /// 7.
  void add(size_t instant);
  /// Returns whether `instant` lies in the range.
  bool contains(size_t instant) const {
    return first <= instant && instant <= last;
  }
  friend bool operator==(const Instants &, const Instants &) = default;
};

/// Time axis of a position (virtual pipeline rank), by which live ranges are
/// measured. The instants are, in this order:
///
///   - the beginning of the step,
///   - each post (start) of messages and each wait, in program order,
///   - each instruction, function by function.
struct InstantLine {
  /// Creates the instants (points in time) of posts (starts of messages) and
  /// waits. BufferPlan adds the instants of instructions later.
  explicit InstantLine(const plan::PositionProgram &steps);

  /// Numbers of the instructions of each function, as a range [first, last].
  /// BufferPlan extends the range at each new instruction.
  llvm::DenseMap<mlir::Operation *, Instants> functions;
  /// Instant of each step that posts (starts) messages or waits, by index of
  /// the step. 0 for steps that run functions.
  std::vector<size_t> exchanges;
  /// Largest number so far of a post, wait or instruction. BufferPlan adds 1 at
  /// each new instruction.
  size_t now = 0;
};

/// Live ranges of one value that several actions (runs of stage functions) use,
/// such as an activation. Each microbatch has one range: from the first to the
/// last step of the program that uses the value.
///
/// addRuns(), addReceives(), addSends() and addEnd() record the uses. They must
/// be called before count() and pieces().
class MicrobatchLiveness {
public:
  /// Creates empty live ranges for a value in the memory of pipeline position
  /// number `position`. There is one live range per microbatch. If `isShared`
  /// is true, all microbatches share one copy of the value, and there is only
  /// one live range. `facts` must outlive this object.
  MicrobatchLiveness(const ModelFacts &facts, int position, bool isShared);

  /// Adds each run of `function` to the live ranges. The function reads or
  /// writes the value.
  void addRuns(mlir::func::FuncOp function);
  /// Records that transfer number `transfer` receives the value from another
  /// stage. The value is live from the start of the receive to the wait for its
  /// end.
  void addReceives(int transfer);
  /// Records that transfer number `transfer` sends the value to another stage.
  /// The value is live from the start of the send to the wait for its end.
  void addSends(int transfer);
  /// Records that a user reads the value, an output of the model, after the
  /// step. All live ranges then extend to the end of the step.
  void addEnd();

  /// Returns how many slots (copies of the value) are needed. Microbatch m uses
  /// slot m % count(). Microbatches that are live at the same time must not
  /// share a slot.
  int32_t count() const;

  /// Returns pieces of a buffer: ranges of bytes, each with a range of instants
  /// (points in time, see InstantLine) at which the bytes are live. The buffer
  /// consists of `slots` slots of `stride` bytes. Each slot holds one copy of
  /// the value. `touched` is the range of instants from the first to the last
  /// use of the value.
  ///
  /// A slot is live in the live range (a range of steps) of each microbatch
  /// that uses the slot, at these instants:
  ///
  ///   first step    from the first instruction that uses the value on
  ///   last step     up to the last instruction that uses the value
  ///   other steps   all instants
  std::vector<plan::ArenaPiece> pieces(const InstantLine &line,
                                       const Instants &touched, int32_t slots,
                                       uint64_t stride) const;

private:
  /// Range [first, last] of steps of the program, both included. `first` >
  /// `last` means empty.
  struct Span {
    size_t first = SIZE_MAX, last = 0;
    /// Extends the range to contain `step`: [2, 4] becomes [2, 7] for step 7.
    void add(size_t step);
    /// Returns whether this range and `other` have a step in common.
    bool overlaps(const Span &other) const;
  };
  /// Returns the live range of `microbatch`, or the one range that all
  /// microbatches share.
  Span &spanOf(int microbatch) { return spans[microbatch % spans.size()]; }
  /// Adds to the live ranges each step that starts or awaits a message of
  /// transfer number `transfer`. A transfer is a value that one stage sends to
  /// another. `side` selects the sends or the receives of a step.
  void addMessages(std::vector<plan::Message> plan::ProgramStep::*side,
                   int transfer);
  /// Returns whether, with `slots` slots (copies of the value), two
  /// microbatches that are live at the same time share a slot.
  bool collides(int32_t slots) const;
  /// Returns when slot number `slot` of `slots` is live. A slot holds one copy
  /// of the value. The result has ranges of instants (points in time, see
  /// InstantLine), which ascend and do not overlap.
  std::vector<Instants> heldIn(int32_t slot, int32_t slots,
                               const InstantLine &line,
                               const Instants &touched) const;
  /// Returns the range of instants (points in time, see InstantLine) of step
  /// number `step` at which the value is live. `span` is the live range that
  /// contains the step.
  Instants heldAt(size_t step, const Span &span, const InstantLine &line,
                  const Instants &touched) const;

  /// Facts that all programs of the module share. Not owned.
  const ModelFacts *facts;
  /// Program of the pipeline position: actions (runs of stage functions), posts
  /// (starts of messages) and waits. Not owned.
  const plan::PositionProgram *steps;
  /// Live range of each microbatch, or one range if all microbatches share a
  /// value.
  std::vector<Span> spans;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_MICROBATCHLIVENESS_H
