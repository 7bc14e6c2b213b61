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

/// Element types through which a random weight is converted: first the type in
/// which the model stores the weight, then the type after each conversion that
/// the model applies.
using ElementTypes = llvm::SmallVector<mlir::Type, 2>;

/// Returns the element types of `parameter` if it is filled with random
/// numbers. Returns std::nullopt if its elements come from a file or are a
/// constant fill value.
std::optional<ElementTypes> randomTypesOf(graph::ParameterOp parameter);

/// Returns one entry per kernel that fills random weights: the element types
/// that the kernel generates. Weights with equal types share a kernel. If the
/// target is not `cuda`, returns an empty list, since CPUs generate weights in
/// the runtime. In a module, these kernels have the numbers after the
/// rank.kernel ops.
std::vector<ElementTypes> randomKernelsOf(mlir::ModuleOp module);

/// Number of i64 scalars that a random-weight kernel takes as arguments after
/// the pointer to the tensor. These scalars are the fields of
/// runtime::RandomScalars.
constexpr int32_t numRandomScalars =
    sizeof(runtime::RandomScalars) / sizeof(int64_t);

/// Emits the generation of one random element and its store into the tensor at
/// the pointer `target`. `types` are the weight's element types. `scalars` are
/// the fields of runtime::RandomScalars. They describe nested loops over the
/// rank's elements. `number`, an i64, counts the iterations of these loops: 0
/// for the first element.
void writeRandomElement(KernelWriter &w, llvm::ArrayRef<mlir::Type> types,
                        mlir::Value target, mlir::ValueRange scalars,
                        mlir::Value number);

/// Emits the number of elements that a random-weight kernel generates, as an
/// i64: the product of the extents of the nested loops that `scalars` describe.
mlir::Value numRandomElements(KernelWriter &w, mlir::ValueRange scalars);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_RANDOMWEIGHTS_H
