//===- BundleJson.h - bundle.json: description of a bundle ----------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
#define PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H

#include "passes/7-emit/program/ProgramWriter.h"

namespace pcc::emit {

/// Returns the text of bundle.json, the description of a bundle: one line of
/// JSON. The fields are those of `pcc inspect --json`, except for the list
/// `ranks`. In its place, bundle.json has a list `programs`, with one entry per
/// position (virtual pipeline rank).
///
/// A field `layout` tells which part of a tensor each rank holds. It has one
/// list of factors per dim; the sizes of the factors multiply to the size of
/// the dim. A factor lists its size, then the mesh axes that split it. Example:
/// a dim of 192 = 3 · 64 elements, in which axis tp of size 2 splits the 64:
///
///   "layout": [[[3], [64, ["tp", 1, 2]]], …]
///
/// An axis is [name, pre, size], as in Shardy's sub-axes: `pre` is the product
/// of the sizes of the preceding sub-axes, 1 for a whole axis.
std::string bundleJson(const ModelFacts &facts,
                       const std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
