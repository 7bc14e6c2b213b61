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

/// Range [first, last] of instants, both included. An instant is the number of
/// an instruction or message of one position (virtual pipeline rank); see
/// InstantLine. A new range is empty: `first` is larger than `last`.
struct Instants {
  size_t first = SIZE_MAX, last = 0;
  /// Extends the range to the smallest range that contains `instant` (number of
  /// an instruction or message): [2, 4] becomes [2, 7] for instant 7.
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
  /// Creates the instants of the posts (starts) and waits of `steps`, the
  /// program of the pipeline position. BufferPlan adds the instants of
  /// functions later, one per instruction.
  explicit InstantLine(const plan::PositionProgram &steps);

  /// For each function that has been added so far, the range of its instants
  /// (instruction numbers).
  llvm::DenseMap<mlir::Operation *, Instants> functions;
  /// Instant of each step of the pipeline position's program that posts
  /// (starts) or waits for messages, by index of the step. Entries of steps
  /// that run functions are 0 and have no meaning.
  std::vector<size_t> exchanges;
  /// Last instant (instruction or message number) that has been added so far.
  size_t now = 0;
};

/// Live ranges of one value that several actions (runs of stage functions) use.
/// Examples are activations, inputs and outputs of the model, values that one
/// stage sends to another, and values that all microbatches share.
///
/// There is one range per microbatch. It consists of steps of the pipeline
/// position's program: actions, posts (starts of messages) and waits. The range
/// includes its first and last step. The methods addRuns() to addEnd() record
/// the steps that use the value. They must be called before count() and
/// pieces().
class MicrobatchLiveness {
public:
  /// Creates empty live ranges of a value of the pipeline position with index
  /// `position`. If `isShared` is true, all microbatches share the value and
  /// have one range in common. If it is false, each microbatch has a range of
  /// its own. `facts` must outlive this object.
  MicrobatchLiveness(const ModelFacts &facts, int position, bool isShared);

  /// Records that `function` reads or writes the value in each step that runs
  /// `function`.
  void addRuns(mlir::func::FuncOp function);
  /// Records that the pipeline position receives the value by the transfer with
  /// index `transfer` (a value that one stage sends to another). The value is
  /// live from the post (start) of the receive to the wait for the end of the
  /// receive.
  void addReceives(int transfer);
  /// Records that the pipeline position sends the value by the transfer with
  /// index `transfer` (a value that one stage sends to another). The value is
  /// live from the post (start) of the send to the wait for the end of the
  /// send.
  void addSends(int transfer);
  /// Records that the value is read after the end of the step, as outputs of
  /// the model are. The value of every microbatch stays live until the end of
  /// the step.
  void addEnd();

  /// Returns the smallest number of slots (copies of the value in memory) that
  /// is enough: microbatches that are live at the same time must not share a
  /// slot. Microbatch m uses slot m % count().
  int32_t count() const;

  /// Returns when each slot (copy of the value in memory) is live, as pieces
  /// for the arena planner. A piece is a range of bytes with a range of
  /// instants (numbers of instructions and messages). The buffer has `slots`
  /// slots of `stride` bytes. `touched` is the range of instants of all
  /// instructions that use the value.
  ///
  /// A slot is live in the steps of the live range of each of its microbatches,
  /// at these instants:
  ///
  ///   first step    from the first instruction that uses the value on
  ///   last step     up to the last instruction that uses the value
  ///   other steps   all instants
  std::vector<plan::ArenaPiece> pieces(const InstantLine &line,
                                       const Instants &touched, int32_t slots,
                                       uint64_t stride) const;

private:
  /// Range [first, last] of steps of the pipeline position's program, both
  /// included. A step is an action (run of a stage function), a post (start) of
  /// messages or a wait. A new range is empty: `first` is larger than `last`.
  struct Span {
    size_t first = SIZE_MAX, last = 0;
    /// Extends the range to the smallest range that contains `step`: [2, 4]
    /// becomes [2, 7] for step 7.
    void add(size_t step);
    /// Returns whether this range and `other` have a step in common.
    bool overlaps(const Span &other) const;
  };
  /// Returns the live range of `microbatch`. If all microbatches share one
  /// value, returns the one range that they have in common.
  Span &spanOf(int microbatch) { return spans[microbatch % spans.size()]; }
  /// Records the steps of the pipeline position's program that post (start) or
  /// wait for a message of the transfer with index `transfer` (a value that one
  /// stage sends to another). `side` selects the list of a step to search: its
  /// sends or its receives.
  void addMessages(std::vector<plan::Message> plan::ProgramStep::*side,
                   int transfer);
  /// Returns whether two microbatches that are live at the same time share a
  /// slot (copy of the value in memory) if there are `slots` slots.
  bool collides(int32_t slots) const;
  /// Returns the ranges of instants (numbers of instructions and messages) at
  /// which slot number `slot` of `slots` slots (copies of the value) is live.
  /// The ranges are in ascending order and do not overlap. `touched` is the
  /// range of instants of all instructions that use the value.
  std::vector<Instants> heldIn(int32_t slot, int32_t slots,
                               const InstantLine &line,
                               const Instants &touched) const;
  /// Returns the instants (instruction and message numbers) of step number
  /// `step` at which the value is live. `span` is the live range that contains
  /// the step. `touched` is the range of instants of all instructions that use
  /// the value.
  Instants heldAt(size_t step, const Span &span, const InstantLine &line,
                  const Instants &touched) const;

  /// Facts that all programs of the module share. Not owned by this object.
  const ModelFacts *facts;
  /// Steps of the pipeline position: actions (runs of stage functions), posts
  /// (starts of messages) and waits. Not owned by this object.
  const plan::PositionProgram *steps;
  /// Live range of each microbatch, or one range if all microbatches share a
  /// value.
  std::vector<Span> spans;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_MICROBATCHLIVENESS_H
