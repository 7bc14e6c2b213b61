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

/// Element types of a weight: the stored type, then the type after each
/// conversion among the weight's transforms.
using ElementTypes = llvm::SmallVector<mlir::Type, 2>;

/// Returns the element types of `parameter` if its elements are random. Returns
/// std::nullopt if a file holds the elements or if they have a fill value.
std::optional<ElementTypes> randomTypesOf(graph::ParameterOp parameter);

/// Returns the random-weight kernels of `module`, one entry per kernel: the
/// distinct element types of all random weights. Kernel numbers continue those
/// of the module's rank.kernel ops. Empty unless the target is `cuda`.
std::vector<ElementTypes> randomKernelsOf(mlir::ModuleOp module);

/// Number of i64 scalars that a random-weight kernel takes after the pointer to
/// the tensor: the fields of runtime::RandomScalars.
constexpr int32_t numRandomScalars =
    sizeof(runtime::RandomScalars) / sizeof(int64_t);

/// Emits the store of one element into the tensor at `target`. `types` are the
/// weight's element types, `scalars` the fields of runtime::RandomScalars, and
/// `number` is an i64: the row-major position of the element in the loops that
/// `scalars` describe.
void writeRandomElement(KernelWriter &w, llvm::ArrayRef<mlir::Type> types,
                        mlir::Value target, mlir::ValueRange scalars,
                        mlir::Value number);

/// Emits the number of iterations, an i64, of the loops that `scalars`
/// describe.
mlir::Value numRandomElements(KernelWriter &w, mlir::ValueRange scalars);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_RANDOMWEIGHTS_H
