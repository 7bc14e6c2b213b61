//===- BundleJson.h - bundle.json: description of a bundle ----------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
#define PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H

#include "passes/7-emit/program/ProgramWriter.h"
#include "runtime/timeline/Timeline.h"

#include <nlohmann/json_fwd.hpp>

namespace pcc::emit {

/// Returns the content of bundle.json: the fields of `pcc inspect --json`, but
/// `programs` (one program per pipeline rank) replaces `ranks`. The field
/// `layout` of a tensor has one list per dim. The list has the factors of the
/// dim's size, and each factor is followed by the mesh axes that split it. An
/// axis is [name, pre, size], as in Shardy's sub-axes. Example for a tensor
/// [192] with 192 = 3 · 64, where the mesh axis tp of size 2 splits the factor
/// 64:
///
///   "layout": [[[3], [64, ["tp", 1, 2]]]]
///
/// `planned` is the simulated step of the bundle (plannedStep()).
nlohmann::ordered_json bundleJson(const ModelFacts &facts,
                                  const std::vector<PositionProgram> &programs,
                                  const runtime::Timeline &planned);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
