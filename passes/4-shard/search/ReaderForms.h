//===- ReaderForms.h - shardings in which the users of a value need it ----===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_READERFORMS_H
#define PCC_PASSES_4_SHARD_SEARCH_READERFORMS_H

#include "passes/4-shard/graph/ShardedGraph.h"

#include <map>

namespace pcc::shard {

/// Computes the shardings that the users of a value need. A user is an op that
/// reads the value as an operand. Example: two ops read the value x. One op
/// needs x with split rows, and the other op needs x with split columns. The
/// result for x then has two shardings.
///
/// All mesh axes must have been assigned before. The object computes the result
/// for a value once, and then stores it. The graph must therefore not change
/// while the object is used.
class ReaderForms {
public:
  /// One operand of one vertex of the graph. `user` is the index of the vertex
  /// in ShardedGraph::ops. `operand` is the number of the operand: 0 for the
  /// first operand of the vertex.
  struct Place {
    unsigned user, operand;
    auto operator<=>(const Place &) const = default;
  };
  /// A sharding that one or more users of a value need. If several users need
  /// the value with the same parts on every rank, there is one ReaderForm for
  /// all of them. `sharding` is in a simplified form (dist::placement), so that
  /// equal parts have equal shardings.
  ///
  /// Example: tp = 2, and a dim has 12 elements. One user regards the dim as 4
  /// groups of 3 elements, and tp splits the groups. The first rank has 2
  /// groups, which are the first 6 elements. For another user, tp splits the 12
  /// elements without groups. The first rank has the first 6 elements too. Both
  /// users have the same ReaderForm.
  struct ReaderForm {
    dist::Sharding sharding;
    /// An operand through which a user reads the value in `sharding`. If there
    /// are several of these operands, `first` is the operand that
    /// ShardedGraph::users lists first. Example: the addition x + x needs the
    /// value x in `sharding`. `first` is operand 0 of the addition.
    Place first;
    /// The first operand that needs the value in `sharding` and does not belong
    /// to the vertex of `first`. `next` is std::nullopt if only one vertex
    /// needs the value in `sharding`. Example: the addition x + x and the
    /// multiplication x * y need x in this sharding. `first` is operand 0 of
    /// the addition. `next` is operand 0 of the multiplication.
    std::optional<Place> next;

    /// Looks at all operands that need one value in one sharding, the member
    /// `sharding`. Returns the first of these operands that does not belong to
    /// vertex `user` of the graph. Returns std::nullopt if all of these
    /// operands belong to vertex `user`.
    ///
    /// Example: vertex 3 and vertex 5 need the value x in the sharding
    /// `sharding`. No other vertex needs x in this sharding. firstBeside(3)
    /// returns an operand of vertex 5. firstBeside(5) returns an operand of
    /// vertex 3.
    std::optional<Place> firstBeside(unsigned user) const {
      return first.user != user ? first : next;
    }
  };

  /// Keeps a reference to `graph`, which must outlive this object.
  explicit ReaderForms(const ShardedGraph &graph) : graph(graph) {}

  /// Returns the shardings that users need for one value. The value is result
  /// number `result` of vertex `producer`. Two users that need the same
  /// sharding share one element. The elements are sorted by the first user that
  /// needs the sharding.
  llvm::ArrayRef<ReaderForm> of(unsigned producer, unsigned result);

private:
  const ShardedGraph &graph;
  /// Maps each value, given by vertex and result, to the shardings that its
  /// users need. `of` computes them when it is first called for the value.
  std::map<std::pair<unsigned, unsigned>, std::vector<ReaderForm>> known;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_READERFORMS_H
