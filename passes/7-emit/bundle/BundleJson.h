//===- BundleJson.h - bundle.json: description of a bundle ----------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
#define PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H

#include "passes/7-emit/program/ProgramWriter.h"

namespace pcc::emit {

/// Returns the text of bundle.json, the description of a bundle (the directory
/// that pcc writes): one line of JSON. The fields are those that `pcc inspect
/// --json` prints, with one difference: the list `programs`, with one entry per
/// pipeline position, replaces the list `ranks`.
///
/// A field `layout` describes which part of a weight, input or output each rank
/// holds. It has one list of factors per dim. A factor is written as its size
/// and the mesh axes that split it. Example: dim 0 has 192 = 3 · 64 elements,
/// and the axis tp of size 2 splits the factor 64:
///
///   "layout": [[[3], [64, ["tp", 1, 2]]], …]
///
/// An axis is written as [name, pre, size], as in Shardy's sub-axes: `pre` is
/// the product of the sizes of the preceding sub-axes, 1 for a whole axis.
std::string bundleJson(const ModelFacts &facts,
                       const std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
