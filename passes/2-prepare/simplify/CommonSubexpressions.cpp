//===- CommonSubexpressions.cpp - CSE that ignores names ------------------===//

#include "passes/2-prepare/simplify/CommonSubexpressions.h"
#include "mlir/IR/OperationSupport.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace pcc::prepare;

namespace {
/// Hash and equality of ops for a DenseSet. Two ops are equal if they have
/// equal operands, properties and result types. Locations and discardable
/// attributes, such as names, are ignored.
struct OpEquivalence : llvm::DenseMapInfo<Operation *> {
  static constexpr auto ignored = OperationEquivalence::IgnoreLocations |
                                  OperationEquivalence::IgnoreDiscardableAttrs;
  /// Returns whether `op` is the empty key or the tombstone key of a DenseSet.
  /// These keys do not point to ops and must not be dereferenced.
  static bool isMarker(const Operation *op) {
    return op == getEmptyKey() || op == getTombstoneKey();
  }
  static unsigned getHashValue(const Operation *op) {
    return OperationEquivalence::computeHash(
        const_cast<Operation *>(op), OperationEquivalence::directHashValue,
        OperationEquivalence::ignoreHashValue, ignored);
  }
  static bool isEqual(const Operation *a, const Operation *b) {
    if (a == b || isMarker(a) || isMarker(b))
      return a == b;
    return OperationEquivalence::isEquivalentTo(
        const_cast<Operation *>(a), const_cast<Operation *>(b), ignored);
  }
};
} // namespace

int64_t pcc::prepare::eliminateCommonSubexpressions(Block &block) {
  llvm::DenseSet<Operation *, OpEquivalence> seen;
  int64_t numMerged = 0;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (op.hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(&op))
      continue;
    auto [first, isNew] = seen.insert(&op);
    if (isNew || op.hasAttr(pcc::graph::pinnedName))
      continue;
    op.replaceAllUsesWith(*first);
    op.erase();
    ++numMerged;
  }
  return numMerged;
}
