//===- Ring.h - attention whose keys visit its queries --------------------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_RING_H
#define PCC_PASSES_4_SHARD_GRAPH_RING_H

#include "passes/4-shard/graph/InnerExchanges.h"

namespace pcc::shard {

/// Two factors of an attention over as many keys as queries. Axes may split
/// both at once, although keys alone stay whole: the parts of keys and values
/// go round, and every rank attends to one of them after another.
///
///   rank   step 0   step 1   step 2
///   0      k0 v0    k1 v1    k2 v2
///   1      k1 v1    k2 v2    k0 v0
///   2      k2 v2    k0 v0    k1 v1
struct Ring {
  int queries, keys;
};

/// The ring that `op` may become; nothing if it cannot.
std::optional<Ring> ringOf(const ShardedOp &op);

/// The axes round which the keys of `op` go; none if they stay.
dist::SubAxes ringAxes(const ShardedOp &op);

/// Keys and values travel as one tensor: nothing splits the width of values.
bool ringPacksKeysAndValues(const ShardedOp &op);

/// What travels in all steps.
llvm::SmallVector<InnerReshard, 2> ringReshards(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_RING_H
