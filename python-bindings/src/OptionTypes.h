//===- OptionTypes.h - Python types of command line options ---------------===//

#ifndef PCC_PYTHON_BINDINGS_SRC_OPTIONTYPES_H
#define PCC_PYTHON_BINDINGS_SRC_OPTIONTYPES_H

#include <CLI/CLI.hpp>
#include <string>

namespace pcc::python {

/// Returns the type of the keyword that stands for `option`, as an annotation
/// such as "int" or "OneOrMore[str]". The stub that is written of the types
/// defines the names Text (a text or a path), OneOrMore and Texts
/// (tools/dev/option_stubs.py). `command` is compile, verify, explain
/// or run.
std::string typeOf(const CLI::Option &option, const std::string &command);

} // namespace pcc::python

#endif // PCC_PYTHON_BINDINGS_SRC_OPTIONTYPES_H
