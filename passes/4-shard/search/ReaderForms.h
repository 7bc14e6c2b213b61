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
  /// An operand of a vertex: the index `user` of the vertex in the graph, and
  /// the index `operand` of its operand.
  struct Place {
    unsigned user, operand;
    auto operator<=>(const Place &) const = default;
  };
  /// A sharding that one or more users of a value need. It is in the canonical
  /// form that dist::placement returns.
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
