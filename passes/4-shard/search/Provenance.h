//===- Provenance.h - endpoints and causes of reshards, for pcc explain ---===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H
#define PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H

#include "dialects/dist/Decision.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/4-shard/graph/Seeds.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::shard {

/// Returns a description of the op or function argument that produces `value`,
/// for `pcc explain`. It contains the decisions of the search about the op. If
/// a reshard, a transfer or a pin (requested sharding) produces `value`,
/// returns the description of its operand's producer.
dist::Endpoint endpointOf(mlir::Value value);

/// Returns a description of the reader of the operand `use`, for `pcc explain`.
/// The reader is an op, a pin (requested sharding), or an output of the model.
dist::Endpoint endpointOf(mlir::OpOperand &use);

/// Returns a description of a pin (requested sharding) for `pcc explain`, as
/// the consumer of a resharded value. `seed` is the sharding that is requested
/// for the result of `op`.
dist::Endpoint pinEndpoint(mlir::Operation *op, const Seed &seed);

/// Returns the location of a reshard (change of sharding) of `value`, which the
/// consumers `uses` read. It is the location of `value`, with the cause of the
/// reshard (dist::Cause).
mlir::Location reshardLocation(mlir::Value value,
                               llvm::ArrayRef<dist::Endpoint> uses);

/// Converts `step`, a step of a reshard, to the form in which decisions store
/// it. `isShared` is true if another reader needs this step, too. `step` must
/// communicate.
dist::PricedStep pricedStep(const plan::ReshardStep &step,
                            const dist::Mesh &mesh, bool isShared = false);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_PROVENANCE_H
