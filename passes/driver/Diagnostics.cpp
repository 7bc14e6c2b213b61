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
  if (!first.error.empty())
    return success();
  first.error = diagnostic.str();
  if (StringRef node = graph::nodeName(diagnostic.getLocation()); !node.empty())
    first.notes.push_back("at node '" + node.str() + "'");
  if (std::string line = graph::sourceLine(diagnostic.getLocation());
      !line.empty())
    first.notes.push_back("from " + line);
  for (Diagnostic &note : diagnostic.getNotes())
    first.notes.push_back(note.str());
  return success();
}

Outcome Diagnostics::outcome(int exitCode) const {
  Outcome outcome = first;
  outcome.exitCode = exitCode;
  if (outcome.error.empty())
    outcome = {1, "a pass failed without saying why", {}};
  return outcome;
}
