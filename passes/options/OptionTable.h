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

/// Destination of the value of --tp, --pp and similar options: the size of the
/// mesh axis `name`, an entry of CompileOptions::axes.
struct AxisSizeValue {
  const char *name;
};

/// Destination of a number of bytes, which the user may write with a unit, such
/// as "80GiB".
struct ByteSizeValue {
  std::optional<int64_t> CompileOptions::*member;
};

/// Destinations of a file's path and of the file's text. The parser of the
/// command line reads the file.
struct FileTextValue {
  std::string CompileOptions::*path, CompileOptions::*text;
};

/// Destination of an option that has one allowed value and is stored as a flag.
/// For example, `--emit onnx` sets CompileOptions::emitsOnnx.
struct WordFlagValue {
  bool CompileOptions::*member;
};

/// Destination of a flag, such as --train.
using FlagValue = OptionMember<bool>;
/// Destination of a text that is stored as the user typed it.
using TextValue = OptionMember<std::string>;
/// Destination of a number; nullopt if the user does not give the option.
template <typename Number>
using NumberValue = OptionMember<std::optional<Number>>;
/// Destination of a phase, which the user gives by number or name, such as `4`
/// or `shard`.
using PhaseValue = OptionMember<std::optional<Phase>>;
/// Destination of a list of texts. The user repeats the option once per text
/// or, if the option has a separator, writes several texts in one argument.
using TextsValue = OptionMember<std::vector<std::string>>;
/// Destination of two numbers, such as those of --betas.
using PairValue = OptionMember<std::vector<double>>;
/// Destination of sizes by name, such as batch=8.
using SizesValue = OptionMember<std::map<std::string, int64_t>>;
/// Destination of shapes by name, such as ids=8x32.
using ShapesValue = OptionMember<std::map<std::string, std::vector<int64_t>>>;
/// Destination of mesh axes with their sizes, in the order in which the user
/// gives them, such as a=2,b=4.
using AxesValue = OptionMember<std::vector<std::pair<std::string, int64_t>>>;

/// Destination and type of the value of an option. The type decides how the
/// command line is parsed, and how the value is written as text and as an
/// attribute.
using OptionValue =
    std::variant<FlagValue, TextValue, NumberValue<int64_t>,
                 NumberValue<uint64_t>, NumberValue<double>, PhaseValue,
                 TextsValue, PairValue, SizesValue, ShapesValue, AxesValue,
                 AxisSizeValue, ByteSizeValue, FileTextValue, WordFlagValue>;

/// Range in which the number of an option must lie. `None` allows every number,
/// and `ZeroToOne` includes 0 and 1.
enum class OptionBounds { None, Positive, NonNegative, ZeroToOne };

/// Commands that have an option. `All` means compile, explain and verify.
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
  /// Placeholder of the value in --help, such as "FILE.svg"; null for the
  /// default placeholder of the value's type.
  const char *metavar = nullptr;
  /// Allowed values of the option; empty if the option has no fixed list of
  /// values.
  std::span<const char *const> words = {};
  /// Whether --help lists the allowed values `words` beside the option's name.
  /// If false, the help text itself names them.
  bool listsWords = true;
  /// Range in which the value must lie, if the value is a number.
  OptionBounds bounds = OptionBounds::None;
  /// Callback that returns an error message if `text` is no valid value, else
  /// an empty string. Null if the option needs no such check.
  std::string (*check)(const std::string &text) = nullptr;
  /// Character that separates several values in one argument, such as ',' in
  /// a=2,b=4. If it is '\0', one argument holds one value. Only options with
  /// several values may then be repeated.
  char separator = '\0';
  /// Commands that have the option.
  OptionCommands commands = OptionCommands::All;
  /// Whether the option changes the result of a compilation. If true, dumps
  /// record the option in the module attribute `pcc.options`.
  bool shapesResult = true;
  /// Name of the module attribute from which the phases read the value. Empty
  /// if there is none, or if the attribute depends on more than this value.
  std::string_view attribute = {};
  /// Entry of the module attribute `graph.training` from which the phases read
  /// the value; null if there is none.
  const char *trainingEntry = nullptr;
};

/// Returns the rows of all options, in the order of --help.
std::span<const OptionRow> optionTable();

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_OPTIONTABLE_H
