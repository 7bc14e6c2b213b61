//===- InstructionTable.h - lowering of ops to program instructions -------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_INSTRUCTIONTABLE_H
#define PCC_PASSES_7_EMIT_PROGRAM_INSTRUCTIONTABLE_H

#include "dialects/rank/RankDialect.h"
#include "passes/7-emit/kernel/RandomWeights.h"
#include "passes/7-emit/program/BufferPlan.h"

namespace pcc::emit {

/// Appends instructions to the program of one pipeline position. Holds the
/// objects that all instruction builders share: the facts of the module, the
/// memory plan, the list to which instructions are appended, and the kernels
/// that the program calls.
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
  /// Must be called for each value that the current instruction reads or
  /// writes.
  int32_t bufferOf(mlir::Value value) { return buffers.bufferOf(value); }

  /// Appends an instruction whose content is `body`, such as a
  /// program::MatmulT. `node` is the name of the ONNX node that the instruction
  /// implements. Error messages at run time contain this name.
  template <typename Body> void emit(llvm::StringRef node, Body body) {
    auto &instruction =
        target->emplace_back(std::make_unique<program::InstructionT>());
    instruction->node = node.str();
    instruction->body.Set(std::move(body));
  }
  /// Appends an instruction whose content is `body`, such as a
  /// program::MatmulT. Names the instruction after the ONNX node of `op`.
  template <typename Body> void emit(mlir::Operation *op, Body body) {
    emit(graph::nodeName(op->getLoc()), std::move(body));
  }

  /// Returns how many elements of temporary memory the collective `spec` needs.
  /// Caches the result under `key`, which keyOf() returns for the collective.
  int64_t scratchElements(const void *key, const runtime::CollectiveSpec &spec);

  /// Returns the number, in this program, of the kernel with symbol `symbol`.
  /// The first call for a kernel assigns the next free number, from 0 on.
  int32_t kernelNumber(llvm::StringRef symbol);
  /// Returns the kernel of the module with symbol `symbol`; null if there is no
  /// such kernel.
  rank::KernelOp kernel(llvm::StringRef symbol) const;
  /// If `declaration` declares a weight that a GPU kernel fills with random
  /// numbers, stores the number of this kernel in `parameter`. Otherwise
  /// changes nothing.
  void setGenerator(graph::ParameterOp declaration,
                    program::ParameterT &parameter);
  /// Returns the kernels that this program calls: entry i is the number, in the
  /// module, of the program's kernel i.
  const std::vector<int> &usedKernels() const { return used; }

private:
  /// Kernel of the module, with its number in the module and its number in the
  /// program.
  struct KernelEntry {
    /// The kernel op; null for a kernel that generates random weights.
    rank::KernelOp op;
    /// Number of the kernel in the module, which is part of the name of its
    /// compiled function.
    int numberInModule;
    /// Number of the kernel in this program; -1 if the program does not call
    /// the kernel so far.
    int32_t number = -1;
  };
  /// Returns the number, in this program, of the kernel `entry`. If the kernel
  /// has no number, assigns the next free number.
  int32_t numberOf(KernelEntry &entry);

  llvm::StringMap<KernelEntry> kernels;
  std::vector<std::pair<ElementTypes, KernelEntry>> randomKernels;
  std::vector<int> used;
  std::map<const void *, int64_t> knownScratch;
  std::vector<std::unique_ptr<program::InstructionT>> *target = nullptr;
};

/// Function that appends the instructions of one op. Before the call, every
/// value of the op must have a storage (range of bytes, see
/// BufferPlan::addStages). Returns false if the device cannot run the op with
/// these types or attributes.
using BuildInstruction = bool (*)(mlir::Operation *op,
                                  InstructionWriter &writer);

/// Table of the functions that build instructions, by the name of the op. If an
/// op has no such function, the target cannot run the op, and compilation ends
/// with an error.
class InstructionTable {
public:
  /// Returns the table for a target, "cpu" or "cuda". The table for "cuda" has
  /// no functions for pools, convolutions and ops that run on the host, because
  /// the pass lower-for-gpus has replaced these ops.
  static const InstructionTable &get(llvm::StringRef target);

  /// Sets the function that builds the instructions of ops of class `Op`.
  template <typename Op> void add(BuildInstruction build) {
    builders[Op::getOperationName()] = build;
  }
  /// Returns the function that builds the instructions of `op`; null if the
  /// target cannot run `op`.
  BuildInstruction find(mlir::Operation *op) const {
    return builders.lookup(op->getName().getStringRef());
  }

private:
  llvm::StringMap<BuildInstruction> builders;
};

// Each of the following functions adds the instruction builders of one family
// of ops to `table`. Each function is defined in a file of its own in
// passes/7-emit/instructions.
void addNoOpInstructions(InstructionTable &table);
void addContractionInstructions(InstructionTable &table);
void addWindowInstructions(InstructionTable &table);
void addLibraryCallInstructions(InstructionTable &table);
void addCollectiveInstructions(InstructionTable &table);
void addKernelInstructions(InstructionTable &table);
void addHostInstructions(InstructionTable &table);
void addCheckInstructions(InstructionTable &table);

/// Appends the instruction that starts `early`, a reduction of a gradient that
/// runs during the backward pass. Returns the instruction that finishes the
/// reduction. The caller has to append the returned instruction later.
program::CollectiveT startReduction(const EarlyReduction &early,
                                    InstructionWriter &writer);
program::CollectiveT startGather(const Prefetch &prefetch,
                                 InstructionWriter &writer);

/// Returns the strides, in elements, of a dense row-major tensor of shape
/// `shape`.
std::vector<int64_t> denseStrides(llvm::ArrayRef<int64_t> shape);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_INSTRUCTIONTABLE_H
