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

/// Element types of a weight that is filled with random numbers. The first type
/// is the one in which the model stores the weight. Each later type is the type
/// after one cast by the model. Example: [f32, bf16] for a weight that the
/// model stores as f32 and casts to bf16.
using ElementTypes = llvm::SmallVector<mlir::Type, 2>;

/// Returns the element types of the weight that `parameter` declares. Returns
/// std::nullopt if the elements come from a file or all equal a given number.
std::optional<ElementTypes> randomTypesOf(graph::ParameterOp parameter);

/// Returns one list of element types for each GPU kernel that fills weights of
/// `module` with random numbers. Weights with equal lists share a kernel. The
/// kernel numbers follow those of the rank.kernel ops. Empty unless the target
/// is `cuda`, since CPUs generate random numbers in the runtime.
std::vector<ElementTypes> randomKernelsOf(mlir::ModuleOp module);

/// Number of i64 arguments of a kernel that fills a weight with random numbers.
/// The i64 arguments are the numbers in the struct runtime::RandomScalars, in
/// the order of declaration. Another argument of the kernel is the address of
/// the memory to fill.
constexpr int32_t numRandomScalars =
    sizeof(runtime::RandomScalars) / sizeof(int64_t);

/// Emits code that generates one random element of type `types[0]`, casts it to
/// the other types in turn, and stores it at `target`. `scalars` are the fields
/// of runtime::RandomScalars, which describe nested loops over the elements.
/// `number` is the index of the element among the iterations of these loops.
void writeRandomElement(KernelWriter &w, llvm::ArrayRef<mlir::Type> types,
                        mlir::Value target, mlir::ValueRange scalars,
                        mlir::Value number);

/// Emits code that computes the number of elements that one launch of a kernel
/// for random weights generates, as an i64. `scalars` are the i64 arguments of
/// the kernel, which are the fields of runtime::RandomScalars. They describe
/// nested loops over the elements to generate. The number of elements is the
/// product of the numbers of iterations: 2 · 8 = 16 for a loop of 2 iterations
/// around a loop of 8 iterations.
mlir::Value numRandomElements(KernelWriter &w, mlir::ValueRange scalars);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_RANDOMWEIGHTS_H
