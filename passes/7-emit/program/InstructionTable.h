//===- InstructionTable.h - lowering of ops to program instructions -------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_INSTRUCTIONTABLE_H
#define PCC_PASSES_7_EMIT_PROGRAM_INSTRUCTIONTABLE_H

#include "dialects/rank/RankDialect.h"
#include "passes/7-emit/kernel/RandomWeights.h"
#include "passes/7-emit/program/BufferPlan.h"

namespace pcc::emit {

/// Appends instructions to one program. A program is the list of instructions
/// for all ranks that run the same pipeline stages. A function of type
/// BuildInstruction creates the instructions for one op. The function gets an
/// InstructionWriter as an argument. The function uses the InstructionWriter to
/// read facts about the module, to find the buffers of values, to number
/// kernels, and to append instructions.
class InstructionWriter {
public:
  /// Assigns a number to each kernel of the module: first to the rank.kernel
  /// ops in their order, then to the kernels that generate random weights.
  /// `facts` and `buffers` must outlive this object.
  InstructionWriter(const ModelFacts &facts, BufferPlan &buffers,
                    program::ProgramT &program);

  const ModelFacts &facts;
  BufferPlan &buffers;

  /// Sets the list to which emit() appends: `list`, the instructions of one
  /// function. Must be called before emit().
  void setList(std::vector<std::unique_ptr<program::InstructionT>> &list) {
    target = &list;
  }

  /// Returns the index of the buffer of `value` in the program. Must be called
  /// for each value that the current instruction reads or writes: the call
  /// keeps the buffer's memory live for this instruction.
  int32_t bufferOf(mlir::Value value) { return buffers.bufferOf(value); }

  /// Appends an instruction whose content is `body`, such as a
  /// program::MatmulT. `node` is the name of the ONNX node from which the
  /// instruction comes. Error messages at run time contain this name.
  template <typename Body> void emit(llvm::StringRef node, Body body) {
    auto &instruction =
        target->emplace_back(std::make_unique<program::InstructionT>());
    instruction->node = node.str();
    instruction->body.Set(std::move(body));
  }
  /// Appends an instruction to the list that setList() has set. `body` is the
  /// content of the instruction, such as a program::MatmulT. The instruction
  /// gets the name of the ONNX node from which `op` comes. Error messages at
  /// run time contain this name.
  template <typename Body> void emit(mlir::Operation *op, Body body) {
    emit(graph::nodeName(op->getLoc()), std::move(body));
  }

  /// Returns how many elements of temporary memory a rank needs for a
  /// collective. `spec` describes the collective. `key` is the result of
  /// keyOf() for the collective. Two collectives have the same key if they have
  /// the same kind, shardings and global shape. They then need the same amount
  /// of memory. The first call with a key computes the number and stores it.
  /// Later calls with the same key return the stored number.
  int64_t scratchElements(const void *key, const runtime::CollectiveSpec &spec);

  /// Returns the number of a kernel in this program. Kernels are numbered from
  /// 0 in the order of their first use.
  int32_t kernelNumber(llvm::StringRef symbol);
  /// Returns the kernel of the module with symbol `symbol`; null if there is no
  /// such kernel.
  rank::KernelOp kernel(llvm::StringRef symbol) const;
  /// Sets `parameter.generator` to the number of the GPU kernel that fills a
  /// weight with random numbers. Changes nothing if no kernel fills the weight.
  /// `declaration` is the op that declares the weight in the module.
  /// `parameter` describes the weight in the program.
  void setGenerator(graph::ParameterOp declaration,
                    program::ParameterT &parameter);
  /// Returns the kernels that this program calls, by their numbers in the
  /// module. Example: [7, 2] if kernel 0 of the program is kernel 7 of the
  /// module, and kernel 1 of the program is kernel 2 of the module.
  const std::vector<int> &usedKernels() const { return used; }

private:
  /// A kernel and its two numbers. The first number is the index of the kernel
  /// in the list of all kernels of the module. The second number is the index
  /// of the kernel in the list of the kernels that the program calls. Example:
  /// a module has 8 kernels, and the program calls only kernel 7. Kernel 7 of
  /// the module is kernel 0 of the program.
  struct KernelEntry {
    /// The kernel op; null for a kernel that generates random weights.
    rank::KernelOp op;
    /// Number of the kernel in the module. The name of the compiled function
    /// contains it: `pcc_k_7_0` for kernel 7.
    int numberInModule;
    /// Number of the kernel in this program; -1 before its first use.
    int32_t number = -1;
  };
  /// Returns the number of a kernel in this program. `entry` describes the
  /// kernel. If the kernel has no number in this program yet, assigns the next
  /// free number. Example: two kernels of the program have the numbers 0 and 1.
  /// The next new kernel gets the number 2.
  int32_t numberOf(KernelEntry &entry);

  llvm::StringMap<KernelEntry> kernels;
  std::vector<std::pair<ElementTypes, KernelEntry>> randomKernels;
  std::vector<int> used;
  std::map<const void *, int64_t> knownScratch;
  std::vector<std::unique_ptr<program::InstructionT>> *target = nullptr;
};

/// Function that appends the instructions of `op` to the program of `writer`.
/// Returns false if the device cannot run `op`. The function asks `writer` for
/// the buffers of the operands and results of `op`. BufferPlan::addStages()
/// must therefore have run for this program: it assigns a range of bytes to
/// each value.
using BuildInstruction = bool (*)(mlir::Operation *op,
                                  InstructionWriter &writer);

/// Table of functions that append instructions to a program. The key of the
/// table is the name of an op, such as "rank.launch". The function in the table
/// appends the instructions that execute this op. Each kind of device, CPU or
/// GPU, has its own table. If the table has no function for an op, this kind of
/// device cannot run the op.
class InstructionTable {
public:
  /// Returns the table for a target, "cpu" or "cuda". The table for "cuda" has
  /// no function for some ops, such as convolutions and pooling ops. The pass
  /// lower-for-gpus replaces convolutions by matmuls, and pooling ops by
  /// reductions.
  static const InstructionTable &get(llvm::StringRef target);

  /// Sets the function that builds the instructions of ops of class `Op`.
  template <typename Op> void add(BuildInstruction build) {
    builders[Op::getOperationName()] = build;
  }
  /// Returns the function that appends the instructions of `op` to a program.
  /// Returns null if the table has no function for ops with the name of `op`.
  /// The device cannot run `op` in this case.
  BuildInstruction find(mlir::Operation *op) const {
    return builders.lookup(op->getName().getStringRef());
  }

private:
  llvm::StringMap<BuildInstruction> builders;
};

// Each of these functions makes `table` support one kind of ops, such as
// collectives. `table` maps the name of an op to a function that appends the
// instructions of the op to a program. The definitions are in
// passes/7-emit/instructions.
void addNoOpInstructions(InstructionTable &table);
void addContractionInstructions(InstructionTable &table);
void addWindowInstructions(InstructionTable &table);
void addLibraryCallInstructions(InstructionTable &table);
void addCollectiveInstructions(InstructionTable &table);
void addKernelInstructions(InstructionTable &table);
void addHostInstructions(InstructionTable &table);
void addCheckInstructions(InstructionTable &table);

/// Appends the instruction that starts `early`, a reduction of a gradient
/// during the backward pass. Returns the instruction that finishes the
/// reduction, for the caller to append later.
program::CollectiveT startReduction(const EarlyReduction &early,
                                    InstructionWriter &writer);
program::CollectiveT startGather(const Prefetch &prefetch,
                                 InstructionWriter &writer);

/// Returns the strides, in elements, of a dense row-major tensor of shape
/// `shape`.
std::vector<int64_t> denseStrides(llvm::ArrayRef<int64_t> shape);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_INSTRUCTIONTABLE_H
