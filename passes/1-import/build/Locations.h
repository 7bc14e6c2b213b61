//===- Locations.h - MLIR locations of ONNX nodes -------------------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_LOCATIONS_H
#define PCC_PASSES_1_IMPORT_BUILD_LOCATIONS_H

#include "mlir/IR/Location.h"
#include "passes/1-import/onnx/model/Model.h"
#include <optional>

namespace pcc::onnx_import {

/// A line of the Python program from which the model was exported.
struct PythonLine {
  /// Path of the Python file, such as "model.py". The exporter torch.onnx
  /// stores a stack trace in the ONNX model. The path is copied from this stack
  /// trace.
  std::string file;
  /// Line number, from 1.
  unsigned line;
};

/// Returns the innermost Python line of the stack trace that torch.onnx stored
/// in the metadata of `node`. Returns nothing if there is no stack trace.
std::optional<PythonLine> pythonLine(const onnx::Node &node);

/// Returns the name that the MLIR location of `node` contains: the name of the
/// node, or a substitute if the node has no name. The substitute consists of
/// the op type, the character "#" and the index of the node in the node list of
/// its graph, from 0. For example, it is "Add#12" for an Add node with the
/// index 12.
std::string nameInLocations(const onnx::Node &node);

/// Returns the MLIR location of the ops for `node`: a NameLoc with
/// nameInLocations(). If torch.onnx stored a Python stack trace in `node`, the
/// location is a CallSiteLoc with the innermost Python line.
mlir::Location locationOf(const onnx::Node &node, mlir::MLIRContext *context);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_LOCATIONS_H
