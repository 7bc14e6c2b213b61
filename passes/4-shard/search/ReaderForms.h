//===- ReaderForms.h - shardings in which the users of a value need it ----===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_READERFORMS_H
#define PCC_PASSES_4_SHARD_SEARCH_READERFORMS_H

#include "passes/4-shard/graph/ShardedGraph.h"

#include <map>

namespace pcc::shard {

/// The shardings in which the users of each value need it, after all axes have
/// been assigned. Each is computed only once. The graph must not change while
/// this object is used.
class ReaderForms {
public:
  /// One operand of one vertex of the graph. `user` is the index of the vertex
  /// in ShardedGraph::ops. `operand` is the number of the operand: 0 for the
  /// first operand of the vertex.
  struct Place {
    unsigned user, operand;
    auto operator<=>(const Place &) const = default;
  };
  /// A sharding in which one or more users need a value, and the first operands
  /// that need it. The function dist::placement has simplified the sharding, so
  /// that users with equal needs share one entry. For example, a dim of 12
  /// elements may be written as 4 groups of 3, with the groups split over tp:
  /// [4@tp|3]. For tp = 2, the simplified form is [12@tp].
  struct ReaderForm {
    dist::Sharding sharding;
    /// The first operand that needs the value in `sharding`.
    Place first;
    /// The first operand that needs the value in `sharding` and belongs to
    /// another vertex than `first`; std::nullopt if there is none.
    std::optional<Place> next;

    /// Returns the first operand that needs the value in `sharding` and that is
    /// no operand of vertex `user`. Returns std::nullopt if there is none.
    std::optional<Place> firstBeside(unsigned user) const {
      return first.user != user ? first : next;
    }
  };

  /// Keeps a reference to `graph`, which must outlive this object.
  explicit ReaderForms(const ShardedGraph &graph) : graph(graph) {}

  /// Returns the shardings in which the users of result number `result` of
  /// vertex `producer` need it, in the order of the users.
  llvm::ArrayRef<ReaderForm> of(unsigned producer, unsigned result);

private:
  const ShardedGraph &graph;
  /// Maps each value, given by vertex and result, to the shardings that its
  /// users need. `of` computes them when it is first called for the value.
  std::map<std::pair<unsigned, unsigned>, std::vector<ReaderForm>> known;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_READERFORMS_H
