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

/// Numbers the events of one program. The number of an event is its instant.
/// The live range of a value is given in instants, such as [3, 6]. An
/// instruction has one instant, even if it runs again for each microbatch. The
/// instants are, in this order:
///
///   - 0: the beginning of the program,
///   - 1, 2, ...: each post (start of messages) and each wait for messages, in
///     program order,
///   - the following numbers: each instruction of each function.
///
/// Example: a program has 4 posts and waits, and one function with 3
/// instructions. The posts and waits are the instants 1 to 4, and the
/// instructions are the instants 5 to 7.
struct InstantLine {
  /// Creates the instants (points in time) of posts (starts of messages) and
  /// waits. BufferPlan adds the instants of instructions later.
  explicit InstantLine(const plan::PositionProgram &steps);

  /// For each function of the program: the range of the numbers (instants) of
  /// its instructions. Example: [5, 7] for three instructions with the numbers
  /// 5, 6 and 7. BufferPlan extends the range when it adds an instruction to
  /// the function.
  llvm::DenseMap<mlir::Operation *, Instants> functions;
  /// For each step of the program: the number (instant) of the step if the step
  /// starts messages or waits for messages; 0 if the step runs a function.
  /// Example: [0, 1, 2, 0] if only the second and the third step start messages
  /// or wait for messages.
  std::vector<size_t> exchanges;
  /// Largest instant so far. An instant is the number of a post (start of
  /// messages), a wait for messages or an instruction. The constructor sets
  /// `now` to the count of posts and waits. BufferPlan adds 1 to `now` when it
  /// adds an instruction; the new `now` is the instant of this instruction.
  size_t now = 0;
};

/// Live ranges of one value that several steps of a program use, such as an
/// activation. A step of a program runs a function of a pipeline stage, starts
/// messages, or waits for messages. The live range of microbatch m goes from
/// the first step that uses the value of microbatch m to the last.
///
/// addRuns(), addReceives(), addSends() and addEnd() extend the live ranges.
/// count() and pieces() read the live ranges, and must be called afterwards.
/// count() returns how many copies of the value must be stored. pieces()
/// returns when the bytes of each copy are in use.
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
  /// Extends all live ranges to the end of the program. BufferPlan calls this
  /// method if the value is an output of the model. The user reads the outputs
  /// after the program has run.
  void addEnd();

  /// Returns how many slots (copies of the value) are needed. Microbatch m uses
  /// slot m % count(). Microbatches that are live at the same time must not
  /// share a slot.
  int32_t count() const;

  /// Returns which bytes of the value's buffer are live, and when. The buffer
  /// consists of `slots` slots of `stride` bytes. Each slot holds one copy of
  /// the value: microbatch m uses slot m % `slots`. Each element of the result
  /// is a range of bytes with a range of instants at which the bytes are live.
  /// An instant is the number of an instruction, a post (start of messages) or
  /// a wait in `line`. `touched` goes from the instant of the first instruction
  /// that uses the value to the instant of the last.
  ///
  /// Example: there are two slots of 64 bytes. The bytes [0, 64) are live at
  /// the instants 5 to 9, and the bytes [64, 128) at the instants 7 to 9. The
  /// result has these two elements.
  ///
  /// A slot is live during the live range of each microbatch that uses the
  /// slot. A live range is a range of steps of the program. It contains these
  /// instants of its steps:
  ///
  ///   first step    from the first instruction that uses the value on
  ///   last step     up to the last instruction that uses the value
  ///   other steps   all instants of the step
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
  /// Extends the live ranges by the steps that send or receive the value. The
  /// value is transfer number `transfer` (an index in ModelFacts::transfers).
  /// Each message of the transfer carries the value of one microbatch m. The
  /// message extends the live range of microbatch m so that it contains two
  /// steps: the step that starts the message, and the step that waits for the
  /// end of the message. `side` is the member `sends` or the member `receives`
  /// of plan::ProgramStep.
  void addMessages(std::vector<plan::Message> plan::ProgramStep::*side,
                   int transfer);
  /// Returns whether, with `slots` slots (copies of the value), two
  /// microbatches that are live at the same time share a slot.
  bool collides(int32_t slots) const;
  /// Returns the instants at which slot number `slot` is live. An instant is
  /// the number of an instruction, a post (start of messages) or a wait in
  /// `line`. A slot holds one copy of the value. There are `slots` slots, and
  /// microbatch m uses slot m % `slots`. `touched` goes from the instant of the
  /// first instruction that uses the value to the instant of the last. The
  /// result is a list of ranges that ascend and do not overlap. Example:
  /// [1, 1] and [5, 9].
  std::vector<Instants> heldIn(int32_t slot, int32_t slots,
                               const InstantLine &line,
                               const Instants &touched) const;
  /// Returns the instants of step number `step` at which the value is live. An
  /// instant is the number of an instruction, a post (start of messages) or a
  /// wait in `line`. A step that runs a function has one instant per
  /// instruction. `span` is the live range (a range of steps) that contains the
  /// step. `touched` goes from the instant of the first instruction that uses
  /// the value to the instant of the last. Example: a step runs the
  /// instructions 5 to 9. The step is the first of `span`, and instruction 7 is
  /// the first that uses the value. The result is [7, 9].
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
