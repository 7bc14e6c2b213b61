//===- CostScale.h - costs as single numbers ------------------------------===//

#ifndef PCC_PASSES_PLAN_SEARCH_COSTSCALE_H
#define PCC_PASSES_PLAN_SEARCH_COSTSCALE_H

#include "passes/plan/search/CostGraph.h"

namespace pcc::plan {

/// Weights that turn the costs of a graph into single numbers. The order of the
/// numbers is nearly that of the costs: the first part in which two costs
/// differ decides, if it differs by one unit or more.
class CostScale {
public:
  CostScale() = default;
  /// Chooses weights for the costs of `graph`. If `forbidsPenalties` is true, a
  /// cost with a penalty counts as forbidden.
  CostScale(const CostGraph &graph, bool forbidsPenalties);

  /// Returns the number for `cost`: limit() if it is forbidden.
  double of(const Cost &cost) const;
  /// Returns a number above that of every assignment that is allowed.
  double limit() const { return most; }
  /// Returns the largest difference of two numbers that rounding errors make.
  double tolerance() const;

private:
  bool forbidsPenalties = false;
  Cost weights;
  double most = 0;
};

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_COSTSCALE_H
