//===- SanitizerOptions.cpp - how executables of sanitized builds run -----===//

/// Disables poisoning by user code: allocators in LLVM's headers poison memory
/// in pcc's instrumented code, but LLVM's libraries are not instrumented and
/// use that memory. A failed allocation returns null, because the runtime
/// reports it.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:allocator_may_return_null=1";
}

/// Makes undefined behaviour end a test or a fuzzer, as other errors do.
extern "C" const char *__ubsan_default_options() {
  return "halt_on_error=1:print_stacktrace=1";
}

// Keeps closed libraries loaded. Memory that a library keeps until the process
// ends could otherwise not be told from a leak, because the pointers to it are
// gone with the library.
extern "C" int dlclose(void *) { return 0; }
