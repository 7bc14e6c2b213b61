//===- BundleJson.h - bundle.json: description of a bundle ----------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
#define PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H

#include "passes/7-emit/program/ProgramWriter.h"

namespace pcc::emit {

/// Returns the text of bundle.json: one line of JSON that describes a bundle.
/// The command `pcc inspect --json` prints the same fields, with one
/// difference. The command prints a list `ranks`, with one entry per rank. The
/// file bundle.json has a list `programs` instead, with one entry per pipeline
/// position. A position is an index along the pipeline axis of the mesh of
/// ranks. All ranks of a position execute the same program.
///
/// A field `layout` tells which elements of a tensor each rank holds. A layout
/// is a list with one entry per dim of the tensor. The size of a dim is a
/// product of factors, and mesh axes can split each factor. The entry of a dim
/// is a list of its factors. A factor is a list: first the size of the factor,
/// then the mesh axes that split the factor. Example: a tensor has one dim of
/// 192 = 3 · 64 elements. The axis tp of size 2 splits the factor 64, and no
/// axis splits the factor 3:
///
///   "layout": [[[3], [64, ["tp", 1, 2]]]]
///
/// An axis is a list [name, pre, size]. For a whole axis, `pre` is 1, and
/// `size` is the size of the axis. For a part of an axis, `pre` and `size` are
/// those of Shardy's sub-axes. The number `pre` is the product of the sizes of
/// all parts that come before. For example, an axis tp of size 8 can have two
/// parts, whose sizes are 2 and 4:
///
///   ["tp", 1, 2]   first part, of size 2
///   ["tp", 2, 4]   second part, of size 4; the first part has size 2
std::string bundleJson(const ModelFacts &facts,
                       const std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
