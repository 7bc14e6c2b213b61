//===- OpTable.cpp - table of the ONNX ops that pcc imports, by version ---===//

#include "passes/1-import/build/OpTable.h"
#include "llvm/ADT/STLExtras.h"
#include <vector>

namespace pcc::onnx_import {

/// Returns the key of an op in `table`, such as "com.microsoft:Gelu"; ":Add"
/// for the standard domain.
static std::string key(llvm::StringRef domain, llvm::StringRef op) {
  return (domain + ":" + op).str();
}

void OpTable::add(llvm::StringRef domain, llvm::ArrayRef<OpForm> forms) {
  for (const OpForm &form : forms)
    table[key(domain, form.op)].push_back(form);
}

const llvm::SmallVector<OpForm, 1> *
OpTable::forms(const onnx::Node &node) const {
  auto found = table.find(
      key(ValueTable::asRef(node.domain), ValueTable::asRef(node.opType)));
  return found == table.end() ? nullptr : &found->second;
}

bool OpTable::knows(const onnx::Node &node) const { return forms(node); }

int64_t OpTable::firstVersion(const onnx::Node &node) const {
  const auto *all = forms(node);
  return all ? all->front().since : 0;
}

const OpForm *OpTable::find(const onnx::Node &node) const {
  const auto *all = forms(node);
  if (!all)
    return nullptr;
  const OpForm *best = nullptr;
  for (const OpForm &form : *all)
    if (form.since <= node.opset)
      best = &form;
  return best;
}

void OpTable::visit(
    llvm::function_ref<void(llvm::StringRef, const OpForm &)> f) const {
  std::vector<llvm::StringRef> keys(table.keys().begin(), table.keys().end());
  llvm::sort(keys);
  for (llvm::StringRef key : keys)
    for (const OpForm &form : table.find(key)->second)
      f(key.split(':').first, form);
}

const OpTable &OpTable::get() {
  static const OpTable table = [] {
    OpTable all;
    addElementWiseOps(all);
    addActivationOps(all);
    addContractionOps(all);
    addConvolutionOps(all);
    addAttentionOps(all);
    addDropoutOps(all);
    addExpertOps(all);
    addReductionOps(all);
    addNormOps(all);
    addLossOps(all);
    addPoolingOps(all);
    addLayoutOps(all);
    addSliceOps(all);
    addResizeOps(all);
    addIndexingOps(all);
    addShapeOps(all);
    addSequenceOps(all);
    addTrainingOps(all);
    return all;
  }();
  return table;
}

} // namespace pcc::onnx_import
