//===- BufferPlan.h - memory plan of one pipeline position ----------------===//
//
// Gives every value of a pipeline position's stages a *storage*: a range of
// bytes in the arena, in a parameter's local piece, or in the constants.
// Several values share a storage where no bytes have to move:
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

/// Plans the memory of the program of one position (virtual pipeline rank).
/// Calls come in this order: addStages(), then beginFunction() for each
/// function and beginInstruction() for each of its instructions, and place() at
/// the end.
///
/// The queries between two instructions return buffers: indices into the list
/// of buffers of the program. Two requests with the same storage (range of
/// bytes) and the same tensor type return the same buffer. The offsets of
/// buffers are unknown before place().
class BufferPlan {
public:
  /// Writes the buffers, parameters, weight files, accumulators (sums over
  /// microbatches) and arena sizes of `program`, the program of the pipeline
  /// position with index `position`. `facts` and `program` must outlive this
  /// object.
  BufferPlan(const ModelFacts &facts, int position, program::ProgramT &program);

  /// Assigns a storage (range of bytes) to every SSA value of the pipeline
  /// position's stages. Must be called once, before all calls below.
  void addStages();
  /// Returns the functions of the pipeline position's stages in an order in
  /// which each function follows the functions whose results it takes. The
  /// forward functions come first, then the backward functions, then those of
  /// the optimizer update.
  std::vector<mlir::func::FuncOp> functions() const;

  /// Starts a new function, one of functions(), and its first instruction.
  /// Following calls of beginInstruction() start its other instructions.
  void beginFunction(mlir::func::FuncOp function) {
    currentFunction = function;
    beginInstruction();
  }
  /// Starts a new instruction of the current function. The instruction uses all
  /// buffers that are requested before the next call of this method, so these
  /// buffers are live while it runs.
  void beginInstruction() { line.functions[currentFunction].add(++line.now); }

  /// Returns the buffer of `value`. Call it for each value that the current
  /// instruction reads or writes.
  int32_t bufferOf(mlir::Value value);
  /// Extends the live ranges of the operand, result and scratch buffers of
  /// `collective` to the current instruction. A collective can be split into
  /// two instructions, a start and a finish. This method must be called for the
  /// finish.
  void useAgain(const program::CollectiveT &collective);
  /// Returns a new buffer of `bytes` bytes for temporary data of the current
  /// instruction. It is live at that instruction only, unless useAgain()
  /// extends its live range. Returns -1 if `bytes` is 0.
  int32_t scratch(int64_t bytes);
  /// Makes the storage of `value` `copies` times as large. Returns a buffer of
  /// shape [copies, elements] whose row 0 is `value`. Example with two copies:
  /// one rank copies a new value to row 0. All other ranks copy it to row 1,
  /// which nobody reads, so that their `value` stays unchanged.
  int32_t widenedBuffer(mlir::Value value, int64_t copies);

  /// Returns the buffer of the model's input with index `input`; -1 if the
  /// pipeline position does not read this input.
  int32_t inputBuffer(int input);
  /// Returns the buffer of the model's output with index `output`; -1 if the
  /// pipeline position does not compute this output.
  int32_t outputBuffer(int output);
  /// Returns the buffer from which the transfer (value that one stage sends to
  /// another) with index `transfer` is sent; -1 if another pipeline position
  /// sends it.
  int32_t sentBuffer(int transfer);
  /// Returns the buffer into which the transfer (value that one stage sends to
  /// another) with index `transfer` is received; -1 if another pipeline
  /// position receives it.
  int32_t receivedBuffer(int transfer);

  /// Returns the buffer of the weight that `set` writes. It holds the rank's
  /// part of the weight. Returns -1 if ParameterList has no parameter for the
  /// weight.
  int32_t parameterBuffer(graph::SetParameterOp set);
  /// Returns how many bytes of the arena hold gradients until the update, or
  /// sums of gradients over microbatches. Valid after the last instruction.
  int64_t gradientBytes() const;
  /// Returns the bytes of weights, gradients and activations that each rank
  /// holds for `stage` for longer than one action. An action is one run of a
  /// stage function, such as the forward pass of one microbatch. The bytes of
  /// activations are those of one microbatch. All are 0 for a stage that holds
  /// nothing. Valid after the last instruction.
  runtime::StageBytes bytesOfStage(int stage) const;

  /// Assigns an offset in the arena to every storage that needs one. Then
  /// writes the offsets of all buffers, the accumulators (sums over
  /// microbatches), the size of the arena and a lower bound of that size to the
  /// program. Must be called after the last instruction. Checks the finished
  /// arena. Returns an empty string, or the error message of that check.
  std::string place();

  /// Returns the bytes of all constants, into which buffers in constant memory
  /// point.
  const std::vector<std::byte> &constants() const { return constantBytes; }
  /// Returns the parameters (weights and optimizer state) of the pipeline
  /// position.
  ParameterList &parameters() { return parameterList; }

private:
  /// Range of bytes that holds one value, or several values that can share it.
  /// It has one slot per microbatch that is live at the same time.
  struct ValueStorage {
    /// Where the bytes lie: in the arena, in a parameter or in the constants.
    program::Memory memory = program::Memory::Arena;
    /// Index of the parameter in the program. Only used in parameter memory.
    int32_t parameter = 0;
    /// Byte offset from the start of the constants or, after place(), from the
    /// start of the arena.
    int64_t offset = 0;
    /// Size in bytes, without padding, of one slot, which holds the value of
    /// one microbatch.
    int64_t bytes = 0;
    /// Number of microbatches whose values are live at the same time, each of
    /// which needs a slot. Microbatch m uses slot m % slots.
    int32_t slots = 1;
    /// Range from the first to the last instruction that uses the storage. An
    /// instant is the number of an instruction or message (InstantLine).
    Instants touched;
    /// Whether the storage is live from the beginning to the end of the step.
    bool isWhole = false;
    /// Name of the ONNX node that computes the value, for error messages.
    std::string name;
    /// Returns the distance in bytes from one slot to the next: `bytes`,
    /// rounded up to the alignment.
    int64_t stride() const;
  };

  /// Parameters and storages that a stage holds for longer than one action (one
  /// run of a stage function).
  struct Holdings {
    /// Indices, in the program, of the parameters that the stage reads or
    /// writes.
    std::set<int> parameters;
    /// Indices of the storages that hold gradients, or their sums, until the
    /// update.
    std::set<int> gradients;
    /// Activations: values that the forward function leaves to backward
    /// functions. The key is the index of the activation's storage. The value
    /// is false if only the action I (input gradient) reads the activation. It
    /// is true if another action, such as W (weight gradient), reads it.
    std::map<int, bool> activations;
  };

  /// Appends a new storage in the arena, of the size of `value`. Returns its
  /// index.
  int newStorage(mlir::Value value);
  /// Returns the index of the storage for `value`, the result of an op of
  /// `function`. This is the storage of another value, such as the op's
  /// operand, if both can share it, else a new one.
  int storageFor(mlir::Value value, mlir::func::FuncOp function);
  /// Returns the index of the storage for the result of `collective`: that of
  /// its input if the collective can work in place, else a new one.
  int storageForMoved(dist::CollectiveOp collective,
                      mlir::func::FuncOp function);
  /// Returns the index of the storage for a received value: that of the sent
  /// value if both stages belong to this pipeline position, else a new one.
  int storageForReceived(pipe::ReceiveOp receive, mlir::func::FuncOp function);
  /// If `value` is the new value of a weight and may overwrite the old one,
  /// returns the index of the weight's storage. Otherwise returns -1.
  int storageOfUpdated(mlir::Value value);
  /// Returns the index of the storage of the program's parameter with index
  /// `parameter`. `value` has the type of the part that one rank holds of it.
  int storageOfParameter(int32_t parameter, mlir::Value value);
  /// Appends the elements of `constant` to the constants. Returns the index of
  /// a new storage that points to them.
  int constantStorage(graph::ConstantOp constant);
  /// Returns the index of a new storage for the sum over microbatches that the
  /// function argument `argument` carries from one microbatch to the next.
  int accumulatorFor(mlir::BlockArgument argument);
  /// Assigns a storage to each argument of `function` and to each result of its
  /// ops.
  void addFunction(mlir::func::FuncOp function);
  /// Returns the index of the storage for a function argument. An argument can
  /// stand for a sum over microbatches, for a result of another function, or
  /// for an input of the model. It then gets the storage of that value. Any
  /// other argument gets a new storage.
  int storageForArgument(mlir::BlockArgument argument);
  /// Records the storages of the values that `function` sends to other stages.
  /// Each storage stays live until the program has waited for the end of the
  /// send.
  void addSends(mlir::func::FuncOp function);
  /// Records the storages of the outputs of the model that `function` returns.
  /// They stay live until the end of the step.
  void addOutputs(mlir::func::FuncOp function);
  /// Returns whether a collective that reads `value` may write its result over
  /// `value`.
  bool mayReuse(mlir::Value value) const;
  /// Returns the buffer that stands for the storage with index `storage`, seen
  /// as a tensor of `type`. Adds it to the program when it is requested for the
  /// first time.
  int bufferIn(int storage, mlir::RankedTensorType type);
  /// Extends the live range of `storage` to the current instruction.
  void touch(ValueStorage &storage);
  /// Returns the live ranges of the storage with index `storage`, which stays
  /// live after the action (run of a stage function) that writes it. Creates
  /// the ranges at the first call. `isShared` is true if all microbatches share
  /// one value.
  MicrobatchLiveness &held(int storage, bool isShared = false);
  /// Records in `holdings` that the function `taker` reads the value in the
  /// storage with index `storage`. Another function of the same stage, `maker`,
  /// has computed the value.
  void noteHeld(int storage, mlir::func::FuncOp maker,
                mlir::func::FuncOp taker);
  /// Computes, for each storage that stays live after its action, how many
  /// slots (one per microbatch that is live at the same time) it needs.
  void setSlots();
  /// Returns the size and the live ranges of the storage with index `storage`,
  /// as the arena planner takes them. The size is 0 if the storage needs no
  /// bytes in the arena.
  plan::ArenaBuffer wantedBy(int storage) const;

  const ModelFacts &facts;
  int position;
  program::ProgramT &program;
  ParameterList parameterList;
  std::vector<std::byte> constantBytes;
  /// Maps the bytes of each constant to their offset in `constantBytes`.
  llvm::StringMap<int64_t> constantOffsets;
  std::vector<ValueStorage> storages;
  /// Live ranges of the storages that stay live after the action (run of a
  /// stage function) that writes them. The key is the index of the storage.
  std::map<int, MicrobatchLiveness> outliving;
  /// Index of the storage of each sum over microbatches. The key is the SSA
  /// value that is the new sum.
  llvm::DenseMap<mlir::Value, int> accumulators;
  /// Holdings by stage.
  std::map<int, Holdings> holdings;
  /// Index of the storage of every SSA value of the pipeline position's
  /// functions.
  llvm::DenseMap<mlir::Value, int> storageOf;
  /// Maps the index of a parameter in the program to the index of its storage.
  llvm::DenseMap<int32_t, int> parameterStorages;
  /// Maps the index of a storage and a tensor type to the index of the buffer.
  llvm::DenseMap<std::pair<int, mlir::Type>, int32_t> buffers;
  /// For each buffer of the program, the index of its storage.
  std::vector<int> storageOfBuffer;
  /// Indices of the storages of the model's inputs and outputs, and of sent and
  /// received transfers (values that stages send to each other), in the order
  /// of the lists in `facts`. -1 for an entry that the pipeline position
  /// neither reads nor computes.
  std::vector<int> inputs, outputs, sent, received;
  /// Types of the parts that one rank holds of the model's inputs and outputs.
  /// Null for an input or output that the pipeline position neither reads nor
  /// computes.
  std::vector<mlir::RankedTensorType> inputTypes, outputTypes;
  /// Function that contains the current instruction. Null before
  /// beginFunction().
  mlir::Operation *currentFunction = nullptr;
  /// Instants (instructions and messages) of the pipeline position so far.
  /// `line.now` is the current one.
  InstantLine line;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_BUFFERPLAN_H
