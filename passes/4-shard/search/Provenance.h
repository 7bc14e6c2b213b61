//===- Provenance.h - endpoints and causes of reshards, for pcc explain ---===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H
#define PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H

#include "dialects/dist/Decision.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/4-shard/graph/Seeds.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::shard {

/// Returns what produces `value`, for `pcc explain`: the op or the function
/// argument, with the decisions about it. If a reshard, pin or transfer
/// produces `value`, returns what produces its operand.
dist::Endpoint endpointOf(mlir::Value value);

/// Returns what reads the operand `use`, for `pcc explain`: an op, a pin of the
/// model, or an output.
dist::Endpoint endpointOf(mlir::OpOperand &use);

/// Returns an endpoint of a reshard for `pcc explain`. It describes `seed`, the
/// requested sharding to which the result of `op` is pinned.
dist::Endpoint pinEndpoint(mlir::Operation *op, const Seed &seed);

/// Returns the location for a reshard of `value` that serves `uses`. It is the
/// location of the value, with the cause of the reshard attached
/// (dialects/dist/Decision.h).
mlir::Location reshardLocation(mlir::Value value,
                               llvm::ArrayRef<dist::Endpoint> uses);

/// Converts a step of a reshard to the form in which decisions store it.
/// `isShared` marks a step that another reader needs, too. `step` must
/// communicate.
dist::PricedStep pricedStep(const plan::ReshardStep &step,
                            const dist::Mesh &mesh, bool isShared = false);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H
