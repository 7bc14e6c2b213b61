//===- RandomWeights.h - kernels that make weights ------------------------===//
//
// Weights that `--random-weights` stands in for are made where they are needed:
// by the runtime for processors (runtime/program/RandomValues), by kernels for
// GPUs. A kernel makes the elements that nested loops go over, in the stored
// type, and converts them as the weight's transforms do; where they lie in the
// stored tensor and on the rank is a launch's matter, so that weights of one
// type share a kernel whatever their shapes and shardings.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_RANDOMWEIGHTS_H
#define PCC_PASSES_7_EMIT_KERNEL_RANDOMWEIGHTS_H

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/Writer.h"
#include "runtime/tensor/RandomValues.h"

namespace pcc::emit {

/// The element types of a weight: as stored, then after each conversion.
using ElementTypes = llvm::SmallVector<mlir::Type, 2>;

/// None of a weight that lies in a file or is filled.
std::optional<ElementTypes> randomTypesOf(graph::ParameterOp parameter);

/// One kernel for each: those of all random weights of a module for GPUs. They
/// are numbered behind the module's own kernels.
std::vector<ElementTypes> randomKernelsOf(mlir::ModuleOp module);

/// Fields of runtime::RandomScalars, which kernels take behind the tensor.
constexpr int32_t numRandomScalars =
    sizeof(runtime::RandomScalars) / sizeof(int64_t);

/// Writes element `number` of the loops that `scalars`
/// (runtime::RandomScalars) describe, into the tensor at `target`.
void writeRandomElement(KernelWriter &w, llvm::ArrayRef<mlir::Type> types,
                        mlir::Value target, mlir::ValueRange scalars,
                        mlir::Value number);

/// How many elements the loops go over.
mlir::Value numRandomElements(KernelWriter &w, mlir::ValueRange scalars);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_RANDOMWEIGHTS_H
