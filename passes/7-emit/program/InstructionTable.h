//===- InstructionTable.h - lowering of ops to program instructions -------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_INSTRUCTIONTABLE_H
#define PCC_PASSES_7_EMIT_PROGRAM_INSTRUCTIONTABLE_H

#include "dialects/rank/RankDialect.h"
#include "passes/7-emit/kernel/RandomWeights.h"
#include "passes/7-emit/program/BufferPlan.h"

namespace pcc::emit {

/// State that the builders of all instructions of a pipeline position's program
/// share: the facts of the module, the memory plan, the list to which
/// instructions are appended, and the kernels that the program calls.
class InstructionWriter {
public:
  /// Numbers the kernels of the module: first its rank.kernel ops in their
  /// order, then the kernels that generate random weights. `facts` and
  /// `buffers` must outlive this object.
  InstructionWriter(const ModelFacts &facts, BufferPlan &buffers,
                    program::ProgramT &program);

  const ModelFacts &facts;
  BufferPlan &buffers;

  /// Makes emit() append to `list`, the instructions of one function. Must be
  /// called before emit().
  void setList(std::vector<std::unique_ptr<program::InstructionT>> &list) {
    target = &list;
  }

  /// Returns the index of the buffer of `value` (see BufferPlan::bufferOf).
  /// Call it for each value that the current instruction reads or writes.
  int32_t bufferOf(mlir::Value value) { return buffers.bufferOf(value); }

  /// Appends an instruction with the body `body`. `node` is the name of its
  /// ONNX node, which error messages at run time show.
  template <typename Body> void emit(llvm::StringRef node, Body body) {
    auto &instruction =
        target->emplace_back(std::make_unique<program::InstructionT>());
    instruction->node = node.str();
    instruction->body.Set(std::move(body));
  }
  /// Appends an instruction with the body `body`, named after the ONNX node of
  /// `op`.
  template <typename Body> void emit(mlir::Operation *op, Body body) {
    emit(graph::nodeName(op->getLoc()), std::move(body));
  }

  /// Returns how many elements of temporary memory a collective needs. Caches
  /// the result by `key`, the keyOf() of the collective.
  int64_t scratchElements(const void *key, const runtime::CollectiveSpec &spec);

  /// Returns the number that the kernel with symbol `symbol` has in this
  /// program. Kernels are numbered from 0 in the order in which they are first
  /// asked for.
  int32_t kernelNumber(llvm::StringRef symbol);
  /// Returns the kernel of the module with symbol `symbol`; null if there is
  /// none.
  rank::KernelOp kernel(llvm::StringRef symbol) const;
  /// If `declaration` is a parameter of random numbers in a program for GPUs,
  /// sets the number of the kernel that generates it in `parameter`. Otherwise
  /// does nothing.
  void setGenerator(graph::ParameterOp declaration,
                    program::ParameterT &parameter);
  /// Returns the kernels that this program calls. The program's kernel i is
  /// kernel number usedKernels()[i] of the module.
  const std::vector<int> &usedKernels() const { return used; }

private:
  /// A kernel of the module, and its numbers.
  struct KernelEntry {
    /// The kernel op; null for a kernel that generates random weights.
    rank::KernelOp op;
    /// Number of the kernel in the module, which is part of the name of its
    /// compiled function.
    int numberInModule;
    /// Number of the kernel in this program; -1 as long as the program does not
    /// call it.
    int32_t number = -1;
  };
  /// Returns the number of the kernel in this program. Assigns the next number
  /// if it has none.
  int32_t numberOf(KernelEntry &entry);

  llvm::StringMap<KernelEntry> kernels;
  std::vector<std::pair<ElementTypes, KernelEntry>> randomKernels;
  std::vector<int> used;
  std::map<const void *, int64_t> knownScratch;
  std::vector<std::unique_ptr<program::InstructionT>> *target = nullptr;
};

/// Function that appends the instructions of one op. All values of the op must
/// have storages. Returns false if the device cannot run this form of the op.
using BuildInstruction = bool (*)(mlir::Operation *op,
                                  InstructionWriter &writer);

/// Builders of instructions, by the name of the op. If an op has no builder,
/// the target cannot run it, and its compilation ends with an error.
class InstructionTable {
public:
  /// Returns the table for a target, "cpu" or "cuda". The table for "cuda" has
  /// no builders for pools, convolutions and ops that run on the host: the pass
  /// lower-for-gpus has replaced them.
  static const InstructionTable &get(llvm::StringRef target);

  /// Sets the builder of ops of class `Op`.
  template <typename Op> void add(BuildInstruction build) {
    builders[Op::getOperationName()] = build;
  }
  /// Returns the builder of `op`; null if the target cannot run it.
  BuildInstruction find(mlir::Operation *op) const {
    return builders.lookup(op->getName().getStringRef());
  }

private:
  llvm::StringMap<BuildInstruction> builders;
};

// Each of these functions adds the builders of one family of ops to `table`.
// Each is defined in a file of its own in passes/7-emit/instructions.
void addNoOpInstructions(InstructionTable &table);
void addContractionInstructions(InstructionTable &table);
void addWindowInstructions(InstructionTable &table);
void addLibraryCallInstructions(InstructionTable &table);
void addCollectiveInstructions(InstructionTable &table);
void addKernelInstructions(InstructionTable &table);
void addHostInstructions(InstructionTable &table);

/// Appends the instruction that starts `early`, a reduction of a gradient that
/// runs during the backward pass. Returns the instruction that finishes the
/// reduction. The caller has to append it later.
program::CollectiveT startReduction(const EarlyReduction &early,
                                    InstructionWriter &writer);
program::CollectiveT startGather(const Prefetch &prefetch,
                                 InstructionWriter &writer);

/// Returns the strides, in elements, of a dense row-major tensor of shape
/// `shape`.
std::vector<int64_t> denseStrides(llvm::ArrayRef<int64_t> shape);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_INSTRUCTIONTABLE_H
