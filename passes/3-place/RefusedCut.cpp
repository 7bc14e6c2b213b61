//===- RefusedCut.cpp - why the model cannot be cut before a name ---------===//

#include "passes/3-place/RefusedCut.h"
#include "status/Suggestions.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::place;

/// Returns the name of the node of `op`, or else of its result; empty if it has
/// neither.
static StringRef nameOf(Operation *op) {
  if (StringRef node = graph::nodeName(op->getLoc()); !node.empty())
    return node;
  auto own = op->getAttrOfType<StringAttr>(graph::nameName);
  return own ? own.getValue() : StringRef();
}

/// Returns the end of a message: "; a stage can begin at 'a', 'b' or 'c'". The
/// names are the first three of `ops` at which one can. Returns an empty text
/// if there is none.
template <typename Ops>
static std::string suggestion(const ForwardChain &chain, const Ops &ops) {
  llvm::SetVector<StringRef> names;
  for (Operation *op : ops) {
    const StringRef name = nameOf(op);
    const size_t cut = name.empty() ? 0 : chain.findCut(name).value_or(0);
    if (names.size() < 3 && cut > 0 && cut < chain.links().size())
      names.insert(name);
  }
  std::string text;
  for (auto [i, name] : llvm::enumerate(names))
    text += (i == 0                  ? "; a stage can begin at '"
             : i + 1 == names.size() ? " or '"
                                     : ", '") +
            name.str() + "'";
  return text;
}

/// Returns the index in chain.links() of the first link that depends on
/// `value`; the number of links if there is none.
static size_t firstLinkAfter(Value value, const ForwardChain &chain) {
  size_t first = chain.links().size();
  llvm::SetVector<Operation *> reached(value.user_begin(), value.user_end());
  for (size_t i = 0; i < reached.size(); ++i) {
    Operation *op = reached[i];
    if (llvm::is_contained(chain.links(), op))
      first = std::min(first, chain.positionOf(op));
    else
      reached.insert(op->user_begin(), op->user_end());
  }
  return first;
}

/// Returns the input or the read of the weight called `name`, and what it is.
/// Returns a null value if there is neither.
static std::pair<Value, const char *> sourceNamed(func::FuncOp function,
                                                  StringRef name) {
  for (BlockArgument argument : function.getArguments()) {
    auto own = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                     graph::nameName);
    if (own && own.getValue() == name)
      return {argument, "an input"};
  }
  for (auto weight : function.getOps<graph::GetParameterOp>())
    if (weight.getParameter() == name)
      return {weight.getResult(), "a weight"};
  return {};
}

/// Returns "it is an output, and " if the model has an output called `name`,
/// else an empty text.
static std::string outputClaim(func::FuncOp function, StringRef name) {
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto own = function.getResultAttrOfType<StringAttr>(i, graph::nameName);
    if (own && own.getValue() == name)
      return "it is an output, and ";
  }
  return {};
}

std::string place::describeRefusedCut(func::FuncOp function,
                                      const ForwardChain &chain,
                                      StringRef name) {
  const ArrayRef<Operation *> links = chain.links();
  if (auto [source, kind] = sourceNamed(function, name); source)
    return std::string("it is ") + kind +
           suggestion(chain, links.drop_front(firstLinkAfter(source, chain)));
  const std::optional<size_t> cut = chain.findCut(name);
  if (!cut)
    return "no node or value has that name" +
           nearestOf(name.str(), chain.cutNames());
  if (*cut == links.size())
    return outputClaim(function, name) +
           "no node from there on depends on an input" +
           suggestion(chain, llvm::reverse(links));
  return "it comes first" + suggestion(chain, links);
}
