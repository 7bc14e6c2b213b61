//===- SanitizerOptions.cpp - how executables of sanitized builds run -----===//

/// Allocators of LLVM's headers poison memory where pcc's code runs them, and
/// LLVM's libraries, which are not instrumented, then use it as theirs. That
/// memory is not there is for the runtime to report.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:allocator_may_return_null=1";
}

/// Undefined behaviour ends a test or a fuzzer as other mistakes do.
extern "C" const char *__ubsan_default_options() {
  return "halt_on_error=1:print_stacktrace=1";
}
