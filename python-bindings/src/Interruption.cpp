//===- Interruption.cpp - Ctrl-C during long calls into C++ ---------------===//

#include "python-bindings/src/Interruption.h"

namespace nb = nanobind;
using namespace pcc::python;

void Interruption::poll() {
  if (raised)
    return;
  const nb::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() == 0)
    return;
  raised.emplace();
  stop();
}

void Interruption::rethrow() {
  if (raised)
    throw *std::exchange(raised, std::nullopt);
}
