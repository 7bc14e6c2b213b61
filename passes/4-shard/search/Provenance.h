//===- Provenance.h - endpoints and causes of reshards, for pcc explain ---===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H
#define PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H

#include "dialects/dist/Decision.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/4-shard/graph/Seeds.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::shard {

/// Describes the op or function argument that produces `value`, for `pcc
/// explain`. Looks through reshards, transfers between pipeline stages, and
/// `dist.pin` ops, which only set a sharding.
dist::Endpoint endpointOf(mlir::Value value);

/// Returns a description of the reader of the operand `use`, for `pcc explain`.
/// The reader is an op, a sharding that the user set, or an output of the
/// model.
dist::Endpoint endpointOf(mlir::OpOperand &use);

/// Describes `seed`, the sharding that the user set for the result of `op`.
/// `pcc explain` prints the description as the reason for a reshard.
dist::Endpoint pinEndpoint(mlir::Operation *op, const Seed &seed);

/// Returns the location of `value` with a record (dist::Cause) of the reason
/// for a reshard: the producer of `value`, and the consumers `uses`. `pcc
/// explain` prints the reason.
mlir::Location reshardLocation(mlir::Value value,
                               llvm::ArrayRef<dist::Endpoint> uses);

/// Returns a record of `step`, one communication of a reshard, for `pcc
/// explain`. `step` must not be a slice. `isShared` is true if another operand
/// needs the identical reshard.
dist::PricedStep pricedStep(const plan::ReshardStep &step,
                            const dist::Mesh &mesh, bool isShared = false);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H
