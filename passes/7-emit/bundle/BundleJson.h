//===- BundleJson.h - bundle.json: description of a bundle ----------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
#define PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H

#include "passes/7-emit/program/ProgramWriter.h"
#include "runtime/timeline/Timeline.h"

#include <nlohmann/json_fwd.hpp>

namespace pcc::emit {

/// Returns the content of bundle.json: the fields of `pcc inspect --json`, but
/// `programs` (one program per pipeline rank) replaces `ranks`. A `layout`
/// lists the factors of the size of each dim, each with the mesh axes that
/// split it. An axis is [name, pre, size], as in Shardy's sub-axes. Example:
/// tp=2 splits the 64 of 192 = 3 · 64:
///
///   "layout": [[[3], [64, ["tp", 1, 2]]]]
///
/// `planned` is the simulated step of the bundle (plannedStep()).
nlohmann::ordered_json bundleJson(const ModelFacts &facts,
                                  const std::vector<PositionProgram> &programs,
                                  const runtime::Timeline &planned);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
