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

/// Plans the memory of one program, which the ranks of one position (virtual
/// pipeline rank) execute. Calls must have this order:
///
///   addStages()
///   for each function: beginFunction(), then beginInstruction() for each
///                      instruction
///   place()
///
/// A *buffer* is a range of bytes with a tensor type. bufferOf() and similar
/// methods return the index of a buffer in the program's list. place() computes
/// the offsets of all buffers.
class BufferPlan {
public:
  /// Prepares the memory plan of one program: that of position (virtual
  /// pipeline rank) number `position`. Later calls fill in lists of `program`,
  /// such as its buffers and parameters. `facts` and `program` must outlive
  /// this object.
  BufferPlan(const ModelFacts &facts, int position, program::ProgramT &program);

  /// Assigns a storage (range of bytes) to every SSA value of the stages that
  /// the rank runs. Must be called once, before any other method.
  void addStages();
  /// Returns the functions of all stages that the rank runs: first forward
  /// functions, then backward functions, then optimizer updates. A function
  /// comes after all functions whose results it reads.
  std::vector<mlir::func::FuncOp> functions() const;

  /// Makes `function` the current function, and starts its first instruction.
  /// `function` must be an element of functions().
  void beginFunction(mlir::func::FuncOp function) {
    currentFunction = function;
    beginInstruction();
  }
  /// Starts a new instruction of the current function. All buffers that are
  /// requested before the next call are live at this instruction.
  void beginInstruction() { line.functions[currentFunction].add(++line.now); }

  /// Returns the index of the buffer of `value`. Must be called for each value
  /// that the current instruction uses: the call extends the live range of the
  /// buffer.
  int32_t bufferOf(mlir::Value value);
  /// Keeps the buffers of `collective` live up to the current instruction. Must
  /// be called at the second instruction of a collective that has two: a start
  /// and a finish.
  void useAgain(const program::CollectiveT &collective);
  /// Returns the index of a new buffer of `bytes` bytes for temporary data of
  /// the current instruction. Returns -1 if `bytes` is 0.
  int32_t scratch(int64_t bytes);
  /// Enlarges the storage (range of bytes) of `value`, a tensor of n elements,
  /// to `copies` times its size. Returns the index of a buffer of shape
  /// [copies, n]. Row 0 of the buffer is `value`.
  ///
  /// Example with two copies: all ranks execute one copy instruction, but only
  /// one rank may change `value`. The other ranks write to row 1, which no
  /// instruction reads.
  int32_t widenedBuffer(mlir::Value value, int64_t copies);

  /// Returns the index of the buffer of the model's input number `input`.
  /// Returns -1 if the rank does not read this input.
  int32_t inputBuffer(int input);
  /// Returns the index of the buffer of the model's output number `output`.
  /// Returns -1 if the rank does not compute this output.
  int32_t outputBuffer(int output);
  /// Returns the index of the buffer that the rank sends in transfer number
  /// `transfer`. A transfer is a value that one stage sends to another. Returns
  /// -1 if the rank does not send this value.
  int32_t sentBuffer(int transfer);
  /// Returns the index of the buffer into which the rank receives transfer
  /// number `transfer`. A transfer is a value that one stage sends to another.
  /// Returns -1 if the rank does not receive this value.
  int32_t receivedBuffer(int transfer);

  /// Returns the index of the buffer for the rank's shard of the weight that
  /// `set` writes. Returns -1 if the rank's program has no parameter with this
  /// weight and sharding, although the program of some rank reads the weight.
  int32_t parameterBuffer(graph::SetParameterOp set);
  /// Returns the bytes of gradients in the arena (memory of intermediate
  /// values) that are kept until the optimizer update. Must be called after the
  /// last instruction.
  int64_t gradientBytes() const;
  /// Returns the bytes that each rank keeps for stage number `stage` from one
  /// action (run of a stage function) to a later one. They belong to weights,
  /// gradients, and the activations of one microbatch. Must be called after the
  /// last instruction.
  runtime::StageBytes bytesOfStage(int stage) const;

  /// Places all buffers in the arena (memory of intermediate values). Must be
  /// called after the last instruction. Writes to the program:
  ///
  ///   - the offsets of all buffers,
  ///   - the accumulators (sums over microbatches),
  ///   - the size of the arena, and a lower bound of this size.
  ///
  /// Returns an error message if live buffers overlap, and an empty string
  /// otherwise.
  std::string place();

  /// Returns the bytes of all constants of the program. The offset of a
  /// constant's buffer is an index into these bytes.
  const std::vector<std::byte> &constants() const { return constantBytes; }
  /// Returns the parameters (weights and optimizer state) of the rank's
  /// program.
  ParameterList &parameters() { return parameterList; }

private:
  /// Range of bytes for one value, or for several values that can share the
  /// bytes. If several microbatches each have a live value at the same time,
  /// the range consists of slots: one per live value.
  struct ValueStorage {
    /// Kind of memory: the arena (memory of intermediate values), a parameter,
    /// or the constants.
    program::Memory memory = program::Memory::Arena;
    /// Index of the parameter that contains the bytes, if `memory` is
    /// Parameter.
    int32_t parameter = 0;
    /// Byte offset of this storage (range of bytes) in the arena (memory of
    /// intermediate values) or in the constants. 0 for a parameter.
    int64_t offset = 0;
    /// Size in bytes of the value of one microbatch, without padding.
    int64_t bytes = 0;
    /// Number of microbatches whose values are live at a time. The value of
    /// microbatch m is in slot m % slots.
    int32_t slots = 1;
    /// Range from the first to the last instruction that uses a value in this
    /// storage (range of bytes).
    Instants touched;
    /// Whether the storage (range of bytes) is live during the whole step.
    bool isWhole = false;
    /// Name of an ONNX node, for error messages: the node that computes the
    /// value.
    std::string name;
    /// Returns the distance in bytes between the values of two successive
    /// microbatches: `bytes`, rounded up to the alignment.
    int64_t stride() const;
  };

  /// Values that one stage keeps from one action (run of a stage function) to a
  /// later action.
  struct Holdings {
    /// Indices of the parameters (weights and optimizer state) that one stage
    /// reads or writes.
    std::set<int> parameters;
    /// Indices of the storages (ranges of bytes) of gradients that are kept
    /// until the optimizer update.
    std::set<int> gradients;
    /// Activations that backward functions read. The key is the index of an
    /// activation's storage (range of bytes). The flag is false if the only
    /// reader is the action I (input gradient).
    std::map<int, bool> activations;
  };

  /// Appends a new storage (range of bytes) for `value` in the arena (memory of
  /// intermediate values). Returns the storage's index.
  int newStorage(mlir::Value value);
  /// Returns the index of the storage (range of bytes) of `value`, which an op
  /// of `function` computes. The storage may be new. It may also be that of
  /// another value: a reshape, for example, shares the storage of its operand.
  int storageFor(mlir::Value value, mlir::func::FuncOp function);
  /// Returns the index of the storage (range of bytes) for the result of
  /// `collective`. The result shares the storage of the operand if the
  /// collective can work in place. Otherwise the storage is new.
  int storageForMoved(dist::CollectiveOp collective,
                      mlir::func::FuncOp function);
  /// Returns the index of the storage (range of bytes) of the value that
  /// `receive` receives from another stage. If the rank also runs the sending
  /// stage, this is the storage of the sent value. Otherwise the storage is
  /// new.
  int storageForReceived(pipe::ReceiveOp receive, mlir::func::FuncOp function);
  /// Returns the graph.get_parameter ops of `block` that read parameter number
  /// `parameter` (see parameters()).
  llvm::ArrayRef<graph::GetParameterOp> readsOf(int32_t parameter,
                                                mlir::Block *block);
  /// If `value` is a new weight that may overwrite the old one, returns the
  /// index of the old weight's storage (range of bytes). Otherwise returns -1.
  int storageOfUpdated(mlir::Value value);
  /// Returns the index of the storage (range of bytes) of parameter number
  /// `parameter` (see parameters()). `value` is an SSA value with the type of
  /// the rank's shard of this parameter.
  int storageOfParameter(int32_t parameter, mlir::Value value);
  /// Returns the index of a new storage (range of bytes) for `constant`, within
  /// the bytes that constants() returns. Appends the bytes of `constant` to
  /// them, unless equal bytes are there already.
  int constantStorage(graph::ConstantOp constant);
  /// Creates the storage (range of bytes) of a sum over microbatches, and
  /// returns its index. `argument` is the function argument that holds the sum
  /// over the preceding microbatches.
  int accumulatorFor(mlir::BlockArgument argument);
  /// Assigns a storage (range of bytes) to each argument of `function` and to
  /// each result of its ops.
  void addFunction(mlir::func::FuncOp function);
  /// Returns the index of the storage (range of bytes) of `argument`, a
  /// function argument. An argument that holds one of these values shares the
  /// value's storage:
  ///
  ///   - a sum over microbatches,
  ///   - a result of another function,
  ///   - an input of the model.
  ///
  /// Any other argument gets a new storage.
  int storageForArgument(mlir::BlockArgument argument);
  /// Records which storages (ranges of bytes) the send ops of `function` send
  /// to other stages. Each storage stays live until its send has ended.
  void addSends(mlir::func::FuncOp function);
  /// Records the storages (ranges of bytes) of the model's outputs that
  /// `function` returns. They stay live until the end of the step.
  void addOutputs(mlir::func::FuncOp function);
  /// Returns whether a collective that reads `value` may write its result over
  /// `value`.
  bool mayReuse(mlir::Value value) const;
  /// Returns the index of a buffer: the storage (range of bytes) number
  /// `storage` as a tensor of type `type`. The first call with a given
  /// `storage` and `type` adds the buffer to the program.
  int bufferIn(int storage, mlir::RankedTensorType type);
  /// Extends the live range of `storage` to the current instruction, which has
  /// the number `line.now`.
  void touch(ValueStorage &storage);
  /// Returns the live ranges of the value in the storage (range of bytes)
  /// number `storage`, one per microbatch. If `isShared` is true, all
  /// microbatches share one range. The first call for a storage creates empty
  /// ranges.
  MicrobatchLiveness &held(int storage, bool isShared = false);
  /// Records in `holdings` that one stage keeps a value until a later action
  /// (run of a stage function). `storage` is the index of the value's storage
  /// (range of bytes). `maker` computes the value, and `taker`, a function of
  /// the stage, reads it.
  void noteHeld(int storage, mlir::func::FuncOp maker,
                mlir::func::FuncOp taker);
  /// Sets ValueStorage::slots (number of slots) of each storage (range of
  /// bytes). If values of three microbatches are live at the same time, a
  /// storage needs three slots.
  void setSlots();
  /// Returns the size and the live ranges of a storage (range of bytes) for the
  /// arena planner. The size is 0 if the storage needs no bytes in the arena.
  plan::ArenaBuffer wantedBy(int storage) const;

  const ModelFacts &facts;
  int position;
  program::ProgramT &program;
  ParameterList parameterList;
  /// Symbols of the module, set at the first look-up.
  std::optional<mlir::SymbolTable> symbols;
  /// Ops that read a parameter, by their block, then by the index of the
  /// parameter in `parameterList`.
  llvm::DenseMap<mlir::Block *,
                 std::map<int32_t, llvm::SmallVector<graph::GetParameterOp, 1>>>
      parameterReads;
  std::vector<std::byte> constantBytes;
  /// Offset in `constantBytes` of each constant. The key is the constant's
  /// bytes.
  llvm::StringMap<int64_t> constantOffsets;
  std::vector<ValueStorage> storages;
  /// Live ranges, per microbatch, of values that several actions (runs of stage
  /// functions) use. The key is the index of the value's storage (range of
  /// bytes).
  std::map<int, MicrobatchLiveness> outliving;
  /// Index of the storage (range of bytes) of each sum over microbatches. The
  /// key is the SSA value that holds the sum after the current microbatch.
  llvm::DenseMap<mlir::Value, int> accumulators;
  /// Holdings by stage.
  std::map<int, Holdings> holdings;
  /// Index of the storage (range of bytes) of every SSA value.
  llvm::DenseMap<mlir::Value, int> storageOf;
  /// Index of the storage (range of bytes) of each parameter, by the
  /// parameter's index.
  llvm::DenseMap<int32_t, int> parameterStorages;
  /// Index of each buffer of the program. The key is the index of the buffer's
  /// storage (range of bytes), and the buffer's tensor type.
  llvm::DenseMap<std::pair<int, mlir::Type>, int32_t> buffers;
  /// Index of the storage (range of bytes) of each buffer of the program.
  std::vector<int> storageOfBuffer;
  /// Indices of storages (ranges of bytes): of the model's inputs, of the
  /// model's outputs, of the values that a stage sends, and of the values that
  /// it receives. An entry is -1 if the rank does not use the value.
  std::vector<int> inputs, outputs, sent, received;
  /// Types of one rank's shards of the model's inputs and outputs. The type of
  /// an input or output that the rank does not use is null.
  std::vector<mlir::RankedTensorType> inputTypes, outputTypes;
  /// Function that contains the current instruction. Null before
  /// beginFunction().
  mlir::Operation *currentFunction = nullptr;
  /// Numbering of the program's instructions and messages, which live ranges
  /// refer to. `line.now` is the number of the current instruction.
  InstantLine line;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_BUFFERPLAN_H
