//===- Tool.h - the command line tool as a function of libpcc.so ----------===//

#ifndef PCC_TOOLS_PCC_TOOL_H
#define PCC_TOOLS_PCC_TOOL_H

extern "C" {

/// Executes the command line `argv` of the tool, and returns the exit code of
/// the process. pcc.cpp looks this function up by its name.
int pccMain(int argc, char **argv);
}

#endif // PCC_TOOLS_PCC_TOOL_H
