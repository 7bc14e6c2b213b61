//===- DumpText.cpp - text of a dump, for its readers ---------------------===//

#include "passes/driver/DumpText.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace pcc;

/// Returns the mesh of `module` with the pipeline axis pp in front. The size of
/// pp is the number of pipeline ranks. Returns the mesh without pp if `module`
/// has no stages, and null if `module` has no mesh.
static dist::MeshAttr wholeMesh(ModuleOp module) {
  auto stage = module->getAttrOfType<dist::MeshAttr>(dist::meshName);
  auto stages = module->getAttrOfType<IntegerAttr>(pipe::stagesName);
  if (!stage || !stages)
    return stage;
  dist::Mesh mesh = dist::meshOf(module);
  mesh.axes.insert(
      mesh.axes.begin(),
      {std::string(dist::pipelineAxis),
       stages.getInt() / pipe::countOf(module, pipe::virtualStagesName)});
  return dist::MeshAttr::get(module.getContext(), mesh);
}

/// Sets the mesh of `module` to the result of wholeMesh(), and spells all
/// shardings of `module` as in --shard.
static void spellShardings(ModuleOp module) {
  dist::MeshAttr mesh = wholeMesh(module);
  if (!mesh)
    return;
  module->setAttr(dist::meshName, mesh);
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](dist::ShardingAttr sharding) {
    return std::make_pair(Attribute(dist::spelledOn(sharding, mesh)),
                          WalkResult::skip());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/false);
}

/// Returns the position after the end of the string literal that begins at
/// `at`.
static size_t skipString(StringRef text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\')
      ++at;
  return std::min(at + 1, text.size());
}

/// Returns the position of the bracket that closes a location, such as the last
/// character of `loc("a")`. `at` is the position after `loc(`.
static size_t endOfLocation(StringRef text, size_t at) {
  for (int depth = 0; at < text.size(); ++at) {
    if (text[at] == '"')
      at = skipString(text, at) - 1;
    else if (text[at] == ')' && depth-- == 0)
      return at;
    else if (text[at] == '(')
      ++depth;
  }
  return text.size();
}

/// Returns whether `location`, the text of a location, is the name of a node
/// and nothing else.
static bool isName(StringRef location) {
  return location.starts_with('"') &&
         skipString(location, 0) == location.size();
}

/// Returns the name of the node in `location`, the text of a location; empty if
/// there is none.
static StringRef nodeOf(StringRef location) {
  const size_t at = location.starts_with('"') ? 0 : location.rfind("[\"") + 1;
  StringRef name = location.substr(at);
  if (!name.starts_with('"'))
    return {};
  return name.slice(1, skipString(name, 0) - 1);
}

/// Returns an alias for `location`, such as "#MatMul_3_loc7". The alias begins
/// with the name of the node in `location` and ends with `suffix`, which makes
/// the alias unique.
static std::string aliasFor(StringRef location, StringRef suffix) {
  std::string alias;
  for (char c : nodeOf(location))
    if (llvm::isAlnum(c) || (!alias.empty() && alias.back() != '_'))
      alias += llvm::isAlnum(c) ? c : '_';
  if (alias.empty())
    return ("#" + suffix).str();
  if (llvm::isDigit(alias.front()))
    alias = "node_" + alias;
  return "#" + alias + (alias.back() == '_' ? "" : "_") + suffix.str();
}

namespace {
/// Shortens the locations in the text of a module. A location that is only the
/// name of a node stays at its op, as in `loc("MatMul_3")`. Any other location
/// is replaced by an alias, as in `loc(#MatMul_3_loc7)`, and the definition of
/// the alias stands at the end of the text.
class LocationMover {
public:
  /// Returns `text`, the text of a module that MLIR has printed, with the
  /// definitions of locations at its end.
  std::string run(StringRef text) {
    SmallVector<StringRef> lines;
    text.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef line : lines)
      if (isDefinition(line))
        nameDefinition(aliasOf(line), locationOf(line));
    std::string result;
    for (StringRef line : lines)
      if (!isDefinition(line))
        (result += moved(line)) += '\n';
    for (StringRef line : lines)
      if (isDefinition(line) && !isName(locationOf(line)))
        (result += moved(line)) += '\n';
    return result + added;
  }

private:
  static bool isDefinition(StringRef line) {
    return line.starts_with("#") && line.contains(" = loc(");
  }

  /// Returns the alias in the definition `line`. For the line
  /// `#loc7 = loc("a")`, the alias is `#loc7`.
  static StringRef aliasOf(StringRef line) { return line.split(' ').first; }

  /// Returns the text of the location in the definition `line`. For the line
  /// `#loc7 = loc("a")`, the text is `"a"`.
  static StringRef locationOf(StringRef line) {
    return line.split(" = loc(").second.drop_back();
  }

  /// Stores in `names` the text that replaces MLIR's alias `alias` for
  /// `location`. If `location` is only the name of a node, this text is the
  /// name. Otherwise, it is the result of aliasFor(), which contains the name
  /// of the node.
  void nameDefinition(StringRef alias, StringRef location) {
    std::string text = moved(location);
    names[alias] = isName(location) ? text : aliasFor(text, alias.drop_front());
    if (!isName(location))
      aliases[text] = names[alias];
  }

  /// Returns `line` with two changes. nameOf() replaces MLIR's aliases of
  /// locations, such as `#loc7`. shortened() replaces locations that are
  /// written in the line, such as `loc("a")` after an argument.
  std::string moved(StringRef line) {
    std::string text;
    for (size_t at = 0, end = 0; at < line.size(); at = end) {
      end = at + 1;
      if (line[at] == '"') {
        end = skipString(line, at);
      } else if (line[at] == '#') {
        end = std::min(line.find_first_of(" ,])>(", at), line.size());
        text += nameOf(line.slice(at, end));
        continue;
      } else if (line.substr(at).starts_with(" loc(") && !isDefinition(line)) {
        end = endOfLocation(line, at + StringRef(" loc(").size());
        text += " loc(" +
                shortened(line.slice(at + StringRef(" loc(").size(), end));
        continue;
      }
      text += line.slice(at, end);
    }
    return text;
  }

  /// Returns the text that replaces MLIR's alias `alias`, or `alias` itself if
  /// there is no such text.
  std::string nameOf(StringRef alias) const {
    auto found = names.find(alias);
    return found == names.end() ? alias.str() : found->second;
  }

  /// Returns the text that replaces `location` in a line. If `location` is an
  /// alias, or only the name of a node, the text is the result of moved().
  /// Otherwise, the text is an alias, which is defined at the end of the text
  /// of the module.
  std::string shortened(StringRef location) {
    std::string text = moved(location);
    if (location.starts_with("#") || isName(location))
      return text;
    auto [alias, isNew] = aliases.try_emplace(text);
    if (isNew) {
      alias->second =
          aliasFor(text, "argument" + std::to_string(aliases.size()));
      added += alias->second + " = loc(" + text + ")\n";
    }
    return alias->second;
  }

  /// For each of MLIR's aliases of locations, such as "#loc7": the text that
  /// replaces the alias.
  llvm::StringMap<std::string> names;
  /// Maps the text of a location to the new alias that replaces it. Has no
  /// entry for a location that is only the name of a node.
  llvm::StringMap<std::string> aliases;
  /// Lines that define the aliases that shortened() has made.
  std::string added;
};
} // namespace

std::string pcc::dumpText(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  spellShardings(*copy);
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*copy)->print(stream, OpPrintingFlags().enableDebugInfo());
  return LocationMover().run(text);
}
