//===- Diagnostics.cpp - MLIR diagnostics as one error with notes ---------===//

#include "passes/driver/Diagnostics.h"
#include "dialects/graph/GraphDialect.h"

using namespace mlir;
using namespace pcc;

Diagnostics::Diagnostics(MLIRContext *context, const Listener &listener)
    : listener(listener), handler(context, [this](Diagnostic &diagnostic) {
        return take(diagnostic);
      }) {}

LogicalResult Diagnostics::take(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error) {
    listener.onNote(diagnostic.str());
    return success();
  }
  if (!message.empty())
    return success();
  message = diagnostic.str();
  if (StringRef node = graph::nodeName(diagnostic.getLocation()); !node.empty())
    notes.push_back("at node '" + node.str() + "'");
  if (std::string line = graph::sourceLine(diagnostic.getLocation());
      !line.empty())
    notes.push_back("from " + line);
  for (Diagnostic &note : diagnostic.getNotes())
    notes.push_back(note.str());
  return success();
}

Status Diagnostics::status(ExitCode code) const {
  if (message.empty())
    return Status::error(Defect, "a pass failed without a message");
  return Status::error(code, message, notes);
}
