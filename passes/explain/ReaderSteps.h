//===- ReaderSteps.h - communications that readers of a value need --------===//

#ifndef PCC_PASSES_EXPLAIN_READERSTEPS_H
#define PCC_PASSES_EXPLAIN_READERSTEPS_H

#include "dialects/dist/DistDialect.h"
#include "passes/4-shard/search/Provenance.h"

#include <string>
#include <vector>

namespace pcc::explain {

/// Finds the communications between ranks that reshards stand for. A reshard
/// is an op that changes the sharding of a value.
class ReaderSteps {
public:
  /// `mesh` is the mesh of the module.
  explicit ReaderSteps(const dist::Mesh &mesh) : mesh(mesh), planner(mesh) {}

  /// Returns the communications between ranks that `reshard` needs, such as an
  /// all_gather. It needs none if each rank only keeps a part of the elements
  /// that the rank already has.
  std::vector<dist::PricedStep> of(dist::ReshardOp reshard);

  /// Returns the communications along the mesh axis `axis` that the readers of
  /// `values` need: those of reshards of `values`, and those that reduce the
  /// partial results of ops that read `values`. `axis` splits all `values`.
  std::vector<dist::PricedStep> ofReaders(llvm::ArrayRef<mlir::Value> values,
                                          llvm::StringRef axis);

private:
  dist::Mesh mesh;
  plan::ReshardPlanner planner;
};

/// Formats communications, such as "2 x all_gather 48.0 KiB, all_reduce 32.0
/// KiB". The bytes are those that one rank receives in one of them.
std::string countedText(const std::vector<dist::PricedStep> &steps);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_READERSTEPS_H
