//===- CollectiveKind.h - kinds of collectives ----------------------------===//
//
// The planner chooses among these kinds, `dist.collective` names one, and the
// runtime executes it.
//
//===----------------------------------------------------------------------===//
#ifndef PCC_SHARDING_COLLECTIVEKIND_H
#define PCC_SHARDING_COLLECTIVEKIND_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace pcc::dist {

/// Kinds of collectives, each over a group of ranks. Slice and Mask are local:
/// they turn one sharding into another without communication. Compiled programs
/// store all kinds except Mask.
enum class CollectiveKind : uint8_t {
  /// Partial values are reduced; every rank of the group gets the result.
  AllReduce,
  /// Every rank of the group gets the shards of all ranks of the group.
  AllGather,
  /// Partial values are reduced; every rank of the group gets a part of the
  /// result.
  ReduceScatter,
  /// Every rank of the group sends an equal, disjoint part of its shard to
  /// every other rank. Thereby axes that split one dim split another dim
  /// afterwards.
  AllToAll,
  /// Every rank gets the whole shard of one other rank, as in a ring.
  Permute,
  /// Pairwise sends of the elements that are missing, such as halos.
  Exchange,
  /// Every rank of the group gets the value of one rank, the root. This kind
  /// occurs only in compiled programs; plans of reshards do not use it.
  Broadcast,
  /// Every rank keeps a part of its shard. Moves no bytes and needs no call.
  Slice,
  /// From replicated to partial: the rank at coordinate 0 keeps the value, all
  /// others get the neutral element of the reduction. Moves no bytes and needs
  /// no call.
  Mask
};

/// Returns whether ranks communicate in a collective of this kind.
inline bool communicates(CollectiveKind kind) {
  return kind != CollectiveKind::Slice && kind != CollectiveKind::Mask;
}

/// Returns whether a collective of this kind reduces partial values.
inline bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::AllReduce ||
         kind == CollectiveKind::ReduceScatter;
}

/// Returns the name of a kind in IR, JSON files and messages: "all_gather", ….
const char *toString(CollectiveKind kind);
/// Returns the kind with the name `name`, or nullopt for any other text.
std::optional<CollectiveKind> parseCollectiveKind(std::string_view name);

} // namespace pcc::dist

#endif // PCC_SHARDING_COLLECTIVEKIND_H
