//===- BindInputs.cpp - sizes for the dynamic dims of the inputs ----------===//

#include "passes/1-import/build/BindInputs.h"
#include "passes/1-import/onnx/model/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <set>

namespace pcc::onnx_import {

using llvm::StringRef;
using llvm::Twine;

/// Lists the three entries of `names` with the smallest edit distance to
/// `word`, as a hint for a misspelled option; "none" if there are no names.
static std::string nearest(StringRef word, const std::set<std::string> &names) {
  std::vector<std::pair<unsigned, std::string>> ranked;
  for (const std::string &name : names)
    ranked.emplace_back(word.edit_distance(name), name);
  llvm::sort(ranked);
  std::string text;
  for (auto &[distance, name] : llvm::ArrayRef(ranked).take_front(3))
    text += (text.empty() ? "" : ", ") + onnx::quoted(name);
  return text.empty() ? "none" : text;
}

namespace {
/// Implements bindInputs. `binding` starts with the inputs alone. bindShapes
/// fills in the shapes that --shape gives, and bindDims all other shapes.
class InputBinder {
public:
  InputBinder(const onnx::Graph &graph, const ImportOptions &options,
              ImportError &error)
      : options(options), error(error) {
    std::set<std::string_view> weights;
    for (const onnx::Tensor &tensor : graph.initializers)
      weights.insert(tensor.name);
    for (const onnx::ValueInfo &info : graph.inputs)
      if (!weights.count(info.name))
        binding.inputs.push_back({&info, {}, {}});
  }

  std::optional<InputBinding> run() {
    if (!checkTypes() || !checkNames() || !bindShapes() || !bindDims())
      return std::nullopt;
    return std::move(binding);
  }

private:
  bool fail(int exitCode, const Twine &message) {
    error.exitCode = exitCode;
    error.message = message.str();
    return false;
  }

  static std::string nameOf(const BoundInput &input) {
    return std::string(input.info->name);
  }

  /// Checks that all inputs are tensors, and that an input without a declared
  /// shape has a --shape.
  bool checkTypes() {
    for (const BoundInput &input : binding.inputs) {
      const onnx::Type &type = input.info->type;
      if (type.kind != onnx::TypeKind::Tensor)
        return fail(4, "input " + onnx::quoted(input.info->name) +
                           " is not a tensor");
      if (!type.shape && !options.shapes.count(nameOf(input)))
        return fail(5, "input " + onnx::quoted(input.info->name) +
                           " has no shape; give it one with --shape " +
                           nameOf(input) + "=8x32");
    }
    return true;
  }

  /// Checks that every --dim names a dynamic dim and every --shape names an
  /// input.
  bool checkNames() {
    std::set<std::string> inputs, params;
    for (const BoundInput &input : binding.inputs) {
      inputs.insert(nameOf(input));
      for (const onnx::Dim &dim : dimsOf(input))
        if (!dim.value && !dim.param.empty())
          params.insert(std::string(dim.param));
    }
    for (auto &[name, size] : options.dims) {
      if (!params.count(name))
        return fail(2, "--dim " + name + "=" + Twine(size) +
                           " names no dynamic dim of the model; nearest: " +
                           nearest(name, params));
      if (size < 1)
        return fail(2, "--dim " + name + "=" + Twine(size) +
                           " is not a positive size");
    }
    for (auto &[name, shape] : options.shapes)
      if (!inputs.count(name))
        return fail(2, "--shape " + name +
                           " names no input of the model; nearest: " +
                           nearest(name, inputs));
    return true;
  }

  /// Returns the declared dims of `input`, or no dims if its rank is unknown.
  static llvm::ArrayRef<onnx::Dim> dimsOf(const BoundInput &input) {
    const auto &shape = input.info->type.shape;
    return shape ? llvm::ArrayRef(*shape) : llvm::ArrayRef<onnx::Dim>();
  }

  /// Applies --dim and --shape. A shape from --shape also binds the names of
  /// the dims of its input.
  bool bindShapes() {
    binding.dims.insert(options.dims.begin(), options.dims.end());
    for (BoundInput &input : binding.inputs) {
      auto given = options.shapes.find(nameOf(input));
      if (given == options.shapes.end())
        continue;
      input.shape = given->second;
      if (!input.info->type.shape) {
        input.names.resize(input.shape.size());
        continue;
      }
      if (!bindShape(input))
        return false;
    }
    return true;
  }

  /// Checks the shape that --shape gives for `input` against the declared dims,
  /// and binds the names of its dynamic dims.
  bool bindShape(const BoundInput &input) {
    llvm::ArrayRef<onnx::Dim> dims = dimsOf(input);
    if (dims.size() != input.shape.size())
      return fail(5, "--shape " + nameOf(input) + " has " +
                         Twine(input.shape.size()) + " dims, the input has " +
                         Twine(dims.size()));
    for (auto [i, dim] : llvm::enumerate(dims)) {
      int64_t size = input.shape[i];
      if (size < 0)
        return fail(2, "--shape " + nameOf(input) + " has a negative dim");
      int64_t other = size;
      if (dim.value)
        other = *dim.value;
      else if (!dim.param.empty())
        other = binding.dims.try_emplace(std::string(dim.param), size)
                    .first->second;
      if (other != size)
        return fail(
            5, "--shape " + nameOf(input) + " gives dim " + Twine(i) +
                   (dim.param.empty() ? std::string()
                                      : " (" + std::string(dim.param) + ")") +
                   " size " + Twine(size) + ", but it is " + Twine(other));
    }
    return true;
  }

  /// Fills in the dim names of all inputs, and the shapes of the inputs without
  /// a --shape. All unbound dims are reported in one error.
  bool bindDims() {
    std::set<std::string> unboundDims, unboundInputs;
    for (BoundInput &input : binding.inputs) {
      bool whole = options.shapes.count(nameOf(input));
      for (const onnx::Dim &dim : dimsOf(input)) {
        std::string param(dim.value ? "" : dim.param);
        input.names.push_back(param);
        if (whole)
          continue;
        auto bound = binding.dims.find(param);
        if (dim.value)
          input.shape.push_back(*dim.value);
        else if (bound != binding.dims.end())
          input.shape.push_back(bound->second);
        else if (param.empty())
          unboundInputs.insert(nameOf(input));
        else
          unboundDims.insert(param);
      }
    }
    if (unboundDims.empty() && unboundInputs.empty())
      return true;
    return failUnbound(unboundDims, unboundInputs);
  }

  /// Returns a plausible size of the dim `name` for the example command.
  static int64_t exampleSize(StringRef name) {
    std::string lower = name.lower();
    if (StringRef(lower).contains("seq") || StringRef(lower).contains("len"))
      return 128;
    return StringRef(lower).contains("batch") ? 8 : 1;
  }

  /// Returns whether a shell would interpret a character of `text`.
  static bool needsQuotes(StringRef text) {
    return !llvm::all_of(text, [](char c) {
      return llvm::isAlnum(c) || StringRef("_-./=").contains(c);
    });
  }

  /// Formats an option of the example command, with quotes where needed.
  static std::string option(StringRef flag, const std::string &value) {
    std::string shown = needsQuotes(value) ? "'" + value + "'" : value;
    return (" --" + flag + " " + shown).str();
  }

  /// Reports the unbound dims. A note shows the user's command with example
  /// sizes for them. `unboundInputs` holds the inputs with dims that have
  /// neither a size nor a name, so that only --shape can bind them.
  bool failUnbound(const std::set<std::string> &unboundDims,
                   const std::set<std::string> &unboundInputs) {
    std::string names,
        command = options.command.empty() ? "pcc MODEL" : options.command;
    for (auto &[name, size] : options.dims)
      command += option("dim", name + "=" + std::to_string(size));
    for (const std::string &name : unboundDims) {
      names += (names.empty() ? "" : ", ") + onnx::quoted(name);
      command += option("dim", name + "=" + std::to_string(exampleSize(name)));
    }
    for (const BoundInput &input : binding.inputs) {
      if (!unboundInputs.count(nameOf(input)))
        continue;
      names += (names.empty() ? "" : ", ") +
               ("one of input " + onnx::quoted(input.info->name));
      command += option("shape", nameOf(input) + "=" + exampleShape(input));
    }
    error.notes.push_back("for example: " + command);
    return fail(5, "dynamic dims have no size: " + names +
                       "; bind them with --dim or --shape");
  }

  /// Formats an example for the --shape of `input`, such as 8x128.
  std::string exampleShape(const BoundInput &input) {
    std::string text;
    for (const onnx::Dim &dim : dimsOf(input))
      text += (text.empty() ? "" : "x") +
              std::to_string(dim.value.value_or(
                  exampleSize(StringRef(dim.param.data(), dim.param.size()))));
    return text;
  }

  const ImportOptions &options;
  ImportError &error;
  InputBinding binding;
};
} // namespace

std::optional<InputBinding> bindInputs(const onnx::Graph &graph,
                                       const ImportOptions &options,
                                       ImportError &error) {
  return InputBinder(graph, options, error).run();
}

} // namespace pcc::onnx_import
