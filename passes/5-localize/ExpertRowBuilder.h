//===- ExpertRowBuilder.h - values by rows, each for one expert and token -===//
//
// In the dense form of a mixture of experts each value behind a product with
// the experts' matrices has a dim of experts and some of tokens: [E, T, …]. A
// *row* is one expert and one token.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_5_LOCALIZE_EXPERTROWBUILDER_H
#define PCC_PASSES_5_LOCALIZE_EXPERTROWBUILDER_H

#include "passes/5-localize/LocalBuilder.h"
#include <optional>

namespace pcc::localize {

/// What a dim of a value is for rows. The dims of tokens, in their order, are
/// one long dim.
enum class DimRole : uint8_t {
  Expert,
  Token,
  Feature,  ///< a row has all of it
  Repeated, ///< it has size 1 where the result has experts or tokens
};
using DimRoles = llvm::SmallVector<DimRole, 4>; ///< per dim

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return graph::tensorType(value).getShape();
}

inline bool hasRole(const DimRoles &roles, DimRole role) {
  return llvm::is_contained(roles, role);
}

/// The sum of what experts make of tokens, weighed by gates: an einsum marked
/// `graph.chosen`.
struct ExpertCombine {
  graph::EinsumOp op;
  DimRoles outputs; ///< of operand 1
  int64_t numTokens = 1, numExperts = 1, chosen = 0;
  /// The dims of the gates, operand 0, as tokens and then experts.
  llvm::SmallVector<int64_t> gateOrder;
  /// The result as tokens and then features, and its dims in those.
  llvm::SmallVector<int64_t> shape, order;

  /// None if `op` has no mark or nothing to sum.
  static std::optional<ExpertCombine> read(graph::EinsumOp op);
};

/// Makes rows of values, in front of a sum. All of them are in the order of one
/// `graph.group_rows`.
class ExpertRowBuilder : public LocalBuilder {
public:
  explicit ExpertRowBuilder(const ExpertCombine &sum);

  /// [rows, features…] of `value`, which lies as `roles` say; [features…] where
  /// it has neither experts nor tokens.
  mlir::Value rowsOf(mlir::Value value, const DimRoles &roles);
  /// Tells the rows of a value.
  void setRows(mlir::Value value, mlir::Value rows) { known[value] = rows; }

  /// [rows, features…] with the features of `value`.
  mlir::RankedTensorType rowsType(mlir::Value value,
                                  const DimRoles &roles) const;
  int64_t numRows() const;
  mlir::Value counts() { return groups.getCounts(); }

  /// `op` on other operands, with a result of `type`.
  mlir::Value cloned(mlir::Operation *op, mlir::ValueRange operands,
                     mlir::RankedTensorType type);
  /// The dims of `value` that `order` names, in that order, as dims of `shape`;
  /// the others have size 1.
  mlir::Value arranged(mlir::Value value, llvm::ArrayRef<int64_t> order,
                       llvm::ArrayRef<int64_t> shape);

  /// The sum: rows, weighed, added to the tokens that they are of.
  mlir::Value sumOf(mlir::Value rows);

private:
  const ExpertCombine &sum;
  graph::GroupRowsOp groups;
  llvm::DenseMap<mlir::Value, mlir::Value> known;
};

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_EXPERTROWBUILDER_H
