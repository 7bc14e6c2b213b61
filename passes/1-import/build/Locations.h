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
/// the op type, the character "#" and the position of the node in the node list
/// of its graph. For example, the substitute is "Add#12" for an Add node at
/// position 12. The first node of a graph is at position 0.
std::string nameInLocations(const onnx::Node &node);

/// Returns the MLIR location of the ops that the import creates for `node`. The
/// location contains the name of `node`. The exporter torch.onnx may have
/// stored a Python stack trace in the metadata of `node`. The location then
/// also contains the file and the number of the innermost Python line. For
/// example, the location of the node fc1 is:
///
///   NameLoc("fc1")                         without a Python stack trace
///   CallSiteLoc("fc1" at "model.py":26)    if line 26 of model.py is the
///                                          innermost line of the stack trace
///
/// If `node` has no name, the location contains the substitute name from
/// nameInLocations(), such as "Add#12".
mlir::Location locationOf(const onnx::Node &node, mlir::MLIRContext *context);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_LOCATIONS_H
