//===- ReferenceCommands.h - help, completion and manual pages ------------===//

#ifndef PCC_TOOLS_PCC_REFERENCE_REFERENCECOMMANDS_H
#define PCC_TOOLS_PCC_REFERENCE_REFERENCECOMMANDS_H

namespace CLI {
class App;
}

namespace pcc::tool {

// Each of these functions adds the description and the arguments of a command
// to `app`, which is only to be listed.
void declareHelp(CLI::App &app);
void declareCompletion(CLI::App &app);

// Each of these functions executes a command and returns the exit code of the
// process. argv[0] is ignored.
/// `pcc help [COMMAND|TOPIC]`
int helpCommand(int argc, const char *const *argv);
/// `pcc completion bash|zsh|fish`
int completionCommand(int argc, const char *const *argv);

/// `pcc __complete WORD…`, which the completion scripts call: prints the words
/// that may replace the last WORD, one a line, each with a tab and its meaning.
int candidatesCommand(int argc, const char *const *argv);
/// `pcc __share DIR`, which the build calls: writes the manual pages and the
/// completion scripts to the places below DIR where packages have them.
int shareCommand(int argc, const char *const *argv);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_REFERENCE_REFERENCECOMMANDS_H
