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

/// Pointer to the member that stores an option's value: a member of
/// CompileOptions, or of the TrainingOptions inside it.
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

/// Name of the mesh axis whose size an option sets, for --tp, --pp and similar
/// options. CompileOptions::axes stores the size.
struct AxisSizeValue {
  const char *name;
};

/// Pointer to the member that stores a number of bytes. The user may write the
/// number with a unit, such as "80GiB".
struct ByteSizeValue {
  std::optional<int64_t> CompileOptions::*member;
};

/// Pointers to two members for a file: `path` stores its path, `text` its
/// content. The parser of the command line reads the file.
struct FileTextValue {
  std::string CompileOptions::*path, CompileOptions::*text;
};

/// Pointer to the bool member for an option with one allowed word. For example,
/// `--emit onnx` sets CompileOptions::emitsOnnx to true.
struct WordFlagValue {
  bool CompileOptions::*member;
};

/// Pointer to the member that stores a flag, such as --train.
using FlagValue = OptionMember<bool>;
/// Pointer to the member that stores a text as the user typed it.
using TextValue = OptionMember<std::string>;
/// Pointer to the member that stores a number. The member is nullopt if the
/// user does not give the option.
template <typename Number>
using NumberValue = OptionMember<std::optional<Number>>;
/// Pointer to the member that stores a phase. The user gives the phase by
/// number or name, such as `4` or `shard`.
using PhaseValue = OptionMember<std::optional<Phase>>;
/// Pointer to the member that stores a list of texts. The user repeats the
/// option for each text. If the option has a separator, one argument may
/// contain several texts, such as `--cpu x86-64-v3,x86-64-v4`.
using TextsValue = OptionMember<std::vector<std::string>>;
/// Pointer to the member that stores two numbers, such as `--betas 0.9,0.999`.
using PairValue = OptionMember<std::vector<double>>;
/// Pointer to the member that stores sizes by name, such as `--dim batch=8`.
using SizesValue = OptionMember<std::map<std::string, int64_t>>;
/// Pointer to the member that stores shapes by name, such as `--shape
/// ids=8x32`.
using ShapesValue = OptionMember<std::map<std::string, std::vector<int64_t>>>;
/// Pointer to the member that stores mesh axes with their sizes, such as
/// `--mesh a=2,b=4`. The user's order is kept.
using AxesValue = OptionMember<std::vector<std::pair<std::string, int64_t>>>;

/// Pointer to the member that stores an option's value. The alternative in this
/// variant decides how the value is parsed and printed.
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

/// Headings in --help, each for a group of options. An option without a heading
/// has an empty group.
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
  /// Pointer to the member of CompileOptions that stores the value.
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
  /// a=2,b=4. If it is '\0', one argument holds one value.
  char separator = '\0';
  /// Commands that have the option.
  OptionCommands commands = OptionCommands::All;
  /// Whether the option changes the result of a compilation. If so, a dump (the
  /// module after a phase) records the option in the attribute `pcc.options`.
  bool shapesResult = true;
  /// Name of the module attribute that stores the option's value. Empty if no
  /// attribute stores it, or if the attribute also depends on other options.
  std::string_view attribute = {};
  /// Name of the entry of the module attribute `graph.training` that stores the
  /// option's value; null if there is none.
  const char *trainingEntry = nullptr;
};

/// Returns the rows of all options, in the order of --help.
std::span<const OptionRow> optionTable();

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_OPTIONTABLE_H
