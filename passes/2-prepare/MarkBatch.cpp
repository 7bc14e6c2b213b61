//===- MarkBatch.cpp - batch and sequence dims of inputs ------------------===//

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/SignatureAttrs.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/2-prepare/Passes.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "status/Counted.h"
#include "llvm/Support/DebugLog.h"
#include <map>

#define DEBUG_TYPE "mark-batch"

namespace pcc::prepare {
#define GEN_PASS_DEF_MARKBATCH
#include "passes/2-prepare/Passes.h.inc"
} // namespace pcc::prepare

using namespace mlir;
using namespace pcc;
using namespace pcc::prepare;

/// Returns the name of an input; empty if it has none.
static StringRef inputName(func::FuncOp function, unsigned input) {
  auto name = function.getArgAttrOfType<StringAttr>(input, graph::nameName);
  return name ? name.getValue() : "";
}

/// Returns the symbolic name of dim `dim` of an input, such as "batch". Returns
/// an empty string if the dim has no name.
static StringRef symbolOf(func::FuncOp function, unsigned input, int64_t dim) {
  auto symbols = function.getArgAttrOfType<ArrayAttr>(input, graph::dimsName);
  if (!symbols || dim >= static_cast<int64_t>(symbols.size()))
    return "";
  auto symbol = dyn_cast<StringAttr>(symbols[dim]);
  return symbol ? symbol.getValue() : "";
}

/// Formats one or two numbers for a message, such as "2 and 4".
static std::string listOf(ArrayRef<int64_t> numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : " and ") + std::to_string(number);
  return text;
}

/// Returns the two divisors of `batch` that are nearest to `wanted`: the
/// largest one <= `wanted` and the smallest one > `wanted`. Omits one that does
/// not exist. For batch = 6 and wanted = 4, returns 3 and 6.
static SmallVector<int64_t> nearestDivisors(int64_t batch, int64_t wanted) {
  SmallVector<int64_t> nearest;
  for (int64_t below = std::min(wanted, batch); below > 0; --below)
    if (batch % below == 0) {
      nearest.push_back(below);
      break;
    }
  for (int64_t above = wanted + 1; above <= batch; ++above)
    if (batch % above == 0) {
      nearest.push_back(above);
      break;
    }
  return nearest;
}

namespace {
/// Stores the index of one dim, such as the batch dim, for each input of a
/// function. The stored dim is called the marked dim of the input. An input may
/// have no marked dim. set() marks a dim of one input. spread() then marks the
/// dim of each other input that has the same symbolic name in the ONNX file,
/// such as "batch". If the dim has no symbolic name, spread() marks the dim
/// with the same index and the same size.
class DimMarks {
public:
  explicit DimMarks(func::FuncOp function) : function(function) {}

  void set(unsigned input, int64_t dim) { dims[input] = dim; }
  bool has(unsigned input) const { return dims.count(input); }
  /// Returns the size of the marked dim of function input number `input`. The
  /// marked dim of an input is the dim that set() or spread() has stored for
  /// the input. For example, if dim 0 of the input x[8, 4] is marked, the
  /// function returns 8. The input must have a marked dim.
  int64_t size(unsigned input) {
    return shapeOf(function.getArgument(input))[dims.at(input)];
  }

  /// Marks a dim of each other input that has no marked dim yet. Let d be the
  /// marked dim of input number `input`. If d has a symbolic name, such as
  /// "batch", marks the first dim with this name. If d has no name, marks the
  /// dim with the index of d if it has the size of d.
  void spread(unsigned input) {
    int64_t dim = dims.at(input);
    StringRef symbol = symbolOf(function, input, dim);
    for (unsigned other = 0; other < function.getNumArguments(); ++other)
      if (auto like = symbol.empty() ? sameSize(other, dim, size(input))
                                     : sameSymbol(other, symbol);
          like && !has(other))
        set(other, *like);
  }

  /// Writes the index of each marked dim to the IR. `attribute` is the name of
  /// an argument attribute. If dim 1 of an input is marked, the function sets
  /// this attribute of the input to 1. If an input has no marked dim, the
  /// function removes the attribute.
  void write(StringRef attribute) {
    auto type = IntegerType::get(function.getContext(), 64);
    graph::SignatureAttrs attributes(function);
    for (unsigned input = 0; input < function.getNumArguments(); ++input)
      attributes.removeArg(input, attribute);
    for (auto [input, dim] : dims)
      attributes.setArg(input, attribute, IntegerAttr::get(type, dim));
    attributes.write();
  }

  /// Maps the index of a function input to the index of the marked dim of the
  /// input. The marked dim of an input is the dim that set() or spread() has
  /// stored for the input, for example the batch dim. If an input has no
  /// marked dim, the map has no entry for the input.
  std::map<unsigned, int64_t> dims;

private:
  /// Returns the first dim of `input` with the symbolic name `symbol`, such as
  /// "batch". Returns nullopt if there is none.
  std::optional<int64_t> sameSymbol(unsigned input, StringRef symbol) {
    auto shape = shapeOf(function.getArgument(input));
    for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
      if (symbolOf(function, input, dim) == symbol)
        return dim;
    return {};
  }

  /// Returns `dim` if function input number `input` has a dim with the index
  /// `dim`, and this dim has the size `wanted`. Otherwise returns nullopt.
  std::optional<int64_t> sameSize(unsigned input, int64_t dim, int64_t wanted) {
    auto shape = shapeOf(function.getArgument(input));
    if (dim < static_cast<int64_t>(shape.size()) && shape[dim] == wanted)
      return dim;
    return {};
  }

  func::FuncOp function;
};

/// Finds the batch dim and the sequence dim of each input of one function. In
/// ids[8, 128], dim 0 counts samples, and dim 1 counts tokens. --batch-dim
/// names batch dims. The default is dim 0 of the first input. All batch dims
/// must have the same size. The number of microbatches must divide this size.
class BatchMarking {
public:
  BatchMarking(ModuleOp module, func::FuncOp function)
      : module(module), function(function), batch(function) {}

  LogicalResult run() {
    if (failed(readOverrides()))
      return failure();
    if (batch.dims.empty() && hasDim(0, 0))
      batch.set(0, 0);
    if (!batch.dims.empty())
      batch.spread(batch.dims.begin()->first);
    if (failed(checkSizes()) || failed(checkMicrobatches()))
      return failure();
    batch.write(graph::batchDimName);
    markSequence();
    return success();
  }

  /// Returns the number of function inputs in which run() has found a batch
  /// dim.
  int64_t numMarked() const { return static_cast<int64_t>(batch.dims.size()); }

private:
  /// Returns whether input number `input` exists and has a dim with index
  /// `dim`.
  bool hasDim(unsigned input, int64_t dim) {
    return input < function.getNumArguments() && dim >= 0 &&
           dim < static_cast<int64_t>(
                     shapeOf(function.getArgument(input)).size());
  }

  /// Marks the batch dims that the user names with --batch-dim.
  LogicalResult readOverrides() {
    auto overrides = module->getAttrOfType<ArrayAttr>(graph::batchDimsName);
    for (Attribute text :
         overrides ? overrides.getValue() : ArrayRef<Attribute>())
      if (failed(readOverride(cast<StringAttr>(text).getValue())))
        return failure();
    return success();
  }

  /// Marks the batch dim that `text`, of the form "NAME=K", describes: dim K of
  /// the input NAME. Emits an error if there is no such dim.
  LogicalResult readOverride(StringRef text) {
    auto [name, number] = text.rsplit('=');
    int64_t dim;
    if (number.getAsInteger(10, dim))
      return module.emitError("batch dim '")
             << text << "' is not of the form NAME=K";
    for (unsigned input = 0; input < function.getNumArguments(); ++input) {
      if (inputName(function, input) != name)
        continue;
      if (!hasDim(input, dim))
        return module.emitError("input '")
               << name << "' of " << function.getArgument(input).getType()
               << " has no dim " << dim;
      batch.set(input, dim);
      return success();
    }
    return module.emitError("no input is named '") << name << "'";
  }

  /// Checks that the batch dims of all inputs have the same size. Emits an
  /// error if not.
  LogicalResult checkSizes() {
    for (auto [input, dim] : batch.dims) {
      unsigned first = batch.dims.begin()->first;
      if (batch.size(input) != batch.size(first))
        return module.emitError("input '")
               << inputName(function, input) << "' has a batch of "
               << batch.size(input) << ", but input '"
               << inputName(function, first) << "' has " << batch.size(first);
    }
    return success();
  }

  /// Checks that the number of microbatches divides the batch size. If the
  /// number does not divide the batch size, emits an error. The error suggests
  /// other numbers: the nearest smaller and the nearest larger divisor of the
  /// batch size. For example, for 4 microbatches and a batch size of 6, the
  /// error suggests 3 and 6.
  LogicalResult checkMicrobatches() {
    auto attribute = module->getAttrOfType<IntegerAttr>(pipe::microbatchesName);
    int64_t count = attribute ? attribute.getInt() : 1;
    if (count == 1)
      return success();
    if (batch.dims.empty())
      return module.emitError("the model has no batch to split into ")
             << counted(count, "microbatch");
    int64_t size = batch.size(batch.dims.begin()->first);
    if (count > 0 && size % count == 0)
      return success();
    InFlightDiagnostic error = module.emitError()
                               << counted(count, "microbatch")
                               << " do not divide the batch of " << size;
    SmallVector<int64_t> nearest = nearestDivisors(size, count);
    if (!nearest.empty())
      error.attachNote() << listOf(nearest)
                         << (nearest.size() == 1 ? " does" : " do");
    auto [input, dim] = *batch.dims.begin();
    error.attachNote() << "the batch is dim " << dim << " of input '"
                       << inputName(function, input)
                       << "'; --batch-dim NAME=K names another";
    return error;
  }

  /// Stores the sequence dim of each input in an attribute. In the first input,
  /// dim 1 is the sequence dim if it has a symbolic name, or if the input holds
  /// integers, such as token ids. In the other inputs, DimMarks::spread() finds
  /// the sequence dim. A batch dim is never a sequence dim.
  void markSequence() {
    DimMarks sequence(function);
    if (hasDim(0, 1) &&
        (!symbolOf(function, 0, 1).empty() ||
         isa<IntegerType>(elementTypeOf(function.getArgument(0))))) {
      sequence.set(0, 1);
      sequence.spread(0);
    }
    for (auto [input, dim] : batch.dims)
      if (sequence.has(input) && sequence.dims.at(input) == dim)
        sequence.dims.erase(input);
    sequence.write(graph::sequenceDimName);
  }

  ModuleOp module;
  func::FuncOp function;
  DimMarks batch;
};

/// Pass `--mark-batch`: finds the batch dim and the sequence dim of each input,
/// and stores their indices as attributes of the input.
struct MarkBatch : pcc::prepare::impl::MarkBatchBase<MarkBatch> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      BatchMarking marking(getOperation(), function);
      if (failed(marking.run()))
        return signalPassFailure();
      numMarked += marking.numMarked();
      LDBG() << marking.numMarked() << " inputs have the batch";
    }
  }
};
} // namespace
