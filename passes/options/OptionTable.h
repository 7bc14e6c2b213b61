//===- OptionTable.h - table of the options of compile, verify, explain ---===//
//
// Each option is declared once, as a row of the table. The rows are the source
// of the command line and its --help (tools/pcc/OptionsCli.h), of the text form
// of options (OptionText.h), of the attributes that phases read
// (OptionAttrs.h), and of the keywords of the Python package.
//
// Plain C++ without MLIR, as passes/Compile.h.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_OPTIONS_OPTIONTABLE_H
#define PCC_PASSES_OPTIONS_OPTIONTABLE_H

#include "passes/Options.h"

#include <span>
#include <string_view>
#include <variant>

namespace pcc {

/// Destination of an option's value: a pointer to a member of CompileOptions,
/// or to a member of the TrainingOptions inside it.
template <typename Value> class OptionMember {
public:
  constexpr OptionMember(Value CompileOptions::*member) : ofCompile(member) {}
  constexpr OptionMember(Value TrainingOptions::*member) : ofTraining(member) {}

  /// Returns the member's value in `options`.
  Value &in(CompileOptions &options) const {
    return ofCompile ? options.*ofCompile : options.training.*ofTraining;
  }
  const Value &in(const CompileOptions &options) const {
    return ofCompile ? options.*ofCompile : options.training.*ofTraining;
  }

private:
  Value CompileOptions::*ofCompile = nullptr;
  Value TrainingOptions::*ofTraining = nullptr;
};

/// The size of the axis `name`, which is an entry of CompileOptions::axes.
struct AxisSizeValue {
  const char *name;
};

/// A number of bytes with a unit, such as "80GiB".
struct ByteSizeValue {
  std::optional<int64_t> CompileOptions::*member;
};

/// Path of a file whose text is read along with the command line.
struct FileTextValue {
  std::string CompileOptions::*path, CompileOptions::*text;
};

/// A flag that is set by the only allowed value of an option, as `--emit onnx`
/// sets CompileOptions::emitsOnnx.
struct WordFlagValue {
  bool CompileOptions::*member;
};

/// Value of a flag.
using FlagValue = OptionMember<bool>;
/// Value that is kept as it was typed.
using TextValue = OptionMember<std::string>;
/// Number that may be absent.
template <typename Number>
using NumberValue = OptionMember<std::optional<Number>>;
/// Phase by number or name.
using PhaseValue = OptionMember<std::optional<Phase>>;
/// Value that is a list of texts. The user repeats the option once per text or,
/// if the option has a separator, writes several texts in one argument.
using TextsValue = OptionMember<std::vector<std::string>>;
/// Two numbers.
using PairValue = OptionMember<std::vector<double>>;
/// Value that consists of sizes by name, such as batch=8.
using SizesValue = OptionMember<std::map<std::string, int64_t>>;
/// Value that consists of shapes by name, such as ids=8x32.
using ShapesValue = OptionMember<std::map<std::string, std::vector<int64_t>>>;
/// Value that consists of mesh axes with their sizes, in the order in which the
/// user gives them, such as a=2,b=4.
using AxesValue = OptionMember<std::vector<std::pair<std::string, int64_t>>>;

/// Destination and type of the value of an option. The type decides how the
/// command line is parsed, and how the value is written as text and as an
/// attribute.
using OptionValue =
    std::variant<FlagValue, TextValue, NumberValue<int64_t>,
                 NumberValue<uint64_t>, NumberValue<double>, PhaseValue,
                 TextsValue, PairValue, SizesValue, ShapesValue, AxesValue,
                 AxisSizeValue, ByteSizeValue, FileTextValue, WordFlagValue>;

/// Limits of a number.
enum class OptionBounds { None, Positive, NonNegative, ZeroToOne };

/// Commands that take an option.
enum class OptionCommands { All, CompileAndExplain, Compile };

/// Headings of --help. Options without a heading have an empty group.
inline constexpr char modelGroup[] = "Model";
inline constexpr char parallelismGroup[] = "Parallelism";
inline constexpr char trainingGroup[] = "Training";
inline constexpr char targetGroup[] = "Target";
inline constexpr char phasesGroup[] = "Phases";

/// Declaration of one option.
struct OptionRow {
  /// Names on the command line, such as "--tp" or "-o,--output"; without
  /// hyphens for a positional argument, which is required.
  const char *name;
  /// Heading of the option in --help.
  const char *group = "";
  /// Description in --help and in the Python package.
  const char *help;
  /// Destination and type of the value.
  OptionValue value;
  /// Name of the value in --help; null for the name of its type.
  const char *metavar = nullptr;
  /// Allowed values; empty if there is no such list.
  std::span<const char *const> words = {};
  /// Whether --help lists the allowed values `words` beside the option's name.
  /// If false, the help text itself names them.
  bool listsWords = true;
  /// Limits of a number.
  OptionBounds bounds = OptionBounds::None;
  /// Returns an error if a text has the wrong form, else an empty string. Null
  /// if every text is valid.
  std::string (*check)(const std::string &text) = nullptr;
  /// Character that separates several values in one argument; '\0' if there is
  /// none. Without a separator, each use of the option has one value, and only
  /// lists may be given repeatedly.
  char separator = '\0';
  /// Commands that take the option.
  OptionCommands commands = OptionCommands::All;
  /// Whether the option shapes the result of a compilation, and is therefore
  /// recorded in dumps (`pcc.options`).
  bool shapesResult = true;
  /// Attribute of the module that holds the value for the phases; null if there
  /// is none, or if the attribute depends on more than the value.
  const char *attribute = nullptr;
  /// Entry of the module attribute `graph.training` that holds the value; null
  /// if there is none.
  const char *trainingEntry = nullptr;
};

/// Returns all rows, in the order of --help.
std::span<const OptionRow> optionTable();

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_OPTIONTABLE_H
