//===- Provenance.h - endpoints and causes of reshards, for pcc explain ---===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H
#define PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H

#include "dialects/dist/Decision.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/4-shard/graph/Seeds.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::shard {

/// Returns the endpoint (op or function argument) that produces `value`, with
/// the decisions about it, for `pcc explain`. If a reshard, a transfer or a pin
/// (requested sharding) produces `value`, returns the endpoint that produces
/// the operand of this op instead.
dist::Endpoint endpointOf(mlir::Value value);

/// Returns the reader of the operand `use`, for `pcc explain`: an op, a
/// sharding that the model requests (pin), or an output.
dist::Endpoint endpointOf(mlir::OpOperand &use);

/// Returns an endpoint (producer or reader) of a reshard for `pcc explain`. The
/// endpoint describes `seed`, the requested sharding to which the result of
/// `op` is pinned.
dist::Endpoint pinEndpoint(mlir::Operation *op, const Seed &seed);

/// Returns the location for a reshard of `value` whose result is read by
/// `uses`. It is the location of the value, with the cause of the reshard
/// attached (dialects/dist/Decision.h).
mlir::Location reshardLocation(mlir::Value value,
                               llvm::ArrayRef<dist::Endpoint> uses);

/// Converts `step`, a step of a reshard, to the form in which decisions store
/// it. `isShared` is true if another reader needs this step, too. `step` must
/// communicate.
dist::PricedStep pricedStep(const plan::ReshardStep &step,
                            const dist::Mesh &mesh, bool isShared = false);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H
