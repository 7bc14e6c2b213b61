//===- SignatureAttrs.cpp - attributes of the arguments and results -------===//

#include "dialects/graph/SignatureAttrs.h"

using namespace mlir;
using namespace pcc::graph;

SignatureAttrs::SignatureAttrs(func::FuncOp function) : function(function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    arguments.emplace_back(function.getArgAttrDict(i));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    results.emplace_back(function.getResultAttrDict(i));
}

void SignatureAttrs::write() {
  auto dictionaries = [&](MutableArrayRef<NamedAttrList> lists) {
    return llvm::map_to_vector<0>(lists, [&](const NamedAttrList &list) {
      return list.getDictionary(function.getContext());
    });
  };
  function.setAllArgAttrs(dictionaries(arguments));
  function.setAllResultAttrs(dictionaries(results));
}
