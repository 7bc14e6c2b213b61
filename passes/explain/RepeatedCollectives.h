//===- RepeatedCollectives.h - groups of equal collectives of blocks ------===//

#ifndef PCC_PASSES_EXPLAIN_REPEATEDCOLLECTIVES_H
#define PCC_PASSES_EXPLAIN_REPEATEDCOLLECTIVES_H

#include "passes/explain/Explanation.h"

namespace pcc::explain {

/// A group of similar collectives. The properties of the collectives are equal,
/// such as the kind, the mesh axes and the received bytes. Only the names of
/// ONNX nodes and tensors differ. Example: a transformer has the weight 'h.0.w'
/// in layer 0, and the weight 'h.1.w' in layer 1. Each layer needs an
/// all-reduce because its weight is split. The all-reduces of all layers form
/// one group.
struct RepeatedCollective {
  /// Collectives of the group, in program order. Names in them differ only in
  /// numbers, such as 'h.0.w' and 'h.1.w'. The pointers point into the argument
  /// of findRepeatedCollectives().
  std::vector<const ExplainedCollective *> all;
  /// Number of collectives in the group. The list `all` contains the group. In
  /// most cases, an element of the list describes one collective. An element
  /// describes several collectives if these collectives have equal properties
  /// and belong to one ONNX node. Example: the list has two elements. The first
  /// element describes 1 collective, and the second element describes 3
  /// collectives. `count` is then 1 + 3 = 4.
  int64_t count = 0;
  /// Numbers of the pipeline stages that execute the collectives of a group, as
  /// text, without duplicates.
  std::vector<std::string> stages;
};

/// Divides the collectives `all` into groups with equal properties and equal
/// reasons, in the order of their first collectives. Numbers in quoted names do
/// not matter: "split dim 1 of 'h.0.w'" equals "split dim 1 of 'h.1.w'". The
/// groups contain pointers into `all`.
std::vector<RepeatedCollective>
findRepeatedCollectives(const std::vector<ExplainedCollective> &all);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_REPEATEDCOLLECTIVES_H
