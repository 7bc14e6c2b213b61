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

class ArenaUse;

/// Range [first, last] of instants, both included. An instant is the number of
/// an instruction, of a start of messages, or of a wait for messages.
/// InstantLine assigns the instants. The range is empty if `first` is greater
/// than `last`.
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

/// Numbering of the points in time of a program. The numbers are called
/// instants, and a live range is a range of instants. The posts (starts of
/// messages) and waits get the instants 1 to n, in program order. The
/// instructions of all functions follow. An instruction has one instant, even
/// if it runs once per microbatch.
struct InstantLine {
  /// Assigns the instants 1, 2, 3 and so on to the steps of a program that
  /// start messages or wait for messages. `steps` lists the steps of the
  /// program in execution order. BufferPlan later assigns the following
  /// instants to the instructions. Example: the program has 4 steps that start
  /// messages or wait for messages. These steps get the instants 1 to 4, and
  /// the first instruction gets the instant 5.
  explicit InstantLine(const plan::PositionProgram &steps);

  /// For each function of the program: the range of the numbers (instants) of
  /// its instructions. Example: [5, 7] for three instructions with the numbers
  /// 5, 6 and 7. BufferPlan extends the range when it adds an instruction to
  /// the function.
  llvm::DenseMap<mlir::Operation *, Instants> functions;
  /// For each step of the program: the number of earlier steps that start
  /// messages or wait for messages. The last entry counts all steps that start
  /// messages or wait for messages. The instant of a step of this kind is its
  /// entry plus 1.
  std::vector<size_t> exchangesBefore;
  /// Clock for the live ranges of buffers: the number of the last event that
  /// has got a number. Events are steps that start or await messages, which get
  /// 1 to n by the constructor, and instructions, for each of which BufferPlan
  /// adds 1. Example: with n = 4, the first instruction has the number 5.
  size_t now = 0;
};

/// Look-up table for the steps of a program. A program is the list of steps
/// that one pipeline rank executes. A step runs a function of a pipeline stage,
/// starts messages, or waits for messages. The table finds all steps that run
/// one function. The table also finds all steps that start or wait for the
/// messages of one value.
class StepIndex {
public:
  /// Creates the look-up table for the steps of pipeline rank number
  /// `position`. `facts.pipeline` lists these steps.
  StepIndex(const ModelFacts &facts, int position);

  /// Step of the program, and the microbatch that the step processes. A step
  /// runs a function, starts messages, or waits for messages. `step` is the
  /// number of the step. `microbatch` is the index of the microbatch. Example:
  /// {5, 1} if step 5 runs a forward function for microbatch 1. If the step
  /// runs a function that runs only once for all microbatches, such as the
  /// optimizer update, `microbatch` is not used.
  struct MicrobatchStep {
    size_t step;
    int microbatch;
  };
  /// Returns the steps that run `function`, in program order.
  llvm::ArrayRef<MicrobatchStep> runsOf(mlir::Operation *function) const;
  /// Returns the steps that start to send a value, or that wait until the value
  /// has been sent. `transfer` is the index of the value in
  /// ModelFacts::transfers.
  llvm::ArrayRef<MicrobatchStep> sendsOf(int transfer) const {
    return sends[transfer];
  }
  /// Returns the steps that start to receive a value, or that wait until the
  /// value has arrived. `transfer` is the index of the value in
  /// ModelFacts::transfers.
  llvm::ArrayRef<MicrobatchStep> receivesOf(int transfer) const {
    return receives[transfer];
  }
  /// Returns whether at least one of the steps from number `first` to number
  /// `last` runs `function`. Both steps are included.
  bool runsWithin(mlir::Operation *function, size_t first, size_t last) const;
  /// Returns the function that step number `step` runs. Returns null if the
  /// step starts messages or waits for messages.
  mlir::Operation *functionAt(size_t step) const { return functions[step]; }
  /// Returns the number of steps of the program.
  size_t size() const { return functions.size(); }

private:
  /// For each step of the program: the function that the step runs, or null if
  /// the step starts messages or waits for messages.
  std::vector<mlir::Operation *> functions;
  /// For each function: the steps that run it, in program order.
  llvm::DenseMap<mlir::Operation *, std::vector<MicrobatchStep>> runs;
  /// Steps that send or receive a value. Both lists have one entry per value
  /// that one stage sends to another, in the order of ModelFacts::transfers. An
  /// entry of `sends` lists the steps that start to send the value, and the
  /// steps that wait until the value has been sent. An entry of `receives`
  /// lists the steps that start to receive the value, and the steps that wait
  /// until the value has arrived.
  std::vector<std::vector<MicrobatchStep>> sends, receives;
};

/// Live ranges of one value, one per microbatch, as ranges of program steps. A
/// step runs a function, starts messages, or waits for messages. Call
/// addRuns(), addReceives(), addSends() and addEnd() first. Then count() and
/// pieces() read the live ranges. Microbatches whose live ranges do not overlap
/// may share memory.
class MicrobatchLiveness {
public:
  /// Creates empty live ranges for one value in the memory of a pipeline rank.
  /// A live range is a range of steps of the rank's program. `index` is the
  /// look-up table for these steps. There is one live range for each of the
  /// `microbatches` microbatches. `microbatches` is 1 if all microbatches share
  /// one copy of the value. `index` must outlive this object.
  MicrobatchLiveness(const StepIndex &index, size_t microbatches)
      : index(&index), spans(microbatches) {}

  /// Extends the live ranges of the value by the steps that run `function`.
  /// `function` reads or writes the value. The value has one live range per
  /// microbatch. Example: the live range of microbatch 1 is [2, 3], and step 5
  /// runs `function` for microbatch 1. The live range becomes [2, 5].
  void addRuns(mlir::func::FuncOp function);
  /// Extends the live ranges of the value by the steps that receive the value
  /// from another stage. `transfer` is the index of the value in
  /// ModelFacts::transfers. A message contains the value of one microbatch. One
  /// step starts the receive of the message, and a later step waits for its
  /// end. The live range of the microbatch then contains both steps and all
  /// steps between them.
  void addReceives(int transfer);
  /// Extends the live ranges of the value by the steps that send the value to
  /// another stage. `transfer` is the index of the value in
  /// ModelFacts::transfers. A message contains the value of one microbatch. One
  /// step starts the send of the message, and a later step waits for its end.
  /// The live range of the microbatch then contains both steps and all steps
  /// between them.
  void addSends(int transfer);
  /// Extends all live ranges to the end of the program. BufferPlan calls this
  /// method if the value is an output of the model. The user reads the outputs
  /// after the program has run.
  void addEnd();

  /// Returns how many slots the value needs. A slot has room for the value of
  /// one microbatch. Microbatch m uses slot m % count(). Microbatches that are
  /// live at the same time must not share a slot.
  int32_t count() const;

  /// Returns the byte ranges of the value's buffer, and the instants (see
  /// `line`) at which they are in use. The buffer has `slots` slots of `stride`
  /// bytes. Microbatch m uses slot m % `slots`. `touched` is the range from the
  /// first to the last instruction that uses the value.
  std::vector<plan::ArenaPiece> pieces(const InstantLine &line,
                                       const Instants &touched, int32_t slots,
                                       uint64_t stride) const;

  /// Adds the live range of each microbatch to `use`. The value has `bytes`
  /// bytes per microbatch. `touched` is the range from the first to the last
  /// instruction that uses the value.
  void addTo(ArenaUse &use, const InstantLine &line, const Instants &touched,
             int64_t bytes) const;

private:
  /// Range [first, last] of steps of the program, both included. `first` >
  /// `last` means empty.
  struct Span {
    size_t first = SIZE_MAX, last = 0;
    /// Extends the range to contain `step`: [2, 4] becomes [2, 7] for step 7.
    void add(size_t step);
  };
  /// Returns the live range of the value of `microbatch`. A live range is a
  /// range of steps of the program. If all microbatches share one copy of the
  /// value, there is only one live range, and the method returns this live
  /// range.
  Span &spanOf(int microbatch) { return spans[microbatch % spans.size()]; }
  /// Extends the live ranges of the value by the steps in `list`. Each step
  /// concerns one microbatch, and extends the live range of this microbatch.
  /// Example: the live range of microbatch 0 is [3, 4], and `list` contains
  /// step 6 for microbatch 0. The live range becomes [3, 6].
  void addSteps(llvm::ArrayRef<StepIndex::MicrobatchStep> list);
  /// Returns whether two microbatches need the same slot at the same time if
  /// there are `slots` slots. A slot has room for the value of one microbatch.
  /// Microbatch m uses slot m % `slots`. Example: with 2 slots, the
  /// microbatches 0 and 2 both use slot 0. If their live ranges overlap, the
  /// result is true.
  bool collides(int32_t slots) const;
  /// Returns the instants at which slot number `slot` of `slots` is in use, as
  /// ascending ranges that do not overlap. Microbatch m uses slot m % `slots`.
  /// `touched` is the range from the first to the last instruction that uses
  /// the value.
  std::vector<Instants> heldIn(int32_t slot, int32_t slots,
                               const InstantLine &line,
                               const Instants &touched) const;
  /// Returns the instants at which the value is live during step `step`, which
  /// is in the live range `span`. If the step runs a function, these are the
  /// instants of its instructions. In the first step of `span`, they begin at
  /// the first instruction that uses the value (`touched.first`). In the last
  /// step, they end at the last instruction that uses the value
  /// (`touched.last`).
  Instants heldAt(size_t step, const Span &span, const InstantLine &line,
                  const Instants &touched) const;

  /// Appends to `held` the instants of all steps from number `first` to number
  /// `last`, both included. `line` numbers the instants.
  void addWholeSteps(size_t first, size_t last, const InstantLine &line,
                     std::vector<Instants> &held) const;

  /// Look-up table for the steps of the program. The live ranges in `spans` are
  /// ranges of these steps. BufferPlan owns the table.
  const StepIndex *index;
  /// Live ranges of the value, one per microbatch. A live range contains all
  /// steps of the program from the first to the last step that uses the value
  /// of the microbatch. If all microbatches share one copy of the value, the
  /// list has only one live range.
  std::vector<Span> spans;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_MICROBATCHLIVENESS_H
