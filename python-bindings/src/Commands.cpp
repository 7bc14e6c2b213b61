//===- Commands.cpp - Python bindings of commands -------------------------===//

#include "python-bindings/src/Commands.h"
#include "python-bindings/src/Errors.h"
#include "python-bindings/src/Interruption.h"
#include "python-bindings/src/OptionTypes.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/program/ShardPicture.h"
#include "runtime/program/bundle/Inspect.h"
#include "runtime/report/ReportPage.h"
#include "runtime/report/ReportSources.h"
#include "runtime/tensor/OutputNames.h"
#include "status/PrintableText.h"
#include "status/Suggestions.h"
#include "tools/pcc/CompileCommand.h"

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace pcc;
using namespace pcc::python;

namespace {
/// A Python callable that takes a string.
using TextCallback = std::function<void(const std::string &)>;

/// The indices from the first number to before the second.
using IndexRange = std::pair<int64_t, int64_t>;

/// Members of a ReportInput: name, text, title.
using ReportItem =
    std::tuple<std::string, std::optional<std::string>, std::string>;

/// argc and argv of a command. Borrows the words.
class Arguments {
public:
  explicit Arguments(const CommandWords &words) {
    pointers.push_back("pcc");
    for (const std::string &word : words)
      pointers.push_back(word.c_str());
  }
  int count() const { return int(pointers.size()); }
  const char *const *values() const { return pointers.data(); }

private:
  std::vector<const char *> pointers;
};
} // namespace

/// Raises an error on wrong usage, and for options that only print, such as
/// --help: they are for users of a terminal.
static void check(const tool::ParsedArguments &reading) {
  check(reading.status);
  if (!reading.text.empty())
    check(Status::error(
        WrongUsage,
        "options that print and exit are for the command line only"));
}

/// Embedded ranks neither listen for signals nor print to stdout.
runtime::RunOptions python::readRunOptions(const std::string &bundle,
                                           const CommandWords &words) {
  CommandWords all = {bundle};
  all.insert(all.end(), words.begin(), words.end());
  const Arguments arguments(all);
  tool::RunRequest request;
  ::check(tool::parseRun(arguments.count(), arguments.values(), request));
  if (!request.html.empty())
    python::check(Status::error(
        WrongUsage, "html= is for the command line only",
        {"measurements=\"run.json\" writes what pcc.report(\"run.json\") "
         "draws"}));
  request.options.quiet = true;
  request.options.isEmbedded = true;
  return request.options;
}

/// Runs `work`, a call of the compiler, on another thread without the GIL, and
/// raises its error. Meanwhile Ctrl-C is polled; it makes the compiler stop
/// before its next phase. Calls are serialized, because lld has global state.
static void runCompiler(const std::function<Status(const Listener &)> &work,
                        Listener listener) {
  static std::mutex compiler;
  std::atomic<bool> isGivenUp{false};
  listener.isGivenUp = [&] { return isGivenUp.load(); };
  Interruption interruption([&] { isGivenUp = true; });
  Status status;
  {
    const nb::gil_scoped_release unlocked;
    auto done = std::async(std::launch::async, [&] {
      const std::lock_guard lock(compiler);
      return work(listener);
    });
    while (done.wait_for(std::chrono::milliseconds(50)) !=
           std::future_status::ready)
      interruption.poll();
    status = done.get();
  }
  interruption.rethrow();
  check(status);
}

/// Returns a listener that calls Python. nanobind acquires the GIL in each
/// call.
static Listener listenerOf(const TextCallback &onPhase,
                           const TextCallback &onNote) {
  Listener listener;
  listener.onPhase = [&onPhase](Phase phase) {
    onPhase(std::string(folderOf(phase)));
  };
  listener.onNote = onNote;
  return listener;
}

/// Compiles a model; returns the path of the bundle.
static std::string compileModel(const CommandWords &words,
                                const TextCallback &onPhase,
                                const TextCallback &onNote) {
  const Arguments arguments(words);
  CompileOptions options;
  ::check(tool::parseCompile(arguments.count(), arguments.values(), options));
  runCompiler([&](const Listener &l) { return compile(options, l); },
              listenerOf(onPhase, onNote));
  return options.bundle;
}

/// Verifies a model; raises an error if values differ.
static void verifyModel(const CommandWords &words, const TextCallback &onPhase,
                        const TextCallback &onNote) {
  const Arguments arguments(words);
  tool::VerifyRequest request;
  ::check(tool::parseVerify(arguments.count(), arguments.values(), request));
  std::string verdict;
  runCompiler(
      [&](const Listener &l) { return tool::runVerify(request, verdict, l); },
      listenerOf(onPhase, onNote));
}

/// Explains a plan; returns the tree and the JSON of `pcc explain`.
static std::pair<std::string, std::string>
explainPlan(const CommandWords &words, const TextCallback &onNote) {
  const Arguments arguments(words);
  tool::ExplainRequest request;
  ::check(tool::parseExplain(arguments.count(), arguments.values(), request));
  if (request.explain.json)
    check(Status::error(WrongUsage, "json= is for the command line: the result "
                                    "of explain() is a dict already"));
  request.explain.json = true;
  ExplainedModel explained;
  runCompiler(
      [&](const Listener &l) {
        return explainModel(request.compile, request.explain, explained, l);
      },
      listenerOf([](const std::string &) {}, onNote));
  return {printable(explained.text, "\n"), printableJson(explained.json)};
}

/// Returns the page of a report. Writes it to the file `output`, unless the
/// path is empty.
static std::string reportOf(const std::vector<ReportItem> &items,
                            const std::string &output) {
  std::vector<runtime::ReportInput> inputs;
  for (const auto &[name, text, title] : items)
    inputs.push_back({name, text, title});
  nlohmann::ordered_json sources;
  check(runtime::readReportSources(inputs, sources));
  std::string page = runtime::reportPage(sources);
  if (!output.empty())
    check(runtime::writeFileAtomically(output, page));
  return page;
}

/// Returns the description of a bundle, or of one rank, as JSON.
static std::string inspect(const std::string &bundle,
                           std::optional<int64_t> rank) {
  std::string text;
  check(runtime::inspectBundle({bundle, rank, /*json=*/true}, text));
  return text;
}

/// Draws the parts of a weight, which has for each rank the runs of indices of
/// every dim.
static std::string drawShards(
    const std::string &name, const std::string &dtype,
    const std::vector<int64_t> &shape,
    const std::map<int64_t, std::vector<std::vector<IndexRange>>> &parts) {
  runtime::HeldTensor tensor{name, dtype, shape};
  for (const auto &[rank, dims] : parts) {
    std::vector<dist::Runs> &held = tensor.parts[rank];
    for (const std::vector<IndexRange> &dim : dims) {
      dist::Runs &runs = held.emplace_back();
      for (const auto &[begin, end] : dim)
        runs.push_back({begin, end});
    }
  }
  const std::string text =
      titleOf(tensor) + "\n" + runtime::shardPicture(tensor);
  return text.substr(0, text.size() - 1);
}

/// Adds the options of a command to `app`. The values of these options are
/// static, because `app` is only listed and never parsed.
static void declare(const std::string &command, CLI::App &app) {
  static CompileOptions compiled;
  static tool::VerifyRequest verified;
  static tool::RunRequest run;
  if (command == "run")
    tool::declareRun(app, run);
  else if (command == "verify")
    tool::declareVerify(app, verified);
  else if (command == "explain")
    tool::declareExplain(app);
  else
    tool::declareCompile(app, compiled);
}

/// Facts about an option: name, description, whether it is a flag, the
/// separator of several values in one argument (empty: one argument per value),
/// and the type of its keyword as an annotation.
using OptionFacts =
    std::tuple<std::string, std::string, bool, std::string, std::string>;

/// Returns the options of a command, from which the Python package makes
/// keywords.
static std::vector<OptionFacts> optionsOf(const std::string &command) {
  CLI::App app;
  declare(command, app);
  std::vector<OptionFacts> facts;
  for (const CLI::Option *option : app.get_options())
    if (!option->get_lnames().empty() && option->get_group() != "")
      facts.emplace_back(option->get_lnames().front(),
                         option->get_description(),
                         option->get_items_expected_max() == 0,
                         option->get_delimiter() == '\0'
                             ? ""
                             : std::string(1, option->get_delimiter()),
                         typeOf(*option, command));
  return facts;
}

/// Returns the version of pcc, such as "0.1.0".
static std::string version() {
  const CommandWords words = {"--version"};
  const Arguments arguments(words);
  CompileOptions options;
  const std::string text =
      tool::parseCompile(arguments.count(), arguments.values(), options).text;
  return text.substr(text.find(' ') + 1, text.find('\n') - text.find(' ') - 1);
}

/// Returns the names of all phases, in order.
static std::vector<std::string> phases() {
  std::vector<std::string> names;
  for (Phase phase = Phase::Import; phase <= lastPhase; phase = after(phase))
    names.emplace_back(folderOf(phase));
  return names;
}

/// The Python package calls these functions; its users do not.
void python::defineCommands(nb::module_ &module) {
  module.def("compile", compileModel, nb::arg("words"), nb::arg("on_phase"),
             nb::arg("on_note"),
             "Compiles as `pcc WORDS…` does; returns the bundle's path.");
  module.def("verify", verifyModel, nb::arg("words"), nb::arg("on_phase"),
             nb::arg("on_note"), "Verifies as `pcc verify WORDS…` does.");
  module.def("explain", explainPlan, nb::arg("words"), nb::arg("on_note"),
             "Returns the text and the JSON of `pcc explain WORDS…`.");
  module.def(
      "report", reportOf, nb::arg("items"), nb::arg("output"),
      "Returns the page of `pcc report` about items (name, text, title), "
      "and writes it to `output`. An item without text is a path.");
  module.def("inspect", inspect, nb::arg("bundle"),
             nb::arg("rank") = nb::none(),
             "Returns the JSON that `pcc inspect --json` prints.");
  module.def("draw_shards", drawShards, nb::arg("name"), nb::arg("dtype"),
             nb::arg("shape"), nb::arg("parts"),
             "Draws the parts of a weight as `pcc inspect --shards` does.");
  module.def(
      "find_similar", findSimilar, nb::arg("word"), nb::arg("known"),
      "Returns the names that a mistyped word may mean, the most similar "
      "first.");
  module.def("options_of", optionsOf, nb::arg("command"),
             "Returns the options of a command: name, description, whether it "
             "is a flag, separator of several values, type.");
  module.def("phases", phases,
             "Returns the names of the phases of a compilation.");
  module.def("version", version, "Returns the version of pcc.");
  module.def("output_file_names", runtime::outputFileNames, nb::arg("outputs"),
             "Returns the file names of outputs.");
}
