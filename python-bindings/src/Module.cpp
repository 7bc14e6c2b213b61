//===- Module.cpp - the extension module pcc._pcc -------------------------===//

#include "python-bindings/src/Commands.h"
#include "python-bindings/src/Ranks.h"

NB_MODULE(_pcc, module) {
  module.doc() = "What the package pcc is made of.";
  pcc::python::defineCommands(module);
  pcc::python::defineRanks(module);
}
