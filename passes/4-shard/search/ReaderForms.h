//===- ReaderForms.h - shardings in which the users of a value need it ----===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_READERFORMS_H
#define PCC_PASSES_4_SHARD_SEARCH_READERFORMS_H

#include "passes/4-shard/graph/ShardedGraph.h"

#include <map>

namespace pcc::shard {

/// The shardings in which the users of each value need it, after all axes have
/// been assigned. A value with thousands of users has few of them, so each is
/// computed and stored once. The graph must not change while this object is
/// used.
class ReaderForms {
public:
  /// An operand of a vertex. Users of a value are in ascending order.
  struct Place {
    unsigned user, operand;
    auto operator<=>(const Place &) const = default;
  };
  /// A sharding, in the form that dist::placement returns, that some users of a
  /// value need.
  struct ReaderForm {
    dist::Sharding sharding;
    /// The first operand that needs the sharding.
    Place first;
    /// The first such operand of another vertex than first.user, if any.
    std::optional<Place> next;

    /// Returns the first operand that needs the sharding and that is no operand
    /// of vertex `user`; std::nullopt if there is none.
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
  /// By vertex and result: the shardings, computed when first asked for.
  std::map<std::pair<unsigned, unsigned>, std::vector<ReaderForm>> known;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_READERFORMS_H
