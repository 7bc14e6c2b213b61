//===- BufferPlan.h - memory plan of one pipeline position ----------------===//
//
// Gives every value of a position's stages a *storage*: a range of bytes in the
// arena, in a parameter's local piece, or in the constants. Several values
// share a storage where no bytes have to move:
//
// - a reshape and its operand;
// - an all_reduce and its input, if the input has no other reader;
// - a weight and the updated weight that an element-wise kernel computes from
//   it.
//
// Live ranges are measured on one line of instants (InstantLine). The posts and
// waits of the step's messages come first, then every function of the
// position's stages with one instant per instruction. Each microbatch runs over
// the instants of its functions again. A storage that is live from one action
// to a later one is therefore live at all instants of the actions in between.
// Rows of the picture are storages, `#` marks the instants at which they are
// live:
//
//              once per step       for every microbatch
//   instant    messages | gather … | matmul kernel all_reduce matmul …
//   received         ##            |########
//   local                          |       #############
//   sent             #             |                      #######
//   output           #1            |#1                    #######
//   shared           #2  ######### |#############################
//   input            ############################################
//
//   #1: except the slot of the last microbatch: nothing is computed after it
//   #2: messages between the first and the last microbatch only
//
// The arena planner (passes/plan/memory/Arena.h) assigns the offsets from these
// live ranges (liveness-based arena planning).
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_BUFFERPLAN_H
#define PCC_PASSES_7_EMIT_PROGRAM_BUFFERPLAN_H

#include "dialects/pipe/PipeDialect.h"
#include "passes/7-emit/program/MicrobatchLiveness.h"
#include "passes/7-emit/program/ModelFacts.h"
#include "passes/7-emit/program/ParameterList.h"
#include "runtime/timeline/TimelineMemory.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <set>

namespace pcc::emit {

/// Plans the memory of the program of one position. Calls come in this order:
/// addStages(), then beginFunction() for each function and beginInstruction()
/// for each of its instructions, and place() at the end. The queries between
/// two instructions return buffers, which are indices into the buffers of the
/// program. Buffers with the same storage and tensor type are one buffer. Their
/// offsets are unknown before place().
class BufferPlan {
public:
  /// Borrows `facts` and `program`, which must outlive this object. Writes the
  /// buffers, parameters, weight files, accumulators and arena sizes of
  /// `program`.
  BufferPlan(const ModelFacts &facts, int position, program::ProgramT &program);

  /// Gives every value of the position's stages a storage. Must be called once,
  /// before all calls below.
  void addStages();
  /// Returns the functions of the position's stages, each after the functions
  /// whose results it takes: first forward, then backward, then the parts of
  /// the update.
  std::vector<mlir::func::FuncOp> functions() const;

  /// Begins the instructions of `function`, and its first instruction.
  /// `function` is one of functions().
  void beginFunction(mlir::func::FuncOp function) {
    currentFunction = function;
    beginInstruction();
  }
  /// Begins the next instruction: all buffers that are requested until the next
  /// call are live at its instant.
  void beginInstruction() { line.functions[currentFunction].add(++line.now); }

  /// Returns the buffer of `value`, which the current instruction reads or
  /// writes.
  int32_t bufferOf(mlir::Value value);
  /// Marks the buffers of `collective` as live at the current instruction, too.
  /// Used for the instruction that finishes a collective which an earlier
  /// instruction has started.
  void useAgain(const program::CollectiveT &collective);
  /// Returns a new buffer of `bytes` bytes without contents that is live at the
  /// current instruction only, unless useAgain() extends its live range.
  /// Returns -1 if `bytes` is 0.
  int32_t scratch(int64_t bytes);
  /// Enlarges the storage of `value` to `copies` times its elements. Returns a
  /// buffer of the shape [copies, elements] whose row 0 is `value`. On ranks
  /// that keep what `value` already holds, a masked copy writes to a further
  /// row instead.
  int32_t widenedBuffer(mlir::Value value, int64_t copies);

  /// Returns the buffer of the model's input number `input`; -1 if the position
  /// does not read this input.
  int32_t inputBuffer(int input);
  /// Returns the buffer of the model's output number `output`; -1 if the
  /// position does not compute this output.
  int32_t outputBuffer(int output);
  /// Returns the buffer that transfer number `transfer` is sent from; -1 if
  /// another position sends it.
  int32_t sentBuffer(int transfer);
  /// Returns the buffer that transfer number `transfer` is received into; -1 if
  /// another position receives it.
  int32_t receivedBuffer(int transfer);

  /// Returns the buffer of the parameter that `set` writes, which is the
  /// position's own copy of the weight; -1 if ParameterList has no such
  /// parameter.
  int32_t parameterBuffer(graph::SetParameterOp set);
  /// Returns the arena bytes of the sums over microbatches and of the gradients
  /// that wait for the update. Valid after the last instruction.
  int64_t gradientBytes() const;
  /// Returns the bytes that `stage` holds on each rank for longer than an
  /// action; activations are those of one microbatch. All are 0 for a stage
  /// that holds nothing. Valid after the last instruction.
  runtime::StageBytes bytesOfStage(int stage) const;

  /// Assigns an arena offset to every storage that needs one. Then writes the
  /// locations of all buffers, the accumulators, the size of the arena and its
  /// lower bound to the program. Must be called after the last instruction.
  /// Returns an empty string, or the fault that the check of the arena found.
  std::string place();

  /// Returns the bytes that buffers in constant memory point into.
  const std::vector<std::byte> &constants() const { return constantBytes; }
  /// Returns the parameters of the position.
  ParameterList &parameters() { return parameterList; }

private:
  /// A range of bytes that one or several values share.
  struct ValueStorage {
    /// Memory that the bytes lie in.
    program::Memory memory = program::Memory::Arena;
    /// Index of the parameter in the program, in parameter memory.
    int32_t parameter = 0;
    /// Byte offset in the constants or, after place(), in the arena.
    int64_t offset = 0;
    /// Bytes of one slot, without padding.
    int64_t bytes = 0;
    /// Number of microbatches whose values are live at the same time.
    /// Microbatch m uses slot m % slots.
    int32_t slots = 1;
    /// Instants of the first and last instruction that use the storage.
    Instants touched;
    /// Whether the storage is live during the whole step.
    bool isWhole = false;
    /// Node that computes the first value; messages use it.
    std::string name;
    /// Returns the bytes from one slot to the next: `bytes`, aligned.
    int64_t stride() const;
  };

  /// Parameters and storages that a stage holds for longer than an action.
  struct Holdings {
    /// Indices of parameters in the program.
    std::set<int> parameters;
    /// Indices of storages that hold gradients until the update.
    std::set<int> gradients;
    /// Indices of storages that the forward function leaves to the backward
    /// functions. The value is true if a function other than I (the input
    /// gradient) reads the storage.
    std::map<int, bool> activations;
  };

  /// Appends an arena storage of the size of `value`; returns its index.
  int newStorage(mlir::Value value);
  /// Returns the storage of `value`, the result of an op of `function`. Returns
  /// the storage of another value where the two can share it.
  int storageFor(mlir::Value value, mlir::func::FuncOp function);
  /// Returns the storage of the result of `collective`: that of its input if
  /// the collective can work in place.
  int storageForMoved(dist::CollectiveOp collective,
                      mlir::func::FuncOp function);
  /// Returns the storage of a received value: that of the sent value if both
  /// stages are of this position.
  int storageForReceived(pipe::ReceiveOp receive, mlir::func::FuncOp function);
  /// Returns the storage of the weight that `value` can overwrite as the
  /// weight's update; -1 if there is none.
  int storageOfUpdated(mlir::Value value);
  /// Returns the storage of the program's parameter number `parameter`. `value`
  /// has the parameter's local type.
  int storageOfParameter(int32_t parameter, mlir::Value value);
  /// Returns a storage in the constants that holds the elements of `constant`.
  int constantStorage(graph::ConstantOp constant);
  /// Returns a new storage for the sum over microbatches that `argument`
  /// carries.
  int accumulatorFor(mlir::BlockArgument argument);
  /// Gives the arguments and the results of all ops of `function` a storage.
  void addFunction(mlir::func::FuncOp function);
  /// Returns the storage of an argument: an accumulator, the result of another
  /// function, an input of the model, or a new one.
  int storageForArgument(mlir::BlockArgument argument);
  /// Records the storages that `function` sends, and that they are live until
  /// the send has been waited for.
  void addSends(mlir::func::FuncOp function);
  /// Records the storages of the model's outputs that `function` returns, and
  /// that they are live until the end of the step.
  void addOutputs(mlir::func::FuncOp function);
  /// Returns whether a collective may overwrite the bytes of `value`.
  bool mayReuse(mlir::Value value) const;
  /// Returns the buffer that sees `storage` as a tensor of `type`; creates it
  /// at the first call.
  int bufferIn(int storage, mlir::RankedTensorType type);
  /// Marks `storage` as live at the current instant.
  void touch(ValueStorage &storage);
  /// Returns the liveness of a storage that outlives its action; creates it at
  /// the first call. `isShared`: all microbatches share one value.
  MicrobatchLiveness &held(int storage, bool isShared = false);
  /// Records in `holdings` that function `taker` reads a value that function
  /// `maker` of the same stage has computed.
  void noteHeld(int storage, mlir::func::FuncOp maker,
                mlir::func::FuncOp taker);
  /// Sets the number of slots of every storage that outlives its action.
  void setSlots();
  /// Returns the size and the live ranges of a storage for the arena planner.
  /// The size is 0 if the storage needs no bytes in the arena.
  plan::ArenaBuffer wantedBy(int storage) const;

  const ModelFacts &facts;
  int position;
  program::ProgramT &program;
  ParameterList parameterList;
  std::vector<std::byte> constantBytes;
  /// Offset in `constantBytes` by the bytes of a constant.
  llvm::StringMap<int64_t> constantOffsets;
  std::vector<ValueStorage> storages;
  /// Liveness of the storages that outlive their action, by storage.
  std::map<int, MicrobatchLiveness> outliving;
  /// Storage of each sum over microbatches, by the value that becomes the new
  /// sum.
  llvm::DenseMap<mlir::Value, int> accumulators;
  /// Holdings by stage.
  std::map<int, Holdings> holdings;
  /// Storage of every value of the position.
  llvm::DenseMap<mlir::Value, int> storageOf;
  /// Storage by index of the parameter in the program.
  llvm::DenseMap<int32_t, int> parameterStorages;
  /// Buffer by storage and tensor type.
  llvm::DenseMap<std::pair<int, mlir::Type>, int32_t> buffers;
  /// Storage of each buffer of the program.
  std::vector<int> storageOfBuffer;
  /// Storages by index in `facts`; -1 where the position has none.
  std::vector<int> inputs, outputs, sent, received;
  /// Local types of the inputs and outputs that the position has.
  std::vector<mlir::RankedTensorType> inputTypes, outputTypes;
  /// Function of the current instruction; null before the first.
  mlir::Operation *currentFunction = nullptr;
  /// Instants of the position so far; `line.now` is the current one.
  InstantLine line;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_BUFFERPLAN_H
