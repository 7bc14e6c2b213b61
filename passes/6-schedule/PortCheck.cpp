//===- PortCheck.cpp - check of stage functions against the ports ---------===//

#include "passes/6-schedule/PortCheck.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace pcc;

namespace {
/// The inputs or the outputs of the model, as a module attribute lists them.
class Ports {
public:
  /// Reads the module attribute `list`. A module without it has no ports.
  Ports(ModuleOp module, StringRef list) : list(list) {
    if (auto entries = module->getAttrOfType<ArrayAttr>(list))
      for (auto entry : entries.getAsRange<DictionaryAttr>())
        if (auto name = entry.getAs<StringAttr>(graph::nameName))
          ports[name] = entry;
  }

  /// Checks that `attributes`, those of an argument or result of a function,
  /// are those of its port. Skips one without a name, such as a value that a
  /// stage holds between two actions.
  LogicalResult check(Location location, DictionaryAttr attributes) {
    auto name = attributes ? attributes.getAs<StringAttr>(graph::nameName)
                           : StringAttr();
    if (!name)
      return success();
    const auto port = ports.find(name);
    if (port == ports.end())
      return emitError(location)
             << "'" << name.getValue() << "' is not in '" << list << "'";
    found.insert(name);
    return compare(location, name, attributes, port->second);
  }

  /// Returns the name of a port that no function has; null if all are found.
  StringAttr missing() const {
    for (const auto &[name, entry] : ports)
      if (!found.contains(name))
        return name;
    return {};
  }

private:
  LogicalResult compare(Location location, StringAttr name, DictionaryAttr here,
                        DictionaryAttr entry) const {
    llvm::SmallSetVector<StringAttr, 8> names;
    for (DictionaryAttr attributes : {here, entry})
      for (NamedAttribute attribute : attributes)
        if (attribute.getName() != pipe::heldName)
          names.insert(attribute.getName());
    for (StringAttr attribute : names) {
      const Attribute own = here.get(attribute), other = entry.get(attribute);
      if (own == other)
        continue;
      InFlightDiagnostic error = emitError(location)
                                 << "'" << name.getValue() << "' ";
      tell(error << "has ", attribute, own);
      tell(error << " here, but ", attribute, other);
      return error << " in '" << list << "'";
    }
    return success();
  }

  static void tell(InFlightDiagnostic &error, StringAttr name,
                   Attribute value) {
    if (value)
      error << "'" << name.getValue() << "' = " << value;
    else
      error << "no '" << name.getValue() << "'";
  }

  StringRef list;
  llvm::MapVector<StringAttr, DictionaryAttr> ports;
  llvm::DenseSet<StringAttr> found;
};
} // namespace

LogicalResult pcc::schedule::checkPorts(ModuleOp module) {
  Ports inputs(module, graph::inputsName), outputs(module, graph::outputsName);
  for (auto function : module.getOps<func::FuncOp>()) {
    for (BlockArgument argument : function.getArguments())
      if (failed(inputs.check(argument.getLoc(), function.getArgAttrDict(
                                                     argument.getArgNumber()))))
        return failure();
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (failed(
              outputs.check(function.getLoc(), function.getResultAttrDict(i))))
        return failure();
  }
  if (StringAttr name = outputs.missing())
    return module.emitError() << "no stage returns '" << name.getValue()
                              << "' of '" << graph::outputsName << "'";
  return success();
}
