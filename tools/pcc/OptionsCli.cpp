//===- OptionsCli.cpp - command line of compile, verify and explain -------===//

#include "tools/pcc/OptionsCli.h"
#include "runtime/base/MappedFile.h"
#include "runtime/base/NumberCheck.h"
#include "runtime/engine/options/OneOf.h"
#include "status/Suggestions.h"
#include "tools/pcc/ByteSize.h"

#include <algorithm>
#include <functional>
#include <limits>

using namespace pcc;
using namespace pcc::tool;

/// Splits "batch=8" into {"batch", 8}. Throws a usage error that names `option`
/// if the text has another form or the number is below 1.
static std::pair<std::string, int64_t> splitNumber(const std::string &option,
                                                   const std::string &text) {
  const size_t equals = text.rfind('=');
  const std::string number =
      equals == std::string::npos ? "" : text.substr(equals + 1);
  if (equals == 0 || !runtime::checkWholeNumber(number, 1).empty())
    throw CLI::ValidationError(
        option,
        "needs NAME=SIZE with a size of at least 1, got '" + text + "'");
  return {text.substr(0, equals), std::stoll(number)};
}

/// Splits "ids=8x32" into {"ids", {8, 32}}; "s=" is a scalar. Throws a usage
/// error that names `option` for another form.
static std::pair<std::string, std::vector<int64_t>>
splitShape(const std::string &option, const std::string &text) {
  size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    throw CLI::ValidationError(option, "needs NAME=8x32, got '" + text + "'");
  std::vector<int64_t> shape;
  if (equals + 1 == text.size())
    return {text.substr(0, equals), shape};
  // A separator at the end makes a last element that is empty count.
  for (const std::string &size :
       CLI::detail::split(text.substr(equals + 1) + 'x', 'x')) {
    if (!runtime::checkWholeNumber(size, 1).empty())
      throw CLI::ValidationError(
          option,
          "needs NAME=8x32 with sizes of at least 1, got '" + text + "'");
    shape.push_back(std::stoll(size));
  }
  return {text.substr(0, equals), shape};
}

/// Replaces each comma of `text` by `separator`.
static std::string separated(const std::string &text,
                             const std::string &separator) {
  return CLI::detail::join(CLI::detail::split(text, ','), separator);
}

/// Adds an entry to a map. Throws a usage error if the map has another value
/// for the same name.
template <typename Value>
static void insertOnce(const std::string &option,
                       std::map<std::string, Value> &map,
                       const std::pair<std::string, Value> &entry) {
  auto [at, isNew] = map.insert(entry);
  if (!isNew && at->second != entry.second)
    throw CLI::ValidationError(option, "gives '" + entry.first +
                                           "' twice, with different values");
}

/// Returns the text of the file `path`, or the built-in text of that name.
/// Throws a usage error that names `option` if there is neither, if the file is
/// not a regular file, or if it has more than 16 MiB.
static std::string readFile(const std::string &option, const std::string &path,
                            const FileTextValue &value) {
  if (auto builtIn = value.builtIn(path))
    return std::string(*builtIn);
  std::string text;
  const Status status = runtime::readTextFile(path, size_t(16) << 20, text);
  const bool isName = path.find_first_of("./") == path.npos;
  if (status.failed() && isName)
    throw CLI::ValidationError(option, "'" + path +
                                           "' is neither a name nor a file" +
                                           nearestOf(path, value.names()));
  if (status.failed())
    throw CLI::ValidationError(option, status.message());
  return text;
}

namespace {
using Words = std::vector<std::string>;

/// Adds one option to `app`, by the type of its OptionValue (std::visit calls
/// operator()). The callbacks of options may be called after this object is
/// destroyed, so they do not refer to it.
class OptionAdder {
public:
  OptionAdder(CLI::App &app, const OptionRow &row, CompileOptions &options)
      : app(app), row(row), name(row.name), options(options) {}

  CLI::Option *operator()(const FlagValue &flag) const {
    return app.add_flag(name, flag.in(options), row.help);
  }
  CLI::Option *operator()(const TextValue &text) const {
    return app.add_option(name, text.in(options), row.help);
  }
  template <typename Number>
  CLI::Option *operator()(const NumberValue<Number> &number) const {
    return app.add_option(name, number.in(options), row.help);
  }
  CLI::Option *operator()(const PhaseValue &value) const {
    Words folders;
    for (Phase phase = Phase::Import; phase <= lastPhase; phase = after(phase))
      folders.emplace_back(folderOf(phase));
    return app
        .add_option_function<std::string>(
            name,
            [name = name, folders,
             &phase = value.in(options)](const std::string &text) {
              phase = parsePhase(text);
              if (!phase)
                throw CLI::ValidationError(
                    name, "no phase is called '" + text + "'" +
                              nearestOf(text, folders) +
                              "; pcc --list-phases lists them");
            },
            row.help)
        ->check(runtime::suggest(folders));
  }
  CLI::Option *operator()(const TextsValue &texts) const {
    return repeated(app.add_option(name, texts.in(options), row.help));
  }
  CLI::Option *operator()(const PairValue &numbers) const {
    return repeated(app.add_option(name, numbers.in(options), row.help))
        ->expected(2);
  }
  CLI::Option *operator()(const SizesValue &value) const {
    return addEntries([name = name,
                       &sizes = value.in(options)](const std::string &text) {
      const auto entry = splitNumber(name, text);
      if (entry.first.find('=') < entry.first.find(',') &&
          entry.first.find(',') != std::string::npos)
        throw CLI::ValidationError(name, "takes one dim, got '" + text +
                                             "'; repeat it: " + name + " " +
                                             separated(text, " " + name + " "));
      insertOnce(name, sizes, entry);
    });
  }
  CLI::Option *operator()(const ShapesValue &value) const {
    return addEntries(
        [name = name, &shapes = value.in(options)](const std::string &text) {
          insertOnce(name, shapes, splitShape(name, text));
        });
  }
  CLI::Option *operator()(const AxesValue &value) const {
    return addEntries(
        [name = name, &axes = value.in(options)](const std::string &text) {
          axes.push_back(splitNumber(name, text));
        });
  }
  CLI::Option *operator()(const AxisSizeValue &axis) const {
    return app.add_option_function<int64_t>(
        name,
        [axis, &axes = options.axes](const int64_t &size) {
          axes[axis.name] = size;
        },
        row.help);
  }
  CLI::Option *operator()(const ByteSizeValue &bytes) const {
    return app
        .add_option_function<std::string>(
            name,
            [&size = options.*bytes.member](const std::string &text) {
              size = parseBytes(text);
            },
            row.help)
        ->check(CLI::Validator(
            [name = name](const std::string &text) {
              return parseBytes(text) ? std::string()
                                      : "needs bytes or a unit, such as 80GB "
                                        "or 80GiB, got '" +
                                            text + "'";
            },
            ""));
  }
  CLI::Option *operator()(const FileTextValue &file) const {
    return app.add_option_function<std::string>(
        name,
        [name = name, file, &options = options](const std::string &path) {
          options.*file.text = readFile(name, path, file);
          options.*file.path = path;
        },
        row.help);
  }
  CLI::Option *operator()(const WordFlagValue &value) const {
    return app.add_option_function<std::string>(
        name,
        [&flag = options.*value.member](const std::string &) { flag = true; },
        row.help);
  }

private:
  /// Adds an option that may be given several times, and calls `take` with each
  /// of its values.
  template <typename Take> CLI::Option *addEntries(const Take &take) const {
    return repeated(app.add_option_function<Words>(
        name,
        [take](const Words &words) { std::ranges::for_each(words, take); },
        row.help));
  }

  /// Allows several values for an option. If the row has a separator, the
  /// values are in one argument; otherwise each use of the option gives one
  /// value.
  CLI::Option *repeated(CLI::Option *option) const {
    option->allow_extra_args(false);
    return row.separator ? option->delimiter(row.separator)
                         : option->expected(1)->take_all();
  }

  CLI::App &app;
  const OptionRow &row;
  const std::string name;
  CompileOptions &options;
};
} // namespace

/// Returns the check of a number that the row requires. Returns null if the
/// value of the option is no number.
static std::function<std::string(std::string &)>
checkOfNumber(const OptionRow &row) {
  const OptionBounds bounds = row.bounds;
  if (std::holds_alternative<NumberValue<uint64_t>>(row.value))
    return [](const std::string &text) { return runtime::checkSeed(text); };
  if (std::holds_alternative<NumberValue<int64_t>>(row.value) ||
      std::holds_alternative<AxisSizeValue>(row.value))
    return [bounds](const std::string &text) {
      return runtime::checkWholeNumber(text,
                                       bounds == OptionBounds::Positive ? 1 : 0,
                                       std::numeric_limits<int32_t>::max());
    };
  if (bounds == OptionBounds::None)
    return nullptr;
  return [bounds](const std::string &text) {
    const bool isBelowOne = bounds == OptionBounds::ZeroToBelowOne;
    runtime::RealRange range{.excludesLeast = bounds == OptionBounds::Positive,
                             .excludesMost = isBelowOne};
    if (isBelowOne)
      range.most = 1;
    return runtime::checkRealNumber(text, range);
  };
}

/// Adds the checks that the row of the option table requires: the list of
/// words, the bounds of a number, and the row's check function.
static void addChecks(CLI::Option &option, const OptionRow &row) {
  const Words words(row.words.begin(), row.words.end());
  if (!words.empty())
    option.check(row.isOpen ? runtime::suggest(words) : runtime::oneOf(words));
  if (auto check = checkOfNumber(row))
    option.check(CLI::Validator(check, ""));
  if (row.check)
    option.check(CLI::Validator(row.check, ""));
}

void tool::addOptions(CLI::App &app, CompileOptions &options,
                      OptionCommands commands) {
  for (const OptionRow &row : optionTable()) {
    if (row.commands != commands)
      continue;
    CLI::Option *option = std::visit(OptionAdder(app, row, options), row.value);
    addChecks(*option, row);
    if (*row.group)
      option->group(row.group);
    if (row.metavar)
      option->type_name(row.metavar);
    if (*row.name != '-')
      option->required();
  }
  CLI::Option *transformer = app.get_option_no_throw("--transformer"),
              *model = app.get_option_no_throw("MODEL");
  if (!transformer || !model)
    return;
  transformer->excludes(model);
  transformer->each([model](const std::string &) { model->required(false); });
}
