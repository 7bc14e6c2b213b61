//===- KernelRows.h - reductions, softmaxes and norms ---------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNELROWS_H
#define PCC_PASSES_7_EMIT_KERNELROWS_H

#include "passes/7-emit/KernelWriter.h"

namespace pcc::emit {

/// Writes what `op` needs to know of the current row into `w.statistics`: sums,
/// maxima, factors. Nothing for an op that does not reduce.
void writeStatistics(KernelWriter &w, mlir::Operation *op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNELROWS_H
