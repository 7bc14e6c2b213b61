//===- ReaderForms.h - shardings in which the users of a value need it ----===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_READERFORMS_H
#define PCC_PASSES_4_SHARD_SEARCH_READERFORMS_H

#include "passes/4-shard/graph/ShardedGraph.h"

#include <map>

namespace pcc::shard {

/// Shardings in which users need each value. Use this object only after the
/// search has assigned all mesh axes. Results are cached, so the graph must not
/// change while this object is used.
class ReaderForms {
public:
  /// One operand of one node of the graph. `user` is the index of the node in
  /// ShardedGraph::ops. `operand` is the number of the operand: 0 for the first
  /// operand of the node.
  struct Place {
    unsigned user, operand;
    auto operator<=>(const Place &) const = default;
  };
  /// A sharding that one or more users of a value need. Users share one
  /// ReaderForm if they need equal shards on every rank, even in different
  /// notations: [4@tp|3] equals [12@tp] for tp = 2.
  struct ReaderForm {
    dist::Sharding sharding;
    /// First operand, in the order of ShardedGraph::users, that needs the value
    /// in `sharding`.
    Place first;
    /// First operand that needs the value in `sharding` and belongs to another
    /// node than `first`; std::nullopt if only the node `first.user` needs the
    /// value in `sharding`.
    std::optional<Place> next;

    /// Returns the first operand that needs the value in `sharding` and does
    /// not belong to the node `user`; std::nullopt if there is none.
    std::optional<Place> firstBeside(unsigned user) const {
      return first.user != user ? first : next;
    }
  };

  /// Keeps a reference to `graph`, which must outlive this object.
  explicit ReaderForms(const ShardedGraph &graph) : graph(graph) {}

  /// Returns the shardings in which users need result number `result` of node
  /// `producer`, without duplicates. The shardings are in the order of their
  /// first users.
  llvm::ArrayRef<ReaderForm> of(unsigned producer, unsigned result);

private:
  const ShardedGraph &graph;
  /// Maps each value, given by node and result, to the shardings that its users
  /// need. `of` computes them when it is first called for the value.
  std::map<std::pair<unsigned, unsigned>, std::vector<ReaderForm>> known;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_READERFORMS_H
