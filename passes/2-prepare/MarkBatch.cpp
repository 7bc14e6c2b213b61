//===- MarkBatch.cpp - batch and sequence dims of inputs ------------------===//

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/SignatureAttrs.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/2-prepare/Passes.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
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

/// Returns the symbol, such as "batch", of dim `dim` of an input; empty if the
/// dim has none.
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

/// Returns, in ascending order, the largest divisor of `batch` that is at most
/// `wanted`, and the smallest divisor that is larger than `wanted`. A divisor
/// that does not exist is left out.
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
/// Marks of one kind of dim, such as the batch dim, on a function's inputs. An
/// input has at most one marked dim. `spread` copies the mark of one input to
/// the corresponding dims of other inputs. Dims correspond if they have the
/// same symbol:
///
///   x[batch, 4] with a mark on dim 0, y[4, batch]  ->  mark on dim 1 of y
///
/// If the marked dim has no symbol, dims with the same index and size
/// correspond.
class DimMarks {
public:
  explicit DimMarks(func::FuncOp function) : function(function) {}

  void set(unsigned input, int64_t dim) { dims[input] = dim; }
  bool has(unsigned input) const { return dims.count(input); }
  /// Returns the size of the marked dim of `input`, which must have a mark.
  int64_t size(unsigned input) {
    return shapeOf(function.getArgument(input))[dims.at(input)];
  }

  /// Copies the mark of `input` to the corresponding dim of each input without
  /// a mark. Inputs without a corresponding dim get no mark.
  void spread(unsigned input) {
    int64_t dim = dims.at(input);
    StringRef symbol = symbolOf(function, input, dim);
    for (unsigned other = 0; other < function.getNumArguments(); ++other)
      if (auto like = symbol.empty() ? sameSize(other, dim, size(input))
                                     : sameSymbol(other, symbol);
          like && !has(other))
        set(other, *like);
  }

  /// Sets the argument attribute `attribute` of each marked input to the index
  /// of its marked dim, and removes the attribute from all other inputs.
  void write(StringRef attribute) {
    auto type = IntegerType::get(function.getContext(), 64);
    graph::SignatureAttrs attributes(function);
    for (unsigned input = 0; input < function.getNumArguments(); ++input)
      attributes.removeArg(input, attribute);
    for (auto [input, dim] : dims)
      attributes.setArg(input, attribute, IntegerAttr::get(type, dim));
    attributes.write();
  }

  /// Index of the marked dim, by the index of the input.
  std::map<unsigned, int64_t> dims;

private:
  /// Returns the first dim of `input` that has the symbol `symbol`; nothing if
  /// there is none.
  std::optional<int64_t> sameSymbol(unsigned input, StringRef symbol) {
    auto shape = shapeOf(function.getArgument(input));
    for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
      if (symbolOf(function, input, dim) == symbol)
        return dim;
    return {};
  }

  /// Returns `dim` if dim `dim` of `input` exists and has size `wanted`, else
  /// nothing.
  std::optional<int64_t> sameSize(unsigned input, int64_t dim, int64_t wanted) {
    auto shape = shapeOf(function.getArgument(input));
    if (dim < static_cast<int64_t>(shape.size()) && shape[dim] == wanted)
      return dim;
    return {};
  }

  func::FuncOp function;
};

/// Finds the batch dim of each input of one function in these steps:
///
///   1. mark the dims that --batch-dim options name; without these options, dim
///      0 of the first input
///   2. copy the mark of the first marked input to inputs without a mark
///   3. check that all marked dims have the same size, and that the number of
///      microbatches divides this size
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

  /// Returns the number of inputs with a batch dim.
  int64_t numMarked() const { return static_cast<int64_t>(batch.dims.size()); }

private:
  /// Returns whether the function has an input with index `input`, and whether
  /// that input has a dim with index `dim`.
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

  /// Checks that all marked batch dims have the same size. Emits an error if
  /// not.
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

  /// Checks that the batch size is divisible by the number of microbatches. If
  /// not, emits an error that suggests the nearest divisors.
  LogicalResult checkMicrobatches() {
    auto attribute = module->getAttrOfType<IntegerAttr>(pipe::microbatchesName);
    int64_t count = attribute ? attribute.getInt() : 1;
    if (count == 1)
      return success();
    if (batch.dims.empty())
      return module.emitError("the model has no batch to split into ")
             << count << " microbatches";
    int64_t size = batch.size(batch.dims.begin()->first);
    if (count > 0 && size % count == 0)
      return success();
    InFlightDiagnostic error = module.emitError()
                               << count
                               << " microbatches do not divide the batch of "
                               << size;
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

  /// Marks dim 1 of the first input as a sequence dim if it has a symbol or if
  /// the input holds integers (token ids). Then marks the corresponding dims of
  /// the other inputs. A dim that is marked as the batch is left out.
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

/// Pass `--mark-batch`: marks the batch and sequence dims of all inputs.
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
