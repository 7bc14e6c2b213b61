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

#include <map>
#include <set>

namespace pcc::emit {

/// Plans the memory of the program of one position (virtual pipeline rank).
/// Calls must have this order:
///
///   addStages()
///   for each function: beginFunction(), then beginInstruction() for each
///                      instruction
///   place()
///
/// A *buffer* is a range of bytes together with a tensor type. The methods
/// bufferOf(), inputBuffer(), ... return the index of a buffer in the program's
/// list. Two requests with the same bytes and the same tensor type return the
/// same index. place() computes the offsets of all buffers.
class BufferPlan {
public:
  /// Prepares the plan for the pipeline position with index `position`. The
  /// methods of the plan fill in the lists of `program`, the program of this
  /// position: its buffers, parameters, weight files and accumulators (sums
  /// over microbatches). `facts` and `program` must outlive this object.
  BufferPlan(const ModelFacts &facts, int position, program::ProgramT &program);

  /// Assigns a storage (range of bytes) to every SSA value of the stages that
  /// the pipeline position runs. Must be called once, before any other method.
  void addStages();
  /// Returns the functions of all stages that the pipeline position runs. A
  /// function comes after every function whose results it reads: first the
  /// forward functions, then the backward functions, then the functions of the
  /// optimizer update.
  std::vector<mlir::func::FuncOp> functions() const;

  /// Makes `function` the current function, and starts an instruction of
  /// `function`. `function` must be one of functions(). Each later call of
  /// beginInstruction() starts another instruction of `function`.
  void beginFunction(mlir::func::FuncOp function) {
    currentFunction = function;
    beginInstruction();
  }
  /// Starts a new instruction of the current function. The instruction uses all
  /// buffers that are requested before the next call of beginInstruction(). The
  /// live ranges of these buffers therefore include the instruction.
  void beginInstruction() { line.functions[currentFunction].add(++line.now); }

  /// Returns the index of the buffer of `value`, and extends the live range of
  /// the buffer to the current instruction. Must be called for each value that
  /// the current instruction reads or writes.
  int32_t bufferOf(mlir::Value value);
  /// Extends the live ranges of the operand, result and scratch buffers of
  /// `collective` to the current instruction. Must be called for the finish of
  /// a collective that is split into two instructions, a start and a finish:
  /// the buffers are in use until the finish.
  void useAgain(const program::CollectiveT &collective);
  /// Returns the index of a new buffer of `bytes` bytes for temporary data of
  /// the current instruction. The buffer is live at this instruction only,
  /// unless useAgain() extends its live range. Returns -1 if `bytes` is 0.
  int32_t scratch(int64_t bytes);
  /// Enlarges the storage (range of bytes) of `value` to `copies` times the
  /// size of `value`. Returns the index of a buffer of shape [copies, elements]
  /// whose row 0 is `value`.
  ///
  /// Example with two copies: all ranks execute one copy instruction, but only
  /// one rank has to replace its `value`. This rank writes to row 0. All other
  /// ranks write to row 1, which no instruction reads.
  int32_t widenedBuffer(mlir::Value value, int64_t copies);

  /// Returns the index of the buffer of the model's input with index `input`;
  /// -1 if the pipeline position does not read this input.
  int32_t inputBuffer(int input);
  /// Returns the index of the buffer of the model's output with index `output`;
  /// -1 if the pipeline position does not compute this output.
  int32_t outputBuffer(int output);
  /// Returns the index of the buffer from which the transfer with index
  /// `transfer` is sent. A transfer is a value that one stage sends to another.
  /// Returns -1 if another pipeline position sends it.
  int32_t sentBuffer(int transfer);
  /// Returns the index of the buffer into which the transfer with index
  /// `transfer` is received. A transfer is a value that one stage sends to
  /// another. Returns -1 if another pipeline position receives it.
  int32_t receivedBuffer(int transfer);

  /// Returns the index of the buffer of the weight that `set` writes. The
  /// buffer holds the rank's shard of the weight. Returns -1 if
  /// ParameterList::add() finds no parameter for `set`.
  int32_t parameterBuffer(graph::SetParameterOp set);
  /// Returns the number of bytes in the arena (memory of intermediate values)
  /// that hold gradients until the optimizer update, or sums of gradients over
  /// microbatches. Must be called after the last instruction.
  int64_t gradientBytes() const;
  /// Returns the bytes of weights, gradients and activations that each rank
  /// keeps for `stage` for longer than one action. An action is one run of a
  /// stage function, such as the forward pass of one microbatch. Counts the
  /// activations of one microbatch only. All numbers are 0 for a stage that
  /// keeps no values. Must be called after the last instruction.
  runtime::StageBytes bytesOfStage(int stage) const;

  /// Assigns an offset in the arena (memory of intermediate values) to every
  /// storage (range of bytes) that needs one. Must be called after the last
  /// instruction. Writes to the program:
  ///
  ///   - the offsets of all buffers,
  ///   - the accumulators (sums over microbatches),
  ///   - the size of the arena, and a lower bound of this size.
  ///
  /// Then checks that storages that are live at the same time do not overlap.
  /// Returns the error message of this check, or an empty string.
  std::string place();

  /// Returns the bytes of all constants of the program. The offset of a buffer
  /// in constant memory is an offset into these bytes.
  const std::vector<std::byte> &constants() const { return constantBytes; }
  /// Returns the list of parameters (weights and optimizer state) of the
  /// pipeline position.
  ParameterList &parameters() { return parameterList; }

private:
  /// Storage: a range of bytes that holds one value, or several values that can
  /// share the bytes. The range consists of slots (copies for different
  /// microbatches). There are as many slots as microbatches whose values are
  /// live at the same time.
  struct ValueStorage {
    /// Kind of memory that contains the bytes: the arena (memory of
    /// intermediate values), a parameter, or the constants.
    program::Memory memory = program::Memory::Arena;
    /// Index, in the program, of the parameter that contains the bytes. Only
    /// used if `memory` is Parameter.
    int32_t parameter = 0;
    /// Byte offset from the start of the constants or of the arena (memory of
    /// intermediate values). place() computes the offsets in the arena.
    int64_t offset = 0;
    /// Size in bytes, without padding, of one slot. A slot holds the value for
    /// one microbatch.
    int64_t bytes = 0;
    /// Number of slots: the number of microbatches whose values are live at the
    /// same time. The value for microbatch m is in slot m % slots.
    int32_t slots = 1;
    /// Range from the first to the last instruction that uses the storage
    /// (range of bytes). An instant is the number of an instruction or message
    /// (InstantLine).
    Instants touched;
    /// Whether the storage (range of bytes) is live from the beginning to the
    /// end of the step. If false, its uses determine when it is live.
    bool isWhole = false;
    /// Name of the ONNX node that computes the value, for error messages.
    std::string name;
    /// Returns the distance in bytes from one slot (value for one microbatch)
    /// to the next: `bytes`, rounded up to the alignment.
    int64_t stride() const;
  };

  /// Parameters and storages (ranges of bytes) whose values a stage keeps for
  /// longer than one action (one run of a stage function).
  struct Holdings {
    /// Indices, in the program, of the parameters that the stage reads or
    /// writes.
    std::set<int> parameters;
    /// Indices of the storages (ranges of bytes) that hold gradients, or sums
    /// of gradients over microbatches, until the optimizer update.
    std::set<int> gradients;
    /// Activations: values that the forward function computes and backward
    /// functions read. Maps the index of the activation's storage (range of
    /// bytes) to a flag. The flag is false if only the action I (input
    /// gradient) reads the activation, and true if another action reads it,
    /// such as W (weight gradient).
    std::map<int, bool> activations;
  };

  /// Appends a new storage (range of bytes) of the size of `value`, in the
  /// arena (memory of intermediate values). Returns the index of the storage.
  int newStorage(mlir::Value value);
  /// Returns the index of the storage (range of bytes) for `value`, the result
  /// of an op of `function`. If `value` can share the storage of another value,
  /// such as the operand of a reshape, returns that storage. Otherwise creates
  /// a new storage.
  int storageFor(mlir::Value value, mlir::func::FuncOp function);
  /// Returns the index of the storage (range of bytes) for the result of
  /// `collective`. If the collective can work in place, this is the storage of
  /// its input. Otherwise it is a new storage.
  int storageForMoved(dist::CollectiveOp collective,
                      mlir::func::FuncOp function);
  /// Returns the index of the storage (range of bytes) for the value that
  /// `receive` receives. If the sending stage belongs to this pipeline
  /// position, this is the storage of the sent value. Otherwise it is a new
  /// storage.
  int storageForReceived(pipe::ReceiveOp receive, mlir::func::FuncOp function);
  /// Returns the ops of `block` that read the parameter with index `parameter`
  /// in `parameterList`. Adds the parameters of all reads to that list.
  llvm::ArrayRef<graph::GetParameterOp> readsOf(int32_t parameter,
                                                mlir::Block *block);
  /// If `value` is the new value of a weight and may overwrite the old one,
  /// returns the index of the weight's storage. Otherwise returns -1.
  int storageOfUpdated(mlir::Value value);
  /// Returns the index of the storage (range of bytes) of the program's
  /// parameter with index `parameter`. The storage has the size of `value`, a
  /// value with the type of the rank's shard of the parameter.
  int storageOfParameter(int32_t parameter, mlir::Value value);
  /// Appends the elements of `constant` to the constants, unless equal bytes
  /// are there already. Returns the index of a new storage (range of bytes) for
  /// these bytes.
  int constantStorage(graph::ConstantOp constant);
  /// Creates the storage (range of bytes) of a sum over microbatches, and
  /// returns its index. `argument` is the function argument that passes the sum
  /// from one microbatch to the next.
  int accumulatorFor(mlir::BlockArgument argument);
  /// Assigns a storage (range of bytes) to each argument of `function` and to
  /// each result of its ops.
  void addFunction(mlir::func::FuncOp function);
  /// Returns the index of the storage (range of bytes) for a function argument.
  /// If the argument stands for one of these values, returns the storage of the
  /// value:
  ///
  ///   - a sum over microbatches,
  ///   - a result of another function,
  ///   - an input of the model.
  ///
  /// Otherwise returns a new storage.
  int storageForArgument(mlir::BlockArgument argument);
  /// Records the storages (ranges of bytes) of the values that `function` sends
  /// to other stages. Each storage stays live until the program has waited for
  /// the end of the send.
  void addSends(mlir::func::FuncOp function);
  /// Records the storages (ranges of bytes) of the model's outputs that
  /// `function` returns. The storages stay live until the end of the step.
  void addOutputs(mlir::func::FuncOp function);
  /// Returns whether a collective that reads `value` may write its result over
  /// `value`.
  bool mayReuse(mlir::Value value) const;
  /// Returns the index of the buffer for the storage (range of bytes) with
  /// index `storage` as a tensor of `type`. Adds the buffer to the program when
  /// it is requested for the first time.
  int bufferIn(int storage, mlir::RankedTensorType type);
  /// Extends the live range of `storage` (a range of bytes) to the current
  /// instruction.
  void touch(ValueStorage &storage);
  /// Returns the live ranges of the storage (range of bytes) with index
  /// `storage`. The storage stays live after the action (run of a stage
  /// function) that writes it. Creates the live ranges at the first call.
  /// `isShared` is true if all microbatches share one value, false if each
  /// microbatch has its own value.
  MicrobatchLiveness &held(int storage, bool isShared = false);
  /// Records in `holdings` that a stage keeps a value for longer than one
  /// action (run of a stage function): function `maker` of the stage computes
  /// the value, and function `taker` reads it later. `storage` is the index of
  /// the storage (range of bytes) of the value.
  void noteHeld(int storage, mlir::func::FuncOp maker,
                mlir::func::FuncOp taker);
  /// Computes the number of slots of each storage (range of bytes) that stays
  /// live after its action (run of a stage function). A storage needs one slot
  /// for each microbatch whose value is live at the same time.
  void setSlots();
  /// Returns the size and the live ranges of the storage (range of bytes) with
  /// index `storage`, as input of the arena planner (plan::planArena). The size
  /// is 0 if the storage needs no bytes in the arena.
  plan::ArenaBuffer wantedBy(int storage) const;

  const ModelFacts &facts;
  int position;
  program::ProgramT &program;
  ParameterList parameterList;
  /// Symbols of the module, set when the first one is looked up.
  std::optional<mlir::SymbolTable> symbols;
  /// By block and by index in `parameterList`: the ops that read the parameter.
  llvm::DenseMap<mlir::Block *,
                 std::map<int32_t, llvm::SmallVector<graph::GetParameterOp, 1>>>
      parameterReads;
  std::vector<std::byte> constantBytes;
  /// Maps the bytes of each constant to the byte offset of the constant in
  /// `constantBytes`.
  llvm::StringMap<int64_t> constantOffsets;
  std::vector<ValueStorage> storages;
  /// Live ranges of the storages (ranges of bytes) that stay live after the
  /// action (run of a stage function) that writes them. The key is the index of
  /// the storage.
  std::map<int, MicrobatchLiveness> outliving;
  /// Index of the storage (range of bytes) of each sum over microbatches. The
  /// key is the SSA value of the sum after the current microbatch is added.
  llvm::DenseMap<mlir::Value, int> accumulators;
  /// Holdings by stage.
  std::map<int, Holdings> holdings;
  /// Index of the storage (range of bytes) of every SSA value in the functions
  /// of the pipeline position.
  llvm::DenseMap<mlir::Value, int> storageOf;
  /// Maps the index of a parameter in the program to the index of the
  /// parameter's storage (range of bytes).
  llvm::DenseMap<int32_t, int> parameterStorages;
  /// Maps the index of a storage (range of bytes) and a tensor type to the
  /// index of the buffer that has both.
  llvm::DenseMap<std::pair<int, mlir::Type>, int32_t> buffers;
  /// Index of the storage (range of bytes) of each buffer of the program.
  std::vector<int> storageOfBuffer;
  /// Indices of the storages (ranges of bytes) of the model's inputs and
  /// outputs, and of sent and received transfers (values that stages send to
  /// each other). Entry i belongs to entry i of the list in `facts`. It is -1
  /// if the pipeline position neither reads nor computes the value.
  std::vector<int> inputs, outputs, sent, received;
  /// Types of the rank's shards of the model's inputs and outputs. An entry is
  /// null if the pipeline position neither reads nor computes the input or
  /// output.
  std::vector<mlir::RankedTensorType> inputTypes, outputTypes;
  /// Function that contains the current instruction. Null before
  /// beginFunction().
  mlir::Operation *currentFunction = nullptr;
  /// Instants (numbers of instructions and messages) of the pipeline position
  /// that have been assigned so far. `line.now` is the instant of the current
  /// instruction.
  InstantLine line;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_BUFFERPLAN_H
