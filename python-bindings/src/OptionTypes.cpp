//===- OptionTypes.cpp - Python types of command line options -------------===//

#include "python-bindings/src/OptionTypes.h"
#include "passes/options/OptionTable.h"

using namespace pcc;
using namespace pcc::python;

/// Returns the type whose only values are `words`: Literal["cpu", "cuda"].
template <typename Words> static std::string literalOf(const Words &words) {
  std::string type;
  for (const auto &word : words)
    type += (type.empty() ? "Literal[\"" : ", \"") + std::string(word) + "\"";
  return type + "]";
}

namespace {
/// Visitor of an OptionValue that returns the type of its keyword.
struct TypeName {
  const OptionRow &row;

  std::string operator()(const FlagValue &) const { return "bool"; }
  std::string operator()(const TextValue &) const {
    if (!row.words.empty() && !row.isOpen)
      return literalOf(row.words);
    return row.check ? "str | float" : "Text";
  }
  std::string operator()(const TextsValue &) const {
    return row.words.empty() || row.isOpen
               ? "Texts"
               : "OneOrMore[" + literalOf(row.words) + "]";
  }
  std::string operator()(const NumberValue<double> &) const { return "float"; }
  std::string operator()(const NumberValue<int64_t> &) const { return "int"; }
  std::string operator()(const NumberValue<uint64_t> &) const { return "int"; }
  std::string operator()(const AxisSizeValue &) const { return "int"; }
  std::string operator()(const ByteSizeValue &) const { return "int | str"; }
  std::string operator()(const PhaseValue &) const { return "int | str"; }
  std::string operator()(const PairValue &) const { return "Sequence[float]"; }
  std::string operator()(const SizesValue &) const {
    return "Mapping[str, int] | OneOrMore[str]";
  }
  std::string operator()(const ShapesValue &) const {
    return "Mapping[str, Sequence[int]] | OneOrMore[str]";
  }
  std::string operator()(const AxesValue &) const {
    return "Mapping[str, int] | OneOrMore[str]";
  }
  std::string operator()(const FileTextValue &) const { return "Text"; }
  std::string operator()(const WordFlagValue &) const {
    return literalOf(row.words);
  }
};
} // namespace

/// Returns whether `command` takes the options that the table declares for
/// `commands`.
static bool takes(const std::string &command, OptionCommands commands) {
  if (command == "explain")
    return commands != OptionCommands::Compile;
  return command == "compile" ||
         (command == "verify" && commands == OptionCommands::All);
}

/// Returns the row of the table that declares the option `name` of a command;
/// null if the command has an option of its own.
static const OptionRow *rowOf(const std::string &name,
                              const std::string &command) {
  for (const OptionRow &row : optionTable())
    if (std::string(row.name).ends_with("--" + name) &&
        takes(command, row.commands))
      return &row;
  return nullptr;
}

/// An option that no row declares has the type that --help names, such as
/// "INT:POSITIVE", "SEED" or "TEXT:{u16,u32}".
std::string python::typeOf(const CLI::Option &option,
                           const std::string &command) {
  if (const OptionRow *row = rowOf(option.get_lnames().front(), command))
    return std::visit(TypeName{*row}, row->value);
  const std::string name = option.get_type_name();
  if (option.get_items_expected_max() == 0)
    return "bool";
  if (option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll)
    return "Texts";
  if (const size_t begin = name.find('{'); begin != std::string::npos)
    return literalOf(CLI::detail::split(
        name.substr(begin + 1, name.find('}') - begin - 1), ','));
  if (name.find("FLOAT") != std::string::npos)
    return "float";
  const bool isInt = name.find("INT") != std::string::npos || name == "SEED";
  return isInt ? "int" : "Text";
}
