//===- MicrobatchLiveness.h - liveness across actions ---------------------===//
//
// A value that several actions of a step use has one live range per microbatch:
// from the first step of its pipeline rank's program that uses the value to the
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

/// Gives a number, the instant, to each of these parts of a program: each post
/// (start of messages), each wait for messages, and each instruction. A live
/// range is a range of instants, such as [3, 6]. An instruction has only one
/// instant, even if it runs once per microbatch. The instants are:
///
/// - 0 for the beginning of the program.
/// - 1 to n for the posts and waits, in program order.
/// - n + 1 and all larger numbers for the instructions of all functions, one
///   function after another.
///
/// Example: a program has 4 posts and waits, and one function with 3
/// instructions. The posts and waits have the instants 1 to 4. The instructions
/// have the instants 5 to 7.
struct InstantLine {
  /// Numbers the steps of a program that start messages or wait for messages:
  /// 1, 2, 3 and so on. BufferPlan later continues with the instructions.
  explicit InstantLine(const plan::PositionProgram &steps);

  /// For each function of the program: the range of the numbers (instants) of
  /// its instructions. Example: [5, 7] for three instructions with the numbers
  /// 5, 6 and 7. BufferPlan extends the range when it adds an instruction to
  /// the function.
  llvm::DenseMap<mlir::Operation *, Instants> functions;
  /// Number of steps before each step that start messages or wait for
  /// messages, with one further entry for all steps of the program. Example:
  /// [0, 0, 1, 2, 2] for four steps if the second and the third start messages
  /// or wait for messages. The second step then has the instant 1, which is its
  /// entry plus 1.
  std::vector<size_t> exchangesBefore;
  /// Largest instant so far. An instant is the number of a start of messages, a
  /// wait for messages, or an instruction. The constructor numbers the starts
  /// and waits from 1 to n, and sets `now` to n. BufferPlan adds 1 to `now` for
  /// each new instruction, and the new `now` is the instant of the instruction.
  /// Example: with n = 4, the first instruction has the instant 5.
  size_t now = 0;
};

/// Lists the steps of the program of one pipeline rank by what they do. A step
/// runs a function of a pipeline stage, starts messages, or waits for messages.
class StepIndex {
public:
  /// Reads the program of pipeline rank number `position`.
  StepIndex(const ModelFacts &facts, int position);

  /// Step of the program that concerns one microbatch of a value.
  struct MicrobatchStep {
    size_t step;
    int microbatch;
  };
  /// Returns the steps that run `function`, in program order.
  llvm::ArrayRef<MicrobatchStep> runsOf(mlir::Operation *function) const;
  /// Returns the steps that start messages of transfer number `transfer`, or
  /// wait for such messages, on the rank that sends them.
  llvm::ArrayRef<MicrobatchStep> sendsOf(int transfer) const {
    return sends[transfer];
  }
  /// Returns the steps that start messages of transfer number `transfer`, or
  /// wait for such messages, on the rank that receives them.
  llvm::ArrayRef<MicrobatchStep> receivesOf(int transfer) const {
    return receives[transfer];
  }
  /// Returns whether one of the steps number `first` to `last` (both included)
  /// runs `function`.
  bool runsWithin(mlir::Operation *function, size_t first, size_t last) const;
  /// Returns the function that step number `step` runs. Returns null if the
  /// step starts messages or waits for messages.
  mlir::Operation *functionAt(size_t step) const { return functions[step]; }
  /// Returns the number of steps of the program.
  size_t size() const { return functions.size(); }

private:
  std::vector<mlir::Operation *> functions;
  llvm::DenseMap<mlir::Operation *, std::vector<MicrobatchStep>> runs;
  std::vector<std::vector<MicrobatchStep>> sends, receives;
};

/// Live ranges of one value that several steps of a program use, such as an
/// activation. A step of a program runs a function of a pipeline stage, starts
/// messages, or waits for messages. Each microbatch has its own live range:
/// from the first step that uses the value of this microbatch to the last.
/// Example: step 1 runs the forward pass of microbatch 1, and step 5 runs its
/// backward pass. The live range is [1, 5].
///
/// addRuns(), addReceives(), addSends() and addEnd() extend the live ranges.
/// Call them first. count() and pieces() then read the live ranges.
/// Microbatches with live ranges that do not overlap may share memory. count()
/// returns for how many microbatches there must be memory. pieces() returns
/// when each range of bytes is in use.
class MicrobatchLiveness {
public:
  /// Creates empty live ranges for a value in the memory of the pipeline rank
  /// that runs the program of `index`. There is one live range for each of the
  /// `microbatches` microbatches. `microbatches` is 1 if all microbatches share
  /// one copy of the value. `index` must outlive this object.
  MicrobatchLiveness(const StepIndex &index, size_t microbatches)
      : index(&index), spans(microbatches) {}

  /// Extends the live ranges by the steps that run `function`, which reads or
  /// writes the value. Example: step 4 runs `function` for microbatch 1. The
  /// live range of microbatch 1 then contains step 4.
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

  /// Returns when each byte of the value's buffer is live. Each element of the
  /// result is a range of bytes with a range of instants at which the bytes are
  /// live. An instant is the number of an instruction, a start of messages, or
  /// a wait for messages. The numbers come from `line`.
  ///
  /// - `touched`: range of instants from the first instruction that uses the
  ///   value to the last.
  /// - `slots`: number of slots of the buffer. A slot holds the value of one
  ///   microbatch at a time. Microbatch m uses slot m % `slots`.
  /// - `stride`: bytes of one slot.
  ///
  /// Example: there are two slots of 64 bytes. Slot 0 is live at the instants 5
  /// to 9, and slot 1 is live at the instants 7 to 9. The result has two
  /// elements:
  ///
  ///   bytes [0, 64)     instants [5, 9]
  ///   bytes [64, 128)   instants [7, 9]
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
  };
  /// Returns the live range of `microbatch`, or the one range that all
  /// microbatches share.
  Span &spanOf(int microbatch) { return spans[microbatch % spans.size()]; }
  /// Extends the live range of each microbatch by those of `list` that concern
  /// the microbatch.
  void addSteps(llvm::ArrayRef<StepIndex::MicrobatchStep> list);
  /// Returns whether, with `slots` slots (copies of the value), two
  /// microbatches that are live at the same time share a slot.
  bool collides(int32_t slots) const;
  /// Returns the instants at which slot number `slot` is in use. A slot holds
  /// the value of one microbatch at a time. There are `slots` slots, and
  /// microbatch m uses slot m % `slots`. Slot 0 of 2 slots is in use while the
  /// value of microbatch 0, 2, 4 and so on is live. An instant is the number of
  /// an instruction, a start of messages, or a wait for messages. The numbers
  /// come from `line`.
  ///
  /// `touched` is the range of instants from the first instruction that uses
  /// the value to the last.
  ///
  /// The result is a list of ranges in ascending order that do not overlap.
  /// Example: [1, 1] and [5, 9].
  std::vector<Instants> heldIn(int32_t slot, int32_t slots,
                               const InstantLine &line,
                               const Instants &touched) const;
  /// Returns the instants at which the value is live during step number `step`.
  /// A step runs a function, starts messages, or waits for messages. An instant
  /// is the number of an instruction, a start of messages, or a wait. The
  /// numbers come from `line`. A step that runs a function has one instant per
  /// instruction, so the result is a range.
  ///
  /// - `span`: range of steps that contains the step. The value is live from
  ///   the first step of `span` to the last.
  /// - `touched`: range of instants from the first instruction that uses the
  ///   value to the last.
  ///
  /// Example: the step runs the instructions 5 to 9, and `touched` is [7, 12].
  /// If the step is the first of `span`, the result is [7, 9]. If the step is
  /// neither the first nor the last, the result is [5, 9].
  Instants heldAt(size_t step, const Span &span, const InstantLine &line,
                  const Instants &touched) const;

  /// Appends to `held` the instants of the steps number `first` to `last` (both
  /// included). The numbers of the instants come from `line`.
  void addWholeSteps(size_t first, size_t last, const InstantLine &line,
                     std::vector<Instants> &held) const;

  /// Steps of the program of the pipeline rank. Not owned.
  const StepIndex *index;
  /// Live range of each microbatch, or one range if all microbatches share a
  /// value.
  std::vector<Span> spans;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_MICROBATCHLIVENESS_H
