//===- AddLoss.cpp - loss of a training step as the only result -----------===//

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/StepParts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/2-prepare/Passes.h"
#include "passes/2-prepare/match/Pins.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "passes/2-prepare/training/Losses.h"
#include "passes/2-prepare/training/TrainingRequest.h"
#include "status/Suggestions.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "add-loss"

namespace pcc::prepare {
#define GEN_PASS_DEF_ADDLOSS
#include "passes/2-prepare/Passes.h.inc"
} // namespace pcc::prepare

using namespace mlir;
using namespace pcc;
using namespace pcc::prepare;

namespace {
/// Builds the loss that the text of `--loss` describes, before the terminator
/// of @main. The text has one of two forms: the name of a model output that
/// already is the loss, or a loss function of an output and an input, such as
/// `cross_entropy(logits, labels)`.
class LossAdder {
public:
  LossAdder(func::FuncOp model, StringRef text)
      : model(model), terminator(model.front().getTerminator()), text(text),
        builder(terminator, locationOf("loss", model.getLoc())) {}

  /// Builds the loss and returns it as a scalar. On failure emits an error and
  /// returns null.
  Value build() {
    auto expression = parseLoss(text);
    if (!expression)
      return refuse(expression.status().message());
    return expression->values.empty()
               ? lossFromOutput(*expression)
               : build(*findLoss(expression->name), *expression);
  }

private:
  /// Returns a model output, reshaped to a scalar, as the loss. The caller uses
  /// the function if the text of the option --loss is only the name of an
  /// output. `expression` is the parsed text. For the text "y", the function
  /// returns the output called "y". If the model has no such output, or if the
  /// output is not a float tensor with one element, the function emits an error
  /// and returns null.
  Value lossFromOutput(const LossExpression &expression) {
    Value value = outputNamed(expression.name);
    if (!value)
      return {};
    auto type = graph::tensorType(value);
    if (!isa<FloatType>(type.getElementType()) || type.getNumElements() != 1)
      return refuse("output '" + expression.name + "' is " + textOf(type) +
                    ", not one number");
    return builder.reshape(value, {});
  }

  /// Builds the loss function `loss` and returns the loss as a scalar.
  /// `expression` names a model output and the input that holds its labels.
  /// Adds this input to @main if it is missing, and marks it with
  /// `graph.labels`. On failure, emits an error and returns null.
  Value build(const Loss &loss, const LossExpression &expression) {
    Value output = outputNamed(expression.values[0]);
    if (!output)
      return {};
    RankedTensorType wanted = loss.labelsOf(graph::tensorType(output));
    if (!wanted)
      return refuse("output '" + expression.values[0] + "' is " +
                    textOf(output.getType()) + ", which is not supported by '" +
                    loss.name + "'");
    BlockArgument labels = labelsNamed(expression.values[1], wanted);
    if (labels)
      model.setArgAttr(labels.getArgNumber(), graph::labelsName,
                       UnitAttr::get(model.getContext()));
    return labels ? loss.build(builder, output, labels, expression) : Value();
  }

  /// Returns the model output called `name`. If there is none, returns null and
  /// emits an error, which names the outputs with the most similar names.
  Value outputNamed(StringRef name) {
    std::vector<std::string> known;
    for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
      auto own = model.getResultAttrOfType<StringAttr>(i, graph::nameName);
      if (own && own.getValue() == name)
        return value;
      if (own)
        known.push_back(own.str());
    }
    return refuse("no output is called '" + name + "'" +
                  nearestOf(name.str(), known));
  }

  /// Returns the model input called `name`. If there is none, appends an input
  /// of type `wanted` with this name. If the existing input has another type,
  /// or if another value has the name, emits an error and returns null.
  BlockArgument labelsNamed(StringRef name, RankedTensorType wanted) {
    for (BlockArgument argument : model.getArguments()) {
      auto own = model.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    graph::nameName);
      if (!own || own.getValue() != name)
        continue;
      if (argument.getType() != wanted)
        return refuse("input '" + name + "' is " + textOf(argument.getType()) +
                      ", labels of this loss are " + textOf(wanted)),
               BlockArgument();
      return argument;
    }
    if (std::string other = kindOfValue(name); !other.empty())
      return refuse("labels have to be an input, but '" + name + "' is " +
                    other + "; another name becomes a new input"),
             BlockArgument();
    const unsigned last = model.getNumArguments();
    NamedAttrList attributes;
    attributes.append(graph::nameName, builder.getStringAttr(name));
    if (ArrayAttr symbols = symbolsOf(wanted))
      attributes.append(graph::dimsName, symbols);
    (void)model.insertArgument(last, wanted,
                               attributes.getDictionary(model.getContext()),
                               model.getLoc());
    return model.getArgument(last);
  }

  /// Returns in words which value other than an input is called `name`, such as
  /// "a weight". Returns an empty text if there is none.
  std::string kindOfValue(StringRef name) {
    const auto isNamed = [&](Attribute attribute) {
      auto own = dyn_cast_or_null<StringAttr>(attribute);
      return own && own.getValue() == name;
    };
    for (unsigned i = 0; i < model.getNumResults(); ++i)
      if (isNamed(model.getResultAttr(i, graph::nameName)))
        return "an output";
    auto module = model->getParentOfType<ModuleOp>();
    if (module.lookupSymbol<graph::ParameterOp>(name))
      return "a weight";
    return llvm::any_of(model.front(),
                        [&](Operation &op) {
                          return isNamed(op.getAttr(graph::nameName));
                        })
               ? "a value that the model computes"
               : "";
  }

  /// Returns symbolic names, such as "batch", for the dims of a new input of
  /// type `labels`. If dim i of the new input has the same size as dim i of the
  /// first input of @main, it gets the name of that dim. Otherwise its name is
  /// "". Returns null if @main has no input, or if its first input has no dim
  /// names.
  ArrayAttr symbolsOf(RankedTensorType labels) {
    auto known = model.getNumArguments() == 0
                     ? ArrayAttr()
                     : model.getArgAttrOfType<ArrayAttr>(0, graph::dimsName);
    if (!known)
      return {};
    auto first = graph::tensorType(model.getArgument(0));
    SmallVector<Attribute> symbols(labels.getRank(), builder.getStringAttr(""));
    for (size_t dim = 0; dim < symbols.size() && dim < known.size(); ++dim)
      if (labels.getDimSize(dim) == first.getDimSize(dim))
        symbols[dim] = known[dim];
    return builder.getArrayAttr(symbols);
  }

  /// Returns `type` in the syntax of MLIR.
  static std::string textOf(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  /// Emits an error about the text of `--loss`; `claim` is the reason. Always
  /// returns null.
  Value refuse(const Twine &claim) {
    emitError(UnknownLoc::get(model.getContext()))
        << "cannot train on --loss '" << text << "': " << claim;
    return {};
  }

  func::FuncOp model;
  Operation *terminator;
  StringRef text;
  ArithmeticBuilder builder;
};

/// Pass `--add-loss`: makes the loss of a training step the only result of
/// @main.
struct AddLoss : pcc::prepare::impl::AddLossBase<AddLoss> {
  void runOnOperation() override {
    auto request = TrainingRequest::of(getOperation());
    auto model = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!request || !model)
      return;
    // The user may omit --loss if the ONNX file contains a training step
    // (TrainingInfo). Phase 1-import has then made the loss the only result of
    // @main. Use the name of this result.
    StringRef text = request->text("loss");
    if (text.empty() && graph::isTraining(model.front()))
      text =
          model.getResultAttrOfType<StringAttr>(0, graph::nameName).getValue();
    Value loss = LossAdder(model, text).build();
    if (!loss)
      return signalPassFailure();
    returnOnly(model, loss);
    LDBG() << "trains on " << loss;
  }

  /// Gives each op that computes an output of @main the name of this output.
  /// For example, after the removal of the output "y", an option such as
  /// `--shard y=[tp,-]` can still find the op by the name "y". Constants,
  /// weights and ops that --shard already names keep their names.
  static void keepNames(func::FuncOp model) {
    Pins pins(model);
    for (auto [i, value] :
         llvm::enumerate(model.front().getTerminator()->getOperands())) {
      Operation *op = value.getDefiningOp();
      Attribute name = model.getResultAttr(i, graph::nameName);
      if (op && name && op->getNumResults() == 1 &&
          !op->hasTrait<graph::IsStored>() && !isa<dist::PinOp>(op) &&
          !op->hasAttr(graph::pinnedName))
        op->setAttr(graph::nameName, name);
    }
  }

  /// Makes `loss` the only result of @main and removes all other results. Some
  /// ops then have no users, because they only computed a removed result. The
  /// function does not erase these ops. The pass simplify-graph erases them
  /// later.
  static void returnOnly(func::FuncOp model, Value loss) {
    keepNames(model);
    model.front().getTerminator()->setOperands(loss);
    model.setType(FunctionType::get(
        model.getContext(), model.front().getArgumentTypes(), loss.getType()));
    DictionaryAttr named =
        onlyAttr(graph::nameName, StringAttr::get(model.getContext(), "loss"));
    model.setAllResultAttrs(ArrayRef(named));
  }
};
} // namespace
