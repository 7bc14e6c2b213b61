//===- Module.cpp - the extension module pcc._pcc -------------------------===//

#include "python-bindings/src/Commands.h"
#include "python-bindings/src/Ranks.h"

NB_MODULE(_pcc, module) {
  module.doc() = "Implementation of the package pcc.";
  pcc::python::defineCommands(module);
  pcc::python::defineRanks(module);
}
