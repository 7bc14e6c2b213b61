//===- Locations.h - where a node comes from ------------------------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_LOCATIONS_H
#define PCC_PASSES_1_IMPORT_BUILD_LOCATIONS_H

#include "mlir/IR/Location.h"
#include "passes/1-import/onnx/model/Model.h"
#include <optional>

namespace pcc::onnx_import {

/// A line of the Python program that was exported.
struct PythonLine {
  std::string file;
  unsigned line;
};

/// The innermost line of the node's exported stack trace; nothing if the
/// exporter left none.
std::optional<PythonLine> pythonLine(const onnx::Node &node);

/// What names a node in locations: its name, or `Op#index` without one.
std::string nameInLocations(const onnx::Node &node);

/// The node's name (`Op#index` without one); with a stack trace, as a call from
/// its innermost Python line.
mlir::Location locationOf(const onnx::Node &node, mlir::MLIRContext *context);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_LOCATIONS_H
