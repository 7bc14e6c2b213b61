//===- Diagnostics.cpp - MLIR diagnostics as one error with notes ---------===//

#include "passes/driver/Diagnostics.h"
#include "dialects/graph/GraphDialect.h"
#include "status/Suggestions.h"

using namespace mlir;
using namespace pcc;

Diagnostics::Diagnostics(MLIRContext *context, const Listener &listener)
    : listener(listener), handler(context, [this](Diagnostic &diagnostic) {
        return take(diagnostic);
      }) {}

/// Returns the message for the name `name` of an op that no dialect has.
static std::string unknownOp(StringRef name, MLIRContext &context) {
  std::vector<std::string> names;
  for (RegisteredOperationName known : context.getRegisteredOperations())
    names.push_back(known.getStringRef().str());
  return "there is no op '" + name.str() + "'" + didYouMean(name, names);
}

/// Returns the name of the op in `text`, if `text` is the message of MLIR for
/// an op that no dialect has. An op may be written in its own form or in MLIR's
/// generic form, which have different messages. Returns an empty text for any
/// other message.
static StringRef nameOfUnknownOp(StringRef text) {
  constexpr std::pair<StringLiteral, StringLiteral> messages[] = {
      {"custom op '", "' is unknown"},
      {"unregistered operation '", "' found in dialect"}};
  for (const auto &[before, after] : messages)
    if (StringRef name = text;
        name.consume_front(before) && name.contains(after))
      return name.split(after).first;
  return "";
}

/// Returns `text` without the word "custom", with which MLIR's parser begins
/// errors in the own form of an op, as in "custom op 'graph.gather' expected
/// 'along'". If the text then names the op twice, also removes the first name.
static StringRef withoutCustom(StringRef text) {
  if (!text.consume_front("custom "))
    return text;
  auto [name, message] = text.drop_front(StringRef("op ").size()).split(' ');
  return message.starts_with((name + " op ").str()) ? message : text;
}

/// Replaces messages of MLIR's parser that are for developers of MLIR tools:
/// advice such as to allow unregistered dialects, and names of ops that were
/// tried in other dialects. Returns any other message unchanged.
static std::string inOurWords(const std::string &text, MLIRContext &context) {
  if (StringRef(text).contains("allow-unregistered-dialect"))
    return "an op, attribute or type here is of a dialect that pcc does not "
           "have";
  if (StringRef(text).starts_with("Dialect `"))
    return "pcc has no dialect '" +
           StringRef(text).split('`').second.split('\'').first.str() + "'";
  if (StringRef name = nameOfUnknownOp(text); !name.empty())
    return unknownOp(name, context);
  return withoutCustom(text).str();
}

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

void Diagnostics::locateIn(const std::string &path, Location otherwise) {
  file = path;
  elsewhere = findPlace(otherwise, path);
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
  message =
      inOurWords(diagnostic.str(), *diagnostic.getLocation()->getContext());
  place = placeOf(diagnostic.getLocation());
  if (StringRef node = graph::nodeName(diagnostic.getLocation()); !node.empty())
    notes.push_back("at node '" + node.str() + "'");
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
