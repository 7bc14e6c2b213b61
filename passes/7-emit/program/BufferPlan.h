//===- BufferPlan.h - memory plan of one pipeline rank --------------------===//
//
// Gives every value of a pipeline rank's stages a *storage*: a range of bytes
// in the arena, in a parameter's local piece, or in the constants. Several
// values share a storage where no bytes have to move:
//
// - a reshape and its operand;
// - an all_reduce and its input, if the input has no other reader;
// - a weight and the updated weight that an element-wise kernel computes from
//   it.
//
// Live ranges are measured on one line of instants (InstantLine). The posts and
// waits of the step's messages come first, then every function of the rank's
// stages with one instant per instruction. Each microbatch runs over the
// instants of its functions again. A storage that is live from one action to a
// later one is therefore live at all instants of the actions in between. Rows
// of the picture are storages, `#` marks the instants at which they are live:
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
#include "passes/7-emit/program/ArenaUse.h"
#include "passes/7-emit/program/ModelFacts.h"
#include "passes/7-emit/program/ParameterList.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <set>

namespace pcc::emit {

/// Plans the memory of one program: assigns a buffer (range of bytes with a
/// tensor type) to each value. Call addStages() first. Then call
/// beginFunction() for each function, and beginInstruction() for each of its
/// instructions. Call place() last: the offsets of the buffers are known only
/// then.
class BufferPlan {
public:
  /// Prepares an empty memory plan for the ranks with index `position` along
  /// the pipeline axis of the mesh. These ranks all execute `program`. Later
  /// calls write the plan to `program`. `facts` and `program` must outlive this
  /// object.
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
  /// Starts a new instruction of the current function. The current function is
  /// the argument of the last call of beginFunction(). The new instruction is
  /// the current instruction until the next call of beginInstruction(). The
  /// methods bufferOf(), scratch(), widenedBuffer() and useAgain() record that
  /// the current instruction uses a buffer.
  void beginInstruction() { line.functions[currentFunction].add(++line.now); }

  /// Returns the index of the buffer of `value`. Must be called for each value
  /// that the current instruction uses: the call extends the live range of the
  /// buffer.
  int32_t bufferOf(mlir::Value value);
  /// Extends the live ranges of the buffers of `collective` to the current
  /// instruction. This must be the second of two instructions that execute the
  /// collective: it finishes the communication that the first has started.
  void useAgain(const program::CollectiveT &collective);
  /// Returns the index of a new buffer of `bytes` bytes for temporary data of
  /// the current instruction. Returns -1 if `bytes` is 0.
  int32_t scratch(int64_t bytes);
  /// Enlarges the memory of `value`, of n elements, to `copies` times its size.
  /// Returns the index of a buffer of shape [copies, n] for this memory. Row 0
  /// is `value`. The other rows are written, but never read. Example: all ranks
  /// run the same copy instruction. The ranks that must not change `value` copy
  /// to row 1 instead of row 0.
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

  /// Returns the index of the buffer to which `set` writes the rank's shard of
  /// a weight. If the program has no parameter for this weight in this sharding
  /// yet, there are two cases. If no op of the module reads the weight, adds
  /// the parameter. If an op reads the weight in another sharding, returns -1.
  int32_t parameterBuffer(graph::SetParameterOp set);
  /// Returns how many bytes one rank needs for the gradients that it keeps
  /// until the optimizer update. Counts only gradients in the arena, which is
  /// the memory of intermediate values. Must be called after all instructions
  /// of the program have been created.
  int64_t gradientBytes() const;
  /// Chooses the offset of each buffer in the arena (memory of intermediate
  /// values). Also sets `accumulators` and the arena sizes of the program, and
  /// the bytes that each action of the program uses. Must be called after all
  /// instructions and actions have been created. Returns an error message if
  /// buffers in use at the same time overlap, else an empty string.
  std::string place();

  /// Returns the bytes of all constants of the program. The offset of a
  /// constant's buffer is an index into these bytes.
  const std::vector<std::byte> &constants() const { return constantBytes; }
  /// Returns the parameters (weights and optimizer state) of the rank's
  /// program.
  ParameterList &parameters() { return parameterList; }

private:
  /// Range of bytes that holds one value, or several values that share the
  /// bytes. For example, the operand and the result of a reshape share their
  /// bytes. Each microbatch may have its own copy of a value. The range then
  /// consists of slots of equal size, and a slot holds one copy at a time.
  /// Example: the copies of up to three microbatches are needed at the same
  /// time. The range has three slots.
  struct ValueStorage {
    /// Kind of memory in which this storage (range of bytes) lies. There are
    /// three kinds:
    ///
    ///   Arena       memory of intermediate values
    ///   Parameter   memory of one weight or one optimizer state
    ///   Constant    memory of all constants of the program
    program::Memory memory = program::Memory::Arena;
    /// Index of a parameter in the program's list of parameters. A parameter is
    /// a weight or an optimizer state. If `memory` is Memory::Parameter, the
    /// storage (range of bytes) holds this parameter. Otherwise, the index is
    /// not used.
    int32_t parameter = 0;
    /// Byte offset of this storage (range of bytes). Counts from the start of
    /// the arena or of `constantBytes`, according to `memory`. 0 for a
    /// parameter.
    int64_t offset = 0;
    /// Size of one slot in bytes, without padding. A storage (range of bytes)
    /// consists of one or more slots of equal size. Example: each microbatch
    /// has its own copy of an activation. Each slot then holds one copy.
    int64_t bytes = 0;
    /// Number of slots of this storage (range of bytes). A slot has room for
    /// the value of one microbatch. If the values of up to n microbatches are
    /// in use at the same time, the storage has n slots. The value of
    /// microbatch m is in slot m % slots. Example: with 3 slots, the value of
    /// microbatch 4 is in slot 1.
    int32_t slots = 1;
    /// Numbers of the first and the last instruction that use the storage
    /// (range of bytes). Example: if the instructions 3, 5 and 8 read or write
    /// the bytes, the range is [3, 8].
    Instants touched;
    /// Whether the storage (range of bytes) is in use during the whole step. A
    /// step is one execution of the program, for all microbatches. If true, no
    /// other value is placed in these bytes. Example: the storage of a gradient
    /// that is summed over all microbatches.
    bool isWhole = false;
    /// Name of the storage (range of bytes) for error messages. The storage of
    /// an activation has the name of the ONNX node that computes the
    /// activation, such as "/layers.3/MatMul". The storage of a model input has
    /// the name of the input. The storage of temporary data has the name
    /// "scratch".
    std::string name;
    /// Returns the number of bytes from the start of one slot to the start of
    /// the next slot. A slot is the part of the storage that holds the value of
    /// one microbatch. The result is `bytes`, rounded up to a multiple of
    /// runtime::kAlignment.
    int64_t stride() const;
  };

  /// Appends a new storage (range of bytes) for `value` in the arena (memory of
  /// intermediate values). Returns the storage's index.
  int newStorage(mlir::Value value);
  /// Returns the index of the storage (range of bytes) of `value`, the result
  /// of an op in `function`. Most values get a new storage. Some values share
  /// the storage of another value. Example: the result of a reshape shares the
  /// storage of the operand of the reshape.
  int storageFor(mlir::Value value, mlir::func::FuncOp function);
  /// Returns the index of the storage (range of bytes) for the result of
  /// `collective`, an op of `function`. The result of an all_reduce may
  /// overwrite the operand of the all_reduce if no other op needs the operand.
  /// The result then shares the storage of the operand. In all other cases, the
  /// result gets a new storage. Example: an all_gather has a result that is
  /// larger than its operand, so the result gets a new storage.
  int storageForMoved(dist::CollectiveOp collective,
                      mlir::func::FuncOp function);
  /// Returns the index of the storage (range of bytes) of a received value.
  /// `receive` is an op of `function` that receives the value from another
  /// stage. If the rank also runs the stage that sends the value, returns the
  /// storage of the sent value. Otherwise creates a new storage.
  int storageForReceived(pipe::ReceiveOp receive, mlir::func::FuncOp function);
  /// Returns the ops in `block` that read one parameter. A parameter is a
  /// weight or an optimizer state. An op graph.get_parameter reads a parameter.
  /// `parameter` is the index of the parameter in the list parameters().
  llvm::ArrayRef<graph::GetParameterOp> readsOf(int32_t parameter,
                                                mlir::Block *block);
  /// If `value` is the new value of a weight or optimizer state and may
  /// overwrite the old value, returns the index of the storage (range of bytes)
  /// of the old value. Otherwise returns -1.
  int storageOfUpdated(mlir::Value value);
  /// Returns the index of the storage (range of bytes) of a parameter. A
  /// parameter is a weight or an optimizer state. `parameter` is the index of
  /// the parameter in the list parameters(). `value` is an SSA value that is
  /// read from the parameter or written to the parameter. If the storage does
  /// not exist yet, creates the storage with the size of `value`.
  int storageOfParameter(int32_t parameter, mlir::Value value);
  /// Returns the index of a new storage (range of bytes) for `constant`. All
  /// constants of the program lie in one list of bytes, `constantBytes`.
  /// Appends the bytes of `constant` to this list. If another constant with
  /// equal bytes is already in the list, appends nothing, and the two constants
  /// share the bytes.
  int constantStorage(graph::ConstantOp constant);
  /// Creates a storage (range of bytes) for a sum over microbatches, such as
  /// the gradient of a weight. Returns the index of the storage. `argument` is
  /// the function argument for the sum over the preceding microbatches.
  int accumulatorFor(mlir::BlockArgument argument);
  /// Assigns a storage (range of bytes) to each argument of `function` and to
  /// each result of its ops.
  void addFunction(mlir::func::FuncOp function);
  /// Returns the index of the storage (range of bytes) of a function argument.
  /// A sum over microbatches, a result of another function and an input of the
  /// model have one storage for all uses. Any other argument gets a new
  /// storage.
  int storageForArgument(mlir::BlockArgument argument);
  /// Records which storages (ranges of bytes) the send ops of `function` send
  /// to other stages. Each storage stays live until its send has ended.
  void addSends(mlir::func::FuncOp function);
  /// Records which storages (ranges of bytes) hold the outputs of the model
  /// that `function` returns. The storage of an output stays live until the end
  /// of the step. A step is one execution of the program, for all microbatches.
  /// The user reads the outputs after the step.
  void addOutputs(mlir::func::FuncOp function);
  /// Returns whether a collective that reads `value` may write its result over
  /// `value`.
  bool mayReuse(mlir::Value value) const;
  /// Returns the index of a buffer of the program. A buffer is a range of bytes
  /// with a tensor type. `storage` is the index of the range of bytes in the
  /// list `storages`, and `type` is the tensor type. If the program does not
  /// have such a buffer yet, adds the buffer to the program. Example: the
  /// operand and the result of a reshape have the same bytes but different
  /// types, so they have two buffers.
  int bufferIn(int storage, mlir::RankedTensorType type);
  /// Extends the live range of `storage` to the current instruction. The
  /// instructions are numbered, and a live range is a range of these numbers.
  /// Example: if the live range is [3, 6] and the current instruction has the
  /// number 8, the live range becomes [3, 8].
  void touch(ValueStorage &storage);
  /// Returns the live ranges of the value in the storage (range of bytes) with
  /// the index `storage`. The first call creates empty live ranges. In this
  /// call, `isShared` tells whether all microbatches share one copy of the
  /// value, or each has its own copy.
  MicrobatchLiveness &held(int storage, bool isShared = false);
  /// Adds `storage` to `gradients` if `maker` runs once per microbatch and
  /// `taker` runs once per step. `maker` is the function that computes the
  /// value in `storage`, and `taker` is the function that reads this value,
  /// such as the optimizer update.
  void noteGradient(int storage, mlir::func::FuncOp maker,
                    mlir::func::FuncOp taker);
  /// Adds the storage with the index `index` to `use`. The storage counts
  /// `bytes` bytes for each microbatch whose value it holds. Adds nothing if
  /// the storage is not in the arena, or if no instruction and no message uses
  /// it.
  void addTo(ArenaUse &use, int index, int64_t bytes) const;
  /// Returns whether the storage with the index `index` takes bytes of the
  /// arena: it is in the arena, and an instruction or a message uses it.
  bool isInArena(int index) const;
  /// Stores in each action of the program how many bytes of the arena are in
  /// use while the action runs, and after it. Stores the same two numbers for
  /// gradients alone.
  void writeUse();
  /// Sets the number of slots of each storage (range of bytes). A slot has room
  /// for the value of one microbatch. Example: if the values of three
  /// microbatches are in use at the same time, the storage gets three slots.
  void setSlots();
  /// Returns the size and the live ranges of a storage (range of bytes). The
  /// function plan::planArena() takes this description of each storage, and
  /// chooses an offset for each storage in the arena. The arena is one block of
  /// memory for all intermediate values. `storage` is the index of the storage.
  /// The size is 0 if the storage needs no bytes in the arena. Example: the
  /// storage of a weight is not in the arena, so the size is 0.
  plan::ArenaBuffer wantedBy(int storage) const;

  const ModelFacts &facts;
  int position;
  program::ProgramT &program;
  ParameterList parameterList;
  /// Symbols of the module, set at the first look-up.
  std::optional<mlir::SymbolTable> symbols;
  /// Ops that read parameters (weights and optimizer state). The key of the
  /// outer map is a block. The key of the inner map is the index of a
  /// parameter. The entry lists the ops of this block that read this parameter.
  llvm::DenseMap<mlir::Block *,
                 std::map<int32_t, llvm::SmallVector<graph::GetParameterOp, 1>>>
      parameterReads;
  std::vector<std::byte> constantBytes;
  /// Offset in `constantBytes` of each constant. The key is the constant's
  /// bytes.
  llvm::StringMap<int64_t> constantOffsets;
  std::vector<ValueStorage> storages;
  /// Live ranges of the values that are in use longer than one run of one
  /// function. Example: a forward function computes an activation, and a
  /// backward function reads the activation later. Each microbatch usually has
  /// its own copy of the value, and each copy has its own live range. The key
  /// is the index of the value's storage (range of bytes).
  std::map<int, MicrobatchLiveness> outliving;
  /// Index of the storage (range of bytes) of each sum over microbatches. The
  /// key is the SSA value that holds the sum after the current microbatch.
  llvm::DenseMap<mlir::Value, int> accumulators;
  /// Indices of the storages (ranges of bytes) of gradients that are kept until
  /// the optimizer update.
  std::set<int> gradients;
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
  /// Indices of storages (ranges of bytes): one per model input, model output,
  /// and transfer (value that one stage sends to another). -1 if the rank does
  /// not read, compute, send or receive the value.
  std::vector<int> inputs, outputs, sent, received;
  /// Types of one rank's shards of the model's inputs and outputs. The type of
  /// an input or output that the rank does not use is null.
  std::vector<mlir::RankedTensorType> inputTypes, outputTypes;
  /// Function that contains the current instruction. Null before
  /// beginFunction().
  mlir::Operation *currentFunction = nullptr;
  /// Look-up table for the steps of the program. A program is a list of steps.
  /// A step runs a function of a pipeline stage, starts messages, or waits for
  /// messages. The table finds all steps that run one function. The table also
  /// finds all steps that start or wait for the messages of one value.
  StepIndex stepIndex;
  /// Numbers of the posts (starts of messages), waits and instructions of the
  /// program, in this order. The live range of a storage (range of bytes) is a
  /// range of these numbers. `line.now` is the number of the current
  /// instruction.
  InstantLine line;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_BUFFERPLAN_H
