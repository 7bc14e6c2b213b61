//===- PlanPage.h - page of a compilation or an explanation (--html) ------===//

#ifndef PCC_PASSES_PLANPAGE_H
#define PCC_PASSES_PLANPAGE_H

#include "passes/Options.h"
#include "passes/explain/Explanation.h"

#include <nlohmann/json.hpp>

namespace pcc {

/// Page that shows a plan, as HTML. The page contains no measured times, so
/// equal commands give equal pages.
class PlanPage {
public:
  /// `options` must outlive the page.
  explicit PlanPage(const CompileOptions &options) : options(options) {}

  /// Adds `explanation` (the reasons of the collectives) to the page. The
  /// times in `explanation` were predicted for `cluster`.
  void add(const explain::Explanation &explanation,
           const plan::Cluster &cluster);
  /// Adds what the bundle in the directory `bundle` tells about itself: its
  /// description, and the reasons of its collectives.
  Status addBundle(const std::string &bundle);
  /// Writes the page to the path of --html. If the write fails, an existing
  /// file stays unchanged, and the exit code is 7.
  Status write() const;

private:
  const CompileOptions &options;
  nlohmann::ordered_json source = nlohmann::ordered_json::object();
};

} // namespace pcc

#endif // PCC_PASSES_PLANPAGE_H
