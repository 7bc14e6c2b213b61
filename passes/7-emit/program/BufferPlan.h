//===- BufferPlan.h - where values lie ------------------------------------===//
//
// Every value of a position's stages has a *storage*: bytes of the arena, a
// parameter's local piece or constants. Values share one where no bytes have to
// move (a reshape, an all_reduce of a value that nobody else reads, a weight
// and what a kernel makes of it).
//
// Time is one line of instants: the posts and waits of the step, then per
// function of a stage an instant per instruction. Microbatches repeat the line
// behind the posts and waits, so what lies between two actions is held in all
// steps from the one to the other:
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
//   #1: but for the slot of the last microbatch, which nobody computes after
//   #2: where messages lie between the first microbatch and the last
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

class BufferPlan {
public:
  BufferPlan(const ModelFacts &facts, int position, program::ProgramT &program);

  /// Gives every value of the position's stages a storage.
  void addStages();
  /// The functions of the position's stages, in the order in which values go
  /// from one to another.
  std::vector<mlir::func::FuncOp> functions() const;

  /// All instructions until the next call are of this function of a stage.
  void beginFunction(mlir::func::FuncOp function) {
    currentFunction = function;
    beginInstruction();
  }
  /// All buffers that are asked for until the next call belong to one
  /// instruction.
  void beginInstruction() { line.functions[currentFunction].add(++line.now); }

  /// The buffer of a value that the current instruction reads or writes.
  int32_t bufferOf(mlir::Value value);
  /// Notes that the current instruction uses the buffers of an earlier one.
  void useAgain(const program::CollectiveT &collective);
  /// Bytes that only the current instruction uses.
  int32_t scratch(int64_t bytes);
  /// `value` as the first of `copies` copies of its size: room that a masked
  /// copy may write to.
  int32_t widenedBuffer(mlir::Value value, int64_t copies);

  /// Buffers of the ports; -1 where this position does not have them.
  int32_t inputBuffer(int input);
  int32_t outputBuffer(int output);
  /// Both ends of a transfer; -1 where this position is not that end.
  int32_t sentBuffer(int transfer);
  int32_t receivedBuffer(int transfer);

  /// The buffer of the position's own copy of a parameter that is written.
  /// -1 where ParameterList knows none.
  int32_t parameterBuffer(graph::SetParameterOp set);
  /// Bytes of the sums over microbatches, and of gradients that wait for the
  /// update.
  int64_t gradientBytes() const;
  /// What a stage of the position holds, after the last instruction.
  runtime::StageBytes bytesOfStage(int stage) const;

  /// After the last instruction: places everything, sets the arena's size and
  /// its lower bound in the program. Empty, or what is wrong.
  std::string place();

  /// Bytes of the constants that constant buffers point into.
  const std::vector<std::byte> &constants() const { return constantBytes; }
  ParameterList &parameters() { return parameterList; }

private:
  struct ValueStorage {
    program::Memory memory = program::Memory::Arena;
    int32_t parameter = 0;
    int64_t offset = 0; ///< in the arena after place(), or in the constants
    int64_t bytes = 0;  ///< of one slot
    int32_t slots = 1;
    Instants touched;
    /// Held over all of the line.
    bool isWhole = false;
    std::string name;
    int64_t stride() const;
  };

  /// What a stage holds for longer than an action.
  struct Holdings {
    std::set<int> parameters;        ///< indices in the program
    std::set<int> gradients;         ///< storages
    std::map<int, bool> activations; ///< storages; whether more than I reads it
  };

  int newStorage(mlir::Value value);
  int storageFor(mlir::Value value, mlir::func::FuncOp function);
  int storageForMoved(dist::CollectiveOp collective,
                      mlir::func::FuncOp function);
  int storageForReceived(pipe::ReceiveOp receive, mlir::func::FuncOp function);
  int storageOfUpdated(mlir::Value value);
  int storageOfParameter(int32_t parameter, mlir::Value value);
  int constantStorage(graph::ConstantOp constant);
  int accumulatorFor(mlir::BlockArgument argument);
  void addFunction(mlir::func::FuncOp function);
  int storageForArgument(mlir::BlockArgument argument);
  void addSends(mlir::func::FuncOp function);
  void addOutputs(mlir::func::FuncOp function);
  bool mayReuse(mlir::Value value) const;
  int bufferIn(int storage, mlir::RankedTensorType type);
  void touch(ValueStorage &storage);
  /// When a value that outlives its action is held; `isShared`: by all
  /// microbatches.
  MicrobatchLiveness &held(int storage, bool isShared = false);
  /// Notes that `taker` reads what another function of its stage has made.
  void noteHeld(int storage, mlir::func::FuncOp maker,
                mlir::func::FuncOp taker);
  void setSlots();
  /// What the storage wants of the arena; its size is 0 if it is nothing.
  plan::ArenaBuffer wantedBy(int storage) const;

  const ModelFacts &facts;
  int position;
  program::ProgramT &program;
  ParameterList parameterList;
  std::vector<std::byte> constantBytes;
  llvm::StringMap<int64_t> constantOffsets;
  std::vector<ValueStorage> storages;
  std::map<int, MicrobatchLiveness> outliving; ///< by storage
  /// Values that are added to what is there, and storages of these.
  llvm::DenseMap<mlir::Value, int> accumulators;
  std::map<int, Holdings> holdings; ///< by stage
  llvm::DenseMap<mlir::Value, int> storageOf;
  llvm::DenseMap<int32_t, int> parameterStorages;
  /// Buffers of a storage with their types.
  llvm::DenseMap<std::pair<int, mlir::Type>, int32_t> buffers;
  std::vector<int> storageOfBuffer;
  std::vector<int> inputs, outputs, sent, received; ///< storages or -1
  std::vector<mlir::RankedTensorType> inputTypes, outputTypes;
  mlir::Operation *currentFunction = nullptr;
  InstantLine line;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_BUFFERPLAN_H
