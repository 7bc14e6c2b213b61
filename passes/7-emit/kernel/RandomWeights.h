//===- RandomWeights.h - kernels that generate random weights -------------===//
//
// `--random-weights` replaces weights that no file holds by random numbers.
// Processors generate them in the runtime (runtime/tensor/RandomValues.h); GPUs
// generate them by the kernels of this file.
//
// A kernel goes over nested loops. For each iteration it generates an element
// in the stored type and converts it as the weight's transforms do. Positions
// in the stored tensor and on the rank are scalars of the launch. Weights that
// have the same types therefore share one kernel, whatever their shapes and
// shardings.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_RANDOMWEIGHTS_H
#define PCC_PASSES_7_EMIT_KERNEL_RANDOMWEIGHTS_H

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/Writer.h"
#include "runtime/tensor/RandomValues.h"

namespace pcc::emit {

/// Element types of a random weight: the type that the model stores, then the
/// type after each conversion by the model.
using ElementTypes = llvm::SmallVector<mlir::Type, 2>;

/// Returns the element types of `parameter`. Returns std::nullopt if it is not
/// filled with random numbers.
std::optional<ElementTypes> randomTypesOf(graph::ParameterOp parameter);

/// Returns the kernels that fill random weights, each as the list of its
/// element types. Weights with equal lists share a kernel. In a module, these
/// kernels are numbered after the rank.kernel ops. Returns no kernels if the
/// target is not `cuda`.
std::vector<ElementTypes> randomKernelsOf(mlir::ModuleOp module);

/// Number of i64 arguments of a kernel that fills random weights. They are the
/// fields of runtime::RandomScalars, and follow the pointer to the tensor.
constexpr int32_t numRandomScalars =
    sizeof(runtime::RandomScalars) / sizeof(int64_t);

/// Emits the generation of element `number` of a random weight, and its store
/// to the memory at `target`. `types` are the element type that the model
/// stores, then the type after each conversion. `scalars` are the fields of
/// runtime::RandomScalars, which give the element's index in the whole weight
/// and in the memory.
void writeRandomElement(KernelWriter &w, llvm::ArrayRef<mlir::Type> types,
                        mlir::Value target, mlir::ValueRange scalars,
                        mlir::Value number);

/// Emits the number of elements that a kernel for random weights generates, as
/// an i64. `scalars` are the kernel's arguments, the fields of
/// runtime::RandomScalars.
mlir::Value numRandomElements(KernelWriter &w, mlir::ValueRange scalars);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_RANDOMWEIGHTS_H
