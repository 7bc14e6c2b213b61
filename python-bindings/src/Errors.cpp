//===- Errors.cpp - conversion of errors to Python exceptions -------------===//

#include "python-bindings/src/Errors.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace pcc;

void python::check(const Status &status) {
  if (status.ok())
    return;
  const nb::object type = nb::module_::import_("pcc.error").attr("Error");
  const nb::object error =
      type(status.message(), status.notes(), int(status.code()));
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}
