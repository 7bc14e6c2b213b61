// RUN: pcc-opt %s --verify-diagnostics --split-input-file

// expected-error @below {{attribute 'pcc.option' is unknown; did you mean pcc.options?}}
module attributes {pcc.option = {}} {}

// -----

// expected-error @below {{attribute 'pcc.options' needs a dictionary of strings}}
module attributes {pcc.options = {"--tp" = 2 : i64}} {}

// -----

// expected-error @below {{attribute 'pcc.phase' needs an i64, got "4-shard"}}
module attributes {pcc.phase = "4-shard"} {}
