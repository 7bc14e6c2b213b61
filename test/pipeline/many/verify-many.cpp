//===- verify-many.cpp - pcc verify, for thousands of small models --------===//
//
//   verify-many CASES.json > RESULTS.jsonl
//
// CASES.json is a list of objects: `model`, a file; `mesh`, a list of ["name",
// size]; `shards`, as --shard has them; `dims`, `axes` (objects),
// `microbatches` and `dump`, a folder, if they are wanted; `held`, names of
// inputs, weights, values and outputs. A line of RESULTS.jsonl is an object:
// `exit` and `error` of pcc verify; `received`, the bytes of all collectives of
// one microbatch; and `held`, per name and rank the runs of indices per dim, or
// null if no value of that name is left. Lines are in the order of cases.
//
// Cases run one after another in a process of their own. If it dies, its case
// gets exit 1, and another process runs the rest.
//
//===----------------------------------------------------------------------===//

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/driver/Compilation.h"
#include "passes/interpret/Verification.h"
#include "passes/options/OptionAttrs.h"
#include "passes/options/OptionChecks.h"
#include "sharding/Runs.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace pcc;

/// Seconds after which a case has failed.
static constexpr unsigned deadline = 120;

static std::vector<std::string> strings(const json::Array *values) {
  std::vector<std::string> texts;
  if (values)
    for (const json::Value &value : *values)
      texts.push_back(value.getAsString().value_or("").str());
  return texts;
}

static CompileOptions optionsOf(const json::Object &test) {
  CompileOptions options;
  options.model = test.getString("model").value_or("").str();
  if (const json::Array *mesh = test.getArray("mesh"))
    for (const json::Value &axis : *mesh)
      options.mesh.push_back({axis.getAsArray()->front().getAsString()->str(),
                              *axis.getAsArray()->back().getAsInteger()});
  options.shards = strings(test.getArray("shards"));
  if (const json::Object *axes = test.getObject("axes"))
    for (const auto &[name, size] : *axes)
      options.axes[name.str()] = *size.getAsInteger();
  if (const json::Object *dims = test.getObject("dims"))
    for (const auto &[name, size] : *dims)
      options.dims[name.str()] = *size.getAsInteger();
  options.dumpDirectory = test.getString("dump").value_or("").str();
  options.microbatches = test.getInteger("microbatches");
  options.quiet = true;
  return options;
}

namespace {
/// Shards of values after 4-shard, by the names under which a user pins them.
class HeldParts {
public:
  explicit HeldParts(mlir::func::FuncOp model)
      : mesh(dist::meshOf(model->getParentOfType<mlir::ModuleOp>())) {
    // Later entries are preferred: the name of an output means the returned
    // value.
    for (mlir::Operation &op : model.front().without_terminator())
      if (auto parameter = dyn_cast<graph::GetParameterOp>(op))
        values[parameter.getParameter()] = {parameter.getResult(), {}};
      else if (auto name = op.getAttrOfType<mlir::StringAttr>(graph::nameName))
        values[name] = {op.getResult(0), {}};
    for (mlir::BlockArgument argument : model.getArguments())
      values[nameOf(model.getArgAttr(argument.getArgNumber(),
                                     graph::nameName))] = {argument, {}};
    for (auto [i, value] :
         enumerate(model.front().getTerminator()->getOperands()))
      values[nameOf(model.getResultAttr(i, graph::nameName))] = {
          value,
          model.getResultAttrOfType<dist::ShardingAttr>(i, dist::shardingName)};
  }

  /// Returns per rank and dim the runs of indices; null if there is no such
  /// value.
  json::Value runsOf(StringRef name) const {
    auto entry = values.find(name);
    if (entry == values.end())
      return nullptr;
    auto [value, returnedAs] = entry->second;
    const dist::Sharding sharding =
        (returnedAs ? returnedAs : dist::shardingOf(value)).getSharding();
    const dist::Shape shape =
        dist::shapeOf(graph::tensorType(value).getShape());
    json::Array ranks;
    for (int64_t rank = 0; rank < mesh.size(); ++rank) {
      json::Array dims;
      for (const dist::Runs &runs :
           dist::runsOf(sharding, shape, mesh, mesh.coordinates(rank))) {
        json::Array pairs;
        for (const dist::Run &run : runs)
          pairs.push_back(json::Array{run.lo, run.hi});
        dims.push_back(std::move(pairs));
      }
      ranks.push_back(std::move(dims));
    }
    return ranks;
  }

private:
  static StringRef nameOf(mlir::Attribute attribute) {
    return cast<mlir::StringAttr>(attribute).getValue();
  }

  struct Named {
    mlir::Value value;
    dist::ShardingAttr returnedAs;
  };
  dist::Mesh mesh;
  StringMap<Named> values;
};
} // namespace

static int64_t receivedBytes(mlir::ModuleOp module) {
  int64_t bytes = 0;
  module.walk([&](dist::CollectiveOp collective) {
    bytes += static_cast<int64_t>(collective.getReceivedBytes());
  });
  return bytes;
}

static Status compare(mlir::ModuleOp whole, mlir::ModuleOp parts) {
  interpret::Verification verification(whole, graph::Numerics::Exact);
  Status status = verification.simulate(parts, {});
  return status.ok() ? verification.verdict() : status;
}

static json::Object heldParts(mlir::ModuleOp module,
                              const std::vector<std::string> &names) {
  HeldParts held(module.lookupSymbol<mlir::func::FuncOp>("main"));
  json::Object byName;
  for (const std::string &name : names)
    byName[name] = held.runsOf(name);
  return byName;
}

/// Reads a model and decides its shardings, or reads the dump of a later phase,
/// whose model is then read to `whole`.
static Status begin(Compilation &parts, CompileOptions &whole,
                    const json::Object &test, json::Object &facts) {
  PCC_RETURN_IF_ERROR(checkOptions(whole));
  PCC_RETURN_IF_ERROR(parts.load());
  if (phaseOf(parts.getModule()) >= Phase::Localize)
    return restoreImportOptions(parts.getModule(), whole);
  PCC_RETURN_IF_ERROR(parts.advanceTo(Phase::Shard));
  facts["held"] = heldParts(parts.getModule(), strings(test.getArray("held")));
  return Status::success();
}

static Status finish(Compilation &parts, Compilation &whole,
                     json::Object &facts) {
  PCC_RETURN_IF_ERROR(whole.load());
  PCC_RETURN_IF_ERROR(whole.advanceTo(Phase::Import));
  PCC_RETURN_IF_ERROR(parts.advanceTo(Phase::Schedule));
  facts["received"] = receivedBytes(parts.getModule());
  return parts.runGuarded(
      [&] { return compare(whole.getModule(), parts.getModule()); });
}

/// Does the work of `pcc verify`, and inspects the modules in between.
static Status verifyCase(const json::Object &test, json::Object &facts) {
  const CompileOptions options = optionsOf(test);
  CompileOptions wholeOptions = options;
  wholeOptions.dumpDirectory.clear();
  const Listener silent;
  return withCompilation(options, silent, [&](Compilation &parts) {
    PCC_RETURN_IF_ERROR(begin(parts, wholeOptions, test, facts));
    return withCompilation(wholeOptions, silent, [&](Compilation &whole) {
      return finish(parts, whole, facts);
    });
  });
}

static void writeLine(int file, json::Object facts) {
  std::string line;
  raw_string_ostream(line) << json::Value(std::move(facts)) << "\n";
  for (size_t done = 0; done < line.size();) {
    ssize_t count = write(file, line.data() + done, line.size() - done);
    if (count <= 0)
      _exit(1);
    done += static_cast<size_t>(count);
  }
}

static void runCases(ArrayRef<json::Value> cases, int results) {
  for (const json::Value &test : cases) {
    alarm(deadline);
    json::Object facts;
    Status status = verifyCase(*test.getAsObject(), facts);
    facts["exit"] = int64_t{status.code()};
    facts["error"] = json::fixUTF8(status.message());
    writeLine(results, std::move(facts));
  }
}

/// Copies lines until the other end is closed; returns their number.
static size_t copyLines(int from) {
  size_t lines = 0;
  char buffer[1 << 16];
  while (ssize_t count = read(from, buffer, sizeof buffer)) {
    if (count < 0)
      break;
    lines += static_cast<size_t>(std::count(buffer, buffer + count, '\n'));
    fwrite(buffer, 1, static_cast<size_t>(count), stdout);
  }
  return lines;
}

/// Runs cases in a process of its own. Returns the number of completed cases,
/// and in `status` how the process ended.
static size_t runApart(ArrayRef<json::Value> cases, int &status) {
  int ends[2];
  if (::pipe(ends) != 0)
    return 0;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    runCases(cases, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  const size_t done = copyLines(ends[0]);
  close(ends[0]);
  waitpid(child, &status, 0);
  return done;
}

int main(int argc, char **argv) {
  auto text = MemoryBuffer::getFile(argc == 2 ? argv[1] : "");
  if (!text) {
    errs() << "usage: verify-many CASES.json\n";
    return 2;
  }
  json::Value all = cantFail(json::parse((*text)->getBuffer()));
  for (ArrayRef<json::Value> cases = *all.getAsArray(); !cases.empty();) {
    int status = 0;
    cases = cases.drop_front(runApart(cases, status));
    fflush(stdout);
    if (cases.empty())
      break;
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    json::Object died{{"exit", 1}};
    died["error"] = signal == SIGALRM
                        ? "still running at the deadline"
                        : "died of signal " + std::to_string(signal);
    writeLine(STDOUT_FILENO, std::move(died));
    cases = cases.drop_front();
  }
  return 0;
}
