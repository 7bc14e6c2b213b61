//===- Provenance.h - what makes and what reads a value, in words ---------===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H
#define PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H

#include "dialects/dist/Decision.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/4-shard/graph/Seeds.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::shard {

/// What makes `value`, or what it is another form of: an op with what was
/// decided about it, or an input.
dist::Endpoint endpointOf(mlir::Value value);

/// What reads a value here: an op, a pin of the model's, or an output.
dist::Endpoint endpointOf(mlir::OpOperand &use);

/// The pin of the value that `op` makes.
dist::Endpoint pinEndpoint(mlir::Operation *op, const Seed &seed);

/// The location of a reshard of `value` for `uses`.
mlir::Location reshardLocation(mlir::Value value,
                               llvm::ArrayRef<dist::Endpoint> uses);

/// A step that communicates, as decisions keep it.
dist::PricedStep pricedStep(const plan::ReshardStep &step,
                            const dist::Mesh &mesh, bool isShared = false);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H
