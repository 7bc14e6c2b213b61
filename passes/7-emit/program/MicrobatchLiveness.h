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

/// Range [first, last] of instants of a position (virtual pipeline rank), both
/// included. Instants number the instructions and messages of a position (see
/// InstantLine). A new range is empty: `first` is larger than `last`.
struct Instants {
  size_t first = SIZE_MAX, last = 0;
  /// Extends the range so that it contains `instant`. Instants in between
  /// become part of the range, too.
  void add(size_t instant);
  /// Returns whether `instant` lies in the range.
  bool contains(size_t instant) const {
    return first <= instant && instant <= last;
  }
  friend bool operator==(const Instants &, const Instants &) = default;
};

/// Instants of a position (virtual pipeline rank), by which live ranges are
/// measured. Instant 0 is the beginning of the step. The next instants are the
/// posts (starts of sends and receives) and the waits for messages, in the
/// order of the position's program. The last instants are the instructions of
/// the functions of the position's stages, function by function.
struct InstantLine {
  /// Creates the instants of the posts and waits of `steps`, the program of the
  /// pipeline position. The instants of functions are added later, while their
  /// instructions are written.
  explicit InstantLine(const plan::PositionProgram &steps);

  /// Range of instants of each function that has been added so far.
  llvm::DenseMap<mlir::Operation *, Instants> functions;
  /// Instant of each step of the pipeline position's program that posts or
  /// waits for messages, by index of the step. 0, without meaning, for other
  /// steps.
  std::vector<size_t> exchanges;
  /// The last instant that has been added so far.
  size_t now = 0;
};

/// Live ranges of one value that several actions (runs of stage functions) use,
/// such as an activation that the forward function leaves to the backward
/// function. Other such values are inputs and outputs of the model, values that
/// stages send to each other, and values that all microbatches share.
///
/// There is one range per microbatch. A range is measured in steps of the
/// pipeline position's program (actions, posts and waits), and includes its
/// first and last step. The methods addRuns() to addEnd() record the steps that
/// use the value. They must be called before the queries.
class MicrobatchLiveness {
public:
  /// `isShared` is true if one value serves all microbatches, which then have
  /// one range in common. `facts` must outlive this object.
  MicrobatchLiveness(const ModelFacts &facts, int position, bool isShared);

  /// Records that `function` reads or writes the value, in each step that runs
  /// it.
  void addRuns(mlir::func::FuncOp function);
  /// Records that the transfer with index `transfer` (a value that one stage
  /// sends to another) receives the value. The value is live from the post
  /// (start) of the receive to the wait for its end.
  void addReceives(int transfer);
  /// Records that the transfer with index `transfer` (a value that one stage
  /// sends to another) sends the value. The value is live from the post (start)
  /// of the send to the wait for its end.
  void addSends(int transfer);
  /// Records that the value is read after the end of the step, as outputs of
  /// the model are. The value of every microbatch stays live until then.
  void addEnd();

  /// Returns the smallest number of slots (copies of the value in memory) with
  /// which no two microbatches that are live at the same time share a slot.
  /// Microbatch m uses slot m % count().
  int32_t count() const;

  /// Returns when each slot is live, as pieces for the arena planner: each
  /// piece is a range of bytes with a range of instants. The buffer has `slots`
  /// slots of `stride` bytes. `touched` is the range of instants of all
  /// instructions that use the value.
  ///
  /// A microbatch's slot is live from the first to the last step of its live
  /// range. In the first step it is live only from the first instruction on
  /// that uses the value. In the last step it is live only up to the last such
  /// instruction. In all steps between them it is live at all instants.
  std::vector<plan::ArenaPiece> pieces(const InstantLine &line,
                                       const Instants &touched, int32_t slots,
                                       uint64_t stride) const;

private:
  /// Range [first, last] of steps of the pipeline position's program, both
  /// included. A new range is empty.
  struct Span {
    size_t first = SIZE_MAX, last = 0;
    /// Extends the range so that it contains `step`. Steps in between become
    /// part of the range, too.
    void add(size_t step);
    /// Returns whether this range and `other` have a step in common.
    bool overlaps(const Span &other) const;
  };
  /// Returns the range of `microbatch`, or the one range if all microbatches
  /// share a value.
  Span &spanOf(int microbatch) { return spans[microbatch % spans.size()]; }
  /// Records the steps of the pipeline position's program that post or wait for
  /// a message of the transfer with index `transfer`. `side` is the member of a
  /// step that lists its sends or its receives.
  void addMessages(std::vector<plan::Message> plan::ProgramStep::*side,
                   int transfer);
  /// Returns whether, with `slots` slots, two microbatches that are live at the
  /// same time would share a slot.
  bool collides(int32_t slots) const;
  /// Returns the ranges of instants at which slot number `slot` of `slots` is
  /// live, in ascending order, without overlaps. `touched` is the range of
  /// instants of all instructions that use the value.
  std::vector<Instants> heldIn(int32_t slot, int32_t slots,
                               const InstantLine &line,
                               const Instants &touched) const;
  /// Returns the instants of step number `step` at which the value is live.
  /// `span` is the live range that contains the step, and `touched` the range
  /// of instants of all instructions that use the value.
  Instants heldAt(size_t step, const Span &span, const InstantLine &line,
                  const Instants &touched) const;

  /// Facts that all programs of the module share. Not owned.
  const ModelFacts *facts;
  /// Steps (actions, posts and waits) of the pipeline position. Not owned.
  const plan::PositionProgram *steps;
  /// Live range of each microbatch, or one range if all microbatches share a
  /// value.
  std::vector<Span> spans;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_MICROBATCHLIVENESS_H
