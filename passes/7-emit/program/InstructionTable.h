//===- InstructionTable.h - from ops to instructions ----------------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_INSTRUCTIONTABLE_H
#define PCC_PASSES_7_EMIT_PROGRAM_INSTRUCTIONTABLE_H

#include "dialects/rank/RankDialect.h"
#include "passes/7-emit/kernel/RandomWeights.h"
#include "passes/7-emit/program/BufferPlan.h"

namespace pcc::emit {

/// What the builders of a position's instructions share.
class InstructionWriter {
public:
  InstructionWriter(const ModelFacts &facts, BufferPlan &buffers,
                    program::ProgramT &program);

  const ModelFacts &facts;
  BufferPlan &buffers;

  /// Where instructions go from now on.
  void setList(std::vector<std::unique_ptr<program::InstructionT>> &list) {
    target = &list;
  }

  int32_t bufferOf(mlir::Value value) { return buffers.bufferOf(value); }

  /// Appends an instruction whose messages name `node`.
  template <typename Body> void emit(llvm::StringRef node, Body body) {
    auto &instruction =
        target->emplace_back(std::make_unique<program::InstructionT>());
    instruction->node = node.str();
    instruction->body.Set(std::move(body));
  }
  template <typename Body> void emit(mlir::Operation *op, Body body) {
    emit(graph::nodeName(op->getLoc()), std::move(body));
  }

  /// Scratch that a collective needs; remembers what it has computed.
  int64_t scratchElements(const void *key, const runtime::CollectiveSpec &spec);

  /// Number of a kernel within this program.
  int32_t kernelNumber(llvm::StringRef symbol);
  rank::KernelOp kernel(llvm::StringRef symbol) const;
  /// Tells a random parameter of a program for GPUs which kernel makes it.
  void setGenerator(graph::ParameterOp declaration,
                    program::ParameterT &parameter);
  /// Kernels that this program calls: their numbers within the module.
  const std::vector<int> &usedKernels() const { return used; }

private:
  struct KernelEntry {
    rank::KernelOp op;
    int numberInModule;
    int32_t number = -1;
  };
  int32_t numberOf(KernelEntry &entry);

  llvm::StringMap<KernelEntry> kernels;
  std::vector<std::pair<ElementTypes, KernelEntry>> randomKernels;
  std::vector<int> used;
  std::map<const void *, int64_t> knownScratch;
  std::vector<std::unique_ptr<program::InstructionT>> *target = nullptr;
};

/// Appends the instructions of one op, all of whose values have storages.
/// False if the device cannot run this form of the op.
using BuildInstruction = bool (*)(mlir::Operation *op,
                                  InstructionWriter &writer);

class InstructionTable {
public:
  /// What devices of `target` can run.
  static const InstructionTable &get(llvm::StringRef target);

  template <typename Op> void add(BuildInstruction build) {
    builders[Op::getOperationName()] = build;
  }
  /// Null where the op has no instruction.
  BuildInstruction find(mlir::Operation *op) const {
    return builders.lookup(op->getName().getStringRef());
  }

private:
  llvm::StringMap<BuildInstruction> builders;
};

// One function per family of ops.
void addNoOpInstructions(InstructionTable &table);
void addContractionInstructions(InstructionTable &table);
void addWindowInstructions(InstructionTable &table);
void addLibraryCallInstructions(InstructionTable &table);
void addCollectiveInstructions(InstructionTable &table);
void addKernelInstructions(InstructionTable &table);
void addHostInstructions(InstructionTable &table);

/// Starts a collective; what is returned finishes it.
program::CollectiveT startReduction(const EarlyReduction &early,
                                    InstructionWriter &writer);
program::CollectiveT startGather(const Prefetch &prefetch,
                                 InstructionWriter &writer);

/// Strides in elements of a dense row-major tensor.
std::vector<int64_t> denseStrides(llvm::ArrayRef<int64_t> shape);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_INSTRUCTIONTABLE_H
