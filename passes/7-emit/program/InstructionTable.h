//===- InstructionTable.h - lowering of ops to program instructions -------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_INSTRUCTIONTABLE_H
#define PCC_PASSES_7_EMIT_PROGRAM_INSTRUCTIONTABLE_H

#include "dialects/rank/RankDialect.h"
#include "passes/7-emit/kernel/RandomWeights.h"
#include "passes/7-emit/program/BufferPlan.h"

namespace pcc::emit {

/// State that the builders of all instructions of a position share: the facts
/// of the bundle, the buffers, the list that instructions are appended to, and
/// the kernels that the program calls.
class InstructionWriter {
public:
  /// Borrows `facts` and `buffers`. Numbers the kernels of the module: its
  /// rank.kernel ops in their order, then the kernels of random weights.
  InstructionWriter(const ModelFacts &facts, BufferPlan &buffers,
                    program::ProgramT &program);

  const ModelFacts &facts;
  BufferPlan &buffers;

  /// Sets the list that emit() appends to, which is the instructions of one
  /// function. Must be called before emit().
  void setList(std::vector<std::unique_ptr<program::InstructionT>> &list) {
    target = &list;
  }

  /// Returns the buffer of `value`; see BufferPlan::bufferOf.
  int32_t bufferOf(mlir::Value value) { return buffers.bufferOf(value); }

  /// Appends an instruction. Error messages of a run name its node `node`.
  template <typename Body> void emit(llvm::StringRef node, Body body) {
    auto &instruction =
        target->emplace_back(std::make_unique<program::InstructionT>());
    instruction->node = node.str();
    instruction->body.Set(std::move(body));
  }
  /// Appends an instruction that is named after the node of `op`.
  template <typename Body> void emit(mlir::Operation *op, Body body) {
    emit(graph::nodeName(op->getLoc()), std::move(body));
  }

  /// Returns the elements of scratch that a collective needs. The result is
  /// cached by `key`, which is keyOf() of the collective.
  int64_t scratchElements(const void *key, const runtime::CollectiveSpec &spec);

  /// Returns the number of a kernel within this program. Numbers are assigned
  /// at the first call for each kernel, from 0.
  int32_t kernelNumber(llvm::StringRef symbol);
  /// Returns the kernel of that symbol; null if there is none.
  rank::KernelOp kernel(llvm::StringRef symbol) const;
  /// Sets the kernel that generates a random parameter, in a program for GPUs.
  /// Does nothing for other parameters.
  void setGenerator(graph::ParameterOp declaration,
                    program::ParameterT &parameter);
  /// Returns the kernels that this program calls, in the order of their
  /// numbers: entry n is the number within the module of the program's kernel
  /// n.
  const std::vector<int> &usedKernels() const { return used; }

private:
  /// A kernel of the module.
  struct KernelEntry {
    /// The kernel; null for a generator of random weights.
    rank::KernelOp op;
    /// Number within the module, by which compiled code is found.
    int numberInModule;
    /// Number within the program; -1 until the program calls the kernel.
    int32_t number = -1;
  };
  /// Returns the number within the program; assigns it at the first call.
  int32_t numberOf(KernelEntry &entry);

  llvm::StringMap<KernelEntry> kernels;
  std::vector<std::pair<ElementTypes, KernelEntry>> randomKernels;
  std::vector<int> used;
  std::map<const void *, int64_t> knownScratch;
  std::vector<std::unique_ptr<program::InstructionT>> *target = nullptr;
};

/// Appends the instructions of one op, all of whose values have storages.
/// Returns false if the device cannot run this form of the op.
using BuildInstruction = bool (*)(mlir::Operation *op,
                                  InstructionWriter &writer);

/// The builders of instructions, by name of the op. An op without a builder has
/// no instruction on the target: compiling it is an error.
class InstructionTable {
public:
  /// Returns the table of a target, "cpu" or "cuda". The cuda table lacks
  /// pooling, convolutions and host ops, which lower-for-gpus has replaced.
  static const InstructionTable &get(llvm::StringRef target);

  /// Sets the builder of the op class `Op`.
  template <typename Op> void add(BuildInstruction build) {
    builders[Op::getOperationName()] = build;
  }
  /// Returns the builder of `op`; null if the table has none.
  BuildInstruction find(mlir::Operation *op) const {
    return builders.lookup(op->getName().getStringRef());
  }

private:
  llvm::StringMap<BuildInstruction> builders;
};

// Each of these functions adds the builders of one family of ops. They are
// defined in passes/7-emit/instructions, one family per file.
void addNoOpInstructions(InstructionTable &table);
void addContractionInstructions(InstructionTable &table);
void addWindowInstructions(InstructionTable &table);
void addLibraryCallInstructions(InstructionTable &table);
void addCollectiveInstructions(InstructionTable &table);
void addKernelInstructions(InstructionTable &table);
void addHostInstructions(InstructionTable &table);

/// Appends the instruction that starts a split collective. Returns the
/// instruction that finishes it, which the caller appends later.
program::CollectiveT startReduction(const EarlyReduction &early,
                                    InstructionWriter &writer);
program::CollectiveT startGather(const Prefetch &prefetch,
                                 InstructionWriter &writer);

/// Returns the strides, in elements, of a dense row-major tensor.
std::vector<int64_t> denseStrides(llvm::ArrayRef<int64_t> shape);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_INSTRUCTIONTABLE_H
