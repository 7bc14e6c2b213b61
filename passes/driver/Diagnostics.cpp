//===- Diagnostics.cpp - MLIR diagnostics as one error with notes ---------===//

#include "passes/driver/Diagnostics.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/driver/ParserMessages.h"

using namespace mlir;
using namespace pcc;

Diagnostics::Diagnostics(MLIRContext *context, const Listener &listener)
    : listener(listener), handler(context, [this](Diagnostic &diagnostic) {
        return take(diagnostic);
      }) {}

/// Returns the first place in the file `path` that `location` contains, as
/// "FILE:LINE:COLUMN: "; empty if there is none.
static std::string findPlace(Location location, StringRef path) {
  std::string place;
  location->walk([&](Location part) {
    auto at = dyn_cast<FileLineColLoc>(part);
    if (!at || at.getFilename().getValue() != path)
      return WalkResult::advance();
    place =
        (path + ":" + Twine(at.getLine()) + ":" + Twine(at.getColumn()) + ": ")
            .str();
    return WalkResult::interrupt();
  });
  return place;
}

void Diagnostics::locateIn(const ModuleText &text, Location otherwise) {
  file = text.path;
  source = text.text;
  elsewhere = findPlace(otherwise, file);
}

void Diagnostics::locateNowhere() {
  file.clear();
  elsewhere.clear();
  source = "";
}

std::string Diagnostics::placeOf(Location location) const {
  if (file.empty())
    return "";
  std::string found = findPlace(location, file);
  return found.empty() ? elsewhere : found;
}

LogicalResult Diagnostics::take(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error) {
    listener.onNote(diagnostic.str());
    return success();
  }
  if (!message.empty())
    return success();
  message = inOurWords(diagnostic.str(), diagnostic.getLocation(), source);
  place = placeOf(diagnostic.getLocation());
  if (std::string at = graph::placeText(diagnostic.getLocation()); !at.empty())
    notes.push_back(std::move(at));
  if (std::string line = graph::sourceLine(diagnostic.getLocation());
      !line.empty() && (place.empty() || !StringRef(place).starts_with(line)))
    notes.push_back("from " + line);
  for (Diagnostic &note : diagnostic.getNotes())
    notes.push_back((file.empty() ? "" : findPlace(note.getLocation(), file)) +
                    note.str());
  return success();
}

Status Diagnostics::status(ExitCode code, const std::string &claim) const {
  if (message.empty())
    return Status::error(Defect, "a pass failed without a message");
  return Status::error(code, place + claim + message, notes);
}
