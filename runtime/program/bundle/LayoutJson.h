//===- LayoutJson.h - mesh and layouts in bundle.json ---------------------===//

#ifndef PCC_RUNTIME_PROGRAM_BUNDLE_LAYOUTJSON_H
#define PCC_RUNTIME_PROGRAM_BUNDLE_LAYOUTJSON_H

#include "runtime/program/Layout.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace pcc::runtime {

/// Returns the mesh of a bundle. The mesh has the axes in `bundle`, the content
/// of bundle.json, and the axis "mb" as the last axis. A coordinate on the axis
/// "mb" is the number of a microbatch. For example, a bundle with the axes
/// {dp=2, tp=4} and 8 microbatches has the mesh {dp=2, tp=4, mb=8}. The file
/// bundle.json does not list axes of size 1. The pipeline axis "pp" may
/// therefore be absent.
Mesh meshOf(const nlohmann::ordered_json &bundle);

/// Parses the field "layout" of a tensor in bundle.json, which has one entry
/// per dim. Each entry is a list of factors, whose product is the size of the
/// dim. Each factor is a list. The first entry is the size of the factor. The
/// other entries are the sub-axes that split the factor. A sub-axis is a mesh
/// axis or a factor of a mesh axis. Returns nothing if `stored` does not have
/// this form.
///
/// For example, `stored` is [[[3], [64, ["tp", 1, 2]]]]. The only dim has 3 ·
/// 64 elements. The factor 3 is not split. The factor 64 is split over the
/// sub-axis ["tp", 1, 2]. In general, ["tp", m, k] is a sub-axis of the mesh
/// axis tp. If tp has n coordinates and is reshaped to [m, k, n / (m · k)], the
/// sub-axis is the dim of size k.
std::optional<Layout> parseLayout(const nlohmann::ordered_json &stored);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_BUNDLE_LAYOUTJSON_H
