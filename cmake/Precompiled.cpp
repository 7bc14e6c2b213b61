//===- Precompiled.cpp - what headers are parsed for once -----------------===//
//
// A precompiled header belongs to a target, and a target has a source. See
// PccTargets.cmake for the headers.
//
//===----------------------------------------------------------------------===//
