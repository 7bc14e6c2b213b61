//===- BundleJson.h - bundle.json: description of a bundle ----------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
#define PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H

#include "passes/7-emit/program/ProgramWriter.h"

namespace pcc::emit {

/// Returns the text of bundle.json, one line of JSON. The fields are those of
/// `pcc inspect --json`, but a list `programs` with one entry per pipeline
/// position replaces the list `ranks`. A field `layout` tells which elements of
/// a tensor each rank holds. Each dim has a list of factors. A factor is a size
/// and the mesh axes [name, pre, size] that split the factor, as in Shardy's
/// sub-axes (`pre` is 1 for a whole axis). Example: a dim has 3 · 64 elements,
/// and axis tp splits the 64:
///
///   "layout": [[[3], [64, ["tp", 1, 2]]]]
std::string bundleJson(const ModelFacts &facts,
                       const std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
