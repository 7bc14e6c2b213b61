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

#include <optional>
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

  /// Returns the member of `options` or `options.training` to which this object
  /// points, such as `options.target`.
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

/// Pointer to the member of CompileOptions that stores a number of bytes. The
/// user may write the number with a unit. For example, `--memory-limit 80GiB`
/// stores the number 80 · 2^30.
struct ByteSizeValue {
  std::optional<int64_t> CompileOptions::*member;
};

/// Pointers to two members of CompileOptions for an option that names a file,
/// such as --cluster. `path` points to the member that stores the path of the
/// file. `text` points to the member that stores the content of the file. The
/// parser of the command line reads the file. The value may also be one of
/// names(), whose text builtIn() returns.
struct FileTextValue {
  std::string CompileOptions::*path, CompileOptions::*text;
  std::vector<std::string> (*names)();
  std::optional<std::string_view> (*builtIn)(std::string_view name);
};

/// Pointer to a bool member of CompileOptions, for an option that accepts only
/// one word as its value. If the user gives the option with this word, the
/// member becomes true. For example, `--emit onnx` sets
/// CompileOptions::emitsOnnx to true. Any other value of --emit is an error.
struct WordFlagValue {
  bool CompileOptions::*member;
};

/// Pointer to the member of CompileOptions or TrainingOptions that stores a
/// flag. A flag is an option without a value, such as --train.
using FlagValue = OptionMember<bool>;
/// Pointer to the member of CompileOptions or TrainingOptions that stores a
/// text. For example, `--loss cross_entropy(logits,labels)` stores the text
/// "cross_entropy(logits,labels)". Parsing of the command line does not change
/// the text.
using TextValue = OptionMember<std::string>;
/// Pointer to the member of CompileOptions or TrainingOptions that stores a
/// number. For example, `--microbatches 8` stores the number 8. The member is
/// nullopt if the user does not give the option.
template <typename Number>
using NumberValue = OptionMember<std::optional<Number>>;
/// Pointer to the member of CompileOptions that stores a phase of the compiler.
/// The options --start-at and --stop-after have this type. The user writes the
/// number or the name of the phase, or both, such as `4`, `shard` or `4-shard`.
using PhaseValue = OptionMember<std::optional<Phase>>;
/// Pointer to the member that stores a list of texts. With a separator
/// (OptionRow::separator), the user writes `--cpu x86-64-v3,x86-64-v4`. Without
/// a separator, the user repeats the option: `--stage-at a --stage-at b`.
using TextsValue = OptionMember<std::vector<std::string>>;
/// Pointer to the member of CompileOptions or TrainingOptions that stores a
/// list of two numbers. For example, `--betas 0.9,0.999` stores the list {0.9,
/// 0.999}. The list is empty if the user does not give the option.
using PairValue = OptionMember<std::vector<double>>;
/// Pointer to the member of CompileOptions that stores sizes of dynamic dims.
/// The member is a map from the name of the dim to its size. For example,
/// `--dim batch=8` adds an entry with the key "batch" and the value 8.
using SizesValue = OptionMember<std::map<std::string, int64_t>>;
/// Pointer to the member of CompileOptions that stores shapes of model inputs.
/// The member is a map from the name of the input to its shape. For example,
/// `--shape ids=8x32` adds an entry with the key "ids" and the value {8, 32}.
using ShapesValue = OptionMember<std::map<std::string, std::vector<int64_t>>>;
/// Pointer to the member of CompileOptions that stores mesh axes. The member is
/// a list of pairs of a name and a size. For example, `--mesh a=2,b=4` stores
/// the list {{"a", 2}, {"b", 4}}. The pairs have the same order as in the
/// option.
using AxesValue = OptionMember<std::vector<std::pair<std::string, int64_t>>>;

/// Place where CompileOptions stores the value of an option. The variant
/// contains one of the types declared above, such as a pointer to a member that
/// stores a number. This type determines how pcc parses the value. For example,
/// the type NumberValue<int64_t> requires a whole number on the command line,
/// and the type TextValue accepts any text.
using OptionValue =
    std::variant<FlagValue, TextValue, NumberValue<int64_t>,
                 NumberValue<uint64_t>, NumberValue<double>, PhaseValue,
                 TextsValue, PairValue, SizesValue, ShapesValue, AxesValue,
                 AxisSizeValue, ByteSizeValue, FileTextValue, WordFlagValue>;

/// Range in which the number of an option must lie. `None` allows every number,
/// and `ZeroToBelowOne` includes 0 but not 1.
enum class OptionBounds { None, Positive, NonNegative, ZeroToBelowOne };

/// Commands of pcc that accept an option:
///
///  - `All`: the commands compile, explain and verify accept the option.
///  - `CompileAndExplain`: only compile and explain accept the option.
///  - `Compile`: only compile accepts the option.
enum class OptionCommands { All, CompileAndExplain, Compile };

/// Titles of the sections of --help. The member OptionRow::group of an option
/// is one of these titles, and --help lists the option in this section. If
/// OptionRow::group is empty, --help lists the option outside of these
/// sections.
inline constexpr char modelGroup[] = "Model";
inline constexpr char parallelismGroup[] = "Parallelism";
inline constexpr char trainingGroup[] = "Training";
inline constexpr char targetGroup[] = "Target";
inline constexpr char phasesGroup[] = "Phases";
inline constexpr char outputGroup[] = "Output";

/// Declaration of one option.
struct OptionRow {
  /// Name of the option on the command line, such as "--tp". If the option has
  /// a short and a long name, the text contains both, such as "-o,--output". A
  /// positional argument has a name without hyphens, such as "MODEL". The user
  /// must give each positional argument.
  const char *name;
  /// Title of the section of --help that lists the option, such as "Training".
  /// Empty if --help lists the option in no titled section.
  const char *group = "";
  /// Description in --help and in the Python package.
  const char *help;
  /// Place where CompileOptions stores the value of the option. For most
  /// options, the place is a pointer to a member of CompileOptions or of
  /// TrainingOptions. For example, the place for the option --target is a
  /// pointer to CompileOptions::target.
  OptionValue value;
  /// Text that --help prints in place of the value of the option. For example,
  /// --help prints "--schedule-svg FILE.svg", and "FILE.svg" is this text. If
  /// the pointer is null, --help prints the allowed values, or N for a whole
  /// number, or X for any number.
  const char *metavar = nullptr;
  /// Allowed values of the option; empty if the option has no fixed list of
  /// values. --help lists them in place of the value if `metavar` is null.
  std::span<const char *const> words = {};
  /// Whether the option accepts other values than `words`, too. For example,
  /// --schedule accepts the path of a file. `words` are then the values that
  /// shells complete.
  bool isOpen = false;
  /// Range in which each number in the value of the option must lie. For
  /// example, the range for the option --tp is `Positive`, and --tp 0 is an
  /// error. The range is `None` if the option accepts all numbers, or if the
  /// value of the option is no number.
  OptionBounds bounds = OptionBounds::None;
  /// Callback that returns an error message if `text` is no valid value, else
  /// an empty string. Null if the option needs no such check.
  std::string (*check)(const std::string &text) = nullptr;
  /// Character that separates several values in one argument, such as ',' in
  /// a=2,b=4. If it is '\0', one argument holds one value.
  char separator = '\0';
  /// Commands of pcc that accept the option. The possible commands are compile,
  /// explain and verify.
  OptionCommands commands = OptionCommands::All;
  /// Whether the option changes the result of a compilation. If so, a dump (the
  /// module after a phase) records the option in the attribute `pcc.options`.
  bool shapesResult = true;
  /// Name of the module attribute that stores the value of this option. For
  /// example, the name is "dist.presets" for the option --preset. The name is
  /// empty if the option has no attribute of its own. For example, the name is
  /// empty for the option --tp, because the attribute `dist.mesh` stores the
  /// values of --dp, --cp and --tp together.
  std::string_view attribute = {};
  /// Key of this option in the module attribute `graph.training`, a dictionary:
  /// "lr" for --lr. Null if the dictionary has no entry, or two entries, for
  /// the option: --betas gives `beta1` and `beta2`.
  const char *trainingEntry = nullptr;
  /// First phase that reads the option. On a dump of an earlier phase, the user
  /// may give the option or change it.
  Phase firstReader = Phase::Import;
};

/// Returns the table of options of the commands compile, explain and verify.
/// Each row of the table is one option. A row contains, for example, the name
/// of the option and the description in --help. In each section of --help, the
/// options have the same order as the rows.
std::span<const OptionRow> optionTable();

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_OPTIONTABLE_H
